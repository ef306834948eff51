//! Strategies that take a whole product, asked for by name.
use super::band::Bands;
use super::band_pairs::Pairs;
use super::slices::Sorting;
use super::{Job, Made, TABLES};
use crate::backend::cuda::entries::{empty, movable};
use crate::backend::cuda::entrywise::merge::{Kind, merge};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::storage::band::Band;
use crate::backend::cuda::storage::values::of_marks;
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::{Error, Result};
use crate::spgemm::{Analysis, Bin, Strategy};
use oplus_codegen::FunctionText;
use oplus_codegen::text::OperatorText;

/// What takes a whole product.
enum Way {
    Slices(Sorting),
    Rows,
    Band,
}

impl Way {
    fn of(strategy: Strategy) -> Option<Way> {
        Some(match strategy {
            Strategy::EscGlobal => Way::Slices(Sorting::Radix),
            Strategy::SegmentedMerge => Way::Slices(Sorting::Merge),
            Strategy::ColumnRow => Way::Slices(Sorting::Outer),
            Strategy::RowRow => Way::Rows,
            Strategy::Band => Way::Band,
            _ => return None,
        })
    }
}

impl Job<'_> {
    /// Whether a block has room for the tables of each size, and the largest for a part of a row's sums.
    pub(super) fn tables_fit(&self) -> bool {
        let (spec, room) = (self.numeric(0).spec, self.context.properties().shared_per_block_optin);
        (0..TABLES).all(|t| {
            spec.table_launch(t).is_some_and(|table| table.shared <= room && (t + 1 < TABLES || table.values >= 64))
        })
    }
    /// What takes the whole product. Values of hundreds of bytes leave no room in shared memory: their products are sorted in device
    /// memory, whatever was asked for.
    fn way(&self, strategy: Strategy) -> Option<Way> {
        match Way::of(strategy) {
            None | Some(Way::Rows) if !self.tables_fit() => Some(Way::Slices(Sorting::Radix)),
            way => way,
        }
    }
    /// The product by this strategy; `None` where it is one of those that choose row by row.
    pub(super) fn by_name(&self, strategy: Strategy) -> Result<Option<Made>> {
        let Some(way) = self.way(strategy) else { return Ok(None) };
        if self.is_empty() {
            return empty(self.context, self.a.pattern.nrows, self.b.pattern.ncols).map(Some);
        }
        match way {
            Way::Slices(sorting) => self.by_slices(sorting).map(Some),
            Way::Rows => self.by_rows(),
            Way::Band => self.masked_after(self.banded()?).map(Some),
        }
    }

    /// No row, or an operand without entries.
    fn is_empty(&self) -> bool {
        self.rows == 0 || self.a.pattern.nnz == 0 || self.b.pattern.nnz == 0
    }

    /// Says what `by_name` will do; false where it leaves the product to others. Fails as it would.
    pub(super) fn explain_by_name(&self, strategy: Strategy, to: &mut Analysis) -> Result<bool> {
        let (rows, size) = (self.rows, self.semiring.written().size as u64);
        let way = self.way(strategy);
        let sorted = matches!(way, Some(Way::Slices(Sorting::Radix)));
        let done = if sorted { Strategy::EscGlobal } else { strategy };
        let (about, workspace) = match way {
            None => return Ok(false),
            Some(Way::Rows) if !self.sum_fits() => return Ok(false),
            Some(Way::Rows) => {
                let about = "rows of B scattered into a tile of sums, in virtual warps of their mean length";
                (about.to_string(), 20 * rows + 8 * super::CONTROL as u64)
            }
            Some(Way::Slices(sorting)) => {
                let slices = to.products.div_ceil(self.most_products()).max(1);
                let about = match sorting {
                    Sorting::Radix => "products expanded, sorted by row and column, contracted",
                    Sorting::Merge => "products expanded, the runs of a row merged, contracted",
                    Sorting::Tiles => "products expanded, sorted by tiles, the tiles of a row merged, contracted",
                    Sorting::Outer => "outer products, the runs of a row merged, contracted",
                };
                let bytes = to.products.min(self.most_products()).saturating_mul(self.product_bytes());
                let about = if slices > 1 { format!("{about}, in {slices} slices of rows") } else { about.to_string() };
                (about, bytes.saturating_add(8 * (self.a.pattern.nnz + rows)))
            }
            Some(Way::Band) if self.is_empty() => ("no product".to_string(), 8 * rows),
            Some(Way::Band) => {
                let (a, b) = (self.diagonals("A", self.a.pattern)?, self.diagonals("B", self.b.pattern)?);
                let (a, b) = (a.as_band().shifts.len() as u64, b.as_band().shifts.len() as u64);
                let laid_out = a * rows * self.semiring.a.size as u64
                    + b * self.b.pattern.nrows as u64 * self.semiring.b.size as u64;
                let masked = if self.mask.is_some() { to.products.saturating_mul(4 + size) } else { 0 };
                (format!("along {a} diagonals of A and {b} of B"), laid_out.saturating_add(8 * rows + masked))
            }
        };
        to.strategy = done.name();
        to.reason = match done == strategy {
            true => format!("{strategy} was asked for"),
            false => format!("values of {size} bytes leave no room for tables in shared memory"),
        };
        to.bins = vec![Bin::new(done.name(), about, rows)];
        to.workspace = workspace;
        Ok(true)
    }

    /// T⟨M⟩ of a T that was made without the mask.
    fn masked_after(&self, made: Made) -> Result<Made> {
        if self.mask.is_none() {
            return Ok(made);
        }
        let none = empty(self.context, made.0.nrows, made.0.ncols)?;
        let kind = Kind::Write { mask: self.mask, replace: true, accumulate: false, bounds: None };
        if self.semiring.c.size == 0 {
            // Positions alone: a byte for each stands for what is moved.
            let marks = Buffer::zeroed(self.context, made.0.nnz)?;
            let (pattern, _) = merge(&kind, of_marks(), operand(&none), Operand { pattern: &made.0, values: &marks })?;
            return Ok((pattern, made.1));
        }
        let scalar = movable(self.semiring.c);
        let second = OperatorText { parameters: &["_", "y"], expression: "y" };
        let op = FunctionText::new("op", vec![scalar, scalar], scalar, second);
        merge(&kind, op.into(), operand(&none), operand(&made))
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
