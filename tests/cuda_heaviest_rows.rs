//! Rows that blocks draw one by one on CUDA: the heaviest come first, and, where that is worth a look at all of them, the lightest last.
#![cfg(feature = "cuda")]
mod common;

use common::emulator;
use oplus::backend::cuda::{Buffer, Context, Kernel, Source};
use oplus::prelude::*;
use oplus_codegen::{Spec, Template, Tuning};

const BLOCKS: u32 = 200;

/// The half power of two which the kernel takes for a row's products, as a number that grows with it, and how many products that is.
fn size(products: u32) -> (u32, u64) {
    let products = products.max(2);
    let log = products.ilog2();
    let half = products >> (log - 1) & 1;
    (2 * log + half, (2 + u64::from(half)) << log >> 1)
}

/// What kind of row it is among the first n even ones: 0: heavy, 1: between, from 2 on: light, the lighter the later.
fn kind(products: &[u32], n: u32, row: u32) -> u32 {
    let sizes: Vec<(u32, u64)> = (0..n).map(|i| size(products[2 * i as usize])).collect();
    let (mine, least) = size(products[row as usize]);
    let total: u64 = sizes.iter().map(|s| s.1).sum();
    let lighter: u64 = sizes.iter().filter(|s| s.0 < mine).map(|s| s.1).sum();
    match (4 * lighter < total, 2 * least * u64::from(BLOCKS) >= total) {
        (true, _) => 2 + 63 - mine,
        (false, true) => 0,
        (false, false) => 1,
    }
}

#[test]
fn lists_are_put_in_order() {
    if emulator::cuda().is_none() {
        return;
    }
    let context = Context::get(0).unwrap();
    let spec = Spec::new(Template::SpgemmHeaviest, context.properties().architecture);
    let text = spec.source().unwrap();
    let kernel = context.kernel(&Source { name: "heaviest.cu", key: "test/heaviest", text: &text }, "spgemm_heaviest");
    let kernel = kernel.unwrap();
    // The list begins at its third place, behind another's, and does not name every row.
    for n in [0u32, 1, 31, 33, 1000, 5000] {
        let products: Vec<u32> = (0..2 * n + 1)
            .map(|row| match row % 7 {
                0 => 0,
                1 if row % 490 == 8 => u32::MAX - row,
                kind @ 1..=3 => 1 << (25 + kind),
                _ => row.wrapping_mul(2_654_435_761) >> (8 + row % 23),
            })
            .collect();
        let rows: Vec<u32> = [7, 7].into_iter().chain((0..n).map(|i| 2 * i)).chain([9, 9]).collect();
        let mut control = vec![0u64; 256];
        (control[40], control[72]) = (n.into(), 2);
        let (control, products_there) =
            (Buffer::from_host(&context, &control).unwrap(), Buffer::from_host(&context, &products).unwrap());
        let list = Buffer::from_host(&context, &rows).unwrap();
        let launch = kernel.launch(1u32, 1024u32, 4 * n).arg(&control).arg(40u32).arg(72u32).arg(&list);
        // SAFETY: the kernel's parameters; the list and the rows' products are as long as it asks for.
        unsafe { launch.arg(&products_there).arg(BLOCKS).run() }.unwrap();
        let found: Vec<u32> = list.read(0..rows.len()).unwrap();
        assert_eq!((&found[..2], &found[n as usize + 2..]), (&rows[..2], &rows[n as usize + 2..]), "others' rows");
        let mine = &found[2..n as usize + 2];
        let order: Vec<u32> = mine.iter().map(|row| kind(&products, n, *row)).collect();
        assert!(order.is_sorted(), "{n} rows: {order:?}");
        if n == 5000 {
            assert!(order[0] == 0 && order.contains(&1) && order[4999] > 60, "all kinds: {order:?}");
        }
        let mut all = mine.to_vec();
        all.sort_unstable();
        assert!(all.iter().copied().eq((0..n).map(|i| 2 * i)), "{n} rows, each once");
    }
}

