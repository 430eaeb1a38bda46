//! Converts the settings of the environment into the configurations of the other crates. One function per crate.

use mxrs_backend_nnpack::{self as own, Accuracy, NnpackOptions};
use mxrs_engine::EngineConfig;
use mxrs_env::{Affinity, AffinityType, Bytes, Granularity, PlanWord, PoolDevice, Remat, Settings, Warning};
use mxrs_exec::{CachedOpFlags, ImperativeOptions, Recompute};
use mxrs_graph::PlanOptions;
#[cfg(feature = "kvstore")]
use mxrs_kvstore::{KvStoreOptions, tree::TreeOptions};
use mxrs_ndarray::{RandomCopies, ResourceCounts, TempSpaceCounts};
use mxrs_processor::Set;
use mxrs_storage::{PoolConfig, StorageConfig};
use mxrs_sync::affinity::{Placement, core_of, cpu_list, usable_places};
use mxrs_sync::{TeamConfig, Topology};
use mxrs_types::{Error, ErrorKind, Result};
use std::num::NonZeroUsize;
use std::time::Duration;

/// Which of Winograd's algorithms may run convolutions. They have larger rounding errors than direct sums. Each of them
/// gives the same bits in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Winograd {
    /// No Winograd algorithm.
    Off,
    /// Algorithms with errors of at most 8e-6 of the largest output, with 256 input channels.
    #[default]
    Close,
    /// Algorithms with errors of at most 5e-5 of the largest output: larger tiles, up to 10 % faster.
    Loose,
}

/// The type in which weights are stored that are packed once and read in every run. Arithmetic is in float32 either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// Weights are stored in float32.
    #[default]
    Float32,
    /// Weights are stored in bfloat16, which halves the bytes to read and rounds to about three decimal digits. This applies
    /// to fully-connected layers, and to convolutions with so few output pixels that memory bandwidth limits them.
    Bfloat16,
}

/// Options of the backend `nnpack`, which has mxrs' own convolutions.
pub(crate) fn nnpack(settings: &Settings, winograd: Winograd, weights: Weights) -> NnpackOptions {
    let accuracy = if winograd == Winograd::Loose { Accuracy::Loose } else { Accuracy::Close };
    let threads = settings.threads.nnpack_threads.unwrap_or(NonZeroUsize::MAX);
    // Without Winograd's algorithms, Fourier transforms are disabled too, so only direct sums are left.
    let is_fast = winograd != Winograd::Off;
    let weights = match weights {
        Weights::Float32 => own::Weights::Float32,
        Weights::Bfloat16 => own::Weights::Bfloat16,
    };
    NnpackOptions { threads, winograd: is_fast, fourier: is_fast, accuracy, weights, ..NnpackOptions::default() }
}

/// Limits this process to the instructions that `MXRS_ISA` names. Returns a warning if the processor does not have them, in
/// which case nothing is limited. Building a runtime calls this. A program that asks what the processor has, or measures
/// it, before it builds a runtime calls this first.
///
/// # Errors
/// Fails if the process already uses other instructions.
pub fn limit_instructions(settings: &Settings) -> Result<Option<Warning>> {
    const NAME: &str = "MXRS_ISA";
    let Some(wanted) = settings.resources.isa else { return Ok(None) };
    let widest = Set::of_processor();
    let Some(set) = Set::named(wanted.word()).filter(|set| *set <= widest) else {
        let why = format!("the widest instructions that mxrs has kernels for on this processor are {}", widest.name());
        return Ok(settings.inert_warning(NAME, &why));
    };
    mxrs_processor::limit(set).map(|()| None).map_err(|_| {
        let expected = "the value that the first runtime of this process had: later ones cannot change it";
        Error::new(ErrorKind::Env { name: NAME.into(), value: wanted.word().into(), expected: expected.into() })
    })
}

