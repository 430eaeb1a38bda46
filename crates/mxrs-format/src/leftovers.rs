//! Temporary files of writers that were killed.
//!
//! A writer holds the lock of its temporary file ([`File::lock`]); the system releases the lock when the process ends in any
//! way. Only a file with a free lock is removed. A free lock alone proves nothing: a writer may have created the file and
//! not locked it yet, and some file systems do not share locks between machines. Therefore the writer must also be proven
//! dead, or the file must be older than a minute.
//!
//! A writer is proven dead if it belongs to the caller's own boot and PID namespace and no process has its process id
//! now. The name of the temporary file contains all three: boot, namespace and process id. A name proves nothing in
//! these cases, where the age of the file decides:
//!
//! - The boot or the namespace is another one: that container or machine has processes of its own.
//! - The process id is the caller's own: in containers, a killed process and the next one often have the same id.
//! - The name contains no namespace.
//!
//! So a living writer loses its file only if machines do not see each other's locks and the writer wrote nothing for a
//! minute. Its commit then returns an error. Clones of one running virtual machine count as one machine.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Age above which a file counts as old: a writer locks its file within much less time after creating it.
const OLD: Duration = Duration::from_secs(60);

/// Folder in which Linux lists the running processes.
const PROCESSES: &str = "/proc";

/// Text between the name of the file and the process that writes it.
const MARK: &str = ".tmp.";

/// The process that writes a file, as its temporary name states it: `<process id>-<system>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Writer {
    process: u32,
    /// Hash of the boot and PID namespace of the process. `None` if the system does not reveal them, and in names of old
    /// releases.
    system: Option<u64>,
}

impl Writer {
    /// The current process as a writer.
    fn own() -> Self {
        Self { process: std::process::id(), system: own_system() }
    }

    fn parse(text: &str) -> Option<Self> {
        let (process, system) = match text.split_once('-') {
            Some((process, system)) => (process, Some(u64::from_str_radix(system, 16).ok()?)),
            None => (text, None),
        };
        let writer = Self { process: process.parse().ok()?, system };
        // Only the form that `Display` writes is accepted. A sign or another number of digits is refused.
        (writer.to_string() == text).then_some(writer)
    }

    /// The temporary name under which this writer writes the file `name`.
    fn temporary_name(self, name: &OsStr) -> OsString {
        let mut temporary = name.to_os_string();
        temporary.push(format!("{MARK}{self}"));
        temporary
    }

    /// Whether the process has ended; `None` if that cannot be determined.
    fn is_dead(self, own: Self) -> Option<bool> {
        let is_of_here = own.system.is_some() && self.system == own.system && self.process != own.process;
        let entry = Path::new(PROCESSES).join(self.process.to_string());
        is_of_here.then(|| matches!(entry.try_exists(), Ok(false)))
    }
}

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.system {
            Some(system) => write!(f, "{}-{system:016x}", self.process),
            None => write!(f, "{}", self.process),
        }
    }
}

/// Hash of the boot and PID namespace of this process. `None` if the system does not reveal them, if `/proc` shows the
/// process numbers of another namespace, or if `/proc` hides processes (process 1 is then not visible).
fn own_system() -> Option<u64> {
    let table = Path::new(PROCESSES);
    let status = fs::read_to_string(table.join("self/status")).ok()?;
    // The line lists the id of this process in each PID namespace, from the namespace of `/proc` to that of the process. A
    // single number means that both namespaces are the same.
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    if numbers.trim() != std::process::id().to_string() || !table.join("1").exists() {
        return None;
    }
    let boot = fs::read_to_string(table.join("sys/kernel/random/boot_id")).ok()?;
    let namespace = fs::read_link(table.join("self/ns/pid")).ok()?;
    let mut hasher = DefaultHasher::new();
    (boot.trim(), namespace).hash(&mut hasher);
    Some(hasher.finish())
}

