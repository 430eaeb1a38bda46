//! Sources of variables: the process environment, or a map in a test.

use std::ffi::OsString;

/// A source that can list environment variables.
pub trait EnvSource {
    /// Every variable with its value, in any order. If a name occurs twice, the later value is used.
    fn vars(&self) -> Vec<(OsString, OsString)>;
}

/// The environment of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsSource;

impl EnvSource for OsSource {
    // The one place in mxrs that reads the process environment.
    #[allow(clippy::disallowed_methods)]
    fn vars(&self) -> Vec<(OsString, OsString)> {
        std::env::vars_os().collect()
    }
}

/// A fixed set of variables, for tests and for embedding.
#[derive(Clone, Debug, Default)]
pub struct MapSource {
    vars: Vec<(OsString, OsString)>,
}

impl MapSource {
    /// A source with these variables.
    pub fn new<N: Into<OsString>, V: Into<OsString>>(vars: impl IntoIterator<Item = (N, V)>) -> Self {
        Self { vars: vars.into_iter().map(|(name, value)| (name.into(), value.into())).collect() }
    }

    /// A source without variables: every setting has its default.
    pub fn empty() -> Self {
        Self::default()
    }
}

impl EnvSource for MapSource {
    fn vars(&self) -> Vec<(OsString, OsString)> {
        self.vars.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_environment_is_visible() {
        // Cargo sets this name for every test process.
        assert!(OsSource.vars().iter().any(|(name, _)| name == "CARGO_MANIFEST_DIR"));
    }
}
