//! Every public function and method says what it costs and shows how it is called; operations and algorithms say how they fail.
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

/// What a function's documentation lacks; `computes`: it is an operation or an algorithm.
fn lacks(function: &Function, examples: &str, computes: bool) -> Vec<&'static str> {
    let Function { name, doc, method, .. } = function;
    let mut missing = Vec::new();
    if doc.trim().is_empty() {
        missing.push("a sentence");
    }
    if function.is_getter() {
        return missing;
    }
    // Methods that belong together have one example.
    let shown = [".", "::"]
        .iter()
        .any(|before| ["(", "::<"].iter().any(|after| examples.contains(&format!("{before}{name}{after}"))));
    let exemplified = doc.contains("```") || *method && shown;
    if !exemplified {
        missing.push("an example");
    }
    if !doc.contains("O(") {
        missing.push("its complexity");
    }
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
    let (mut missing, mut free, mut methods) = (Vec::new(), 0, 0);
    for file in &files {
        let within = file.strip_prefix(&source).unwrap();
        if WITHIN.iter().any(|not| within.starts_with(not)) {
            continue;
        }
        let computes = within.starts_with("operation") || within.starts_with("algorithm");
        let (functions, examples) = functions(&fs::read_to_string(file).unwrap());
        for function in &functions {
            *if function.method { &mut methods } else { &mut free } += 1;
            for what in lacks(function, &examples, computes) {
                missing.push(format!("{} of {} lacks {what}", function.name, within.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(free > 80 && methods > 140, "{free} functions, {methods} methods: are they looked for where they are?");
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
    let lacking: Vec<_> = found.iter().map(|f| lacks(f, &examples, false)).collect();
    assert_eq!(lacking[0], ["an example", "its complexity", "its errors"]);
    assert_eq!(lacking[1], ["a sentence"]);
    assert_eq!(lacking[2], ["a sentence", "an example", "its complexity"]);
    assert!(lacking[3].is_empty() && lacking[4].is_empty());
    assert_eq!(lacks(&found[4], &examples, true), ["its errors"]);
}
