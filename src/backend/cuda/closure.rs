//! Floyd–Warshall on an array in device memory.
use super::entries::{block_and_tile, places, structure};
use super::entrywise::given::Given;
use super::product::Operand;
use super::runtime::program::{Program, resident, sum_in_place};
use super::{Buffer, Context, DevicePattern};
use crate::backend::PIVOTS;
use crate::error::Result;
use oplus_codegen::{FunctionText, Shared, Template};
use std::sync::Arc;

/// Threads of the blocks that close a block of pivots, and of those that relax the other rows, as in the template.
const CLOSE: u32 = 1024;
const REST: u32 = 256;

/// The closure of n × n entries; `Err` of a vertex from which a way to itself is better than to stay.
pub(super) fn closure(
    (join, better): (Shared<FunctionText>, Shared<FunctionText>),
    a: Operand<'_>,
    (trivial, absent): (&[u8], &[u8]),
) -> Result<std::result::Result<(DevicePattern, Buffer), usize>> {
    let (context, n) = (a.pattern.offsets.context(), a.pattern.nrows as u64);
    if n == 0 {
        return super::entries::empty(context, 0, 0).map(Ok);
    }
    let size = join.output.size as u64;
    let program =
        Program::new(context, Template::Closure, |s| s.function(join).function(better).number("pivots", PIVOTS as u64));
    let (trivial, absent) = (Given::new(context, trivial)?, Given::new(context, absent)?);
    let dense = Dense { context, program, n, size, trivial, absent };
    let d = dense.spread(a)?;
    Ok(match dense.close(&d)? {
        Some(vertex) => Err(vertex),
        None => Ok(dense.compressed(d)?),
    })
}

/// An n × n array and its kernels.
struct Dense<'a> {
    context: &'a Arc<Context>,
    program: Program<'a>,
    n: u64,
    size: u64,
    trivial: Given,
    absent: Given,
}

impl Dense<'_> {
    /// The entries and the trivial ways, absent elsewhere.
    fn spread(&self, a: Operand<'_>) -> Result<Buffer> {
        let (n, block) = (self.n, block_and_tile(self.context).0);
        let d = Buffer::alloc(self.context, (n * n).saturating_mul(self.size))?;
        let kernel = self.program.kernel("closure_begin")?;
        let launch = kernel.launch(resident(&kernel, block, 0, (n * n).div_ceil(u64::from(block)))?, block, 0);
        // SAFETY: parameters as the README lists them; n² values.
        unsafe { launch.arg(n).arg(&self.absent).arg(&self.trivial).arg(&d).run()? };
        let kernel = self.program.kernel("closure_scatter")?;
        let rows = n.div_ceil(u64::from(block / 32));
        let launch = kernel.launch(resident(&kernel, block, 0, rows)?, block, 0).arg(n);
        // SAFETY: as above; entries are within n × n.
        unsafe { launch.arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values).arg(&d).run()? };
        Ok(d)
    }
    /// All ways; a vertex with one to itself that is better than to stay, of the first block of pivots after which there is any.
    fn close(&self, d: &Buffer) -> Result<Option<usize>> {
        let (n, side) = (self.n, PIVOTS as u64);
        let (tiles, block) = (n.div_ceil(side), block_and_tile(self.context).0);
        let to_pivots = Buffer::alloc(self.context, side * side * self.size)?;
        let mut found = Buffer::alloc_for::<u64>(self.context, 1)?;
        found.fill(0xff)?;
        let [pivots, strip, rest, cycles] = [
            self.program.kernel("closure_pivots")?,
            self.program.kernel("closure_strip")?,
            self.program.kernel("closure_rest")?,
            self.program.kernel("closure_cycles")?,
        ];
        for first in (0..n).step_by(PIVOTS) {
            let launch = pivots.launch(1u32, CLOSE, 0).arg(n).arg(first).arg(&self.absent);
            // SAFETY: parameters as the README lists them; n² values, side² of a block's pivots.
            unsafe { launch.arg(d).arg(&to_pivots).run()? };
            let launch = strip.launch(tiles - 1, CLOSE, 0).arg(n).arg(first).arg(&self.absent);
            // SAFETY: as above.
            unsafe { launch.arg(&to_pivots).arg(d).run()? };
            // The pivots' columns last: they are what the others are relaxed by.
            for (own, across) in [(0u32, tiles - 1), (1, 1)] {
                let launch = rest.launch((tiles - 1) * across, REST, 0).arg(n).arg(first).arg(&self.absent);
                // SAFETY: as above.
                unsafe { launch.arg(own).arg(d).run()? };
            }
            let launch = cycles.launch(n.div_ceil(u64::from(block)), block, 0).arg(n).arg(first).arg(&self.trivial);
            // SAFETY: as above; one word.
            unsafe { launch.arg(d).arg(&found).run()? };
        }
        let found = found.read_one::<u64>(0)?;
        Ok((found != u64::MAX).then_some(found as u32 as usize))
    }
    /// What is not absent, by rows. Where nothing is, the array is the values.
    fn compressed(&self, d: Buffer) -> Result<(DevicePattern, Buffer)> {
        let (context, n, block) = (self.context, self.n, block_and_tile(self.context).0);
        let offsets = Buffer::alloc_for::<u64>(context, places(n + 1))?;
        let rows = n.div_ceil(u64::from(block / 32));
        let kernel = self.program.kernel("closure_counts")?;
        let launch = kernel.launch(resident(&kernel, block, 0, rows)?, block, 0).arg(n).arg(&self.absent);
        // SAFETY: parameters as the README lists them; n² values, a count a row.
        unsafe { launch.arg(&d).arg(&offsets).run()? };
        let (nnz, longest) = sum_in_place(context, &offsets, n)?;
        let indices = Buffer::alloc_for::<u32>(context, places(nnz))?;
        let values = if nnz == n * n {
            let kernel = structure(context, "block_indices")?;
            let launch = kernel.launch(nnz.div_ceil(u64::from(block)), block, 0).arg(nnz).arg(n as u32).arg(0u32);
            // SAFETY: as above; an index for each of n rows of n.
            unsafe { launch.arg(&indices).run()? };
            d
        } else {
            let values = Buffer::alloc(context, nnz.saturating_mul(self.size))?;
            let kernel = self.program.kernel("closure_write")?;
            let launch = kernel.launch(resident(&kernel, block, 0, rows)?, block, 0).arg(n).arg(&self.absent);
            // SAFETY: as above; the results have the places the offsets say.
            unsafe { launch.arg(&d).arg(&offsets).arg(&indices).arg(&values).run()? };
            values
        };
        let shape = (places(n), places(n));
        Ok((DevicePattern::new(shape, nnz, offsets, indices).with_longest(longest), values))
    }
}
