//! The updater that a server creates from text computes the same as the original optimizer, also on parts of weights. Its
//! states can be moved to other servers.

mod common;

use common::{context, options};
use mxrs_exec::Imperative;
use mxrs_kvstore::{ServedValue, ServerUpdater, Update, UpdaterSettings, Value};
use mxrs_ndarray::NdArray;
use mxrs_optim::schedule::{MultiFactor, Warmup};
use mxrs_optim::{Parameter, Updater, create};
use mxrs_train::server_updater;
use std::ops::Range;
use std::sync::Arc;

const N: usize = 10;

fn gradient(step: usize) -> Vec<f32> {
    (0..N).map(|i| ((step * 7 + i * 3) % 11) as f32 / 8.0 - 0.6).collect()
}

fn weight() -> Vec<f32> {
    (0..N).map(|i| i as f32 / 4.0 - 1.0).collect()
}

/// An optimizer with a learning rate schedule and a learning rate factor for one weight, to check that both survive as text.
fn optimizer(name: &str) -> Updater {
    let mut updater = Updater::from(create(name, &[("learning_rate", "0.1"), ("wd", "0.01")]).unwrap());
    updater.set_rescale_grad(0.5);
    let common = updater.optimizer_mut().common_mut();
    common.mult.set_lr_mult([("fc_weight".to_owned(), 0.5)]);
    common.set_scheduler(Arc::new(MultiFactor::new(vec![2, 4], 0.5, Warmup::none(0.1)).unwrap()));
    updater
}

/// The array that a server keeps for a range of the weight's elements.
struct Part {
    array: NdArray,
    range: Range<usize>,
}

impl Part {
    fn new(nd: &Imperative, values: &[f32], range: Range<usize>) -> Self {
        Self { array: NdArray::from_slice(nd.context(), [range.len()], &values[range.clone()]).unwrap(), range }
    }

    fn part(&self) -> Option<Range<usize>> {
        (self.range.len() < N).then(|| self.range.clone())
    }

    fn served(&self) -> ServedValue {
        ServedValue { key: "fc_weight".into(), value: self.array.clone(), part: self.part() }
    }

    fn update(&self, nd: &Imperative, updater: &mut dyn ServerUpdater, step: usize) {
        let sum = NdArray::from_slice(nd.context(), [self.range.len()], &gradient(step)[self.range.clone()]).unwrap();
        let (key, sum, stored) = ("fc_weight".into(), Value::Dense(sum), self.array.clone());
        updater.update(&[Update { key, sum, stored, part: self.part(), priority: 0 }]).unwrap();
    }

    fn values(&self) -> Vec<f32> {
        self.array.to_vec().unwrap()
    }
}

/// Updates the whole weight with the original optimizer, without a server. Returns the weight after each step.
fn expected(nd: &Imperative, name: &str, n_steps: usize) -> Vec<Vec<f32>> {
    let array = NdArray::from_slice(nd.context(), [N], &weight()).unwrap();
    let mut updater = optimizer(name);
    let mut all = Vec::new();
    for step in 0..n_steps {
        let grad = NdArray::from_slice(nd.context(), [N], &gradient(step)).unwrap();
        let param = Parameter { name: "fc_weight".into(), weight: array.clone(), grad };
        updater.update_all(nd, &[param]).unwrap();
        all.push(array.to_vec().unwrap());
    }
    all
}

fn settings(name: &str) -> UpdaterSettings {
    let (name, settings) = optimizer(name).describe().unwrap();
    UpdaterSettings { name, settings }
}

#[test]
fn two_servers_with_parts_have_the_bits_of_one_optimizer() {
    let nd = Imperative::new(&context(), &options()).unwrap();
    for name in ["sgd", "nag", "adam", "rmsprop", "ftrl", "adagrad", "signum"] {
        let make = server_updater(&nd);
        let parts = [Part::new(&nd, &weight(), 0..4), Part::new(&nd, &weight(), 4..N)];
        let mut updaters = [make(&settings(name)).unwrap(), make(&settings(name)).unwrap()];
        for (step, expected) in expected(&nd, name, 6).into_iter().enumerate() {
            parts.iter().zip(&mut updaters).for_each(|(part, updater)| part.update(&nd, &mut **updater, step));
            assert_eq!([parts[0].values(), parts[1].values()].concat(), expected, "{name}, step {step}");
        }
    }
}

#[test]
fn states_move_to_a_server_that_is_restored() {
    let nd = Imperative::new(&context(), &options()).unwrap();
    let all = expected(&nd, "adam", 6);
    let make = server_updater(&nd);
    for range in [0..N, 3..N] {
        let part = Part::new(&nd, &weight(), range.clone());
        let mut first = make(&settings("adam")).unwrap();
        (0..3).for_each(|step| part.update(&nd, &mut *first, step));
        let (states, value) = (first.states().unwrap()().unwrap(), part.values());
        // The second server stands for another process, so it is given only the values of the array and the bytes of the
        // states.
        let whole: Vec<f32> = [&weight()[..range.start], &value].concat();
        let part = Part::new(&nd, &whole, range.clone());
        let mut second = make(&settings("adam")).unwrap();
        second.set_states(&[part.served()], &states).unwrap();
        (3..6).for_each(|step| part.update(&nd, &mut *second, step));
        assert_eq!(part.values(), all[5][range]);
    }
}

#[test]
fn states_of_whole_weights_are_divided_among_servers() {
    let nd = Imperative::new(&context(), &options()).unwrap();
    let all = expected(&nd, "adam", 6);
    let make = server_updater(&nd);
    let whole = Part::new(&nd, &weight(), 0..N);
    let mut first = make(&settings("adam")).unwrap();
    (0..3).for_each(|step| whole.update(&nd, &mut *first, step));
    let states = first.states().unwrap()().unwrap();
    for range in [0..4, 4..N] {
        let part = Part::new(&nd, &whole.values(), range.clone());
        let mut own = make(&settings("adam")).unwrap();
        own.set_states(&[part.served()], &states).unwrap();
        (3..6).for_each(|step| part.update(&nd, &mut *own, step));
        assert_eq!(part.values(), all[5][range]);
    }
    // A server that keeps no part of the weight ignores its states.
    let mut other = make(&settings("adam")).unwrap();
    other.set_states(&[], &states).unwrap();
    assert!(other.set_states(&[whole.served()], b"nonsense").is_err());
}

#[test]
fn settings_that_do_not_exist_are_refused() {
    let nd = Imperative::new(&context(), &options()).unwrap();
    let make = server_updater(&nd);
    let of = |name: &str, key: &str, value: &str| UpdaterSettings {
        name: name.into(),
        settings: vec![(key.into(), value.into())],
    };
    for (wrong, word) in [
        (of("os.system", "x", "y"), "optimizer"),
        (of("sgd", "momentun", "0.9"), "momentum"),
        (of("sgd", "learning_rate", "nan"), "learning_rate"),
    ] {
        let error = make(&wrong).err().unwrap().to_string();
        assert!(error.contains(word), "{error}");
    }
    let mut sgd = make(&of("sgd", "learning_rate", "0.1")).unwrap();
    sgd.set_settings(&of("sgd", "learning_rate", "0.2")).unwrap();
    assert!(sgd.set_settings(&of("adam", "learning_rate", "0.2")).is_err());
}
