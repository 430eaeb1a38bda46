//! Prepares the folder of checkpoints before the first epoch: checks that a checkpoint fits on the disk, and removes
//! files that killed processes left.

use super::{Position, split};
use mxrs_format::{AtomicFile, remove_leftovers};
use mxrs_types::{Error, Result};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Appended to the prefix of the checkpoints, this is the name of the file that tests whether a checkpoint fits on the disk.
const TRIAL: &str = "-room";

/// Creates the folder of `prefix` if it does not exist, writes a trial file of `bytes` bytes into it, and removes the file
/// again.
///
/// # Errors
/// Returns an error if the name is not UTF-8, if the folder cannot be created or written, or if the disk has no room for the
/// file.
pub fn check_room(prefix: &Path, bytes: u64) -> Result<()> {
    let (folder, _) = split(prefix)?;
    let mut path = prefix.as_os_str().to_os_string();
    path.push(TRIAL);
    let path = PathBuf::from(path);
    let context = || format!("checking that checkpoints of {bytes} bytes fit in {}", folder.display());
    let refused = |e: &io::Error, path: &Path| Error::io(path, e).context(context());
    fs::create_dir_all(&folder).map_err(|e| refused(&e, &folder))?;
    // The file is never committed, so dropping it removes it, also after an error.
    let mut trial = AtomicFile::create(&path).map_err(|e| e.context(context()))?;
    fill(&mut trial, bytes).map_err(|e| refused(&e, &path))
}

/// Writes `bytes` zero bytes.
fn fill(sink: &mut impl Write, bytes: u64) -> io::Result<()> {
    let block = vec![0; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        let n = left.min(block.len() as u64);
        sink.write_all(&block[..n as usize])?;
        left -= n;
    }
    sink.flush()
}

/// Removes temporary files that killed processes left while they wrote checkpoints of this prefix, and returns their paths.
/// Files that a running process may still be writing stay ([`remove_leftovers`]).
///
/// # Errors
/// Returns an error if the name is not UTF-8.
pub fn clear_up(prefix: &Path) -> Result<Vec<PathBuf>> {
    let (folder, name) = split(prefix)?;
    let is_ours = |file: &str| {
        let position = |suffix| Position::parse(file, &name, suffix).is_some();
        position(".params")
            || position(".states")
            || file.strip_prefix(name.as_str()).is_some_and(|rest| rest == "-symbol.json" || rest == TRIAL)
    };
    Ok(remove_leftovers(&folder, &is_ours))
}

#[cfg(test)]
mod tests {
    use super::{check_room, clear_up, fill};
    use std::io::{self, Write};

    /// The suffix that a process with this number on this machine gives its temporary files.
    #[cfg(target_os = "linux")]
    fn ending(process: u32) -> String {
        let dir = tempfile::tempdir().unwrap();
        let _writer = mxrs_format::AtomicFile::create(dir.path().join("x")).unwrap();
        let name = std::fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().file_name().into_string().unwrap();
        name.strip_prefix('x').unwrap().replacen(&std::process::id().to_string(), &process.to_string(), 1)
    }

    #[test]
    fn the_trial_leaves_nothing_and_says_what_is_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("new/net");
        check_room(&prefix, 3 << 20).unwrap();
        assert_eq!(std::fs::read_dir(dir.path().join("new")).unwrap().count(), 0);
        // `file` is a file, not a folder.
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
        // `u32::MAX` is not the number of any process; the parent process of this test is running.
        let names = |names: &[&str], process: u32| -> Vec<_> {
            let ending = ending(process);
            names.iter().map(|name| dir.path().join(format!("{name}{ending}"))).collect()
        };
        let gone = names(&left, u32::MAX);
        let mut stay = names(&others, u32::MAX);
        stay.extend(names(&left, std::os::unix::process::parent_id()));
        stay.extend(["net-0001.params", "net-0001.params.tmp.4294967295"].map(|name| dir.path().join(name)));
        stay.iter().chain(&gone).for_each(|path| std::fs::write(path, "").unwrap());
        assert_eq!(clear_up(&prefix).unwrap(), gone);
        assert!(stay.iter().all(|path| path.exists()) && !gone.iter().any(|path| path.exists()));
        assert!(clear_up(&dir.path().join("nowhere/net")).unwrap().is_empty());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn of_a_prefix_that_is_a_folder_the_files_are_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("new/");
        check_room(&prefix, 1).unwrap();
        let ending = ending(u32::MAX);
        let [inside, beside] = ["new/-0001.params", "new-0001.params"].map(|name| format!("{name}{ending}"));
        let [inside, beside] = [inside, beside].map(|name| dir.path().join(name));
        std::fs::write(&inside, "").unwrap();
        std::fs::write(&beside, "").unwrap();
        assert_eq!(clear_up(&prefix).unwrap(), [inside]);
        assert!(beside.exists());
    }

    /// A disk with room for this many bytes.
    struct Disk(usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let n = bytes.len().min(self.0);
            self.0 -= n;
            if n == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(n) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_told() {
        let size = (2 << 20) + 3;
        let mut disk = Disk(size);
        fill(&mut disk, size as u64).unwrap();
        assert_eq!(disk.0, 0, "as much as was asked for is written");
        for room in [0, 1, size - 1] {
            assert_eq!(fill(&mut Disk(room), size as u64).unwrap_err().kind(), io::ErrorKind::StorageFull, "{room}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_device_is_told() {
        // `/dev/full` fails every write as if the disk were full.
        let mut device = std::fs::File::options().write(true).open("/dev/full").unwrap();
        assert_eq!(fill(&mut device, 1).unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
