//! The trainer over several devices: sums, who updates, stale gradients, norms, states, and `split_and_load`.

mod common;

use common::{context, numbers, options};
use mxrs_exec::{BackwardOptions, Imperative, autograd};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::Attrs;
use mxrs_optim::{Adam, Sgd, Updater};
use mxrs_train::{KvStoreChoice, StoreOptions, Trainer, split_and_load, split_data};
use mxrs_types::{DType, Device, Result};

type HostOf = (ArrayContext, mxrs_exec::BindOptions);

fn world() -> (Imperative, HostOf) {
    let host = (context(), options());
    (Imperative::new(&host.0, &host.1).unwrap(), host)
}

const SIZES: [usize; 2] = [5, 3];
const NAMES: [&str; 2] = ["a_weight", "b_weight"];

/// One array per parameter and device.
fn weights(context: &ArrayContext, n: u32) -> Vec<Vec<NdArray>> {
    let one = |i: usize, id| {
        let values = numbers(7 + i as u64, SIZES[i]);
        NdArray::from_slice_on(context, [SIZES[i]], &values, Device::cpu(id)).unwrap()
    };
    (0..2).map(|i| (0..n).map(|id| one(i, id)).collect()).collect()
}

fn trainer(
    (nd, host): &(Imperative, HostOf),
    weights: &[Vec<NdArray>],
    optimizer: impl Into<Updater>,
    options: &StoreOptions,
) -> Result<Trainer> {
    let arrays: Vec<Vec<&NdArray>> = weights.iter().map(|copies| copies.iter().collect()).collect();
    let params: Vec<(&str, &[&NdArray])> = NAMES.iter().zip(&arrays).map(|(name, all)| (*name, &all[..])).collect();
    Trainer::on_devices(nd, host, &params, optimizer, options)
}

/// The numbers by which [`backward`] multiplies parameter `i`. They are the gradient of the parameter, because the
/// derivative of `weight · factors` is `factors`.
fn factors(seed: u64, i: usize) -> Vec<f32> {
    numbers(seed * 10 + i as u64, SIZES[i])
}

/// Computes the gradients of one step for the parameters and copies for which `on(parameter, copy)` is true.
fn backward(nd: &Imperative, weights: &[Vec<NdArray>], seed: u64, on: impl Fn(usize, usize) -> bool) {
    for (i, copies) in weights.iter().enumerate() {
        for (copy, weight) in copies.iter().enumerate().filter(|(copy, _)| on(i, *copy)) {
            let factors = factors(seed + copy as u64, i);
            let factors = NdArray::from_slice_on(nd.context(), [SIZES[i]], &factors, weight.device()).unwrap();
            let product = {
                let _record = autograd::record();
                nd.invoke("elemwise_mul", &Attrs::default(), &[weight, &factors]).unwrap().remove(0)
            };
            nd.backward(&[&product], &[], BackwardOptions::default()).unwrap();
        }
    }
}

fn values(weights: &[Vec<NdArray>], copy: usize) -> Vec<Vec<f32>> {
    weights.iter().map(|copies| copies[copy].to_vec().unwrap()).collect()
}

/// The weights after three steps on one device. The gradients of `n` devices are added from left to right before each step.
fn serial(n: usize, sgd: &Sgd) -> Vec<Vec<f32>> {
    let (nd, _) = world();
    let weights = weights(nd.context(), 1);
    let params: Vec<(&str, &NdArray)> = NAMES.iter().zip(&weights).map(|(name, all)| (*name, &all[0])).collect();
    let mut trainer = Trainer::new(&nd, &params, sgd.clone()).unwrap();
    for step in 0..3 {
        for (i, (_, weight)) in params.iter().enumerate() {
            let mut sum = factors(100 * step, i);
            for copy in 1..n {
                let other = factors(100 * step + copy as u64, i);
                sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
            }
            autograd::grad_of(weight).unwrap().copy_from(&sum).unwrap();
        }
        trainer.step(4).unwrap();
    }
    values(&weights, 0)
}

