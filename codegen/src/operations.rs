//! The templates besides products over scalars of every size class and operators that read all, some or none of their
//! inputs: what tests compile.
use crate::catalog::Template;
use crate::golden::built_in;
use crate::literal;
use crate::spec::{FunctionText, Spec};
use crate::text::{Atomic, OperatorText, ScalarText, Terminal};

pub(crate) const WIDE: ScalarText = ScalarText {
    name: "Wide",
    definition: "struct Wide { u64 a; u64 b; u64 c; u64 d; u64 e; u64 f; u64 g; u64 h; u64 i; };",
    size: 72,
};
const PAIR: ScalarText = ScalarText {
    name: "Pair",
    definition: "struct Pair { f64 x; u64 y; static __device__ Pair make(f64 x, u64 y) { return {x, y}; } };",
    size: 16,
};
pub(crate) const BYTES16: ScalarText =
    ScalarText { name: "Bytes16", definition: "struct __align__(16) Bytes16 { u64 low; u64 high; };", size: 16 };

fn op(inputs: Vec<ScalarText>, output: ScalarText, names: &'static [&'static str], text: &'static str) -> FunctionText {
    FunctionText::new("op", inputs, output, OperatorText { parameters: names, expression: text })
}

/// Folds of values of one type: text, and an identity to make it a monoid.
fn folds() -> Vec<(ScalarText, OperatorText, String)> {
    let xy: &[&str] = &["x", "y"];
    let text = |expression| OperatorText { parameters: xy, expression };
    let pair = "select(lt(x.x, y.x), x, Pair::make(y.x, add(x.y, y.y)))";
    vec![
        (built_in("f64", 8), text("add(x, y)"), literal::f64(0.0)),
        (built_in("f32", 4), text("min(x, y)"), literal::f32(f32::INFINITY)),
        (built_in("u16", 2), text("add(x, y)"), literal::u16(0)),
        (built_in("bool", 1), text("x || y"), literal::bool(false)),
        (PAIR, text(pair), "Pair::make(infinity<f64>(), zero<u64>())".to_string()),
        (WIDE, text("x"), "Wide()".to_string()),
    ]
}

/// Chains with all steps, with none but a join, with values for what is missing, and of large values.
fn chains(architecture: u32) -> Vec<(String, Spec)> {
    let (place, boolean) = (built_in("i64", 8), built_in("bool", 1));
    let chain = |scalar: ScalarText, text: &'static str, numbers: (u64, u64), keeps: bool| {
        let named = |name, f: FunctionText| FunctionText { name, ..f };
        let join = || op(vec![scalar, scalar], scalar, &["x", "y"], text);
        let map = || op(vec![scalar, place, place, scalar], scalar, &["x", "_", "_", "_"], "x");
        let keep = op(vec![scalar, place, place, place], boolean, &["_", "i", "j", "y"], "sub(j, i) <= y");
        let spec = Spec::new(Template::Chain, architecture).function(named("join", join()));
        let spec = spec.function(named("map", map())).function(named("again", join()));
        let spec = spec.function(named("map_again", map())).function(named("keep", keep));
        spec.number("kind", numbers.0).number("again", numbers.1).flag("keeps", keeps)
    };
    let all = [
        ("union", chain(built_in("f64", 8), "add(x, y)", (0, 1), true)),
        ("intersection", chain(built_in("f32", 4), "mul(x, y)", (1, 0), false)),
        ("filled", chain(built_in("u16", 2), "sub(x, y)", (2, 2), true)),
        ("wide", chain(WIDE, "x", (0, 3), false)),
    ];
    all.map(|(name, spec)| (format!("chain-{name}"), spec)).into()
}

/// Lengths, and lengths with what comes with them.
fn closures(architecture: u32) -> Vec<(String, Spec)> {
    let closure = |scalar: ScalarText, join: &'static str, better: &'static str| {
        let named = |name, output, text| {
            let parameters = ["x", "y"].as_slice();
            FunctionText::new(name, vec![scalar, scalar], output, OperatorText { parameters, expression: text })
        };
        let spec = Spec::new(Template::Closure, architecture).function(named("join", scalar, join));
        (format!("closure-{}", scalar.name), spec.function(named("better", built_in("bool", 1), better)))
    };
    vec![
        closure(built_in("f64", 8), "add(x, y)", "lt(x, y)"),
        closure(built_in("i32", 4), "add_sat(x, y)", "lt(x, y)"),
        closure(PAIR, "Pair::make(add(x.x, y.x), x.y)", "lt(x.x, y.x) || (eq(x.x, y.x) && lt(x.y, y.y))"),
    ]
}

