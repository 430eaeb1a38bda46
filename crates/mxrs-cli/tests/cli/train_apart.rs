//! Trainings that must not damage checkpoints: two at a time with one prefix, and one whose parameters become NaN or
//! infinite.

use crate::small::{GRAY, Small, TEN};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A training in another process that has started and runs until it is killed.
struct Endless(Child);

impl Endless {
    fn start(small: &Small, prefix: &str) -> Self {
        let line =
            [&GRAY[..], &TEN, &["--lr-factor", "1", "--num-epochs", "1000000", "--model-prefix", prefix]].concat();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mxrs"));
        let mut child = command.args(small.line(&line)).env_clear().stderr(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.starts_with("INFO:root:Epoch[0] Batch ")), "it trains");
        // The rest of its log is read, so that the process does not block on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self(child)
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.kill();
    }
}

#[test]
fn a_second_training_with_the_prefix_is_refused_until_the_first_is_gone() {
    let small = Small::new();
    let prefix = small.path("net");
    let mut first = Endless::start(&small, &prefix);
    let process = format!("process {}", first.0.id());
    // The second training is refused for every spelling of the prefix, whether it starts or resumes.
    let detour = small.path("./net");
    for flags in
        [&["--model-prefix", &prefix][..], &["--model-prefix", &detour], &["--model-prefix", &prefix, "--resume"]]
    {
        let error = small.train(&[&["--num-epochs", "1"], flags].concat()).failed(1);
        for words in ["net\"", &process, "begun", "--num-epochs 1000000", "prefix of its own"] {
            assert!(error.contains(words), "{words}: {error}");
        }
        assert!(!error.contains("Saved checkpoint"), "{error}");
    }
    small.train(&["--num-epochs", "1", "--model-prefix", &small.path("other")]).ok();
    // SIGKILL leaves the lock file, but not the lock, so another training is not blocked.
    first.kill();
    assert!(small.at("net-training.lock").exists() || !cfg!(unix));
    let log = small.log(&["--num-epochs", "1", "--model-prefix", &prefix]);
    assert!(log.contains("Saved checkpoint"), "{log}");
    assert!(!small.at("net-training.lock").exists() || !cfg!(unix), "nothing stays of a training that ended");
}

#[test]
fn a_training_that_diverged_keeps_the_good_checkpoints() {
    let small = Small::new();
    let prefix = small.path("net");
    let flags = ["--model-prefix", &prefix, "--keep-last", "1", "--keep-best", "--data-val", &small.records];
    small.train(&[&["--num-epochs", "1"][..], &flags].concat()).ok();
    let diverges = ["--resume", "--lr", "1e30", "--num-epochs", "4"];
    let error = small.train(&[&diverges[..], &flags].concat()).failed(1);
    for words in ["after epoch 1", "NaN", "net-0001.params", "finite"] {
        assert!(error.contains(words), "{words}: {error}");
    }
    assert_eq!(small.checkpoints("net"), ["0001"]);
    // The training resumes from the checkpoint of epoch 1, with another learning rate.
    let log = small.log(&["--num-epochs", "2", "--model-prefix", &prefix, "--resume"]);
    assert!(log.contains("Resumed from") && log.contains("net-0001.states"), "{log}");
    assert_eq!(small.checkpoints("net"), ["0001", "0002"]);
}

#[test]
fn a_training_that_diverged_at_once_writes_nothing() {
    let small = Small::new();
    let prefix = small.path("net");
    let error = small.train(&["--lr", "1e30", "--num-epochs", "2", "--model-prefix", &prefix]).failed(1);
    assert!(error.contains("after epoch 0") && error.contains("no earlier checkpoint"), "{error}");
    assert!(small.checkpoints("net").is_empty());
}
