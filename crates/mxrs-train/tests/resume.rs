//! Resuming from checkpoints gives the same bits as a training that was never interrupted, from any position and after any
//! kill.

mod common;

use common::{bits, context, iter, log_of, options, small_net};
use mxrs_data::DataIter;
use mxrs_models::Initializer;
use mxrs_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use mxrs_train::callback::{BatchEnd, Callbacks, EpochEnd};
use mxrs_train::metric::{CustomMetric, EvalMetric, create};
use mxrs_train::resume::{Position, find, newest};
use mxrs_train::{CheckpointOptions, FitOptions, FitReport, InitOptions, Module, Outcome};
use mxrs_types::{Error, Result};
use std::path::Path;
use std::sync::Arc;

const EPOCHS: u64 = 3;
const BATCHES: u64 = 5;

fn options_of(prefix: Option<&Path>) -> FitOptions {
    let init = InitOptions { initializer: Initializer::xavier(3.0), seed: 5, ..InitOptions::default() };
    let checkpoint = prefix.map(CheckpointOptions::new);
    FitOptions { init, checkpoint, resume: true, ..optimized(FitOptions::new(EPOCHS), OPTIMIZERS[0]) }
}

/// An optimizer with its settings.
type Optimizer = (&'static str, &'static [(&'static str, &'static str)]);

const OPTIMIZERS: [Optimizer; 2] =
    [("sgd", &[("learning_rate", "0.1"), ("momentum", "0.9"), ("wd", "1e-3")]), ("adam", &[("learning_rate", "0.01")])];

fn optimized(options: FitOptions, (name, settings): Optimizer) -> FitOptions {
    let optimizer_params = settings.iter().map(|(key, text)| (key.to_string(), text.to_string())).collect();
    FitOptions { optimizer: name.into(), optimizer_params, ..options }
}

/// Trains as a new process would: only files remain from an earlier call.
fn train(options: &FitOptions, callbacks: &mut Callbacks) -> Result<(Module, FitReport)> {
    train_by(create("acc", &[])?, options, callbacks)
}

fn train_by(
    mut metric: Box<dyn EvalMetric>,
    options: &FitOptions,
    callbacks: &mut Callbacks,
) -> Result<(Module, FitReport)> {
    let mut module = Module::new(&(context(), common::options()), &small_net(8, 3))?;
    let (mut train, mut eval) = (iter(1, 8 * BATCHES as usize - 3, 8, 3), iter(2, 16, 8, 3));
    let eval: Option<&mut dyn DataIter> = Some(&mut eval);
    let report = module.fit(&mut train, eval, &mut metric, None, callbacks, options)?;
    Ok((module, report))
}

fn unbroken() -> Vec<(String, Vec<u8>)> {
    bits(&train(&options_of(None), &mut Callbacks::default()).unwrap().0)
}

/// Callbacks that set `flag` after `n` batches.
fn raise_after(flag: &Arc<AtomicBool>, n: u64) -> Callbacks {
    let (flag, mut seen) = (flag.clone(), 0);
    let mut callbacks = Callbacks::default();
    callbacks.batch_end.push(Box::new(move |_: &mut BatchEnd<'_>| {
        seen += 1;
        flag.store(seen == n, Ordering::Relaxed);
        Ok(())
    }));
    callbacks
}

#[test]
fn wherever_it_is_interrupted_the_weights_end_bit_equal() {
    let places = OPTIMIZERS.iter().flat_map(|optimizer| (1..=EPOCHS * BATCHES).map(move |stop| (*optimizer, stop)));
    for (optimizer, stop) in places {
        let expected = bits(&train(&optimized(options_of(None), optimizer), &mut Callbacks::default()).unwrap().0);
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("runs/net");
        let flag = Arc::new(AtomicBool::new(false));
        let options = optimized(options_of(Some(&prefix)), optimizer);
        let options = FitOptions { interrupt: Some(flag.clone()), ..options };
        let (_, report) = train(&options, &mut raise_after(&flag, stop)).unwrap();
        assert_eq!(report.outcome, Outcome::Interrupted);
        let at = Position { epoch: stop / BATCHES, batch: stop % BATCHES };
        assert_eq!((report.position, find(&prefix).unwrap()[0].position), (at, at), "after batch {stop}");
        flag.store(false, Ordering::Relaxed);
        let (module, report) = train(&options, &mut Callbacks::default()).unwrap();
        assert_eq!((report.outcome, report.position), (Outcome::Finished, Position::epoch(EPOCHS)));
        assert!(bits(&module) == expected, "{}: interrupted after batch {stop}", optimizer.0);
        let left: Vec<Position> = find(&prefix).unwrap().iter().map(|found| found.position).collect();
        assert!(left.iter().all(|position| position.batch == 0), "what was within an epoch is gone: {left:?}");
    }
}

