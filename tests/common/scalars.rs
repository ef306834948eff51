//! Every operation over any scalar: what a device gives against what the reference gives, to the bit.
#![allow(dead_code)] // each of the tests uses a part
use oplus::algebra::Eq;
use oplus::prelude::*;

oplus::scalar! { /// 3 bytes.
pub struct Rgb { red: u8, green: u8, blue: u8 } }
oplus::scalar! { /// 12 bytes.
pub struct Point { x: f32, y: f32, z: f32 } }
oplus::scalar! { /// 16 bytes.
pub struct Hop { dist: f64, hops: u64 } }
oplus::scalar! { /// 24 bytes.
pub struct Route { dist: f64, first: u64, hops: i32, toll: i32 } }

#[cfg(feature = "half")]
oplus::scalar! { /// 20 bytes, of scalars whose CUDA text is in files of their own.
pub struct Spin { up: c32, down: c32, weight: f16, tag: u16 } }

// ⊕ keeps one of two whole values by their order, ⊗ mixes the parts: neither of them is the other's argument exchanged.
oplus::semiring! { pub struct Darkest[](Rgb, Rgb) -> Rgb;
    identity = Rgb::make(255, 255, 255);
    add = |x, y| (Rgb::make(min(x.red, y.red), max(x.green, y.green), add(x.blue, y.blue)));
    multiply = |a, b, _| (Rgb::make(add(a.red, b.blue), sub(a.green, b.red), mul(a.blue, b.green)));
}
oplus::semiring! { pub struct Nearest[](Point, Point) -> Point;
    identity = Point::make(f32::INFINITY, f32::NEG_INFINITY, 0.0);
    add = |x, y| (Point::make(min(x.x, y.x), max(x.y, y.y), add(x.z, y.z)));
    multiply = |a, b, _| (Point::make(add(a.x, b.y), sub(a.y, b.z), mul(a.z, b.x)));
}
oplus::semiring! { pub struct Shortest[](Hop, Hop) -> Hop;
    identity = Hop::make(f64::INFINITY, u64::MAX);
    add = |x, y| (select(x.dist < y.dist || (x.dist == y.dist && x.hops <= y.hops), x, y));
    multiply = |a, b, at| (Hop::make(add(a.dist, b.dist), add(add(a.hops, a.hops), add(b.hops, at.k))));
}
oplus::semiring! { pub struct Cheapest[](Route, Route) -> Route;
    identity = Route::make(f64::INFINITY, u64::MAX, i32::MAX, i32::MAX);
    add = |x, y| (select(x.dist < y.dist || (x.dist == y.dist && (x.first < y.first || (x.first == y.first && (x.hops < y.hops || (x.hops == y.hops && x.toll <= y.toll))))), x, y));
    multiply = |a, b, _| (Route::make(add(a.dist, b.dist), a.first, sub(a.hops, b.hops), add(a.toll, add(b.toll, b.toll))));
}
#[cfg(feature = "half")]
oplus::semiring! { pub struct Spins[](Spin, Spin) -> Spin;
    identity = Spin::make(c32::ZERO, c32::ZERO, f16::INFINITY, 0);
    add = |x, y| (Spin::make(add(x.up, y.up), add(x.down, y.down), min(x.weight, y.weight), max(x.tag, y.tag)));
    multiply = |a, b, _| (Spin::make(mul(a.up, b.down), sub(a.down, conj(b.up)), mul(a.weight, b.weight), add(a.tag, b.tag)));
}
#[cfg(feature = "half")]
oplus::operator! { pub MixSpin[](Spin, Spin) -> Spin = |x, y| Spin::make(y.down, complex(real(x.up), imag(y.up)), sub(x.weight, y.weight), x.tag) }
#[cfg(feature = "half")]
oplus::operator! { pub SpinBefore[](Spin, Spin) -> bool = |x, y| x.weight < y.weight }
#[cfg(feature = "half")]
oplus::unary_operator! { pub TurnSpin[](Spin) -> Spin = |x| Spin::make(x.down, neg(x.up), abs(x.weight), x.tag) }
// The inner product's ⊗.
oplus::operator! { pub Inner[T: ComplexNumber](T, T) -> T = |x, y| mul(conj(x), y) }
oplus::operator! { pub MixRgb[](Rgb, Rgb) -> Rgb = |x, y| Rgb::make(sub(x.red, y.green), y.blue, add(x.green, x.blue)) }
oplus::operator! { pub MixPoint[](Point, Point) -> Point = |x, y| Point::make(sub(x.x, y.y), y.z, add(x.y, x.z)) }
oplus::operator! { pub MixHop[](Hop, Hop) -> Hop = |x, y| Hop::make(sub(x.dist, y.dist), add(x.hops, add(y.hops, y.hops))) }
oplus::operator! { pub MixRoute[](Route, Route) -> Route = |x, y| Route::make(sub(x.dist, y.dist), y.first, sub(x.hops, y.toll), x.toll) }
oplus::operator! { pub MixNumbers[T: Arithmetic](T, T) -> T = |x, y| sub(add(x, x), y) }
oplus::operator! { pub RgbBefore[](Rgb, Rgb) -> bool = |x, y| x.green < y.green }
oplus::operator! { pub PointBefore[](Point, Point) -> bool = |x, y| x.y < y.y }
oplus::operator! { pub HopBefore[](Hop, Hop) -> bool = |x, y| x.dist > y.dist }
oplus::operator! { pub RouteBefore[](Route, Route) -> bool = |x, y| x.hops < y.hops }
oplus::operator! { pub Shorter[T: ComplexNumber](T, T) -> bool = |x, y| abs(x) < abs(y) }
oplus::unary_operator! { pub TurnRgb[](Rgb) -> Rgb = |x| Rgb::make(x.blue, x.red, x.green) }
oplus::unary_operator! { pub TurnPoint[](Point) -> Point = |x| Point::make(x.z, neg(x.x), x.y) }
oplus::unary_operator! { pub TurnHop[](Hop) -> Hop = |x| Hop::make(neg(x.dist), x.hops) }
oplus::unary_operator! { pub TurnRoute[](Route) -> Route = |x| Route::make(x.dist, x.first, x.toll, x.hops) }

