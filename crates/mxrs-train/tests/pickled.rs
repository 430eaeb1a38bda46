//! Resuming from MXNet's checkpoints, whose states are pickles: the ones that `make_optimizers.py` of `mxrs-optim` recorded.

mod common;

use common::{Net, context, log_of, numbers, options};
use mxrs_data::{DataIter, NdArrayIter};
use mxrs_format::pickle::{PickledStates, StateKey};
use mxrs_format::{Dense, Options, Tensor};
use mxrs_graph::{Graph, Symbol};
use mxrs_train::callback::Callbacks;
use mxrs_train::metric::create;
use mxrs_train::resume::{OptimizerStates, Position, find, newest};
use mxrs_train::{BindFor, CheckpointOptions, FitOptions, InitOptions, Module, ModuleNames, Outcome};
use mxrs_types::Shape;
use std::path::{Path, PathBuf};

/// Parameters whose states the recordings contain, in the order of their indices.
const NAMES: [&str; 3] = ["fc_weight", "fc_bias", "bn_gamma"];

fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../mxrs-optim/tests/fixtures/{name}.states"))
}

/// A network whose first parameters have the recorded shapes (4, 3), (4,) and (5,). It has one more parameter.
fn graph() -> Graph {
    let mut net = Net::default();
    let data = Symbol::variable("data");
    let four = net.call("FullyConnected", "fc", &[("num_hidden", "4")], &[&data]);
    let one = net.call("slice_axis", "one", &[("axis", "1"), ("begin", "0"), ("end", "1")], &[&data]);
    let five = net.call("Concat", "five", &[("num_args", "2"), ("dim", "1")], &[&four, &one]);
    let x = net.call("BatchNorm", "bn", &[("fix_gamma", "False")], &[&five]);
    net.call("SoftmaxOutput", "softmax", &[], &[&x]).graph().expect("a well-formed graph")
}

/// Two batches of eight examples.
fn data() -> NdArrayIter {
    let dense =
        |shape: Shape, values: &[f32]| -> Dense { Tensor::from_slice(shape, values).unwrap().into_dense().unwrap() };
    let labels: Vec<f32> = (0..16_u8).map(|i| f32::from(i % 5)).collect();
    let builder = NdArrayIter::builder(8).data("data", dense([16, 3].into(), &numbers(1, 48)));
    builder.label("softmax_label", dense([16].into(), &labels)).build().expect("some examples")
}

fn module(fixed: &[&str]) -> Module {
    let fixed_params = fixed.iter().map(|name| (*name).to_owned()).collect();
    let names = ModuleNames { fixed_params, ..ModuleNames::default() };
    let mut module = Module::with_names(&(context(), options()), &graph(), names).unwrap();
    let data = data();
    module.bind(data.provide_data(), data.provide_label(), BindFor::default()).unwrap();
    module.init_params(None, &InitOptions::default()).unwrap();
    module
}

/// Writes what MXNet leaves after epoch 1: parameters and these recorded states.
fn checkpoint(prefix: &Path, states: &str) {
    module(&[]).save_checkpoint(prefix, 1, false).unwrap();
    std::fs::copy(recording(states), Position::epoch(1).path(prefix, ".states")).unwrap();
}