#[test]
fn steps_are_those_of_the_summed_gradients() {
    let sgd = Sgd { lr: 0.1, momentum: 0.9, wd: 0.01, ..Sgd::default() };
    for n in [1, 2, 3] {
        let want = serial(n, &sgd);
        for store in ["local", "device"] {
            // With three devices, `local` adds the second and third gradient before the first, so its rounding differs from
            // that of `serial`.
            if store == "local" && n == 3 {
                continue;
            }
            for on_store in [true, false] {
                let world = world();
                let weights = weights(world.0.context(), n as u32);
                let options = StoreOptions { update_on_kvstore: Some(on_store), ..StoreOptions::new(store) };
                let mut trainer = trainer(&world, &weights, sgd.clone(), &options).unwrap();
                assert_eq!(trainer.updates_on_kvstore(), on_store && n > 1);
                for step in 0..3 {
                    backward(&world.0, &weights, 100 * step, |_, _| true);
                    trainer.step(4).unwrap();
                }
                for copy in 0..n {
                    assert_eq!(values(&weights, copy), want, "{n} devices, {store}, on store: {on_store}");
                }
            }
        }
    }
}

/// A trainer makes the copies of a parameter equal, from the first device.
#[test]
fn the_first_device_begins() {
    let world = world();
    let weights = weights(world.0.context(), 2);
    weights[0][1].copy_from(&[9.0f32; 5]).unwrap();
    let first = values(&weights, 0);
    let _trainer = trainer(&world, &weights, Sgd::default(), &StoreOptions::new("device")).unwrap();
    assert_eq!(values(&weights, 1), first);
}

/// If the program changes a weight, the store updates the new weight.
#[test]
fn changed_weights_reach_the_store() {
    for on_store in [true, false] {
        let world = world();
        let weights = weights(world.0.context(), 2);
        let options = StoreOptions { update_on_kvstore: Some(on_store), ..StoreOptions::new("local") };
        let mut trainer = trainer(&world, &weights, Sgd { lr: 1.0, ..Sgd::default() }, &options).unwrap();
        backward(&world.0, &weights, 1, |_, _| true);
        trainer.step(1).unwrap();
        weights[0].iter().for_each(|copy| copy.copy_from(&[0.0f32; 5]).unwrap());
        backward(&world.0, &weights, 1, |_, _| true);
        trainer.step(1).unwrap();
        let sum: Vec<f32> = factors(1, 0).iter().zip(factors(2, 0)).map(|(a, b)| -(a + b)).collect();
        assert_eq!(values(&weights, 0)[0], sum, "on store: {on_store}");
        assert_eq!(values(&weights, 1)[0], sum);
    }
}

#[test]
fn stale_gradients_are_refused_or_left_out() {
    for on_store in [true, false] {
        let world = world();
        let weights = weights(world.0.context(), 2);
        let options = StoreOptions { update_on_kvstore: Some(on_store), ..StoreOptions::new("device") };
        let mut trainer = trainer(&world, &weights, Sgd { lr: 1.0, ..Sgd::default() }, &options).unwrap();
        let error = trainer.step(1).unwrap_err().to_string();
        assert!(error.contains("`a_weight` on cpu(0)"), "{error}");
        backward(&world.0, &weights, 1, |_, _| true);
        trainer.step(1).unwrap();
        let before = values(&weights, 0);
        // The first parameter has no new gradient. The second one has a new gradient on the second device only.
        backward(&world.0, &weights, 5, |i, copy| i == 1 && copy == 1);
        let error = trainer.step(1).unwrap_err().to_string();
        assert!(error.contains("`a_weight` on cpu(0)"), "{error}");
        trainer.step_ignoring_stale(1).unwrap();
        let want: Vec<f32> = before[1].iter().zip(factors(6, 1)).map(|(w, g)| w - g).collect();
        for copy in 0..2 {
            assert_eq!(values(&weights, copy), [before[0].clone(), want.clone()], "on store: {on_store}");
        }
        backward(&world.0, &weights, 7, |_, _| true);
        trainer.step(1).unwrap();
    }
}

