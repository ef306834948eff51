//! Names on command lines, and what they name over each kind of scalars.
use clap::ValueEnum;

/// ⊕.⊗ by the library's names.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq)]
#[value(rename_all = "snake_case")]
pub(crate) enum SemiringName {
    PlusTimes,
    MinPlus,
    MaxPlus,
    MinMax,
    MaxMin,
    MinTimes,
    MaxTimes,
    MinFirst,
    MinSecond,
    MaxFirst,
    MaxSecond,
    PlusFirst,
    PlusSecond,
    AnyFirst,
    AnySecond,
    AnyPair,
    PlusPair,
    LorLand,
    LxorLand,
}

/// `$of!(type, semiring)` of the name over numbers, `$count` what `plus_pair` counts in; over bool alone `$none`.
macro_rules! over_numbers {
    ($name:expr, $t:ty, $count:ty, $of:ident, $none:expr) => {
        match $name {
            SemiringName::PlusTimes => $of!($t, PlusTimes),
            SemiringName::MinPlus => $of!($t, MinPlus),
            SemiringName::MaxPlus => $of!($t, MaxPlus),
            SemiringName::MinMax => $of!($t, MinMax),
            SemiringName::MaxMin => $of!($t, MaxMin),
            SemiringName::MinTimes => $of!($t, MinTimes),
            SemiringName::MaxTimes => $of!($t, MaxTimes),
            SemiringName::MinFirst => $of!($t, MinFirst),
            SemiringName::MinSecond => $of!($t, MinSecond),
            SemiringName::MaxFirst => $of!($t, MaxFirst),
            SemiringName::MaxSecond => $of!($t, MaxSecond),
            SemiringName::PlusFirst => $of!($t, PlusFirst),
            SemiringName::PlusSecond => $of!($t, PlusSecond),
            SemiringName::AnyFirst => $of!($t, AnyFirst),
            SemiringName::AnySecond => $of!($t, AnySecond),
            SemiringName::AnyPair => $of!($t, AnyPair<$t>),
            SemiringName::PlusPair => $of!($t, PlusPair<$count>),
            SemiringName::LorLand | SemiringName::LxorLand => $none,
        }
    };
}
pub(crate) use over_numbers;

/// Over complex numbers, which have no order.
macro_rules! over_complex {
    ($name:expr, $t:ty, $of:ident, $none:expr) => {
        match $name {
            SemiringName::PlusTimes => $of!($t, PlusTimes),
            SemiringName::PlusFirst => $of!($t, PlusFirst),
            SemiringName::PlusSecond => $of!($t, PlusSecond),
            SemiringName::AnyFirst => $of!($t, AnyFirst),
            SemiringName::AnySecond => $of!($t, AnySecond),
            SemiringName::AnyPair => $of!($t, AnyPair<$t>),
            SemiringName::PlusPair => $of!($t, PlusPair<$t>),
            _ => $none,
        }
    };
}
pub(crate) use over_complex;

/// Over bool the arithmetic names mean what they mean on {0, 1}: + and max are ∨, × and min are ∧.
macro_rules! over_booleans {
    ($name:expr, $of:ident) => {
        match $name {
            SemiringName::PlusTimes | SemiringName::MaxTimes => $of!(bool, LorLand),
            SemiringName::MaxMin | SemiringName::LorLand => $of!(bool, LorLand),
            SemiringName::MinMax | SemiringName::MinPlus => $of!(bool, LandLor),
            SemiringName::MaxPlus => $of!(bool, Compose<Lor, Lor>),
            SemiringName::MinTimes => $of!(bool, Compose<Land, Land>),
            SemiringName::MinFirst => $of!(bool, Compose<Land, First>),
            SemiringName::MinSecond => $of!(bool, Compose<Land, Second>),
            SemiringName::PlusFirst | SemiringName::MaxFirst => $of!(bool, Compose<Lor, First>),
            SemiringName::PlusSecond | SemiringName::MaxSecond => $of!(bool, Compose<Lor, Second>),
            SemiringName::AnyFirst => $of!(bool, AnyFirst),
            SemiringName::AnySecond => $of!(bool, AnySecond),
            SemiringName::AnyPair | SemiringName::PlusPair => $of!(bool, AnyPair),
            SemiringName::LxorLand => $of!(bool, LxorLand),
        }
    };
}
pub(crate) use over_booleans;
