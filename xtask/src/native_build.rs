//! How far a oneDNN build below a cargo target folder has come: object files present, object files planned.
//!
//! CMake's makefile generator lists every object of a target in `DependInfo.cmake`; Ninja lists them in `build.ninja`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Object files of one build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Files compiled so far.
    pub done: usize,
    /// Files there will be in the end.
    pub total: usize,
}

/// All oneDNN builds below one target folder, and what was seen of them last.
pub struct NativeBuilds {
    target_dir: PathBuf,
    last: HashMap<PathBuf, usize>,
}

impl NativeBuilds {
    /// Notes the present state, so that builds finished earlier stay silent.
    pub fn watch(target_dir: PathBuf) -> Self {
        let mut builds = NativeBuilds { target_dir, last: HashMap::new() };
        builds.advanced();
        builds
    }

    /// The build that has gained files since the last call, if one has.
    pub fn advanced(&mut self) -> Option<Progress> {
        let mut found = None;
        for dir in build_dirs(&self.target_dir) {
            let progress = progress_of(&dir);
            let before = self.last.insert(dir, progress.done).unwrap_or(0);
            if progress.done > before {
                found = Some(progress);
            }
        }
        found
    }
}

/// `<target>/<profile>/build/onednn-src-<hash>/out/build` of every profile.
fn build_dirs(target_dir: &Path) -> Vec<PathBuf> {
    let mut dirs = Vec::new();
    for profile in ["debug", "release"] {
        let Ok(entries) = std::fs::read_dir(target_dir.join(profile).join("build")) else { continue };
        for entry in entries.flatten() {
            let dir = entry.path().join("out/build");
            if entry.file_name().to_string_lossy().starts_with("onednn-src-") && dir.is_dir() {
                dirs.push(dir);
            }
        }
    }
    dirs
}

fn progress_of(dir: &Path) -> Progress {
    let mut progress = Progress { done: 0, total: 0 };
    count(dir, &mut progress);
    progress.total = progress.total.max(progress.done);
    progress
}

fn count(dir: &Path, progress: &mut Progress) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if path.is_dir() {
            count(&path, progress);
        } else if name.ends_with(".o") {
            progress.done += 1;
        } else if name == "DependInfo.cmake" {
            progress.total += lines_where(&path, |line| line.contains(".o\" \""));
        } else if name == "build.ninja" {
            progress.total += lines_where(&path, |line| line.starts_with("build ") && line.contains(".o: "));
        }
    }
}

fn lines_where(path: &Path, wanted: impl Fn(&str) -> bool) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().filter(|line| wanted(line)).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_only_what_is_new() {
        let target = tempfile::tempdir().unwrap();
        let dir = target.path().join("debug/build/onednn-src-1f/out/build/src/x.dir");
        std::fs::create_dir_all(&dir).unwrap();
        let planned = r#"
  "/s/a.cpp" "src/x.dir/a.cpp.o" "gcc" "src/x.dir/a.cpp.o.d"
  "/s/b.cpp" "src/x.dir/b.cpp.o" "gcc" "src/x.dir/b.cpp.o.d"
"#;
        std::fs::write(dir.join("DependInfo.cmake"), planned).unwrap();
        let mut builds = NativeBuilds::watch(target.path().to_owned());
        assert_eq!(builds.advanced(), None);
        std::fs::write(dir.join("a.cpp.o"), "").unwrap();
        assert_eq!(builds.advanced(), Some(Progress { done: 1, total: 2 }));
        assert_eq!(builds.advanced(), None);
    }

    #[test]
    fn reads_the_plan_of_ninja_too() {
        let target = tempfile::tempdir().unwrap();
        let dir = target.path().join("release/build/onednn-src-2a/out/build");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("build.ninja"), "build a.cpp.o: CXX a.cpp\nbuild lib.a: AR a.cpp.o\n").unwrap();
        std::fs::write(dir.join("a.cpp.o"), "").unwrap();
        assert_eq!(progress_of(&dir), Progress { done: 1, total: 1 });
    }
}
