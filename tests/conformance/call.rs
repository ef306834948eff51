//! A case on a device: its containers, and what all operations have in common.
use crate::case::{Case, Fault, Operand, Value};
use oplus::container::{OfMatrices, OfVectors};
use oplus::prelude::*;
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;

pub struct Call<'a> {
    pub case: &'a Case,
    pub device: Device,
    /// Those that are of several roles.
    objects: RefCell<BTreeMap<char, Box<dyn Any>>>,
}

pub fn told<T>(result: oplus::error::Result<T>) -> Fault<T> {
    result.map_err(|e| format!("an error: {e}"))
}

/// The function of the type that has this name.
macro_rules! of_type {
    ($call:ident, $name:expr, $f:ident) => {
        of_type!(@ $call, $name, $f, bool i8 u8 i16 u16 i32 u32 i64 u64 f32 f64 c32 c64)
    };
    (@ $call:ident, $name:expr, $f:ident, $($t:ident)*) => {
        match $name {
            $(stringify!($t) => $f::<$t>($call),)*
            other => Err(format!("no type {other}")),
        }
    };
}
pub(crate) use of_type;

/// Accumulators by name.
pub trait Accumulated: Value {
    fn into<K, C>(name: &str, operation: Operation<K>, c: &mut C) -> Fault<()>
    where
        K: Compute<Target: Container<Scalar = Self>>,
        C: Container<Scalar = Self, Kind = <K::Target as Container>::Kind>;
    /// The same for assignments.
    fn assign<C: Container<Scalar = Self>>(name: &str, a: Assignment<Self, C::Kind>, c: &mut C) -> Fault<()>;
}
macro_rules! accumulators { ($($t:ident: $($name:literal $op:ident),*;)*) => {$(
    impl Accumulated for $t {
        fn into<K, C>(name: &str, operation: Operation<K>, c: &mut C) -> Fault<()>
        where
            K: Compute<Target: Container<Scalar = Self>>,
            C: Container<Scalar = Self, Kind = <K::Target as Container>::Kind>,
        {
            told(match name {
                "" => operation.into(c),
                $($name => operation.accumulate($op).into(c),)*
                _ => return Err(format!("no accumulator {name} of {}", stringify!($t))),
            })
        }
        fn assign<C: Container<Scalar = Self>>(name: &str, a: Assignment<Self, C::Kind>, c: &mut C) -> Fault<()> {
            told(match name {
                "" => a.into(c),
                $($name => a.accumulate($op).into(c),)*
                _ => return Err(format!("no accumulator {name} of {}", stringify!($t))),
            })
        }
    }
)*} }
accumulators! {
    bool: "lor" Lor, "lxor" Lxor, "second" Second;
    u8: "plus" Plus, "minus" Minus;
    i32: "plus" Plus, "minus" Minus, "min" Min;
    f64: "plus" Plus, "minus" Minus, "first" First, "second" Second;
    i64: "plus" Plus, "minus" Minus;
    u64: "plus" Plus, "min" Min;
    c64: "plus" Plus, "minus" Minus, "second" Second;
    i8: "minus" Minus;
    i16: "max" Max;
    u16: "plus" Plus;
    u32: "min" Min;
    f32: "plus" Plus, "times" Times;
    c32: "plus" Plus;
}

const FORMATS: [Format; 6] = [Format::Csr, Format::Csc, Format::Hypersparse, Format::Bitmap, Format::Full, Format::Dia];

