//! Names on command lines.
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
