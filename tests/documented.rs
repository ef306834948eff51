//! Every function of the library's modules says what it costs and shows how it is called.
use std::fs;
use std::path::{Path, PathBuf};

/// Public functions that stand alone in a file, each with its documentation.
fn functions(text: &str) -> Vec<(String, String)> {
    let (mut found, mut doc) = (Vec::new(), String::new());
    for line in text.lines() {
        if let Some(said) = line.strip_prefix("///") {
            doc += said;
            doc.push('\n');
        } else if let Some(rest) = line.strip_prefix("pub fn ").or_else(|| line.strip_prefix("pub const fn ")) {
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            found.push((name.to_owned(), std::mem::take(&mut doc)));
        } else if !line.starts_with("#[") {
            doc.clear();
        }
    }
    found
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

#[test]
fn functions_say_what_they_cost_and_show_their_use() {
    let (mut files, mut missing, mut seen) = (Vec::new(), Vec::new(), 0);
    for module in ["operation", "algorithm", "io", "generate"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(module), &mut files);
    }
    for file in &files {
        for (name, doc) in functions(&fs::read_to_string(file).unwrap()) {
            seen += 1;
            for (what, mark) in [("an example", "```"), ("its complexity", "O(")] {
                if !doc.contains(mark) {
                    missing.push(format!("{} of {} lacks {what}", name, file.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(seen > 80, "{seen} functions: are they looked for where they are?");
}

#[test]
fn a_function_without_either_is_seen() {
    let found =
        functions("/// Says nothing.\n#[must_use]\npub fn f<T>() {}\n\n/// Of another.\n\npub const fn g() {}\n");
    assert_eq!(found, [("f".into(), " Says nothing.\n".into()), ("g".into(), String::new())]);
}
