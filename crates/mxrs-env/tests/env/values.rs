//! Tests good and bad values of every row, and their error messages.

use crate::{error, other_value, read, rows};
use mxrs_env::*;
use mxrs_types::{DType, EngineKind, EngineType, ErrorKind, PoolKind};

/// Sets the variable of `row` to `value`, which must be refused. Returns the part of the error message that says what was
/// expected. Asserts that the message has the form that the documentation describes.
fn refusal(row: &Row, value: &str) -> String {
    let result = Settings::from_source(&MapSource::new([(row.name, value)]));
    let error = result.err().unwrap_or_else(|| panic!("{}={value:?} is accepted", row.name));
    match error.kind() {
        ErrorKind::Env { name, value: got, expected } => {
            assert_eq!((name.as_str(), got.as_str()), (row.name, value));
            assert_eq!(error.to_string(), format!("{name}: invalid value \"{got}\": expected {expected}"));
            expected.clone()
        }
        other => panic!("{}: {other:?}", row.name),
    }
}

#[test]
fn bad_numbers_are_refused_by_every_numeric_row() {
    let mut n_rows = 0;
    for row in rows() {
        let (min, max) = match row.kind {
            Kind::Bool => (0, 1),
            Kind::Int { min, max } | Kind::FirstInt { min, max } | Kind::IntList { min, max } => (min, max),
            Kind::Float { .. } => {
                for value in ["two", "-1", "inf", "nan", "0.5x", "0,5"] {
                    refusal(row, value);
                }
                n_rows += 1;
                continue;
            }
            _ => continue,
        };
        n_rows += 1;
        for value in
            ["two", "1e6", "0x1", "1.0", "1k", " ", "- 1", "1_000", "99999999999999999999999999999999999999999"]
        {
            refusal(row, value);
        }
        if min >= 0 {
            refusal(row, "-1");
        }
        if min == 1 {
            refusal(row, "0");
        }
        if min > i128::from(i64::MIN) {
            refusal(row, &(min - 1).to_string());
        }
        refusal(row, &(max + 1).to_string());
    }
    assert!(n_rows > 130, "{n_rows}");
}

