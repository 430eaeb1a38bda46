//! Rows M11, D77 and D93 of `docs/env.md`: which kernels are chosen if tuning results are stored, and when stored
//! results must not be used.

use crate::graphs::{Calls, bind};
use crate::log_lines::log_lines;
use crate::{Vars, builder, check_older_name};
use mxrs::exec::{ChosenBy, Executor, Search};
use mxrs::format::tuning::{Machine, TuningFile};
use mxrs::graph::Symbol;
use mxrs::{Runtime, RuntimeBuilder, Winograd};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const CACHE: &str = "MXRS_TUNING_CACHE";
const DETERMINISM: &str = "MXNET_ENFORCE_DETERMINISM";
const TUNING: &str = "MXNET_USE_OPERATOR_TUNING";

/// A convolution of 32 channels that several kernels of mxrs support, on images of this size.
fn convolution(runtime: &Runtime, size: usize) -> Executor {
    let attrs = [("kernel", "(3, 3)"), ("pad", "(1, 1)"), ("num_filter", "32")];
    let graph = Calls::new(runtime).call("Convolution", &attrs, &[&Symbol::variable("x")]).graph().unwrap();
    bind(runtime, &graph, [1, 32, size, size])
}

/// The kernel of the convolution, and how it was chosen.
fn chosen(runtime: &Runtime) -> (String, ChosenBy) {
    let executor = convolution(runtime, 14);
    executor.forward().unwrap();
    let steps = executor.report().unwrap().steps;
    let step = steps.into_iter().find(|step| step.op == "Convolution").expect("a convolution");
    (step.kernel, step.chosen_by)
}

fn nnpack(vars: Vars<'_>) -> RuntimeBuilder {
    builder(vars).only_backend("nnpack")
}

/// Searches for the fastest kernel and stores it in the file.
fn search(file: &Path, vars: Vars<'_>, size: usize) {
    let vars = [vars, &[(CACHE, file.to_str().unwrap())]].concat();
    let runtime = nnpack(&vars).search_kernels(Search::new(Duration::ZERO)).build().unwrap();
    convolution(&runtime, size);
    assert_eq!(runtime.keep_kernels().unwrap().as_deref(), Some(file));
}

/// Replaces the algorithm of every call in the file.
fn rewrite(path: &Path, algorithm: &str, machine: impl Fn(&mut Machine)) {
    let mut file = TuningFile::open(path).unwrap();
    for of in &mut file.machines {
        machine(&mut of.machine);
        of.calls.values_mut().for_each(|kernel| kernel.algorithm = algorithm.into());
    }
    std::fs::write(path, file.to_text()).unwrap();
}

/// A tuning file that names the slowest Winograd algorithm on one thread as the fastest. Estimates would never choose it, so
/// its use shows that the file was read.
fn unlikely(folder: &Path) -> std::path::PathBuf {
    let file = folder.join("tuning.json");
    search(&file, &[], 14);
    rewrite(&file, "f2x2_3x3@1", |_| {});
    file
}

const UNLIKELY: &str = ":1";

fn is_unlikely(kernel: &str) -> bool {
    kernel.contains("f2x2_3x3") && kernel.ends_with(UNLIKELY)
}

#[test]
fn m11_the_kernel_is_that_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = unlikely(folder.path());
    let (kernel, by) = chosen(&nnpack(&[(CACHE, file.to_str().unwrap())]).build().unwrap());
    assert!(is_unlikely(&kernel) && by == ChosenBy::Cache, "{kernel} {by:?}");
    for other in [None, Some("0")] {
        let vars: Vec<_> = other.map(|value| (CACHE, value)).into_iter().collect();
        let (kernel, by) = chosen(&nnpack(&vars).build().unwrap());
        assert!(!is_unlikely(&kernel) && by == ChosenBy::Estimate, "{other:?}: {kernel} {by:?}");
    }
}

#[test]
fn m11_off_keeps_nothing() {
    let runtime = nnpack(&[(CACHE, "0")]).search_kernels(Search::new(Duration::ZERO)).build().unwrap();
    assert_eq!(chosen(&runtime).1, ChosenBy::Search);
    assert_eq!(runtime.keep_kernels().unwrap(), None);
}

#[test]
fn m11_results_of_other_settings_are_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let file = unlikely(folder.path());
    let vars = [(CACHE, file.to_str().unwrap())];
    assert_eq!(chosen(&nnpack(&vars).winograd(Winograd::Loose).build().unwrap()).1, ChosenBy::Estimate);
    assert_eq!(chosen(&builder(&vars).only_backend("reference").build().unwrap()).1, ChosenBy::Estimate);
    let threads = [vars[0], ("OMP_NUM_THREADS", "3")];
    assert_eq!(chosen(&nnpack(&threads).build().unwrap()).1, ChosenBy::Estimate);
}

