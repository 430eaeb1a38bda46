//! OpenMP as a contestant: a loop in C, compiled when the comparison starts, because rustc does not support OpenMP.

use anyhow::{Context, Result, bail};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("openmp.c");

type Body<'a> = &'a (dyn Fn(usize) + Sync);
type Loop = unsafe extern "C" fn(
    n_chunks: c_int,
    body: extern "C" fn(chunk: c_int, argument: *mut c_void),
    argument: *mut c_void,
);

/// Compiles the loop into a library in `dir`, with this C compiler.
///
/// # Errors
/// Fails if the compiler cannot be started or does not support OpenMP; the error holds the first line of its stderr.
pub fn build(compiler: &str, dir: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(dir).with_context(|| format!("making {}", dir.display()))?;
    let (source, library) = (dir.join("openmp.c"), dir.join("libmxrs_openmp.so"));
    std::fs::write(&source, SOURCE).with_context(|| format!("writing {}", source.display()))?;
    let mut command = Command::new(compiler);
    command.args(["-O2", "-fopenmp", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    let output = command.output().with_context(|| format!("starting {compiler}"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("{compiler}: {}", stderr.lines().next().unwrap_or("failed without a word"));
    }
    Ok(library)
}

/// The compiled loop.
pub struct OpenMp {
    run: Loop,
    /// Keeps the code of `run` loaded. libgomp stays loaded in any case, because its threads live until the process ends.
    _library: Library,
}

impl OpenMp {
    /// Loads the library that [`build`] made.
    ///
    /// # Errors
    /// Fails if the library cannot be loaded.
    pub fn load(library: &Path) -> Result<Self> {
        // SAFETY: the library has no initializers of its own. It loads libgomp, whose initializer only reads environment
        // variables.
        let loaded = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_LOCAL) };
        let loaded = loaded.with_context(|| format!("loading {}", library.display()))?;
        // SAFETY: `Loop` has the signature of the function in openmp.c.
        let run = *unsafe { loaded.get::<Loop>(c"mxrs_openmp_loop".to_bytes_with_nul()) }?;
        Ok(Self { run, _library: loaded })
    }

    /// Runs `body(i)` for every `i` in `0..n_chunks`.
    pub fn run(&self, n_chunks: usize, body: Body<'_>) {
        let argument: *const Body<'_> = &body;
        // SAFETY: the loop calls `call` with this argument on its threads and returns after the last call, so `body` is live
        // in every call. The body is `Sync`. Bodies in this program do not panic, so `call` does not unwind into C.
        unsafe { (self.run)(n_chunks as c_int, call, argument.cast_mut().cast()) };
    }
}

extern "C" fn call(chunk: c_int, argument: *mut c_void) {
    // SAFETY: `argument` is the pointer to a `Body` that `OpenMp::run` passed, which is live until the loop has ended.
    let body = unsafe { *argument.cast::<Body<'_>>() };
    body(chunk as usize);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_that_is_not_there_is_named() {
        let dir = std::env::temp_dir().join(format!("mxrs-openmp-{}", std::process::id()));
        let error = build("no-such-compiler", &dir).unwrap_err();
        assert_eq!(error.to_string(), "starting no-such-compiler");
        let _ = std::fs::remove_dir_all(dir);
    }
}