#[test]
fn words_are_taken_in_exact_case_and_without_blanks() {
    for row in rows() {
        let Kind::Words(words) = row.kind else { continue };
        for word in words {
            assert!(row.kind.check(word).is_ok());
            refusal(row, &format!("{word} "));
            let swapped: String = word
                .chars()
                .map(|c| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
                .collect();
            assert!(refusal(row, &swapped).contains(word));
        }
    }
}

#[test]
fn empty_is_unset_and_blanks_around_numbers_are_ignored() {
    for row in rows() {
        let (settings, warnings) = read(&[(row.name, "")]);
        assert_eq!((settings.origin(row.name), warnings.len()), (Origin::Default, 0), "{}", row.name);
        if matches!(row.kind, Kind::Bool | Kind::Int { .. } | Kind::Float { .. } | Kind::FirstInt { .. }) {
            let value = other_value(row);
            let (settings, _) = read(&[(row.name, &format!(" {value} \t"))]);
            assert_eq!(settings.value(row.name), Some(value), "{}", row.name);
        }
    }
}

#[test]
fn both_ends_of_every_range_fit_the_field() {
    for row in rows() {
        let (Kind::Int { min, max } | Kind::FirstInt { min, max } | Kind::IntList { min, max }) = row.kind else {
            continue;
        };
        for value in [min, max].map(|value| value.to_string()) {
            let (settings, _) = read(&[(row.name, &value)]);
            assert_eq!(settings.value(row.name), Some(value), "{}", row.name);
        }
    }
}

#[test]
fn the_defaults_without_any_variable() {
    let (settings, warnings) = read(&[]);
    assert_eq!(warnings, []);
    assert!(rows().all(|row| settings.origin(row.name) == Origin::Default));
    assert_eq!(settings.threads, ThreadSettings::default());
    assert_eq!((settings.threads.cpu_workers.get(), settings.threads.cpu_priority_workers.get()), (1, 4));
    assert_eq!((settings.threads.team, settings.threads.affinity.as_ref()), (None, None));
    assert_eq!(
        (settings.planner.enable_inplace, settings.planner.match_range, settings.n_colors().get()),
        (true, 16, 1)
    );
    let pool = PoolConfig {
        kind: PoolKind::Naive,
        reserve_percent: 5,
        large_round_bytes: 2 << 20,
        linear_cutoff: 24,
        page_bytes: 4096,
    };
    assert!(PoolDevice::ALL.into_iter().all(|device| settings.pools.of(device) == pool));
    assert_eq!(settings.engine.engine_type, EngineType::PerDevice);
    assert_eq!((settings.onednn.enabled, settings.onednn.cache_limit()), (true, None));
    assert_eq!(settings.kvstore.tree_link_penalty, 0.7);
    assert_eq!(settings.tuning.operator_tuning(), OperatorTuning::All);
    assert_eq!(settings.profiler.mode, 13);
    assert_eq!(settings.distributed.transport, Transport::Zmq);
    assert!(settings.cudnn.disabled_forward.is_empty() && settings.cuda_graphs.dot_prefix.is_empty());
}

#[test]
fn values_arrive_in_their_fields() {
    let (settings, _) = read(&[
        ("OMP_NUM_THREADS", "6, 2"),
        ("KMP_AFFINITY", "granularity=fine,compact,1,0"),
        ("MXNET_ENGINE_TYPE", "ThreadedEngineAsync"),
        ("MXNET_CPU_MEM_POOL_TYPE", "Round"),
        ("MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE", "64"),
        ("MXNET_EXEC_NUM_TEMP", "8"),
        ("MXNET_GPU_WORKER_NTHREADS", "3"),
        ("MXNET_ONEDNN_CACHE_NUM", "0"),
        ("MXNET_USE_OPERATOR_TUNING", "float16,int8"),
        ("MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES", "1, 40"),
        ("MXNET_GLUON_REPO", "http://localhost:8000"),
        ("MXNET_EXEC_ENABLE_INPLACE", "False"),
        ("DMLC_ROLE", "server"),
        ("MXNET_LIBRARY_PATH", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")),
        ("MXNET_CUDA_GRAPHS_DBG_FILE", " with blanks "),
    ]);
    assert_eq!(settings.threads.team.unwrap().get(), 6);
    assert_eq!(settings.threads.affinity.as_ref().unwrap().granularity, Granularity::Thread);
    assert!(settings.engine.engine_type.is_async());
    assert_eq!(settings.engine.engine_type.kind(), EngineKind::Threaded);
    assert_eq!(settings.pools.of(PoolDevice::Cpu).kind, PoolKind::Round);
    assert_eq!(settings.pools.of(PoolDevice::Gpu).kind, PoolKind::Naive);
    assert_eq!(settings.pools.of(PoolDevice::CpuPinned).page_bytes, 64);
    assert_eq!(settings.n_colors().get(), 3, "capped by the GPU workers");
    assert_eq!(settings.onednn.cache_limit(), Some(0));
    assert_eq!(settings.tuning.operators, Some(OperatorTuning::Only(vec![DType::F16, DType::I8])));
    assert_eq!(settings.cudnn.disabled_forward, [1, 40]);
    assert_eq!(settings.files.gluon_repo, "http://localhost:8000/");
    assert!(!settings.planner.enable_inplace);
    assert_eq!(settings.distributed.role, Some(Role::Server));
    assert!(settings.execution.library_path.unwrap().ends_with("Cargo.toml"));
    assert_eq!(settings.cuda_graphs.dot_prefix, " with blanks ");
}

#[test]
fn no_pools_means_unpooled_on_every_device() {
    for value in ["1", "-3"] {
        let (settings, _) = read(&[("MXNET_USE_NAIVE_STORAGE_MANAGERS", value), ("MXNET_CPU_MEM_POOL_TYPE", "Round")]);
        assert!(PoolDevice::ALL.into_iter().all(|device| settings.pools.of(device).kind == PoolKind::Unpooled));
    }
}

#[test]
fn error_texts() {
    assert_eq!(
        error(&[("MXNET_CPU_WORKER_NTHREADS", "two")]),
        "MXNET_CPU_WORKER_NTHREADS: invalid value \"two\": expected an integer >= 1"
    );
    assert_eq!(
        error(&[("MXNET_KVSTORE_BIGARRAY_BOUND", "1e6")]),
        "MXNET_KVSTORE_BIGARRAY_BOUND: invalid value \"1e6\": expected an integer >= 1 (write 1000000)"
    );
    assert_eq!(
        error(&[("MXNET_CPU_MEM_POOL_RESERVE", "101")]),
        "MXNET_CPU_MEM_POOL_RESERVE: invalid value \"101\": expected an integer from 0 to 100"
    );
    assert_eq!(
        error(&[("MXNET_ENGINE_TYPE", "naive")]),
        "MXNET_ENGINE_TYPE: invalid value \"naive\": expected one of NaiveEngine, ThreadedEngine, \
         ThreadedEnginePerDevice, NaiveEngineAsync, ThreadedEngineAsync, ThreadedEnginePerDeviceAsync"
    );
    assert_eq!(
        error(&[("MXNET_EXEC_BULK_EXEC_TRAIN", "2")]),
        "MXNET_EXEC_BULK_EXEC_TRAIN: invalid value \"2\": expected 0, 1, true or false"
    );
    assert_eq!(
        error(&[("MXNET_LIBRARY_PATH", "libmxnet.so")]),
        "MXNET_LIBRARY_PATH: invalid value \"libmxnet.so\": expected the absolute path of an existing file"
    );
    assert!(error(&[("MXNET_USE_OPERATOR_TUNING", "float31")]).contains("`float31` is none of these"));
    assert!(
        error(&[("KMP_AFFINITY", "compat")]).starts_with("KMP_AFFINITY: invalid value \"compat\": expected [modif")
    );
}

#[test]
fn all_errors_can_be_had_at_once() {
    let source = MapSource::new([
        ("MXNET_ONEDNN_ENABLED", "yes"),
        ("MXNET_CPU_WORKER_NTHREADS", "0"),
        ("MXNET_EXEC_MATCH_RANGE", "-1"),
        ("MXNET_CPU_MEM_POOL_TYPE", "Round"),
        ("MXNET_CPU_MEM_POOL_PAGE_SIZE", "96"),
        ("MXNET_GPU_WORKER_NTHREADS", "3"),
    ]);
    let errors = Settings::check_all(&source);
    let names: Vec<_> = errors.iter().map(|error| error.to_string().split(':').next().unwrap().to_owned()).collect();
    assert_eq!(
        names,
        ["MXNET_CPU_WORKER_NTHREADS", "MXNET_EXEC_MATCH_RANGE", "MXNET_ONEDNN_ENABLED", "MXNET_CPU_MEM_POOL_PAGE_SIZE"]
    );
    assert_eq!(Settings::from_source(&source).unwrap_err(), errors[0]);
    assert_eq!(Settings::check_all(&MapSource::empty()), []);
}

#[test]
fn a_row_without_effect_warns_once_when_it_leaves_its_default() {
    let no_gpu = Err(", which this build has none of".to_owned());
    let capabilities = Capabilities::new([(Capability::Gpu, no_gpu), (Capability::Fork, Ok(()))]);
    for row in rows() {
        let value = other_value(row);
        let (settings, of_reading) = read(&[(row.name, &value)]);
        assert!(of_reading.iter().all(|warning| warning.kind() == WarningKind::Hint), "{of_reading:?}");
        let about = settings.warnings_without_effect(&capabilities);
        let shown = settings.value(row.name).unwrap();
        let expected = match capabilities.state_of(row) {
            State::InEffect => None,
            // A build without oneDNN behaves as if oneDNN were switched off, so the switch of oneDNN gives no warning.
            _ if row.needs == Capability::OneDnnFeature => None,
            State::NotYet(why) => {
                Some((WarningKind::NotYetInEffect, format!("{}={shown} is not yet in effect: {why}", row.name)))
            }
            State::Needs(what) => {
                Some((WarningKind::Inert, format!("{}={shown} has no effect: it needs {what}", row.name)))
            }
            state => panic!("{state}"),
        };
        let found = about.iter().map(|warning| (warning.kind(), warning.to_string()));
        assert_eq!(found.collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>(), "{}", row.name);
        assert_eq!(settings.origin(row.name), Origin::Environment);
        if let Some(default) = row.default_value() {
            let (settings, warnings) = read(&[(row.name, default)]);
            assert_eq!(warnings, [], "{} at its default", row.name);
            assert_eq!(settings.warnings_without_effect(&capabilities), [], "{} at its default", row.name);
        }
    }
}

#[test]
fn names_of_other_programs_are_marked() {
    let (settings, _) = read(&[("TMPDIR", "/scratch"), ("MXNET_TEST_COUNT", "2")]);
    let warnings = settings.warnings_without_effect(&Capabilities::default());
    let marks: Vec<_> = warnings.iter().map(|warning| (warning.name(), warning.is_about_shared_name())).collect();
    assert_eq!(marks, [("TMPDIR", true), ("MXNET_TEST_COUNT", false)]);
}

#[test]
fn an_owner_can_say_that_it_cannot_honor_a_setting() {
    let (settings, _) = read(&[("MXNET_ONEDNN_ENABLED", "0")]);
    let warning = settings.inert_warning("MXNET_ONEDNN_ENABLED", "this build has no oneDNN").unwrap();
    assert_eq!(warning.to_string(), "MXNET_ONEDNN_ENABLED=0 has no effect: this build has no oneDNN");
    assert_eq!(warning.kind(), WarningKind::Inert);
    assert_eq!(settings.inert_warning("MXNET_ONEDNN_CACHE_NUM", "this build has no oneDNN"), None);
}

#[test]
fn api_arguments_win_and_are_checked() {
    let source = MapSource::new([
        ("MXNET_CPU_WORKER_NTHREADS", "4"),
        ("MXNET_EXEC_MATCH_RANGE", "8"),
        ("NNVM_EXEC_NUM_TEMP", "2"),
    ]);
    let snapshot = Snapshot::take(&source)
        .with_api("MXNET_CPU_WORKER_NTHREADS", "2")
        .with_api("NNVM_EXEC_MATCH_RANGE", "0")
        .with_api("MXNET_ENGINE_TYPE", "");
    let (settings, _) = Settings::from_snapshot(&snapshot).unwrap();
    assert_eq!((settings.threads.cpu_workers.get(), settings.planner.match_range), (2, 0));
    assert_eq!(settings.origin("MXNET_CPU_WORKER_NTHREADS"), Origin::Api);
    assert_eq!(settings.origin("NNVM_EXEC_MATCH_RANGE"), Origin::Api);
    assert_eq!(settings.origin("MXNET_EXEC_NUM_TEMP"), Origin::Alias);
    assert_eq!(settings.origin("MXNET_ENGINE_TYPE"), Origin::Default);
    let bad = Settings::from_snapshot(&snapshot.clone().with_api("MXNET_ENGINE_TYPE", "x")).unwrap_err();
    assert!(bad.to_string().starts_with("MXNET_ENGINE_TYPE: invalid value \"x\""), "{bad}");
    let unknown = Settings::from_snapshot(&snapshot.with_api("MXNET_ENGINE_TIPE", "x")).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "setting: got `MXNET_ENGINE_TIPE`, expected the name of a variable; the nearest is MXNET_ENGINE_TYPE"
    );
}

#[test]
fn data_lies_under_mxnet_home_or_the_home_folder() {
    let folder = |vars: &[(&str, &str)]| read(vars).0.data_folder().map(|path| path.to_str().unwrap().to_owned());
    assert_eq!(folder(&[("MXNET_HOME", "/data"), ("HOME", "/home/me")]).as_deref(), Some("/data"));
    assert_eq!(folder(&[]), None);
    #[cfg(unix)]
    assert_eq!(folder(&[("HOME", "/home/me")]).as_deref(), Some("/home/me/.mxnet"));
}

#[test]
#[cfg(all(unix, not(target_os = "macos")))]
fn tuning_results_lie_in_the_cache_folder() {
    let file = |vars: &[(&str, &str)]| read(vars).0.tuning_cache().map(|path| path.to_str().unwrap().to_owned());
    assert_eq!(file(&[]), None);
    let (home, cache) = (("HOME", "/home/me"), ("XDG_CACHE_HOME", "/cache"));
    assert_eq!(file(&[home]).as_deref(), Some("/home/me/.cache/mxrs/tuning.json"));
    assert_eq!(file(&[home, cache]).as_deref(), Some("/cache/mxrs/tuning.json"));
    // The XDG standard says that a relative path is to be ignored.
    assert_eq!(file(&[home, ("XDG_CACHE_HOME", "cache")]).as_deref(), Some("/home/me/.cache/mxrs/tuning.json"));
    assert_eq!(file(&[home, cache, ("MXRS_TUNING_CACHE", "/x")]).as_deref(), Some("/x"));
    assert_eq!(file(&[home, cache, ("MXRS_TUNING_CACHE", "0")]), None);
}

#[cfg(unix)]
#[test]
fn values_that_are_no_text_are_refused() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let broken = || OsString::from_vec(vec![b'4', 0xff]);
    let source = MapSource::new([(OsString::from("MXNET_CPU_WORKER_NTHREADS"), broken())]);
    let error = Settings::from_source(&source).unwrap_err().to_string();
    assert_eq!(error, "MXNET_CPU_WORKER_NTHREADS: invalid value \"4\u{fffd}\": expected text in UTF-8");
    let foreign = MapSource::new([(broken(), broken()), (OsString::from("LANG"), broken())]);
    assert!(Settings::from_source(&foreign).is_ok());
}