/// Configuration of the engine: its type and its workers.
pub fn engine(settings: &Settings) -> EngineConfig {
    EngineConfig {
        kind: settings.engine.engine_type.kind(),
        is_async: settings.engine.engine_type.is_async(),
        cpu_workers: settings.threads.cpu_workers,
        cpu_priority_workers: settings.threads.cpu_priority_workers,
        gpu_workers: settings.threads.gpu_workers,
        gpu_copy_workers: settings.threads.gpu_copy_workers,
        gpu_worker_streams: NonZeroUsize::new(settings.cuda.worker_streams.into()).unwrap_or(NonZeroUsize::MIN),
        gpu_sync: settings.engine.gpu_sync,
        gpu_workers_share_loops: settings.is_set("OMP_NUM_THREADS"),
        child_workers: settings.threads.mp_workers,
        sticky_errors: settings.engine.sticky_errors,
        backtrace: settings.engine.backtrace,
        stack_trace_depth: settings.log.stack_trace_depth,
        stall_after: settings.engine.stall_secs.map(|secs| Duration::from_secs(secs.get())),
        exit_timeout: settings.engine.exit_timeout_ms.map(Duration::from_millis),
        info: settings.engine.info,
    }
}

/// Configuration of the memory pools of each device type.
pub fn storage(settings: &Settings) -> StorageConfig {
    let pool = |device| {
        let config = settings.pools.of(device);
        PoolConfig {
            kind: config.kind,
            reserve_percent: config.reserve_percent,
            // No request is larger than the address space, so a larger value has no additional effect.
            large_alloc_round_size: usize::try_from(config.large_round_bytes).unwrap_or(usize::MAX),
            round_linear_cutoff: config.linear_cutoff.into(),
            page_size: usize::try_from(config.page_bytes).unwrap_or(usize::MAX),
        }
    };
    StorageConfig {
        cpu: pool(PoolDevice::Cpu),
        gpu: pool(PoolDevice::Gpu),
        cpu_pinned: pool(PoolDevice::CpuPinned),
        naive_storage_manager: settings.pools.no_pools != 0,
    }
}

/// The processors that `KMP_AFFINITY` may use: those on which the process may run, or all with `norespect`. `None` if the
/// system does not show its processors.
pub fn topology(settings: &Settings) -> Option<Topology> {
    match &settings.threads.affinity {
        Some(affinity) if !affinity.respect => Topology::read_online(),
        _ => Topology::read(),
    }
}

/// The team's size, and the processors of `topology` to which its threads are pinned.
pub fn team(settings: &Settings, n_physical_cores: usize, topology: Option<&Topology>) -> TeamConfig {
    let threads = settings.threads.team_size(n_physical_cores);
    let affinity = settings.threads.affinity.as_ref();
    let cpus = affinity.zip(topology).and_then(|(affinity, topology)| places(affinity, threads.get(), topology));
    TeamConfig { threads, cpus }
}

/// The warning for processors in `KMP_AFFINITY` that the process may not use; `None` with `nowarnings`.
pub(crate) fn affinity_warning(settings: &Settings, topology: Option<&Topology>) -> Option<String> {
    let (affinity, topology) = settings.threads.affinity.as_ref().filter(|affinity| affinity.warnings).zip(topology)?;
    let (kept, missing) = usable_places(&affinity.places, topology);
    let then = if kept.is_empty() { "threads are not pinned" } else { "they are left out" };
    (!missing.is_empty()).then(|| format!("KMP_AFFINITY: this process may not use the processors {missing:?}; {then}"))
}

/// Number of threads of a team of this size that loops do not use once a GPU is in use: one, or two if the team has eight or
/// more. `None` if `OMP_NUM_THREADS` gives the number of threads.
pub fn kept_back_for_gpus(settings: &Settings, team_size: usize) -> Option<usize> {
    (!settings.is_set("OMP_NUM_THREADS")).then_some(if team_size >= 8 { 2 } else { 1 })
}

/// The processors of each thread; `None` if threads are not pinned.
fn places(affinity: &Affinity, threads: usize, topology: &Topology) -> Option<Vec<Vec<usize>>> {
    let placement = match affinity.affinity_type {
        AffinityType::None => Placement::None,
        AffinityType::Disabled => Placement::Disabled,
        AffinityType::Compact => Placement::Compact,
        AffinityType::Scatter => Placement::Scatter,
        AffinityType::Balanced => Placement::Balanced { threads },
        AffinityType::Explicit => {
            let (places, _) = usable_places(&affinity.places, topology);
            return Some(places).filter(|places| !places.is_empty());
        }
    };
    let list = cpu_list(placement, affinity.permute, affinity.offset, topology)?;
    let place = |cpu: usize| match affinity.granularity {
        Granularity::Thread => vec![cpu],
        Granularity::Core => core_of(cpu, topology),
    };
    Some(list.into_iter().map(place).collect())
}