#[test]
fn states_go_to_the_parameters_at_their_places() {
    let dir = tempfile::tempdir().unwrap();
    for (name, optimizer, settings, slots, n_updates) in [
        ("sgd_momentum_0.9_all", "sgd", &[("momentum", "0.9")][..], &["mom"][..], 0),
        ("adam_all", "adam", &[][..], &["mean", "var"][..], 5),
    ] {
        // A fixed parameter counts in the indices, but its state is not loaded.
        for fixed in [&[][..], &["fc_bias"][..]] {
            let prefix = dir.path().join(name);
            checkpoint(&prefix, name);
            let (state, params) = newest(&prefix).unwrap().expect("a checkpoint");
            assert_eq!((state.position, state.best, state.random.len()), (Position::epoch(1), None, 0));
            let mut module = module(fixed);
            module.init_optimizer_named(optimizer, settings).unwrap();
            module.restore(&state, &params).unwrap();
            let update = module.optimizer().unwrap();
            assert_eq!(update.num_update(), n_updates, "{name}");
            let ours = update.states().unwrap().tensors;
            let theirs = PickledStates::load(recording(name), &Options::default()).unwrap();
            for (key, state) in &theirs.states {
                let StateKey::Index(i) = key else { panic!("{name}: states of {key:?}") };
                let parameter = NAMES[usize::try_from(*i).unwrap()];
                let arrays = state.arrays();
                assert_eq!(arrays.len(), slots.len(), "{name}");
                for (slot, tensor) in slots.iter().zip(arrays) {
                    let own = ours.get(&format!("state/{parameter}/{slot}")).map(Tensor::stored_bytes);
                    let expected = (!fixed.contains(&parameter)).then_some(tensor.stored_bytes());
                    assert!(own == expected, "{name}: {slot} of {parameter}, with {fixed:?} fixed");
                }
            }
            assert_eq!(ours.len(), (NAMES.len() - fixed.len()) * slots.len(), "{name}");
        }
    }
}

#[test]
fn training_goes_on_from_them() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    checkpoint(&prefix, "sgd_momentum_0.9_all");
    let of_mxnet = Position::epoch(1).path(&prefix, ".states");
    let before = std::fs::read(&of_mxnet).unwrap();
    let settings = [("learning_rate", "0.1"), ("momentum", "0.9")];
    let fit = FitOptions {
        checkpoint: Some(CheckpointOptions { keep_best: true, ..CheckpointOptions::new(&prefix) }),
        resume: true,
        optimizer_params: settings.map(|(key, text)| (key.to_owned(), text.to_owned())).to_vec(),
        ..FitOptions::new(2)
    };
    let mut module = Module::new(&(context(), options()), &graph()).unwrap();
    let (mut train, mut eval, mut metric) = (data(), data(), create("acc", &[]).unwrap());
    let mut callbacks = Callbacks::default();
    let (report, lines) = log_of(|| module.fit(&mut train, Some(&mut eval), &mut metric, None, &mut callbacks, &fit));
    let report = report.unwrap();
    assert_eq!((report.outcome, report.position), (Outcome::Finished, Position::epoch(2)));
    for part in ["net-0001.states", "counted from 0"] {
        assert!(lines.iter().any(|line| line.contains(part)), "{part}: {lines:#?}");
    }
    assert_eq!(module.optimizer().unwrap().num_update(), 2, "the batches of one epoch");
    assert!(std::fs::read(&of_mxnet).unwrap() == before, "which epoch is the best is not written into MXNet's file");
    let (state, _) = newest(&prefix).unwrap().expect("a checkpoint");
    assert_eq!(state.position, Position::epoch(2));
    assert!(matches!(state.optimizer, OptimizerStates::Own(_)));
}

#[test]
fn what_is_neither_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    checkpoint(&prefix, "adam_all");
    let states = Position::epoch(1).path(&prefix, ".states");
    let whole = std::fs::read(&states).unwrap();
    for bytes in [&b""[..], &b"neither of the two"[..], &whole[..whole.len() / 2], &640_u64.to_le_bytes()[..]] {
        std::fs::write(&states, bytes).unwrap();
        let error = find(&prefix).unwrap()[0].read().unwrap_err().to_string();
        assert!(error.contains(&states.display().to_string()), "{error}");
        assert_eq!(newest(&prefix).unwrap().map(|(state, _)| state.position), None);
    }
    std::fs::write(&states, "neither of the two").unwrap();
    let error = find(&prefix).unwrap()[0].read().unwrap_err().to_string();
    assert!(error.contains("neither") && error.contains("MXNet"), "{error}");
}