#[test]
fn reduce_clip_update() {
    let world = world();
    let weights = weights(world.0.context(), 2);
    let options = StoreOptions { update_on_kvstore: Some(false), ..StoreOptions::new("device") };
    let mut trainer = trainer(&world, &weights, Sgd { lr: 1.0, ..Sgd::default() }, &options).unwrap();
    let before = values(&weights, 0);
    backward(&world.0, &weights, 1, |_, _| true);
    let error = trainer.update(1).unwrap_err().to_string();
    assert!(error.contains("allreduce_grads"), "{error}");
    let sums: Vec<Vec<f32>> =
        (0..2).map(|i| factors(1, i).iter().zip(factors(2, i)).map(|(a, b)| a + b).collect()).collect();
    let norm = sums.iter().flatten().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
    // `clip_gradients` returns the norm of the summed gradients, whether it is called before or after they are summed.
    assert!((trainer.clip_gradients(1e9).unwrap() / norm - 1.0).abs() < 1e-6);
    trainer.allreduce_grads().unwrap();
    assert!((trainer.clip_gradients(norm / 2.0).unwrap() / norm - 1.0).abs() < 1e-6);
    for copy in 0..2 {
        let grad = autograd::grad_of(&weights[0][copy]).unwrap().to_vec::<f32>().unwrap();
        assert!(grad.iter().zip(&sums[0]).all(|(half, sum)| (half * 2.0 - sum).abs() < 1e-5), "{grad:?}");
    }
    let error = trainer.allreduce_grads().unwrap_err().to_string();
    assert!(error.contains("summed already"), "{error}");
    assert!(trainer.update(0).is_err());
    trainer.update(1).unwrap();
    let moved = |copy| values(&weights, copy)[0].iter().zip(&before[0]).map(|(a, b)| b - a).collect::<Vec<f32>>();
    assert!(moved(0).iter().zip(&sums[0]).all(|(half, sum)| (half * 2.0 - sum).abs() < 1e-5));
    assert_eq!(moved(0), moved(1));
    let error = trainer.update(1).unwrap_err().to_string();
    assert!(error.contains("allreduce_grads"), "{error}");
    // With one device, `update` also works without `allreduce_grads`, because there is nothing to sum.
    let single = vec![weights[0][..1].to_vec(), weights[1][..1].to_vec()];
    let mut one = self::trainer(&world, &single, Sgd::default(), &StoreOptions::new("device")).unwrap();
    backward(&world.0, &single, 1, |_, _| true);
    one.update(1).unwrap();
    backward(&world.0, &single, 1, |_, _| true);
    one.allreduce_grads().unwrap();
    one.update(1).unwrap();
}

#[test]
fn a_store_that_updates_allows_steps_only() {
    let world = world();
    let weights = weights(world.0.context(), 2);
    let mut trainer = trainer(&world, &weights, Sgd::default(), &StoreOptions::new("device")).unwrap();
    backward(&world.0, &weights, 1, |_, _| true);
    for error in [trainer.allreduce_grads().unwrap_err(), trainer.update(1).unwrap_err()] {
        assert!(error.to_string().contains("update_on_kvstore = false"), "{error}");
    }
    trainer.step(1).unwrap();
    let aggregates = |told: Option<bool>| {
        let mut updater = Updater::new(Sgd::default());
        updater.optimizer_mut().common_mut().aggregate_num = Some(4);
        let options = StoreOptions { update_on_kvstore: told, ..StoreOptions::new("device") };
        self::trainer(&world, &self::weights(world.0.context(), 2), updater, &options)
    };
    assert!(!aggregates(None).unwrap().updates_on_kvstore());
    let error = aggregates(Some(true)).err().expect("an error").to_string();
    assert!(error.contains("aggregate_num 4"), "{error}");
}

