//! Lists that operations make on their way, of formats that have none, where memory has no room for them.
#[path = "common/watched.rs"]
mod watched;

use oplus::prelude::*;
use watched::within;

/// What a full matrix of one value has no room for as a list is told by the operation that wanted it, whose name it has.
#[test]
fn lists_that_no_memory_holds_are_told_by_the_operation() {
    let n = (1u64 << 12) - 1;
    let a = Matrix::<i64>::full(n, n, 3).unwrap();
    let x = Vector::<i64>::build(n, &[(5, 7)]).unwrap();
    let told = |expected: &str, work: &dyn Fn() -> Result<()>| match within(16 << 20, work) {
        Err(Error::OutOfMemory { operation, device, needed, .. }) => {
            assert_eq!((operation, &device[..]), (expected, "host"));
            assert!(needed >= 4 * n * n, "{operation}: {needed}");
        }
        other => panic!("{expected}: {other:?}"),
    };
    let into = |write: fn(&mut Matrix<i64>, &Matrix<i64>) -> Result<()>| write(&mut a.clone(), &a);
    told("mxm", &|| mxm(&a, &a).eval().map(drop));
    told("mxm", &|| mxm(&a, &a).explain().map(drop));
    told("mxm", &|| mxm(&a, &a).plan().map(drop));
    told("mxm", &|| mxm(&a, &a).reduce(Plus).map(drop));
    told("triple_product", &|| triple_product(&a, &a, &a).eval().map(drop));
    told("into_full", &|| a.clone().into_full(0).map(drop));
    told("into_csr_parts", &|| a.clone().into_csr_parts().map(drop));
    told("mxv", &|| mxv(&a, &x).eval().map(drop));
    told("ewise_add", &|| ewise_add(&a, &a, Minus).apply(Abs).select(ValueLt, 3).eval().map(drop));
    told("apply", &|| into(|c, a| apply_index(a, RowIndex, 0).accumulate(Plus).into(c)));
    told("select", &|| tril(&a, 0).eval().map(drop));
    told("reduce_rows", &|| reduce_rows(&a.transposed(), Plus).eval().map(drop));
    told("extract", &|| extract(&a, [5, 3], ..).eval().map(drop));
    told("assign", &|| into(|c, a| assign(a, .., ..).mask(&a.structure().complement()).into(c)));
    told("sort", &|| sort(&a, Lt).map(drop));
    told("split", &|| split(&a, &[n], &[1, n - 1]).map(drop));
    told("resize", &|| into(|c, _| c.resize(5, 5)));
    told("concat", &|| concat(&[[&a, &a]]).map(drop));
    told("reshape", &|| reshape(&a, 1, n * n).map(drop));
    told("reshape_columns", &|| reshape_columns(&a, n * n, 1).map(drop));
    told("to_coo", &|| a.to_coo().map(drop));
    told("entries", &|| a.entries().map(drop));
    // An algorithm's operations are its own business.
    told("bfs", &|| algorithm::bfs(&a, 0, &Default::default()).map(drop));
    told("multi_source_bfs", &|| algorithm::multi_source_bfs(&a, &[0], &Default::default()).map(drop));
    told("sssp", &|| algorithm::sssp(&a, 0, &Default::default()).map(drop));
    told("apsp", &|| algorithm::apsp(&Matrix::<f64>::full(n, n, 3.0)?, &Default::default()).map(drop));
    told("triangle_count", &|| algorithm::triangle_count(&a, &Default::default()).map(drop));
    told("undirected", &|| algorithm::undirected(&a).map(drop));
    told("without_loops", &|| algorithm::without_loops(&a).map(drop));
    assert_eq!(reduce(&a, Plus).unwrap(), (3 * n * n) as i64);
}
