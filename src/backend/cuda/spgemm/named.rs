//! Strategies that take a whole product, asked for by name.
use super::Job;
use super::band::Bands;
use super::slices::Sorting;
use crate::backend::cuda::band::{Band, Pairs};
use crate::backend::cuda::entries::{empty, movable};
use crate::backend::cuda::merge::{Kind, merge};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::{Error, Result};
use crate::spgemm::Strategy;
use oplus_codegen::FunctionText;
use oplus_codegen::text::OperatorText;

type Made = (DevicePattern, Buffer);

impl Job<'_> {
    /// The product by this strategy; `None` where it is one of those that choose row by row.
    pub(super) fn by_name(&self, strategy: Strategy) -> Result<Option<Made>> {
        let sorting = match strategy {
            Strategy::EscGlobal => Some(Sorting::Radix),
            Strategy::SegmentedMerge => Some(Sorting::Merge),
            Strategy::ColumnRow => Some(Sorting::Outer),
            Strategy::Band | Strategy::RowRow => None,
            _ => return Ok(None),
        };
        if self.rows == 0 || self.a.pattern.nnz == 0 || self.b.pattern.nnz == 0 {
            return empty(self.context, self.a.pattern.nrows, self.b.pattern.ncols).map(Some);
        }
        match sorting {
            Some(sorting) => self.by_slices(sorting).map(Some),
            None if strategy == Strategy::RowRow => self.by_rows(),
            None => self.masked_after(self.banded()?).map(Some),
        }
    }

    /// T⟨M⟩ of a T that was made without the mask.
    fn masked_after(&self, made: Made) -> Result<Made> {
        if self.mask.is_none() {
            return Ok(made);
        }
        let none = empty(self.context, made.0.nrows, made.0.ncols)?;
        let scalar = movable(self.semiring.c);
        let second = OperatorText { parameters: &["_", "y"], expression: "y" };
        let op = FunctionText::new("op", vec![scalar, scalar], scalar, second);
        let kind = Kind::Write { mask: self.mask, replace: true, accumulate: false, bounds: None };
        merge(&kind, op, operand(&none), operand(&made))
    }

    /// Diagonal by diagonal, however many of their places are empty.
    fn banded(&self) -> Result<Made> {
        let (a, b) = (self.diagonals("A", self.a.pattern)?, self.diagonals("B", self.b.pattern)?);
        let (a, b) = (a.as_band(), b.as_band());
        let inner = self.b.pattern.nrows as u64;
        let Some(pairs) = Pairs::of(self.context, (a, self.rows), (b, inner))? else {
            return Err(no_band(format!(
                "A and B have {} and {} diagonals: too many places",
                a.shifts.len(),
                b.shifts.len()
            )));
        };
        self.by_bands(&Bands { a, b, pairs })
    }

    fn diagonals<'p>(&self, name: &str, pattern: &'p DevicePattern) -> Result<Diagonals<'p>> {
        if let Some(band) = Band::of(pattern)? {
            return Ok(Diagonals::Known(band));
        }
        Band::sparse(pattern)?.map(|b| Diagonals::Found(Box::new(b))).ok_or_else(|| {
            let (nrows, ncols, most) = (pattern.nrows, pattern.ncols, self.tuning.band_diagonals);
            no_band(format!("{name}, {nrows}×{ncols}, has more than {most}, or 2^31 and more rows and columns"))
        })
    }
}

fn no_band(what: String) -> Error {
    let reason = format!("the strategy `band` needs matrices on few diagonals: {what}");
    Error::InvalidValue { operation: "mxm", reason }
}

/// Found out before and kept with the positions, or for this product.
enum Diagonals<'a> {
    Known(&'a Band),
    Found(Box<Band>),
}

impl Diagonals<'_> {
    fn as_band(&self) -> &Band {
        match self {
            Diagonals::Known(band) => band,
            Diagonals::Found(band) => band,
        }
    }
}

fn operand(made: &Made) -> Operand<'_> {
    Operand { pattern: &made.0, values: &made.1 }
}
