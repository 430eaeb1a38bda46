//! Tests of files with tuning results: round trips, damage, other versions, several writers.

use super::*;
use proptest::prelude::*;

fn machine(cpu: &str) -> Machine {
    Machine { cpu: cpu.into(), isa: "avx512".into(), mxrs: "0.1.0".into(), setup: "two threads".into() }
}

fn kernel(algorithm: &str, us: f64) -> TunedKernel {
    TunedKernel { backend: "nnpack".into(), algorithm: algorithm.into(), us, us_of_estimate: 2.0 * us }
}

#[test]
fn what_is_written_is_read() {
    let mut file = TuningFile::default();
    file.add(&machine("a"), [("x".into(), kernel("f4", 1.5)), ("y \"\\\n".into(), kernel("f2", 0.25))]);
    file.add(&machine("b"), [("x".into(), kernel("f3", 3.0))]);
    assert_eq!(TuningFile::parse(&file.to_text()).unwrap(), file);
    // A later result replaces an earlier one for the same call; results of other calls and machines stay.
    file.add(&machine("a"), [("x".into(), kernel("f6", 1.0))]);
    assert_eq!(file.of(&machine("a")).unwrap()["x"].algorithm, "f6");
    assert_eq!((file.of(&machine("a")).unwrap().len(), file.of(&machine("b")).unwrap()["x"].us), (2, 3.0));
    assert_eq!(file.of(&machine("c")), None);
}

#[test]
fn a_machine_is_alike_whatever_its_setup() {
    let (a, other) = (machine("a"), Machine { setup: "one thread".into(), ..machine("a") });
    assert!(a.is_like(&other) && !a.is_like(&machine("b")));
    let mut file = TuningFile::default();
    file.add(&a, [("x".into(), kernel("f4", 1.0))]);
    assert_eq!(file.of(&other), None);
}

#[test]
fn other_formats_and_versions_are_refused_by_name() {
    let error = |text: &str| TuningFile::parse(text).unwrap_err().to_string();
    let text =
        |format: &str, version: u32| format!("{{\"format\": \"{format}\", \"version\": {version}, \"machines\": []}}");
    assert!(TuningFile::parse(&text(FORMAT, VERSION)).is_ok());
    // The fields that follow an unknown version may have any type.
    let newer = format!("{{\"format\": \"{FORMAT}\", \"version\": 7, \"machines\": 3}}");
    assert!(error(&newer).contains("version 7"), "{}", error(&newer));
    assert!(error(&text(FORMAT, 0)).contains("version 0"));
    assert!(error(&text("something else", VERSION)).contains("something else"));
    assert!(error("").contains("kernel tuning results"));
    assert!(error(&"[".repeat(100_000)).contains("kernel tuning results"), "no depth overflows the stack");
}

#[test]
fn a_file_that_is_not_there_is_empty_and_a_damaged_one_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sub/tuning.json");
    assert_eq!(TuningFile::open(&path).unwrap(), TuningFile::default());
    let add = |algorithm: &str| {
        TuningFile::merge_into(&path, &machine("a"), [(algorithm.to_owned(), kernel(algorithm, 1.0))]).unwrap()
    };
    assert!(add("f2").is_none());
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let error = TuningFile::open(&path).unwrap_err().to_string();
    assert!(error.contains("tuning.json"), "{error}");
    assert!(add("f3").is_some());
    assert!(add("f4").is_none());
    let calls = TuningFile::open(&path).unwrap().of(&machine("a")).unwrap().clone();
    assert_eq!(calls.keys().collect::<Vec<_>>(), ["f3", "f4"]);
    fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(TuningFile::open(&path).is_err(), "no UTF-8");
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tuning.json");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                for i in 0..8 {
                    let result = [(format!("{writer} {i}"), kernel("f4", 1.0))];
                    assert!(
                        TuningFile::merge_into(path, &machine(&format!("{}", writer % 2)), result).unwrap().is_none()
                    );
                }
            });
        }
    });
    let file = TuningFile::open(&path).unwrap();
    assert_eq!(file.machines.iter().map(|of| of.calls.len()).collect::<Vec<_>>(), [16, 16]);
}

fn any_file() -> impl Strategy<Value = TuningFile> {
    let results = prop::collection::btree_map(".*", ("[a-z]*", ".*", 0.0..1e9), 0..4);
    let machines = prop::collection::vec((".*", results), 0..3);
    machines.prop_map(|machines| {
        let mut file = TuningFile::default();
        for (cpu, results) in machines {
            let found = results.into_iter().map(|(call, (backend, algorithm, us))| {
                (call, TunedKernel { backend, algorithm, us, us_of_estimate: us / 2.0 })
            });
            file.add(&machine(&cpu), found);
        }
        file
    })
}

proptest! {
    #[test]
    fn any_file_comes_back(file in any_file()) {
        let back = TuningFile::parse(&file.to_text()).unwrap();
        prop_assert_eq!(back.machines.len(), file.machines.len());
        for of in &file.machines {
            let calls = back.of(&of.machine).unwrap();
            for (call, kernel) in &of.calls {
                prop_assert_eq!((&calls[call].backend, &calls[call].algorithm), (&kernel.backend, &kernel.algorithm));
                prop_assert!((calls[call].us - kernel.us).abs() <= 1e-9 * kernel.us);
            }
        }
    }

    #[test]
    fn no_damage_panics(file in any_file(), at in 0.0..1.0f64, bytes in prop::collection::vec(any::<u8>(), 0..8)) {
        let mut text = file.to_text().into_bytes();
        let at = (text.len() as f64 * at) as usize;
        let end = (at + bytes.len()).min(text.len());
        text.splice(at..end, bytes);
        if let Ok(parsed) = TuningFile::parse(&String::from_utf8_lossy(&text)) {
            prop_assert!(TuningFile::parse(&parsed.to_text()).is_ok());
        }
    }

    #[test]
    fn no_text_panics(text in ".*") {
        let _ = TuningFile::parse(&text);
    }
}