/// A file that cannot be used gives a warning, and estimates decide.
#[test]
fn m11_a_file_of_no_use_is_ignored_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let file = unlikely(folder.path());
    let text = std::fs::read_to_string(&file).unwrap();
    let warnings = || {
        let build = || nnpack(&[(CACHE, file.to_str().unwrap())]).build().unwrap();
        let ((kernel, by), lines) = log_lines(|| chosen(&build()));
        assert!(!is_unlikely(&kernel) && by == ChosenBy::Estimate, "{kernel} {by:?}");
        lines.into_iter().filter(|line| line.starts_with("WARN ")).collect::<Vec<_>>()
    };
    let about = |text: &str, what: &str| {
        std::fs::write(&file, text).unwrap();
        let lines = warnings();
        assert!(lines.len() == 1 && lines[0].contains("tuning") && lines[0].contains(what), "{what}: {lines:?}");
    };
    about(&text[..text.len() / 2], "ignored");
    about(&text.replace("\"version\": 1", "\"version\": 0"), "version 0");
    about("", "ignored");
    let foreign = |machine: fn(&mut Machine)| {
        std::fs::write(folder.path().join("other.json"), &text).unwrap();
        rewrite(&folder.path().join("other.json"), "f2x2_3x3@1", machine);
        std::fs::read_to_string(folder.path().join("other.json")).unwrap()
    };
    about(&foreign(|machine| machine.cpu.push('x')), "other processors or versions");
    about(&foreign(|machine| machine.mxrs.push('x')), "other processors or versions");
    // The file names an algorithm that does not exist.
    about(&text.replace("f2x2_3x3@1", "f2x2_3x3@999"), "of no use");
}

#[test]
#[ignore = "run by m11_two_processes_write_one_file in processes of its own"]
fn in_a_child_process() {
    let Some(size) = std::env::args().find_map(|arg| arg.strip_prefix("--skip=size:")?.parse().ok()) else { return };
    let Some(file) = std::env::args().find_map(|arg| Some(arg.strip_prefix("--skip=file:")?.to_owned())) else {
        return;
    };
    search(file.as_ref(), &[], size);
}

#[test]
fn m11_two_processes_write_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.json");
    let child = |size: usize| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "tuning::in_a_child_process", "--ignored"]);
        command.args([format!("--skip=size:{size}"), format!("--skip=file:{}", file.display())]);
        command.spawn().unwrap()
    };
    for mut process in [6, 8, 10].map(child) {
        assert!(process.wait().unwrap().success());
    }
    let results = TuningFile::open(&file).unwrap();
    assert_eq!(results.machines.iter().map(|of| of.calls.len()).collect::<Vec<_>>(), [3]);
}

/// D77: kernels depend on sizes only, a search is refused with an error that names the variable, and two runtimes give the
/// same bits.
#[test]
fn d77_nothing_is_timed() {
    let folder = tempfile::tempdir().unwrap();
    let file = unlikely(folder.path());
    let vars = [(CACHE, file.to_str().unwrap()), (DETERMINISM, "1")];
    let (kernel, by) = chosen(&nnpack(&vars).build().unwrap());
    assert!(!is_unlikely(&kernel) && by == ChosenBy::Estimate, "{kernel} {by:?}");
    assert_eq!(chosen(&nnpack(&[vars[0], (DETERMINISM, "0")]).build().unwrap()).1, ChosenBy::Cache);
    let error = nnpack(&vars).search_kernels(Search::default()).build().err().unwrap().to_string();
    assert!(error.contains("MXNET_ENFORCE_DETERMINISM=1"), "{error}");

    let bits = || {
        let runtime = nnpack(&vars).build().unwrap();
        let executor = convolution(&runtime, 14);
        for (name, array) in executor.arrays() {
            let n = array.shape().n_elements();
            let values: Vec<f32> = (0..n).map(|i| ((i * 37 + name.len()) % 101) as f32 / 101.0 - 0.5).collect();
            array.copy_from(&values).unwrap();
        }
        executor.forward().unwrap();
        executor.outputs()[0].to_vec::<f32>().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    assert_eq!(bits(), bits());
}

#[test]
fn d93_says_for_which_types_timing_chooses() {
    let folder = tempfile::tempdir().unwrap();
    let file = unlikely(folder.path());
    let by = |text: &str| chosen(&nnpack(&[(CACHE, file.to_str().unwrap()), (TUNING, text)]).build().unwrap()).1;
    for (text, expected) in [
        ("", ChosenBy::Cache),
        ("1", ChosenBy::Cache),
        ("float32", ChosenBy::Cache),
        ("int8,float32", ChosenBy::Cache),
        ("0", ChosenBy::Estimate),
        ("float64", ChosenBy::Estimate),
    ] {
        assert_eq!(by(text), expected, "{text:?}");
    }
    let error = nnpack(&[(TUNING, "0")]).search_kernels(Search::default()).build().err().unwrap().to_string();
    assert!(error.contains("MXNET_USE_OPERATOR_TUNING=0"), "{error}");
}

#[test]
fn o3_is_d93() {
    let folder = tempfile::tempdir().unwrap();
    let file = unlikely(folder.path());
    check_older_name("MXNET_ENABLE_OPERATOR_TUNING", TUNING, ["0", "1"], |vars| {
        let vars = [vars, &[(CACHE, file.to_str().unwrap())]].concat();
        chosen(&nnpack(&vars).build().unwrap()).1
    });
}

/// If Winograd's algorithms are disabled, neither estimates nor a search choose one.
#[test]
fn kernels_without_winograd() {
    for search in [None, Some(Search::new(Duration::ZERO))] {
        let builder = nnpack(&[(CACHE, "0")]);
        let is_searched = search.is_some();
        let builder = match search {
            Some(search) => builder.search_kernels(search),
            None => builder,
        };
        let (kernel, by) = chosen(&builder.winograd(Winograd::Off).build().unwrap());
        assert!(kernel.starts_with("nnpack:product:"), "{kernel}");
        assert_eq!(by == ChosenBy::Search, is_searched);
    }
    assert!(chosen(&nnpack(&[]).build().unwrap()).0.contains("_3x3:"), "with them there is one");
}
