//! Rules for every variable in effect: invalid values, blanks, empty values, misspelled names, and the origin of values.

use crate::door::Door;
use crate::variables::{Accepts, VARIABLES};
use crate::{builder, runtime, warnings};
use mxrs::Runtime;
use mxrs::types::ErrorKind;
use mxrs_env::{ALIASES, MapSource, Origin, Registered, Settings, Snapshot, registry};
use std::collections::BTreeSet;
use std::process::Command;

use Accepts::*;

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
