//! Strategies by name.
use super::Strategy;
use crate::error::Error;
use std::fmt;
use std::str::FromStr;

impl Strategy {
    /// Every strategy, `Auto` first.
    pub const ALL: &'static [Strategy] = &[
        Self::Auto,
        Self::EscGlobal,
        Self::Esc,
        Self::Hash,
        Self::SegmentedMerge,
        Self::RowRow,
        Self::ColumnRow,
        Self::Band,
        Self::BitmapRank,
        Self::Window,
        Self::Dot,
    ];

    /// Its name on command lines and in logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::EscGlobal => "esc_global",
            Self::Esc => "esc",
            Self::Hash => "hash",
            Self::SegmentedMerge => "segmented_merge",
            Self::RowRow => "row_row",
            Self::ColumnRow => "column_row",
            Self::Band => "band",
            Self::BitmapRank => "bitmap_rank",
            Self::Window => "window",
            Self::Dot => "dot",
        }
    }

    /// Whether CUDA, asked for this by name, sums in the order of k whatever the operands: floating results then have the bits of
    /// the host. The other strategies do so for some rows; the host always does.
    #[must_use]
    pub const fn sums_in_order(self) -> bool {
        matches!(self, Self::EscGlobal | Self::Esc | Self::SegmentedMerge | Self::ColumnRow | Self::Band | Self::Dot)
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Strategy {
    type Err = Error;

    /// The strategy of this name.
    ///
    /// # Errors
    /// `InvalidValue` with the list of names.
    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|s| s.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|s| s.name()).collect();
            let reason = format!("`{name}` is none; there are {}", names.join(", "));
            Error::InvalidValue { operation: "strategy", reason }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.to_string().parse::<Strategy>().unwrap(), *strategy);
        }
        assert_eq!(format!("{:>6}|", Strategy::Esc), "   esc|");
        for name in ["", "Esc", "hash ", "escape"] {
            let error = name.parse::<Strategy>().unwrap_err().to_string();
            assert!(
                error.contains(&format!("`{name}`")) && error.contains("auto, ") && error.contains("dot"),
                "{error}"
            );
        }
    }
}
