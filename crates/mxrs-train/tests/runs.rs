//! Several trainings with one prefix, resuming with other batches, interrupts during validation, and the checks before the
//! first epoch.

mod common;

use common::{bits, context, fit_options, iter, log_of, options, small_net};
use mxrs_data::DataIter;
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_train::callback::{BatchEnd, Callbacks, EpochEnd};
use mxrs_train::metric::create;
use mxrs_train::resume::{Position, PrefixLock, find, newest};
use mxrs_train::{CheckpointOptions, FitOptions, FitReport, Module, Outcome};
use mxrs_types::{Error, Result};
use std::path::Path;
use std::sync::Arc;

/// Options for `num_epoch` epochs from weights of this seed, with checkpoints after each epoch.
fn options_of(prefix: &Path, num_epoch: u64, seed: u64) -> FitOptions {
    let mut options = fit_options(num_epoch);
    options.init.seed = seed;
    FitOptions { checkpoint: Some(CheckpointOptions::new(prefix)), ..options }
}

/// Trains on `n` examples in batches of `batch_size`, as a new process would.
fn train_on(
    (n, batch_size): (usize, usize),
    options: &FitOptions,
    callbacks: &mut Callbacks,
) -> Result<(Module, FitReport)> {
    let mut module = Module::new(&(context(), self::options()), &small_net(8, 3))?;
    let (mut train, mut eval) = (iter(1, n, batch_size, 3), iter(2, 16, 8, 3));
    let mut metric = create("acc", &[])?;
    let eval: Option<&mut dyn DataIter> = Some(&mut eval);
    let report = module.fit(&mut train, eval, &mut metric, None, callbacks, options)?;
    Ok((module, report))
}

/// Like [`train_on`], with five batches of 8 examples.
fn train(options: &FitOptions, callbacks: &mut Callbacks) -> Result<(Module, FitReport)> {
    train_on((40, 8), options, callbacks)
}

/// Callbacks that end the training at this batch with an error, which leaves the same files as a kill.
fn killed_at(epoch: u64, nbatch: u64) -> Callbacks {
    let mut callbacks = Callbacks::default();
    callbacks.batch_end.push(Box::new(move |at: &mut BatchEnd<'_>| match (at.epoch, at.nbatch) == (epoch, nbatch) {
        true => Err(Error::invalid("test", "a kill", "none")),
        false => Ok(()),
    }));
    callbacks
}

fn places(prefix: &Path) -> Vec<String> {
    find(prefix).unwrap().iter().map(|found| found.position.to_string()).collect()
}

#[test]
fn resuming_goes_on_from_the_training_that_began_last() {
    let dir = tempfile::tempdir().unwrap();
    let (prefix, other) = (dir.path().join("net"), dir.path().join("other"));
    train(&options_of(&prefix, 4, 5), &mut Callbacks::default()).unwrap();
    let old = std::fs::read(Position::epoch(3).path(&prefix, ".params")).unwrap();
    // The second training is killed in its second epoch.
    let (result, lines) = log_of(|| train(&options_of(&prefix, 4, 6), &mut killed_at(1, 2)));
    assert!(result.err().unwrap().to_string().contains("a kill"));
    let warning = lines.iter().find(|line| line.contains("of a training before this one")).expect("a warning");
    assert!(warning.contains("net-0004.states") && warning.contains("net-0001.states"), "{warning}");
    assert_eq!(places(&prefix), ["0004", "0003", "0002", "0001"], "nothing is removed");
    assert_eq!(newest(&prefix).unwrap().expect("its own").0.position, Position::epoch(1));
    let mut on = FitOptions { resume: true, ..options_of(&prefix, 4, 6) };
    let checkpoint = on.checkpoint.as_mut().unwrap();
    (checkpoint.keep_last, checkpoint.period) = (Some(1), 2);
    let (result, lines) = log_of(|| train(&on, &mut Callbacks::default()));
    let module = result.unwrap().0;
    assert!(lines.iter().any(|line| line.contains("Resumed from") && line.contains("net-0001.states")), "{lines:#?}");
    assert!(bits(&module) == bits(&train(&options_of(&other, 4, 6), &mut Callbacks::default()).unwrap().0));
    // The second training removes its own older checkpoints. It does not remove `0003`, which it has not overwritten: that
    // checkpoint belongs to the first training.
    assert_eq!(places(&prefix), ["0004", "0003"]);
    assert!(std::fs::read(Position::epoch(3).path(&prefix, ".params")).unwrap() == old);
    assert_eq!(newest(&prefix).unwrap().unwrap().0.run.number, 2);
    // If no checkpoint of the last training is complete, none is found: a checkpoint of another training is not used
    // instead.
    std::fs::write(Position::epoch(4).path(&prefix, ".params"), "half").unwrap();
    assert!(newest(&prefix).unwrap().is_none());
}

#[test]
fn what_begins_at_an_epoch_is_a_training_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    train(&options_of(&prefix, 3, 5), &mut Callbacks::default()).unwrap();
    let from_one = FitOptions { begin_epoch: 1, ..options_of(&prefix, 3, 6) };
    assert!(train(&from_one, &mut killed_at(2, 1)).is_err());
    let (state, _) = newest(&prefix).unwrap().unwrap();
    assert_eq!((state.position, state.run.number), (Position::epoch(2), 2));
    assert_eq!(places(&prefix), ["0003", "0002", "0001"]);
}

