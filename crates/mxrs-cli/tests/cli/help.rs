//! The help text of each command.

use crate::mxrs::mxrs;

#[test]
fn every_command_explains_its_flags() {
    let commands: [(&str, &[&str]); 18] = [
        ("env", &["--area", "--format", "markdown"]),
        ("summary", &["--shape", "--line-length", "[default: 120]", "--positions"]),
        ("plan", &["--batch", "--shape", "--mode", "--set", "--compare", "--svg", "mxrs plan resnet-50"]),
        ("plot", &["--svg", "--dot", "--shape", "--weights", "--title", "mxrs plot resnet-18"]),
        (
            "predict",
            &[
                "--model",
                "--epoch",
                "--data-shape",
                "[default: 3,224,224]",
                "--mean-rgb",
                "--draw",
                "--output",
                "--input",
                "--output-dir",
                "mxrs predict --model bert.onnx",
            ],
        ),
        (
            "quantize",
            &[
                "--prefix",
                "--data-val",
                "--image-shape",
                "[default: 3,224,224]",
                "--calib-mode",
                "[default: entropy]",
                "--quantized-dtype",
                "[default: auto]",
                "--granularity",
                "[default: channel-wise]",
                "--exclude-op",
                "mxrs quantize --prefix",
            ],
        ),
        (
            "score",
            &["--network", "[default: all]", "--num-batches", "[default: 10]", "--warmup", "[default: 5]", "--json"],
        ),
        (
            "tune",
            &[
                "--network",
                "--batch-size",
                "[default: 1]",
                "--budget",
                "--again",
                "--no-winograd",
                "--accuracy",
                "--weights",
            ],
        ),
        ("ops", &["--explain", "--format"]),
        (
            "im2rec",
            &[
                "--list",
                "--exts",
                "--chunks",
                "--train-ratio",
                "--test-ratio",
                "--recursive",
                "--no-shuffle",
                "--pass-through",
                "--resize",
                "--center-crop",
                "--quality",
                "--num-thread",
                "--color",
                "--encoding",
                "[default: .jpg]",
                "--pack-label",
                "--strict",
            ],
        ),
        ("rec2idx", &["--sequential"]),
        ("rec", &["ls", "verify", "shuffle", "split"]),
        ("diagnose", &["--python", "--network", "--timeout", "[default: 10]", "--self-test", "--json"]),
        ("launch", &["--num-workers", "--hostfile", "--launcher", "--env-worker", "--p3", "--timeout", "--dry-run"]),
        ("kill", &["--all"]),
        ("bandwidth", &["--kv-store", "--size", "--keys", "--network", "--no-priority", "--format", "simulate"]),
        ("completions", &["bash", "zsh"]),
        ("man", &["--output"]),
    ];
    let overview = mxrs(["--help"]).ok();
    for (command, flags) in commands {
        assert!(overview.contains(&format!("\n  {command} ")), "{command} is missing in {overview}");
        let help = mxrs([command, "--help"]).ok();
        for flag in flags.iter().chain(&["--log-format", "--quiet", "--verbose"]) {
            assert!(help.contains(flag), "{command}: {flag} is missing in {help}");
        }
    }
}

#[test]
fn shells_get_completions_of_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = mxrs(["completions", shell]).ok();
        for word in ["fine-tune", "im2rec", "--data-val", "--calib-mode"] {
            assert!(script.contains(word.trim_start_matches("--")), "{shell}: {word} is missing");
        }
    }
    assert!(mxrs(["completions", "tcsh"]).failed(2).contains("possible values"));
}

#[test]
fn every_command_has_a_manual_page() {
    assert!(mxrs(["man"]).ok().contains(".SH SUBCOMMANDS"));
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    mxrs(["man".as_ref(), "--output".as_ref(), pages.as_os_str()]).ok();
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(page("mxrs.1").contains(".SH SUBCOMMANDS"));
    assert!(page("mxrs-quantize.1").contains("calib"), "a page lists the flags of its command");
    assert!(page("mxrs-train-imagenet.1").contains("model\\-prefix"), "commands below commands have pages too");
    let error = mxrs(["man", "--output", "/proc/none/man1"]).failed(1);
    assert!(error.contains("/proc/none/man1"), "{error}");
}

#[test]
fn the_version_is_that_of_the_package() {
    assert_eq!(mxrs(["--version"]).ok(), concat!("mxrs ", env!("CARGO_PKG_VERSION"), "\n"));
}
