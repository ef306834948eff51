//! Chains that begin with a product, an apply, a select or sums of rows.
#[path = "common/follow.rs"]
mod follow;

use oplus::prelude::*;

#[test]
fn is_what_the_steps_make() {
    [Device::Cpu, Device::Reference].iter().for_each(follow::is_what_the_steps_make);
}
#[test]
fn masks_mean_what_stands_where() {
    [Device::Cpu, Device::Reference].iter().for_each(follow::masks_mean_what_stands_where);
}
#[test]
fn errors_are_those_of_the_operations() {
    follow::errors_are_those_of_the_operations(&Device::Cpu);
}

/// A graph of any label: nothing is asked of it.
fn inverse_degrees<T: Scalar, S>(graph: &Matrix<T, S>) -> Result<Vector<f64, S>> {
    let degrees = count_rows(graph).apply(Cast::<f64>::default()).apply(Inverse).eval()?;
    let largest = reduce_rows(&diag(&degrees, 0).eval()?, Max).eval()?;
    assert_eq!(argmax_rows(&diag(&degrees, 0).eval()?).eval()?.nvals(), largest.nvals());
    Ok(largest)
}

#[test]
fn labels_are_free() {
    struct NoSemiring<'a>(#[allow(dead_code)] &'a str);
    let graph: Matrix<bool> = Matrix::build(3, 3, &[(0, 1, true), (0, 2, true), (2, 0, true)]).unwrap();
    let found = inverse_degrees(&graph.over::<NoSemiring<'_>>()).unwrap();
    assert_eq!(found.entries().unwrap(), [(0, 0.5), (2, 1.0)]);
}

#[test]
fn indices_are_what_a_vector_says() {
    let parent: Vector<u64> = Vector::build(6, &[(0, 0), (1, 0), (2, 1), (4, 5)]).unwrap();
    for parent in [parent.clone(), parent.to_bitmap().unwrap()] {
        let above = extract_vector(&parent, Indices::values(&parent)).eval().unwrap();
        // Of 0, 0, 1, 5, the values in the order of indices.
        assert_eq!((above.len(), above.entries().unwrap()), (4, vec![(0, 0), (1, 0), (2, 0)]));
        let with = extract_vector(&parent, Indices::positions(&parent)).eval().unwrap();
        assert_eq!(with.entries().unwrap(), [(0, 0), (1, 0), (2, 1), (3, 5)]);
    }
    let far: Vector<u64> = Vector::build(1 << 40, &[(7, 3), (1 << 39, 1)]).unwrap();
    let mut c: Vector<i32> = Vector::new(1 << 40).unwrap();
    assign_scalar_vector(5, Indices::positions(&far)).into(&mut c).unwrap();
    assert_eq!(c.entries().unwrap(), [(7, 5), (1 << 39, 5)]);
    let outside: Vector<u64> = Vector::build(2, &[(0, 1), (1, 9)]).unwrap();
    let told = extract_vector(&parent, Indices::values(&outside)).eval().unwrap_err();
    assert!(matches!(told, Error::IndexOutOfBounds { position: Some(1), index: 9, bound: 6, .. }), "{told}");
}
