//! Long sequences of operations on the same few matrices and vectors: what one keeps for the next (lists, columns, positions, bitmaps, values
//! that are changed where they lie) is never what was there before. Every device against the reference; `OPLUS_SEQUENCES` says how many.
mod common;
#[path = "common/devices.rs"]
mod devices;

use oplus::prelude::*;
use quickcheck::{Arbitrary, Gen, QuickCheck};
use std::mem::take;

/// Rows and columns: cells end inside a word.
const N: u64 = 35;

/// One operation: which, its operands and output, its mask and accumulator, and numbers.
#[derive(Clone, Debug)]
struct Step {
    what: u8,
    a: u8,
    b: u8,
    c: u8,
    mask: u8,
    how: u8,
    k: i8,
    places: (u8, u8, u8, u8),
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut any = || u8::arbitrary(g);
        let (what, a, b, c, mask, how) = (any(), any(), any(), any(), any(), any());
        let places = (any(), any(), any(), any());
        Step { what, a, b, c, mask, how, k: i8::arbitrary(g) % 7, places }
    }
}

/// What is worked on, the same on each device.
struct State {
    matrices: [Matrix<i64>; 3],
    vectors: [Vector<i64>; 3],
}

impl State {
    /// One sparse, one with a few diagonals, one full.
    fn new(device: &Device) -> Self {
        let cells = || (0..N).flat_map(|i| (0..N).map(move |j| (i, j)));
        let some = |of: &dyn Fn(u64, u64) -> bool| -> Matrix<i64> {
            let entries: Vec<_> =
                cells().filter(|(i, j)| of(*i, *j)).map(|(i, j)| (i, j, (i * 7 + j * 3) as i64 % 11 - 4)).collect();
            Matrix::build(N, N, &entries).unwrap().to(device).unwrap()
        };
        let matrices = [some(&|i, j| (i * 5 + j * j) % 11 == 0), some(&|i, j| i.abs_diff(j) < 2), some(&|_, _| true)];
        let few: Vec<_> = (0..N).step_by(6).map(|i| (i, i as i64 - 9)).collect();
        let vectors = [Vector::build(N, &few).unwrap(), Vector::full(N, 3).unwrap(), Vector::new(N).unwrap()];
        Self { matrices, vectors: vectors.map(|v| v.to(device).unwrap()) }
    }
}

/// An operation under a mask and with the step's accumulator, into the output.
macro_rules! into {
    ($operation:expr, $step:expr, $mask:expr, $c:expr) => {{
        let mut operation = $operation;
        if let Some(mask) = &$mask {
            operation = operation.mask(mask);
            if $step.how & 4 > 0 {
                operation = operation.replace();
            }
        }
        match $step.how % 4 {
            0 => operation.accumulate(Plus).into(&mut $c),
            1 => operation.accumulate(Min).into(&mut $c),
            _ => operation.into(&mut $c),
        }
    }};
}