/// Options of the memory planner.
pub fn planner(settings: &Settings) -> PlanOptions {
    // A match range that was not set explicitly does not prevent the planner from choosing a better algorithm.
    let match_range = settings.is_set("NNVM_EXEC_MATCH_RANGE").then_some(settings.planner.match_range);
    PlanOptions {
        enable_inplace: settings.planner.enable_inplace,
        match_range: match_range.map(|range| u32::try_from(range).unwrap_or(u32::MAX)),
        num_colors: u32::try_from(settings.n_colors().get()).unwrap_or(u32::MAX),
        auto_search: settings.planner.sweep_match_range || settings.memory_opt.memory_opt,
        allow_offset: settings.planner.plan != PlanWord::Pool,
        allow_pool: settings.planner.plan != PlanWord::Offset,
        verbose: settings.planner.verbose || settings.graph.exec_verbose,
    }
}

/// How many workspaces and random generators the operators share.
pub fn resources(settings: &Settings) -> ResourceCounts {
    let counts = &settings.resources;
    ResourceCounts {
        temp_spaces: TempSpaceCounts { cpu: counts.cpu_temp_spaces, gpu: counts.gpu_temp_spaces },
        random: RandomCopies { cpu: counts.cpu_parallel_rand, gpu: counts.gpu_parallel_rand },
    }
}

/// What training recomputes. The first setting that is given decides: `MXRS_REMAT`, then `MXRS_MEMORY_BUDGET`, then MXNet's
/// switches, which select `Mirror` if one is on. Without any of them the mode is `Light`; `MXNET_BACKWARD_DO_MIRROR=0`
/// selects `Off`.
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

/// Largest number of operators in a segment, in the forward and in the backward half of training.
pub fn training_bulks(settings: &Settings) -> (usize, usize) {
    match settings.bulk.train {
        true => (settings.bulk.forward_limit(), settings.bulk.backward_limit()),
        false => (1, 1),
    }
}

/// Options for calls of single operators.
pub fn imperative(settings: &Settings) -> ImperativeOptions {
    ImperativeOptions { check_versions: settings.graph.autograd_version_check, ..ImperativeOptions::default() }
}

/// Default flags of graphs that are called like operators.
pub fn cached_op(settings: &Settings) -> CachedOpFlags {
    let (forward_bulk_size, backward_bulk_size) = training_bulks(settings);
    let plan_cache = settings.planner.plan_cache.get();
    CachedOpFlags { forward_bulk_size, backward_bulk_size, plan_cache, ..CachedOpFlags::default() }
}

/// Settings of key-value stores, without the team that sums and the links between devices.
#[cfg(feature = "kvstore")]
pub fn kvstore(settings: &Settings) -> KvStoreOptions {
    let kvstore = &settings.kvstore;
    let tree = TreeOptions {
        backtrack: kvstore.tree_backtrack,
        link_penalty: kvstore.tree_link_penalty,
        array_bound: kvstore.tree_array_elements.get(),
        log: kvstore.log_tree,
    };
    KvStoreOptions {
        reduction_threads: kvstore.reduction_threads,
        big_array_elements: kvstore.big_array_elements.get(),
        slice_elements: kvstore.slice_elements.get(),
        serial_rows: kvstore.serial_push,
        tree: kvstore.use_tree.then_some(tree),
        ..KvStoreOptions::default()
    }
}

/// Warnings for settings that have no effect because another setting takes precedence.
pub(crate) fn overruled(settings: &Settings) -> Vec<Warning> {
    let savers = ["MXRS_REMAT", "MXRS_MEMORY_BUDGET", "MXNET_BACKWARD_DO_MIRROR"];
    let Some(first) = savers.iter().position(|name| settings.is_set(name)) else { return Vec::new() };
    let reason = format!("{} decides alone", savers[first]);
    savers[first + 1..].iter().filter_map(|name| settings.inert_warning(name, &reason)).collect()
}

