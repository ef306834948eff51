//! The first 128 bytes.
use crate::algebra::Scalar;
use crate::error::{Error, Result};

pub(super) const BYTES: usize = 128;
const MAGIC: [u8; 8] = *b"\x89OPLUS\r\n";
const VERSION: u16 = 1;
const NAME: std::ops::Range<usize> = 64..124;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Matrix,
    Vector,
}

/// What a header says, but for the type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    /// One value stands for all entries.
    pub(super) one_value: bool,
    pub(super) rows_listed: bool,
    pub(super) columns_listed: bool,
    pub(super) nrows: u64,
    pub(super) ncols: u64,
    pub(super) stored_rows: u64,
    pub(super) stored_columns: u64,
    pub(super) entries: u64,
}

/// The file is none that can be read.
pub(super) fn bad<X>(reason: impl Into<String>) -> Result<X> {
    Err(Error::Parse { path: None, line: None, reason: reason.into() })
}

/// Bytes of the format are those of memory on little-endian machines only.
pub(super) fn little_endian(operation: &'static str) -> Result<()> {
    match cfg!(target_endian = "little") {
        true => Ok(()),
        false => {
            let reason = "the binary format is read and written on little-endian machines only".into();
            Err(Error::NotSupported { operation, reason })
        }
    }
}

impl Header {
    pub(super) fn to_bytes<T: Scalar>(self) -> Result<[u8; BYTES]> {
        let name = T::TEXT.name.as_bytes();
        if name.len() > NAME.len() {
            let reason = format!("the name of {} is longer than {} bytes", T::TEXT.name, NAME.len());
            return Err(Error::InvalidValue { operation: "binary::write", reason });
        }
        let mut bytes = [0; BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(10, &[(self.kind == Kind::Vector) as u8]);
        put(11, &[self.one_value as u8 | (self.rows_listed as u8) << 1 | (self.columns_listed as u8) << 2]);
        put(12, &(BYTES as u16).to_le_bytes());
        put(14, &[8, 4]);
        let counts = [self.nrows, self.ncols, self.stored_rows, self.stored_columns, self.entries];
        for (n, count) in counts.iter().enumerate() {
            put(16 + 8 * n, &count.to_le_bytes());
        }
        put(56, &(size_of::<T>() as u32).to_le_bytes());
        put(60, &[name.len() as u8]);
        put(NAME.start, name);
        let checksum = crc32fast::hash(&bytes[..NAME.end]);
        bytes[NAME.end..].copy_from_slice(&checksum.to_le_bytes());
        Ok(bytes)
    }

    pub(super) fn parse<T: Scalar>(bytes: &[u8; BYTES]) -> Result<Self> {
        if bytes[..8] != MAGIC {
            return bad("not a binary file of oplus: it must begin with 89 4f 50 4c 55 53 0d 0a");
        }
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        if version != VERSION {
            return bad(format!("version {version} of the binary format, {VERSION} is read"));
        }
        let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|n| bytes[at + n]));
        let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|n| bytes[at + n]));
        if u32_at(NAME.end) != crc32fast::hash(&bytes[..NAME.end]) {
            return bad("the header's checksum differs: the file is damaged");
        }
        if bytes[10] > 1 || bytes[11] > 7 || bytes[12..16] != [BYTES as u8, 0, 8, 4] {
            return bad(format!("kind, flags, sizes {:?} are none of version {VERSION}", &bytes[10..16]));
        }
        let name = bytes[NAME].get(..bytes[60] as usize).unwrap_or_default();
        if name != T::TEXT.name.as_bytes() || u32_at(56) as usize != size_of::<T>() {
            let (name, size) = (crate::io::text::shown(name), u32_at(56));
            let (ours, bytes) = (T::TEXT.name, size_of::<T>());
            return bad(format!("values are {name} of {size} bytes, not {ours} of {bytes}"));
        }
        if bytes[61..NAME.start].iter().chain(&bytes[NAME.start + name.len()..NAME.end]).any(|b| *b != 0) {
            return bad("bytes behind the type of values that are not 0");
        }
        let header = Header {
            kind: if bytes[10] == 0 { Kind::Matrix } else { Kind::Vector },
            one_value: bytes[11] & 1 != 0,
            rows_listed: bytes[11] & 2 != 0,
            columns_listed: bytes[11] & 4 != 0,
            nrows: u64_at(16),
            ncols: u64_at(24),
            stored_rows: u64_at(32),
            stored_columns: u64_at(40),
            entries: u64_at(48),
        };
        header.check()?;
        Ok(header)
    }

    fn check(&self) -> Result<()> {
        for (what, n, stored, listed) in [
            ("rows", self.nrows, self.stored_rows, self.rows_listed),
            ("columns", self.ncols, self.stored_columns, self.columns_listed),
        ] {
            if !listed && stored != n || stored > u32::MAX.into() || stored > n {
                let form = if listed { "a list" } else { "no list" };
                return bad(format!("{n} {what}, {stored} of them stored, and {form} of them"));
            }
        }
        if self.kind == Kind::Vector && (self.nrows, self.stored_rows) != (1, 1) {
            return bad(format!("a vector of {} rows", self.nrows));
        }
        if self.kind == Kind::Vector && self.rows_listed {
            return bad("a vector with a list of rows");
        }
        if self.one_value && self.entries == 0 {
            return bad("a value for no entries");
        }
        Ok(())
    }

    /// Bytes of a file after the header.
    pub(super) fn rest<T: Scalar>(&self) -> u128 {
        let [rows, columns, entries] = [self.stored_rows, self.stored_columns, self.entries].map(u128::from);
        let ids = |listed: bool, n: u128| if listed { 8 * n + 4 } else { 0 };
        let values = size_of::<T>() as u128 * if self.one_value { 1 } else { entries };
        let sections = 8 * (rows + 1) + 4 + 4 * entries + 4 + values + 4;
        ids(self.rows_listed, rows) + ids(self.columns_listed, columns) + sections
    }
}
