//! What share of the copy bandwidth operations reach that do little but move entries.
use crate::Outcome;
use crate::common::say_line;
use crate::session::Session;
use oplus::backend::cuda::Buffer;
use oplus::prelude::*;
use serde_json::json;

/// What is expected of them on a large GPU.
const GOAL: f64 = 60.0;

/// Every operation on four shapes of so many entries.
pub(crate) fn run(session: &mut Session, entries: u64) -> Outcome<()> {
    let copy = copied(session, entries)?;
    say_line!("copy {copy:.0} GB/s")?;
    say_line!("{:10} {:14} | {:>8} {:>9} {:>6} {:>7}", "matrix", "operation", "GB", "ms", "GB/s", "% of it")?;
    let mut table = Table { session, copy, slow: Vec::new() };
    for (name, mean, skewed) in
        [("16 a row", 16, false), ("skewed", 16, true), ("200 a row", 200, false), ("2 a row", 2, false)]
    {
        let device = table.session.device;
        let a = shape(entries, mean, skewed, 0)?.to(&device)?;
        let b = shape(entries, mean, skewed, 3)?.to(&device)?;
        one_way(&mut table, name, &a)?;
        two_ways(&mut table, name, &a, &b)?;
    }
    formats(&mut table, entries)?;
    say_line!("below {GOAL} %: {}", if table.slow.is_empty() { "none".into() } else { table.slow.join(", ") })?;
    Ok(())
}

/// GB/s of a copy on the device, read and written bytes both counted.
fn copied(session: &Session, entries: u64) -> Outcome<f64> {
    let (from, mut to) =
        (Buffer::zeroed(&session.context, 8 * entries)?, Buffer::zeroed(&session.context, 8 * entries)?);
    let (time, ()) = session.measure(|| Ok(to.copy_range(0, &from, 0..8 * entries)?))?;
    Ok(16e-6 * entries as f64 / time.ms)
}

/// Rows of one length around a mean; skewed: one in 1000 with a thousand times as many as the others.
fn shape(entries: u64, mean: u64, skewed: bool, salt: u64) -> Outcome<Matrix<f64>> {
    let rows = u32::try_from(entries / mean)?;
    let columns = rows.max((entries / 100) as u32).max(2);
    let (mut offsets, mut indices, mut left) = (vec![0u64], Vec::with_capacity(entries as usize), entries);
    for r in 0..rows {
        let length = match (skewed, r % 1000 == 7) {
            (false, _) => mean,
            (true, true) => mean * 500,
            (true, false) => mean / 2,
        };
        let length = length.min(left).min(u64::from(columns / 2));
        left -= length;
        let step = (u64::from(columns) / length.max(1)).max(1);
        indices.extend((0..length).map(|k| (k * step + (u64::from(r) * 31 + k * 7 + salt) % step) as u32));
        offsets.push(indices.len() as u64);
    }
    let values = (0..indices.len()).map(|e| (e % 1000) as f64).collect();
    Ok(Matrix::from_csr(rows.into(), columns.into(), offsets, indices, values)?)
}

struct Table<'a, 'b> {
    session: &'a mut Session<'b>,
    copy: f64,
    slow: Vec<String>,
}
impl Table<'_, '_> {
    /// `bytes` is the least traffic: every input read once, every output written once.
    fn row<R>(&mut self, name: &str, what: &str, bytes: f64, run: impl Fn() -> Result<R>) -> Outcome<()> {
        if !self.session.options.asked(&format!("{name} {what}")) {
            return Ok(());
        }
        let (time, _) = self.session.measure(|| Ok(run()?))?;
        let speed = 1e-6 * bytes / time.ms;
        let share = 100.0 * speed / self.copy;
        say_line!("{name:10} {what:14} | {:>8.3} {:>9.3} {speed:>6.0} {share:>7.1}", bytes / 1e9, time.ms)?;
        if share < GOAL {
            self.slow.push(format!("{what} {name} ({share:.0} %)"));
        }
        self.session.record(&json!({
            "mode": "bandwidth", "matrix": name, "operation": what, "bytes": bytes, "ms": time.ms, "peak": time.peak,
            "copy": self.copy, "share": share,
        }))
    }
}

