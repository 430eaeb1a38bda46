//! Progress of a build of oneDNN: the numbers of object files that exist and that are planned.
//!
//! The build script of `mxrs-onednn-src` writes the object files of each library to `<cache>/<key>/objects`, next to a file
//! `total` that holds their number. It removes the folder when the library is complete.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Numbers of object files of one build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Number of files compiled so far.
    pub done: usize,
    /// Number of files of the complete build.
    pub total: usize,
}

/// The builds in one cache, with the numbers of files last seen in each.
pub struct NativeBuilds {
    cache: PathBuf,
    last: HashMap<PathBuf, usize>,
}

impl NativeBuilds {
    /// Starts to watch the cache of oneDNN builds that belongs to `target_dir`. Object files that exist now are not
    /// reported.
    pub fn watch(target_dir: &Path) -> Self {
        let named = std::env::var_os("MXRS_ONEDNN_CACHE").filter(|folder| !folder.is_empty());
        Self::watch_cache(named.map_or_else(|| target_dir.join("mxrs-onednn"), PathBuf::from))
    }

    fn watch_cache(cache: PathBuf) -> Self {
        let mut builds = NativeBuilds { cache, last: HashMap::new() };
        builds.advanced();
        builds
    }

    /// Progress of a build that has gained files since the last call; `None` if no build has.
    pub fn advanced(&mut self) -> Option<Progress> {
        let mut found = None;
        for entry in std::fs::read_dir(&self.cache).into_iter().flatten().flatten() {
            let dir = entry.path().join("objects");
            let Some(progress) = progress_of(&dir) else { continue };
            let before = self.last.insert(dir, progress.done).unwrap_or(0);
            if progress.done > before {
                found = Some(progress);
            }
        }
        found
    }
}

fn progress_of(dir: &Path) -> Option<Progress> {
    let total = std::fs::read_to_string(dir.join("total")).ok()?.trim().parse().ok()?;
    let files = std::fs::read_dir(dir).ok()?.flatten();
    let done = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "o")).count();
    Some(Progress { done, total })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_only_what_is_new() {
        let cache = tempfile::tempdir().unwrap();
        let dir = cache.path().join("1f/objects");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("total"), "2").unwrap();
        let mut builds = NativeBuilds::watch_cache(cache.path().to_owned());
        assert_eq!(builds.advanced(), None);
        std::fs::write(dir.join("a-cpp.o"), "").unwrap();
        std::fs::write(dir.join("b-cpp.unfinished"), "").unwrap();
        assert_eq!(builds.advanced(), Some(Progress { done: 1, total: 2 }));
        assert_eq!(builds.advanced(), None);
    }
}
