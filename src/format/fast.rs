//! Operations that look at the format: values of slots where entries are no list, one value where all entries share it.
use crate::algebra::scalar::same;
use crate::algebra::{BinaryOp, First, IndexUnaryOp, Scalar};
use crate::backend::host::HostCsr;
use crate::backend::{Backend, Body, PatternBody, Positions, cpu, in_pieces, reference};
use crate::device::Device;
use crate::error::Result;
use crate::storage::axis::Axis;
use crate::storage::frame::{Cells, Form, Frame, SPARSE};
use crate::storage::held::{Held, Values};
use crate::storage::store::Store;
use std::any::Any;
use std::sync::Arc;

/// f(a, i, j, y) of the values alone: A itself where f gives a back, all equal where those of A are or nobody looks at them, in the
/// slots of A where it has any. `None` where rows are the way.
pub(crate) fn applied<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
    a: &Store<A>,
    y: Y,
) -> Result<Option<Store<F::Out>>> {
    if let Some(a) = (a as &dyn Any).downcast_ref::<Store<F::Out>>()
        && F::TEXT.gives_back(0)
    {
        return Ok(Some(a.clone()));
    }
    if const { F::TEXT.reads(1) || F::TEXT.reads(2) } {
        return Ok(None);
    }
    let value = if F::TEXT.reads(0) { a.one() } else { Some(A::zeroed()) };
    if let Some(value) = value {
        let value = F::apply(value, 0, 0, y);
        return super::iso::filled(a, value).map(Some);
    }
    #[cfg(feature = "cuda")]
    if let Device::Cuda(_) = a.device {
        return super::device::applied::<A, Y, F>(a, y);
    }
    let Body::Held(held) = &a.body else { return Ok(None) };
    let (Values::All(values), Device::Cpu) = (&*held.values, a.device) else { return Ok(None) };
    let made = cpu::applied::<A, Y, F>(values, y)?;
    Ok(Some(a.holding(Body::Held(Held::new(held.frame.clone(), made.into())))))
}

/// The positions of a store whose values are all one, with values that nobody may look at.
pub(crate) fn blank<T: Scalar>(a: &Store<T>) -> Result<Option<Store<T>>> {
    match &a.body {
        Body::Held(held) if held.one().is_some() => Ok(Some(a.holding(Body::Host(held.blank("dispatch")?.clone())))),
        _ => Ok(None),
    }
}

/// The entries of a list made of those of A, which kept their values: of one value still where all of A are.
pub(crate) fn still_iso<T: Scalar>(a: &Store<T>, made: Store<T>) -> Result<Store<T>> {
    match (a.one(), &made.body) {
        (Some(value), Body::Host(list)) if list.pattern.nnz() > 0 => {
            Ok(made.holding(Body::Held(Held::iso(list.pattern.clone(), value))))
        }
        _ => Ok(made),
    }
}

/// A bit for every cell, two operands of one shape.
fn grids<'a, A, B>(a: &'a Store<A>, b: &'a Store<B>) -> Option<[(&'a Cells, usize); 2]> {
    let (Body::Held(x), Body::Held(y)) = (&a.body, &b.body) else { return None };
    match (&x.frame.form, &y.frame.form) {
        (Form::Cells(p), Form::Cells(q)) if a.device == Device::Cpu => {
            Some([(p, x.frame.count()), (q, y.frame.count())])
        }
        _ => None,
    }
}

fn values<T: Scalar>(a: &Store<T>) -> Option<&Values<T>> {
    if let Body::Held(held) = &a.body { Some(&held.values) } else { None }
}

