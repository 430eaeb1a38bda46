//! Numbers of threads, and the processors that they run on.

use crate::{Affinity, Kind, settings};
use std::num::NonZeroUsize;

settings! {
    /// Numbers of threads, and the processors that they run on.
    pub struct ThreadSettings in Threads {
        /// The upper limit of `MXNET_EXEC_NUM_TEMP`. With a GPU device, also the number of operators that may run on it at
        /// the same time; each GPU has the same number of workers for prioritized operators.
        gpu_workers: NonZeroUsize = 2, "MXNET_GPU_WORKER_NTHREADS" [D2 Engine Core];
        /// Number of workers per GPU that only copy between host and device.
        gpu_copy_workers: NonZeroUsize = 2, "MXNET_GPU_COPY_NTHREADS" [D3 Engine Gpu];
        /// Number of operators that may run at the same time on each CPU device. All operators use the same team of
        /// threads: an operator that finds the team busy runs its loop on one thread.
        cpu_workers: NonZeroUsize = 1, "MXNET_CPU_WORKER_NTHREADS" [D4 Process Core];
        /// Number of workers, shared by all CPU devices, for tasks that a program pushes to the engine with the property
        /// `CpuPrioritized`. mxrs itself pushes no such tasks: in MXNet they belong to key-value stores.
        cpu_priority_workers: NonZeroUsize = 4, "MXNET_CPU_PRIORITY_NTHREADS" [D5 Engine Core];
        /// Replaces `MXNET_CPU_WORKER_NTHREADS` in a forked process whose parent process had started a runtime. In MXNet
        /// the workers of a data loader are such processes. The workers of mxrs' own `DataLoader` are threads and share the
        /// engine of their process.
        mp_workers: NonZeroUsize = 1, "MXNET_MP_WORKER_NTHREADS" [D6 Process Fork];
        /// Number of threads that share the work on one image inside a worker of a data loader: a forked process, or a
        /// thread of `DataLoader`. Below 1 the calling thread works alone. Applies to image transforms that are given
        /// `Runtime::image_threads()`; the command `mxrs` has no such workers.
        mp_image_threads: i64 = 0, "MXNET_MP_OPENCV_NUM_THREADS" [D7 Process Core];
        /// Team size: the number of threads that share the loop of one operator. Only the first number of a list is used.
        team: Option<NonZeroUsize> = unset("the number of physical cores the process may run on"), "OMP_NUM_THREADS"
            [D8 Process Core], Kind::FirstInt { min: 1, max: usize::MAX as i128 };
        /// Pins the threads of the team to processors, in the notation of Intel's OpenMP runtime. With `granularity=core`,
        /// the default, a thread may move within a core. With `norespect`, processors outside the affinity mask of the
        /// process are used too. With `nowarnings`, processors that cannot be used are skipped without a warning.
        affinity: Option<Affinity> = unset, "KMP_AFFINITY" [D9 Process Pinning];
        /// Upper limit of the team size that mxrs chooses. Has no effect if `OMP_NUM_THREADS` is set.
        team_limit: Option<NonZeroUsize> = unset, "MXNET_OMP_MAX_THREADS" [B26 Process Core];
        /// The most threads of the team that a call of the NNPACK-style backend uses. An older setting, whose default was
        /// 4.
        nnpack_threads: Option<NonZeroUsize> = unset("the whole team"), "MXNET_CPU_NNPACK_NTHREADS" [O1 Process Core];
    }
}

impl ThreadSettings {
    /// The team size on a machine on which the process may run on `n_physical_cores` cores (0 counts as 1):
    /// `OMP_NUM_THREADS` if it is set, otherwise the number of cores, limited by `MXNET_OMP_MAX_THREADS`.
    pub fn team_size(&self, n_physical_cores: usize) -> NonZeroUsize {
        self.team.unwrap_or_else(|| {
            let n_cores = NonZeroUsize::new(n_physical_cores).unwrap_or(NonZeroUsize::MIN);
            self.team_limit.map_or(n_cores, |limit| n_cores.min(limit))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Group, MapSource, Snapshot};

    fn team_size(vars: &[(&str, &str)], n_cores: usize) -> usize {
        let snapshot = Snapshot::take(&MapSource::new(vars.iter().copied()));
        ThreadSettings::from_snapshot(&snapshot).unwrap().0.team_size(n_cores).get()
    }

    #[test]
    fn a_given_team_size_is_used_as_it_is() {
        assert_eq!(team_size(&[], 6), 6);
        assert_eq!(team_size(&[], 0), 1);
        assert_eq!(team_size(&[("MXNET_OMP_MAX_THREADS", "4")], 6), 4);
        assert_eq!(team_size(&[("MXNET_OMP_MAX_THREADS", "8")], 6), 6);
        assert_eq!(team_size(&[("OMP_NUM_THREADS", "12"), ("MXNET_OMP_MAX_THREADS", "4")], 6), 12);
        assert_eq!(team_size(&[("OMP_NUM_THREADS", "3, 2")], 6), 3);
    }
}
