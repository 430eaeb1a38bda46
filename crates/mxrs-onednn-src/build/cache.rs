//! Keeps the compiled library as `<cache>/<key>/libdnnl.a`, so that it is compiled only once.
//!
//! Debug and release builds, and all workspaces that share the cache, use the same file. `libdnnl.sum` contains the checksum
//! that the archive had when it was written. If the archive has another checksum, or one of the two files is missing, the
//! library is compiled again. Simultaneous builds wait for each other by a lock on the file `lock`.

#![allow(clippy::disallowed_methods, reason = "cargo describes the build in environment variables")]

use std::fs::{File, TryLockError};
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use crate::plan::Plan;

/// Environment variable that names the cache folder. The default is `mxrs-onednn` in cargo's target folder.
pub const VARIABLE: &str = "MXRS_ONEDNN_CACHE";

/// The folder of one library in the cache. It is locked for this process until the entry is dropped.
pub struct Entry {
    dir: PathBuf,
    key: String,
    n_files: usize,
    _lock: File,
}

impl Entry {
    /// Opens the folder of the plan's library. Waits if another build is using the folder.
    ///
    /// # Errors
    /// Fails if the folder cannot be made or locked.
    pub fn open(plan: &Plan) -> Result<Self, String> {
        let dir = folder().join(plan.key());
        make(&dir)?;
        let path = dir.join("lock");
        let failed = |error: std::io::Error| {
            format!("cannot lock {}: {error}; name a folder on another file system in {VARIABLE}", path.display())
        };
        let lock = File::create(&path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                eprintln!("waiting for another build that compiles oneDNN in {}", dir.display());
                lock.lock().map_err(failed)?;
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        Ok(Entry { dir, key: plan.key().to_owned(), n_files: plan.files().len(), _lock: lock })
    }

    /// The folder that the linker searches.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether the library exists and has the checksum that `libdnnl.sum` states.
    pub fn holds_library(&self) -> bool {
        let archive = self.dir.join("libdnnl.a");
        let Ok(expected) = std::fs::read_to_string(self.dir.join("libdnnl.sum")) else { return false };
        self.sum(&archive).is_ok_and(|found| found == expected)
    }

    /// Makes the folder for object files. The file `total` in it has the number of object files of the whole build, to
    /// show progress.
    ///
    /// # Errors
    /// Fails if the folder cannot be made.
    pub fn objects_dir(&self) -> Result<PathBuf, String> {
        let objects = self.dir.join("objects");
        make(&objects)?;
        write(&objects.join("total"), &self.n_files.to_string())?;
        Ok(objects)
    }

    /// Lets `archive` write the library into a temporary folder, then moves the library to the entry's folder and
    /// removes the objects.
    ///
    /// # Errors
    /// Fails if `archive` fails or a file cannot be written.
    pub fn publish(&self, archive: impl FnOnce(&Path) -> Result<(), String>) -> Result<(), String> {
        let unfinished = self.dir.join("unfinished");
        // Removes the files of an interrupted build. If that fails, the error is ignored, because new files replace the
        // old ones.
        let _ = std::fs::remove_dir_all(&unfinished);
        make(&unfinished)?;
        archive(&unfinished)?;
        let sum = self.sum(&unfinished.join("libdnnl.a"))?;
        rename(&unfinished.join("libdnnl.a"), &self.dir.join("libdnnl.a"))?;
        write(&unfinished.join("libdnnl.sum"), &sum)?;
        rename(&unfinished.join("libdnnl.sum"), &self.dir.join("libdnnl.sum"))?;
        // If a folder cannot be removed, the build only loses disk space.
        let _ = std::fs::remove_dir_all(&unfinished);
        let _ = std::fs::remove_dir_all(self.dir.join("objects"));
        Ok(())
    }

    /// The content of `libdnnl.sum` for the archive: key, checksum and size.
    fn sum(&self, archive: &Path) -> Result<String, String> {
        let bytes = std::fs::read(archive).map_err(|error| format!("cannot read {}: {error}", archive.display()))?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        Ok(format!("{} {:016x} {}\n", self.key, hasher.finish(), bytes.len()))
    }
}

/// The cache folder: `MXRS_ONEDNN_CACHE`, or `mxrs-onednn` in the target folder.
fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) {
        return PathBuf::from(folder);
    }
    let out = PathBuf::from(crate::link::variable("OUT_DIR"));
    target_dir(&out, &crate::link::variable("TARGET")).unwrap_or(&out).join("mxrs-onednn")
}

/// Returns the target folder that contains `OUT_DIR`, which is `<target folder>/[<target>/]<profile>/build/…/out`.
fn target_dir<'a>(out: &'a Path, target: &str) -> Option<&'a Path> {
    let profile = out.ancestors().find(|folder| folder.ends_with("build"))?.parent()?;
    let parent = profile.parent()?;
    if parent.ends_with(target) { parent.parent() } else { Some(parent) }
}

fn make(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| {
        format!("cannot make {}: {error}; name a folder that can be written in {VARIABLE}", folder.display())
    })
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn rename(from: &Path, to: &Path) -> Result<(), String> {
    std::fs::rename(from, to).map_err(|error| format!("cannot move {} to {}: {error}", from.display(), to.display()))
}