/// Rows of the classes of block windows: the heavy ones from the end of their lists on, whether lists have a stride or are counted first.
#[test]
fn heavy_rows_end_their_lists() {
    if emulator::cuda().is_none() {
        return;
    }
    let context = Context::get(0).unwrap();
    let spec = Spec::new(Template::SpgemmAnalyze, context.properties().architecture);
    let text = spec.source().unwrap();
    let kernel = |name| context.kernel(&Source { name: "analyze.cu", key: "test/heavy", text: &text }, name).unwrap();
    let (rows, heavy) = (3000u64, 9000u32);
    let total = u64::from(heavy) * u64::from(Tuning::of(context.properties().architecture).heavy_share);
    // As the classes are numbered: a small block's, a large one's, one's in wide windows, and rows of no products.
    let kinds = [Some(20), Some(21), Some(22), None];
    let of = |row: u32| {
        let work = match row % 4 {
            0 => 600 + row,
            _ => 4100 + row.wrapping_mul(2_654_435_761) % 10_000,
        };
        [(work, 5000), (work, 60_000), (work, 1 << 20), (0, 0)][row as usize % 4]
    };
    let upload =
        |f: &dyn Fn(u32) -> u32| Buffer::from_host(&context, &(0..rows as u32).map(f).collect::<Vec<u32>>()).unwrap();
    let (products, first) = (upload(&|row| of(row).0), upload(&|row| if row % 4 == 3 { !0 } else { 0 }));
    let last = upload(&|row| of(row).1);
    let offsets = Buffer::from_host(&context, &(0..=2 * rows).step_by(2).collect::<Vec<u64>>()).unwrap();
    let slices = Buffer::from_host(&context, &[0u64; 4096]).unwrap();
    for stride in [rows, 0] {
        let mut control = vec![0u64; 256];
        control[0] = total;
        let control = Buffer::from_host(&context, &control).unwrap();
        let units = Buffer::from_host(&context, &vec![u32::MAX; 29 * rows as usize]).unwrap();
        let (count, list) = (kernel("spgemm_count_units"), kernel("spgemm_list_units"));
        let launch = |kernel| {
            let launch =
                Kernel::launch(kernel, rows.div_ceil(256), 256u32, 0).arg(&offsets).arg(0u64).arg(rows).arg(&control);
            let launch = launch.arg(&products).arg(&first).arg(&last);
            launch.arg(0u32).arg(0u32).arg(0u32).arg(0u32).arg(1u32).arg(0u32)
        };
        if stride == 0 {
            // SAFETY: the kernel's parameters, buffers as long as it asks for.
            unsafe { launch(&count).run() }.unwrap();
        }
        let listing = launch(&list).arg(&units).arg(stride).arg(&slices).arg(0u64).arg(0u64).arg(0u64).arg(0u64);
        // SAFETY: as above; null for what a list alone needs not.
        unsafe { listing.arg(0u64).arg(0u64).arg(0u64).run() }.unwrap();
        let control: Vec<u64> = control.read(0..256).unwrap();
        let units: Vec<u32> = units.read(0..29 * rows as usize).unwrap();
        for (n, kind) in kinds.iter().enumerate().filter_map(|(n, kind)| Some((n as u32, (*kind)?))) {
            let (begin, end) = (control[64 + kind] as usize, control[65 + kind] as usize);
            let (all, heavies) = (control[32 + kind] as usize, control[29 + kind - 20] as usize);
            let mine: Vec<u32> = (0..rows as u32).filter(|row| row % 4 == n).collect();
            assert_eq!(all, mine.len(), "class {kind}, stride {stride}");
            assert_eq!(end - begin, if stride > 0 { rows as usize } else { all });
            let sorted = |list: &[u32]| {
                let mut list = list.to_vec();
                list.sort_unstable();
                list
            };
            let (heavy, light): (Vec<u32>, Vec<u32>) = mine.iter().partition(|row| of(**row).0 >= heavy);
            assert_eq!(heavies, heavy.len());
            assert!(kind == 20 || !heavy.is_empty() && !light.is_empty());
            assert_eq!(sorted(&units[end - heavies..end]), heavy);
            assert_eq!(sorted(&units[begin..begin + all - heavies]), light);
        }
    }
}

