//! What assign and subassign have in common: the builder, its checks and the rule.
use super::few;
use super::indices::{Chosen, Indices};
use super::region::{Part, dense, spread, within};
use super::row;
use super::{MaskParts, Operand, Overwrite, With, common, mask_parts, oriented, same_shape, shape_of};
use crate::algebra::Scalar;
use crate::backend::places::{Assigned, Region, Within};
use crate::backend::{Body, MaskBody, on_backend};
use crate::container::{Container, OfMatrices};
use crate::device::Device;
use crate::error::Result;
use crate::format::{copied, found, removed, updated};
use crate::mask::{AsMask, Mask};
use crate::memory;
use crate::operation::Accumulate;
use crate::storage::axis::Axis;
use crate::storage::held::Values;
use crate::storage::listing::is_hypersparse;
use crate::storage::store::{PatternStore, Store, same_device};
use std::marker::PhantomData;
use std::sync::Arc;

/// An assignment that has not run yet: of values of `T`, into a container of the kind `K`; `F` is how they meet old ones.
///
/// Let Z be C, but inside the region C ⊙ T with an accumulator and T without one: there entries of C that T lacks are
/// deleted. Where the mask admits, C becomes Z; elsewhere it stays, or is deleted with [`replace`](Assignment::replace).
/// The functions `assign…` have a mask of the shape of C, which replace reaches all of (of one of its rows or columns
/// for `assign_row` and `assign_column`); the functions `subassign…` have a mask of the shape of the region, and nothing
/// outside the region changes.
#[must_use = "a builder does nothing until .into()"]
#[derive(Debug)]
pub struct Assignment<T, K, F = Overwrite> {
    pub(super) core: Core<T>,
    replace: bool,
    mask: Option<Mask>,
    kind: PhantomData<fn() -> (K, F)>,
}
#[derive(Debug)]
pub(super) struct Core<T> {
    name: &'static str,
    source: Source<T>,
    rows: Indices,
    cols: Indices,
    pub(super) names: (&'static str, &'static str),
    pub(super) shape: Shape,
    /// The mask is the region's.
    sub: bool,
}
#[derive(Debug)]
pub(super) enum Source<T> {
    /// A store, to be read transposed or not.
    Store(Store<T>, bool),
    /// One value everywhere, or no value anywhere.
    Value(Option<T>),
}
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    All,
    Row,
    /// Vectors of its shape lie down.
    Column,
}
impl<T, K, F> Clone for Assignment<T, K, F>
where
    T: Copy,
{
    fn clone(&self) -> Self {
        let source = match &self.core.source {
            Source::Store(store, transposed) => Source::Store(store.clone(), *transposed),
            Source::Value(value) => Source::Value(*value),
        };
        let core = Core { source, rows: self.core.rows.clone(), cols: self.core.cols.clone(), ..self.core };
        Self { core, mask: self.mask.clone(), ..*self }
    }
}

impl<T: Scalar, K> Assignment<T, K> {
    pub(super) fn new(name: &'static str, source: Source<T>, rows: Indices, cols: Indices) -> Self {
        let core = Core { name, source, rows, cols, names: ("row", "column"), shape: Shape::All, sub: false };
        Self { core, replace: false, mask: None, kind: PhantomData }
    }
    pub(super) fn of(
        name: &'static str,
        a: &impl Operand<Container: Container<Scalar = T>>,
        rows: Indices,
        cols: Indices,
    ) -> Self {
        let (a, transposed) = a.operand();
        Self::new(name, Source::Store(a.0.clone(), transposed), rows, cols)
    }
    pub(super) fn sub(mut self, name: &'static str) -> Self {
        self.core.name = name;
        self.core.sub = true;
        self
    }
}

