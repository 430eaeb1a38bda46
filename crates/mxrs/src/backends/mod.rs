//! The backends of this build. No other module depends on the cargo features.

#[cfg(not(any(feature = "onednn", feature = "onednn-dynamic")))]
#[path = "disabled.rs"]
mod onednn;
#[cfg(any(feature = "onednn", feature = "onednn-dynamic"))]
#[path = "enabled.rs"]
mod onednn;

use mxrs_backend_cpu::CpuBackend;
use mxrs_backend_nnpack::{Nnpack, NnpackOptions};
use mxrs_env::Settings;
use mxrs_op::{Backend, ReferenceBackend};
use mxrs_sync::Team;
use mxrs_types::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// A backend that is ready to use.
#[derive(Clone)]
pub struct LoadedBackend {
    /// The backend.
    pub backend: Arc<dyn Backend>,
    /// Version of the backend's library; for mxrs' own backends, the version of mxrs.
    pub version: String,
}

/// A backend that a runtime does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentBackend {
    /// Name of the backend.
    pub name: &'static str,
    /// Why the backend is absent, and how to get it.
    pub reason: String,
}

/// The backends of a runtime. If several backends estimate the same time for a call, the first of them runs it.
#[derive(Clone, Default)]
pub struct Backends {
    /// Backends that may run operators.
    pub loaded: Vec<LoadedBackend>,
    /// Backends that are known but absent.
    pub absent: Vec<AbsentBackend>,
}

impl Backends {
    /// Whether this build has code for oneDNN.
    pub(crate) const HAVE_ONEDNN: bool = onednn::IS_BUILT;
    /// Whether this build loads oneDNN at run time.
    pub(crate) const LOAD_ONEDNN: bool = onednn::IS_LOADED;

    /// Loads the backends in this order: oneDNN, if the build and the settings allow it; the convolutions of mxrs; the
    /// backends of the caller; the other kernels of mxrs; the reference kernels.
    pub(crate) fn load(
        settings: &Settings,
        team: &Arc<Team>,
        extra: Vec<Arc<dyn Backend>>,
        convolutions: NnpackOptions,
    ) -> Self {
        let mut backends = Self::default();
        match onednn::load(settings, team) {
            Ok(loaded) => backends.loaded.push(loaded),
            Err(reason) => backends.absent.push(AbsentBackend { name: "onednn", reason }),
        }
        let version = |version: &str| version.to_owned();
        let nnpack: Arc<dyn Backend> = Nnpack::new(team, convolutions);
        backends.loaded.push(LoadedBackend { backend: nnpack, version: version(env!("CARGO_PKG_VERSION")) });
        backends.loaded.extend(
            extra.into_iter().map(|backend| LoadedBackend { backend, version: version("brought by the caller") }),
        );
        let cpu: Arc<dyn Backend> = match settings.resources.safe_accumulation {
            true => CpuBackend::new(team),
            false => CpuBackend::with_narrow_sums(team),
        };
        let own: [Arc<dyn Backend>; 2] = [cpu, Arc::new(ReferenceBackend)];
        backends
            .loaded
            .extend(own.map(|backend| LoadedBackend { backend, version: version(env!("CARGO_PKG_VERSION")) }));
        backends
    }

    /// Keeps only the backend called `name`, and the reference kernels for calls that it does not support.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::NotBuilt`] with the reason if the backend is known but absent;
    /// [`mxrs_types::ErrorKind::InvalidValue`] if the name is unknown.
    pub(crate) fn keep_only(mut self, name: &str) -> Result<Self> {
        if let Some(absent) = self.absent.iter().find(|absent| absent.name == name) {
            return Err(Error::not_built(format!("backend `{name}`"), absent.reason.clone()));
        }
        let names: Vec<&str> = self.loaded.iter().map(|loaded| loaded.backend.name()).collect();
        if !names.contains(&name) {
            return Err(Error::invalid("backend", format!("`{name}`"), format!("one of {}", names.join(", "))));
        }
        for loaded in &self.loaded {
            let other = loaded.backend.name();
            if other != name && other != "reference" {
                let reason = format!("only backend `{name}` was asked for");
                self.absent.push(AbsentBackend { name: other, reason });
            }
        }
        self.loaded.retain(|loaded| loaded.backend.name() == name || loaded.backend.name() == "reference");
        Ok(self)
    }

    /// The backends without their versions, in the form in which an executor takes them.
    pub fn list(&self) -> Vec<Arc<dyn Backend>> {
        self.loaded.iter().map(|loaded| Arc::clone(&loaded.backend)).collect()
    }
}

impl fmt::Debug for LoadedBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.backend.name(), self.version)
    }
}

impl fmt::Debug for Backends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backends").field("loaded", &self.loaded).field("absent", &self.absent).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backends() -> Backends {
        let mut settings = Settings::default();
        settings.onednn.enabled = false;
        Backends::load(&settings, &Team::serial(), Vec::new(), NnpackOptions::default())
    }

    #[test]
    fn a_backend_that_is_switched_off_is_absent_with_a_reason() {
        let backends = backends();
        assert_eq!(
            backends.list().iter().map(|backend| backend.name()).collect::<Vec<_>>(),
            ["nnpack", "cpu", "reference"]
        );
        assert_eq!(backends.absent[0].name, "onednn");
        let error = backends.keep_only("onednn").unwrap_err().to_string();
        assert!(error.starts_with("backend `onednn` is not built: "), "{error}");
    }

    #[test]
    fn an_unknown_backend_is_told_the_known_ones() {
        let error = backends().keep_only("cudnn").unwrap_err().to_string();
        assert_eq!(error, "backend: got `cudnn`, expected one of nnpack, cpu, reference");
        assert_eq!(backends().keep_only("reference").unwrap().list().len(), 1);
    }
}
