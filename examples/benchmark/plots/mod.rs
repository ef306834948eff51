//! Figures from the JSON lines that a benchmark wrote: read here, drawn in `draw`.
mod draw;

use crate::common::say;
use crate::{Outcome, named};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One measured matrix; of a pair of figures the first is ours, the other cuSPARSE's, where it ran.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) matrix: String,
    /// What the matrices of a figure are sorted by.
    size: f64,
    gflops: Option<(f64, Option<f64>)>,
    /// Percent of the traffic bound.
    share: (f64, Option<f64>),
    faster: Option<f64>,
}

/// The points of one kind of product, or of one operation.
pub(crate) type Groups = BTreeMap<String, Vec<Point>>;

/// Writes the figures of all files together and says where they are.
pub(crate) fn write(files: &[PathBuf], into: &Path) -> Outcome<()> {
    let mut groups = Groups::new();
    for file in files {
        let text = std::fs::read_to_string(file).map_err(|e| named(file, e))?;
        read(&text, &mut groups).map_err(|e| named(file, e))?;
    }
    if groups.is_empty() {
        return Err("neither products nor operations are in these files".into());
    }
    groups.values_mut().for_each(|g| g.sort_by(|a, b| a.size.total_cmp(&b.size).then(a.matrix.cmp(&b.matrix))));
    std::fs::create_dir_all(into).map_err(|e| named(into, e))?;
    let mut said = String::new();
    for (name, svg) in figures(&groups)? {
        let path = into.join(name);
        std::fs::write(&path, svg).map_err(|e| named(&path, e))?;
        said += &format!("{}\n", path.display());
    }
    Ok(say(said)?)
}

/// The figures that there are points for, by file name.
pub(crate) fn figures(groups: &Groups) -> Outcome<Vec<(&'static str, String)>> {
    let rows = |of: &dyn Fn(&Point) -> Option<(f64, Option<f64>)>| -> Vec<draw::Panel> {
        let panel = |(title, points): (&String, &Vec<Point>)| {
            let row = |p: &Point| of(p).map(|(ours, theirs)| (p.matrix.clone(), ours, theirs));
            draw::Panel { title: title.clone(), rows: points.iter().filter_map(row).collect() }
        };
        groups.iter().map(panel).filter(|p| !p.rows.is_empty()).collect()
    };
    let speed = |points: &Vec<Point>| points.iter().filter_map(|p| p.faster).collect::<Vec<f64>>();
    let speeds: Vec<_> = groups.iter().map(|(n, p)| (n.clone(), speed(p))).filter(|(_, s)| !s.is_empty()).collect();
    let mut all = Vec::new();
    let (gflops, share) = (rows(&|p| p.gflops), rows(&|p| Some(p.share)));
    if !gflops.is_empty() {
        all.push(("gflops.svg", draw::by_matrix(&gflops, "GFLOP/s (2 · products / time)")?));
    }
    if !share.is_empty() {
        all.push((
            "traffic.svg",
            draw::by_matrix(&share, "% of the speed at which operands and result could be moved")?,
        ));
    }
    if !speeds.is_empty() {
        all.push(("speedup.svg", draw::distribution(&speeds)?));
    }
    Ok(all)
}

/// Adds the points of one file; lines that are neither products nor operations are passed over.
pub(crate) fn read(text: &str, groups: &mut Groups) -> Outcome<()> {
    for (n, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let point = serde_json::from_str(line).map_err(|e| e.to_string()).and_then(|object| point(&object));
        if let Some((group, point)) = point.map_err(|e| format!("line {}: {e}", n + 1))? {
            groups.entry(group).or_default().push(point);
        }
    }
    Ok(())
}

fn point(object: &Value) -> Result<Option<(String, Point)>, String> {
    let text = |key: &str| object[key].as_str().ok_or_else(|| format!("no text {key:?}"));
    let number = |key: &str| {
        let positive = object[key].as_f64().filter(|x| *x > 0.0);
        positive.ok_or_else(|| format!("{key:?} is no positive number"))
    };
    let mode = text("mode")?;
    let (group, size) = match mode {
        "product" => {
            let name = match text("product")? {
                "a2" => "A²",
                "ap" => "A·P",
                "ptap" => "Pᵀ·A·P",
                other => other,
            };
            (format!("C = {name}, {}", text("type")?), "products")
        }
        "operation" => (format!("{}, {}", text("operation")?, text("type")?), "nnz"),
        _ => return Ok(None),
    };
    // A matrix without entries is on no logarithmic axis.
    if object[size] == 0 {
        return Ok(None);
    }
    let (size, ms) = (number(size)?, number("ms")?);
    let theirs = object["cusparse_ms"].as_f64().filter(|x| *x > 0.0);
    let share = 100.0 * number("bound")?;
    Ok(Some((
        group,
        Point {
            matrix: text("matrix")?.into(),
            size,
            gflops: (mode == "product").then(|| (2e-6 * size / ms, theirs.map(|t| 2e-6 * size / t))),
            share: (share, theirs.map(|t| share * ms / t)),
            faster: theirs.map(|t| t / ms),
        },
    )))
}
