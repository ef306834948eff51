//! Rows of B scattered into a dense vector, a block a row of A, with as many virtual warps as suit the rows of B (Kurt, Thumma,
//! Hong, Sukumaran-Rajam, Sadayappan, 10.1109/HiPC.2017.00040, section VII), the vector a tile of columns at a time (Matam,
//! Bharadwaj, Kothapalli, 10.1109/HiPC.2012.6507483).
use super::analysis::{self, measure};
use super::{BLOCKS, CONTROL, Job, LONGEST, NNZ};
use crate::backend::cuda::entries::places;
use crate::backend::cuda::runtime::program::{Program, resident, scan_in_place};
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::Result;
use oplus_codegen::Template;

/// Threads of a block, and the products of the rows it takes.
const SIZES: [(u32, u32, u32); 2] = [(128, 1, 4096), (512, 4097, u32::MAX)];
/// Place of the control block: products of the largest row.
const LARGEST: usize = 1;
/// A tile of 32 sums fits shared memory.
const LARGEST_SUM: usize = 1020;

/// Where C goes.
struct Room {
    indices: Buffer,
    values: Buffer,
}

/// What is known of the rows.
struct Rows {
    control: Buffer,
    products: Buffer,
    first: Buffer,
    last: Buffer,
    offsets: Buffer,
}

impl Job<'_> {
    pub(super) fn sum_fits(&self) -> bool {
        self.semiring.c.size <= LARGEST_SUM
    }

    /// The product; `None` where a single sum is too large for shared memory.
    pub(super) fn by_rows(&self) -> Result<Option<(DevicePattern, Buffer)>> {
        if !self.sum_fits() {
            return Ok(None);
        }
        let (context, nrows) = (self.context, self.a.pattern.nrows);
        let rows = Rows {
            control: Buffer::zeroed_for::<u64>(context, CONTROL)?,
            products: Buffer::alloc_for::<u32>(context, nrows)?,
            first: Buffer::alloc_for::<u32>(context, nrows)?,
            last: Buffer::alloc_for::<u32>(context, nrows)?,
            // Rows without products stay 0.
            offsets: Buffer::zeroed_for::<u64>(context, nrows + 1)?,
        };
        let program = analysis::program(self, false);
        measure(self, &program, &rows.control, (&rows.products, &rows.first, &rows.last))?;
        for size in 0..SIZES.len() {
            self.scattered(size, &rows, None)?;
        }
        scan_in_place(context, &rows.offsets, self.rows, Some((&rows.control, NNZ as u64, LONGEST as u64)))?;
        let control: Vec<u64> = rows.control.read(0..LONGEST + 1)?;
        let nnz = control[NNZ];
        let indices = Buffer::alloc_for::<u32>(context, places(nnz))?;
        let values = Buffer::alloc(context, nnz.saturating_mul(self.semiring.written().size as u64))?;
        let room = Room { indices, values };
        for (size, (_, least, _)) in SIZES.iter().enumerate() {
            if nnz > 0 && control[LARGEST] >= u64::from(*least) {
                self.scattered(size, &rows, Some(&room))?;
            }
        }
        let shape = (nrows, self.b.pattern.ncols);
        let pattern = DevicePattern::new(shape, nnz, rows.offsets, room.indices).with_longest(control[LONGEST]);
        Ok(Some((pattern, room.values)))
    }

    /// The rows of one size: with `to` their entries, else how many columns they have.
    fn scattered(&self, size: usize, rows: &Rows, to: Option<&Room>) -> Result<()> {
        let (threads, least, most) = SIZES[size];
        let template = if to.is_some() { Template::SpgemmRows } else { Template::SpgemmRowsCount };
        let program = Program::new(self.context, template, |s| {
            let s = s.number("threads", u64::from(threads));
            if to.is_some() { self.with_semiring(s) } else { self.walking(s) }
        });
        let kernel = program.kernel(template.name())?;
        let launch = kernel.launch(resident(&kernel, threads, 0, self.rows)?, threads, 0);
        let launch = if to.is_some() { self.operands(launch) } else { self.patterns(launch) };
        let launch = launch.arg(self.rows).arg(&rows.products).arg(&rows.first).arg(&rows.last).arg(least).arg(most);
        let tickets = BLOCKS + size + if to.is_some() { SIZES.len() } else { 0 };
        let launch = launch.arg(rows.control.pointer() + 8 * tickets as u64).arg(&rows.offsets);
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe {
            match to {
                Some(c) => launch.arg(&c.indices).arg(&c.values).run(),
                None => launch.run(),
            }
        }
    }
}
