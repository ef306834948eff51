//! Steps of sequences besides the first ones: what is fused, moved in pieces, scaled, turned, sorted.
use super::{M, PLACES, State, Step, V, Values, product};
use oplus::prelude::*;

impl<T: Values> State<T> {
    pub fn more_of_matrices(&self, kind: u8, step: &Step, c: usize, m: &mut M<T>) -> Result<String> {
        let (gap, k, two, other) = (self.gap, T::of(step.k.into()), T::of(2), step.how & 16 > 0);
        let ([p, q, r, _], [rows, cols]) = (step.at(gap), step.parts(gap));
        let n = PLACES * gap;
        // Taken by who needs them: others leave the output to its one owner.
        let matrix = |nth: u8, m: &M<T>| nth!(self.matrices, c, m, nth as usize % 3);
        let (a, b) = (|m: &M<T>| matrix(step.a, m), |m: &M<T>| matrix(step.b, m));
        let third = |m: &M<T>| matrix(step.mask / 8, m);
        let (x, y) = (&self.vectors[step.a as usize % 3], &self.vectors[step.b as usize % 3]);
        let mask = step.mask(|| third(m).structure(), || third(m).as_mask());
        match kind {
            0 => {
                let fused = product(step, a(m), b(m)).apply_second(T::Other::default(), k);
                into!(fused.select(ValueNe, two), step, mask, m)?;
            }
            1 => into!(product(step, a(m), b(m)).scale_inner(x, T::Product::default()), step, mask, m)?,
            2 => into!(ewise_union(&a(m), k, &b(m), two, T::Difference::default()), step, mask, m)?,
            3 => {
                let chain = ewise_add(&a(m), &b(m), T::Other::default()).ewise_mult(&third(m), T::Product::default());
                into!(chain.select(ValueNe, k), step, mask, m)?;
            }
            4 => into!(ewise_add(&a(m).transposed(), &b(m), T::Other::default()), step, mask, m)?,
            5 => into!(mxm(&a(m).transposed(), &b(m)), step, mask, m)?,
            6 if other => into!(scale_rows(x, &a(m), T::Product::default()), step, mask, m)?,
            6 => into!(scale_columns(&a(m), x, T::Product::default()), step, mask, m)?,
            7 if other => into!(tril(&a(m), step.k.into()), step, mask, m)?,
            7 => into!(triu(&a(m), step.k.into()), step, mask, m)?,
            8 => into!(top_k(&a(m), u64::from(step.k.unsigned_abs())), step, mask, m)?,
            9 => {
                let part = extract(&a(m), rows.clone(), cols.clone()).eval()?;
                into!(subassign(&part, rows, cols), step, None::<Mask>, m)?;
            }
            10 => into!(assign_column(x, .., q), step, None::<Mask>, m)?,
            11 => into!(diag(x, 0), step, mask, m)?,
            12 => {
                m.resize(p + 1, if other { n } else { r + 1 })?;
                m.resize(n, n)?;
            }
            13 => {
                let tiles = split(m, &[p + 1, n - p - 1], &[q + 1, n - q - 1])?;
                let [above, below] = [&tiles[0], &tiles[1]].map(|row| [&row[0], &row[1]]);
                *m = if other { concat(&[below, above])? } else { concat(&[above, below])? };
            }
            14 if gap == 1 => {
                let corner = |of: &M<T>, at: u64, size| extract(of, at..at + size, at..at + size).eval();
                let tiles = (corner(&a(m), p.min(PLACES - 5), 5)?, corner(&b(m), r.min(PLACES - 7), 7)?);
                into!(kronecker(&tiles.0, &tiles.1, T::Product::default()), step, mask, m)?;
            }
            15 if gap == 1 && other => *m = reshape(&reshape(m, 49, 25)?, PLACES, PLACES)?,
            15 if gap == 1 => *m = reshape_columns(&reshape_columns(m, 7, 175)?, PLACES, PLACES)?,
            16 => {
                let mut updates = Updates::new();
                for (i, j) in [(p, q), (r, p), (p, q)] {
                    updates.set(i, j, k)?;
                }
                updates.remove(q, r)?;
                m.update(&updates)?;
            }
            _ => {
                let (sorted, from) = sort(&a(m), Lt)?;
                let seen = format!("{:?} {:?}", sorted.entries()?, from.entries()?);
                let likes = product(step, a(m), b(m)).apply_second(T::Other::default(), k).reduce(T::Sum::default())?;
                return Ok(format!(
                    "{seen} {likes:?} {:?}",
                    ewise_mult(x, y, T::Product::default()).reduce(T::Sum::default())?
                ));
            }
        }
        Ok(String::new())
    }

    pub fn more_of_vectors(&self, kind: u8, step: &Step, c: usize, v: &mut V<T>) -> Result<()> {
        let (k, two, n, other) = (T::of(step.k.into()), T::of(2), PLACES * self.gap, step.how & 16 > 0);
        let ([p, ..], [part, _]) = (step.at(self.gap), step.parts(self.gap));
        let vector = |nth: u8, v: &V<T>| nth!(self.vectors, c, v, nth as usize % 3);
        let (x, y) = (|v: &V<T>| vector(step.a, v), |v: &V<T>| vector(step.b, v));
        let a = &self.matrices[step.a as usize % 3];
        let third = |v: &V<T>| vector(step.mask / 8, v);
        let mask = step.mask(|| third(v).structure(), || third(v).as_mask());
        match kind {
            0 => into!(ewise_union(&x(v), k, &y(v), two, T::Difference::default()), step, mask, v),
            1 => into!(ewise_mult(&x(v), &y(v), T::Product::default()), step, mask, v),
            2 => {
                let chain = mxv(a, &x(v)).ewise_add(&y(v), T::Other::default());
                into!(chain.select(ValueNe, k), step, mask, v)
            }
            3 => {
                let some = extract_vector(&x(v), part.clone()).eval()?;
                if other {
                    into!(subassign_vector(&some, part), step, None::<Mask>, v)
                } else {
                    into!(assign_vector(&some, part), step, mask, v)
                }
            }
            4 => into!(diag_extract(a, 0), step, mask, v),
            5 => {
                v.resize(p + 1)?;
                v.resize(n)
            }
            _ => into!(apply_second(&x(v), T::Other::default(), k), step, mask, v),
        }
    }
}