impl<T, K, F> Assignment<T, K, F> {
    /// Only what the mask admits is written. The last call counts. O(1) of a [`Mask`]; of values O(m + nnz(M)).
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut c: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (1, 0, 2)])?;
    /// let mask: Matrix<bool> = Matrix::build(2, 2, &[(0, 1, true), (1, 0, true)])?;
    /// assign_scalar(9, .., ..).mask(&mask).accumulate(Plus).into(&mut c)?;
    /// assert_eq!(c.entries()?, [(0, 0, 1), (0, 1, 9), (1, 0, 11)]);
    /// assign_scalar(9, .., ..).mask(&mask).replace().into(&mut c)?;
    /// assert_eq!(c.entries()?, [(0, 1, 9), (1, 0, 9)]);
    /// # Ok(()) }
    /// ```
    pub fn mask(mut self, mask: &impl AsMask) -> Self {
        self.mask = Some(mask.as_mask());
        self
    }
    /// Entries within the mask's reach that it does not admit are deleted. O(1).
    pub fn replace(mut self) -> Self {
        self.replace = true;
        self
    }
    /// C(rows, cols) ⊙= A: the values meet old entries by `op` = ⊙, op(old, new); nothing is deleted for want of a value. O(1).
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut w: Vector<i32> = Vector::build(3, &[(0, 1), (2, 2)])?;
    /// assign_scalar_vector(10, ..2).accumulate(Minus).into(&mut w)?;
    /// assert_eq!(w.entries()?, [(0, -9), (1, 10), (2, 2)]);
    /// # Ok(()) }
    /// ```
    pub fn accumulate<G>(self, _op: G) -> Assignment<T, K, With<G>> {
        Assignment { core: self.core, replace: self.replace, mask: self.mask, kind: PhantomData }
    }
}

impl<T: Scalar, K, F> Assignment<T, K, F> {
    /// C(rows, cols)⟨M, replace⟩ ⊙= A: the part of `c` is written. `c` is untouched on error, and may be an operand or the mask. What it costs is said where the
    /// assignment is made: O(nnz(C) + nnz(A)), and less where little of `c` changes. Nothing is summed: the same bits on every device.
    /// A panic of an operator of the caller's own is no error: accumulating in place it may leave some entries of `c` done and others not, but
    /// `c` is a well-formed matrix or vector still.
    ///
    /// # Errors
    /// `IndexOutOfBounds` naming the position, `DimensionMismatch`, `DeviceMismatch`, `OutOfMemory`, and the device's own.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut c: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 3), (1, 0, 5)])?;
    /// assign(&c.clone(), 0..2, [1, 0]).into(&mut c)?;
    /// assert_eq!(c.entries()?, [(0, 0, 3), (1, 1, 5)]);
    /// # Ok(()) }
    /// ```
    pub fn into<C>(self, c: &mut C) -> Result<()>
    where
        C: Container<Kind = K>,
        F: Accumulate<C::Scalar, T>,
    {
        // A line of a matrix is a vector.
        let vectors = C::VECTOR || self.core.shape != Shape::All;
        let mask = self.mask.map(|mask| mask.given(vectors));
        let made = self.core.assign::<_, F>(mask.as_ref(), self.replace, vectors, c.parts_mut().0);
        made.map_err(|e| C::told(e.in_operation(self.core.name)))
    }
}

impl<T: Scalar, F> Assignment<T, OfMatrices, F> {
    /// A is read transposed, O(1) here; a vector or a scalar is what it is.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let (mut c, a): (Matrix<i32>, Matrix<i32>) = (Matrix::new(2, 2)?, Matrix::build(1, 2, &[(0, 1, 7)])?);
    /// assign(&a, .., 1..).transpose_a().into(&mut c)?;
    /// assert_eq!(c.entries()?, [(1, 1, 7)]);
    /// # Ok(()) }
    /// ```
    pub fn transpose_a(mut self) -> Self {
        if let (Source::Store(_, transposed), Shape::All) = (&mut self.core.source, self.core.shape) {
            *transposed = !*transposed;
        }
        self
    }
}

