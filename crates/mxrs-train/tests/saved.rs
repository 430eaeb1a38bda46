//! A program, a callback or MXNet writes checkpoints under a prefix where the training loop has written some too. Resuming
//! uses the newest of all of them. The loop removes only checkpoints that it wrote itself.

mod common;

use common::{batch, fit_options, iter, log_of};
use mxrs_data::DataIter;
use mxrs_train::callback::{BatchEnd, Callbacks, module_checkpoint};
use mxrs_train::metric::create;
use mxrs_train::resume::{Position, Restored, Run, TrainingState, find, newest};
use mxrs_train::{BindFor, CheckpointOptions, FitOptions, InitOptions, Module};
use mxrs_types::{Error, Result};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Options for `num_epoch` epochs, with a checkpoint after each.
fn options_of(prefix: &Path, num_epoch: u64) -> FitOptions {
    FitOptions { checkpoint: Some(CheckpointOptions::new(prefix)), ..fit_options(num_epoch) }
}

/// Options that resume, and keep only the newest of the training's own checkpoints.
fn going_on(prefix: &Path, num_epoch: u64) -> FitOptions {
    let checkpoint = CheckpointOptions { keep_last: Some(1), ..CheckpointOptions::new(prefix) };
    FitOptions { checkpoint: Some(checkpoint), resume: true, ..fit_options(num_epoch) }
}

fn fit(module: &mut Module, options: &FitOptions, callbacks: &mut Callbacks) -> Result<()> {
    let (mut train, mut eval, mut metric) = (iter(1, 24, 8, 3), iter(2, 8, 8, 3), create("acc", &[])?);
    module.fit(&mut train, Some(&mut eval), &mut metric, None, callbacks, options).map(drop)
}

/// Trains as a new process would.
fn train(options: &FitOptions, callbacks: &mut Callbacks) -> Result<Module> {
    let mut module = common::module();
    fit(&mut module, options, callbacks)?;
    Ok(module)
}

/// A module as in a new process, with an optimizer and initial parameters.
fn begun() -> Module {
    let mut module = common::module();
    let data = iter(1, 24, 8, 3);
    module.bind(data.provide_data(), data.provide_label(), BindFor::default()).unwrap();
    module.init_params(None, &InitOptions::default()).unwrap();
    module.init_optimizer_named("sgd", &[("learning_rate", "0.01")]).unwrap();
    module
}

/// Trains one batch without `fit`, and saves the result as the checkpoint of `epoch`, with states.
fn by_hand(module: &mut Module, prefix: &Path, epoch: u64) {
    module.forward_backward(batch(&mut iter(1, 24, 8, 3))).unwrap();
    module.update().unwrap();
    module.save_checkpoint(prefix, epoch, true).unwrap();
}

/// Callbacks that end the training at the first batch of this epoch with an error, which leaves the same files as a kill.
fn killed_in(epoch: u64) -> Callbacks {
    let mut callbacks = Callbacks::default();
    callbacks.batch_end.push(Box::new(move |at: &mut BatchEnd<'_>| match at.epoch == epoch {
        true => Err(Error::invalid("test", "a kill", "none")),
        false => Ok(()),
    }));
    callbacks
}

/// Saves the newest checkpoint again for another epoch, without the number of a training. MXNet leaves such a checkpoint in
/// another format.
fn unnumbered(prefix: &Path, epoch: u64) {
    let (state, params) = newest(prefix).unwrap().expect("a checkpoint");
    let (position, run) = (Position::epoch(epoch), Run::default());
    TrainingState { position, run, best: None, ..state }.save(prefix, params).unwrap();
}

/// Epoch and training number of the newest checkpoint.
fn newest_of(prefix: &Path) -> (u64, u64) {
    let (state, _) = newest(prefix).unwrap().expect("a checkpoint");
    (state.position.epoch, state.run.number)
}

fn places(prefix: &Path) -> Vec<String> {
    find(prefix).unwrap().iter().map(|found| found.position.to_string()).collect()
}

#[test]
fn what_was_saved_by_hand_is_the_newest() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    let mut options = options_of(&prefix, 3);
    options.checkpoint.as_mut().unwrap().keep_best = true;
    let mut module = train(&options, &mut Callbacks::default()).unwrap();
    let best = newest(&prefix).unwrap().unwrap().0.best;
    assert!(best.is_some());
    by_hand(&mut module, &prefix, 4);
    let (state, params) = newest(&prefix).unwrap().unwrap();
    assert_eq!((state.position, state.run.number, state.best), (Position::epoch(4), 1, best));
    // First the same training continues in another process and saves epoch 5. Then a new training saves epochs 6 and 7 under
    // the same prefix.
    let mut module = begun();
    module.restore(&state, &params).unwrap();
    by_hand(&mut module, &dir.path().join("./net"), 5);
    assert_eq!(newest_of(&prefix), (5, 1));
    let mut module = begun();
    by_hand(&mut module, &prefix, 6);
    by_hand(&mut module, &prefix, 7);
    assert_eq!(newest_of(&prefix), (7, 2));
    let (result, lines) = log_of(|| train(&going_on(&prefix, 8), &mut Callbacks::default()));
    result.unwrap();
    assert!(lines.iter().any(|line| line.contains("Resumed from") && line.contains("net-0007.states")), "{lines:#?}");
    assert_eq!(places(&prefix), ["0008", "0005", "0004", "0003", "0002", "0001"]);
}

