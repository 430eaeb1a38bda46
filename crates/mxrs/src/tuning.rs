//! Kernels that were found to be fastest: the file they are kept in, and when they may be used.

use crate::Backends;
use mxrs_backend_nnpack::{Isa, Processor};
use mxrs_env::{OperatorTuning, Settings};
use mxrs_exec::{KnownKernel, KnownKernels, Search, Tuning};
use mxrs_format::tuning::{Machine, TunedKernel, TuningFile};
use mxrs_types::{DType, Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Microseconds of a second.
const MICROS: f64 = 1e6;

/// What decides among kernels in a runtime.
#[derive(Clone, Default)]
pub struct KernelTuning {
    tuning: Tuning,
    /// Where results are kept.
    file: Option<PathBuf>,
    machine: Machine,
}

impl KernelTuning {
    /// As the settings say, for these backends on a team of so many threads: results that are kept, and a search for others.
    ///
    /// # Errors
    /// A search that a setting forbids, naming it.
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

    /// What graphs are bound with.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// Adds what searches have found to the file, which is returned; `None` where there is nothing to keep or nowhere to keep
    /// it.
    ///
    /// # Errors
    /// Those of writing.
    pub fn keep(&self) -> Result<Option<PathBuf>> {
        let found = self.tuning.known.as_ref().map(|known| known.found()).unwrap_or_default();
        let (Some(file), false) = (&self.file, found.is_empty()) else { return Ok(None) };
        let results =
            found.into_iter().map(|(call, KnownKernel { backend, way, seconds, seconds_of_estimate, .. })| {
                let [us, us_of_estimate] = [seconds, seconds_of_estimate].map(|seconds| seconds * MICROS);
                (call, TunedKernel { backend, way, us, us_of_estimate })
            });
        if let Some(error) = TuningFile::merge_into(file, &self.machine, results)? {
            tracing::warn!("kernel tuning results that could not be read were replaced: {error}");
        }
        Ok(Some(file.clone()))
    }
}

/// The setting that keeps timing from deciding, if there is one.
fn forbidden(settings: &Settings) -> Option<String> {
    let is_meant = |dtype| settings.tuning.operator_tuning().covers(dtype);
    if settings.resources.deterministic {
        return Some("MXNET_ENFORCE_DETERMINISM=1".into());
    }
    let name = "MXNET_USE_OPERATOR_TUNING";
    let value = || settings.value(name).unwrap_or_default();
    (!DType::ALL.into_iter().any(is_meant)).then(|| format!("{name}={}", value()))
}

/// The results for this machine. A file that is of no use is told of and left alone.
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
        let TunedKernel { backend, way, us, us_of_estimate } = found.clone();
        let [seconds, seconds_of_estimate] = [us, us_of_estimate].map(|us| us / MICROS);
        (call.clone(), KnownKernel { backend, way, seconds, seconds_of_estimate, is_new: false })
    });
    KnownKernels::new(results)
}
