//! Settings of the profiler, with MXNet's names and defaults.

use mxrs_trace::Kinds;
use mxrs_types::{Error, Result};
use std::path::PathBuf;
use std::time::Duration;

/// What is recorded and where it is written.
///
/// ```
/// use mxrs_profiler::Config;
/// let mut config = Config { aggregate_stats: true, ..Config::default() };
/// config.set("filename", "run1.json")?;
/// assert_eq!(config.filename.to_str(), Some("run1.json"));
/// assert!(config.set("dump_period", "0").is_err());
/// # Ok::<(), mxrs_types::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Records everything that the next four settings select.
    pub profile_all: bool,
    /// Records operators of bound graphs.
    pub profile_symbolic: bool,
    /// Records operators that are called one by one.
    pub profile_imperative: bool,
    /// Records memory that is allocated and freed.
    pub profile_memory: bool,
    /// Records calls of the public interface.
    pub profile_api: bool,
    /// Records tasks of the engine: when each is pushed, run and completed. MXNet does not have this setting, and
    /// [`Config::profile_all`] does not include it.
    pub profile_engine: bool,
    /// Records the processor's counts of cycles, instructions, cache references, cache misses and branch misses of the
    /// process in user mode, as counters of the category `Hardware`. If the system refuses, a warning says why. MXNet does
    /// not have this setting.
    pub hardware_counters: bool,
    /// The file name of the trace. A name that ends in `.gz` makes a compressed file.
    pub filename: PathBuf,
    /// Whether the trace is written while the program runs. If not, it is written by [`crate::Profiler::dump`], and
    /// before that whenever 16 MiB wait to be written.
    pub continuous_dump: bool,
    /// The time between two writes of a continuous dump; not 0.
    pub dump_period: Duration,
    /// Whether statistics are kept, for [`crate::Profiler::dumps`].
    pub aggregate_stats: bool,
    /// The start of the file name of the list of memory blocks, which a dump writes: `<prefix>-pid_<process>.csv`.
    pub memory_csv_prefix: Option<PathBuf>,
    /// The file name of an additional trace in Perfetto's own format. `None` for no such file.
    pub perfetto: Option<PathBuf>,
    /// The file name for stacks for flame graphs, one line per stack, which a dump writes. `None` for no such file.
    pub folded: Option<PathBuf>,
    /// The file name of the report, a self-contained HTML page, which a dump writes. `None` for no report.
    pub report: Option<PathBuf>,
    /// The peak arithmetic and memory speed of the machine, with which the report compares operators.
    pub peaks: Option<Peaks>,
    /// The number of GPUs. If it is not 0, the trace has MXNet's rows for GPUs.
    pub n_gpus: u32,
}

/// The measured limits of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peaks {
    /// Floating-point operations per second; a multiply-add is two.
    pub flops_per_s: f64,
    /// Bytes per second that the memory delivers.
    pub bytes_per_s: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            profile_all: false,
            profile_symbolic: true,
            profile_imperative: true,
            profile_memory: true,
            profile_api: true,
            profile_engine: false,
            hardware_counters: false,
            filename: PathBuf::from("profile.json"),
            continuous_dump: true,
            dump_period: Duration::from_secs(1),
            aggregate_stats: false,
            memory_csv_prefix: None,
            perfetto: None,
            folded: None,
            report: None,
            peaks: None,
            n_gpus: 0,
        }
    }
}

const KEYS: &str = "`profile_all`, `profile_symbolic`, `profile_imperative`, `profile_memory`, `profile_api`, `profile_engine`, \
                    `filename`, `gpu_memory_profile_filename_prefix`, `continuous_dump`, `dump_period`, `aggregate_stats`, \
                    `perfetto`, `folded`, `report` or `hardware_counters`";