/// Rows of many products within few columns, more of them than the emulated device has blocks for.
#[test]
fn products_are_what_they_were() {
    if emulator::emulator().is_none() {
        return;
    }
    // Of more rows than small products have, most of them empty.
    let (rows, some, inner, columns) = (21_000u64, 150u64, 60u64, 6000u64);
    let mut state = 5u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let (mut a, mut b) = (Coo::<i64>::new(rows, inner), Coo::<i64>::new(inner, 4 * columns));
    for k in 0..inner {
        (0..40 + k * 11).for_each(|_| b.push(k, below(columns), below(9) as i64 - 4));
    }
    for i in 0..some {
        let row = i * (rows / some);
        (0..6 + i / 4 % 14).for_each(|_| a.push(row, below(inner), below(9) as i64 - 4));
    }
    let (a, b): (Matrix<i64>, Matrix<i64>) =
        (Matrix::build_with(&a, Plus).unwrap(), Matrix::build_with(&b, Plus).unwrap());
    let expected = mxm(&a, &b).eval().unwrap().entries().unwrap();
    let (a, b) = (a.to(&Device::Cuda(0)).unwrap(), b.to(&Device::Cuda(0)).unwrap());
    let (c, trace) = mxm(&a, &b).traced().unwrap();
    assert!(c.entries().unwrap() == expected);
    let names: Vec<_> = trace.kernels.iter().map(|k| &k.name).collect();
    let ran = |kernel: &str| names.iter().any(|name| *name == kernel);
    assert!(ran("spgemm_heaviest") && ran("spgemm_block"), "{names:?}");
    let plan = mxm(&a, &b).plan().unwrap();
    assert!(plan.run(&a, &b).unwrap().entries().unwrap() == expected, "by a plan");
}

/// How many products rows have and where their columns begin and end, whatever number of lanes shares a row: of some entries, of more
/// than those lanes take, and of so many that all of a block do.
#[test]
fn rows_are_measured_by_any_lanes() {
    if emulator::cuda().is_none() {
        return;
    }
    let context = Context::get(0).unwrap();
    let (rows, inner) = (600u64, 3000u64);
    let length =
        |row: u64| [row % 7, 0, 150, row % 30, 2900][if row.is_multiple_of(97) { 4 } else { row as usize % 4 }];
    let a: Vec<Vec<u64>> = (0..rows)
        .map(|row| (0..length(row)).map(|e| (e * (inner / length(row).max(1)) + row % 3) % inner).collect())
        .collect();
    let b: Vec<Vec<u64>> = (0..inner).map(|k| (0..k % 5).map(|e| k * 31 % 4000 + e * 700).collect()).collect();
    let upload = |lists: &[Vec<u64>]| {
        let ends = lists.iter().scan(0, |end, list| {
            *end += list.len() as u64;
            Some(*end)
        });
        let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
        let indices: Vec<u32> = lists.iter().flatten().map(|i| *i as u32).collect();
        (Buffer::from_host(&context, &offsets).unwrap(), Buffer::from_host(&context, &indices).unwrap())
    };
    let (of_a, of_b) = (upload(&a), upload(&b));
    for lanes in [2u64, 4, 8, 32] {
        let spec = Spec::new(Template::SpgemmAnalyze, context.properties().architecture).number("lanes", lanes);
        let text = spec.source().unwrap();
        let source = Source { name: "analyze.cu", key: &format!("test/lanes{lanes}"), text: &text };
        let kernel = context.kernel(&source, "spgemm_analyze").unwrap();
        let [products, first, last] =
            [(); 3].map(|()| Buffer::from_host(&context, &vec![7u32; rows as usize]).unwrap());
        let control = Buffer::from_host(&context, &[0u64; 256]).unwrap();
        let launch = Kernel::launch(&kernel, (rows * lanes).div_ceil(256), 256u32, 0).arg(&of_a.0).arg(&of_a.1);
        let launch = launch.arg(&of_b.0).arg(&of_b.1).arg(rows).arg(&control).arg(&products).arg(&first).arg(&last);
        // SAFETY: the kernel's parameters, buffers as long as it asks for.
        unsafe { launch.run() }.unwrap();
        let read = |buffer: &Buffer| buffer.read::<u32>(0..rows as usize).unwrap();
        let (products, first, last) = (read(&products), read(&first), read(&last));
        let (mut all, mut largest) = (0, 0);
        for (row, entries) in a.iter().enumerate() {
            let columns: Vec<u64> = entries.iter().flat_map(|k| b[*k as usize].iter().copied()).collect();
            let ends =
                (columns.iter().min().map_or(u32::MAX, |c| *c as u32), columns.iter().max().map_or(0, |c| *c as u32));
            assert_eq!(
                (products[row], (first[row], last[row])),
                (columns.len() as u32, ends),
                "row {row}, {lanes} lanes"
            );
            (all, largest) = (all + columns.len() as u64, largest.max(columns.len() as u64));
        }
        assert_eq!(control.read::<u64>(0..2).unwrap(), [all, largest]);
    }
}
