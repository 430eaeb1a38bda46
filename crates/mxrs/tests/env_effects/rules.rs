//! Rules for every variable in effect: invalid values, blanks, empty values, misspelled names, and the origin of values.

use crate::door::Door;
use crate::{builder, runtime, warnings};
use mxrs::Runtime;
use mxrs::types::ErrorKind;
use mxrs_env::{ALIASES, MapSource, Origin, Registered, Settings, Snapshot, registry};
use std::collections::BTreeSet;
use std::process::Command;

/// The values that a variable accepts, as far as these tests try them.
enum Accepts {
    /// 0, 1, true, false.
    Bool,
    /// Integers from this minimum.
    From(i64),
    /// Integers from a minimum to a maximum.
    Range(i64, i64),
    /// Numbers above 0, up to 1.
    Share,
    /// Every integer.
    AnyInt,
    /// Integers from 1, separated by commas.
    Ints,
    /// One of these words, which are separated by commas here. The tests use the second word.
    Words(&'static str),
    /// The notation of KMP_AFFINITY.
    Affinity,
    /// The notation of MXRS_REMAT.
    Remat,
    /// A number of bytes, with or without a unit.
    Bytes,
    /// The name of a backend, or NONE.
    Backend,
    /// 0, 1 or names of dtypes.
    Types,
    /// 0 or an absolute path.
    OffOrPath,
    /// Any path.
    Path,
}

use Accepts::*;

const ENGINES: &str = "NaiveEngine, ThreadedEngine, ThreadedEnginePerDevice, NaiveEngineAsync, ThreadedEngineAsync, \
                       ThreadedEnginePerDeviceAsync";
const POOLS: &str = "Naive, Round, Unpooled, BestFit";

/// Every variable that is in effect in some build.
const VARIABLES: &[(&str, Accepts)] = &[
    ("MXNET_CPU_WORKER_NTHREADS", From(1)),
    ("MXNET_GPU_WORKER_NTHREADS", From(1)),
    ("MXNET_GPU_COPY_NTHREADS", From(1)),
    ("MXNET_GPU_WORKER_NSTREAMS", Range(1, 2)),
    ("MXNET_CPU_PRIORITY_NTHREADS", From(1)),
    ("MXNET_CPU_TEMP_COPY", From(1)),
    ("MXNET_GPU_TEMP_COPY", From(1)),
    ("MXNET_CPU_PARALLEL_RAND_COPY", From(1)),
    ("MXNET_GPU_PARALLEL_RAND_COPY", From(1)),
    ("MXNET_MP_WORKER_NTHREADS", From(1)),
    ("MXNET_MP_OPENCV_NUM_THREADS", AnyInt),
    ("OMP_NUM_THREADS", Ints),
    ("KMP_AFFINITY", Affinity),
    ("MXNET_OMP_MAX_THREADS", From(1)),
    ("MXNET_CPU_NNPACK_NTHREADS", From(1)),
    ("MXNET_EXEC_ENABLE_INPLACE", Bool),
    ("NNVM_EXEC_MATCH_RANGE", From(0)),
    ("MXNET_EXEC_NUM_TEMP", From(1)),
    ("NNVM_AUTO_SEARCH_MATCH_RANGE", Bool),
    ("MXNET_MEM_PLAN_VERBOSE_LOGGING", Bool),
    ("MXNET_GPU_MEM_POOL_TYPE", Words(POOLS)),
    ("MXNET_CPU_MEM_POOL_TYPE", Words(POOLS)),
    ("MXNET_CPU_PINNED_MEM_POOL_TYPE", Words(POOLS)),
    ("MXNET_GPU_MEM_POOL_RESERVE", Range(0, 100)),
    ("MXNET_CPU_MEM_POOL_RESERVE", Range(0, 100)),
    ("MXNET_CPU_PINNED_MEM_POOL_RESERVE", Range(0, 100)),
    ("MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE", From(1)),
    ("MXNET_CPU_MEM_LARGE_ALLOC_ROUND_SIZE", From(1)),
    ("MXNET_CPU_PINNED_MEM_LARGE_ALLOC_ROUND_SIZE", From(1)),
    ("MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF", Range(20, 34)),
    ("MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF", Range(20, 34)),
    ("MXNET_CPU_PINNED_MEM_POOL_ROUND_LINEAR_CUTOFF", Range(20, 34)),
    ("MXNET_GPU_MEM_POOL_PAGE_SIZE", From(32)),
    ("MXNET_CPU_MEM_POOL_PAGE_SIZE", From(32)),
    ("MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE", From(32)),
    ("MXNET_USE_NAIVE_STORAGE_MANAGERS", AnyInt),
    ("MXNET_ENGINE_TYPE", Words(ENGINES)),
    ("MXNET_ENGINE_INFO", Bool),
    ("MXRS_GPU_SYNC", Words("host, event")),
    ("MXRS_ENGINE_BACKTRACE", Bool),
    ("MXRS_ENGINE_STICKY_ERRORS", Bool),
    ("MXRS_ENGINE_STALL_SECS", From(1)),
    ("MXRS_EXIT_TIMEOUT_MS", From(0)),
    ("MXNET_PROFILER_AUTOSTART", Bool),
    ("MXNET_PROFILER_MODE", Range(0, 15)),
    ("MXNET_EXEC_BULK_EXEC_INFERENCE", Bool),
    ("MXNET_EXEC_BULK_EXEC_TRAIN", Bool),
    ("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", From(0)),
    ("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", From(0)),
    ("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", From(0)),
    ("MXNET_BACKWARD_DO_MIRROR", Bool),
    ("MXNET_MEMORY_OPT", Bool),
    ("MXNET_ELIMINATE_COMMON_EXPR", Bool),
    ("MXNET_USE_FUSION", Bool),
    ("MXNET_ONEDNN_FUSE_DEQUANTIZE", Bool),
    ("MXNET_ONEDNN_FUSE_REQUANTIZE", Bool),
    ("MXNET_QUANTIZATION_VERBOSE", Bool),
    ("MXNET_RTC_VERBOSE", Bool),
    ("MXNET_EXEC_INPLACE_GRAD_SUM_CAP", From(2)),
    ("MXRS_REMAT", Remat),
    ("MXRS_MEMORY_BUDGET", Bytes),
    ("MXRS_PLAN", Words("auto, pool, offset")),
    ("MXRS_PLAN_CACHE", From(1)),
    ("MXRS_AUTOGRAD_VERSION_CHECK", Bool),
    ("MXNET_ONEDNN_ENABLED", Bool),
    ("MXNET_ONEDNN_CACHE_NUM", From(-1)),
    ("MXNET_USE_OPERATOR_TUNING", Types),
    ("MXRS_TUNING_CACHE", OffOrPath),
    ("MXNET_ENFORCE_DETERMINISM", Bool),
    ("MXNET_SAFE_ACCUMULATION", Bool),
    ("MXNET_OPTIMIZER_AGGREGATION_SIZE", Range(1, 60)),
    ("MXNET_SUBGRAPH_BACKEND", Backend),
    ("MXNET_SUBGRAPH_VERBOSE", Range(0, 2)),
    ("MXNET_DISABLE_ONEDNN_CONV_OPT", Bool),
    ("MXNET_DISABLE_ONEDNN_FC_OPT", Bool),
    ("MXNET_DISABLE_ONEDNN_FC_SUM", Bool),
    ("MXNET_DISABLE_ONEDNN_BN_RELU_OPT", Bool),
    ("MXNET_DISABLE_ONEDNN_FUSE_CONV_BN", Bool),
    ("MXNET_DISABLE_ONEDNN_FUSE_CONV_RELU", Bool),
    ("MXNET_DISABLE_ONEDNN_FUSE_CONV_SUM", Bool),
    ("MXNET_DISABLE_ONEDNN_FUSE_FC_ELTWISE", Bool),
    ("MXNET_DISABLE_ONEDNN_FUSE_BN_RELU", Bool),
    ("MXNET_ONEDNN_FORCE_FC_AB_FORMAT", Bool),
    ("MXNET_KVSTORE_REDUCTION_NTHREADS", From(1)),
    ("MXNET_KVSTORE_BIGARRAY_BOUND", From(1)),
    ("MXNET_KVSTORE_USETREE", Bool),
    ("MXNET_KVSTORE_LOGTREE", Bool),
    ("MXNET_KVSTORE_TREE_ARRAY_BOUND", From(1)),
    ("MXNET_KVSTORE_TREE_BACKTRACK", Bool),
    ("MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY", Share),
    ("MXNET_ENABLE_GPU_P2P", Bool),
    ("MXNET_UPDATE_ON_KVSTORE", Bool),
    ("MXNET_KVSTORE_SERIAL_PUSH", Bool),
    ("MXNET_KVSTORE_SLICE_THRESHOLD", From(1)),
    ("DMLC_ROLE", Words("worker, server, scheduler")),
    ("DMLC_PS_ROOT_URI", Path),
    ("DMLC_NUM_WORKER", From(1)),
    ("DMLC_NUM_SERVER", From(1)),
    ("DMLC_LOCAL", Bool),
    ("DMLC_PS_VAN_TYPE", Words("zmq, p3, ibverbs")),
    ("DMLC_PS_WATER_MARK", From(0)),
    ("DMLC_RANK", AnyInt),
    ("PS_HEARTBEAT_INTERVAL", From(0)),
    ("PS_HEARTBEAT_TIMEOUT", From(0)),
    ("DMLC_JOB_CLUSTER", Words("local, ssh, mpi, sge, yarn, slurm")),
    ("DMLC_TASK_ID", From(0)),
    ("MXRS_KVSTORE_ENGINE", Words("auto, mpi, local")),
    ("MXRS_MPI_LIB", Path),
    ("MXRS_KVSTORE_TIMEOUT", From(1)),
    ("DMLC_PS_ROOT_PORT", Range(1, 65535)),
    ("DMLC_NODE_HOST", Path),
    ("DMLC_USE_KUBERNETES", Bool),
    ("MXRS_KVSTORE_SERVERS", Path),
    ("MXRS_KVSTORE_CA", Path),
    ("MXRS_KVSTORE_CERT", Path),
    ("MXRS_KVSTORE_KEY", Path),
    ("MXRS_KVSTORE_INSECURE", Bool),
    ("MXRS_KVSTORE_TOKEN_FILE", Path),
    ("MXRS_KVSTORE_SNAPSHOT_DIR", Path),
    ("MXRS_KVSTORE_SNAPSHOT_INTERVAL", From(1)),
    ("MXRS_KVSTORE_METRICS", Path),
    ("MXRS_KVSTORE_STALENESS", From(0)),
    ("MXRS_KVSTORE_PENDING_MB", Range(1, 1 << 20)),
    ("MXRS_KVSTORE_REPLAY_MB", Range(0, 1 << 20)),
    ("MXNET_CPU_PARALLEL_SIZE", From(0)),
    ("MXNET_EXEC_VERBOSE_LOGGING", Bool),
    ("MXNET_HOME", Path),
    ("DMLC_LOG_STACK_TRACE_DEPTH", From(0)),
    ("DMLC_LOG_DEBUG", Bool),
];

impl Accepts {
    /// The part of the error message that says what is expected.
    fn expected(&self) -> String {
        match self {
            Bool => "0, 1, true or false".into(),
            From(min) => format!("an integer >= {min}"),
            Range(min, max) if min + 1 == *max => format!("{min} or {max}"),
            Range(min, max) if min + 2 == *max => format!("{min}, {} or {max}", min + 1),
            Range(min, max) => format!("an integer from {min} to {max}"),
            Share => "a number > 0 and <= 1".into(),
            AnyInt => "an integer".into(),
            Ints => "integers >= 1, separated by commas".into(),
            Words(words) => format!("one of {words}"),
            Affinity => "[modifier,...]type[,permute[,offset]]".into(),
            Remat => "off, light, mirror, sqrt, chain, or budget:<bytes>".into(),
            Bytes => "a number of bytes".into(),
            Backend => "NONE or a registered backend: ".into(),
            Types => "0, 1, or a list with commas of ".into(),
            OffOrPath => "0, or an absolute path".into(),
            Path => "a path".into(),
        }
    }

