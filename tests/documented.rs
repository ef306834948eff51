//! Every public function and method says what it costs and shows how it is called; operations and algorithms say how they fail,
//! and what an operation makes is said by an equation.
use std::fs;
use std::path::{Path, PathBuf};

/// A public function, with its documentation.
#[derive(Debug, PartialEq)]
struct Function {
    name: String,
    /// From the name to the body, in one line.
    signature: String,
    doc: String,
    method: bool,
}

impl Function {
    /// Looks at what is there and cannot fail: one sentence is enough.
    fn is_getter(&self) -> bool {
        let arguments = self.signature.split_once('(').map_or("", |(_, rest)| rest);
        let (own, result) = arguments.split_once(')').unwrap_or_default();
        matches!(own, "&self" | "self")
            && result.contains("->")
            && !result.contains("Self")
            && !result.contains("Result<")
    }
    /// Makes something of what it is given: neither an option of what is done later nor a look at how.
    fn makes(&self) -> bool {
        let result = self.signature.rsplit_once("->").map_or("()", |(_, result)| result.trim());
        let result = result.split_once(" where ").map_or(result, |(result, _)| result);
        !self.is_getter()
            && !matches!(
                result,
                "Self" | "()" | "Row<'_, T>" | "Result<Explanation>" | "Result<(C, Trace)>" | "Result<(R, Trace)>"
            )
    }
    /// Whether its first paragraph, which holds no code, has an equation: what it makes, then " = " or an accumulator's.
    fn has_equation(&self) -> bool {
        let first = self.doc.trim_start_matches('\n').split("\n\n").next().unwrap_or_default();
        let first = first.split("```").next().unwrap_or_default();
        let made = |before: &str| before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '⟩' | ']' | '}'));
        [" = ", " ⊙= "].iter().any(|sign| first.match_indices(sign).any(|(at, _)| made(&first[..at])))
    }
}

/// The public functions of a file, and the code of all examples in it.
fn functions(text: &str) -> (Vec<Function>, String) {
    let (mut found, mut doc, mut examples, mut inside) = (Vec::new(), String::new(), String::new(), false);
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        if let Some(said) = code.strip_prefix("///").or_else(|| code.strip_prefix("//!")) {
            inside ^= said.trim_start().starts_with("```");
            if inside {
                examples += said;
                examples.push('\n');
            }
            doc += said;
            doc.push('\n');
        } else if let Some(rest) = code.strip_prefix("pub fn ").or_else(|| code.strip_prefix("pub const fn ")) {
            // A function of a macro is called by who uses that.
            if rest.starts_with('$') {
                continue;
            }
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let all = [rest].into_iter().chain(lines[at + 1..].iter().map(|line| line.trim())).take(12);
            let signature = all.collect::<Vec<_>>().join(" ");
            let signature = signature.split_once('{').map_or(&*signature, |(before, _)| before).replace("( ", "(");
            found.push(Function { name, signature, doc: std::mem::take(&mut doc), method: code.len() < line.len() });
        } else if !code.starts_with("#[") {
            doc.clear();
        }
    }
    (found, examples)
}

/// What a kind of file has to say more.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Operations: an equation and an example of its own.
    Operations,
    /// Containers and what is in them: the same.
    Containers,
    Algorithms,
    Others,
}

/// What a function's documentation lacks.
fn lacks(function: &Function, examples: &str, kind: Kind) -> Vec<&'static str> {
    let Function { name, doc, method, .. } = function;
    let mut missing = Vec::new();
    if doc.trim().is_empty() {
        missing.push("a sentence");
    }
    if function.is_getter() {
        return missing;
    }
    let defined = matches!(kind, Kind::Operations | Kind::Containers) && function.makes();
    // Options that belong together, and methods of what is no operation, have one example.
    let shown = [".", "::"]
        .iter()
        .any(|before| ["(", "::<"].iter().any(|after| examples.contains(&format!("{before}{name}{after}"))));
    let exemplified = doc.contains("```") || *method && shown && !defined;
    if !exemplified {
        missing.push("an example");
    }
    if defined && !function.has_equation() {
        missing.push("an equation");
    }
    if !doc.contains("O(") {
        missing.push("its complexity");
    }
    let computes = matches!(kind, Kind::Operations | Kind::Algorithms);
    let fails = function.signature.contains("-> Result<") || (computes && !method);
    if fails && !doc.contains("# Errors") {
        missing.push("its errors");
    }
    missing
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// Not for users: how operations are done. Functions of scalars, which operators are made of, have a sentence each.
const WITHIN: [&str; 4] = ["backend", "memory", "algebra", "storage/pattern.rs"];

