//! Where the factors of every product are, in the order of C's entries: values of the same structure are sums over that, and nothing
//! has to be looked for again.
use super::Job;
use super::slices::{End, Sorted, Sorting, joined};
use crate::backend::cuda::entries::{places, structure};
use crate::backend::cuda::mxv::spmv;
use crate::backend::cuda::product::{DeviceIds, Product};
use crate::backend::cuda::runtime::ahead::Wanted;
use crate::backend::cuda::runtime::program::{Program, resident};
use crate::backend::cuda::storage::row_tiles::RowTiles;
use crate::backend::cuda::{Buffer, DevicePattern};
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
/// The same of matrices on few diagonals.
const BANDED: u64 = 3;

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
    fn wanted(job: &Job) -> Wanted {
        job.slicing().wanted("slice_places")
    }
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
        Ok(Part { products: n, nnz: sorted.nnz, indices, firsts, a, b })
    }
    fn made(&mut self, products: u64) {
        self.0 += products;
    }
}

impl Job<'_> {
    /// The positions of C and the places of all factors; `None` where they are too many, or not what values are made of, or where
    /// there is no memory for them.
    pub(super) fn factor_places(&self, strategy: Strategy) -> Result<Option<(DevicePattern, FactorPlaces)>> {
        match self.found_places(strategy) {
            Err(Error::OutOfMemory { .. }) => Ok(None),
            found => found,
        }
    }

    fn found_places(&self, strategy: Strategy) -> Result<Option<(DevicePattern, FactorPlaces)>> {
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
        let (parts, counts) = self.slices(Sorting::Radix, &mut Numbered(0))?;
        let (nnz, longest) = self.offsets(&counts)?;
        if nnz > most {
            return Ok(None);
        }
        if products / BANDED >= nnz && self.bands()?.is_some() {
            return Ok(None);
        }
        let (indices, kept) = self.joined_places(parts, products, nnz)?;
        let pattern = DevicePattern::new((a.nrows, b.ncols), nnz, counts, indices).with_longest(longest);
        let long = b.nnz / (b.nrows as u64).max(1) >= LONG && self.rows >= u64::from(self.tuning.esc_rows);
        if long && products / DENSE >= nnz && self.spans(&pattern)? / SPREAD <= nnz {
            return Ok(None);
        }
        RowTiles::of(&kept.products)?;
        Ok(Some((pattern, kept)))
    }

    /// How many products there are.
    pub(super) fn products(&self) -> Result<u64> {
        let (a, b, block) = (self.a.pattern, self.b.pattern, self.tuning.primitive_block);
        let total = Buffer::zeroed_for::<u64>(self.context, 1)?;
        let kernel = structure(self.context, "count_products")?;
        let launch = kernel.launch(resident(&kernel, block, 0, a.nnz.div_ceil(4 * u64::from(block)))?, block, 0);
        let launch = launch.arg(a.nnz).arg(&a.indices).arg(&b.offsets);
        // SAFETY: parameters as codegen/templates/README.md lists them.
        unsafe { launch.arg(&total).run()? };
        total.read_one(0)
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

    /// C's columns and the places of all slices.
    fn joined_places(&self, parts: Vec<Part>, products: u64, nnz: u64) -> Result<(Buffer, FactorPlaces)> {
        let context = self.context;
        let (mut indices, mut firsts, mut a, mut b) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            indices.push((part.indices, part.nnz));
            firsts.push((part.firsts, part.nnz));
            a.push((part.a, part.products));
            b.push((part.b, part.products));
        }
        firsts.push((Buffer::from_host(context, &[products])?, 1));
        let (firsts, indices) = (joined(context, 8, nnz + 1, firsts)?, joined(context, 4, nnz, indices)?);
        let (a, b) = (joined(context, 4, products, a)?, joined(context, 4, products, b)?);
        let products = DevicePattern::new((places(nnz), self.a.pattern.nnz as usize), products, firsts, a);
        Ok((indices, FactorPlaces { products, b }))
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