#[test]
fn interrupted_again_and_again_it_ends_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    let flag = Arc::new(AtomicBool::new(false));
    let options = FitOptions { interrupt: Some(flag.clone()), ..options_of(Some(&prefix)) };
    let mut n = 0;
    let module = loop {
        let (module, report) = train(&options, &mut raise_after(&flag, 2)).unwrap();
        flag.store(false, Ordering::Relaxed);
        n += 1;
        if report.outcome == Outcome::Finished {
            break module;
        }
    };
    assert_eq!(n, 8);
    assert!(bits(&module) == unbroken());
    // Training has already finished, so resuming it trains no further batch.
    let (again, report) = train(&options, &mut Callbacks::default()).unwrap();
    assert!(bits(&again) == bits(&module) && report.train.is_empty());
}

/// If a file of the newest checkpoint is missing, truncated or another checkpoint's, training resumes from the checkpoint
/// before, with the same result.
#[test]
fn a_checkpoint_that_is_not_whole_is_passed_over() {
    let expected = unbroken();
    let spoil: [&dyn Fn(&Path); 5] = [
        &|newest| std::fs::remove_file(newest.with_extension("params")).unwrap(),
        &|newest| std::fs::write(newest.with_extension("params"), "half").unwrap(),
        &|newest| {
            let mut bytes = std::fs::read(newest.with_extension("params")).unwrap();
            // Byte 100 lies within the elements of the first array.
            bytes[100] ^= 1;
            std::fs::write(newest.with_extension("params"), bytes).unwrap();
        },
        &|newest| std::fs::write(newest.with_extension("states"), "").unwrap(),
        &|newest| std::fs::remove_file(newest.with_extension("states")).unwrap(),
    ];
    for (i, spoil) in spoil.into_iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("net");
        let mut options = options_of(Some(&prefix));
        options.num_epoch = 2;
        train(&options, &mut Callbacks::default()).unwrap();
        spoil(&Position::epoch(2).path(&prefix, ".params"));
        options.num_epoch = EPOCHS;
        let (result, lines) = log_of(|| train(&options, &mut Callbacks::default()));
        let (module, _) = result.unwrap();
        assert!(bits(&module) == expected, "spoilt in way {i}");
        assert_eq!(lines.iter().any(|line| line.contains("0002 is passed over")), i != 4, "{lines:#?}");
        assert!(
            lines.iter().any(|line| line.contains("Resumed from") && line.contains("net-0001.states")),
            "{lines:#?}"
        );
    }
}

#[test]
fn within_an_epoch_the_newest_stays() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    let mut options = options_of(Some(&prefix));
    let checkpoint = options.checkpoint.as_mut().unwrap();
    (checkpoint.every_n_batches, checkpoint.keep_last) = (Some(2), Some(2));
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (places, own) = (seen.clone(), prefix.clone());
    let mut callbacks = Callbacks::default();
    callbacks.batch_end.push(Box::new(move |_: &mut BatchEnd<'_>| {
        places.lock().unwrap().push(find(&own)?.iter().map(|found| found.position.to_string()).collect::<Vec<_>>());
        Ok(())
    }));
    let (module, _) = train(&options, &mut callbacks).unwrap();
    assert!(bits(&module) == unbroken());
    let seen = seen.lock().unwrap();
    assert_eq!(seen[2], ["0000-000002"]);
    assert_eq!(seen[4], ["0000-000004"]);
    assert_eq!(seen[7], ["0001-000002", "0001"]);
    assert_eq!(seen.last().unwrap()[..], ["0002-000004", "0002", "0001"]);
    let left: Vec<String> = find(&prefix).unwrap().iter().map(|found| found.position.to_string()).collect();
    assert_eq!(left, ["0003", "0002"]);
}

/// The validation accuracy after each epoch in these tests.
const ACCURACIES: [f64; EPOCHS as usize] = [0.5, 0.9, 0.6];

