//! Settings of the environment, as the crates that act on them take them. One function per crate.

use crate::Backends;
use mxrs_backend_nnpack::{Accuracy, NnpackOptions, Weights};
use mxrs_engine::gpu::GpuSync;
use mxrs_engine::{EngineConfig, EngineKind};
use mxrs_env::{
    Affinity, AffinityType, Bytes, GpuSyncWord, Group, PlanWord, PoolDevice, PoolSettings, Remat, Settings, Warning,
};
use mxrs_exec::{CachedOpFlags, ImperativeOptions, Recompute};
use mxrs_graph::PlanOptions;
use mxrs_ndarray::{RandomCopies, ResourceCounts, TempSpaceCounts};
use mxrs_storage::{PoolConfig, StorageConfig};
use mxrs_sync::affinity::{Placement, cpu_list};
use mxrs_sync::{TeamConfig, Topology};
use mxrs_types::Result;
use std::num::NonZeroUsize;
use std::time::Duration;

/// Which of Winograd's algorithms, which round more than a direct sum does, may run convolutions. All give the same bits at
/// every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Winograd {
    /// None.
    Off,
    /// Those within 8 millionths of the largest output, with 256 input channels.
    #[default]
    Close,
    /// Those within 50 millionths: larger tiles, up to a tenth faster.
    Loose,
}

/// The convolutions of mxrs.
pub(crate) fn nnpack(settings: &Settings, winograd: Winograd, weights: Weights) -> NnpackOptions {
    let accuracy = if winograd == Winograd::Loose { Accuracy::Loose } else { Accuracy::Close };
    let threads = settings.threads.nnpack_threads;
    // Without one, without the other: what is left are direct sums.
    let is_fast = winograd != Winograd::Off;
    NnpackOptions { threads, winograd: is_fast, fourier: is_fast, accuracy, weights, ..NnpackOptions::default() }
}

/// The engine: scheduler and workers.
///
/// # Errors
/// [`mxrs_types::ErrorKind::Env`] for an engine type that the engine does not know.
pub fn engine(settings: &Settings) -> Result<EngineConfig> {
    let (kind, is_async) = EngineKind::parse(settings.engine.engine_type.word())?;
    Ok(EngineConfig {
        kind,
        is_async,
        cpu_workers: settings.threads.cpu_workers,
        cpu_priority_workers: settings.threads.cpu_priority_workers,
        gpu_workers: settings.threads.gpu_workers,
        gpu_copy_workers: settings.threads.gpu_copy_workers,
        gpu_worker_streams: NonZeroUsize::new(settings.cuda.worker_streams.into()).unwrap_or(NonZeroUsize::MIN),
        gpu_sync: match settings.engine.gpu_sync {
            GpuSyncWord::Event => GpuSync::Event,
            _ => GpuSync::Host,
        },
        gpu_workers_share_loops: settings.is_set("OMP_NUM_THREADS"),
        child_workers: settings.threads.mp_workers,
        sticky_errors: settings.engine.sticky_errors,
        backtrace: settings.engine.backtrace,
        stall_after: settings.engine.stall_secs.map(|secs| Duration::from_secs(secs.get())),
        exit_timeout: settings.engine.exit_timeout_ms.map(Duration::from_millis),
        info: settings.engine.info,
    })
}

/// The pools of each kind of memory.
///
/// # Errors
/// [`mxrs_types::ErrorKind::InvalidValue`] for a strategy that storage does not know.
pub fn storage(settings: &Settings) -> Result<StorageConfig> {
    let pool = |device| -> Result<PoolConfig> {
        let config = settings.pools.of(device);
        Ok(PoolConfig {
            kind: config.kind.word().parse()?,
            reserve_percent: config.reserve_percent,
            // No request is larger than the address space, so a larger unit changes nothing.
            large_alloc_round_size: usize::try_from(config.large_round_bytes).unwrap_or(usize::MAX),
            round_linear_cutoff: config.linear_cutoff.into(),
            page_size: usize::try_from(config.page_bytes).unwrap_or(usize::MAX),
        })
    };
    Ok(StorageConfig {
        cpu: pool(PoolDevice::Cpu)?,
        gpu: pool(PoolDevice::Gpu)?,
        cpu_pinned: pool(PoolDevice::CpuPinned)?,
        naive_storage_manager: settings.pools.no_pools != 0,
    })
}