impl<T: Scalar> Core<T> {
    /// `c` becomes what it should be; `vectors` where A is a u: a vector, told by its length.
    fn assign<C: Scalar, F: Accumulate<C, T>>(
        &self,
        mask: Option<&Mask>,
        replace: bool,
        vectors: bool,
        c: &mut Store<C>,
    ) -> Result<()> {
        let (name, (nrows, ncols)) = (self.name, c.shape());
        let part = Part {
            rows: self.rows.within(name, self.names.0, nrows)?,
            cols: self.cols.within(name, self.names.1, ncols)?,
        };
        if let Source::Store(a, transposed) = &self.source {
            let source = if vectors { "u" } else { "A" };
            let fit = same_shape(name, (source, shape_of(a, *transposed)), ("the region", part.shape()));
            fit.map_err(|e| if vectors { e.told_of_vectors() } else { e })?;
            same_device(name, (source, a.device), ("the output", c.device))?;
        }
        // Of a long vector, nobody looks at every place for a few.
        if (nrows, matches!(part.cols, Chosen::All(_))) == (1, false)
            && is_hypersparse(ncols, c.nvals().saturating_add(part.cols.count()))
            && let Some(mut listed) = c.listed((false, true), name)?
        {
            self.assign::<C, F>(mask, replace, vectors, &mut listed)?;
            *c = listed;
            return Ok(());
        }
        let (mask, reach) = self.reach(mask, c, &part)?;
        #[cfg(feature = "cuda")]
        if reach.is_none() && self.by_cells::<C, F>(c, &part, mask.as_ref(), replace)? {
            return Ok(());
        }
        if mask.is_none() && few::assigned::<C, T, F>(c, &self.source, &part)? {
            return Ok(());
        }
        if mask.is_none() && row::assigned::<C, T, F>(c, &self.source, &part)? {
            return Ok(());
        }
        let all = matches!((&part.rows, &part.cols), (Chosen::All(_), Chosen::All(_)));
        if let (Source::Value(None), Some(m), None) = (&self.source, &mask, F::TEXT)
            && all
            && !(m.complement || replace)
        {
            let few = m.pattern.body.nnz();
            if removed(name, c, &m.pattern)? {
                return Ok(());
            }
            let t = self.values(c, &part, mask.as_ref())?;
            let made = self.written::<C, F>(c, t, &part, mask, reach, replace)?;
            copied(c, few, &made);
            *c = made;
            return Ok(());
        }
        let t = self.values(c, &part, mask.as_ref())?;
        if mask.is_none() && in_place::<C, T, F>(c, &t, &part)? {
            return Ok(());
        }
        if self.only_puts::<C, F>(&t, &part, mask.as_ref(), replace) {
            // Under a mask T may have more than the region.
            let inside = all || mask.is_none();
            let few = t.nvals();
            let spare = c.rows.places().saturating_mul(c.cols.places()) as u64 / 2;
            if inside && few <= spare && updated::<C, T, F::Keeping>(name, c, &t, None, false)? {
                return Ok(());
            }
            let made = self.written::<C, F::Keeping>(c, t, &part, None, reach, replace)?;
            copied(c, few, &made);
            *c = made;
            return Ok(());
        }
        *c = self.written::<C, F>(c, t, &part, mask, reach, replace)?;
        Ok(())
    }

