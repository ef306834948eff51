//! Entries of vectors are looked up where they are stored, and are the same as by the reference.
use oplus::generate::Random;
use oplus::prelude::*;

#[test]
fn entries_of_every_format_at_any_indices() -> Result<()> {
    let mut random = Random::new(3, 0);
    for (n, most) in [(1u64, 1u64), (90, 30), (90, 90), (5_000, 40), (40_000, 30_000), (40_000, 40_000)] {
        let mut places: Vec<u64> = (0..n).collect();
        for k in (1..places.len()).rev() {
            places.swap(k, random.below(k as u64 + 1) as usize);
        }
        let mut held = places[..most as usize].to_vec();
        held.sort_unstable();
        let entries: Vec<_> = held.iter().map(|j| (*j, *j as i64 * 7 - 3)).collect();
        let u: Vector<i64> = Vector::build(n, &entries)?;
        let reference = u.to(&Device::Reference)?;
        let any: Vec<u64> = (0..n / 2 + 1).map(|_| random.below(n)).collect();
        let few: Vec<u64> = (0..3).map(|_| random.below(n)).collect();
        for u in [u.to_sparse()?, u.to_bitmap()?] {
            for indices in [&places, &any, &few, &held, &Vec::new()] {
                let expected = extract_vector(&reference, &indices[..]).eval()?;
                let t = extract_vector(&u, &indices[..]).eval()?;
                assert_eq!((t.len(), t.entries()?), (indices.len() as u64, expected.entries()?), "{n}, {most}");
            }
            let back = Indices::stride(n - 1, -1, n);
            assert_eq!(
                extract_vector(&u, back.clone()).eval()?.entries()?,
                extract_vector(&reference, back).eval()?.entries()?
            );
            let mut wrong = any.clone();
            wrong[0] = n;
            assert!(matches!(extract_vector(&u, &wrong[..]).eval(), Err(Error::IndexOutOfBounds { .. })));
        }
    }
    Ok(())
}