#[test]
fn what_mxnet_trained_on_is_the_newest() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    train(&options_of(&prefix, 3), &mut Callbacks::default()).unwrap();
    [4, 5, 6].into_iter().for_each(|epoch| unnumbered(&prefix, epoch));
    assert_eq!(newest_of(&prefix), (6, 0));
    let (result, lines) = log_of(|| train(&going_on(&prefix, 8), &mut Callbacks::default()));
    result.unwrap();
    assert!(lines.iter().any(|line| line.contains("Resumed from") && line.contains("net-0006.states")), "{lines:#?}");
    assert_eq!(newest_of(&prefix), (8, 2));
    assert_eq!(places(&prefix), ["0008", "0006", "0005", "0004", "0003", "0002", "0001"], "of its own one stays");
}

#[test]
fn what_mxnet_left_before_is_not_the_newest() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    train(&options_of(&prefix, 1), &mut Callbacks::default()).unwrap();
    [3, 2, 1].into_iter().for_each(|epoch| unnumbered(&prefix, epoch));
    assert_eq!(newest_of(&prefix), (3, 0));
    // A new training starts from the beginning and is killed in its second epoch.
    assert!(train(&options_of(&prefix, 3), &mut killed_in(1)).is_err());
    assert_eq!((newest_of(&prefix), places(&prefix).len()), ((1, 1), 3));
    // If old states are written again later, only the modification time of the file shows it. The choice stays the same, and
    // a warning names the file.
    let third = Position::epoch(3).path(&prefix, ".states");
    let later = SystemTime::now() + Duration::from_secs(60);
    std::fs::File::options().write(true).open(&third).unwrap().set_modified(later).unwrap();
    let (found, lines) = log_of(|| newest_of(&prefix));
    assert_eq!(found, (1, 1));
    let said = lines.iter().find(|line| line.contains("do not say which training")).expect("a warning");
    assert!(said.contains("net-0003.states") && said.contains("net-0001.states"), "{said}");
    // States without a number are the newest if their position lies after all other positions.
    unnumbered(&prefix, 4);
    assert_eq!(newest_of(&prefix), (4, 0));
}

#[test]
fn a_callback_writes_what_the_loop_writes() {
    let dir = tempfile::tempdir().unwrap();
    let (prefix, alone) = (dir.path().join("net"), dir.path().join("alone"));
    let mut options = options_of(&prefix, 4);
    options.checkpoint.as_mut().unwrap().keep_best = true;
    let mut callbacks = killed_in(2);
    callbacks.epoch_end.push(Box::new(module_checkpoint(&prefix, 2, true)));
    assert!(train(&options, &mut callbacks).is_err());
    let (state, _) = newest(&prefix).unwrap().unwrap();
    assert_eq!((state.position, state.run.number), (Position::epoch(2), 1));
    options.checkpoint = Some(CheckpointOptions { keep_best: true, ..CheckpointOptions::new(&alone) });
    assert!(train(&options, &mut killed_in(2)).is_err());
    let bytes = |prefix: &Path| std::fs::read(Position::epoch(2).path(prefix, ".states")).unwrap();
    assert!(bytes(&prefix) == bytes(&alone), "best and place are as the loop alone has them");
}

#[test]
fn a_callback_alone_numbers_its_trainings() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    for (number, num_epoch) in [(1, 3), (2, 2)] {
        let mut callbacks = Callbacks::default();
        callbacks.epoch_end.push(Box::new(module_checkpoint(&prefix, 1, true)));
        train(&fit_options(num_epoch), &mut callbacks).unwrap();
        assert_eq!(newest_of(&prefix), (num_epoch, number));
    }
    assert_eq!(places(&prefix), ["0003", "0002", "0001"]);
}

#[test]
fn going_on_elsewhere_than_at_the_newest_is_a_training_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    train(&options_of(&prefix, 3), &mut Callbacks::default()).unwrap();
    // The first case starts a new training from the checkpoint of epoch 2. The second case continues this new training, and
    // removes only its earlier checkpoint.
    for (epoch, left) in [(2, ["0003", "0002", "0001"]), (3, ["0004", "0002", "0001"])] {
        let found = find(&prefix).unwrap().into_iter().find(|found| found.position == Position::epoch(epoch));
        let (state, params) = found.expect("its checkpoint").read().unwrap();
        let mut module = begun();
        module.restore(&state, &params).unwrap();
        let restored = Some(Restored::from(&state));
        let options = FitOptions { restored, resume: false, ..going_on(&prefix, epoch + 1) };
        fit(&mut module, &options, &mut Callbacks::default()).unwrap();
        assert_eq!(newest_of(&prefix), (epoch + 1, 2));
        assert_eq!(places(&prefix), left);
    }
    // Under another prefix there are no checkpoints of the training, so it gets the number 1.
    let other = dir.path().join("other");
    let (state, params) = newest(&prefix).unwrap().unwrap();
    let mut module = begun();
    module.restore(&state, &params).unwrap();
    let options = FitOptions { restored: Some(Restored::from(&state)), resume: false, ..going_on(&other, 5) };
    fit(&mut module, &options, &mut Callbacks::default()).unwrap();
    assert_eq!((newest_of(&other), places(&other)), ((5, 1), vec!["0005".to_owned()]));
}

#[test]
fn damaged_states_are_nobodys_to_remove() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    train(&options_of(&prefix, 3), &mut Callbacks::default()).unwrap();
    std::fs::write(Position::epoch(1).path(&prefix, ".states"), "").unwrap();
    train(&going_on(&prefix, 4), &mut Callbacks::default()).unwrap();
    assert_eq!(places(&prefix), ["0004", "0001"]);
}