    /// The same of cells, where there is no mask or one of the shape of `c`: whether it was done.
    #[cfg(feature = "cuda")]
    fn by_cells<C: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &mut Store<C>,
        part: &Part,
        mask: Option<&MaskParts>,
        replace: bool,
    ) -> Result<bool> {
        let (Body::CudaHeld(_), Some(area)) = (&c.body, part.area((&c.rows, &c.cols))) else { return Ok(false) };
        if mask.is_some_and(|m| !c.rows.same(&m.pattern.rows) || !c.cols.same(&m.pattern.cols)) {
            return Ok(false);
        }
        let mask = mask.map(|m| MaskBody::new(&m.pattern.body, m.complement));
        let turned;
        let source = match &self.source {
            Source::Value(None) => return Ok(false),
            Source::Value(Some(value)) => Err(*value),
            Source::Store(Store { body: Body::CudaHeld(_), .. }, _) if self.shape != Shape::All => return Ok(false),
            Source::Store(a @ Store { body: Body::CudaHeld(_), .. }, transposed) => {
                turned = oriented(a, *transposed)?;
                Ok(&turned)
            }
            Source::Store(..) => return Ok(false),
        };
        if mask.is_none() && crate::format::patched::<C, T, F>(c, source, &area)? {
            return Ok(true);
        }
        let Some(made) = crate::format::assigned::<C, T, F>(c, source, mask.as_ref(), replace, &area)? else {
            return Ok(false);
        };
        let alone = matches!(self.source, Source::Value(Some(_)));
        *c = if alone && c.one().is_some() { found(&made)?.unwrap_or(made) } else { made };
        Ok(true)
    }

    /// Whether entries of T are put into C and nothing is deleted: by an accumulator, where each place of the region gets a value, and where the
    /// mask admits a value alone.
    fn only_puts<C: Scalar, F: Accumulate<C, T>>(
        &self,
        t: &Store<T>,
        part: &Part,
        mask: Option<&MaskParts>,
        replace: bool,
    ) -> bool {
        let value = matches!(self.source, Source::Value(Some(_)));
        match mask {
            Some(mask) => value && !mask.complement && !replace,
            None => {
                let (rows, cols) = part.shape();
                F::TEXT.is_some() || value || rows.checked_mul(cols) == Some(t.nvals())
            }
        }
    }

    /// C, into which T, which stands where it goes, is written.
    fn written<C: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &Store<C>,
        t: Store<T>,
        part: &Part,
        mask: Option<MaskParts>,
        reach: Option<Part>,
        replace: bool,
    ) -> Result<Store<C>> {
        let name = self.name;
        let (rows, cols) = common(name, c, &t, mask.as_ref())?;
        let how = Assigned {
            region: Region { rows: within(name, &rows, &part.rows)?, cols: within(name, &cols, &part.cols)? },
            reach: match reach {
                None => Region { rows: Within::All, cols: Within::All },
                Some(reach) => {
                    Region { rows: within(name, &rows, &reach.rows)?, cols: within(name, &cols, &reach.cols)? }
                }
            },
            replace,
        };
        let (old, t) = (c.on_axes(&rows, &cols, name)?, t.on_axes(&rows, &cols, name)?);
        let mask = match &mask {
            Some(m) => Some(MaskBody::new(&m.pattern.on_axes(&rows, &cols, name)?.body, m.complement)),
            None => None,
        };
        let body = on_backend!(c.device, |backend| {
            let (c, t, mask) = (backend.csr(&old.body)?, backend.csr(&t.body)?, backend.mask(mask.as_ref())?);
            Body::from(backend.assign::<C, T, F>(c, t, &how, mask)?)
        });
        let made = Store { rows, cols, body, device: c.device };
        // A value beside none or its like may be the only one. Vectors are written again and again, to lists.
        let alone = matches!(self.source, Source::Value(Some(_))) && c.rows.n() > 1;
        if alone && (c.nvals() == 0 || c.one().is_some()) { Ok(found(&made)?.unwrap_or(made)) } else { Ok(made) }
    }

    /// The mask where its positions stand in C, and what it reaches; `None`: everything.
    fn reach<C: Scalar>(
        &self,
        mask: Option<&Mask>,
        c: &Store<C>,
        part: &Part,
    ) -> Result<(Option<MaskParts>, Option<Part>)> {
        let (nrows, ncols) = c.shape();
        // The part that the mask covers.
        let reach = match (self.sub, self.shape) {
            (true, _) => part.clone(),
            (false, Shape::All) => Part { rows: Chosen::All(nrows), cols: Chosen::All(ncols) },
            (false, Shape::Row) => Part { rows: part.rows.clone(), cols: Chosen::All(ncols) },
            (false, Shape::Column) => Part { rows: Chosen::All(nrows), cols: part.cols.clone() },
        };
        let lies = self.shape == Shape::Column;
        let shape = if lies { reach.clone().transposed().shape() } else { reach.shape() };
        let Some(mut mask) = mask_parts(self.name, mask, shape, c.device)? else {
            return Ok((None, None));
        };
        if !self.sub && self.shape == Shape::All {
            return Ok((Some(mask), None));
        }
        let marks = oriented(&marked(&mask.pattern)?, lies)?;
        mask.pattern = spread(self.name, &marks, &reach, (&c.rows, &c.cols))?.pattern()?;
        Ok((Some(mask), Some(reach)))
    }

    /// T, where it stands in C.
    fn values<C: Scalar>(&self, c: &Store<C>, part: &Part, mask: Option<&MaskParts>) -> Result<Store<T>> {
        let (name, target) = (self.name, (&c.rows, &c.cols));
        match (&self.source, mask) {
            (Source::Store(a, transposed), _) => spread(name, &oriented(a, *transposed)?, part, target),
            (Source::Value(None), _) => Store::empty_on(name, c.rows.clone(), c.cols.clone(), c.device),
            // What the mask does not admit need not be there.
            (Source::Value(Some(value)), Some(mask)) if !mask.complement => filled(&mask.pattern, *value),
            (Source::Value(Some(value)), _) => dense(name, *value, part, target, c.device),
        }
    }
}