/// Every template that has no semiring, by name.
#[must_use]
pub fn operation_variants(architecture: u32) -> Vec<(String, Spec)> {
    let new = |template| Spec::new(template, architecture);
    let mut all = vec![
        ("structure".to_string(), new(Template::Structure)),
        ("column_sets".to_string(), new(Template::ColumnSets)),
        ("forms".to_string(), new(Template::Forms)),
        ("spgemm_bits".to_string(), new(Template::SpgemmBits)),
        ("spgemm_heaviest".to_string(), new(Template::SpgemmHeaviest)),
        ("primitives".to_string(), new(Template::Primitives)),
        ("columns".to_string(), new(Template::Columns)),
        ("row_tiles".to_string(), new(Template::RowTiles)),
        ("partition".to_string(), new(Template::Partition)),
        ("partition-small".to_string(), new(Template::Partition).number("threads", 128)),
    ];
    for template in [Template::Cells, Template::Diagonals] {
        // Positions alone.
        let spec = new(template).scalar("V", built_in("u8", 1)).flag("valued", false);
        all.push((format!("{}-bits", template.name()), spec));
    }
    for kind in 0..4 {
        all.push((format!("merge_count-{kind}"), new(Template::MergeCount).number("kind", kind)));
    }
    for kind in [2, 3] {
        for (complement, replace) in [(false, false), (false, true), (true, false), (true, true)] {
            let spec = new(Template::MergeCount).number("kind", kind).flag("masked", true);
            let name = format!("merge_count-{kind}-{complement}-{replace}");
            let spec = spec.flag("complement", complement).flag("replace", replace);
            all.push((name.clone() + "-region", spec.clone().flag("region", true)));
            all.push((name, spec));
        }
    }
    let movable = [built_in("u8", 1), built_in("u16", 2), built_in("u32", 4), built_in("u64", 8), BYTES16, WIDE];
    for scalar in movable {
        for (template, threads) in
            [(Template::Transpose, [128, 512].as_slice()), (Template::TransposeColumns, [128, 256, 512].as_slice())]
        {
            all.extend(threads.iter().map(|threads| {
                let name = format!("{}-{threads}-{}", template.name(), scalar.name);
                (name, new(template).scalar("V", scalar).number("threads", *threads))
            }));
        }
        all.push((format!("entries-{}", scalar.name), new(Template::Entries).scalar("V", scalar)));
        for template in [Template::Cells, Template::Diagonals] {
            let spec = new(template).scalar("V", scalar).flag("valued", true);
            all.push((format!("{}-{}", template.name(), scalar.name), spec));
        }
        all.push((format!("vector-{}", scalar.name), new(Template::Vector).scalar("V", scalar)));
        all.push((format!("bits_row-{}", scalar.name), new(Template::BitsRow).scalar("V", scalar)));
        let second = op(vec![scalar, scalar], scalar, &["_", "y"], "y");
        let spec = new(Template::MergeWrite).function(second).number("kind", 2).flag("masked", true);
        all.push((format!("merge_write-2-{}", scalar.name), spec));
        let first = op(vec![scalar, built_in("u8", 1)], scalar, &["x", "_"], "x");
        for kind in [5, 6] {
            let spec = new(Template::MergeRow).function(first.clone()).number("kind", kind);
            all.push((format!("merge_row-{kind}-{}", scalar.name), spec));
        }
    }
    for (scalar, text, identity) in folds() {
        let fold = FunctionText::new("op", vec![scalar, scalar], scalar, text);
        for kind in [0, 1, 3, 4] {
            let spec = new(Template::MergeWrite).function(fold.clone()).number("kind", kind).flag("masked", kind == 3);
            all.push((format!("merge_write-{kind}-{}", scalar.name), spec));
            if kind != 4 {
                let spec = new(Template::MergeRow).function(fold.clone()).number("kind", kind);
                all.push((format!("merge_row-{kind}-{}", scalar.name), spec));
            }
        }
        let (lower, boolean) = (if scalar.size > 8 { "false" } else { "lt(x, y)" }, built_in("bool", 1));
        let before = op(vec![scalar, scalar], boolean, &["x", "y"], lower);
        all.push((format!("sort_rows-{}", scalar.name), new(Template::SortRows).function(before)));
        all.push((format!("kronecker-{}", scalar.name), new(Template::Kronecker).function(fold.clone())));
        for (name, rows) in [("rows", true), ("columns", false)] {
            let spec = new(Template::Scale).function(fold.clone()).flag("rows", rows);
            all.push((format!("scale-{name}-{}", scalar.name), spec));
        }
        for (name, left_one, right_one) in [("all", false, false), ("left", true, false), ("right", false, true)] {
            let of = |template| new(template).function(fold.clone());
            let specs = [
                ("pair", of(Template::Pair)),
                ("merge_row", of(Template::MergeRow).number("kind", 4)),
                ("cells_union", of(Template::CellsUnion)),
                ("cells_filled", of(Template::CellsUnion).flag("filled", true)),
                ("cells_write", of(Template::CellsWrite)),
                ("cells_write-region", of(Template::CellsWrite).flag("region", true)),
            ];
            for (template, spec) in specs {
                let spec = spec.flag("left_one", left_one).flag("right_one", right_one);
                all.push((format!("{template}-{name}-{}", scalar.name), spec));
            }
        }
        for (name, masked, complement, one, rows) in [
            ("all", false, false, false, false),
            ("one", false, false, true, false),
            ("mask", true, false, true, false),
            ("open", true, true, false, false),
            ("rows", false, false, true, true),
            ("rows-mask", true, false, false, true),
            ("rows-open", true, true, false, true),
            ("cells-mask", true, false, false, true),
        ] {
            let spec = new(Template::BitmapUpdate).function(fold.clone()).flag("one", one).flag("rows", rows);
            let spec = spec.flag("cells", name.starts_with("cells"));
            let spec = spec.flag("masked", masked).flag("complement", complement);
            all.push((format!("bitmap_update-{name}-{}", scalar.name), spec));
        }
        for (name, left, one) in [("left", true, false), ("right", false, false), ("one", true, true)] {
            let spec = new(Template::BitmapMeet).function(fold.clone()).flag("dense_left", left).flag("one", one);
            all.push((format!("bitmap_meet-{name}-{}", scalar.name), spec));
        }
        all.push((format!("build-{}", scalar.name), new(Template::Build).function(fold.clone())));
        let monoid = fold.monoid(identity, Terminal::Never, Atomic::None);
        all.push((format!("reduce-{}", scalar.name), new(Template::Reduce).function(monoid)));
    }
    let (place, number, byte) = (built_in("i64", 8), built_in("f64", 8), built_in("u8", 1));
    let unary: &[&str] = &["x", "_", "_", "_"];
    let maps = [
        ("negate", op(vec![number, place, place, number], number, unary, "neg(x)"), [true, false, false, false]),
        (
            "row",
            op(vec![WIDE, place, place, place], place, &["_", "i", "_", "y"], "add(i, y)"),
            [false, true, false, true],
        ),
        (
            "all",
            op(vec![PAIR, place, place, PAIR], number, &["x", "i", "j", "y"], "select(i < j, x.x, y.x)"),
            [true; 4],
        ),
        ("wide", op(vec![WIDE, place, place, place], WIDE, unary, "x"), [true, false, false, false]),
        // Taken names, and what C++ has another meaning for.
        (
            "taken",
            op(
                vec![byte, place, place, byte],
                byte,
                &["new", "_", "_", "u8"],
                "bit_or(!new, select(!(u8 < new), 1u8, !u8))",
            ),
            [true, false, false, true],
        ),
    ];
    let predicates = [
        (
            "triangle",
            op(vec![number, place, place, place], built_in("bool", 1), &["_", "i", "j", "y"], "sub(j, i) <= y"),
            [false, true, true, true],
        ),
        (
            "truth",
            op(vec![number, place, place, number], built_in("bool", 1), unary, "truth(x)"),
            [true, false, false, false],
        ),
    ];
    let flagged = |select: u64, f: FunctionText, reads: [bool; 4]| {
        let spec = new(Template::Map).function(f).number("select", select);
        ["value", "row", "column", "thunk"].iter().zip(reads).fold(spec, |s, (name, read)| s.flag(name, read))
    };
    all.extend(chains(architecture));
    all.extend(closures(architecture));
    for (name, f, reads) in [&maps[1], &maps[2]] {
        all.push((format!("map-grid-{name}"), flagged(0, f.clone(), *reads).flag("grid", true)));
    }
    let (_, triangle, reads) = &predicates[0];
    all.push(("map-grid-triangle".to_string(), flagged(1, triangle.clone(), *reads).flag("grid", true)));
    all.extend(maps.map(|(name, f, reads)| (format!("map-{name}"), flagged(0, f, reads))));
    all.extend(predicates.map(|(name, f, reads)| (format!("map-{name}"), flagged(1, f, reads))));
    all
}
