//! The lock of a prefix: only one training at a time writes checkpoints under it.
//!
//! Two trainings would use the same names for their checkpoints, overwrite each other's epochs and delete them. So a
//! training holds a lock of the operating system on `<prefix>-training.lock` from before it reads a checkpoint until it
//! ends. The system releases the lock when the process ends for any reason, so a killed training does not block another. The
//! text in the file describes the holder and is only used in the error message of a training that is refused.

use super::split;
use mxrs_types::{Error, Result};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Suffix of the lock file's name, after the prefix.
const SUFFIX: &str = "-training.lock";

/// Largest number of bytes of the file that are read. The description of a holder is shorter.
const MAX_TEXT: u64 = 8 << 10;

/// Largest number of characters of the holder's command that are written to the file.
const MAX_COMMAND: usize = 400;

/// How often opening the file is tried again because another training removed it in the meantime.
const ATTEMPTS: usize = 100;

/// The right to write checkpoints with a prefix. It ends when the value is dropped.
#[derive(Debug)]
pub struct PrefixLock {
    path: PathBuf,
    /// The lock file, open and locked; `None` on a file system without locks.
    file: Option<File>,
}

impl PrefixLock {
    /// Takes the lock, and creates the folder of `prefix` if it does not exist. On a file system without locks it logs a
    /// warning and locks nothing.
    ///
    /// # Errors
    /// Returns an error if another training holds the lock (the error names its process, host, command and start), if the
    /// name is not UTF-8, or if the folder cannot be created or written.
    pub fn take(prefix: &Path) -> Result<Self> {
        let (folder, _) = split(prefix)?;
        let failed = |e: &io::Error, path: &Path| {
            Error::io(path, e).context(format!("taking the lock for checkpoints of the prefix {}", prefix.display()))
        };
        fs::create_dir_all(&folder).map_err(|e| failed(&e, &folder))?;
        let mut path = prefix.as_os_str().to_os_string();
        path.push(SUFFIX);
        let path = PathBuf::from(path);
        for _ in 0..ATTEMPTS {
            // Append mode, because opening the file must not truncate the text of a holder.
            let opened = File::options().read(true).append(true).create(true).open(&path);
            let mut file = opened.map_err(|e| failed(&e, &path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(refusal(prefix, &path, &mut file)),
                Err(TryLockError::Error(error)) => {
                    tracing::warn!(
                        "\"{}\" cannot be locked ({error}): start no second training with the prefix \"{}\"",
                        path.display(),
                        prefix.display()
                    );
                    return Ok(Self { path, file: None });
                }
            }
            // The previous training may have removed the file after it was opened and before it was locked; another training
            // may have created a new file.
            if is_at(&file, &path) {
                describe(&mut file).map_err(|e| failed(&e, &path))?;
                return Ok(Self { path, file: Some(file) });
            }
        }
        Err(Error::invalid(path.display().to_string(), "a file that other processes keep replacing", "a file to lock"))
    }
}

impl Drop for PrefixLock {
    /// Removes the file while it is still locked. No other process removes it while the lock is held.
    fn drop(&mut self) {
        if self.file.is_some() && cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether `path` still refers to the open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |about: io::Result<fs::Metadata>| about.ok().map(|about| (about.dev(), about.ino()));
    identity(file.metadata()).is_some_and(|own| identity(fs::metadata(path)) == Some(own))
}

/// On systems other than Unix the lock file is never removed, so `path` always refers to the open file.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Writes a description of the holder of the lock into the file.
fn describe(file: &mut File) -> io::Result<()> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let command: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let command: String = command.join(" ").chars().take(MAX_COMMAND).collect();
    let text =
        serde_json::json!({ "process": std::process::id(), "host": host.trim(), "since": since, "command": command });
    file.set_len(0)?;
    writeln!(file, "{text}")?;
    file.flush()
}

fn refusal(prefix: &Path, path: &Path, file: &mut File) -> Error {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| (&*file).take(MAX_TEXT).read_to_string(&mut text));
    // Some systems refuse to read a locked file, and a holder may not have written its description yet.
    let holder = read.ok().and_then(|_| serde_json::from_str(&text).ok());
    let holder = holder.map_or_else(|| "of another process".to_owned(), |holder| holder_text(&holder));
    Error::invalid(
        format!("prefix of checkpoints \"{}\"", prefix.display()),
        format!("a training that is writing there: {holder} (it holds {})", path.display()),
        "a prefix of its own for each training, or that the other one ends first",
    )
}

/// The description of the holder for an error message.
fn holder_text(holder: &serde_json::Value) -> String {
    let mut text = format!("process {}", holder["process"]);
    if let Some(host) = holder["host"].as_str().filter(|host| !host.is_empty()) {
        text += &format!(" on {host}");
    }
    let since = holder["since"].as_u64().and_then(|s| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(s)));
    if let Some(since) = since {
        text += &format!(", begun {} ago", age(SystemTime::now().duration_since(since).unwrap_or_default()));
    }
    if let Some(command) = holder["command"].as_str() {
        text += &format!(", `{command}`");
    }
    text
}

/// A duration in its largest unit.
fn age(age: Duration) -> String {
    match age.as_secs() {
        s @ 0..120 => format!("{s} seconds"),
        s @ 120..7200 => format!("{} minutes", s / 60),
        s @ 7200..172_800 => format!("{} hours", s / 3600),
        s => format!("{} days", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::{PrefixLock, age};
    use std::time::Duration;

    #[test]
    fn one_holder_at_a_time_and_nothing_stays() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("new/net");
        let lock = PrefixLock::take(&prefix).unwrap();
        let error = PrefixLock::take(&prefix).unwrap_err().to_string();
        for words in ["net", &format!("process {}", std::process::id()), "seconds ago"] {
            assert!(error.contains(words), "{words}: {error}");
        }
        let other = PrefixLock::take(&dir.path().join("new/other")).unwrap();
        drop((lock, other));
        drop(PrefixLock::take(&prefix).unwrap());
        let n_left = std::fs::read_dir(dir.path().join("new")).unwrap().count();
        assert_eq!(n_left, if cfg!(unix) { 0 } else { 2 });
    }

    /// A killed process leaves the lock file, but the system has released the lock.
    #[test]
    fn a_file_without_a_holder_does_not_block() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("net-training.lock");
        let text = r#"{"process":1,"host":"here","since":0,"command":"mxrs"}"#;
        std::fs::write(&path, text.repeat(3)).unwrap();
        let _lock = PrefixLock::take(&dir.path().join("net")).unwrap();
        if cfg!(unix) {
            let text = std::fs::read_to_string(&path).unwrap();
            let holder: serde_json::Value = serde_json::from_str(&text).expect("the old text is gone");
            assert_eq!(holder["process"], std::process::id());
        }
    }

    /// If several threads try to take the lock at the same time, at most one holds it.
    #[test]
    fn threads_that_take_and_leave_never_hold_it_together() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("net");
        let (holders, n_taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        if let Ok(lock) = PrefixLock::take(&prefix) {
                            assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                            n_taken.fetch_add(1, Ordering::SeqCst);
                            holders.fetch_sub(1, Ordering::SeqCst);
                            drop(lock);
                        }
                    }
                });
            }
        });
        assert!(n_taken.into_inner() >= 4);
    }

    #[test]
    fn ages_have_units() {
        let text = |s| age(Duration::from_secs(s));
        assert_eq!([text(5), text(180), text(7300), text(200_000)], ["5 seconds", "3 minutes", "2 hours", "2 days"]);
    }
}