#[test]
fn public_functions_say_what_they_cost_and_show_their_use() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&source, &mut files);
    let (mut missing, mut free, mut methods, mut operations) = (Vec::new(), 0, 0, 0);
    for file in &files {
        let within = file.strip_prefix(&source).unwrap();
        if WITHIN.iter().any(|not| within.starts_with(not)) {
            continue;
        }
        let kind = match within.iter().next().and_then(|first| first.to_str()) {
            Some("operation") => Kind::Operations,
            Some("container" | "container.rs" | "iterate.rs") => Kind::Containers,
            Some("algorithm") => Kind::Algorithms,
            _ => Kind::Others,
        };
        let (functions, examples) = functions(&fs::read_to_string(file).unwrap());
        for function in &functions {
            *if function.method { &mut methods } else { &mut free } += 1;
            if kind == Kind::Operations && function.makes() {
                operations += 1;
            }
            for what in lacks(function, &examples, kind) {
                missing.push(format!("{} of {} lacks {what}", function.name, within.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(free > 80 && methods > 140, "{free} functions, {methods} methods: are they looked for where they are?");
    assert!(operations > 75, "{operations} operations");
}

#[test]
fn what_lacks_something_is_seen() {
    let text = "/// Says nothing.\n#[must_use]\npub fn f<T>() -> Result<T> {}\n\n/// Of another.\n\n    pub const fn g(&self) -> u64 {}\n\
                impl A {\n    pub fn h(\n        &self,\n        x: u64,\n    ) -> u64 {\n    /// O(1).\n    pub fn i(self) -> Self {}\n}\n\
                /// O(n).\n/// ```\n/// a.i()\n/// ```\npub fn j() {}\n";
    let (found, examples) = functions(text);
    let names: Vec<_> = found.iter().map(|f| (&*f.name, f.method, f.is_getter())).collect();
    assert_eq!(
        names,
        [("f", false, false), ("g", true, true), ("h", true, false), ("i", true, false), ("j", false, false)]
    );
    let lacking: Vec<_> = found.iter().map(|f| lacks(f, &examples, Kind::Others)).collect();
    assert_eq!(lacking[0], ["an example", "its complexity", "its errors"]);
    assert_eq!(lacking[1], ["a sentence"]);
    assert_eq!(lacking[2], ["a sentence", "an example", "its complexity"]);
    assert!(lacking[3].is_empty() && lacking[4].is_empty());
    assert_eq!(lacks(&found[4], &examples, Kind::Algorithms), ["its errors"]);
}

#[test]
fn equations_and_examples_are_an_operations_own() {
    let text = "impl A {\n    /// C = A ⊕ B. O(n).\n    /// ```\n    /// let c = a.plus(&b).times(&b);\n    /// ```\n    \
                    pub fn plus(self, b: &B) -> Operation<C> {\n    /// As plus. O(n).\n    ///\n    /// So that x = y.\n    \
                    pub fn times(self, b: &B) -> Operation<C> {\n    /// Of all. O(n).\n    /// ```\n    /// let x = 1;\n    /// ```\n    \
                    pub fn less(self, b: &B) -> Operation<C> {\n    /// C⟨M⟩ ⊙= T. O(1).\n    pub fn option(self) -> Self {\n";
    let (found, examples) = functions(text);
    assert_eq!(found.iter().map(|f| f.makes()).collect::<Vec<_>>(), [true, true, true, false]);
    assert_eq!(found.iter().map(|f| f.has_equation()).collect::<Vec<_>>(), [true, false, false, true]);
    let lacking: Vec<_> = found[..3].iter().map(|f| lacks(f, &examples, Kind::Operations)).collect();
    assert_eq!(lacking, [vec![], vec!["an example", "an equation"], vec!["an equation"]]);
    // Elsewhere methods may share an example.
    assert!(lacks(&found[1], &examples, Kind::Others).is_empty());
}

/// Who looks for what the standard, SciPy, MATLAB or textbooks call it finds it in the documentation.
#[test]
fn names_of_others_lead_to_ours() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut files, mut aliases) = (Vec::new(), String::new());
    sources(&source, &mut files);
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        aliases.extend(text.lines().filter(|line| line.trim_start().starts_with("#[doc(alias")));
    }
    let standard = [
        "GrB_mxm GrB_mxv GrB_vxm GrB_eWiseAdd GrB_eWiseMult GrB_apply GrB_select GrB_reduce GrB_transpose GrB_extract GrB_Col_extract",
        "GrB_assign GrB_Row_assign GrB_Col_assign GxB_subassign GxB_eWiseUnion GrB_kronecker GrB_TRIL GrB_TRIU GrB_Matrix_diag",
        "GrB_Matrix_new GrB_Matrix_build GrB_Matrix_nvals GrB_Matrix_nrows GrB_Matrix_ncols GrB_Matrix_extractElement",
        "GrB_Matrix_setElement GrB_Matrix_removeElement GrB_Matrix_extractTuples GrB_Matrix_clear GrB_Matrix_resize GrB_Vector_new",
        "GrB_Vector_build GrB_Vector_nvals GrB_Vector_size GrB_COMP GrB_STRUCTURE GrB_REPLACE",
    ];
    let others = "matmul spgemm spmv dot hadamard kron nnz eye toarray astype hstack vstack diags csr_matrix coo_matrix mmread sparse";
    let names = standard.iter().flat_map(|line| line.split(' ')).chain(others.split(' '));
    let missing: Vec<_> = names.filter(|name| !aliases.contains(&format!("\"{name}\""))).collect();
    assert!(missing.is_empty(), "no alias: {missing:?}");
}