impl<'a> Call<'a> {
    pub fn new(case: &'a Case, device: Device) -> Self {
        Self { case, device, objects: RefCell::default() }
    }
    pub fn operand(&self, role: char) -> Fault<&Operand> {
        self.case.operand(role)
    }
    pub fn matrix<T: Value>(&self, role: char) -> Fault<Matrix<T>> {
        self.object(role, |role| self.formed(role, self.listed(role, self.operand(role)?.coo()?)?))
    }
    /// Equal values are stored once where a matrix is built of them; here one by one in half of the cases.
    fn listed<T: Value>(&self, role: char, mut coo: Coo<T>) -> Fault<Matrix<T>> {
        let last = coo.values.len().wrapping_sub(1);
        let Some(value) = coo.values.get(last).copied() else { return told(Matrix::from_coo(&coo)) };
        if last == 0 || self.draw_of_role(role, 'e', 2) == 0 || coo.values.iter().any(|v| !v.same(value)) {
            return told(Matrix::from_coo(&coo));
        }
        let other = T::of(&[1; 16][..size_of::<T>()]);
        coo.values[last] = if other.same(value) { T::zeroed() } else { other };
        let mut matrix = told(Matrix::from_coo(&coo))?;
        told(matrix.set(coo.rows[last], coo.columns[last], value))?;
        if matrix.is_iso() { Err(format!("{role} has its value once")) } else { Ok(matrix) }
    }
    pub fn vector<T: Value>(&self, role: char) -> Fault<Vector<T>> {
        self.object(role, |role| {
            let coo = self.operand(role)?.coo::<T>()?;
            let entries: Vec<_> = coo.columns.into_iter().zip(coo.values).collect();
            let mut vector = told(Vector::build(coo.ncols, &entries))?;
            let once = self.draw_of_role(role, 'e', 4);
            if once == 0 {
                vector = vector.to_iso().unwrap_or(vector);
            }
            let mut on_device = told(vector.to(&self.device))?;
            // There.
            if once == 1 && vector.to_iso().is_ok_and(|v| v.is_iso()) {
                on_device = told(on_device.with_value(entries[0].1))?;
            }
            if self.case.draw(role, 3) == 0 { told(on_device.to_bitmap()) } else { Ok(on_device) }
        })
    }
    /// What is drawn for a role besides its format.
    fn draw_of_role(&self, role: char, what: char, n: usize) -> usize {
        let mixed = role as u32 ^ (what as u32) << 8;
        self.case.draw(char::from_u32(mixed).unwrap_or(what), n)
    }
    /// A clone of the one object of all roles that are the same, which shares its store; nobody else has one of a single role. Until
    /// [`release`](Self::release).
    fn object<C: Clone + 'static>(&self, role: char, make: impl FnOnce(char) -> Fault<C>) -> Fault<C> {
        let role = self.case.alias(role);
        if !self.case.shared(role) {
            return make(role);
        }
        if let Some(object) = self.objects.borrow().get(&role) {
            return object.downcast_ref().cloned().ok_or_else(|| format!("{role} is of several types"));
        }
        let object = make(role)?;
        self.objects.borrow_mut().insert(role, Box::new(object.clone()));
        Ok(object)
    }
    /// In half of the cases nobody but the roles has their object once all have it, so that an output that is an operand too may be
    /// changed in place. Who asks later gets another object.
    fn release(&self) {
        if self.case.draw('=', 2) == 0 {
            self.objects.borrow_mut().clear();
        }
    }
    /// On the device, half of them in a format drawn for them and given here or there; as it comes where that cannot hold it.
    fn formed<T: Value>(&self, role: char, matrix: Matrix<T>) -> Fault<Matrix<T>> {
        let there = told(matrix.to(&self.device))?;
        let Some(format) = FORMATS.get(self.case.draw(role, 2 * FORMATS.len())) else { return Ok(there) };
        let from = if self.case.draw(role, 5) < 3 { &there } else { &matrix };
        match from.to_format(*format) {
            Ok(formed) => told(formed.to(&self.device)),
            Err(Error::InvalidValue { .. } | Error::OutOfMemory { .. } | Error::IndexOverflow { .. }) => Ok(there),
            Err(e) => Err(format!("to {format:?}: {e}")),
        }
    }
    pub fn scalar<T: Value>(&self) -> Fault<T> {
        self.value('s')
    }
    pub fn value<T: Value>(&self, role: char) -> Fault<T> {
        self.operand(role)?.coo()?.values.first().copied().ok_or_else(|| format!("{role} has no value"))
    }
    /// The list of this role in one of the forms it can be written in; everything where there is none.
    pub fn indices(&self, role: char) -> Indices {
        let Ok(list) = self.case.operand(role) else { return (..).into() };
        let list = &list.columns;
        let step = |w: &[u64]| w[1].wrapping_sub(w[0]) as i64;
        match list.first() {
            Some(first) if self.case.number.is_multiple_of(3) && list.windows(2).all(|w| step(w) == 1) => {
                (*first..first + list.len() as u64).into()
            }
            Some(first) if list.len() > 1 && step(list) != 0 && list.windows(2).all(|w| step(w) == step(list)) => {
                Indices::stride(*first, step(list), list.len() as u64)
            }
            _ => list.into(),
        }
    }
    pub fn number(&self, key: &str) -> Fault<i64> {
        self.case.word(key).parse().map_err(|_| format!("no number {key}"))
    }
    fn mask(&self) -> Fault<Option<Mask>> {
        if !self.case.has("mask") {
            return Ok(None);
        }
        let words = self.case.word("mask");
        fn of<C: Container<Scalar: Truth>>(c: C, structure: fn(&C) -> Mask, structural: bool) -> Mask {
            if structural { structure(&c) } else { c.as_mask() }
        }
        let structural = words.contains("structural");
        macro_rules! typed { ($($t:ident)*) => {
            match (self.operand('M')?.scalar, self.operand('M')?.vector) {
                $((stringify!($t), false) => of(self.matrix::<$t>('M')?, |m| m.structure(), structural),
                (stringify!($t), true) => of(self.vector::<$t>('M')?, |m| m.structure(), structural),)*
                (other, _) => return Err(format!("no mask of {other}")),
            }
        } }
        let mask = typed!(bool i8 u8 i16 u16 i32 u32 i64 u64 f32 f64 c32 c64);
        Ok(Some(if words.contains("complement") { mask.complement() } else { mask }))
    }
    /// The operation with the case's mask, replace and accumulator into C, beside the result expected.
    pub fn matrices<T, K>(&self, operation: Operation<K>) -> Fault<()>
    where
        T: Accumulated,
        K: Compute<Target: Container<Scalar = T, Kind = OfMatrices>>,
    {
        let (mut c, operation) = (self.matrix::<T>('C')?, self.masked(operation)?);
        self.release();
        T::into(self.case.word("accum"), operation, &mut c)?;
        self.is(&c)
    }
    /// [`matrices`](Self::matrices) for vectors.
    pub fn vectors<T, K>(&self, operation: Operation<K>) -> Fault<()>
    where
        T: Accumulated,
        K: Compute<Target: Container<Scalar = T, Kind = OfVectors>>,
    {
        let (mut c, operation) = (self.vector::<T>('C')?, self.masked(operation)?);
        self.release();
        T::into(self.case.word("accum"), operation, &mut c)?;
        self.is_vector(&c)
    }
    /// The assignment with the case's mask, replace and accumulator into the container C.
    pub fn assigned<T: Accumulated, C: Container<Scalar = T>>(
        &self,
        assignment: Assignment<T, C::Kind>,
        c: &mut C,
    ) -> Fault<()> {
        let assignment = if self.case.has("replace") { assignment.replace() } else { assignment };
        let assignment = match self.mask()? {
            Some(mask) => assignment.mask(&mask),
            None => assignment,
        };
        self.release();
        T::assign(self.case.word("accum"), assignment, c)
    }
    /// C is R.
    pub fn is<T: Value>(&self, c: &Matrix<T>) -> Fault<()> {
        self.compare(c.shape(), told(c.entries())?)
    }
    /// C is R.
    pub fn is_vector<T: Value>(&self, c: &Vector<T>) -> Fault<()> {
        self.compare((1, c.len()), told(c.entries())?.into_iter().map(|(j, v)| (0, j, v)).collect())
    }
    pub fn masked<K: Compute>(&self, operation: Operation<K>) -> Fault<Operation<K>> {
        let operation = if self.case.has("replace") { operation.replace() } else { operation };
        Ok(match self.mask()? {
            Some(mask) => operation.mask(&mask),
            None => operation,
        })
    }
    /// Shape, pattern and values are those of R.
    pub fn compare<T: Value>(&self, shape: (u64, u64), entries: Vec<(u64, u64, T)>) -> Fault<()> {
        let r = self.operand('R')?;
        let coo = r.coo::<T>()?;
        if shape != (r.nrows, r.ncols) {
            return Err(format!("the shape is {shape:?}, not {:?}", (r.nrows, r.ncols)));
        }
        let expected = coo.rows.into_iter().zip(coo.columns).zip(coo.values).map(|((i, j), v)| (i, j, v));
        let expected: Vec<(u64, u64, T)> = expected.collect();
        let equal = |x: &(u64, u64, T), y: &(u64, u64, T)| (x.0, x.1) == (y.0, y.1) && x.2.same(y.2);
        let first = expected.iter().zip(&entries).position(|(x, y)| !equal(x, y));
        if first.is_none() && expected.len() == entries.len() {
            return Ok(());
        }
        let at = first.unwrap_or(expected.len().min(entries.len()));
        let (lengths, (x, y)) = ((expected.len(), entries.len()), (expected.get(at), entries.get(at)));
        Err(format!("entry {at} is {y:?}, not {x:?}; {} entries, not {}", lengths.1, lengths.0))
    }
}
