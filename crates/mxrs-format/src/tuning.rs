//! Results of kernel tuning: the fastest kernel for each call, by machine. The file is JSON, so that users can read it and
//! delete entries.
//!
//! ```text
//! {"format": "mxrs kernel tuning", "version": 1, "machines": [
//!   {"cpu": "…", "isa": "avx512", "mxrs": "0.1.0", "setup": "…",
//!    "calls": {"<call>": {"backend": "nnpack", "way": "f4x4_3x3@2", "us": 342.1, "us_of_estimate": 360.0}}}]}
//! ```
//!
//! A result belongs to the processor, instruction set, version and setup (backends, their versions, threads and settings)
//! that it was measured with. Writing the file keeps all results of other machines.

use crate::{fault, write_atomically};
use mxrs_types::{Error, FormatErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Value of the field `format`, the first of a file.
const FORMAT: &str = "mxrs kernel tuning";
/// Version of the format that is written and read.
pub const VERSION: u32 = 1;
/// Largest file size accepted. A network has a few hundred results of a few hundred bytes each.
const MOST_BYTES: u64 = 64 << 20;

/// Machine and software that results belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Machine {
    /// Name of the processor.
    pub cpu: String,
    /// Instruction set that kernels use.
    pub isa: String,
    /// Version of mxrs.
    pub mxrs: String,
    /// Backends with their versions, threads and settings.
    pub setup: String,
}

impl Machine {
    /// Whether processor, instruction set and version are equal; the setup may differ.
    pub fn is_like(&self, other: &Self) -> bool {
        (&self.cpu, &self.isa, &self.mxrs) == (&other.cpu, &other.isa, &other.mxrs)
    }
}

/// The fastest kernel for a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunedKernel {
    /// Backend that offers the kernel.
    pub backend: String,
    /// Algorithm by which the backend runs the call.
    #[serde(rename = "way")]
    pub algorithm: String,
    /// Time of one run in microseconds.
    pub us: f64,
    /// Time in microseconds of the algorithm that estimates alone would choose.
    pub us_of_estimate: f64,
}

/// Results of one machine, by call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OfMachine {
    /// The machine.
    #[serde(flatten)]
    pub machine: Machine,
    /// The results, by call.
    pub calls: BTreeMap<String, TunedKernel>,
}

/// A file of results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TuningFile {
    /// The results, one entry per machine.
    pub machines: Vec<OfMachine>,
}

/// The file in the form in which it is written.
#[derive(Serialize)]
struct Written<'a> {
    format: &'static str,
    version: u32,
    machines: &'a [OfMachine],
}

/// The fields that decide whether the remaining fields can be parsed.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

/// The fields after the head.
#[derive(Deserialize)]
struct Body {
    machines: Vec<OfMachine>,
}

impl TuningFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// Fails if the text is damaged or of another version.
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
        // The keys are texts and the numbers are finite, so this cannot fail.
        serde_json::to_string_pretty(&written).unwrap_or_default() + "\n"
    }

    /// Reads a file. A file that does not exist gives an empty result.
    ///
    /// # Errors
    /// Returns the errors of reading and of [`Self::parse`], with the path.
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

    /// Adds results of a machine; they replace earlier results for the same calls.
    pub fn add(&mut self, machine: &Machine, results: impl IntoIterator<Item = (String, TunedKernel)>) {
        let there = self.machines.iter().position(|of| of.machine == *machine);
        let at = there.unwrap_or_else(|| {
            self.machines.push(OfMachine { machine: machine.clone(), calls: BTreeMap::new() });
            self.machines.len() - 1
        });
        self.machines[at].calls.extend(results);
    }

    /// Adds results of a machine to a file, and creates its folder if needed. Concurrent writers lose no results, and
    /// readers always find a complete file. A file that cannot be read is replaced; the reason is returned as `Some(error)`.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
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
        // The lock serializes writers, also within a process. If files cannot be locked, each writer still writes a complete
        // file.
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

/// The file that writers lock. The results file itself is replaced by each writer, so a lock on it would protect nothing.
fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

#[cfg(test)]
mod tests;
