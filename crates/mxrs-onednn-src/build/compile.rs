//! Runs the compiler, several files at a time, and the archiver.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::plan::Plan;

/// Compiles every file of the plan into `folder`, except files whose object an interrupted build has already written.
///
/// # Errors
/// Fails if the compiler rejects a file or an object cannot be written. After a failure no other file is started.
pub fn objects(plan: &Plan, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let n_jobs: usize = crate::link::variable("NUM_JOBS").parse().unwrap_or(1);
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let first_error = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..n_jobs.max(1) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let Some(file) = plan.files().get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    if let Err(error) = object(plan, file, &path_of(folder, file)) {
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

fn object(plan: &Plan, file: &str, object: &Path) -> Result<(), String> {
    if object.is_file() {
        return Ok(());
    }
    // The object is renamed when it is complete, so an interrupted compiler leaves no object that looks finished. The
    // name contains the process id, because a compiler may outlive the build script that started it.
    let unfinished = object.with_extension(format!("{}.unfinished", std::process::id()));
    let mut command = plan.command(file, &unfinished);
    let compiler = command.get_program().to_owned();
    let compiler = Path::new(&compiler).display();
    let output = command.output().map_err(|error| format!("cannot run {compiler}: {error}"))?;
    if !output.status.success() {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        return Err(format!(
            "{compiler} cannot compile {file} of oneDNN ({}); its messages are in the output above. GCC 8 and Clang 8 or \
             later can: name another compiler in CXX, or use feature `dynamic` of mxrs-onednn-sys instead of `static`",
            output.status
        ));
    }
    std::fs::rename(&unfinished, object).map_err(|error| format!("cannot write {}: {error}", object.display()))
}

/// Returns the path of an object. Several folders have files of the same name, so the object's name is the whole path
/// of its source.
fn path_of(folder: &Path, file: &str) -> PathBuf {
    folder.join(format!("{}.o", file.replace(['/', '.'], "-")))
}
