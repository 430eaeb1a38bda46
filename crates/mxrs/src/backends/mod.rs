//! Which backends this build has. The one place where a cargo feature is asked for.

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

/// A backend that is ready.
#[derive(Clone)]
pub struct LoadedBackend {
    /// The backend.
    pub backend: Arc<dyn Backend>,
    /// Version of the library behind it, or of mxrs.
    pub version: String,
}

/// A backend that a runtime does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentBackend {
    /// Its name.
    pub name: &'static str,
    /// Why it is not there, and what to do about it.
    pub reason: String,
}

/// The backends of a runtime, cheapest kernels first.
#[derive(Clone, Default)]
pub struct Backends {
    /// Those that may run operators.
    pub loaded: Vec<LoadedBackend>,
    /// Those that are known and not there.
    pub absent: Vec<AbsentBackend>,
}

impl Backends {
    /// Whether this build has code for oneDNN.
    pub(crate) const HAVE_ONEDNN: bool = onednn::IS_BUILT;

    /// Loads what this build and the settings allow and the convolutions of mxrs, then what the caller brings; other kernels of
    /// mxrs come next, and the reference kernels last.
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
        let own: [Arc<dyn Backend>; 2] = [CpuBackend::new(team), Arc::new(ReferenceBackend)];
        backends
            .loaded
            .extend(own.map(|backend| LoadedBackend { backend, version: version(env!("CARGO_PKG_VERSION")) }));
        backends
    }

    /// Keeps the backend called `name`, and the reference kernels for what it cannot run.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::NotBuilt`] with the reason when it is known and not there,
    /// [`mxrs_types::ErrorKind::InvalidValue`] when nobody knows it.
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

    /// The backends alone, as an executor takes them.
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