impl Config {
    /// The defaults, with the kinds of records that a value of `MXNET_PROFILER_MODE` selects: a sum of 1 (operators of graphs),
    /// 2 (operators called one by one), 4 (calls) and 8 (memory).
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::InvalidValue`] above 15.
    pub fn of_mode(mode: u8) -> Result<Self> {
        if mode > 15 {
            return Err(Error::invalid("profiler mode", mode, "a sum of 1, 2, 4 and 8, so 0 to 15"));
        }
        let has = |bit| mode & bit != 0;
        Ok(Self {
            profile_symbolic: has(1),
            profile_imperative: has(2),
            profile_api: has(4),
            profile_memory: has(8),
            ..Self::default()
        })
    }

    /// Sets one setting by MXNet's name, from text.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::InvalidValue`] for an unknown name or a bad value.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let switch = || match value {
            "1" | "true" | "True" => Ok(true),
            "0" | "false" | "False" => Ok(false),
            _ => Err(Error::invalid(format!("profiler setting `{key}`"), value, "`True`, `False`, `1` or `0`")),
        };
        let path = || match value {
            "" => Err(Error::invalid(format!("profiler setting `{key}`"), "an empty name", "the name of a file")),
            _ => Ok(PathBuf::from(value)),
        };
        match key {
            "profile_all" => self.profile_all = switch()?,
            "profile_symbolic" => self.profile_symbolic = switch()?,
            "profile_imperative" => self.profile_imperative = switch()?,
            "profile_memory" => self.profile_memory = switch()?,
            "profile_api" => self.profile_api = switch()?,
            "profile_engine" => self.profile_engine = switch()?,
            "hardware_counters" => self.hardware_counters = switch()?,
            "continuous_dump" => self.continuous_dump = switch()?,
            "aggregate_stats" => self.aggregate_stats = switch()?,
            "filename" => self.filename = path()?,
            "gpu_memory_profile_filename_prefix" => self.memory_csv_prefix = Some(path()?),
            "perfetto" => self.perfetto = Some(path()?),
            "folded" => self.folded = Some(path()?),
            "report" => self.report = Some(path()?),
            "dump_period" => {
                let seconds = value.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
                self.dump_period = match seconds.filter(|period| !period.is_zero()) {
                    Some(period) => period,
                    None => return Err(Error::invalid("profiler setting `dump_period`", value, "seconds above 0")),
                };
            }
            _ => return Err(Error::invalid("profiler setting", key, KEYS)),
        }
        Ok(())
    }

    /// Checks the settings whose type allows invalid values.
    pub(crate) fn validate(&self) -> Result<()> {
        if self.dump_period.is_zero() {
            return Err(Error::invalid("profiler setting `dump_period`", "0 s", "a time above 0"));
        }
        Ok(())
    }

    /// The kinds of records that these settings select. Objects with which a program marks its own work are always recorded.
    #[must_use]
    pub fn kinds(&self) -> Kinds {
        let of = |on: bool, kinds| if on { kinds } else { Kinds::NONE };
        of(self.profile_all || self.profile_symbolic, Kinds::SYMBOLIC)
            | of(self.profile_all || self.profile_imperative, Kinds::IMPERATIVE)
            | of(self.profile_all || self.profile_api, Kinds::API)
            | of(self.profile_all || self.profile_memory, Kinds::MEMORY)
            | of(self.profile_engine, Kinds::ENGINE)
            | Kinds::USER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_select_the_documented_kinds() {
        for mode in 0..16 {
            let kinds = Config::of_mode(mode).unwrap().kinds();
            assert_eq!(kinds, Kinds::of_mode(mode) | Kinds::USER);
        }
        let error = Config::of_mode(16).unwrap_err().to_string();
        assert!(error.contains("16") && error.contains("0 to 15"), "{error}");
        let all = Config { profile_all: true, ..Config::of_mode(0).unwrap() };
        assert_eq!(all.kinds(), Kinds::of_mode(15) | Kinds::USER);
    }

    #[test]
    fn settings_have_names_of_mxnet() {
        let mut config = Config::default();
        for key in ["profile_symbolic", "profile_imperative", "profile_memory", "profile_api", "continuous_dump"] {
            config.set(key, "False").unwrap();
        }
        for (key, value) in [
            ("profile_all", "1"),
            ("profile_engine", "true"),
            ("hardware_counters", "1"),
            ("aggregate_stats", "True"),
            ("filename", "a b.json.gz"),
            ("gpu_memory_profile_filename_prefix", "mem"),
            ("dump_period", "0.25"),
        ] {
            config.set(key, value).unwrap();
        }
        let expected = Config {
            profile_all: true,
            profile_engine: true,
            hardware_counters: true,
            aggregate_stats: true,
            filename: "a b.json.gz".into(),
            memory_csv_prefix: Some("mem".into()),
            dump_period: Duration::from_millis(250),
            continuous_dump: false,
            ..Config::of_mode(0).unwrap()
        };
        assert_eq!(config, expected);
    }

    #[test]
    fn bad_settings_are_errors() {
        let mut config = Config::default();
        for (key, value) in [
            ("profile_api", "maybe"),
            ("dump_period", "0"),
            ("dump_period", "-1"),
            ("dump_period", "nan"),
            ("dump_period", "1e40"),
            ("filename", ""),
        ] {
            let error = config.set(key, value).unwrap_err().to_string();
            assert!(error.contains(key), "{error}");
        }
        let error = config.set("nokey", "1").unwrap_err().to_string();
        assert!(error.contains("nokey") && error.contains("`dump_period`"), "{error}");
        assert_eq!(config, Config::default());
        assert!(Config { dump_period: Duration::ZERO, ..Config::default() }.validate().is_err());
    }
}