/// A scalar and what its operations are tried with.
pub trait Trial: Scalar {
    type Ring: Semiring<Self, Self>;
    type Mix: BinaryOp<Self, Self, Out = Self> + Default;
    type Before: BinaryOp<Self, Self, Out = bool> + Default;
    type Turn: UnaryOp<Self, Out = Self> + Default;
    /// A monoid over the scalar itself.
    type Fold: Monoid<Self> + Default;
    /// One of few values, so that ties come; sums of them are exact.
    fn sample(n: u64) -> Self;
}
macro_rules! trials { ($($t:ty: $ring:ty, $mix:ty, $before:ty, $turn:ty, $fold:ty, |$n:ident| $value:expr;)*) => {$(
    impl Trial for $t {
        type Ring = $ring;
        type Mix = $mix;
        type Before = $before;
        type Turn = $turn;
        type Fold = $fold;
        fn sample($n: u64) -> Self { $value }
    }
)*} }
trials! {
    Rgb: Darkest, MixRgb, RgbBefore, TurnRgb, Darkest, |n| Rgb::make((n % 7) as u8, (n % 5) as u8, (n % 251) as u8);
    Point: Nearest, MixPoint, PointBefore, TurnPoint, Nearest, |n| Point::make((n % 7) as f32, -((n % 5) as f32), (n % 3) as f32);
    Hop: Shortest, MixHop, HopBefore, TurnHop, Shortest, |n| Hop::make((n % 4) as f64, n % 3);
    Route: Cheapest, MixRoute, RouteBefore, TurnRoute, Cheapest, |n| Route::make((n % 4) as f64, n % 3, n as i32 % 5, -(n as i32 % 7));
    bool: LorLand, Le, Lt, Not, Lxor, |n| n.is_multiple_of(3);
    c32: Compose<Plus, Inner>, MixNumbers, Shorter, Conjugate, Plus, |n| c32::new((n % 7) as f32 - 3.0, (n % 5) as f32 - 2.0);
    c64: PlusTimes, MixNumbers, Shorter, Conjugate, Plus, |n| c64::new((n % 7) as f64 - 3.0, (n % 5) as f64 - 2.0);
}
#[cfg(feature = "half")]
trials! {
    f16: PlusTimes, MixNumbers, Lt, Negate, Max, |n| f16::of_f64((n % 7) as f64 - 3.0);
    Spin: Spins, MixSpin, SpinBefore, TurnSpin, Spins, |n| Spin::make(
        c32::new((n % 3) as f32, -((n % 2) as f32)), c32::new(1.0, (n % 4) as f32), f16::of_f64((n % 5) as f64 - 2.0), n as u16 % 9);
    bf16: MinPlus, MixNumbers, Gt, Negate, Min, |n| bf16::of_f64((n % 7) as f64 - 3.0);
}