/// The team: its size, and the CPUs its threads are pinned to. `topology` is `None` where the system does not tell.
pub fn team(settings: &Settings, n_physical_cores: usize, topology: Option<&Topology>) -> TeamConfig {
    let threads = settings.threads.team_size(n_physical_cores);
    let affinity = settings.threads.affinity.as_ref();
    let cpus = affinity.zip(topology).and_then(|(affinity, topology)| cpus(affinity, threads.get(), topology));
    TeamConfig { threads, cpus }
}

/// Threads of a team of this size that are kept back from loops once a GPU is in use: one, or two of eight and more; `None`
/// where `OMP_NUM_THREADS` says how many threads there are.
pub fn kept_back_for_gpus(settings: &Settings, team_size: usize) -> Option<usize> {
    (!settings.is_set("OMP_NUM_THREADS")).then_some(if team_size >= 8 { 2 } else { 1 })
}

/// The CPU of each thread. A place of several CPUs is represented by its first, a core by one of its hardware threads.
fn cpus(affinity: &Affinity, threads: usize, topology: &Topology) -> Option<Vec<usize>> {
    let placement = match affinity.affinity_type {
        AffinityType::None => Placement::None,
        AffinityType::Disabled => Placement::Disabled,
        AffinityType::Compact => Placement::Compact,
        AffinityType::Scatter => Placement::Scatter,
        AffinityType::Balanced => Placement::Balanced { threads },
        AffinityType::Explicit => Placement::Explicit,
    };
    let places: Vec<usize> = affinity.places.iter().filter_map(|place| place.first().copied()).collect();
    cpu_list(placement, affinity.permute, affinity.offset, &places, topology)
}

/// The memory planner.
pub fn planner(settings: &Settings) -> PlanOptions {
    // A range nobody asked for does not forbid the planner a better algorithm.
    let match_range = settings.is_set("NNVM_EXEC_MATCH_RANGE").then_some(settings.planner.match_range);
    PlanOptions {
        enable_inplace: settings.planner.enable_inplace,
        match_range: match_range.map(|range| u32::try_from(range).unwrap_or(u32::MAX)),
        num_colors: u32::try_from(settings.n_colors().get()).unwrap_or(u32::MAX),
        auto_search: settings.planner.sweep_match_range || settings.memory_opt.memory_opt,
        allow_offset: settings.planner.plan != PlanWord::Pool,
        allow_pool: settings.planner.plan != PlanWord::Offset,
        verbose: settings.planner.verbose,
    }
}

/// How many workspaces and random generators operators share.
pub fn resources(settings: &Settings) -> ResourceCounts {
    let counts = &settings.resources;
    ResourceCounts {
        temp_spaces: TempSpaceCounts { cpu: counts.cpu_temp_spaces, gpu: counts.gpu_temp_spaces },
        random: RandomCopies { cpu: counts.cpu_parallel_rand, gpu: counts.gpu_parallel_rand },
    }
}

/// What training computes again: `MXRS_REMAT` alone where it is set, otherwise what a budget of bytes asks for, otherwise
/// what is cheap where one of MXNet's switches is on; nothing where the first of these is off, and otherwise a little.
pub fn recompute(settings: &Settings) -> Recompute {
    let saver = &settings.memory_opt;
    // No arena is larger than the address space, so a larger budget is always met.
    let budget = |Bytes(bytes): Bytes| Recompute::Budget(usize::try_from(bytes).unwrap_or(usize::MAX));
    match (saver.remat, saver.memory_budget) {
        (Some(Remat::Mirror), _) => Recompute::Mirror,
        (Some(Remat::Sqrt), _) => Recompute::Sqrt,
        (Some(Remat::Chain), _) => Recompute::Chain,
        (Some(Remat::Budget(bytes)), _) | (None, Some(bytes)) => budget(bytes),
        (None, None) if saver.do_mirror || saver.memory_opt => Recompute::Mirror,
        (None, None) if !settings.is_set("MXNET_BACKWARD_DO_MIRROR") => Recompute::Light,
        (Some(Remat::Light), _) => Recompute::Light,
        _ => Recompute::Off,
    }
}

