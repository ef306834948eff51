//! Cases as bytes: the format is in README.md.
use oplus::prelude::*;
use std::collections::BTreeMap;

pub type Fault<T> = std::result::Result<T, String>;

/// A scalar type that cases have.
pub trait Value: Scalar {
    const NAME: &'static str;
    fn of(bytes: &[u8]) -> Self;
    /// Equal values; NaN is equal to NaN, −0.0 to 0.0.
    fn same(self, other: Self) -> bool {
        self == other
    }
}
macro_rules! values { ($($t:ident)*) => {$(
    impl Value for $t {
        const NAME: &'static str = stringify!($t);
        fn of(bytes: &[u8]) -> Self { $t::from_le_bytes(bytes.try_into().expect("a value's bytes")) }
    }
)*} }
values!(i8 u8 i16 u16 i32 u32 i64 u64);
macro_rules! floats { ($($t:ident)*) => {$(
    impl Value for $t {
        const NAME: &'static str = stringify!($t);
        fn of(bytes: &[u8]) -> Self { $t::from_le_bytes(bytes.try_into().expect("a value's bytes")) }
        fn same(self, other: Self) -> bool { self == other || (self.is_nan() && other.is_nan()) }
    }
)*} }
floats!(f32 f64);
macro_rules! complex { ($($c:ident $t:ident)*) => {$(
    impl Value for $c {
        const NAME: &'static str = stringify!($c);
        fn of(bytes: &[u8]) -> Self {
            let (re, im) = bytes.split_at(size_of::<$t>());
            $c::new($t::of(re), $t::of(im))
        }
        fn same(self, other: Self) -> bool { self.re.same(other.re) && self.im.same(other.im) }
    }
)*} }
complex!(c32 f32 c64 f64);
impl Value for bool {
    const NAME: &'static str = "bool";
    fn of(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }
}

const TYPES: [(&str, usize); 13] = [
    ("bool", 1),
    ("i8", 1),
    ("u8", 1),
    ("i16", 2),
    ("u16", 2),
    ("i32", 4),
    ("u32", 4),
    ("i64", 8),
    ("u64", 8),
    ("f32", 4),
    ("f64", 8),
    ("c32", 8),
    ("c64", 16),
];

/// A matrix, or a vector of length ncols.
#[derive(Debug)]
pub struct Operand {
    pub scalar: &'static str,
    pub vector: bool,
    pub nrows: u64,
    pub ncols: u64,
    pub rows: Vec<u64>,
    pub columns: Vec<u64>,
    pub values: Vec<u8>,
}
impl Operand {
    pub fn coo<T: Value>(&self) -> Fault<Coo<T>> {
        if self.scalar != T::NAME {
            return Err(format!("an operand is of {}, taken as {}", self.scalar, T::NAME));
        }
        let values = self.values.chunks_exact(size_of::<T>()).map(T::of).collect();
        let (rows, columns) = (self.rows.clone(), self.columns.clone());
        Ok(Coo { nrows: self.nrows, ncols: self.ncols, rows, columns, values })
    }
}

/// What to do, to what, and what SuiteSparse made of it (`R`).
#[derive(Debug)]
pub struct Case {
    /// Where in the file it is.
    pub place: usize,
    /// What is drawn for it here comes of this: its place when it was made.
    pub number: usize,
    pub text: String,
    words: BTreeMap<String, String>,
    operands: BTreeMap<char, Operand>,
}
impl Case {
    /// The word of this key, empty where there is none.
    pub fn word(&self, key: &str) -> &str {
        self.words.get(key).map_or("", |w| w)
    }
    pub fn has(&self, key: &str) -> bool {
        self.words.contains_key(key)
    }
    /// Cases that use the same kernels, but for mask and accumulator.
    pub fn kind(&self) -> String {
        let scalar = self.operand('A').or(self.operand('C')).map_or("", |a| a.scalar);
        ["op", "form", "f", "ring"].iter().fold(scalar.into(), |kind, w| format!("{kind} {}", self.word(w)))
    }
    /// The role whose object `role` is.
    pub fn alias(&self, role: char) -> char {
        let pairs = self.word("same").split(',').filter_map(|p| p.split_once(':'));
        let found = pairs.filter(|(from, _)| from.starts_with(role)).find_map(|(_, to)| to.chars().next());
        found.unwrap_or(role)
    }
    /// Whether the object of this role is that of another one too.
    pub fn shared(&self, role: char) -> bool {
        self.word("same").contains(role)
    }
    /// Anything below n, the same for a case and a salt every time.
    pub fn draw(&self, salt: char, n: usize) -> usize {
        let mixed = (self.number as u64 ^ (salt as u64) << 32).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) as usize % n
    }
    pub fn operand(&self, role: char) -> Fault<&Operand> {
        self.operands.get(&self.alias(role)).ok_or_else(|| format!("the case has no {role}"))
    }
}

struct Reader<'a>(&'a [u8]);
impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at(n);
        self.0 = rest;
        head
    }
    fn number(&mut self, width: usize) -> u64 {
        self.take(width).iter().rev().fold(0, |n, b| n << 8 | *b as u64)
    }
    fn operand(&mut self) -> (char, Operand) {
        let (role, kind) = (self.number(1) as u8 as char, self.number(1) as u8 as char);
        let ((scalar, size), width) = (TYPES[self.number(1) as usize], self.number(1) as usize);
        let (nrows, ncols, n) = (self.number(8), self.number(8), self.number(4) as usize);
        let vector = kind == 'v';
        let rows = if vector { vec![0; n] } else { (0..n).map(|_| self.number(width)).collect() };
        let columns = (0..n).map(|_| self.number(width)).collect();
        (role, Operand { scalar, vector, nrows, ncols, rows, columns, values: self.take(n * size).to_vec() })
    }
}

/// How a file was made, and its cases.
pub fn read(bytes: &[u8]) -> (String, Vec<Case>) {
    let mut reader = Reader(bytes);
    assert_eq!(reader.take(8), b"OPLUSCF2", "a file of cases");
    let (count, length) = (reader.number(4) as usize, reader.number(2) as usize);
    let made = String::from_utf8(reader.take(length).to_vec()).expect("how a file was made");
    let case = |place| {
        let (length, operands) = (reader.number(2) as usize, reader.number(1));
        let text = String::from_utf8(reader.take(length).to_vec()).expect("the text of a case");
        let word = |w: &str| w.split_once('=').map_or((w.into(), String::new()), |(k, v)| (k.into(), v.into()));
        let words: BTreeMap<String, String> = text.split_whitespace().map(word).collect();
        let operands = (0..operands).map(|_| reader.operand()).collect();
        let number = words.get("number").map_or(place, |n| n.parse().expect("the number of a case"));
        Case { place, number, text, words, operands }
    };
    (made, (0..count).map(case).collect())
}
