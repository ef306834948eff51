//! One kernel of a template without the others: what nobody asked for need not be compiled.
use crate::catalog::Template;

/// How a kernel begins in a template; it ends with the first line after that which is a closing brace and nothing else.
const BEGIN: &str = "extern \"C\" __global__ ";

/// The name of the kernel that the text begins with.
fn name(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix(BEGIN)?.trim_start().strip_prefix("void")?.trim_start();
    if let Some(bounds) = rest.strip_prefix("__launch_bounds__") {
        let mut depth = 0;
        let close = |c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        };
        rest = bounds[bounds.find(close)? + 1..].trim_start();
    }
    rest.split('(').next()
}

impl Template {
    /// Whether a source has the kernel alone that is asked for: where a product or an operation needs few of many.
    #[must_use]
    pub const fn apart(self) -> bool {
        matches!(
            self,
            Self::Primitives
                | Self::Structure
                | Self::Entries
                | Self::Columns
                | Self::Map
                | Self::Reduce
                | Self::Vector
                | Self::SegmentedMerge
                | Self::SpgemmSlices
                | Self::SpgemmAnalyze
                | Self::SpgemmMasked
                | Self::Spmspv
        )
    }
}

/// The text with empty lines in place of all other kernels, so that lines keep their numbers. `None`: it is not there.
pub(crate) fn alone(text: &str, wanted: &str) -> Option<String> {
    let (mut out, mut at, mut found, mut dropping) = (String::with_capacity(text.len()), 0, false, false);
    for line in text.split_inclusive('\n') {
        if line.starts_with(BEGIN) {
            dropping = name(&text[at..])? != wanted;
            found |= !dropping;
        }
        out.push_str(if dropping { "\n" } else { line });
        dropping &= line.trim_end() != "}";
        at += line.len();
    }
    found.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kernel_alone() {
        for template in Template::ALL.iter().filter(|t| t.apart()) {
            let text = template.text();
            let names: Vec<_> = text.match_indices(BEGIN).filter_map(|(at, _)| name(&text[at..])).collect();
            assert!(names.len() > 1, "{}", template.name());
            for wanted in &names {
                let text = alone(template.text(), wanted).unwrap();
                assert_eq!(text.matches(BEGIN).count(), 1, "{wanted}");
                assert_eq!(text.lines().count(), template.text().lines().count(), "{wanted}");
                assert_eq!(text.matches('{').count(), text.matches('}').count(), "{wanted}");
                assert!(text.contains(wanted), "{wanted}");
            }
            assert_eq!(alone(template.text(), "nothing"), None);
        }
    }
}
