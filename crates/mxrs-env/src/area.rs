//! Areas: the groups into which MXNet's manual divides environment variables.

use mxrs_types::Error;
use std::fmt;
use std::str::FromStr;

macro_rules! areas {
    ($($(#[doc = $doc:literal])+ $area:ident = $slug:literal, $title:literal;)+) => {
        /// A group of variables that belong together, in the manual's order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Area {
            $($(#[doc = $doc])+ $area,)+
        }

        impl Area {
            /// Every area, in the order in which listings show them.
            pub const ALL: &'static [Self] = &[$(Self::$area),+];

            /// The word for the area on a command line, such as `threads`.
            pub const fn slug(self) -> &'static str {
                match self { $(Self::$area => $slug),+ }
            }

            /// The heading of the area in the documentation.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$area => $title),+ }
            }
        }
    };
}

areas! {
    /// Loading of the library.
    Execution = "execution", "Execution environment";
    /// Numbers of threads, and the processors that they run on.
    Threads = "threads", "Threads";
    /// Memory planner and memory pools.
    Memory = "memory", "Memory: planner and pools";
    /// Engine type.
    Engine = "engine", "Engine";
    /// Bulks of operators and CUDA graphs.
    Bulking = "bulking", "Bulking and CUDA graphs";
    /// Reduction and exchange of arrays between devices and machines.
    KvStore = "kvstore", "Communication (kvstore)";
    /// Settings that save memory in training.
    MemoryOpt = "memory-opt", "Memory optimization";
    /// Profiler.
    Profiler = "profiler", "Profiler";
    /// Front end and C API.
    Frontend = "frontend", "Front end and C API";
    /// Log lines.
    Logging = "logging", "Logging";
    /// GPUs, their libraries and run-time compilation.
    Cuda = "cuda", "GPU and run-time compilation";
    /// cuDNN and the selection of convolution engines.
    Cudnn = "cudnn", "cuDNN";
    /// oneDNN backend and its fusions.
    OneDnn = "onednn", "oneDNN";
    /// Workspaces, random generators, precision and determinism of operators.
    Resources = "resources", "Operators and their resources";
    /// Passes over the graph.
    Graph = "graph", "Graph passes";
    /// Files and downloads.
    Files = "files", "Files and downloads";
    /// Start-up measurement that chooses between one thread and the team.
    Tuning = "tuning", "Operator tuning";
    /// Roles, addresses and transport of distributed training.
    Distributed = "distributed", "Distributed roles and transport";
    /// The test harness.
    Testing = "testing", "Tests";
    /// Variables declared by a crate outside mxrs.
    Extension = "extension", "Extensions";
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.slug())
    }
}

impl FromStr for Area {
    type Err = Error;

    /// Parses a [`slug`](Area::slug).
    ///
    /// # Errors
    /// Returns `InvalidValue` with all slugs if the text is not one of them.
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|area| area.slug() == text).ok_or_else(|| {
            let slugs: Vec<_> = Self::ALL.iter().map(|area| area.slug()).collect();
            Error::invalid("area", format!("`{text}`"), format!("one of {}", slugs.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_parse_back_and_others_do_not() {
        for &area in Area::ALL {
            assert_eq!(area.slug().parse::<Area>(), Ok(area));
        }
        let error = "thread".parse::<Area>().unwrap_err().to_string();
        assert!(error.starts_with("area: got `thread`, expected one of execution, threads, memory"), "{error}");
    }
}
