//! Operations on small operands, each of which a test makes fail.
use super::random::Rng;
use oplus::prelude::*;

pub const GPU: Device = Device::Cuda(0);

pub fn coo(n: u64, entries: u64, seed: u64) -> Coo<i64> {
    let mut coo = Coo::new(n, n);
    let mut random = Rng(seed | 1);
    let mut next = |below| random.below(below);
    for _ in 0..entries {
        coo.push(next(n), next(n), next(100) as i64 - 30);
    }
    coo
}

/// Operands on the device.
pub struct Operands {
    pub a: Matrix<i64>,
    pub b: Matrix<i64>,
    pub mask: Matrix<i64>,
    pub x: Vector<i64>,
}

const N: u64 = 40;

impl Operands {
    pub fn on(device: Device) -> Result<Operands> {
        let matrix = |seed| Matrix::build_with(&coo(N, 150, seed), Second)?.to(&device);
        let x: Vec<(u64, i64)> = (0..N).step_by(3).map(|i| (i, i as i64 - 9)).collect();
        Ok(Operands { a: matrix(3)?, b: matrix(5)?, mask: matrix(7)?, x: Vector::build(N, &x)?.to(&device)? })
    }
    pub fn contents(&self) -> Vec<Entries> {
        let (a, b, m) = (self.a.entries().unwrap(), self.b.entries().unwrap(), self.mask.entries().unwrap());
        vec![a, b, m, flat(self.x.entries().unwrap())]
    }
}

pub type Entries = Vec<(u64, u64, i64)>;
pub fn flat(entries: Vec<(u64, i64)>) -> Entries {
    entries.into_iter().map(|(i, v)| (0, i, v)).collect()
}
fn one(value: Option<i64>) -> Entries {
    value.map(|v| (0, 0, v)).into_iter().collect()
}

pub type Step = (&'static str, fn(&Operands) -> Result<Entries>);
pub const STEPS: &[Step] = &[
    ("mxm", |o| mxm(&o.a, &o.b).eval()?.entries()),
    ("mxm by hash tables", |o| mxm(&o.a, &o.b).strategy(Strategy::Hash).eval()?.entries()),
    ("mxm by sorting", |o| mxm(&o.a, &o.b).strategy(Strategy::Esc).eval()?.entries()),
    ("mxm esc_global", |o| mxm(&o.a, &o.b).strategy(Strategy::EscGlobal).eval()?.entries()),
    ("mxm segmented_merge", |o| {
        let product = mxm(&o.a.over::<MinPlus>(), &o.b.over()).strategy(Strategy::SegmentedMerge);
        product.mask(&o.mask.structure()).eval()?.entries()
    }),
    ("mxm row_row", |o| {
        mxm(&o.a, &o.b).strategy(Strategy::RowRow).mask(&o.mask.structure().complement()).eval()?.entries()
    }),
    ("mxm column_row", |o| mxm(&o.a, &o.b).strategy(Strategy::ColumnRow).eval()?.entries()),
    ("mxm band", |o| {
        let mut coo = Coo::<i64>::new(N, N);
        (1..N).for_each(|i| [i - 1, i].iter().for_each(|j| coo.push(i, *j, i as i64 - 9)));
        let band = Matrix::<i64>::build_with(&coo, Second)?.to(&o.a.device())?;
        mxm(&band, &band).strategy(Strategy::Band).mask(&o.mask.structure()).eval()?.entries()
    }),
    ("mxm full", |o| {
        let full = Matrix::<i64>::full(N, 6, 3)?.to(&o.a.device())?;
        mxm(&o.a, &full).eval()?.entries()
    }),
    ("mxm bitmap_rank", |o| mxm(&o.a, &o.b).strategy(Strategy::BitmapRank).eval()?.entries()),
    ("mxm masked", |o| mxm(&o.a, &o.b).strategy(Strategy::Hash).mask(&o.mask.structure()).eval()?.entries()),
    ("mxm dot", |o| mxm(&o.a, &o.b).strategy(Strategy::Dot).mask(&o.mask.structure()).eval()?.entries()),
    ("mxm dot, by columns", |o| {
        let product = mxm(&o.a.over::<AnySecondI>(), &o.b.over()).transpose_b().strategy(Strategy::Dot);
        let entries = product.mask(&o.mask.as_mask()).eval()?.entries()?;
        Ok(entries.into_iter().map(|(i, j, k)| (i, j, k as i64)).collect())
    }),
    ("mxm dot, reduced", |o| {
        mxm(&o.a, &o.b).strategy(Strategy::Dot).mask(&o.mask.structure()).reduce(Plus).map(|v| vec![(0, 0, v)])
    }),
    ("mxm dot, planned", |o| {
        let plan = mxm(&o.a, &o.b).strategy(Strategy::Dot).mask(&o.mask.structure()).plan()?;
        plan.run(&o.a, &o.b)?.entries()
    }),
    ("mxm window", |o| mxm(&o.a, &o.b).strategy(Strategy::Window).eval()?.entries()),
    ("transpose_merged", |o| transpose_merged(&o.a).eval()?.entries()),
    ("mxm masked", |o| mxm(&o.a, &o.b).mask(&o.mask.structure()).eval()?.entries()),
    ("mxm complement", |o| mxm(&o.a, &o.b).mask(&o.mask.structure().complement()).eval()?.entries()),
    ("mxm transposed", |o| mxm(&o.a.over::<MinPlus>(), &o.b.over()).transpose_a().transpose_b().eval()?.entries()),
    ("mxm into", |o| {
        let mut c = o.mask.clone();
        mxm(&o.a, &o.b).accumulate(Plus).into(&mut c)?;
        c.entries()
    }),
    ("mxm planned", |o| mxm(&o.a, &o.b).strategy(Strategy::Hash).plan()?.run(&o.a, &o.b)?.entries()),
    ("mxm planned, small", |o| mxm(&o.a, &o.b).plan()?.run(&o.a, &o.b)?.entries()),
    ("mxm limited", |o| mxm(&o.a, &o.b).memory_limit(30_000).eval()?.entries()),
    ("mxm_reduce", |o| mxm(&o.a, &o.b).mask(&o.mask.structure()).reduce(Plus).map(|v| vec![(0, 0, v)])),
    ("mxv", |o| mxv(&o.a, &o.x).eval()?.entries().map(flat)),
    ("mxv masked", |o| mxv(&o.a, &o.x).mask(&o.x.structure().complement()).eval()?.entries().map(flat)),
    ("vxm", |o| vxm(&o.x, &o.a).eval()?.entries().map(flat)),
    ("vxm any", |o| vxm(&o.x.over::<AnyFirst>(), &o.a.over()).eval()?.entries().map(flat)),
    ("to the device", |o| Matrix::<i64>::build_with(&coo(N, 90, 9), Plus)?.to(&o.a.device())?.entries()),
    ("to the host and back", |o| o.a.to(&Device::Cpu)?.to(&o.a.device())?.entries()),
    ("build", |o| Matrix::<i64>::build_on(&coo(N, 90, 11), Plus, &o.a.device())?.entries()),
    ("ewise_add", |o| ewise_add(&o.a, &o.b, Plus).eval()?.entries()),
    ("get", |o| o.a.get(1, 1).map(one)),
];