/// Does a step, and says what was seen besides what is in the state.
fn run(state: &mut State, device: &Device, step: &Step) -> oplus::Result<String> {
    let at = |place: u8| u64::from(place) % N;
    let (p, q, r, s) = (at(step.places.0), at(step.places.1), at(step.places.2), at(step.places.3));
    let range = |x: u64, y: u64| x.min(y)..x.max(y) + 1;
    let (rows, cols, k) = (range(p, q), range(r, s), i64::from(step.k));
    let (a, b, c) = (step.a as usize % 3, step.b as usize % 3, step.c as usize % 3);
    // Nobody else holds the output, unless it is an input too or was shared before.
    let (turned, other) = (step.how & 8 > 0, step.how & 16 > 0);
    let of_vectors = step.what % 28 >= 18;
    let (mut m, mut v) = (Matrix::default(), Vector::default());
    if of_vectors {
        v = take(&mut state.vectors[c]);
    } else {
        m = take(&mut state.matrices[c]);
    }
    let matrix = |nth: usize| if nth == c && !of_vectors { m.clone() } else { state.matrices[nth].clone() };
    let vector = |nth: usize| if nth == c && of_vectors { v.clone() } else { state.vectors[nth].clone() };
    let by = step.mask as usize / 8 % 3;
    let mask = match (step.mask % 8, of_vectors) {
        (0 | 1, false) => Some(matrix(by).structure()),
        (2 | 3, false) => Some(matrix(by).as_mask()),
        (0 | 1, true) => Some(vector(by).structure()),
        (2 | 3, true) => Some(vector(by).as_mask()),
        _ => None,
    };
    let mask = mask.map(|mask| if step.mask & 1 > 0 { mask.complement() } else { mask });
    let mut seen = String::new();
    match step.what % 28 {
        0 | 1 => {
            let (x, y) = (matrix(a), matrix(b));
            let mut product = mxm(&x, &y);
            if turned {
                product = product.transpose_a();
            }
            if other {
                product = product.transpose_b();
            }
            drop((x, y));
            into!(product, step, mask, m)?;
        }
        2 => into!(ewise_add(&matrix(a), &matrix(b), Minus), step, mask, m)?,
        3 => into!(ewise_mult(&matrix(a), &matrix(b), Times), step, mask, m)?,
        4 => into!(apply_second(&matrix(a), Plus, k), step, mask, m)?,
        5 => into!(select(&matrix(a), ValueGt, k), step, mask, m)?,
        6 => into!(transpose(&matrix(a)), step, mask, m)?,
        7 => into!(assign_scalar(k, rows, cols), step, mask, m)?,
        8 => {
            let part = extract(&matrix(a), rows.clone(), cols.clone()).eval()?;
            into!(assign(&part, rows, cols), step, mask, m)?;
        }
        9 => into!(assign_row(&vector(a), p, ..), step, None::<Mask>, m)?,
        10 => m.set(p, q, k)?,
        11 => {
            m.remove(p, q)?;
            m.remove(r, s)?;
        }
        12 => {
            let formats = [Format::Csr, Format::Csc, Format::Hypersparse, Format::Bitmap, Format::Dia, Format::Full];
            let format = formats[step.k.unsigned_abs() as usize % 6];
            if format != Format::Full || m.nvals() == N * N {
                m = m.to_format(format)?;
            }
        }
        13 => m = matrix(a),
        14 => m = ewise_add(&m, &Matrix::<i64>::full(N, N, k)?.to(device)?, Plus).eval()?,
        15 => m = if other { m.with_value(k)? } else { m.to(&Device::Cpu)?.to(device)? },
        16 => seen = format!("{:?} {:?} {:?}", reduce(&m, Plus)?, m.get(p, q)?, m.nvals()),
        17 => {
            let few: Matrix<i64> =
                Matrix::build(N, N, &[(p, q, k), ((p + 1) % N, r, 3), ((p + 2) % N, s, -k)])?.to(device)?;
            into!(apply(&few, Identity), step, mask, m)?;
        }
        18 | 19 => {
            let product = mxv(&matrix(a), &vector(b));
            into!(if turned { product.transpose() } else { product }, step, mask, v)?;
        }
        20 | 21 => {
            let product = vxm(&vector(b), &matrix(a));
            into!(if turned { product.transpose() } else { product }, step, mask, v)?;
        }
        22 => into!(ewise_add(&vector(a), &vector(b), Plus), step, mask, v)?,
        23 => {
            let sums = reduce_rows(&matrix(a), Plus);
            into!(if turned { sums.transpose_a() } else { sums }, step, mask, v)?;
        }
        24 => into!(assign_scalar_vector(k, rows), step, mask, v)?,
        25 if other => v.set(p, k)?,
        25 => v.remove(p)?,
        26 => into!(select(&vector(a), ValueLe, k), step, mask, v)?,
        _ => v = vector(a),
    }
    if of_vectors {
        state.vectors[c] = v;
        return Ok(seen + &format!("{:?}", state.vectors[c].entries()?));
    }
    seen += &format!("{:?}", m.entries()?);
    state.matrices[c] = m;
    Ok(seen + &asked_again(&state.matrices[c], &Vector::full(N, 2)?.to(device)?, step.how / 32)?)
}

/// What reads a matrix in one way, again and again: what it finds is kept from the second or third time on.
fn asked_again(a: &Matrix<i64>, x: &Vector<i64>, way: u8) -> oplus::Result<String> {
    let mut seen = String::new();
    for _ in 0..if way == 2 { 2 } else { 3 } {
        seen += &match way {
            0 => format!("{:?}", vxm(x, a).eval()?.entries()?),
            1 => format!("{:?}", mxv(a, x).eval()?.entries()?),
            2 => format!("{:?}", mxm(a, a).mask(&a.structure()).strategy(Strategy::Dot).eval()?.entries()?),
            3 => format!("{:?}", reduce_rows(a, Plus).transpose_a().eval()?.entries()?),
            _ => return Ok(seen),
        };
    }
    Ok(seen)
}

/// Every device makes of the steps what the reference makes.
fn agree(steps: Vec<Step>) -> bool {
    let told = |device: &Device| {
        let mut state = State::new(device);
        let run = |step| run(&mut state, device, step).unwrap_or_else(|e| format!("{e:?}"));
        steps.iter().map(run).collect::<Vec<_>>()
    };
    let mut all = devices::devices().into_iter();
    let expected = told(&all.next().unwrap());
    all.all(|device| {
        let got = told(&device);
        let first = got.iter().zip(&expected).position(|(x, y)| x != y);
        if let Some(first) = first {
            eprintln!("{device}: step {first}, {:?}\n{}\nand not\n{}", steps[first], got[first], expected[first]);
        }
        first.is_none()
    })
}

#[test]
fn what_is_kept_is_never_stale() {
    let asked = std::env::var("OPLUS_SEQUENCES").ok().and_then(|n| n.parse().ok());
    let sequences = asked.unwrap_or(8);
    // Sequences of up to so many steps.
    let check = agree as fn(Vec<Step>) -> bool;
    QuickCheck::new().rng(Gen::new(120)).tests(sequences).quickcheck(check);
}
