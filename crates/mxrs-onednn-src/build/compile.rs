//! Runs the compiler, several files at a time, and the archiver.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::headers::Headers;
use crate::plan::Plan;

/// Compiles every file of the plan into `folder`, except files whose object an interrupted build has already written.
///
/// # Errors
/// Fails if the compiler rejects a file or an object cannot be written. After a failure no other file is started.
pub fn objects(plan: &Plan, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let headers = Headers::compile(plan, folder)?;
    let n_jobs: usize = crate::link::variable("NUM_JOBS").parse().unwrap_or(1);
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let first_error = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..n_jobs.max(1) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let Some(file) = plan.files().get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    if let Err(error) = object(plan, file, &path_of(folder, file), headers.as_ref()) {
                        stop.store(true, Ordering::Relaxed);
                        first_error.lock().expect("no thread panics here").get_or_insert(error);
                    }
                }
            });
        }
    });
    match first_error.into_inner().expect("no thread panics here") {
        Some(error) => Err(error),
        None => Ok(plan.files().iter().map(|file| path_of(folder, file)).collect()),
    }
}

/// Writes `libdnnl.a` into `folder`.
///
/// # Errors
/// Fails if the archiver fails.
pub fn archive(objects: &[PathBuf], folder: &Path) -> Result<(), String> {
    let mut build = cc::Build::new();
    build.cargo_metadata(false).out_dir(folder).objects(objects);
    build.try_compile("dnnl").map_err(|error| format!("cannot collect oneDNN's objects in an archive: {error}"))
}

fn object(plan: &Plan, file: &str, object: &Path, headers: Option<&Headers>) -> Result<(), String> {
    made(object, file, |unfinished| plan.command(file, unfinished, headers))
}

/// Runs a command that compiles `source` and writes `output`, unless that file exists.
///
/// # Errors
/// Fails if the compiler rejects the source or the file cannot be written.
pub fn made(output: &Path, source: &str, command: impl FnOnce(&Path) -> Command) -> Result<(), String> {
    if output.is_file() {
        return Ok(());
    }
    // The file is renamed when it is complete, so an interrupted compiler leaves no file that looks finished. The name
    // contains the process id, because a compiler may outlive the build script that started it.
    let unfinished = output.with_extension(format!("{}.unfinished", std::process::id()));
    let mut command = command(&unfinished);
    let compiler = command.get_program().to_owned();
    let compiler = Path::new(&compiler).display();
    let result = command.output().map_err(|error| format!("cannot run {compiler}: {error}"))?;
    if !result.status.success() {
        eprint!("{}", String::from_utf8_lossy(&result.stderr));
        return Err(format!(
            "{compiler} cannot compile {source} of oneDNN ({}); its messages are in the output above. GCC 8 and Clang 8 or \
             later can: name another compiler in CXX, or use feature `dynamic` of mxrs-onednn-sys instead of `static`",
            result.status
        ));
    }
    std::fs::rename(&unfinished, output).map_err(|error| format!("cannot write {}: {error}", output.display()))
}

/// Returns the path of an object. Several folders have files of the same name, so the object's name is the whole path
/// of its source.
fn path_of(folder: &Path, file: &str) -> PathBuf {
    folder.join(format!("{}.o", file.replace(['/', '.'], "-")))
}
