//! `cargo xtask compare engine`: finds MXNet's library and runs MXNet's engine and ours in alternating rounds.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::Common;
use crate::session::Session;

/// Python code that prints the folder of the package without importing it, because the wheel cannot be imported with a
/// recent NumPy.
const ASK: &str = "import importlib.util as u; s = u.find_spec('mxnet'); print(s.submodule_search_locations[0])";

/// Arguments of `compare engine`.
#[derive(clap::Args)]
pub struct Args {
    /// MXNet's library libmxnet.so of the 1.9.1 wheel, or the folder of its Python package
    #[arg(long, value_name = "PATH")]
    mxnet: Option<PathBuf>,
    /// The Python to ask for MXNet's package if --mxnet is not given
    #[arg(long, value_name = "PATH", default_value = "python3")]
    python: PathBuf,
    /// Operators per round [default: 200000]
    #[arg(long)]
    operators: Option<NonZeroUsize>,
    /// Measure only loads whose name contains this text
    #[arg(long)]
    load: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// Runs the command.
///
/// # Errors
/// Fails if the given path is not MXNet's library, or if the program does not build or fails.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    let library = match &args.mxnet {
        Some(path) => Some(library_at(path)?),
        None => library_of_python(&session, &args.python),
    };
    let mut run = super::program(&session, "compare_engine", &args.common)?;
    if let Some(library) = library {
        run = run.arg("--mxnet").arg(library);
    }
    if let Some(operators) = args.operators {
        run = run.args(["--operators", &operators.to_string()]);
    }
    if let Some(load) = &args.load {
        run = run.args(["--load", load]);
    }
    run.stream()
}

/// The library at the user's path: the file itself, or libmxnet.so in the folder.
fn library_at(path: &Path) -> Result<PathBuf> {
    let library = if path.is_dir() { path.join("libmxnet.so") } else { path.to_owned() };
    ensure!(library.is_file(), "there is no {}", library.display());
    Ok(library.canonicalize()?)
}

/// MXNet's library in the package of this Python, if it has the package.
fn library_of_python(session: &Session, python: &Path) -> Option<PathBuf> {
    let answer = session.program(python).args(["-c", ASK]).capture().ok()?;
    library_at(Path::new(answer.trim())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_means_the_library_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libmxnet.so");
        assert!(library_at(folder.path()).unwrap_err().to_string().ends_with("libmxnet.so"));
        std::fs::write(&library, "").unwrap();
        let expected = library.canonicalize().unwrap();
        assert_eq!(library_at(folder.path()).unwrap(), expected);
        assert_eq!(library_at(&library).unwrap(), expected);
    }

    #[test]
    fn a_python_that_is_not_there_has_no_package() {
        let session = Session::rust_only().unwrap();
        assert_eq!(library_of_python(&session, Path::new("no-such-python")), None);
    }
}