/// The states of one trainer can be set in another one, also if that has another number of devices, or if its store updates
/// instead of the devices or the reverse.
#[test]
fn states_go_on_everywhere() {
    let of = |n: u32, on_store: bool| {
        let world = world();
        let weights = weights(world.0.context(), n);
        let options = StoreOptions { update_on_kvstore: Some(on_store), ..StoreOptions::new("device") };
        let trainer = trainer(&world, &weights, Adam { lr: 0.1, ..Adam::default() }, &options).unwrap();
        (world, weights, trainer)
    };
    let step = |(world, weights, trainer): &mut ((Imperative, HostOf), Vec<Vec<NdArray>>, Trainer), seed: u64| {
        let n = weights[0].len();
        // The gradients summed over the devices are the same for one and two devices.
        for copies in weights.iter() {
            for copy in copies {
                let grad = autograd::grad_of(copy).unwrap();
                let share = (seed as f32 + 1.0) * if n == 1 { 1.0 } else { 0.5 };
                grad.copy_from(&vec![share; copy.shape().n_elements()]).unwrap();
            }
        }
        let _ = world;
        trainer.step(1).unwrap();
    };
    let mut whole = of(2, true);
    (0..4).for_each(|seed| step(&mut whole, seed));
    for (n, on_store) in [(1, false), (2, true), (2, false)] {
        let mut first = of(2, !on_store);
        (0..2).for_each(|seed| step(&mut first, seed));
        let mut second = of(n, on_store);
        for (to, from) in second.1.iter().zip(&first.1) {
            to.iter().for_each(|copy| copy.copy_from(&from[0].to_vec::<f32>().unwrap()).unwrap());
        }
        second.2.set_states(&first.2.states().unwrap()).unwrap();
        (2..4).for_each(|seed| step(&mut second, seed));
        for copy in 0..n as usize {
            assert_eq!(values(&second.1, copy), values(&whole.1, 0), "{n} devices, on store: {on_store}");
        }
    }
}

#[test]
fn parameters_that_do_not_fit_are_refused() {
    let world = world();
    let on = |n: usize, id| NdArray::zeros_on(world.0.context(), [n], DType::F32, Device::cpu(id)).unwrap();
    let refused = |a: &[NdArray], b: &[NdArray]| {
        let weights = [a.to_vec(), b.to_vec()];
        trainer(&world, &weights, Sgd::default(), &StoreOptions::new("device")).err().expect("an error").to_string()
    };
    let error = refused(&[on(2, 0), on(2, 1)], &[on(2, 0)]);
    assert!(
        error.contains("devices of `b_weight`") && error.contains("cpu(0), cpu(1), as those of `a_weight`"),
        "{error}"
    );
    let error = refused(&[on(2, 0), on(3, 1)], &[on(2, 0), on(2, 1)]);
    assert!(error.contains("copy of `a_weight`") && error.contains("on cpu(1)"), "{error}");
    assert!(refused(&[], &[]).contains("one array on each device"));
    let options = StoreOptions::new(KvStoreChoice::from("nothing"));
    let weights = weights(world.0.context(), 2);
    assert!(
        trainer(&world, &weights, Sgd::default(), &options).err().expect("an error").to_string().contains("nothing")
    );
}

#[test]
fn batches_are_split_as_gluon_splits_them() {
    let (nd, host) = world();
    let values: Vec<f32> = (0..20).map(|i| i as f32).collect();
    let data = NdArray::from_slice(&host.0, [10, 2], &values).unwrap();
    let devices = [Device::cpu(0), Device::cpu(1), Device::cpu(2)];
    let parts = split_and_load(&nd, &data, &devices, 0, false).unwrap();
    let shapes: Vec<usize> = parts.iter().map(|part| part.shape()[0]).collect();
    assert_eq!(shapes, [4, 3, 3], "the first parts are larger");
    assert_eq!(parts.iter().map(NdArray::device).collect::<Vec<_>>(), devices);
    assert_eq!(parts[1].to_vec::<f32>().unwrap(), values[8..14]);
    let columns = split_and_load(&nd, &data, &devices[..2], 1, true).unwrap();
    assert_eq!(columns[1].to_vec::<f32>().unwrap(), (0..10).map(|i| (2 * i + 1) as f32).collect::<Vec<_>>());
    let whole = split_and_load(&nd, &data, &devices[..1], 0, true).unwrap();
    assert!(whole[0].shares_storage(&data));
    for (n, axis, even, words) in [
        (3, 0, true, "a multiple of 3 along axis 0"),
        (11, 0, false, "1 to 10"),
        (0, 0, false, "1 to 10"),
        (2, 2, true, "an axis 2"),
    ] {
        let error = split_data(&nd, &data, n, axis, even).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