/// Numbers that look random.
struct Numbers(u64);
impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.0 >> 33
    }
    fn coo<T: Trial>(&mut self, nrows: u64, ncols: u64, entries: u64) -> Coo<T> {
        let mut coo = Coo::new(nrows, ncols);
        for _ in 0..entries {
            coo.push(self.next() % nrows, self.next() % ncols, T::sample(self.next()));
        }
        // A row and a column that are full.
        (0..ncols).for_each(|j| coo.push(nrows / 2, j, T::sample(j)));
        (0..nrows).for_each(|i| coo.push(i, ncols / 3, T::sample(i + 1)));
        coo
    }
    fn vector<T: Trial>(&mut self, n: u64, device: Device) -> Vector<T, T::Ring> {
        let entries: Vec<_> = (0..n).filter(|i| i % 3 != 1).map(|i| (i, T::sample(self.next()))).collect();
        Vector::build(n, &entries).unwrap().to(&device).unwrap()
    }
}

fn text<T: Scalar, S>(a: &Matrix<T, S>) -> String {
    format!("{:?} {:?}", a.shape(), a.entries().unwrap())
}
fn line<T: Scalar, S>(x: &Vector<T, S>) -> String {
    format!("{} {:?}", x.len(), x.entries().unwrap())
}

/// Results on a device by name, of every operation that is wanted.
pub fn results<T: Trial>(device: Device, wanted: fn(&str) -> bool) -> Vec<(&'static str, String)> {
    let mut numbers = Numbers(7);
    let (m, n) = (23, 37);
    let mut matrix = |m, n, e| {
        let coo = numbers.coo::<T>(m, n, e);
        Matrix::<T, T::Ring>::build_on(&coo, T::Mix::default(), &device).unwrap()
    };
    let (a, b, c, square) = (matrix(m, n, 90), matrix(m, n, 60), matrix(m, m, 40), matrix(n, n, 70));
    let (x, y) = (numbers.vector::<T>(n, device), numbers.vector::<T>(m, device));
    let (mix, turn) = (T::Mix::default(), T::Turn::default());
    let value = T::sample(5);
    let mut all = vec![("build", text(&a))];
    macro_rules! add {
        ($name:expr, $result:expr) => {
            if wanted($name) {
                all.push(($name, $result));
            }
        };
    }

    add!("mxm", text(&mxm(&a, &square).eval().unwrap()));
    // These are not on diagonals.
    for strategy in Strategy::ALL.iter().copied().filter(|s| *s != Strategy::Band) {
        let asked = || mxm(&a, &b.transposed()).strategy(strategy).mask(&c.structure());
        add!(strategy.name(), text(&asked().eval().unwrap()));
    }
    add!("mxm, masked", text(&mxm(&a, &b).transpose_b().mask(&c.structure().complement()).eval().unwrap()));
    add!("mxm, fused", text(&mxm(&a, &square).select(Tril, 3).eval().unwrap()));
    for (name, format) in
        [("csc", Format::Csc), ("hypersparse", Format::Hypersparse), ("bitmap", Format::Bitmap), ("dia", Format::Dia)]
    {
        let formed = || a.to_format(format).unwrap();
        add!(name, text(&formed()) + &text(&mxm(&formed(), &square).eval().unwrap()));
    }
    add!("mxm, reproducible", text(&mxm(&a, &b.transposed()).reproducible().eval().unwrap()));
    let plan = || mxm(&a, &square).plan().unwrap();
    add!("mxm, planned", text(&plan().run(&a, &square).unwrap()));
    add!("mxm, reduced", format!("{:?}", mxm(&a, &square).reduce(Any).unwrap()));
    add!("mxv", line(&mxv(&a, &x).eval().unwrap()));
    add!("mxv, transposed", line(&mxv(&a, &y).transpose().eval().unwrap()));
    add!("vxm", line(&vxm(&y, &a).eval().unwrap()));
    let sparse = || select(&x, ColLe, 8).eval().unwrap();
    add!("vxm, sparse", line(&vxm(&sparse(), &square).eval().unwrap()));
    add!("any_pair", text(&mxm(&a.over::<AnyPair>(), &square.over()).eval().unwrap()));

    add!("ewise_add", text(&ewise_add(&a, &b, mix).eval().unwrap()));
    add!("ewise_mult", text(&ewise_mult(&a, &b, mix).eval().unwrap()));
    add!("ewise_mult, eq", text(&ewise_mult(&a, &b, Eq).eval().unwrap()));
    add!("ewise_union", text(&ewise_union(&a, value, &b, T::sample(2), mix).eval().unwrap()));
    add!("ewise of vectors", line(&ewise_add(&x, &select(&x, ColLe, 8).eval().unwrap(), mix).eval().unwrap()));
    add!("apply", text(&apply(&a, turn).eval().unwrap()));
    add!("apply_first", text(&apply_first(value, mix, &a).eval().unwrap()));
    add!("apply_second", text(&apply_second(&a, mix, value).eval().unwrap()));
    add!("apply_index", text(&apply_index(&a, ColIndex, 3).eval().unwrap()));
    add!("select by value", text(&select(&a, ValueEq, value).eval().unwrap()));
    add!("select by value, not", text(&select(&a, ValueNe, value).eval().unwrap()));
    add!("select by place", text(&select(&a, Offdiag, 2).eval().unwrap()));
    add!("tril", text(&tril(&a, 1).eval().unwrap()));
    add!("reduce_rows", line(&reduce_rows(&a, T::Fold::default()).eval().unwrap()));
    add!("reduce_rows, any", line(&reduce_rows(&a, Any).transpose_a().eval().unwrap()));
    add!("reduce", format!("{:?}", reduce(&a, T::Fold::default()).unwrap()));
    add!("reduce_stored", format!("{:?}", reduce_stored(&a, Any).unwrap()));
    add!("transpose", text(&transpose(&a).eval().unwrap()));
    add!("transpose_merged", text(&transpose_merged(&a).eval().unwrap()));
    add!(
        "kronecker",
        text(&kronecker(&tril(&a, -18).eval().unwrap(), &triu(&b, 33).eval().unwrap(), mix).eval().unwrap())
    );
    add!("scale_rows", text(&scale_rows(&y, &a, mix).eval().unwrap()));
    add!("scale_columns", text(&scale_columns(&a, &x, mix).eval().unwrap()));
    add!("diag", text(&diag(&x, 2).eval().unwrap()));
    add!("diag_extract", line(&diag_extract(&a, 1).eval().unwrap()));
    let sorted = || sort(&a, T::Before::default()).unwrap();
    add!("sort", text(&sorted().0) + &text(&sorted().1));

    let (rows, cols) = (|| Indices::stride(20, -3, 6), || Indices::from(&[5u64, 0, 36, 12][..]));
    add!("extract", text(&extract(&a, rows(), cols()).eval().unwrap()));
    add!("extract_row", line(&extract_row(&a, 11, ..).eval().unwrap()));
    add!("extract_vector", line(&extract_vector(&x, 3..30).eval().unwrap()));
    let part = || extract(&b, rows(), cols()).eval().unwrap();
    let written = |f: &dyn Fn(&mut Matrix<T, T::Ring>)| {
        let mut out = a.clone();
        f(&mut out);
        text(&out)
    };
    add!("assign", written(&|c| assign(&part(), rows(), cols()).into(c).unwrap()));
    add!(
        "assign, accumulated",
        written(&|c| assign(&part(), rows(), cols()).accumulate(mix).mask(&b.structure()).into(c).unwrap())
    );
    add!(
        "subassign",
        written(&|c| subassign(&part(), rows(), cols()).mask(&part().structure()).replace().into(c).unwrap())
    );
    add!("assign_scalar", written(&|c| assign_scalar(value, 2..9, cols()).into(c).unwrap()));
    add!("assign_row", written(&|c| assign_row(&x, 3, ..).accumulate(mix).into(c).unwrap()));
    add!("assign_empty", written(&|c| assign_empty(2..9, cols()).into(c).unwrap()));
    add!("accumulated", written(&|c| apply(&b, turn).accumulate(mix).into(c).unwrap()));
    add!("masked", written(&|c| apply(&b, turn).mask(&b.structure().complement()).replace().into(c).unwrap()));
    let assigned = || {
        let mut out = x.clone();
        assign_scalar_vector(value, 3..20).accumulate(mix).into(&mut out).unwrap();
        line(&out)
    };
    add!("assign_scalar_vector", assigned());

    let tiles = || split(&a, &[10, 13], &[30, 7]).unwrap();
    let joined = || {
        let tiles = tiles();
        let borrowed: Vec<Vec<_>> = tiles.iter().map(|line| line.iter().collect()).collect();
        concat(&borrowed).unwrap()
    };
    add!("split", tiles().iter().flatten().map(text).collect());
    add!("concat", text(&joined()));
    add!("resize", written(&|c| c.resize(12, 60).unwrap()));
    add!(
        "set and remove",
        written(&|c| {
            c.set(0, 1, value).unwrap();
            c.remove(11, 5).unwrap();
            let mut updates = Updates::new();
            (0..9).for_each(|i| updates.set(i, 2 * i, T::sample(i)).unwrap());
            updates.remove(11, 7).unwrap();
            c.update(&updates).unwrap();
        })
    );
    add!("get", format!("{:?} {:?}", a.get(11, 4).unwrap(), a.get(0, 0).unwrap()));
    add!("iterators", format!("{:?}", a.iter().unwrap().collect::<Vec<_>>()));
    add!("vector's bitmap", line(&mxv(&a, &x.to_bitmap().unwrap()).eval().unwrap()));
    add!("to_coo", format!("{:?}", a.to_coo().unwrap()));
    all
}

/// A device against the reference, in what is wanted.
pub fn check_some<T: Trial>(device: Device, wanted: fn(&str) -> bool) {
    let (found, expected) = (results::<T>(device, wanted), results::<T>(Device::Reference, wanted));
    assert_eq!(found.len(), expected.len());
    for ((name, found), (_, expected)) in found.iter().zip(&expected) {
        assert_eq!(found, expected, "{name} over {} on {device}", T::TEXT.name);
    }
}
/// In everything.
pub fn check<T: Trial>(device: Device) {
    check_some::<T>(device, |_| true);
}
