//! Columns are taken from where they are stored, and are the same as from rows.
use oplus::generate::Random;
use oplus::prelude::*;

#[test]
fn columns_of_every_format_are_those_of_rows() -> Result<()> {
    let mut random = Random::new(11, 0);
    for (m, n, far) in [(40, 60, 1), (300, 30, 1), (7, 200, 1), (50, 40, 1 << 40)] {
        for iso in [false, true] {
            let mut cells = std::collections::BTreeMap::new();
            for _ in 0..4 * m {
                let at = (random.below(m) * far, random.below(n) * far);
                cells.insert(at, if iso { 5 } else { random.below(100) as i64 });
            }
            let entries: Vec<_> = cells.iter().map(|((i, j), v)| (*i, *j, *v)).collect();
            let rows: Matrix<i64> = Matrix::build(m * far, n * far, &entries)?;
            let rows = if iso { rows.with_value(5)? } else { rows };
            // One that keeps its transpose.
            let kept = rows.clone();
            (0..3).try_for_each(|_| transpose(&kept).eval().map(drop))?;
            for a in [rows.to_format(Format::Csc)?, kept] {
                for _ in 0..4 {
                    let j = random.below(n) * far;
                    let column: Vec<_> = cells.iter().filter(|e| e.0.1 == j).map(|e| (e.0.0, *e.1)).collect();
                    assert_eq!(extract_column(&a, .., j).eval()?.entries()?, column);
                    assert_eq!(extract_row(&a.transposed(), j, ..).eval()?.entries()?, column);
                    let few = [j, 0, (n - 1) * far];
                    let some = extract(&rows, .., few).eval()?;
                    assert_eq!(extract(&a, .., few).eval()?.entries()?, some.entries()?);
                    let turned = extract(&a.transposed(), few, ..).eval()?;
                    assert_eq!(turned.entries()?, transpose(&some).eval()?.entries()?);
                    assert_eq!(extract_rows(&a.transposed(), few).eval()?.entries()?, turned.entries()?);
                    assert_eq!((turned.nrows(), turned.ncols()), (3, m * far));
                }
            }
        }
    }
    Ok(())
}