/// Trains, keeping the newest and the best checkpoint. Validation does not evaluate: it returns the number of
/// [`ACCURACIES`] for the last finished epoch, or for the parameter `epoch` if this training has not finished one yet.
fn train_for_the_best(
    prefix: &Path,
    epoch: u64,
    options: FitOptions,
    mut callbacks: Callbacks,
) -> Result<(Module, FitReport)> {
    let now = Arc::new(AtomicU64::new(epoch));
    let of_metric = now.clone();
    let metric =
        CustomMetric::new("accuracy", move |_, _| Ok((ACCURACIES[of_metric.load(Ordering::Relaxed) as usize], 1.0)));
    callbacks.epoch_end.push(Box::new(move |at: &EpochEnd<'_>| {
        now.store(at.epoch, Ordering::Relaxed);
        Ok(())
    }));
    let checkpoint = CheckpointOptions { keep_last: Some(1), keep_best: true, ..CheckpointOptions::new(prefix) };
    train_by(metric, &FitOptions { checkpoint: Some(checkpoint), ..options }, &mut callbacks)
}

/// Positions of the checkpoints that exist, and the best epoch that the newest one records.
fn kept(prefix: &Path) -> (Vec<Position>, Option<(u64, f64)>) {
    let there = find(prefix).unwrap().iter().map(|found| found.position).collect();
    (there, newest(prefix).unwrap().and_then(|(state, _)| state.best))
}

/// An error leaves the same files as a kill. The checkpoint of epoch 2 was written before validation found that it is the
/// best.
#[test]
fn killed_after_the_best_epoch_it_stays_the_best() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    let mut killed = Callbacks::default();
    killed.batch_end.push(Box::new(|at: &mut BatchEnd<'_>| match (at.epoch, at.nbatch) {
        (2, 1) => Err(Error::invalid("test", "a kill", "none")),
        _ => Ok(()),
    }));
    let error = train_for_the_best(&prefix, 0, options_of(None), killed).err().unwrap().to_string();
    assert!(error.contains("a kill"), "{error}");
    assert_eq!(kept(&prefix), (vec![Position::epoch(2)], Some((2, 0.9))));
    let (module, report) = train_for_the_best(&prefix, 0, options_of(None), Callbacks::default()).unwrap();
    assert_eq!((report.outcome, report.validation[0].1), (Outcome::Finished, 0.6));
    assert_eq!(kept(&prefix), (vec![Position::epoch(3), Position::epoch(2)], Some((2, 0.9))));
    assert!(bits(&module) == unbroken());
}

#[test]
fn interrupted_before_the_best_epoch_was_validated_it_is_validated_later() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    let flag = Arc::new(AtomicBool::new(false));
    let options = || FitOptions { interrupt: Some(flag.clone()), ..options_of(None) };
    let (_, report) = train_for_the_best(&prefix, 0, options(), raise_after(&flag, 2 * BATCHES)).unwrap();
    assert_eq!((report.outcome, report.position), (Outcome::Interrupted, Position::epoch(2)));
    assert_eq!(kept(&prefix), (vec![Position::epoch(2), Position::epoch(1)], Some((1, 0.5))));
    flag.store(false, Ordering::Relaxed);
    let (result, lines) = log_of(|| train_for_the_best(&prefix, 1, options(), Callbacks::default()));
    assert!(lines.iter().any(|line| line == "Epoch[1] Validation-accuracy=0.900000"), "{lines:#?}");
    assert_eq!(kept(&prefix), (vec![Position::epoch(3), Position::epoch(2)], Some((2, 0.9))));
    assert!(bits(&result.unwrap().0) == unbroken());
}

/// Files of the prefix `ckpt/` are written into that folder and found in it.
#[test]
fn a_prefix_may_be_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("ckpt/");
    std::fs::create_dir(&prefix).unwrap();
    let flag = Arc::new(AtomicBool::new(false));
    let options = FitOptions { interrupt: Some(flag.clone()), ..options_of(Some(&prefix)) };
    train(&options, &mut raise_after(&flag, 7)).unwrap();
    assert!(dir.path().join("ckpt/-0001-000002.params").exists());
    assert_eq!(kept(&prefix).0, [Position { epoch: 1, batch: 2 }, Position::epoch(1)]);
    flag.store(false, Ordering::Relaxed);
    let mut seen = Callbacks::default();
    seen.batch_end.push(Box::new(|at: &mut BatchEnd<'_>| {
        assert!((at.epoch, at.nbatch) >= (1, 2), "it began again");
        Ok(())
    }));
    let (module, _) = train(&options, &mut seen).unwrap();
    assert!(bits(&module) == unbroken());
}

