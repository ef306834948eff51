//! Where the factors of every product are, in the order of C's entries: values of the same structure are sums over that, and nothing
//! has to be looked for again.
use super::Job;
use super::slices::{End, Sorted, Sorting};
use crate::backend::cuda::entries::{places, structure};
use crate::backend::cuda::product::{DeviceIds, Product};
use crate::backend::cuda::program::{Program, resident, scan_in_place};
use crate::backend::cuda::row_tiles::RowTiles;
use crate::backend::cuda::{Buffer, DevicePattern, spmv};
use crate::error::{Error, Result};
use crate::spgemm::Strategy;
use oplus_codegen::Template;

/// They may take this part of all memory.
const SHARE: u64 = 16;
/// Bytes of a product.
const PRODUCT: u64 = 8;
/// So many products an entry are found again sooner than read, where rows of C have no more than twice as many columns from first to
/// last as entries, and those of B are long: sums along diagonals and in windows need little of each.
const DENSE: u64 = 8;
const SPREAD: u64 = 2;
const LONG: u64 = 24;

/// The products as the entries of a matrix, with C's entries as rows and A's as columns.
#[derive(Debug)]
pub(in crate::backend::cuda) struct FactorPlaces {
    products: DevicePattern,
    /// Where in B the other factor of each is.
    b: Buffer,
}

/// What is kept of a slice.
struct Part {
    products: u64,
    nnz: u64,
    indices: Buffer,
    firsts: Buffer,
    a: Buffer,
    b: Buffer,
}

/// They are numbered on from the slice before.
struct Numbered(u64);
impl End for Numbered {
    type Made = Part;
    const PLACES: bool = true;
    fn end(&mut self, job: &Job, sorted: &Sorted, terms: &Buffer) -> Result<Part> {
        let (context, n, block) = (job.context, sorted.n, job.tuning.primitive_block);
        let indices = Buffer::alloc_for::<u32>(context, places(sorted.nnz))?;
        let firsts = Buffer::alloc_for::<u64>(context, places(sorted.nnz))?;
        let (a, b) = (Buffer::alloc_for::<u32>(context, places(n))?, Buffer::alloc_for::<u32>(context, places(n))?);
        let kernel = job.slicing().kernel("slice_places")?;
        let launch = kernel.launch(n.div_ceil(u64::from(block)), block, 0).arg(n).arg(&sorted.keyed.keys);
        let launch = launch.arg(&sorted.keyed.places).arg(terms).arg(&sorted.marks.words).arg(&sorted.marks.starts);
        let launch = launch.arg(sorted.bits).arg(self.0).arg(&a).arg(&b);
        // SAFETY: parameters as codegen/templates/README.md lists them: n places each, an entry a mark.
        unsafe { launch.arg(&indices).arg(&firsts).run()? };
        self.0 += n;
        Ok(Part { products: n, nnz: sorted.nnz, indices, firsts, a, b })
    }
}