/// f where both have a cell, the cell where one has.
pub(crate) fn united<T: Scalar, F: BinaryOp<T, T, Out = T>>(a: &Store<T>, b: &Store<T>) -> Result<Option<Store<T>>> {
    #[cfg(feature = "cuda")]
    if let Device::Cuda(_) = a.device {
        return super::device::united::<T, F>(a, b);
    }
    let operation = "ewise_add";
    if let (Some(x), Some(y), true) = (a.one(), b.one(), super::iso::on_host(a.device)) {
        let z = F::apply(x, y);
        if same(x, y) && same(x, z) {
            return positions(a, b, true).map(|p| Some(a.holding(Body::Held(Held::iso(p, z)))));
        }
    }
    let (Some([p, q]), Some(x), Some(y)) = (grids(a, b), values(a), values(b)) else {
        return super::full_rows::united::<T, F>(a, b);
    };
    if p.1 + q.1 < p.0.nrows * p.0.ncols / SPARSE {
        return Ok(None);
    }
    let words = match (&p.0.words, &q.0.words) {
        (Some(p), Some(q)) => Some(cpu::zipped(operation, (p, q), |p, q| p | q)?),
        _ => None,
    };
    let (p, q) = (p.0, q.0);
    if let (None, None, Values::All(x), Values::All(y)) = (&p.words, &q.words, x, y) {
        return Ok(Some(a.holding(cells(p, None, cpu::zipped(operation, (x, y), F::apply)?))));
    }
    let made = in_pieces(operation, p.nrows * p.ncols, move |slot| match (p.has(slot), q.has(slot)) {
        (true, true) => F::apply(x.at(slot), y.at(slot)),
        (true, false) => x.at(slot),
        (false, true) => y.at(slot),
        (false, false) => T::zeroed(),
    })?;
    Ok(Some(a.holding(cells(p, words, made))))
}

/// f where both have a cell.
pub(crate) fn intersected<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
    a: &Store<A>,
    b: &Store<B>,
) -> Result<Option<Store<F::Out>>> {
    #[cfg(feature = "cuda")]
    if let Device::Cuda(_) = a.device {
        return super::device::intersected::<A, B, F>(a, b);
    }
    let operation = "ewise_mult";
    if let (Some(x), Some(y), true) = (a.one(), b.one(), super::iso::on_host(a.device)) {
        let z = F::apply(x, y);
        return positions(a, b, false).map(|p| Some(a.holding(Body::Held(Held::iso(p, z)))));
    }
    let (Some([p, q]), Some(x), Some(y)) = (grids(a, b), values(a), values(b)) else {
        return super::full_rows::intersected::<A, B, F>(a, b);
    };
    if p.1.min(q.1) < p.0.nrows * p.0.ncols / SPARSE {
        return Ok(None);
    }
    let (p, q) = (p.0, q.0);
    if let (None, None, Values::All(x), Values::All(y)) = (&p.words, &q.words, x, y) {
        return Ok(Some(a.holding(cells(p, None, cpu::zipped(operation, (x, y), F::apply)?))));
    }
    let words = match (&p.words, &q.words) {
        (Some(p), Some(q)) => Some(cpu::zipped(operation, (p, q), |p, q| p & q)?),
        (Some(words), None) | (None, Some(words)) => Some(crate::memory::copied(operation, words)?),
        (None, None) => None,
    };
    let made = in_pieces(operation, p.nrows * p.ncols, move |slot| match p.has(slot) && q.has(slot) {
        true => F::apply(x.at(slot), y.at(slot)),
        false => <F::Out as Scalar>::zeroed(),
    })?;
    Ok(Some(a.holding(cells(p, words, made))))
}

/// Positions of either or of both, on common axes.
fn positions<A: Scalar, B: Scalar>(
    a: &Store<A>,
    b: &Store<B>,
    either: bool,
) -> Result<Arc<crate::storage::pattern::Pattern>> {
    let listed = |body: PatternBody| match body {
        PatternBody::Host(p) => Ok(p),
        PatternBody::Bits(p) => p.listed("ewise").cloned(),
        PatternBody::Cells(f) => f.pattern("ewise").cloned(),
        #[cfg(feature = "cuda")]
        PatternBody::Cuda(_) | PatternBody::CudaBits(_) | PatternBody::CudaCells(_) => {
            Err(crate::backend::misplaced(a.device))
        }
    };
    let (p, q) = (listed(a.body.pattern()?)?, listed(b.body.pattern()?)?);
    if Arc::ptr_eq(&p, &q) {
        return Ok(p);
    }
    let marks = |p| Held::iso(p, 0u8).listed("ewise").cloned();
    let (p, q): (HostCsr<u8>, HostCsr<u8>) = (marks(p)?, marks(q)?);
    let made = match (a.device, either) {
        (Device::Reference, true) => reference::Reference.union::<u8, First>(&p, &q)?,
        (Device::Reference, false) => reference::Reference.intersection::<u8, u8, First>(&p, &q)?,
        (_, true) => cpu::Cpu.union::<u8, First>(&p, &q)?,
        (_, false) => cpu::Cpu.intersection::<u8, u8, First>(&p, &q)?,
    };
    Ok(made.pattern)
}

