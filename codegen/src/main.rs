//! `oplus-codegen --check | --write`: compares or rewrites `kernels/generated/`; `--variants FOLDER` writes all test variants.
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/generated");
    if let [_, option, folder] = &std::env::args().collect::<Vec<_>>()[..]
        && option == "--variants"
    {
        return match variants(Path::new(folder)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => {
                eprintln!("{e}");
                ExitCode::FAILURE
            }
        };
    }
    let write = match std::env::args().nth(1).as_deref() {
        Some("--write") => true,
        Some("--check") => false,
        _ => {
            eprintln!("usage: oplus-codegen --check | --write | --variants FOLDER");
            return ExitCode::from(2);
        }
    };
    match run(&root, write) {
        Ok(different) if write => {
            println!("{} files written", different.len());
            ExitCode::SUCCESS
        }
        Ok(different) if different.is_empty() => ExitCode::SUCCESS,
        Ok(different) => {
            for path in different {
                eprintln!("not up to date: {}", path.display());
            }
            ExitCode::FAILURE
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn run(root: &Path, write: bool) -> Result<Vec<PathBuf>, Box<dyn std::error::Error>> {
    let mut different = Vec::new();
    for (path, source) in oplus_codegen::golden::files()? {
        let path = root.join(path);
        if std::fs::read_to_string(&path).is_ok_and(|text| text == source) {
            continue;
        }
        if write {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(&path, source)?;
        }
        different.push(path);
    }
    Ok(different)
}

/// One `.cu` a variant, and beside it the launch sizes.
fn variants(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder)?;
    for (name, spec) in oplus_codegen::golden::variants(90) {
        std::fs::write(folder.join(format!("{name}.cu")), spec.source()?)?;
        let launches = (0..oplus_codegen::TABLES).filter_map(|t| spec.table_launch(t));
        let lines: String = launches.map(|l| format!("{} {} {} {}\n", l.block, l.teams, l.shared, l.values)).collect();
        if !lines.is_empty() {
            std::fs::write(folder.join(format!("{name}.launch")), lines)?;
        }
    }
    Ok(())
}
