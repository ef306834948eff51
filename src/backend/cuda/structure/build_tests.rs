//! What of `build` no public function asks of the device: refusing duplicates there.
#[path = "../../../../tests/common/emulator.rs"]
mod emulator;

use crate::algebra::Second;
use crate::backend::{Backend, cuda::Cuda, reference::Reference};

#[test]
fn duplicates_are_refused_at_the_least_position_of_a_second_entry() {
    if emulator::cuda().is_none() {
        return;
    }
    let cuda = Cuda::open(0).unwrap();
    let (mut rows, mut columns): (Vec<u32>, Vec<u32>) = ((0..900).map(|e| e * 7 % 30).collect(), vec![]);
    columns.extend((0..900).map(|e| e / 30));
    let check = |rows: &[u32], columns: &[u32]| {
        let values = vec![1u8; rows.len()];
        let on_cuda = cuda.build::<u8, Second>((30, 40), rows, columns, &values, true).unwrap();
        let expected = Reference.build::<u8, Second>((30, 40), rows, columns, &values, true).unwrap();
        let on_cuda = on_cuda.map(|a| a.download().unwrap());
        assert_eq!(on_cuda.as_ref().err(), expected.as_ref().err());
        if let (Ok(a), Ok(b)) = (&on_cuda, &expected) {
            assert_eq!((&a.pattern, &a.values), (&b.pattern, &b.values));
        }
        expected.err()
    };
    assert_eq!(check(&rows, &columns), None);
    for (from, to) in [(3, 700), (600, 650), (0, 899), (699, 700)] {
        (rows[to], columns[to]) = (rows[from], columns[from]);
        assert!(check(&rows, &columns).is_some());
    }
    assert_eq!(check(&rows, &columns), Some(650));
    // Sorted triplets take no sort.
    assert_eq!(check(&[0, 0, 1, 1, 1, 2], &[4, 5, 0, 0, 0, 1]), Some(3));
    assert_eq!(check(&[], &[]), None);
}
