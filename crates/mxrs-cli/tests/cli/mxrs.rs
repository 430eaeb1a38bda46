//! Runs the program with only the environment variables that the test gives.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pixels are bytes; the networks of the digits data set were trained on values from 0 to 1.
pub const SCALE: &str = "0.00392156862745098";

/// Exit code and output of a run.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Checks that the run succeeded, and returns its stdout.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self.out
    }

    /// Checks that the run ended with this exit code, and returns its stderr.
    #[track_caller]
    pub fn failed(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        self.err
    }

    /// Checks that the run succeeded, and parses its stdout as JSON.
    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        let out = self.ok();
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}"))
    }
}

/// Runs `mxrs` with these variables and no others.
pub fn mxrs_with<S: AsRef<OsStr>>(vars: &[(&str, &str)], arguments: impl IntoIterator<Item = S>) -> Ran {
    run(Command::new(env!("CARGO_BIN_EXE_mxrs")), vars, arguments)
}

/// Runs `mxrs` in this folder with an empty environment.
pub fn mxrs_in<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Ran {
    mxrs_in_with(folder, &[], arguments)
}

/// Runs `mxrs` in this folder with these variables and no others.
pub fn mxrs_in_with<S: AsRef<OsStr>>(
    folder: &Path,
    vars: &[(&str, &str)],
    arguments: impl IntoIterator<Item = S>,
) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mxrs"));
    command.current_dir(folder);
    run(command, vars, arguments)
}

fn run<S: AsRef<OsStr>>(mut command: Command, vars: &[(&str, &str)], arguments: impl IntoIterator<Item = S>) -> Ran {
    let output = command.args(arguments).env_clear().envs(vars.iter().copied()).output().expect("the program starts");
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("text on stdout"),
        err: String::from_utf8(output.stderr).expect("text on stderr"),
    }
}

/// Runs `mxrs` with an empty environment.
pub fn mxrs<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Ran {
    mxrs_with(&[], arguments)
}

/// Whether networks in bfloat16 compute in bfloat16 and not in float32. This needs oneDNN's kernels, a processor with
/// 512-bit vectors, and a runtime that considers bfloat16 faster.
pub fn has_bfloat16() -> bool {
    let has_instructions = mxrs_processor::Feature::Avx512Core.is_there();
    let runtime = ::mxrs::Runtime::builder().env(&::mxrs::env::MapSource::empty()).build().unwrap();
    cfg!(feature = "onednn") && has_instructions && runtime.bind_options().half_products
}

/// Path of a file of the digits data set.
pub fn digits(name: &str) -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/digits/").to_owned() + name
}

/// Path of a test fixture that MXNet wrote.
pub fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures")).join(name)
}
