//! Writes the tables of `docs/` that are generated from the code: `gen_docs FOLDER`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(folder), None) = (arguments.next().map(PathBuf::from), arguments.next()) else {
        eprintln!("usage: gen_docs FOLDER");
        return ExitCode::from(2);
    };
    let tables = [("env.md", mxrs::env_page()), ("ops.md", mxrs::ops::docs_markdown())];
    for (name, text) in tables {
        let path = folder.join(name);
        if let Err(error) = std::fs::write(&path, text) {
            eprintln!("{}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
