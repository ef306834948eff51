//! Figures as SVG text.
use crate::Outcome;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::ops::Range;

/// One kind of product: matrices with a figure of ours and, where there is one, cuSPARSE's.
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) rows: Vec<(String, f64, Option<f64>)>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const OURS: RGBColor = RGBColor(0, 90, 181);
const THEIRS: RGBColor = RGBColor(220, 90, 30);

/// The decades around all of these, which are positive.
fn decades(values: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    let (low, high) = (values.clone().fold(f64::MAX, f64::min), values.fold(f64::MIN_POSITIVE, f64::max));
    let (low, high) = ((low / 1.2).log10().floor(), (high * 1.2).log10().ceil());
    10f64.powf(low)..10f64.powf(high.max(low + 1.0))
}

fn decimal(x: &f64) -> String {
    if *x >= 1.0 { format!("{x:.0}") } else { format!("{x:.1e}").replace(".0e", "e") }
}

/// A row a matrix, a point each for us and for cuSPARSE, side by side for every panel.
pub(super) fn by_matrix(panels: &[Panel], about: &str) -> Outcome<String> {
    let most = panels.iter().map(|p| p.rows.len()).max().unwrap_or(0) as u32;
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (640 * panels.len() as u32, 120 + 16 * most)).into_drawing_area();
        root.fill(&WHITE)?;
        for (area, panel) in root.split_evenly((1, panels.len())).iter().zip(panels) {
            one(area, panel, about)?;
        }
        root.present()?;
    }
    Ok(svg)
}

fn one(area: &Area, panel: &Panel, about: &str) -> Outcome<()> {
    let rows = &panel.rows;
    let x = decades(rows.iter().flat_map(|r| [Some(r.1), r.2]).flatten());
    // The first row on top.
    let last = rows.len() as i32 - 1;
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(46)
        .y_label_area_size(150)
        .build_cartesian_2d(x.log_scale(), -1..last + 2)?;
    let name = |y: &i32| rows.get((last - y) as usize).map(|r| r.0.clone()).unwrap_or_default();
    chart
        .configure_mesh()
        .x_desc(about)
        .x_label_formatter(&decimal)
        .y_labels(rows.len() + 3)
        .y_label_formatter(&name)
        .y_label_style(("sans-serif", 11))
        .light_line_style(WHITE)
        .draw()?;
    for (name, color, theirs) in [("this library", OURS, false), ("cuSPARSE", THEIRS, true)] {
        let places =
            rows.iter().enumerate().filter_map(|(i, r)| Some((if theirs { r.2? } else { r.1 }, last - i as i32)));
        chart
            .draw_series(places.map(|at| Circle::new(at, 4, color.filled())))?
            .label(name)
            .legend(move |(x, y)| Circle::new((x + 8, y), 4, color.filled()));
    }
    legend(&mut chart)
}

/// Speed-ups over cuSPARSE in ascending order, a line for every kind of product.
pub(super) fn distribution(groups: &[(String, Vec<f64>)]) -> Outcome<String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (860, 520)).into_drawing_area();
        root.fill(&WHITE)?;
        let y = decades(groups.iter().flat_map(|g| g.1.iter().copied()).chain([1.0]));
        let mut chart = ChartBuilder::on(&root)
            .caption("Times faster than cuSPARSE's best", ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(46)
            .y_label_area_size(60)
            .build_cartesian_2d(0.0..100.0, y.log_scale())?;
        chart
            .configure_mesh()
            .x_desc("% of the matrices, slowest first")
            .y_desc("speed-up")
            .y_label_formatter(&decimal)
            .draw()?;
        chart.draw_series(LineSeries::new([(0.0, 1.0), (100.0, 1.0)], BLACK.stroke_width(2)))?;
        for (n, (name, speeds)) in groups.iter().enumerate() {
            let mut speeds = speeds.clone();
            speeds.sort_by(f64::total_cmp);
            let count = speeds.len() as f64;
            let mean = (speeds.iter().map(|s| s.ln()).sum::<f64>() / count).exp();
            let color = Palette99::pick(n).to_rgba();
            let places: Vec<_> =
                speeds.iter().enumerate().map(|(i, s)| (100.0 * (i as f64 + 0.5) / count, *s)).collect();
            chart
                .draw_series(LineSeries::new(places, color.filled().stroke_width(2)).point_size(3))?
                .label(format!("{name}: {count} matrices, mean {mean:.2}"))
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
        }
        legend(&mut chart)?;
        root.present()?;
    }
    Ok(svg)
}

fn legend<'a, 'b: 'a, X, Y>(chart: &mut ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, Y>>) -> Outcome<()>
where
    X: Ranged,
    Y: Ranged,
    Cartesian2d<X, Y>: CoordTranslate,
{
    let mut labels = chart.configure_series_labels();
    labels.position(SeriesLabelPosition::LowerRight).background_style(WHITE.mix(0.85)).border_style(BLACK);
    Ok(labels.draw()?)
}
