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

/// Told apart on white, the first eight kinds of product.
const COLORS: [RGBColor; 8] = [
    OURS,
    RGBColor(200, 40, 30),
    RGBColor(0, 130, 80),
    RGBColor(150, 60, 170),
    RGBColor(120, 80, 20),
    RGBColor(90, 90, 90),
    RGBColor(230, 140, 0),
    RGBColor(0, 160, 200),
];

/// The powers of `base` around all of these, which are positive; a little more, that both have their labels.
fn powers(base: f64, values: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    let (low, high) = (values.clone().fold(f64::MAX, f64::min), values.fold(f64::MIN_POSITIVE, f64::max));
    let (low, high) = ((low / 1.1).log(base).floor(), (high * 1.1).log(base).ceil());
    0.99 * base.powf(low)..1.01 * base.powf(high.max(low + 1.0))
}

fn decimal(x: &f64) -> String {
    let digits = (-x.log10() - 1e-9).ceil().max(0.0);
    format!("{x:.0$}", digits as usize)
}

/// Powers of two.
fn speed(x: &f64) -> String {
    if *x >= 1.0 { format!("{x:.0}") } else { format!("1/{:.0}", 1.0 / x) }
}

/// A row a matrix, a point each for us and for cuSPARSE, side by side for every panel.
pub(super) fn by_matrix(panels: &[Panel], about: &str) -> Outcome<String> {
    let most = panels.iter().map(|p| p.rows.len()).max().unwrap_or(0) as u32;
    let mut svg = String::new();
    {
        let root =
            SVGBackend::with_string(&mut svg, (640 * panels.len() as u32, 110 + 16 * (most + 5))).into_drawing_area();
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
    let x = powers(10.0, rows.iter().flat_map(|r| [Some(r.1), r.2]).flatten());
    // The first row on top, below the legend.
    let last = rows.len() as i32 - 1;
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(46)
        .y_label_area_size(150)
        .build_cartesian_2d(x.log_scale(), -1..last + 5)?;
    let name = |y: &i32| rows.get((last - y) as usize).map(|r| r.0.clone()).unwrap_or_default();
    chart
        .configure_mesh()
        .x_desc(about)
        .x_label_formatter(&decimal)
        .y_labels(rows.len() + 6)
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
    legend(&mut chart, SeriesLabelPosition::UpperRight)
}

/// Speed-ups over cuSPARSE in ascending order, a line for every kind of product.
pub(super) fn distribution(groups: &[(String, Vec<f64>)]) -> Outcome<String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (860, 520)).into_drawing_area();
        root.fill(&WHITE)?;
        let y = powers(2.0, groups.iter().flat_map(|g| g.1.iter().copied()).chain([1.0]));
        let mut chart = ChartBuilder::on(&root)
            .caption("Times faster than cuSPARSE's best", ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(46)
            .y_label_area_size(60)
            .build_cartesian_2d(0.0..100.0, y.log_scale().base(2.0))?;
        chart
            .configure_mesh()
            .x_desc("% of the matrices, slowest first")
            .y_desc("speed-up")
            .x_label_formatter(&|x| format!("{x:.0}"))
            .y_label_formatter(&speed)
            .light_line_style(WHITE)
            .draw()?;
        chart.draw_series(LineSeries::new([(0.0, 1.0), (100.0, 1.0)], BLACK.stroke_width(2)))?;
        for (n, (name, speeds)) in groups.iter().enumerate() {
            let mut speeds = speeds.clone();
            speeds.sort_by(f64::total_cmp);
            let count = speeds.len() as f64;
            let mean = (speeds.iter().map(|s| s.ln()).sum::<f64>() / count).exp();
            let color = COLORS[n % COLORS.len()];
            let places: Vec<_> =
                speeds.iter().enumerate().map(|(i, s)| (100.0 * (i as f64 + 0.5) / count, *s)).collect();
            chart
                .draw_series(LineSeries::new(places, color.filled().stroke_width(2)).point_size(3))?
                .label(format!("{name}: {count} matrices, geometric mean {mean:.2}"))
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
        }
        legend(&mut chart, SeriesLabelPosition::LowerRight)?;
        root.present()?;
    }
    Ok(svg)
}

fn legend<'a, 'b: 'a, X, Y>(
    chart: &mut ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, Y>>,
    place: SeriesLabelPosition,
) -> Outcome<()>
where
    X: Ranged,
    Y: Ranged,
    Cartesian2d<X, Y>: CoordTranslate,
{
    let mut labels = chart.configure_series_labels();
    labels.position(place).background_style(WHITE.mix(0.85)).border_style(BLACK);
    Ok(labels.draw()?)
}
