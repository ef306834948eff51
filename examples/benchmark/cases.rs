//! The matrices a benchmark runs on, by name.
use crate::drawn::Drawn;
use oplus::generate::*;
use oplus::prelude::*;
use std::path::Path;

type Make = Box<dyn Fn() -> Result<Coo<f64>>>;

/// A name and how to make the matrix.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) make: Make,
}

fn case(name: &str, make: impl Fn() -> Result<Coo<f64>> + 'static) -> Case {
    Case { name: name.into(), make: Box::new(make) }
}

/// The generated ones.
pub(crate) fn generated() -> Vec<Case> {
    let graph = Rmat::default();
    let mut all = vec![
        case("p5_64", || stencil_5(64, 64)),
        case("rmat10_8", move || rmat(10, 8, graph, 1)),
        case("p5_1024", || stencil_5(1024, 1024)),
        case("p9_1024", || stencil_9(1024, 1024)),
        case("p7_101", || stencil_7(101, 101, 101)),
        case("p27_101", || stencil_27(101, 101, 101)),
        case("rmat16_8", move || rmat(16, 8, graph, 1)),
        case("rmat17_8", move || rmat(17, 8, graph, 1)),
        case("rmat18_8", move || rmat(18, 8, graph, 1)),
        case("uni_1m_d4", || uniform(1_000_000, 1_000_000, 4, 1)),
        case("uni_500k_d8", || uniform(500_000, 500_000, 8, 1)),
        case("uni_200k_d16", || uniform(200_000, 200_000, 16, 1)),
        case("hub_200k", || hub(200_000, 4, 40, 20_000, 1)),
    ];
    for (n, half) in [(100_000, 15), (60_000, 31), (30_000, 63), (20_000, 111)] {
        all.push(case(&format!("band{half}"), move || band(n, half, 1)));
        all.push(case(&format!("band{half}_perm"), move || permuted(band(n, half, 1)?, 2)));
    }
    all
}

/// So many matrices drawn at random, of seeds from `seed` on.
pub(crate) fn drawn(count: u64, seed: u64) -> Vec<Case> {
    let case = |drawn: Drawn| Case { name: drawn.name(), make: Box::new(move || drawn.make()) };
    (0..count).map(|n| case(Drawn::new(seed.wrapping_add(n)))).collect()
}

/// Every square Matrix Market file of a folder, by name.
pub(crate) fn files(folder: &Path) -> std::io::Result<Vec<Case>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let file = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let Some((name, _)) = file.split_once(".mtx") else { continue };
        let (name, path) = (name.to_string(), path.clone());
        all.push(Case { name, make: Box::new(move || oplus::io::matrix_market::read(&path)) });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}