impl Job<'_> {
    /// The positions of C and the places of all factors; `None` where they are too many, or not what values are made of.
    pub(super) fn factor_places(&self, strategy: Strategy) -> Result<Option<(DevicePattern, FactorPlaces)>> {
        let (a, b, most) = (self.a.pattern, self.b.pattern, u64::from(u32::MAX));
        let semiring = &self.semiring;
        if strategy != Strategy::Auto
            || self.mask.is_some()
            || semiring.reads.position
            || semiring.is_constant()
            || a.nnz.max(b.nnz) > most
            || a.nnz.min(b.nnz) == 0
        {
            return Ok(None);
        }
        let products = self.products()?;
        if products == 0 || products.saturating_mul(PRODUCT) > self.context.properties().total_memory / SHARE {
            return Ok(None);
        }
        let (parts, counts) = match self.slices(Sorting::Radix, &mut Numbered(0)) {
            Err(Error::OutOfMemory { .. }) => return Ok(None),
            made => made?,
        };
        let found = Buffer::zeroed_for::<u64>(self.context, 2)?;
        scan_in_place(self.context, &counts, self.rows, Some((&found, 0, 1)))?;
        let found: Vec<u64> = found.to_host()?;
        if found[0] > most {
            return Ok(None);
        }
        match self.joined_places(parts, products, found[0]) {
            Err(Error::OutOfMemory { .. }) => Ok(None),
            made => {
                let (indices, kept) = made?;
                let shape = (a.nrows, b.ncols);
                let pattern = DevicePattern::new(shape, found[0], counts, indices).with_longest(found[1]);
                let long = b.nnz / (b.nrows as u64).max(1) >= LONG && self.rows >= u64::from(self.tuning.esc_rows);
                if long && products / DENSE >= found[0] && self.spans(&pattern)? / SPREAD <= found[0] {
                    return Ok(None);
                }
                RowTiles::of(&kept.products)?;
                Ok(Some((pattern, kept)))
            }
        }
    }

    /// Columns from the first to the last of each row, of all rows together.
    fn spans(&self, pattern: &DevicePattern) -> Result<u64> {
        let (block, sum) = (self.tuning.primitive_block, Buffer::zeroed_for::<u64>(self.context, 1)?);
        let kernel = structure(self.context, "row_spans")?;
        let grid = resident(&kernel, block, 0, self.rows.div_ceil(u64::from(block)))?;
        let launch = kernel.launch(grid, block, 0).arg(self.rows).arg(&pattern.offsets).arg(&pattern.indices);
        // SAFETY: parameters as codegen/templates/README.md lists them.
        unsafe { launch.arg(&sum).run()? };
        sum.read_one(0)
    }

    fn joined_places(&self, mut parts: Vec<Part>, products: u64, nnz: u64) -> Result<(Buffer, FactorPlaces)> {
        let context = self.context;
        let (mut firsts, mut at) = (Buffer::alloc_for::<u64>(context, places(nnz + 1))?, 0);
        for part in &parts {
            firsts.copy_range(8 * at, &part.firsts, 0..8 * part.nnz)?;
            at += part.nnz;
        }
        firsts.copy_range(8 * nnz, &Buffer::from_host(context, &[products])?, 0..8)?;
        let matrix =
            |indices| DevicePattern::new((places(nnz), self.a.pattern.nnz as usize), products, firsts, indices);
        if parts.len() == 1
            && let Some(Part { indices, a, b, .. }) = parts.pop()
        {
            return Ok((indices, FactorPlaces { products: matrix(a), b }));
        }
        let mut indices = Buffer::alloc_for::<u32>(context, places(nnz))?;
        let mut a = Buffer::alloc_for::<u32>(context, places(products))?;
        let mut b = Buffer::alloc_for::<u32>(context, places(products))?;
        let (mut entry, mut product) = (0, 0);
        for part in &parts {
            indices.copy_range(4 * entry, &part.indices, 0..4 * part.nnz)?;
            a.copy_range(4 * product, &part.a, 0..4 * part.products)?;
            b.copy_range(4 * product, &part.b, 0..4 * part.products)?;
            (entry, product) = (entry + part.nnz, product + part.products);
        }
        Ok((indices, FactorPlaces { products: matrix(a), b }))
    }
}

impl FactorPlaces {
    /// The values of the product; short sums in the order of k.
    pub(super) fn values(&self, product: &Product) -> Result<Buffer> {
        let (context, semiring) = (product.context, &product.semiring);
        let program = Program::new(context, Template::SpmvFull, |s| {
            // A's values are the vector, and stand on the left.
            s.semiring(semiring.clone()).flag("vector_left", true).flag("gathered", true)
        });
        let none = DeviceIds { i: None, k: None, j: None };
        let factors = (Some(&self.b), product.b.values, product.a.values);
        spmv::full_sums(&program, semiring.c.size, &self.products, RowTiles::of(&self.products)?, factors, &none)
    }
}