/// Largest number of prepared oneDNN primitives in the cache; `None` means no limit.
#[cfg_attr(not(any(feature = "onednn", feature = "onednn-dynamic")), allow(dead_code))]
pub(crate) fn onednn_cache_entries(settings: &Settings) -> Option<usize> {
    settings.onednn.cache_limit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_env::MapSource;
    use mxrs_sync::Cpu;
    use mxrs_types::{EngineKind, GpuSync, PoolKind};

    fn settings<const N: usize>(vars: [(&str, &str); N]) -> Settings {
        Settings::from_source(&MapSource::new(vars)).unwrap().0
    }

    #[test]
    fn an_empty_environment_gives_the_crates_own_defaults() {
        let empty = Settings::default();
        assert_eq!(engine(&empty), EngineConfig::default());
        assert_eq!(storage(&empty), StorageConfig::default());
        assert_eq!(planner(&empty), PlanOptions::default());
        assert_eq!(recompute(&empty), Recompute::default());
        assert_eq!(resources(&empty), ResourceCounts::default());
        assert_eq!(imperative(&empty), ImperativeOptions::default());
        assert_eq!(cached_op(&empty), CachedOpFlags::default());
        assert_eq!(onednn_cache_entries(&empty), None);
    }

    #[cfg(feature = "kvstore")]
    #[test]
    fn an_empty_environment_gives_the_defaults_of_stores() {
        let (of_settings, own) = (kvstore(&Settings::default()), KvStoreOptions::default());
        assert_eq!(format!("{of_settings:?}"), format!("{own:?}"));
        let trees = kvstore(&settings([("MXNET_KVSTORE_USETREE", "1")])).tree;
        assert_eq!(trees, Some(TreeOptions::default()));
    }

    #[test]
    fn engine_words_keep_their_suffix() {
        let config = engine(&settings([("MXNET_ENGINE_TYPE", "NaiveEngineAsync")]));
        assert_eq!((config.kind, config.is_async), (EngineKind::Naive, true));
        let config = engine(&settings([("MXRS_GPU_SYNC", "event")]));
        assert_eq!((config.gpu_sync, config.is_async), (GpuSync::Event, false));
        let vars = [("MXNET_CPU_WORKER_NTHREADS", "3"), ("MXNET_CPU_PRIORITY_NTHREADS", "5")];
        let config = engine(&settings(vars));
        assert_eq!((config.cpu_workers.get(), config.cpu_priority_workers.get()), (3, 5));
    }

    #[test]
    fn pool_settings_reach_their_device() {
        let config = storage(&settings([
            ("MXNET_CPU_MEM_POOL_TYPE", "Round"),
            ("MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF", "21"),
            ("MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE", "8192"),
            ("MXNET_GPU_MEM_POOL_RESERVE", "7"),
        ]));
        assert_eq!((config.cpu.kind, config.cpu.round_linear_cutoff), (PoolKind::Round, 21));
        assert_eq!((config.cpu_pinned.page_size, config.gpu.reserve_percent), (8192, 7));
        let off = storage(&settings([("MXNET_USE_NAIVE_STORAGE_MANAGERS", "1")]));
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
        assert_eq!(config(&vars), (3, Some(vec![vec![0], vec![1], vec![2], vec![3]])));
        let vars = [("OMP_NUM_THREADS", "3"), ("KMP_AFFINITY", "granularity=core,compact,1,0")];
        assert_eq!(config(&vars), (3, Some(vec![vec![0, 2], vec![1, 3], vec![0, 2], vec![1, 3]])));
        assert_eq!(config(&[("KMP_AFFINITY", "proclist=[3,{0,2}],explicit")]), (2, Some(vec![vec![3], vec![0, 2]])));
        assert_eq!(config(&[("KMP_AFFINITY", "proclist=[9,{0,9}],explicit")]), (2, Some(vec![vec![0]])));
        assert_eq!(config(&[("KMP_AFFINITY", "proclist=[9],explicit")]), (2, None));
        assert_eq!(config(&[("KMP_AFFINITY", "none")]), (2, None));
    }

    #[test]
    fn processors_that_cannot_be_used_give_a_warning_unless_it_is_switched_off() {
        let topology = Topology::new(vec![Cpu { package: 0, core: 0, id: 0 }]);
        let warning = |value: &str| affinity_warning(&settings([("KMP_AFFINITY", value)]), Some(&topology));
        let expected = |then: &str| Some(format!("KMP_AFFINITY: this process may not use the processors [9]; {then}"));
        assert_eq!(warning("proclist=[0,9],explicit"), expected("they are left out"));
        assert_eq!(warning("proclist=[9],explicit"), expected("threads are not pinned"));
        assert_eq!(warning("nowarnings,proclist=[9],explicit"), None);
        assert_eq!(warning("proclist=[0],explicit"), None);
    }
}