/// The temporary name under which this process writes the file `name`.
pub(crate) fn temporary_name(name: &OsStr) -> OsString {
    Writer::own().temporary_name(name)
}

/// Splits a temporary name into the final name of the file and its writer.
fn parse(temporary: &str) -> Option<(&str, Writer)> {
    let (name, writer) = temporary.rsplit_once(MARK).filter(|(name, _)| !name.is_empty())?;
    Some((name, Writer::parse(writer)?))
}

/// Removes leftover temporary files of [`AtomicFile`](crate::AtomicFile)s whose processes ended without removing them, and
/// returns their paths. Only files in `folder` whose final names satisfy `is_wanted` are removed. If the system cannot prove
/// that a process has ended, its file stays until it is a minute old. Files that cannot be inspected, locked or removed
/// stay.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// let folder = tempfile::tempdir()?;
/// let long_ago = SystemTime::now() - Duration::from_secs(120);
/// for name in ["net-0001.params.tmp.12", "mine.tmp.12"] {
///     std::fs::File::create(folder.path().join(name))?.set_modified(long_ago)?;
/// }
/// let removed = mxrs_format::remove_leftovers(folder.path(), &|name| name.ends_with(".params"));
/// assert_eq!(removed, [folder.path().join("net-0001.params.tmp.12")]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn remove_leftovers(folder: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }) else {
        return Vec::new();
    };
    let own = Writer::own();
    let mut removed = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some((_, writer)) = name.to_str().and_then(parse).filter(|(name, _)| is_wanted(name)) else { continue };
        let path = folder.join(&name);
        if remove_if_left(&path, writer, own) {
            removed.push(path);
        }
    }
    removed.sort();
    removed
}

