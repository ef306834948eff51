//! One kernel of a template without the others: what nobody asked for need not be compiled.
use crate::catalog::Template;
use crate::error::Error;
use crate::spec::Spec;

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
                | Self::ColumnSets
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

/// The macro that the text begins with the definition of, and what its kernel is called before the argument.
fn family(text: &str) -> Option<(&str, &str)> {
    let (head, rest) = text.strip_prefix("#define ")?.split_once('(')?;
    let (argument, rest) = rest.split_once(')')?;
    // It goes on as long as lines end so.
    let last = rest.lines().position(|line| !line.ends_with('\\'))?;
    let body: usize = rest.split_inclusive('\n').take(last + 1).map(str::len).sum();
    let body = rest[..body].split_once("__global__")?.1;
    let before = body[..body.find(&format!("##{argument}("))?].trim_end();
    let word = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    Some((head, &before[word..]))
}

impl Template {
    /// The names of its kernels, in the order of the text.
    #[must_use]
    pub fn kernel_names(self) -> Vec<String> {
        let text = self.text();
        let (mut names, mut families, mut at) = (Vec::new(), Vec::new(), 0);
        for line in text.split_inclusive('\n') {
            let made = || {
                let (head, rest) = line.split_once('(')?;
                let (_, name) = families.iter().find(|(family, _)| *family == head)?;
                Some(format!("{name}{}", rest.split_once(')')?.0))
            };
            if line.starts_with(BEGIN) {
                names.extend(name(&text[at..]).map(str::to_string));
            } else {
                names.extend(made());
            }
            families.extend(family(&text[at..]));
            at += line.len();
        }
        names
    }
}

impl Spec {
    /// With the kernel as a product or an operation has it compiled: alone where kernels are taken one by one, else with others.
    ///
    /// # Errors
    /// When the template has no such kernel; the error names those that it has.
    pub fn taken(self, kernel: &str) -> Result<Spec, Error> {
        let template = self.template;
        let kernels = template.kernel_names();
        if !kernels.iter().any(|name| name == kernel) {
            let what = format!("kernel `{kernel}`: it has {}", kernels.join(", "));
            return Err(Error::Unknown { template: template.name(), what });
        }
        if template.apart() {
            return Ok(self.only(kernel));
        }
        match template.numbers().iter().any(|number| number.0 == "kernels") {
            true => Ok(self.number("kernels", 1 << group(template, kernel))),
            false => Ok(self),
        }
    }
}

/// The bit that asks for a kernel.
fn group(template: Template, kernel: &str) -> u64 {
    let table = kernel.rsplit_once("_table").and_then(|(_, table)| table.parse::<u64>().ok());
    match (template, table) {
        (Template::SpgemmSymbolic, Some(table)) => table,
        (_, Some(table)) => 1 + table,
        (_, None) => 0,
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
    fn every_kernel_has_its_name() {
        for template in Template::ALL {
            let mut names = template.kernel_names();
            assert!(!names.is_empty(), "{}", template.name());
            assert!(names.iter().all(|n| n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')), "{names:?}");
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{}", template.name());
        }
        let numeric = ["copy", "table0", "table1", "table2", "table3", "table4"].map(|n| format!("spgemm_numeric_{n}"));
        assert_eq!(Template::SpgemmNumeric.kernel_names(), numeric);
        assert_eq!(Template::SpgemmSymbolic.kernel_names().last().map(String::as_str), Some("spgemm_symbolic_table4"));
        assert_eq!(Template::SpgemmEsc.kernel_names(), ["spgemm_esc"]);
    }

    /// The bit of a kernel is the one that its text is compiled with.
    #[test]
    fn groups_are_those_of_the_text() {
        let mut seen = 0;
        for template in Template::ALL.iter().filter(|t| t.numbers().iter().any(|n| n.0 == "kernels")) {
            for kernel in template.kernel_names() {
                let table = kernel.rsplit_once("_table").map(|(_, t)| format!("({t})"));
                let text = template.text();
                let at = [Some(format!("{kernel}(")), table.map(|t| format!("\nOPLUS_TABLE{t}"))];
                let at = at.into_iter().flatten().find_map(|words| text.find(&words)).unwrap();
                let (_, mask) = text[..at].rsplit_once("#if OPLUS_NUMBER_kernels & ").unwrap();
                let mask: u64 = mask.split_whitespace().next().unwrap().parse().unwrap();
                assert_eq!(mask, 1 << group(*template, &kernel), "{kernel}");
                seen += 1;
            }
        }
        assert!(seen >= 11, "{seen}");
    }

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