/// Cells as another's, with these bits; all are there without.
fn cells<T: Scalar>(like: &Cells, words: Option<Vec<u64>>, values: Vec<T>) -> Body<T> {
    let n = like.nrows * like.ncols;
    let count = words.as_ref().map_or(n, |words| words.iter().map(|w| w.count_ones() as usize).sum());
    // Bits that are all set say nothing.
    let words = words.filter(|_| count < n);
    let form = Form::Cells(Cells { nrows: like.nrows, ncols: like.ncols, words });
    Body::Held(Held::new(Arc::new(Frame::new(form, count)), values.into()))
}

/// A matrix with an entry in every cell as cells: its values are in their order already.
pub(crate) fn full_where_full<T: Scalar>(store: Store<T>) -> Store<T> {
    // Of less than that nothing is gained.
    const MANY: u64 = 1 << 12;
    let (Axis::Full(m), Axis::Full(n)) = (&store.rows, &store.cols) else { return store };
    if *m < 2 || store.nvals() < MANY || store.nvals() != u64::from(*m) * u64::from(*n) {
        return store;
    }
    #[cfg(feature = "cuda")]
    if let Device::Cuda(_) = store.device {
        return super::device::full(store);
    }
    let (Body::Host(list), Device::Cpu) = (&store.body, store.device) else { return store };
    let (nrows, ncols) = (list.pattern.nrows, list.pattern.ncols);
    let form = Form::Cells(Cells { nrows, ncols, words: None });
    let held = Held::new(Arc::new(Frame::listed_as(form, &list.pattern)), Values::All(list.values.clone()));
    store.holding(Body::Held(held))
}

/// The cells for which f holds.
pub(crate) fn selected<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
    a: &Store<A>,
    y: Y,
    at: &Positions,
) -> Result<Option<Store<A>>> {
    let placed = F::TEXT.reads(1) || F::TEXT.reads(2);
    #[cfg(feature = "cuda")]
    if let (Device::Cuda(_), None, None) = (a.device, &at.i, &at.j) {
        return super::device::selected::<A, Y, F>(a, y);
    }
    let (Device::Cpu, None, None) = (a.device, &at.i, &at.j) else { return Ok(None) };
    let Body::Held(held) = &a.body else { return super::full_rows::selected::<A, Y, F>(a, y) };
    let (Form::Cells(c), Values::All(values)) = (&held.frame.form, &*held.values) else { return Ok(None) };
    let n = c.nrows * c.ncols;
    if n == 0 || held.frame.count() < n / SPARSE {
        return Ok(None);
    }
    let words = in_pieces("select", n.div_ceil(64), move |w| {
        let (first, last) = (w << 6, n.min((w + 1) << 6));
        let (mut i, mut j, mut word) = (0, 0, 0u64);
        if placed {
            (i, j) = (first / c.ncols, first % c.ncols);
        }
        for (bit, x) in values[first..last].iter().enumerate() {
            word |= (F::apply(*x, i as i64, j as i64, y) as u64) << bit;
            j += 1;
            if placed && j == c.ncols {
                (i, j) = (i + 1, 0);
            }
        }
        word & c.words.as_ref().map_or(u64::MAX, |words| words[w])
    })?;
    let form = |words: Vec<u64>| {
        let count = words.iter().map(|w| w.count_ones() as usize).sum();
        let words = Some(words).filter(|_| count < n);
        Frame::new(Form::Cells(Cells { nrows: c.nrows, ncols: c.ncols, words }), count)
    };
    Ok(Some(a.holding(Body::Held(Held::new(Arc::new(form(words)), Values::All(values.clone()))))))
}
