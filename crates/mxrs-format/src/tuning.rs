//! Results of kernel tuning: which kernel was the fastest for a call, by machine. JSON, for people to read and to delete from.
//!
//! ```text
//! {"format": "mxrs kernel tuning", "version": 1, "machines": [
//!   {"cpu": "…", "isa": "avx512", "mxrs": "0.1.0", "setup": "…",
//!    "calls": {"<call>": {"backend": "nnpack", "way": "f4x4_3x3@2", "us": 342.1, "us_of_estimate": 360.0}}}]}
//! ```
//!
//! A result belongs to the processor, instructions, version and setup (backends, their versions, threads and settings) it was
//! measured with: all results of other machines are kept as they are when a file is written again.

use crate::{fault, write_atomically};
use mxrs_types::{Error, FormatErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// First field of a file.
const FORMAT: &str = "mxrs kernel tuning";
/// Version that is written and read.
pub const VERSION: u32 = 1;
/// Larger files are refused: a network has some hundred results of some hundred bytes.
const MOST_BYTES: u64 = 64 << 20;

/// What results belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Machine {
    /// Processor.
    pub cpu: String,
    /// Instructions that kernels use.
    pub isa: String,
    /// Version of mxrs.
    pub mxrs: String,
    /// Backends with their versions, threads and settings.
    pub setup: String,
}

impl Machine {
    /// Whether the processor and the version are the same, whatever the setup.
    pub fn is_like(&self, other: &Self) -> bool {
        (&self.cpu, &self.isa, &self.mxrs) == (&other.cpu, &other.isa, &other.mxrs)
    }
}

/// What was found for a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunedKernel {
    /// Backend.
    pub backend: String,
    /// Its way to run the call.
    pub way: String,
    /// Microseconds of a run.
    pub us: f64,
    /// Microseconds of what estimates take.
    pub us_of_estimate: f64,
}

/// Results on one machine, by call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OfMachine {
    /// The machine.
    #[serde(flatten)]
    pub machine: Machine,
    /// The results.
    pub calls: BTreeMap<String, TunedKernel>,
}

/// A file of results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TuningFile {
    /// By machine.
    pub machines: Vec<OfMachine>,
}

/// The file as it is written.
#[derive(Serialize)]
struct Written<'a> {
    format: &'static str,
    version: u32,
    machines: &'a [OfMachine],
}

/// What tells whether the rest can be read.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

/// The rest.
#[derive(Deserialize)]
struct Body {
    machines: Vec<OfMachine>,
}

impl TuningFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// Text that is damaged or of another version.
    pub fn parse(text: &str) -> Result<Self> {
        let damaged = |error: serde_json::Error| refused(format!("kernel tuning results: {error}"));
        let Head { format, version } = serde_json::from_str(text).map_err(damaged)?;
        if format != FORMAT {
            return Err(refused(format!("format `{format}`, expected `{FORMAT}`")));
        }
        if version != VERSION {
            return Err(refused(format!("kernel tuning results of version {version}, this is version {VERSION}")));
        }
        let Body { machines } = serde_json::from_str(text).map_err(damaged)?;
        let mut file = Self::default();
        for of_machine in machines {
            let results = of_machine.calls.into_iter();
            file.add(
                &of_machine.machine,
                results.filter(|(_, found)| [found.us, found.us_of_estimate].iter().all(|us| *us >= 0.0)),
            );
        }
        Ok(file)
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        let written = Written { format: FORMAT, version: VERSION, machines: &self.machines };
        // Keys are text and numbers finite, so this cannot fail.
        serde_json::to_string_pretty(&written).unwrap_or_default() + "\n"
    }

    /// Reads a file; one that does not exist has no results.
    ///
    /// # Errors
    /// Those of reading and of [`Self::parse`], with the path.
    pub fn open(path: &Path) -> Result<Self> {
        let mut text = String::new();
        match File::open(path).map(|file| file.take(MOST_BYTES).read_to_string(&mut text)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) | Ok(Err(error)) => return Err(Error::io(path, &error)),
            Ok(Ok(_)) => {}
        }
        Self::parse(&text).map_err(|error| error.with_path(path))
    }

    /// The results of a machine.
    pub fn of(&self, machine: &Machine) -> Option<&BTreeMap<String, TunedKernel>> {
        self.machines.iter().find(|of| of.machine == *machine).map(|of| &of.calls)
    }

    /// Adds results of a machine; they take the place of those of the same calls.
    pub fn add(&mut self, machine: &Machine, results: impl IntoIterator<Item = (String, TunedKernel)>) {
        let there = self.machines.iter().position(|of| of.machine == *machine);
        let at = there.unwrap_or_else(|| {
            self.machines.push(OfMachine { machine: machine.clone(), calls: BTreeMap::new() });
            self.machines.len() - 1
        });
        self.machines[at].calls.extend(results);
    }

    /// Adds results of a machine to a file, so that whoever writes it at the same time loses nothing, and whoever reads it finds
    /// it whole. Makes the folder. A file that cannot be read is replaced; the error that says why comes back.
    ///
    /// # Errors
    /// Those of writing.
    pub fn merge_into(
        path: &Path,
        machine: &Machine,
        results: impl IntoIterator<Item = (String, TunedKernel)>,
    ) -> Result<Option<Error>> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |error: std::io::Error| Error::io(&path, &error)
        };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(io(folder))?;
        }
        // One after the other, also within a process; where files cannot be locked, each still writes a whole one.
        let lock = File::create(lock_path(path)).map_err(io(path))?;
        let _ = lock.lock();
        let (mut file, damage) = match Self::open(path) {
            Ok(file) => (file, None),
            Err(error) => (Self::default(), Some(error)),
        };
        file.add(machine, results);
        let text = file.to_text();
        write_atomically(path, |sink| sink.write_all(text.as_bytes()).map_err(|error| fault::io(&error)))?;
        Ok(damage)
    }
}

fn refused(what: String) -> Error {
    fault::whole(FormatErrorKind::Syntax, what)
}

/// The file that writers lock: the other one is replaced, so a lock on it would protect nothing.
fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

#[cfg(test)]
mod tests;