/// Operations with one matrix.
fn one_way(table: &mut Table, name: &str, a: &Matrix<f64>) -> Outcome<()> {
    let device = table.session.device;
    let (nnz, rows, columns) = (a.nvals() as f64, a.nrows() as f64, a.ncols() as f64);
    let x = Vector::<f64>::full(a.ncols(), 1.5)?.to(&device)?;
    let y = Vector::<f64>::full(a.nrows(), 2.5)?.to(&device)?;
    table.row(name, "apply", 16.0 * nnz, || apply(a, Negate).eval())?;
    table.row(name, "apply bound", 16.0 * nnz, || apply_second(a, Times, 2.5).eval())?;
    table.row(name, "apply row", 8.0 * (nnz + rows), || apply_index(a, RowIndex, 0).eval())?;
    table.row(name, "cast", 12.0 * nnz, || a.cast::<f32>())?;
    table.row(name, "scale rows", 16.0 * (nnz + rows), || scale_rows(&y, a, Times).eval())?;
    table.row(name, "scale columns", 20.0 * nnz + 8.0 * columns, || scale_columns(a, &x, Times).eval())?;
    let kept = select(a, ValueGt, 499.0).eval()?.nvals() as f64;
    table.row(name, "select", 12.0 * (nnz + kept) + 16.0 * rows, || select(a, ValueGt, 499.0).eval())?;
    let kept = select(a, Tril, 0).eval()?.nvals() as f64;
    table.row(name, "tril", 4.0 * nnz + 20.0 * kept + 16.0 * rows, || select(a, Tril, 0).eval())?;
    table.row(name, "reduce rows", 8.0 * nnz + 28.0 * rows, || reduce_rows(a, Plus).eval())?;
    table.row(name, "reduce", 8.0 * nnz, || reduce(a, Plus))?;
    let part = || extract(a, ..a.nrows() / 2, ..a.ncols() / 2).eval();
    let kept = part()?.nvals() as f64;
    table.row(name, "extract", 2.0 * nnz + 20.0 * kept + 8.0 * rows, part)?;
    table.row(name, "transpose", 24.0 * nnz + 8.0 * (rows + columns), || transpose(a).eval())
}

/// Operations with two.
fn two_ways(table: &mut Table, name: &str, a: &Matrix<f64>, b: &Matrix<f64>) -> Outcome<()> {
    let (nnz, rows) = (a.nvals() as f64, a.nrows() as f64);
    let all = ewise_add(a, b, Plus).eval()?.nvals() as f64;
    let joined = 12.0 * (2.0 * nnz + all) + 24.0 * rows;
    table.row(name, "union", joined, || ewise_add(a, b, Plus).eval())?;
    table.row(name, "ewise_union", joined, || ewise_union(a, 2.0, b, 3.0, Minus).eval())?;
    let met = ewise_mult(a, b, Plus).eval()?.nvals() as f64;
    table.row(name, "intersection", 8.0 * nnz + 28.0 * met + 24.0 * rows, || ewise_mult(a, b, Plus).eval())?;
    let (mask, traffic) = (b.structure(), 20.0 * nnz + 12.0 * (2.0 * nnz + all) + 32.0 * rows);
    table.row(name, "masked write", traffic, || {
        let mut c = a.clone();
        apply(b, Negate).mask(&mask).accumulate(Plus).into(&mut c)?;
        Ok(c)
    })
}

