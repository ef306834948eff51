//! mxm, mxv and vxm by semiring and type.
use crate::call::{Accumulated, Call, told};
use crate::case::{Fault, Value};
use oplus::algebra::Eq;
use oplus::operation::Product;
use oplus::prelude::*;

/// What to force besides: the host has two ways; the emulator takes one, since each is kernels to compile.
fn strategies(call: &Call) -> Vec<Strategy> {
    match call.device {
        #[cfg(feature = "cuda")]
        Device::Cuda(_) if !matches!(crate::common::emulator::cuda(), Some(crate::common::emulator::Cuda::Gpu)) => {
            vec![Strategy::ALL[call.case.number % Strategy::ALL.len()]]
        }
        Device::Cuda(_) => Strategy::ALL.to_vec(),
        _ => vec![Strategy::Hash, Strategy::Dot],
    }
}

/// What a product is asked for besides: results are the same, or there is not the room.
struct Asked {
    memory_limit: Option<u64>,
    reproducible: bool,
}
impl Asked {
    fn of(call: &Call) -> Self {
        let limits = [1 << 9, 1 << 12, 1 << 15, 1 << 20, 1 << 40];
        Self {
            memory_limit: limits.get(call.case.draw('l', 3 * limits.len())).copied(),
            reproducible: call.case.draw('r', 5) == 0,
        }
    }
    fn with<A: Value, B: Value, C: Container, S>(
        &self,
        operation: Operation<Product<A, B, C, S>>,
    ) -> Operation<Product<A, B, C, S>> {
        let operation = if self.reproducible { operation.reproducible() } else { operation };
        self.memory_limit.into_iter().fold(operation, |operation, limit| operation.memory_limit(limit))
    }
    /// What is told of too little room is right under a limit.
    fn judged(&self, found: Fault<()>) -> Fault<()> {
        match found {
            Err(e) if self.memory_limit.is_some() && e.contains("out of memory") => Ok(()),
            found => {
                found.map_err(|e| format!("{e} (limit {:?}, reproducible {})", self.memory_limit, self.reproducible))
            }
        }
    }
}

/// The product of matrices, the transpose options in both spellings. It alone holds its operands.
fn of_matrices<A: Value, B: Value, S: Semiring<A, B>>(
    call: &Call,
) -> Fault<Operation<Product<A, B, Matrix<S::Out, S>, S>>> {
    let (a, b) = (call.matrix::<A>('A')?.over::<S>(), call.matrix::<B>('B')?.over::<S>());
    let (ta, tb) = (call.case.has("ta"), call.case.has("tb"));
    Ok(if call.case.number.is_multiple_of(2) {
        match (ta, tb) {
            (false, false) => mxm(&a, &b),
            (true, false) => mxm(&a, &b).transpose_a(),
            (false, true) => mxm(&a, &b).transpose_b(),
            (true, true) => mxm(&a, &b).transpose_a().transpose_b(),
        }
    } else {
        match (ta, tb) {
            (false, false) => mxm(&a, &b),
            (true, false) => mxm(&a.transposed(), &b),
            (false, true) => mxm(&a, &b.transposed()),
            (true, true) => mxm(&a.transposed(), &b.transposed()),
        }
    })
}

fn products<A: Value, B: Value, S: Semiring<A, B, Out: Accumulated>>(call: &Call) -> Fault<()> {
    let (ta, tb, asked) = (call.case.has("ta"), call.case.has("tb"), Asked::of(call));
    match call.case.word("op") {
        "mxm" => {
            let dots = call.case.has("mask") && !call.case.word("mask").contains("complement");
            asked.judged(call.matrices(asked.with(of_matrices::<A, B, S>(call)?)))?;
            for strategy in strategies(call).into_iter().filter(|s| *s != Strategy::Dot || dots) {
                // Made anew: an output that is an operand is one of this product's again.
                match call.matrices(of_matrices::<A, B, S>(call)?.strategy(strategy)) {
                    // Matrices that lie on too many diagonals.
                    Err(e) if strategy == Strategy::Band && e.contains("needs matrices on few diagonals") => (),
                    forced => forced.map_err(|e| format!("{strategy:?}: {e}"))?,
                }
            }
            Ok(())
        }
        "mxv" => {
            let (a, x) = (call.matrix::<A>('A')?.over::<S>(), call.vector::<B>('B')?.over::<S>());
            let product = asked.with(if ta { mxv(&a, &x).transpose() } else { mxv(&a, &x) });
            drop((a, x));
            asked.judged(call.vectors(product))
        }
        _ => {
            let (x, b) = (call.vector::<A>('A')?.over::<S>(), call.matrix::<B>('B')?.over::<S>());
            let product = asked.with(if tb { vxm(&x, &b).transpose() } else { vxm(&x, &b) });
            drop((x, b));
            asked.judged(call.vectors(product))
        }
    }
}

