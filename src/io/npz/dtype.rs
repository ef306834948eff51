//! NumPy's names of types.
#[cfg(feature = "half")]
use crate::algebra::f16;
use crate::algebra::{Scalar, c32, c64};
use std::any::TypeId;

/// Whether this machine's words, and so what is written, begin with their highest byte.
pub(super) const NATIVE_BIG: bool = cfg!(target_endian = "big");

/// What values are: NumPy's letter, and bytes of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dtype {
    pub(super) kind: u8,
    pub(super) size: usize,
    /// Bytes whose order is the file's: of a complex number a half.
    pub(super) word: usize,
    pub(super) big_endian: bool,
}

impl Dtype {
    /// In this machine's order of bytes.
    pub(super) const fn new(kind: u8, size: usize) -> Self {
        Self { kind, size, word: if kind == b'c' { size / 2 } else { size }, big_endian: NATIVE_BIG }
    }
    /// That of a scalar, if NumPy has it.
    pub(super) fn of<T: Scalar>() -> Option<Self> {
        let is = |t: TypeId| TypeId::of::<T>() == t;
        macro_rules! known { ($($t:ty: $kind:literal;)*) => {
            $(if is(TypeId::of::<$t>()) { return Some(Self::new($kind, size_of::<$t>())); })*
        } }
        known! {
            bool: b'b';
            i8: b'i'; i16: b'i'; i32: b'i'; i64: b'i';
            u8: b'u'; u16: b'u'; u32: b'u'; u64: b'u';
            f32: b'f'; f64: b'f'; c32: b'c'; c64: b'c';
        }
        #[cfg(feature = "half")]
        known! { f16: b'f'; }
        None
    }
    /// From `<f8`.
    pub(super) fn parse(name: &[u8]) -> Option<Self> {
        let [order, kind, size @ ..] = name else { return None };
        let size: usize = std::str::from_utf8(size).ok()?.parse().ok()?;
        let big_endian = match order {
            b'=' => NATIVE_BIG,
            order => *order == b'>',
        };
        let sizes: &[usize] = match kind {
            b'b' => &[1],
            b'i' | b'u' => &[1, 2, 4, 8],
            b'f' => &[2, 4, 8],
            b'c' => &[8, 16],
            // Bytes, characters of four bytes: the word that names the format.
            b'S' if size <= 16 => return Some(Self { word: 1, ..Self::new(b'S', size) }),
            b'U' if size <= 16 => {
                return Some(Self { word: 4, big_endian, ..Self::new(b'U', 4 * size) });
            }
            _ => return None,
        };
        if !sizes.contains(&size) || !b"<>|=".contains(order) {
            return None;
        }
        Some(Self { big_endian, ..Self::new(*kind, size) })
    }
    /// `<f8`; of one byte the order is `|`.
    pub(super) fn name(self) -> String {
        let order = match (self.word, self.big_endian) {
            (1, _) => '|',
            (_, false) => '<',
            (_, true) => '>',
        };
        format!("{order}{}{}", self.kind as char, if self.kind == b'U' { self.size / 4 } else { self.size })
    }
    /// The scalar of such values with its name in NumPy, `u64 (<u8)`: eight bytes there are eight bits here.
    pub(super) fn scalar(self) -> String {
        let (name, bits) = (self.name(), 8 * self.size);
        match self.kind {
            b'b' => format!("bool ({name})"),
            b'c' => format!("c{} ({name})", bits / 2),
            b'i' | b'u' | b'f' => format!("{}{bits} ({name})", self.kind as char),
            _ => name,
        }
    }
    /// Whether values are laid out alike, but for the order of bytes.
    pub(super) fn like(self, other: Self) -> bool {
        (self.kind, self.size) == (other.kind, other.size)
    }
}
