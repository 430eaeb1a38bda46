//! The loss scale of a trainer: the same steps as without it, skipped steps, `unscale`, states.

mod common;

use common::{StoreHost, numbers, sgd};
use mxrs_exec::{BackwardOptions, Imperative, autograd};
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_train::{Compression, Host, LossScaler, StoreOptions, Trainer};
use mxrs_types::{Device, Result};

/// A trainer of one weight that has a copy on each of `n` devices.
struct World {
    nd: Imperative,
    weights: Vec<NdArray>,
    trainer: Trainer,
}

const SIZE: usize = 5;

fn world(n: u32, on_store: bool, options: &StoreOptions) -> World {
    let host = StoreHost::new(on_store);
    let nd = Imperative::new(host.arrays(), &host.bind_options()).unwrap();
    let on = |id| NdArray::from_slice_on(host.arrays(), [SIZE], &numbers(7, SIZE), Device::cpu(id)).unwrap();
    let weights: Vec<NdArray> = (0..n).map(on).collect();
    let copies: Vec<&NdArray> = weights.iter().collect();
    let trainer = Trainer::on_devices(&nd, &host, &[("weight", &copies[..])], sgd(0.1, 0.9), options).unwrap();
    World { nd, weights, trainer }
}

impl World {
    /// Computes the gradients of the sum of `weight² · factor` on every device. The factor is `last_factor` on the last
    /// device and 1 on the others.
    fn backward(&self, last_factor: f32) {
        for (id, weight) in self.weights.iter().enumerate() {
            let factor = if id + 1 == self.weights.len() { last_factor } else { 1.0 };
            let attrs = Attrs::from([("scalar", factor.to_string())]);
            let loss = {
                let _record = autograd::record();
                let square = self.nd.invoke("square", &Attrs::default(), &[weight]).unwrap().remove(0);
                let loss = self.nd.invoke("_mul_scalar", &attrs, &[&square]).unwrap().remove(0);
                if self.trainer.loss_scaler().is_some() { self.trainer.scale_loss(&loss).unwrap() } else { loss }
            };
            self.nd.backward(&[&loss], &[], BackwardOptions::default()).unwrap();
        }
    }

    fn bits(&self) -> Vec<Vec<u8>> {
        self.weights.iter().map(|weight| weight.read_bytes(<[u8]>::to_vec).unwrap()).collect()
    }

    fn gradient(&self) -> Vec<f32> {
        autograd::grad_of(&self.weights[0]).unwrap().to_vec().unwrap()
    }
}

#[test]
fn steps_are_those_without_a_scale() {
    for (n, on_store) in [(1, false), (2, true), (2, false)] {
        let run = |scaler: Option<LossScaler>| {
            let mut world = world(n, on_store, &StoreOptions::new("device"));
            let is_scaled = scaler.is_some();
            if let Some(scaler) = scaler {
                world.trainer.set_loss_scaler(scaler).unwrap();
            }
            for step in 0..4 {
                world.backward(0.5);
                // Clipping compares 0.25 with the norm of the gradients divided by the scale.
                if step == 1 {
                    world.trainer.clip_gradients(0.25).unwrap();
                }
                if step == 2 && is_scaled {
                    world.trainer.unscale().unwrap();
                    assert!(world.trainer.unscale().is_err());
                }
                world.trainer.step(4).unwrap();
            }
            world.bits()
        };
        assert_eq!(run(Some(LossScaler::dynamic())), run(None), "{n} devices, on the store: {on_store}");
    }
}

#[test]
fn a_gradient_that_is_not_finite_on_one_device_skips_the_step_of_all() {
    for (n, on_store) in [(1, false), (2, true), (2, false)] {
        let mut world = world(n, on_store, &StoreOptions::new("device"));
        world.trainer.set_loss_scaler(LossScaler::dynamic()).unwrap();
        world.backward(1.0);
        world.trainer.step(1).unwrap();
        let (before, states) = (world.bits(), world.trainer.optimizer().states().unwrap());
        world.backward(f32::INFINITY);
        world.trainer.step(1).unwrap();
        assert_eq!(world.bits(), before);
        assert!(world.trainer.optimizer().states().unwrap() == states);
        let scaler = world.trainer.loss_scaler().unwrap();
        assert_eq!((scaler.scale(), scaler.n_skipped()), (32768.0, 1));
        // The skipped step has used up its gradient, so a further step without `backward` is refused as stale.
        assert!(world.trainer.step(1).is_err());
        world.backward(1.0);
        world.trainer.step(1).unwrap();
        assert_ne!(world.bits(), before);
    }
}

#[test]
fn summed_gradients_are_checked_and_divided() {
    let mut world = world(2, false, &StoreOptions::new("device"));
    world.trainer.set_loss_scaler(LossScaler::fixed(64.0).unwrap()).unwrap();
    world.backward(1.0);
    world.trainer.allreduce_grads().unwrap();
    world.trainer.unscale().unwrap();
    let weight: Vec<f32> = world.weights[0].to_vec().unwrap();
    // The gradient of `weight²` is `2 · weight`. The sum over two devices is `4 · weight`.
    assert_eq!(world.gradient(), weight.iter().map(|x| 4.0 * x).collect::<Vec<f32>>());
    world.trainer.update(1).unwrap();
    let before = world.bits();
    world.backward(f32::NAN);
    world.trainer.allreduce_grads().unwrap();
    world.trainer.update(1).unwrap();
    assert_eq!((world.bits(), world.trainer.loss_scaler().unwrap().n_skipped()), (before, 1));
}

#[test]
fn states_hold_the_scale() -> Result<()> {
    let mut world = world(1, false, &StoreOptions::default());
    world.trainer.set_loss_scaler(LossScaler::dynamic())?;
    world.backward(1.0);
    world.trainer.step(1)?;
    world.backward(f32::INFINITY);
    world.trainer.step(1)?;
    let states = world.trainer.states()?;
    let mut other = self::world(1, false, &StoreOptions::default());
    other.trainer.set_loss_scaler(LossScaler::dynamic())?;
    other.trainer.set_states(&states)?;
    assert_eq!(other.trainer.loss_scaler(), world.trainer.loss_scaler());
    let mut plain = self::world(1, false, &StoreOptions::default());
    plain.trainer.set_states(&states)?;
    assert_eq!(plain.trainer.loss_scaler(), None);
    Ok(())
}

#[test]
fn without_a_scaler_or_with_compression_it_is_refused() {
    let mut world = world(1, false, &StoreOptions::default());
    let error = world.trainer.scale_loss(&world.weights[0]).unwrap_err().to_string();
    assert!(error.contains("set_loss_scaler"), "{error}");
    assert!(world.trainer.unscale().is_err());
    let compression = Some(Compression::new("2bit", 0.5).unwrap());
    let mut world = self::world(2, true, &StoreOptions { compression, ..StoreOptions::new("device") });
    assert!(world.trainer.set_loss_scaler(LossScaler::dynamic()).is_err());
}
