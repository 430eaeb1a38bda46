//! Temporary files of writers that were killed.
//!
//! A writer holds the lock of its temporary file ([`File::lock`]), which the system drops when the process ends, however it
//! ends. What is removed has a free lock, and the process that its name tells is not there, so neither another process with
//! that number nor, on a shared file system, a writer on another machine loses anything. Where the system cannot say
//! whether a process is there, or the number is the caller's own (as is usual in containers), the file must be a minute old.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Age of a file that no writer can have made just now, without having had the time to lock it.
const OLD: Duration = Duration::from_secs(60);

/// What stands between a name and the number of the process that writes it.
const MARK: &str = ".tmp.";

/// The name under which this process writes `name`.
pub(crate) fn temporary_name(name: &OsStr) -> OsString {
    let mut temporary = name.to_os_string();
    temporary.push(format!("{MARK}{}", std::process::id()));
    temporary
}

/// The name that a temporary file was to have, and its process.
fn parse(temporary: &str) -> Option<(&str, u32)> {
    let (name, process) = temporary.rsplit_once(MARK)?;
    let is_number = !process.starts_with('0') && process.bytes().all(|b| b.is_ascii_digit());
    Some((name, process.parse().ok().filter(|_| is_number && !name.is_empty())?))
}

/// Whether there is such a process on this machine; none where the system does not tell.
fn is_there(process: u32) -> Option<bool> {
    let table = Path::new("/proc");
    table.join("self/stat").exists().then(|| table.join(process.to_string()).exists())
}

/// Removes temporary files of [`AtomicFile`](crate::AtomicFile)s whose processes ended without removing them, of those
/// names in `folder` that `is_wanted` names; says which. What cannot be looked at or removed stays.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// // No process has this number.
/// std::fs::write(folder.path().join("net-0001.params.tmp.4294967295"), "half")?;
/// std::fs::write(folder.path().join("mine.tmp.4294967295"), "")?;
/// # if cfg!(target_os = "linux") {
/// let removed = mxrs_format::remove_leftovers(folder.path(), &|name| name.ends_with(".params"));
/// assert_eq!(removed, [folder.path().join("net-0001.params.tmp.4294967295")]);
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn remove_leftovers(folder: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }) else {
        return Vec::new();
    };
    let mut removed = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some((_, process)) = name.to_str().and_then(parse).filter(|(name, _)| is_wanted(name)) else { continue };
        let path = folder.join(&name);
        if is_left(&path, process) && fs::remove_file(&path).is_ok() {
            removed.push(path);
        }
    }
    removed.sort();
    removed
}

/// Whether nobody writes the file any more.
fn is_left(path: &Path, process: u32) -> bool {
    let Ok(about) = fs::symlink_metadata(path) else { return false };
    if !about.is_file() {
        return false;
    }
    let there = if process == std::process::id() { None } else { is_there(process) };
    let age = || about.modified().ok().and_then(|then| SystemTime::now().duration_since(then).ok());
    let may_go = there.map_or_else(|| age().is_some_and(|age| age > OLD), |there| !there);
    // Network file systems lock only what is open for writing.
    may_go && File::options().write(true).open(path).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AtomicFile;
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Child, Command, Stdio};

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(parse("net-0001.params.tmp.12"), Some(("net-0001.params", 12)));
        assert_eq!(parse("a.tmp.1.tmp.22"), Some(("a.tmp.1", 22)));
        for other in ["a.tmp", "a.tmp.", "a.tmp.x", "a.tmp.+1", "a.tmp.01", "a.tmp.99999999999", ".tmp.1", "a.tmp.1.b"]
        {
            assert_eq!(parse(other), None, "{other}");
        }
        let own = temporary_name(OsStr::new("a"));
        assert_eq!(own.to_str().and_then(parse), Some(("a", std::process::id())));
    }

    /// Run in a process of its own, in the folder it is to write to: writes half of `w.params` and waits to be killed.
    #[test]
    #[ignore = "run by a_killed_writer_is_cleaned_up_after in a process of its own"]
    fn half_a_file() {
        let mut file = AtomicFile::create("w.params").unwrap();
        file.write_all(b"half").unwrap();
        file.flush().unwrap();
        println!("\nwriting");
        std::thread::sleep(Duration::from_secs(20));
    }

    fn writer(folder: &Path) -> Child {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "leftovers::tests::half_a_file", "--ignored", "--nocapture"])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line == "writing"));
        child
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A living writer's file stays, a killed one's goes with the next writing of the same name; other names stay.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_killed_writer_is_cleaned_up_after() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path();
        let (mut killed, mut living) = (writer(folder), writer(folder));
        killed.kill().unwrap();
        killed.wait().unwrap();
        let (half, other) = (format!("w.params.tmp.{}", killed.id()), format!("v.params.tmp.{}", killed.id()));
        fs::write(folder.join(&other), "").unwrap();
        let of_living = format!("w.params.tmp.{}", living.id());
        assert!(names(folder).contains(&half));

        crate::write_atomically(folder.join("w.params"), |_| Ok(())).unwrap();
        let mut left = vec![other, "w.params".to_owned(), of_living];
        left.sort();
        assert_eq!(names(folder), left);
        living.kill().unwrap();
        living.wait().unwrap();
    }

    /// A number that another process has got in the meantime, a file that some writer elsewhere has locked, what is no file.
    #[test]
    #[cfg(target_os = "linux")]
    fn what_may_be_somebodys_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = |process: u32| dir.path().join(format!("w.tmp.{process}"));
        let remove = || remove_leftovers(dir.path(), &|_| true);
        fs::write(path(std::os::unix::process::parent_id()), "").unwrap();
        let locked = File::create(path(u32::MAX)).unwrap();
        locked.lock().unwrap();
        fs::create_dir(path(u32::MAX - 1)).unwrap();
        std::os::unix::fs::symlink(path(u32::MAX), path(u32::MAX - 2)).unwrap();
        assert_eq!(remove(), [] as [PathBuf; 0]);
        drop(locked);
        assert_eq!(remove(), [path(u32::MAX)]);
    }

    /// In containers a killed process and the next one often have the same number.
    #[test]
    fn of_the_own_number_only_what_is_old_and_not_being_written_goes() {
        let dir = tempfile::tempdir().unwrap();
        let long_ago = SystemTime::now() - 2 * OLD;
        let make = |name: &str| AtomicFile::create(dir.path().join(name)).unwrap();
        let (being_written, new) = (make("slow"), temporary_name(OsStr::new("new")));
        let old = dir.path().join(temporary_name(OsStr::new("old")));
        fs::write(dir.path().join(new), "").unwrap();
        for path in [&old, &dir.path().join(temporary_name(OsStr::new("slow")))] {
            File::options().append(true).create(true).open(path).unwrap().set_modified(long_ago).unwrap();
        }
        assert_eq!(remove_leftovers(dir.path(), &|_| true), [old]);
        being_written.commit().unwrap();
    }
}
