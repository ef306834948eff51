//! mxm, mxv and vxm by semiring and type.
use crate::call::{Accumulated, Call};
use crate::case::{Fault, Value};
use oplus::algebra::Eq;
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

fn products<T: Value, S: Semiring<T, T, Out: Accumulated>>(call: &Call) -> Fault<()> {
    let (ta, tb) = (call.case.has("ta"), call.case.has("tb"));
    match call.case.word("op") {
        "mxm" => {
            let (a, b) = (call.matrix::<T>('A')?.over::<S>(), call.matrix::<T>('B')?.over::<S>());
            // The transpose options in both spellings.
            let product = if call.case.number.is_multiple_of(2) {
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
            };
            let dots = call.case.has("mask") && !call.case.word("mask").contains("complement");
            call.matrices(product.clone())?;
            for strategy in strategies(call).into_iter().filter(|s| *s != Strategy::Dot || dots) {
                match call.matrices(product.clone().strategy(strategy)) {
                    // Matrices that lie on too many diagonals.
                    Err(e) if strategy == Strategy::Band && e.contains("needs matrices on few diagonals") => (),
                    forced => forced.map_err(|e| format!("{strategy:?}: {e}"))?,
                }
            }
            Ok(())
        }
        "mxv" => {
            let (a, x) = (call.matrix::<T>('A')?.over::<S>(), call.vector::<T>('B')?.over::<S>());
            call.vectors(if ta { mxv(&a, &x).transpose() } else { mxv(&a, &x) })
        }
        _ => {
            let (x, b) = (call.vector::<T>('A')?.over::<S>(), call.matrix::<T>('B')?.over::<S>());
            call.vectors(if tb { vxm(&x, &b).transpose() } else { vxm(&x, &b) })
        }
    }
}

macro_rules! rings { ($($t:ident { $($name:literal $ring:ty;)* })*) => {
    pub fn run(call: &Call) -> Fault<()> {
        match (call.operand('A')?.scalar, call.case.word("ring")) {
            $($((stringify!($t), $name) => products::<$t, $ring>(call),)*)*
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
