//! The record of a running job: a folder in the folder of temporary files, with the processes of the job. Only the user who
//! started the job can read it or send messages to its workers.

use crate::exit::{Failure, Outcome};
use mxrs::Error;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The beginning of the names of folders of jobs.
const PREFIX: &str = "mxrs-job-";
/// The file with the record.
const FILE: &str = "job.json";
/// How long the processes of a job may take to end after Ctrl-C. In this time they write a checkpoint.
pub const CHECKPOINT: Duration = Duration::from_secs(60);

/// A process, identified by its number and its start, because the system may later give the number to another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The number of the process.
    pub pid: u32,
    /// When it started, in clock ticks since the machine started.
    pub started: u64,
}

impl Process {
    /// The process with this number; `None` if there is none, or if it has ended but its parent has not waited for it yet (a
    /// zombie).
    pub fn find(pid: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the program is in parentheses and may contain anything. Field 22 is the start; the name is field 2.
        let fields = stat.rsplit_once(')')?.1;
        let mut fields = fields.split_whitespace();
        if fields.next()? == "Z" {
            return None;
        }
        let started = fields.nth(18)?.parse().ok()?;
        Some(Self { pid, started })
    }

    /// Whether the process is still running.
    pub fn is_running(self) -> bool {
        Self::find(self.pid) == Some(self)
    }
}

/// The processes of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The process of `mxrs launch`.
    pub launcher: Process,
    /// The processes that it has started, each the first of its process group.
    pub workers: Vec<Process>,
    /// The command of a worker.
    pub command: String,
}

/// A job of this process. Its folder is removed when this value is dropped.
pub struct Job {
    folder: tempfile::TempDir,
}

impl Job {
    /// Makes the folder of a job, which only this user can use.
    ///
    /// # Errors
    /// Fails if the folder cannot be made.
    pub fn create() -> Outcome<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).rand_bytes(8).tempdir();
        let folder = folder.map_err(|error| Failure::Run(Error::io(std::env::temp_dir(), &error)))?;
        Ok(Self { folder })
    }

    /// The folder, for the sockets of the workers.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The name of the job, for `mxrs kill`.
    pub fn name(&self) -> String {
        name_of(self.folder.path()).unwrap_or_default()
    }

    /// Writes the record. Another process finds the old record or the new one, and never a part of it.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write(&self, record: &Record) -> Outcome {
        let path = self.folder.path().join(FILE);
        let text =
            serde_json::to_vec(record).map_err(|error| Failure::Run(Error::invalid("job", error, "a record")))?;
        let written = tempfile::NamedTempFile::new_in(self.folder.path()).and_then(|mut file| {
            file.write_all(&text)?;
            file.persist(&path).map_err(|error| error.error)
        });
        written.map(drop).map_err(|error| Failure::Run(Error::io(path, &error)))
    }
}

fn name_of(folder: &Path) -> Option<String> {
    folder.file_name()?.to_str()?.strip_prefix(PREFIX).map(str::to_owned)
}

/// The jobs of this user, by name, with their folders.
pub fn all() -> Vec<(String, PathBuf, Record)> {
    let own = rustix::process::getuid().as_raw();
    let mut jobs = Vec::new();
    for entry in std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        use std::os::unix::fs::MetadataExt;
        let path = entry.path();
        let Some(name) = name_of(&path) else { continue };
        // Folders of other users are skipped, because their records could name any process for `mxrs kill` to end.
        if !std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir() && found.uid() == own) {
            continue;
        }
        let record = std::fs::read(path.join(FILE)).ok().and_then(|text| serde_json::from_slice(&text).ok());
        jobs.extend(record.map(|record| (name, path, record)));
    }
    jobs.sort_by(|a, b| a.0.cmp(&b.0));
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_recognized_by_their_start() {
        let own = Process::find(std::process::id()).unwrap();
        assert!(own.is_running());
        assert!(!Process { started: own.started + 1, ..own }.is_running());
        assert_eq!(Process::find(u32::MAX), None);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let since = std::time::Instant::now();
        while Process::find(child.id()).is_some() {
            assert!(since.elapsed() < Duration::from_secs(60), "a process that has ended is not running");
        }
        child.wait().unwrap();
    }

    #[test]
    fn a_job_is_found_while_its_record_is_written_again() {
        let job = Job::create().unwrap_or_else(|failure| panic!("{failure}"));
        let own = Process::find(std::process::id()).unwrap();
        let write = |n: usize| {
            let record = Record { launcher: own, workers: vec![own; n], command: "true".into() };
            job.write(&record).unwrap_or_else(|failure| panic!("{failure}"));
        };
        write(1);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| (0..500).for_each(|i| write(1 + i % 50)));
            while !writer.is_finished() {
                assert!(all().iter().any(|(name, ..)| *name == job.name()), "a record that is not whole");
            }
        });
    }

    #[test]
    fn jobs_are_found_until_they_end() {
        let job = Job::create().unwrap_or_else(|failure| panic!("{failure}"));
        let own = Process::find(std::process::id()).unwrap();
        let record = Record { launcher: own, workers: vec![own], command: "true".into() };
        assert!(all().iter().all(|(name, ..)| *name != job.name()), "without a record it is not a job");
        job.write(&record).unwrap_or_else(|failure| panic!("{failure}"));
        let found = all().into_iter().find(|(name, ..)| *name == job.name());
        assert_eq!(found, Some((job.name(), job.folder().to_owned(), record)));
        let name = job.name();
        drop(job);
        assert!(all().iter().all(|(other, ..)| *other != name));
    }
}
