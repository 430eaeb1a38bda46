//! The folder of checkpoints before the first epoch: whether one will find room, and what killed runs left there.

use super::Position;
use mxrs_format::{AtomicFile, remove_leftovers};
use mxrs_types::{Error, Result};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What the trial file is called behind the prefix.
const TRIAL: &str = "-room";

/// The folder of checkpoints, and what their names begin with.
fn parts(prefix: &Path) -> (&Path, &str) {
    let folder = prefix.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    (folder, prefix.file_name().and_then(|name| name.to_str()).unwrap_or_default())
}

/// Makes the folder of `prefix` if it is not there, and writes a file of `bytes` bytes there, which is removed again.
///
/// # Errors
/// The folder cannot be made or written; the disk has no such room.
pub fn check_room(prefix: &Path, bytes: u64) -> Result<()> {
    let (folder, _) = parts(prefix);
    let mut path = prefix.as_os_str().to_os_string();
    path.push(TRIAL);
    let path = PathBuf::from(path);
    let context = || format!("checking that checkpoints of {bytes} bytes fit in {}", folder.display());
    let refused = |e: &io::Error, path: &Path| Error::io(path, e).context(context());
    fs::create_dir_all(folder).map_err(|e| refused(&e, folder))?;
    // Never committed, so it is removed whatever happens.
    let mut trial = AtomicFile::create(&path).map_err(|e| e.context(context()))?;
    let block = vec![0; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        let n = left.min(block.len() as u64);
        trial.write_all(&block[..n as usize]).map_err(|e| refused(&e, &path))?;
        left -= n;
    }
    trial.flush().map_err(|e| refused(&e, &path))
}

/// Removes what runs that were killed left of checkpoints of this prefix; says which files.
pub fn clear_up(prefix: &Path) -> Vec<PathBuf> {
    let (folder, name) = parts(prefix);
    let is_ours = |file: &str| {
        let position = |suffix| Position::parse(file, name, suffix).is_some();
        position(".params")
            || position(".states")
            || file.strip_prefix(name).is_some_and(|rest| rest == "-symbol.json" || rest == TRIAL)
    };
    remove_leftovers(folder, &is_ours)
}

#[cfg(test)]
mod tests {
    use super::{check_room, clear_up};

    #[test]
    fn the_trial_leaves_nothing_and_says_what_is_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("new/net");
        check_room(&prefix, 3 << 20).unwrap();
        assert_eq!(std::fs::read_dir(dir.path().join("new")).unwrap().count(), 0);
        // A file is no folder.
        std::fs::write(dir.path().join("file"), "").unwrap();
        let error = check_room(&dir.path().join("file/net"), 1).unwrap_err().to_string();
        assert!(error.contains("file") && error.contains("checkpoints of 1 bytes"), "{error}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_killed_runs_left_goes_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("net");
        let left = ["net-0001.params", "net-0003-000020.states", "net-room", "net-symbol.json"];
        let others =
            ["net-best.params", "net-1-0001.params", "mine", "net-0001.txt", "ne-0001.params", "net0001.params"];
        // No process has this number; the one that started this one is there.
        let names = |names: &[&str], process: u32| -> Vec<_> {
            names.iter().map(|name| dir.path().join(format!("{name}.tmp.{process}"))).collect()
        };
        let gone = names(&left, u32::MAX);
        let mut stay = names(&others, u32::MAX);
        stay.extend(names(&left, std::os::unix::process::parent_id()));
        stay.push(dir.path().join("net-0001.params"));
        stay.iter().chain(&gone).for_each(|path| std::fs::write(path, "").unwrap());
        assert_eq!(clear_up(&prefix), gone);
        assert!(stay.iter().all(|path| path.exists()) && !gone.iter().any(|path| path.exists()));
        assert!(clear_up(&dir.path().join("nowhere/net")).is_empty());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_told() {
        // A device that is always full.
        let error = super::check_room(std::path::Path::new("/dev/full/net"), 1).unwrap_err().to_string();
        assert!(error.contains("/dev/full"), "{error}");
    }
}
