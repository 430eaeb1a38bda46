//! Numbers of threads, and where they run.

use crate::{Affinity, Kind, settings};
use std::num::NonZeroUsize;

settings! {
    /// Numbers of threads, and where they run.
    pub struct ThreadSettings in Threads {
        /// Operators that may run at once on each GPU; each GPU gets as many workers for prioritised operators. Also
        /// the upper limit of `MXNET_EXEC_NUM_TEMP`.
        gpu_workers: NonZeroUsize = 2, "MXNET_GPU_WORKER_NTHREADS" [D2 Engine InEffect];
        /// Workers per GPU that only copy between host and device.
        gpu_copy_workers: NonZeroUsize = 2, "MXNET_GPU_COPY_NTHREADS" [D3 Engine InEffect];
        /// Operators that may run at once on each CPU device. There is one team of threads: who finds it taken runs its loop
        /// alone.
        cpu_workers: NonZeroUsize = 1, "MXNET_CPU_WORKER_NTHREADS" [D4 Process InEffect];
        /// Workers, shared by all CPU devices, for operators that are marked as urgent.
        cpu_priority_workers: NonZeroUsize = 4, "MXNET_CPU_PRIORITY_NTHREADS" [D5 Engine InEffect];
        /// Takes the place of `MXNET_CPU_WORKER_NTHREADS` in a process forked from one where a runtime had started, as the worker
        /// processes of a data loader are in MXNet. The workers of mxrs' own `DataLoader` are threads, and share the engine of
        /// their process.
        mp_workers: NonZeroUsize = 1, "MXNET_MP_WORKER_NTHREADS" [D6 Process InEffect];
        /// Threads for image work inside a worker of a data loader, process or thread; below 1 the calling thread does it.
        mp_image_threads: i64 = 0, "MXNET_MP_OPENCV_NUM_THREADS" [D7 Process InEffect];
        /// Team size: threads that share the loop of one operator. Of a list the first number counts.
        team: Option<NonZeroUsize> = unset("the number of physical cores the process may run on"), "OMP_NUM_THREADS"
            [D8 Process InEffect], Kind::FirstInt { min: 1, max: usize::MAX as i128 };
        /// Pins the threads of the team to processors, in the notation of Intel's OpenMP runtime.
        affinity: Option<Affinity> = unset, "KMP_AFFINITY" [D9 Process InEffect];
        /// Upper limit of the team size that mxrs picks; without effect when `OMP_NUM_THREADS` is set.
        team_limit: Option<NonZeroUsize> = unset, "MXNET_OMP_MAX_THREADS" [B26 Process InEffect];
        /// Most threads that a call of the NNPACK-style backend uses, of those that share the loop of one operator. An older
        /// setting.
        nnpack_threads: NonZeroUsize = 4, "MXNET_CPU_NNPACK_NTHREADS" [O1 Process InEffect];
    }
}

impl ThreadSettings {
    /// Team size on a machine where the process may run on `n_physical_cores` (0 counts as 1): `OMP_NUM_THREADS` as it
    /// is, or the number of cores up to `MXNET_OMP_MAX_THREADS`.
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