/// Removes the file if no process is writing it; returns whether it was removed.
fn remove_if_left(path: &Path, writer: Writer, own: Writer) -> bool {
    let Ok(about) = fs::symlink_metadata(path) else { return false };
    let age = || about.modified().ok().and_then(|then| SystemTime::now().duration_since(then).ok());
    let may_go = writer.is_dead(own).unwrap_or_else(|| age().is_some_and(|age| age > OLD));
    if !about.is_file() || !may_go {
        return false;
    }
    // Network file systems lock only files that are open for writing. The lock is held until the file is removed, so that no
    // new writer takes it over.
    let Ok(file) = File::options().write(true).open(path) else { return false };
    file.try_lock().is_ok() && fs::remove_file(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AtomicFile;
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Child, Command, Stdio};

    #[test]
    fn names_are_taken_apart() {
        let of = |process, system| Writer { process, system };
        assert_eq!(parse("net-0001.params.tmp.12"), Some(("net-0001.params", of(12, None))));
        assert_eq!(parse("a.tmp.1.tmp.22-00000000000000ff"), Some(("a.tmp.1", of(22, Some(255)))));
        for other in ["a.tmp", "a.tmp.", "a.tmp.x", "a.tmp.+1", "a.tmp.01", "a.tmp.99999999999", ".tmp.1", "a.tmp.1.b"]
        {
            assert_eq!(parse(other), None, "{other}");
        }
        for system in ["", "ff", "00000000000000FF", "+0000000000000ff", "00000000000000ff0", "00000000000000ff-1"] {
            assert_eq!(parse(&format!("a.tmp.1-{system}")), None, "{system}");
        }
        let own = temporary_name(OsStr::new("a"));
        assert_eq!(own.to_str().and_then(parse), Some(("a", Writer::own())));
        assert_eq!(Writer::own().process, std::process::id());
    }

    /// Runs in a process of its own, in the folder to write to: writes half of `w.params` and waits to be killed.
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

    /// The temporary name of a file that the process with this number writes on this system.
    fn name_of(name: &str, process: u32) -> String {
        Writer { process, ..Writer::own() }.temporary_name(OsStr::new(name)).into_string().unwrap()
    }

    fn age(path: &Path, age: Duration) {
        File::options().append(true).create(true).open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The temporary file of a living writer stays. That of a killed writer is removed when the same name is written next.
    /// Temporary files for other names stay.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_killed_writer_is_cleaned_up_after() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path();
        let (mut killed, mut living) = (writer(folder), writer(folder));
        killed.kill().unwrap();
        killed.wait().unwrap();
        let (half, other) = (name_of("w.params", killed.id()), name_of("v.params", killed.id()));
        fs::write(folder.join(&other), "").unwrap();
        let of_living = name_of("w.params", living.id());
        assert!(names(folder).contains(&half));

        crate::write_atomically(folder.join("w.params"), |_| Ok(())).unwrap();
        let mut left = vec![other, "w.params".to_owned(), of_living];
        left.sort();
        assert_eq!(names(folder), left);
        living.kill().unwrap();
        living.wait().unwrap();
    }

    /// Temporary names that stay: a file whose process number belongs to a living process, a file that another writer has
    /// locked, a folder, and a symbolic link.
    #[test]
    #[cfg(target_os = "linux")]
    fn what_may_be_somebodys_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = |process: u32| dir.path().join(name_of("w", process));
        let remove = || remove_leftovers(dir.path(), &|_| true);
        age(&path(std::os::unix::process::parent_id()), 2 * OLD);
        let locked = File::create(path(u32::MAX)).unwrap();
        locked.lock().unwrap();
        fs::create_dir(path(u32::MAX - 1)).unwrap();
        std::os::unix::fs::symlink(path(u32::MAX), path(u32::MAX - 2)).unwrap();
        assert_eq!(remove(), [] as [PathBuf; 0]);
        locked.unlock().unwrap();
        assert_eq!(remove(), [path(u32::MAX)]);
    }

    /// If the writer is in another container, on another machine, or from an old release, the absence of its process id
    /// in the local process table proves nothing: the writer may have created the file and not locked it yet.
    #[test]
    fn of_writers_elsewhere_only_what_is_old_goes() {
        let dir = tempfile::tempdir().unwrap();
        let other = Writer::own().system.unwrap_or_default() ^ 1;
        let of = |system| Writer { process: u32::MAX, system };
        for (i, writer) in [of(Some(other)), of(None)].into_iter().enumerate() {
            let path = |name: &str| dir.path().join(writer.temporary_name(OsStr::new(&format!("{name}{i}"))));
            age(&path("new"), Duration::ZERO);
            age(&path("nearly"), OLD / 2);
            age(&path("old"), 2 * OLD);
            assert_eq!(remove_leftovers(dir.path(), &|_| true), [path("old")], "{writer}");
        }
        assert_eq!(names(dir.path()).len(), 4);
    }

    /// The identification of this boot and namespace exists, and it is the same at every call.
    #[test]
    #[cfg(target_os = "linux")]
    fn this_system_is_known() {
        assert!(own_system().is_some(), "a killed process cannot be recognized without it");
        assert_eq!(own_system(), own_system());
    }

    /// In containers, a killed process and the next one often have the same process id. So a file with the caller's own
    /// id is removed only if it is old and not locked.
    #[test]
    fn of_the_own_number_only_what_is_old_and_not_being_written_goes() {
        let dir = tempfile::tempdir().unwrap();
        let make = |name: &str| AtomicFile::create(dir.path().join(name)).unwrap();
        let (being_written, new) = (make("slow"), temporary_name(OsStr::new("new")));
        let old = dir.path().join(temporary_name(OsStr::new("old")));
        fs::write(dir.path().join(new), "").unwrap();
        for path in [&old, &dir.path().join(temporary_name(OsStr::new("slow")))] {
            age(path, 2 * OLD);
        }
        assert_eq!(remove_leftovers(dir.path(), &|_| true), [old]);
        being_written.commit().unwrap();
    }
}
