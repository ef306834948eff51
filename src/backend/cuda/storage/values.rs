//! The values of entries: each its own, or one for all, which is written out where an operation reads values one by one.
use crate::algebra::Scalar;
use crate::algebra::scalar::{as_bytes, from_bytes};
use crate::backend::cuda::entries::{block_and_tile, movable, places};
use crate::backend::cuda::entrywise::given::Given;
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::account;
use crate::backend::cuda::runtime::program::Program;
use crate::backend::cuda::{Buffer, Context, DeviceCsr, DevicePattern};
use crate::error::Result;
use crate::memory;
use crate::storage::footprint::Footprint;
use oplus_codegen::text::{OperatorText, ScalarText};
use oplus_codegen::{FunctionText, Shared, Template};
use std::sync::{Arc, OnceLock};

/// What is there for each entry.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    All(Arc<Buffer>),
    One(Arc<One>),
}

/// A value that all entries have.
#[derive(Debug)]
pub(crate) struct One {
    scalar: ScalarText,
    bytes: Vec<u8>,
    /// Written out, once that was asked for again and again.
    kept: OnceLock<Arc<Buffer>>,
}

/// What is moved of entries that share their value: nothing.
pub(crate) const NOTHING: ScalarText = ScalarText { name: "u8", definition: "", size: 0 };
/// What positions are combined with where values do not matter.
pub(crate) const MARK: ScalarText = ScalarText { name: "u8", definition: "", size: 1 };

impl One {
    fn of(scalar: ScalarText, bytes: &[u8]) -> Result<Values> {
        Ok(Values::One(Arc::new(One { scalar, bytes: memory::copied("fill", bytes)?, kept: OnceLock::new() })))
    }
    /// Bytes of it.
    pub(crate) fn size(&self) -> u64 {
        self.bytes.len() as u64
    }
    /// `n` of them.
    pub(crate) fn written(&self, context: &Arc<Context>, n: u64) -> Result<Buffer> {
        if self.bytes.iter().all(|b| *b == 0) {
            return Buffer::zeroed(context, n.saturating_mul(self.bytes.len() as u64));
        }
        let out = Buffer::alloc(context, n.saturating_mul(self.bytes.len() as u64))?;
        if n > 0 {
            let (value, block) = (Given::new(context, &self.bytes)?, block_and_tile(context).0);
            let program = Program::new(context, Template::Entries, |s| s.scalar("V", movable(self.scalar)));
            let kernel = program.kernel("entries_fill")?;
            let launch = kernel.launch(n.div_ceil(u64::from(block)), block, 0).arg(n).arg(&value);
            // SAFETY: parameters as the README lists them; room for n values.
            unsafe { launch.arg(&out).run()? };
        }
        Ok(out)
    }
}

impl Values {
    pub(crate) fn one<T: Scalar>(value: T) -> Result<Self> {
        One::of(T::TEXT, as_bytes(&[value]))
    }
    /// One value by its bytes.
    pub(crate) fn of_all(scalar: ScalarText, bytes: &[u8]) -> Result<Self> {
        One::of(scalar, bytes)
    }
    /// The same value at other positions: what is kept of it written out is for as many entries as it has.
    fn again(one: &One) -> Result<Self> {
        One::of(one.scalar, &one.bytes)
    }
    /// The same values for another number of entries.
    pub(crate) fn elsewhere(&self) -> Result<Self> {
        match self {
            Values::All(all) => Ok(Values::All(all.clone())),
            Values::One(one) => Values::again(one),
        }
    }
    /// The value of all, where it is stored once.
    pub(crate) fn single<T: Scalar>(&self) -> Option<T> {
        match self {
            Values::All(_) => None,
            Values::One(one) => from_bytes("fill", &one.bytes).ok()?.first().copied(),
        }
    }
    /// One each, or the one of all.
    pub(crate) fn one_or_all(&self, context: &Arc<Context>) -> Result<OneOrAll> {
        let (all, one) = match self {
            Values::All(all) => (Some(all.clone()), Given::nothing()),
            Values::One(one) => (None, Given::new(context, &one.bytes)?),
        };
        Ok(OneOrAll { all, one })
    }
    /// Counts device memory.
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        let all = match self {
            Values::All(all) => Some(all),
            Values::One(one) => one.kept.get(),
        };
        if let Some(all) = all {
            all.footprint(to);
        }
    }
}

/// Positions and values while an operation reads them.
pub(crate) struct Read<'a> {
    pattern: &'a DevicePattern,
    values: Arc<Buffer>,
}
impl Read<'_> {
    pub(crate) fn operand(&self) -> Operand<'_> {
        Operand { pattern: self.pattern, values: &self.values }
    }
}

/// Values as an operator's operand: one each, or without those one for all.
pub(crate) struct OneOrAll {
    pub(crate) all: Option<Arc<Buffer>>,
    pub(crate) one: Given,
}

