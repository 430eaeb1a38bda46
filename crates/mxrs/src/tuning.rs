//! Results of kernel tuning: the file that stores them, and when they may be used.

use crate::Backends;
use mxrs_env::{OperatorTuning, Settings};
use mxrs_exec::{KnownKernel, KnownKernels, Search, Tuning};
use mxrs_format::tuning::{Machine, TunedKernel, TuningFile};
use mxrs_processor::{Isa, Processor};
use mxrs_types::{DType, Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Microseconds per second.
const MICROS: f64 = 1e6;

/// The tuning of a runtime: known results, and optionally a search for new ones.
#[derive(Clone, Default)]
pub struct KernelTuning {
    tuning: Tuning,
    /// File that stores the results.
    file: Option<PathBuf>,
    machine: Machine,
}

impl KernelTuning {
    /// The tuning that the settings allow, for these backends and a team of `threads` threads: the stored results, and
    /// `search` for others.
    ///
    /// # Errors
    /// Returns an error that names the setting if `search` is given and a setting forbids it.
    pub fn new(settings: &Settings, backends: &Backends, threads: usize, search: Option<Search>) -> Result<Self> {
        if let Some(reason) = forbidden(settings) {
            return match search {
                None => Ok(Self::default()),
                Some(_) => Err(Error::invalid("search for kernels", reason, "that variable to allow it")),
            };
        }
        let setups = backends.list().into_iter().map(|backend| backend.setup()).filter(|setup| !setup.is_empty());
        let machine = Machine {
            cpu: Processor::here().to_string(),
            isa: Isa::best().name().into(),
            mxrs: env!("CARGO_PKG_VERSION").into(),
            setup: std::iter::once(format!("threads={threads}")).chain(setups).collect::<Vec<_>>().join("; "),
        };
        let file = settings.tuning_cache();
        let known = file.as_ref().map(|file| read(file, &machine)).unwrap_or_default();
        let dtypes = match settings.tuning.operator_tuning() {
            OperatorTuning::Only(dtypes) => Some(dtypes),
            OperatorTuning::All | OperatorTuning::Off => None,
        };
        let tuning = Tuning { known: Some(Arc::new(known)), search: search.map(Arc::new), dtypes };
        Ok(Self { tuning, file, machine })
    }

    /// The tuning in the form in which graphs are bound.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// Adds the results of searches to the file, and returns its path; `None` if there are no results or no file is used.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn keep(&self) -> Result<Option<PathBuf>> {
        let found = self.tuning.known.as_ref().map(|known| known.found()).unwrap_or_default();
        let (Some(file), false) = (&self.file, found.is_empty()) else { return Ok(None) };
        let results =
            found.into_iter().map(|(call, KnownKernel { backend, algorithm, seconds, seconds_of_estimate, .. })| {
                let [us, us_of_estimate] = [seconds, seconds_of_estimate].map(|seconds| seconds * MICROS);
                (call, TunedKernel { backend, algorithm, us, us_of_estimate })
            });
        if let Some(error) = TuningFile::merge_into(file, &self.machine, results)? {
            tracing::warn!("kernel tuning results that could not be read were replaced: {error}");
        }
        Ok(Some(file.clone()))
    }
}

/// The setting that forbids choosing kernels by timing, if there is one.
fn forbidden(settings: &Settings) -> Option<String> {
    let is_meant = |dtype| settings.tuning.operator_tuning().covers(dtype);
    if settings.resources.deterministic {
        return Some("MXNET_ENFORCE_DETERMINISM=1".into());
    }
    let name = "MXNET_USE_OPERATOR_TUNING";
    let value = || settings.value(name).unwrap_or_default();
    (!DType::ALL.into_iter().any(is_meant)).then(|| format!("{name}={}", value()))
}

/// The results for this machine. A file that cannot be used is ignored with a warning, and is not changed.
fn read(path: &Path, machine: &Machine) -> KnownKernels {
    let file = match TuningFile::open(path) {
        Ok(file) => file,
        Err(error) => {
            tracing::warn!("kernel tuning results are ignored: {error}");
            return KnownKernels::default();
        }
    };
    if !file.machines.is_empty() && !file.machines.iter().any(|of| of.machine.is_like(machine)) {
        let path = path.display();
        tracing::warn!(
            "kernel tuning results in {path} are ignored: they are of other processors or versions; run `mxrs tune` on this one"
        );
    }
    let results = file.of(machine).into_iter().flatten().map(|(call, found)| {
        let TunedKernel { backend, algorithm, us, us_of_estimate } = found.clone();
        let [seconds, seconds_of_estimate] = [us, us_of_estimate].map(|us| us / MICROS);
        (call.clone(), KnownKernel { backend, algorithm, seconds, seconds_of_estimate, is_new: false })
    });
    KnownKernels::new(results)
}
