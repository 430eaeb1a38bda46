//! Version and thread runtime of a oneDNN library.

use std::fmt;

/// Version and thread runtime of a oneDNN library. Displays as `3.14.1 (THREADPOOL)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// First number; always 3.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number.
    pub patch: u32,
    /// Commit that the library was built from, or `N/A`.
    pub hash: String,
    /// The owner of the library's threads.
    pub cpu_runtime: CpuRuntime,
}

/// The owner of the threads that oneDNN works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CpuRuntime {
    /// The library has no CPU part.
    None,
    /// Only the calling thread works.
    Sequential,
    /// OpenMP, with a team whose size is `OMP_NUM_THREADS`.
    OpenMp,
    /// Intel TBB.
    Tbb,
    /// The caller owns the threads: see [`crate::ThreadPool`].
    ThreadPool,
    /// Another runtime, with its number in the C headers.
    Other(u32),
}

impl fmt::Display for CpuRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("NONE"),
            Self::Sequential => f.write_str("SEQ"),
            Self::OpenMp => f.write_str("OMP"),
            Self::Tbb => f.write_str("TBB"),
            Self::ThreadPool => f.write_str("THREADPOOL"),
            Self::Other(raw) => write!(f, "runtime {raw}"),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{} ({})", self.major, self.minor, self.patch, self.cpu_runtime)
    }
}