/// Ways from rows to other formats, and what cells make of cells, under masks of cells too: of three quarters of the cells of 1000 columns, of all of them, and of
/// a band of 16 diagonals.
fn formats(table: &mut Table, entries: u64) -> Outcome<()> {
    let device = table.session.device;
    let (columns, rows) = (1000u32, u32::try_from(entries / 1000)?);
    let some = |salt: u32| -> Outcome<Matrix<f64>> {
        let row = |i: u32| (0..columns).filter(move |j| (i * 5 + j * 7 + j / 8 + salt) & 3 > 0);
        from_rows(rows, columns, row)
    };
    let (a, b) = (some(0)?.to(&device)?, some(1)?.to(&device)?);
    let (nnz, cells) = (a.nvals() as f64, f64::from(rows) * f64::from(columns));
    let (listed, held) = (12.0 * nnz + 8.0 * f64::from(rows), 8.125 * cells);
    table.row("cells", "from rows", listed + held, || a.to_format(Format::Bitmap))?;
    table.row("cells", "and back", 2.0 * (listed + held), || a.to_format(Format::Bitmap)?.to_format(Format::Csr))?;
    let (x, y) = (a.to_format(Format::Bitmap)?, b.to_format(Format::Bitmap)?);
    table.row("cells", "union", 3.0 * held, || ewise_add(&x, &y, Plus).eval())?;
    table.row("cells", "ewise_union", 3.0 * held, || ewise_union(&x, 2.0, &y, 3.0, Minus).eval())?;
    table.row("cells", "intersection", 3.0 * held, || ewise_mult(&x, &y, Times).eval())?;
    let mask = some(2)?.to(&device)?.to_format(Format::Bitmap)?.structure();
    table.row("cells", "masked", 2.0 * held + 0.125 * cells, || apply_second(&y, First, 1.0).mask(&mask).eval())?;
    table.row("cells", "masked write", 3.0 * held + 0.125 * cells, || {
        let mut c = x.clone();
        apply_second(&y, First, 1.0).mask(&mask).accumulate(Plus).into(&mut c)?;
        Ok(c)
    })?;
    table.row("cells", "transpose", 2.0 * held, || transpose(&x).eval())?;
    let (part, size) = (rows / 4..rows - rows / 4, f64::from(rows - 2 * (rows / 4)) * f64::from(columns - 200));
    let part = u64::from(part.start)..u64::from(part.end);
    table.row("cells", "extract", 16.25 * size, || extract(&x, part.clone(), 100u64..900).eval())?;
    table.row("cells", "assign", 2.0 * held - 8.125 * size, || {
        let mut c = x.clone();
        assign_scalar(1.5, part.clone(), 100u64..900).into(&mut c)?;
        Ok(c)
    })?;
    table.row("cells", "select", held + 0.125 * cells, || select(&x, ValueGt, 499.0).eval())?;
    table.row("cells", "apply", 16.0 * cells, || apply(&x, Negate).eval())?;
    drop((a, b, x, y, mask));
    let values = |n: u64| (0..n).map(|e| (e % 1000) as f64).collect();
    let x = Matrix::<f64>::from_full(rows.into(), columns.into(), values(u64::from(rows) * 1000))?.to(&device)?;
    table.row("full", "union", 24.0 * cells, || ewise_add(&x, &x, Plus).eval())?;
    table.row("full", "apply", 16.0 * cells, || apply(&x, Negate).eval())?;
    table.row("full", "transpose", 16.0 * cells, || transpose(&x).eval())?;
    table.row("full", "reduce", 8.0 * cells, || reduce(&x, Plus))?;
    table.row("full", "reduce rows", 8.0 * cells + 8.0 * f64::from(rows), || reduce_rows(&x, Plus).eval())?;
    table.row("full", "reduce columns", 24.0 * cells, || reduce_rows(&x, Plus).transpose_a().eval())?;
    // The list that sums of new matrices do not make.
    table.row("full", "first reduce", 24.0 * cells, || reduce(&apply(&x, Negate).eval()?, Plus))?;
    drop(x);
    let n = u32::try_from(entries / 16)?;
    let a = from_rows(n, n, |i| i.saturating_sub(8)..(i + 8).min(n))?.to(&device)?;
    let nnz = a.nvals() as f64;
    let (listed, held) = (12.0 * nnz + 8.0 * f64::from(n), 128.0 * f64::from(n));
    table.row("band", "from rows", 4.0 * nnz + listed + held, || a.to_format(Format::Dia))?;
    table.row("band", "and back", 4.0 * nnz + 2.0 * (listed + held), || {
        a.to_format(Format::Dia)?.to_format(Format::Csr)
    })?;
    table.row("band", "rows to columns", 2.0 * listed, || a.to_format(Format::Csc))?;
    let along = a.to_format(Format::Dia)?;
    table.row("band", "transpose", 2.0 * held, || transpose(&along).eval())?;
    table.row("band", "to columns", held + listed, || along.to_format(Format::Csc))
}

/// Rows of these columns.
fn from_rows<R: Iterator<Item = u32>>(rows: u32, columns: u32, row: impl Fn(u32) -> R) -> Outcome<Matrix<f64>> {
    let (mut offsets, mut indices) = (vec![0u64], Vec::new());
    for i in 0..rows {
        indices.extend(row(i));
        offsets.push(indices.len() as u64);
    }
    let values = (0..indices.len()).map(|e| (e % 1000) as f64).collect();
    Ok(Matrix::from_csr(rows.into(), columns.into(), offsets, indices, values)?)
}