#[test]
fn within_an_epoch_other_batches_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    let flag = Arc::new(AtomicBool::new(true));
    let options = FitOptions { data_seed: Some(1), ..options_of(&prefix, 2, 5) };
    let stopped = FitOptions { interrupt: Some(flag), ..options.clone() };
    let (_, report) = train(&stopped, &mut Callbacks::default()).unwrap();
    assert_eq!(report.position, Position { epoch: 0, batch: 1 });
    let on = FitOptions { resume: true, ..options };
    let other_seed = FitOptions { data_seed: Some(2), ..on.clone() };
    for (batches, options, words) in [
        ((40, 4), &on, ["batch size", "got 4", "expected 8"]),
        ((48, 8), &on, ["number of batches of an epoch", "got 6", "expected 5"]),
        ((40, 8), &other_seed, ["seed of the data", "got 2", "expected 1"]),
    ] {
        let error = train_on(batches, options, &mut Callbacks::default()).err().expect("it is refused").to_string();
        assert!(words.iter().all(|word| error.contains(word)) && error.contains("0000-000001"), "{error}");
    }
    let (_, report) = train(&on, &mut Callbacks::default()).unwrap();
    assert_eq!(report.outcome, Outcome::Finished);
    // From the end of an epoch, training may resume with any batches.
    let more = FitOptions { num_epoch: 3, ..other_seed };
    let (_, report) = train_on((40, 4), &more, &mut Callbacks::default()).unwrap();
    assert_eq!(report.position, Position::epoch(3));
}

#[test]
fn an_interrupt_is_noticed_while_validating() {
    let unbroken = {
        let dir = tempfile::tempdir().unwrap();
        bits(&train(&options_of(&dir.path().join("net"), 3, 5), &mut Callbacks::default()).unwrap().0)
    };
    // There are two validation batches: an interrupt during the first ends the validation early; during the second,
    // validation completes.
    for (nbatch, stops_at) in [(0, Position::epoch(2)), (1, Position { epoch: 2, batch: 1 })] {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("net");
        let flag = Arc::new(AtomicBool::new(false));
        let mut options = FitOptions { interrupt: Some(flag.clone()), ..options_of(&prefix, 3, 5) };
        // The only checkpoint is the one that the interrupt causes.
        options.checkpoint.as_mut().unwrap().period = 10;
        let (mut callbacks, raised) = (Callbacks::default(), flag.clone());
        callbacks.eval_batch_end.push(Box::new(move |at: &mut BatchEnd<'_>| {
            if (at.epoch, at.nbatch) == (1, nbatch) {
                raised.store(true, Ordering::Relaxed);
            }
            Ok(())
        }));
        let (result, lines) = log_of(|| train(&options, &mut callbacks));
        let report = result.unwrap().1;
        assert_eq!((report.outcome, report.position), (Outcome::Interrupted, stops_at));
        let has = |words: &str| lines.iter().any(|line| line.contains(words));
        assert_eq!(has("Epoch[1] Validation: interrupted"), nbatch == 0, "{lines:#?}");
        assert_eq!(has("Epoch[1] Validation-accuracy="), nbatch == 1, "{lines:#?}");
        assert_eq!(places(&prefix), [stops_at.to_string()]);
        flag.store(false, Ordering::Relaxed);
        let (module, _) = train(&FitOptions { resume: true, ..options }, &mut Callbacks::default()).unwrap();
        assert!(bits(&module) == unbroken);
    }
}

#[test]
fn a_callback_that_fails_loses_no_epoch() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    let mut callbacks = Callbacks::default();
    callbacks.epoch_end.push(Box::new(|at: &EpochEnd<'_>| match at.epoch {
        0 => Ok(()),
        _ => Err(Error::invalid("test", "a failure", "none")),
    }));
    assert!(train(&options_of(&prefix, 3, 5), &mut callbacks).is_err());
    assert_eq!(places(&prefix), ["0002", "0001"]);
}

/// Checks that the room on the disk is computed with all states of the optimizer. The number of bytes is read from the error
/// message: the folder of the checkpoints cannot be created, because `file` is not a folder. The lock is taken for another
/// prefix, because taking it in that folder would fail before the check.
#[test]
fn room_is_looked_for_for_every_state_of_the_optimizer() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let lock = Arc::new(PrefixLock::take(&dir.path().join("net")).unwrap());
    let bytes = |optimizer: &str, settings: &[(&str, &str)]| {
        let optimizer_params = settings.iter().map(|(key, text)| (key.to_string(), text.to_string())).collect();
        let options = options_of(&dir.path().join("file/net"), 1, 5);
        let lock = Some(Arc::clone(&lock));
        let options = FitOptions { optimizer: optimizer.into(), optimizer_params, lock, ..options };
        let error = train(&options, &mut Callbacks::default()).err().expect("a file is no folder").to_string();
        let (_, behind) = error.split_once("checkpoints of ").expect("it says how many");
        behind.split_once(' ').unwrap().0.parse::<u64>().unwrap()
    };
    let none = bytes("sgd", &[]);
    let (momentum, adam) = (bytes("sgd", &[("momentum", "0.9")]) - none, bytes("adam", &[]) - none);
    assert!(momentum > 0);
    assert_eq!(adam, 2 * momentum);
}