#[test]
#[cfg(unix)]
fn a_prefix_that_is_no_text_is_refused_before_the_first_epoch() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join(std::ffi::OsStr::from_bytes(b"net\xff"));
    let mut callbacks = Callbacks::default();
    callbacks.batch_end.push(Box::new(|_: &mut BatchEnd<'_>| panic!("a batch ran")));
    let error = train(&options_of(Some(&prefix)), &mut callbacks).err().unwrap().to_string();
    assert!(error.contains("UTF-8"), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    assert!(find(&prefix).unwrap_err().to_string().contains("UTF-8"));
}

#[test]
fn a_folder_that_takes_nothing_is_told_before_the_first_epoch() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let options = options_of(Some(&dir.path().join("file/net")));
    let mut callbacks = Callbacks::default();
    callbacks.batch_end.push(Box::new(|_: &mut BatchEnd<'_>| panic!("a batch ran")));
    assert!(train(&options, &mut callbacks).err().unwrap().to_string().contains("checkpoints of"));
}

#[test]
fn states_of_another_network_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    train(&options_of(Some(&prefix)), &mut Callbacks::default()).unwrap();
    let mut module = Module::new(&(context(), options()), &small_net(9, 3)).unwrap();
    let (mut metric, mut none) = (create("acc", &[]).unwrap(), Callbacks::default());
    let more = FitOptions { num_epoch: 9, ..options_of(Some(&prefix)) };
    let error = module.fit(&mut iter(1, 40, 8, 3), None, &mut metric, None, &mut none, &more).unwrap_err().to_string();
    assert!(error.contains("fc1_weight") && error.contains("(8, 6)") && error.contains("(9, 6)"), "{error}");
}

#[test]
fn states_of_another_optimizer_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    train(&options_of(Some(&prefix)), &mut Callbacks::default()).unwrap();
    let more = FitOptions { num_epoch: 9, ..optimized(options_of(Some(&prefix)), OPTIMIZERS[1]) };
    let error = train(&more, &mut Callbacks::default()).err().expect("they are sgd's").to_string();
    assert!(error.contains("sgd") && error.contains("adam"), "{error}");
}

/// The child process of the test `killed_at_random_it_ends_the_same`: trains until it is killed or done.
#[test]
#[ignore = "run by the test that kills it"]
fn child() {
    let prefix = std::env::args().find_map(|arg| arg.strip_prefix("--skip=prefix:").map(str::to_owned));
    let Some(prefix) = prefix else { return };
    let mut options = options_of(Some(Path::new(&prefix)));
    options.checkpoint.as_mut().unwrap().every_n_batches = Some(1);
    train(&options, &mut Callbacks::default()).unwrap();
}

/// A training that is killed at random moments and restarted each time ends with the same bits. After the first checkpoint
/// there is a complete checkpoint at every moment.
#[test]
#[cfg(unix)]
fn killed_at_random_it_ends_the_same() {
    let expected = unbroken();
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    let mut last = Position::default();
    let mut kills = 0;
    let mut wait_us = 20_000u64;
    for round in 0..200u64 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--ignored", "--quiet", &format!("--skip=prefix:{}", prefix.display())])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // The waiting times differ, so that processes are killed while they start, compute and write checkpoints.
        std::thread::sleep(std::time::Duration::from_micros(wait_us + (round * 7919) % 30_000));
        let finished = child.try_wait().unwrap().is_some_and(|status| status.success());
        if !finished {
            child.kill().unwrap();
            kills += 1;
        }
        child.wait().unwrap();
        let now = newest(&prefix).unwrap().map(|(state, _)| state.position).unwrap_or_default();
        assert!(now >= last, "from {last} back to {now}");
        // If a slow machine made no progress, the next process gets more time.
        wait_us = if now == last { wait_us * 5 / 4 } else { wait_us };
        last = now;
        if finished {
            break;
        }
    }
    assert_eq!(last, Position::epoch(EPOCHS), "after {kills} kills");
    assert!(kills > 0);
    let (module, _) = train(&options_of(Some(&prefix)), &mut Callbacks::default()).unwrap();
    assert!(bits(&module) == expected, "after {kills} kills");
    let mut names = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.all(|name| !name.to_str().unwrap().contains(".tmp.")), "the last run cleared up");
}
