//! Allocations and launches of the operations besides products that fail, one after the other: typed errors, no leak, the
//! output as it was, and the same call right afterwards. One test in a process of its own, since faults are planted in it.
#![cfg(feature = "cuda")]
mod common;

use common::emulator;
use oplus::prelude::*;

type Matrices = [Matrix<i32>; 3];
type Run = fn(&Matrices, &mut Matrix<i32>) -> oplus::Result<()>;

/// Every operation, the output written last.
const OPERATIONS: [(&str, Run); 18] = [
    ("union", |[a, b, _], out| ewise_add(a, b, Plus).into(out)),
    ("intersection", |[a, b, _], out| ewise_mult(a, b, Minus).into(out)),
    ("apply", |[a, ..], out| apply_second(a, Times, 3).into(out)),
    ("select", |[a, ..], out| select(a, Tril, 0).into(out)),
    ("transpose", |[a, ..], out| transpose(a).into(out)),
    ("write", |[a, _, m], out| apply(a, Negate).mask(&m.structure()).accumulate(Plus).into(out)),
    ("extract", |[a, ..], out| extract_rows(a, (0..a.nrows()).rev().collect::<Vec<_>>()).into(out)),
    ("sub-matrix", |[a, ..], out| {
        let list: Vec<u64> = (0..a.nrows()).rev().collect();
        extract(a, &list, &list).into(out)
    }),
    ("assign", |[a, _, m], out| {
        let b = extract(a, ..20, ..30).eval()?;
        assign(&b, 5..25, 3..33).mask(&m.structure()).replace().accumulate(Plus).into(out)
    }),
    ("subassign", |[a, _, m], out| {
        let (b, m) = (extract(a, ..20, ..30).eval()?, extract(m, ..20, ..30).eval()?);
        subassign(&b, 5..25, 3..33).mask(&m.structure()).replace().into(out)
    }),
    ("assign a scalar", |[_, _, m], out| assign_scalar(7, .., 3..33).mask(&m.structure().complement()).into(out)),
    ("ewise_union", |[a, b, _], out| ewise_union(a, 1, b, 2, Minus).into(out)),
    ("kronecker", |[a, b, _], out| {
        let (a, b) = (extract(a, ..7, ..7).eval()?, extract(b, ..10, ..10).eval()?);
        kronecker(&a, &b, Times).into(out)
    }),
    ("diagonals, scaling, argmin", |[a, b, _], out| {
        let d = diag_extract(a, 0).eval()?;
        let least = cast::<i32, _>(&argmin_rows(&scale_rows(&d, b, Minus).eval()?).eval()?)?;
        diag(&least, 0).into(out)
    }),
    ("sort", |[a, ..], out| apply(&sort(a, Lt)?.0, Negate).into(out)),
    ("tiles and updates", |[a, ..], out| {
        let tiles = split(a, &[30, 40], &[50, 20])?;
        let mut all = concat(&[[&tiles[0][0], &tiles[0][1]], [&tiles[1][0], &tiles[1][1]]])?;
        all.set(3, 4, 5)?;
        apply(&reshape(&reshape(&all, 35, 140)?, 70, 70)?, Negate).into(out)
    }),
    ("formats", |[a, b, m], out| {
        let cells = |a: &Matrix<i32>| a.to_format(Format::Bitmap);
        let mut both = ewise_add(&ewise_mult(&cells(a)?, &cells(m)?, Plus).eval()?, &cells(b)?, Minus).eval()?;
        select(m, ValueGt, 0).mask(&b.structure()).accumulate(Plus).into(&mut both)?;
        let few = select(&both, ValueGt, -5).eval()?.to_format(Format::Dia)?;
        apply(&few.to_format(Format::Csc)?, Negate).into(out)
    }),
    ("reduce", |[a, ..], out| {
        let sums = reduce_rows(a, Plus).eval()?;
        let total = oplus::operation::reduce(&sums, Max)?;
        apply_second(a, Minus, total).into(out)
    }),
];

#[test]
fn g3_g4_everything_that_can_fail_fails_cleanly() {
    let Some(emulator) = emulator::emulator() else { return };
    let device = Device::Cuda(0);
    let made = |salt: u64| -> Matrix<i32> {
        let mut coo = Coo::new(70, 70);
        (0..2500u64).for_each(|e| coo.push(e * (7 + salt) % 70, e * e % 70, (e % 50) as i32 - 20));
        Matrix::build_with(&coo, Second).unwrap().to(&device).unwrap()
    };
    let inputs: Matrices = [made(0), made(4), made(9)];
    let output = made(2);
    let before = output.entries().unwrap();
    for (name, run) in OPERATIONS {
        let mut out = output.clone();
        run(&inputs, &mut out).unwrap();
        let expected = out.entries().unwrap();
        drop(out);
        let live = emulator.live().0;
        for n in 0.. {
            let mut out = output.clone();
            emulator.fail_allocations(n, 2);
            let result = run(&inputs, &mut out);
            emulator.fail_allocations(-1, 1);
            let Err(error) = result else {
                assert!(n > 0, "{name} takes memory");
                assert_eq!(out.entries().unwrap(), expected, "{name}");
                break;
            };
            assert!(matches!(error, oplus::Error::OutOfMemory { .. }), "{name}, allocation {n}: {error}");
            assert_eq!(out.entries().unwrap(), before, "{name}, allocation {n}");
            assert_eq!(emulator.live().0, live, "{name}, allocation {n}");
            assert!(n < 200, "{name} never ends");
        }
    }
    // Columns that there is no room for are done without.
    let x: Vector<i32> = Vector::full(70, 3).unwrap().to(&device).unwrap();
    let expected = vxm(&x, &inputs[0]).eval().unwrap().entries().unwrap();
    let mut pushed = 0;
    for n in 0.. {
        let before = emulator.live().0;
        let a = made(0);
        drop(vxm(&x, &a).eval().unwrap());
        let live = emulator.live().0;
        emulator.fail_allocations(n, 2);
        let result = vxm(&x, &a).eval().and_then(|y| y.entries());
        emulator.fail_allocations(-1, 1);
        match result {
            Err(error) => assert!(matches!(error, oplus::Error::OutOfMemory { .. }), "allocation {n}: {error}"),
            Ok(y) => {
                assert_eq!(y, expected, "allocation {n}");
                if emulator.live().0 > live {
                    break;
                }
                pushed += 1;
            }
        }
        assert_eq!(vxm(&x, &a).eval().unwrap().entries().unwrap(), expected, "allocation {n}, again");
        assert!(emulator.live().0 > live, "allocation {n}: columns that there was no room for once are never kept");
        drop(a);
        assert_eq!(emulator.live().0, before, "allocation {n}");
        assert!(n < 200, "it never ends");
    }
    assert!(pushed > 0);
    // A launch that finds no memory for its stacks.
    emulator.fail_launch(3);
    let mut out = output.clone();
    let error = ewise_add(&inputs[0], &inputs[1], Plus).into(&mut out).unwrap_err();
    emulator.recover();
    assert!(matches!(error, oplus::Error::OutOfMemory { operation: "launch", .. }), "{error:?}");
    assert_eq!(out.entries().unwrap(), before);
}