    /// A valid value that is not the default of the variable.
    fn good(&self, canonical: &str) -> String {
        match self {
            Bool if Settings::default().value(canonical).as_deref() == Some("0") => "1".into(),
            Bool => "0".into(),
            From(min) => (min + 2).to_string(),
            Range(_, max) => max.to_string(),
            Share => "0.5".into(),
            AnyInt | Ints => "3".into(),
            Words(words) => words.split(", ").nth(1).unwrap_or_default().into(),
            Affinity => "none".into(),
            Remat => "budget:2GiB".into(),
            Bytes => "512MiB".into(),
            Backend => "NONE".into(),
            Types | OffOrPath => "0".into(),
            Path => "some/folder".into(),
        }
    }

    fn takes_minus_one(&self) -> bool {
        matches!(self, AnyInt | From(-1))
    }

    /// Whether blanks around the value belong to it.
    fn keeps_blanks(&self) -> bool {
        matches!(self, Words(_) | Backend)
    }
}

/// All names by which a variable can be set.
fn names_of(canonical: &str) -> Vec<&str> {
    let older = ALIASES.iter().filter(|alias| alias.canonical == canonical).map(|alias| alias.name);
    std::iter::once(canonical).chain(older).collect()
}

fn read(name: &str, value: &str) -> mxrs::Result<Settings> {
    Ok(Settings::from_source(&MapSource::new([(name, value)]))?.0)
}

/// Checks that building a runtime fails, with an error that contains the variable, the value and the accepted values.
fn check_refused(name: &str, value: &str, accepts: &Accepts) {
    let error = match builder(&[(name, value)]).build() {
        Err(error) => error,
        Ok(_) => panic!("{name}={value:?} was accepted"),
    };
    let ErrorKind::Env { name: said_name, value: said_value, expected } = error.kind() else {
        panic!("{name}={value:?}: {error}");
    };
    assert_eq!((said_name.as_str(), said_value.as_str()), (name, value));
    assert!(expected.starts_with(&accepts.expected()), "{name}={value:?}: {expected}");
    assert_eq!(error.to_string(), format!("{name}: invalid value \"{value}\": expected {expected}"));
}

#[test]
fn the_table_has_every_variable_in_effect() {
    let runtime = runtime(&[]);
    let in_effect = registry().iter().filter_map(|entry| match entry {
        Registered::Variable(_, row) if runtime.capabilities().is_written(row.needs) => Some(row.name),
        _ => None,
    });
    let listed: BTreeSet<&str> = VARIABLES.iter().map(|(name, _)| *name).collect();
    assert_eq!(in_effect.collect::<BTreeSet<_>>(), listed);
}

#[test]
fn bad_values_are_refused() {
    for (canonical, accepts) in VARIABLES.iter().filter(|(_, accepts)| !matches!(accepts, Path)) {
        for name in names_of(canonical) {
            check_refused(name, "two", accepts);
            check_refused(name, "1e6", accepts);
            check_refused(name, " ", accepts);
            if accepts.takes_minus_one() {
                assert_eq!(read(name, "-1").unwrap().value(canonical).as_deref(), Some("-1"), "{name}");
            } else {
                check_refused(name, "-1", accepts);
            }
        }
    }
    check_refused("MXNET_ONEDNN_CACHE_NUM", "-2", &From(-1));
    check_refused("MXNET_EXEC_BULK_EXEC_INFERENCE", "2", &Bool);
}

/// If an integer is written as 1e6, the error says how to write it.
#[test]
fn an_exponent_is_spelt_out() {
    let error = read("NNVM_EXEC_MATCH_RANGE", "1e6").err().unwrap().to_string();
    assert!(error.ends_with("expected an integer >= 0 (write 1000000)"), "{error}");
}

#[test]
fn empty_is_unset() {
    let defaults = Settings::default();
    for (canonical, _) in VARIABLES {
        for name in names_of(canonical) {
            let (settings, warnings) = Settings::from_source(&MapSource::new([(name, "")])).unwrap();
            assert_eq!(settings.value(canonical), defaults.value(canonical), "{name}");
            assert_eq!((settings.origin(canonical), warnings), (Origin::Default, vec![]), "{name}");
        }
    }
}

#[test]
fn an_empty_value_changes_nothing_of_a_runtime() {
    let all: Vec<(&str, &str)> = VARIABLES.iter().map(|(name, _)| (*name, "")).collect();
    let (set, unset) = (runtime(&all), runtime(&[]));
    assert_eq!(set.engine().config(), unset.engine().config());
    assert_eq!(set.storage().config(), unset.storage().config());
    assert_eq!(set.bind_options().plan, unset.bind_options().plan);
    assert_eq!(set.team().size(), unset.team().size());
    assert!(warnings(&all).is_empty());
}

#[test]
fn blanks_around_numbers_are_ignored_and_in_words_are_kept() {
    for (canonical, accepts) in VARIABLES.iter().filter(|(_, accepts)| !matches!(accepts, Path)) {
        for name in names_of(canonical) {
            let good = accepts.good(canonical);
            let plain = read(name, &good).unwrap().value(canonical);
            assert_ne!(plain, Settings::default().value(canonical), "{name}={good} is not a test");
            for blanks in [format!("{good}  "), format!("{good}\t")] {
                if accepts.keeps_blanks() {
                    check_refused(name, &blanks, accepts);
                } else {
                    assert_eq!(read(name, &blanks).unwrap().value(canonical), plain, "{name}={blanks:?}");
                }
            }
        }
    }
}

#[test]
fn a_bad_value_of_an_area_that_is_not_in_use_is_refused_too() {
    let error = builder(&[("MXNET_KVSTORE_SLICE_THRESHOLD", "1e6")]).build().err().unwrap();
    assert!(error.to_string().starts_with("MXNET_KVSTORE_SLICE_THRESHOLD: invalid value \"1e6\""), "{error}");
}

#[test]
fn a_misspelt_name_warns_with_the_right_one() {
    let expected = |name| format!("unknown variable {name}: the nearest known name is MXNET_CPU_WORKER_NTHREADS");
    for name in ["MXNET_CPU_WORKER_NTHREAD", "MXNET_CPU_WORKERS_NTHREADS", "MXNET_CPU_WORKER_THREADS"] {
        assert_eq!(warnings(&[(name, "4")]), [expected(name)]);
        assert_eq!(runtime(&[(name, "4")]).engine().config().cpu_workers.get(), 1, "it is not taken for the right one");
    }
}

#[test]
fn a_variable_that_is_not_yet_in_effect_warns() {
    assert_eq!(
        warnings(&[("MXNET_RTC_SIZE_WARNING", "0")]),
        ["MXNET_RTC_SIZE_WARNING=0 is not yet in effect: it needs the CUDA backend"]
    );
    assert!(warnings(&[("MXNET_RTC_SIZE_WARNING", "1")]).is_empty(), "that is the default");
}

#[test]
fn an_argument_wins_over_the_variable() {
    let source = MapSource::new([("MXNET_CPU_WORKER_NTHREADS", "2")]);
    let snapshot = Snapshot::take(&source).with_api("MXNET_CPU_WORKER_NTHREADS", "3");
    let runtime = Runtime::builder().snapshot(snapshot).build().unwrap();
    let (engine, door) = (runtime.engine(), Door::default());
    for _ in 0..6 {
        engine.task("wait").push(door.body()).unwrap();
    }
    assert_eq!(door.wait_for(3), 3);
    door.open();
    engine.wait_for_all().unwrap();
    assert_eq!(engine.counters().pools.iter().map(|pool| pool.peak_running).max(), Some(3));
}

#[test]
fn two_runtimes_with_different_settings_live_side_by_side() {
    let (one, four) = (runtime(&[]), runtime(&[("MXNET_CPU_WORKER_NTHREADS", "4"), ("OMP_NUM_THREADS", "4")]));
    assert_eq!((one.engine().config().cpu_workers.get(), four.engine().config().cpu_workers.get()), (1, 4));
    assert_eq!(four.team().size(), 4);
    assert!(builder(&[]).build().is_ok());
}

#[test]
#[ignore = "run by the_environment_of_the_process_is_read in processes of its own"]
fn in_a_child_process() {
    match Runtime::from_env() {
        Ok(runtime) => println!("workers: {}", runtime.engine().config().cpu_workers),
        Err(error) => println!("error: {error}"),
    }
}

#[test]
fn the_environment_of_the_process_is_read() {
    let child = |value: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "rules::in_a_child_process", "--ignored", "--nocapture"]);
        let output = command.env("MXNET_CPU_WORKER_NTHREADS", value).output().unwrap();
        assert!(output.status.success(), "no panic");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(child("3").contains("workers: 3"));
    assert!(child("").contains("workers: 1"));
    let refused = child("two");
    assert!(
        refused.contains("error: MXNET_CPU_WORKER_NTHREADS: invalid value \"two\": expected an integer >= 1"),
        "{refused}"
    );
}