/// Most operators pushed as one in the forward and in the backward half of training.
pub fn training_bulks(settings: &Settings) -> (usize, usize) {
    match settings.bulk.train {
        true => (settings.bulk.forward_limit(), settings.bulk.backward_limit()),
        false => (1, 1),
    }
}

/// Calls of single operators.
pub fn imperative(settings: &Settings) -> ImperativeOptions {
    ImperativeOptions { check_versions: settings.graph.autograd_version_check, ..ImperativeOptions::default() }
}

/// Graphs that are called like operators, where the caller says nothing else.
pub fn cached_op(settings: &Settings) -> CachedOpFlags {
    let (forward_bulk_size, backward_bulk_size) = training_bulks(settings);
    let plan_cache = settings.planner.plan_cache.get();
    CachedOpFlags { forward_bulk_size, backward_bulk_size, plan_cache, ..CachedOpFlags::default() }
}

/// Warnings for settings that are right and cannot do anything here: another one decides, there is no GPU, and perhaps no
/// fork or no oneDNN.
pub(crate) fn without_effect(settings: &Settings, backends: &Backends) -> Vec<Warning> {
    let pools = PoolSettings::ROWS.iter().map(|row| row.name).filter(|name| name.starts_with("MXNET_GPU_"));
    let workers = [
        "MXNET_GPU_COPY_NTHREADS",
        "MXNET_GPU_WORKER_NSTREAMS",
        "MXRS_GPU_SYNC",
        "MXNET_GPU_TEMP_COPY",
        "MXNET_GPU_PARALLEL_RAND_COPY",
    ];
    let mut warnings: Vec<Warning> =
        pools.chain(workers).filter_map(|name| settings.inert_warning(name, "this build has no GPU")).collect();
    let savers = ["MXRS_REMAT", "MXRS_MEMORY_BUDGET", "MXNET_BACKWARD_DO_MIRROR"];
    if let Some(first) = savers.iter().position(|name| settings.is_set(name)) {
        let reason = format!("{} decides alone", savers[first]);
        warnings.extend(savers[first + 1..].iter().filter_map(|name| settings.inert_warning(name, &reason)));
    }
    if cfg!(not(unix)) {
        let of_workers = ["MXNET_MP_WORKER_NTHREADS", "MXNET_MP_OPENCV_NUM_THREADS"];
        let reason = "this system forks no worker processes";
        warnings.extend(of_workers.iter().filter_map(|name| settings.inert_warning(name, reason)));
    }
    if let Some(absent) = backends.absent.iter().find(|absent| absent.name == "onednn") {
        warnings.extend(settings.inert_warning("MXNET_ONEDNN_CACHE_NUM", &absent.reason));
    }
    warnings
}