/// Writes the values of T, which stand in the part, over those of C: where T is small, where everything that T has is there
/// already and nothing is deleted, and where nobody shares the values. Whether it did.
fn in_place<C: Scalar, T: Scalar, F: Accumulate<C, T>>(c: &mut Store<C>, t: &Store<T>, part: &Part) -> Result<bool> {
    let name = "assign";
    if c.device != Device::Cpu || !c.rows.same(&t.rows) || !c.cols.same(&t.cols) {
        return Ok(false);
    }
    // The places between two; lists are not looked at.
    let between = |axis: &Axis, chosen: &Chosen| {
        Ok(match chosen {
            Chosen::All(_) | Chosen::Range(_) => match within(name, axis, chosen)? {
                Within::All => Some(0..axis.places()),
                Within::Range(range) => Some(range.start as usize..range.end as usize),
                Within::Some(_) => None,
            },
            Chosen::Stride { .. } | Chosen::List(_) => None,
        })
    };
    let (rows, cols) = (between(&c.rows, &part.rows)?, between(&c.cols, &part.cols)?);
    let new = match &t.body {
        Body::Host(new) => new,
        Body::Held(new) => new.listed(name)?,
        _ => return Ok(false),
    };
    if let Body::Held(old) = &mut c.body {
        let area = rows.zip(cols).map(|(rows, cols)| rows.len() * cols.len());
        // Nothing is deleted by an accumulator, nor where each cell gets a value.
        if !old.is_full() || (F::TEXT.is_none() && area != Some(new.pattern.nnz())) {
            return Ok(false);
        }
        let new = (&*new.pattern, &Values::All(new.values.clone()));
        return old.update(name, new, None, |old, new| F::combine(old, Some(new)).unwrap_or_else(C::zeroed));
    }
    let Body::Host(old) = &mut c.body else { return Ok(false) };
    let (Some(rows), Some(cols)) = (rows, cols) else { return Ok(false) };
    const SMALL: usize = 16;
    if new.pattern.nnz().saturating_mul(SMALL) > old.pattern.nnz() {
        return Ok(false);
    }
    if F::TEXT.is_none() {
        let inside = |r: usize| {
            let row = old.pattern.row(r);
            let below = |c: usize| row.partition_point(|p| (*p as usize) < c);
            below(cols.end) - below(cols.start)
        };
        if rows.clone().map(inside).sum::<usize>() != new.pattern.nnz() {
            return Ok(false);
        }
    }
    let mut places = memory::with_capacity(name, new.pattern.nnz())?;
    for r in rows {
        for column in new.pattern.row(r) {
            match old.pattern.find(r, *column) {
                Some(place) => places.push(place),
                None => return Ok(false),
            }
        }
    }
    let Some(values) = Arc::get_mut(&mut old.values) else { return Ok(false) };
    for (place, x) in places.into_iter().zip(new.values.iter()) {
        if let Some(z) = F::combine(Some(values[place]), Some(*x)) {
            values[place] = z;
        }
    }
    Ok(true)
}

/// `value` at all positions.
fn filled<T: Scalar>(positions: &PatternStore, value: T) -> Result<Store<T>> {
    let body = on_backend!(positions.device, |backend| {
        Body::from(backend.filled(backend.pattern(&positions.body)?, value)?)
    });
    Ok(Store { rows: positions.rows.clone(), cols: positions.cols.clone(), body, device: positions.device })
}

/// Positions as a store of something.
pub(super) fn marked(positions: &PatternStore) -> Result<Store<u8>> {
    filled(positions, 0)
}