impl<T> DeviceCsr<T> {
    fn context(&self) -> &Arc<Context> {
        self.pattern.offsets.context()
    }
    /// With a value for each entry.
    pub(crate) fn read(&self) -> Result<Read<'_>> {
        let values = match &self.values {
            Values::All(all) => all.clone(),
            Values::One(one) => match one.kept.get() {
                Some(kept) if kept.bytes() >= self.nnz().saturating_mul(one.size()) => kept.clone(),
                _ => Arc::new(one.written(self.context(), self.nnz())?),
            },
        };
        Ok(Read { pattern: &self.pattern, values })
    }
    /// The values, one where all have the same.
    pub(crate) fn one_or_all(&self) -> Result<OneOrAll> {
        self.values.one_or_all(self.context())
    }
    /// With a value for each entry, for a matrix that will be read again: what is written out stays.
    pub(crate) fn read_again(&self) -> Result<Read<'_>> {
        let Values::One(one) = &self.values else { return self.read() };
        let read = account::outside(|| self.read())?;
        // Another thread may have been faster.
        let _ = one.kept.set(read.values.clone());
        Ok(read)
    }
    /// Positions alone, for what looks at no value.
    pub(crate) fn blank(&self) -> Result<Read<'_>> {
        Ok(Read { pattern: &self.pattern, values: Arc::new(Buffer::alloc(self.context(), 0)?) })
    }
    /// With or without values, as they are looked at.
    pub(crate) fn read_if(&self, reads: bool) -> Result<Read<'_>> {
        if reads { self.read() } else { self.blank() }
    }
    /// Positions, each with a byte that says nothing.
    pub(crate) fn marks(&self) -> Result<Read<'_>> {
        Ok(Read { pattern: &self.pattern, values: Arc::new(Buffer::zeroed(self.context(), self.nnz())?) })
    }
    /// What `work` makes of the entries, whose values it moves and does not look at.
    pub(crate) fn moved(
        &self,
        scalar: ScalarText,
        work: impl FnOnce(ScalarText, Operand<'_>) -> Result<(DevicePattern, Buffer)>,
    ) -> Result<Self> {
        let (scalar, read) = self.to_move(scalar)?;
        let (pattern, values) = work(scalar, read.operand())?;
        self.with_moved(pattern, values)
    }
    /// What there is to move.
    fn to_move(&self, scalar: ScalarText) -> Result<(ScalarText, Read<'_>)> {
        match &self.values {
            Values::All(_) => Ok((scalar, self.read()?)),
            Values::One(_) => Ok((NOTHING, self.blank()?)),
        }
    }
    /// With what came of it.
    pub(crate) fn with_moved(&self, pattern: DevicePattern, values: Buffer) -> Result<Self> {
        match &self.values {
            Values::All(_) => Ok(Self::new(pattern, values)),
            Values::One(one) => Ok(Self::with(Arc::new(pattern), Values::again(one)?)),
        }
    }
    /// Other positions with the one value of this.
    pub(crate) fn one_at(&self, pattern: DevicePattern) -> Result<Option<Self>> {
        match &self.values {
            Values::All(_) => Ok(None),
            Values::One(one) => Values::again(one).map(|values| Some(Self::with(Arc::new(pattern), values))),
        }
    }
    /// The value of all, where it is stored once and not written out.
    pub(crate) fn unwritten(&self) -> Option<&One> {
        match &self.values {
            Values::One(one) if one.kept.get().is_none() => Some(one),
            _ => None,
        }
    }
    /// The bytes of the value of all, where it is stored once.
    pub(crate) fn one_bytes(&self) -> Option<&[u8]> {
        match &self.values {
            Values::All(_) => None,
            Values::One(one) => Some(&one.bytes),
        }
    }
    pub(crate) fn is_iso(&self) -> bool {
        matches!(self.values, Values::One(_))
    }
}

impl<T: Scalar> DeviceCsr<T> {
    /// `value` at every position.
    pub(crate) fn iso(pattern: Arc<DevicePattern>, value: T) -> Result<Self> {
        Ok(Self::with(pattern, Values::one(value)?))
    }
    /// The value of all, where it is stored once.
    pub(crate) fn one(&self) -> Option<T> {
        self.values.single()
    }
    /// All values, on the host.
    pub(crate) fn on_host(&self) -> Result<Vec<T>> {
        match (&self.values, self.one()) {
            (Values::One(_), Some(value)) => memory::filled("download", places(self.nnz()), value),
            _ => from_bytes("download", &self.read()?.values.to_host::<u8>()?),
        }
    }
}

/// A function of marks that nobody looks at.
pub(crate) fn of_marks() -> Shared<FunctionText> {
    let second = OperatorText { parameters: &["_", "y"], expression: "y" };
    FunctionText::new("op", vec![MARK, MARK], MARK, second).into()
}