/// The bound on prepared primitives of oneDNN; `None` is no bound.
#[cfg_attr(not(any(feature = "onednn", feature = "onednn-dynamic")), allow(dead_code))]
pub(crate) fn onednn_cache_entries(settings: &Settings) -> Option<usize> {
    settings.onednn.cache_limit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_env::MapSource;
    use mxrs_storage::PoolKind;
    use mxrs_sync::Cpu;

    fn settings<const N: usize>(vars: [(&str, &str); N]) -> Settings {
        Settings::from_source(&MapSource::new(vars)).unwrap().0
    }

    #[test]
    fn an_empty_environment_gives_the_crates_own_defaults() {
        let empty = Settings::default();
        assert_eq!(engine(&empty).unwrap(), EngineConfig::default());
        assert_eq!(storage(&empty).unwrap(), StorageConfig::default());
        assert_eq!(planner(&empty), PlanOptions::default());
        assert_eq!(recompute(&empty), Recompute::default());
        assert_eq!(resources(&empty), ResourceCounts::default());
        assert_eq!(imperative(&empty), ImperativeOptions::default());
        assert_eq!(cached_op(&empty), CachedOpFlags::default());
        assert_eq!(onednn_cache_entries(&empty), None);
    }

    #[test]
    fn engine_words_keep_their_suffix() {
        let config = engine(&settings([("MXNET_ENGINE_TYPE", "NaiveEngineAsync")])).unwrap();
        assert_eq!((config.kind, config.is_async), (EngineKind::Naive, true));
        let config = engine(&settings([("MXRS_GPU_SYNC", "event")])).unwrap();
        assert_eq!((config.gpu_sync, config.is_async), (GpuSync::Event, false));
        let vars = [("MXNET_CPU_WORKER_NTHREADS", "3"), ("MXNET_CPU_PRIORITY_NTHREADS", "5")];
        let config = engine(&settings(vars)).unwrap();
        assert_eq!((config.cpu_workers.get(), config.cpu_priority_workers.get()), (3, 5));
    }

    #[test]
    fn pool_settings_reach_their_device() {
        let config = storage(&settings([
            ("MXNET_CPU_MEM_POOL_TYPE", "Round"),
            ("MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF", "21"),
            ("MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE", "8192"),
            ("MXNET_GPU_MEM_POOL_RESERVE", "7"),
        ]))
        .unwrap();
        assert_eq!((config.cpu.kind, config.cpu.round_linear_cutoff), (PoolKind::Round, 21));
        assert_eq!((config.cpu_pinned.page_size, config.gpu.reserve_percent), (8192, 7));
        let off = storage(&settings([("MXNET_USE_NAIVE_STORAGE_MANAGERS", "1")])).unwrap();
        assert!(off.naive_storage_manager);
    }

    #[test]
    fn a_range_that_was_set_is_kept_exactly() {
        let options = planner(&settings([("NNVM_EXEC_MATCH_RANGE", "16"), ("MXNET_EXEC_ENABLE_INPLACE", "0")]));
        assert_eq!((options.match_range, options.enable_inplace), (Some(16), false));
        let capped = planner(&settings([("MXNET_EXEC_NUM_TEMP", "5"), ("MXNET_GPU_WORKER_NTHREADS", "3")]));
        assert_eq!(capped.num_colors, 3);
    }

    #[test]
    fn one_setting_decides_what_is_computed_again() {
        let mirror = ("MXNET_BACKWARD_DO_MIRROR", "1");
        let budget = ("MXRS_MEMORY_BUDGET", "2GiB");
        assert_eq!(recompute(&settings([mirror])), Recompute::Mirror);
        assert_eq!(recompute(&settings([("MXNET_BACKWARD_DO_MIRROR", "0")])), Recompute::Off);
        assert_eq!(recompute(&settings([mirror, ("MXRS_REMAT", "light")])), Recompute::Light);
        assert_eq!(recompute(&settings([("MXNET_MEMORY_OPT", "1")])), Recompute::Mirror);
        assert_eq!(recompute(&settings([mirror, budget])), Recompute::Budget(2 << 30));
        assert_eq!(recompute(&settings([mirror, budget, ("MXRS_REMAT", "off")])), Recompute::Off);
        assert_eq!(recompute(&settings([budget, ("MXRS_REMAT", "budget:1MiB")])), Recompute::Budget(1 << 20));
        assert_eq!(recompute(&settings([("MXRS_REMAT", "sqrt")])), Recompute::Sqrt);
        assert_eq!(recompute(&settings([("MXRS_REMAT", "chain")])), Recompute::Chain);
    }

    #[test]
    fn the_team_is_sized_and_pinned() {
        // Two cores with two hardware threads each.
        let topology =
            Topology::new([(0, 0), (1, 1), (0, 2), (1, 3)].map(|(core, id)| Cpu { package: 0, core, id }).into());
        let config = |vars: &[(&str, &str)]| {
            let settings = Settings::from_source(&MapSource::new(vars.iter().copied())).unwrap().0;
            let TeamConfig { threads, cpus } = team(&settings, 2, Some(&topology));
            (threads.get(), cpus)
        };
        assert_eq!(config(&[]), (2, None));
        assert_eq!(config(&[("MXNET_OMP_MAX_THREADS", "1")]), (1, None));
        let vars = [("OMP_NUM_THREADS", "3"), ("KMP_AFFINITY", "granularity=fine,compact,1,0")];
        assert_eq!(config(&vars), (3, Some(vec![0, 1, 2, 3])));
        assert_eq!(config(&[("KMP_AFFINITY", "proclist=[3,{0,2}],explicit")]), (2, Some(vec![3, 0])));
        assert_eq!(config(&[("KMP_AFFINITY", "none")]), (2, None));
    }
}