/// The sum over all of a product.
fn summed<T: Accumulated, S: Semiring<T, T, Out = T>, M: Monoid<T>>(call: &Call, monoid: M) -> Fault<()> {
    let asked = Asked::of(call);
    let product = call.masked(asked.with(of_matrices::<T, T, S>(call)?))?;
    asked.judged(told(product.reduce(monoid)).and_then(|sum| call.compare((1, 1), vec![(0, 0, sum)])))
}

pub fn sums(call: &Call) -> Fault<()> {
    match (call.operand('A')?.scalar, call.case.word("ring")) {
        ("i32", "plus_times") => summed::<i32, PlusTimes, _>(call, Plus),
        ("f64", "min_plus") => summed::<f64, MinPlus, _>(call, Min),
        ("bool", "lor_land") => summed::<bool, LorLand, _>(call, Lor),
        other => Err(format!("no sum over a product by {other:?}")),
    }
}

macro_rules! rings { ($($t:ident { $($name:literal $ring:ty;)* })*) => {
    pub fn run(call: &Call) -> Fault<()> {
        match (call.operand('A')?.scalar, call.operand('B')?.scalar, call.case.word("ring")) {
            // Of two types.
            ("f64", "bool", "plus_first") => products::<f64, bool, PlusFirst>(call),
            ("bool", "i32", "plus_second") => products::<bool, i32, PlusSecond>(call),
            $($((stringify!($t), stringify!($t), $name) => products::<$t, $t, $ring>(call),)*)*
            other => Err(format!("no semiring {other:?}")),
        }
    }
} }
rings! {
    bool {
        "lor_land" LorLand; "land_lor" LandLor; "lxor_land" LxorLand; "lor_first" Compose<Lor, First>;
        "lxor_second" Compose<Lxor, Second>; "lxnor_lor" Compose<Lxnor, Lor>; "plus_pair" PlusPair; "any_pair" AnyPair;
        "min_secondi" MinSecondI; "max_firsti1" Compose<Max, FirstI1>;
    }
    u8 {
        "plus_times" PlusTimes; "min_plus" MinPlus; "max_min" MaxMin; "times_plus" Compose<Times, Plus>;
        "lor_lt" Compose<Lor, Lt>; "min_secondi1" Compose<Min, SecondI1>; "bor_band" BorBand; "band_bor" BandBor;
        "bxor_band" BxorBand; "bxnor_bor" BxnorBor; "bor_bxor" Compose<Bor, Bxor>;
    }
    i32 {
        "plus_times" PlusTimes; "min_plus" MinPlus; "max_plus" MaxPlus; "min_max" MinMax; "min_times" MinTimes;
        "min_first" MinFirst; "min_second" MinSecond; "plus_first" PlusFirst; "plus_minus" Compose<Plus, Minus>;
        "min_div" Compose<Min, Div>; "land_ge" Compose<Land, Ge>; "lxor_eq" Compose<Lxor, Eq>; "any_pair" AnyPair;
        "max_secondi" MaxSecondI; "min_secondj1" Compose<Min, SecondJ1>;
    }
    f64 {
        "plus_times" PlusTimes; "min_plus" MinPlus; "max_plus" MaxPlus; "min_max" MinMax; "max_min" MaxMin;
        "min_times" MinTimes; "max_times" MaxTimes; "min_first" MinFirst; "max_second" MaxSecond;
        "plus_second" PlusSecond; "min_minus" Compose<Min, Minus>; "min_div" Compose<Min, Div>;
        "lor_lt" Compose<Lor, Lt>; "plus_pair" PlusPair; "min_secondi" MinSecondI; "min_secondj" Compose<Min, SecondJ>;
        "max_firsti" Compose<Max, FirstI>;
    }
    c64 {
        "plus_times" PlusTimes; "plus_first" PlusFirst; "plus_second" PlusSecond; "times_second" Compose<Times, Second>;
        "lor_ne" Compose<Lor, Ne>; "plus_pair" PlusPair;
    }
    i8 { "plus_times" PlusTimes; "min_plus" MinPlus; }
    i16 { "plus_times" PlusTimes; "max_plus" MaxPlus; }
    u16 { "plus_times" PlusTimes; "min_plus" MinPlus; }
    u32 { "plus_times" PlusTimes; "min_plus" MinPlus; }
    i64 { "plus_times" PlusTimes; "min_plus" MinPlus; }
    u64 { "plus_times" PlusTimes; "min_plus" MinPlus; }
    f32 { "plus_times" PlusTimes; "min_plus" MinPlus; "max_times" MaxTimes; }
    c32 { "plus_times" PlusTimes; "plus_first" PlusFirst; }
}
