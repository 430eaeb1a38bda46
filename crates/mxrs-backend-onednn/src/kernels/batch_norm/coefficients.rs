//! Batch normalization at inference as a formula with three coefficients per channel: `(x - mean) · scale + shift`.

use crate::scratch::{FloatPart, ScratchPlan};
use mxrs_op::KernelArgs;
use mxrs_ops::nn::batch_norm::BatchNormParams;

/// Computes mean, scale and shift of every channel.
pub struct Coefficients {
    /// Number of channels without padding.
    channels: usize,
    eps: f64,
    fix_gamma: bool,
    /// Positions of gamma, beta, moving mean and moving variance among the inputs.
    places: [usize; 4],
    /// Parts of the scratch memory for mean, scale and shift; the values of padding channels are zeros.
    parts: [FloatPart; 3],
}

impl Coefficients {
    /// Reserves scratch memory for `channels` channels, which layouts pad to `padded`.
    pub fn new(p: &BatchNormParams, channels: usize, padded: usize, scratch: &mut ScratchPlan) -> Self {
        let parts = [(); 3].map(|()| FloatPart::new(scratch, padded));
        Self { channels, eps: p.eps, fix_gamma: p.fix_gamma, places: [1, 2, 3, 4], parts }
    }

    /// The same coefficients, with gamma, beta, moving mean and moving variance at these positions among the inputs.
    pub fn at(self, places: [usize; 4]) -> Self {
        Self { places, ..self }
    }

    /// Computes mean, scale and shift from gamma, beta and the moving statistics. Scale and shift are multiplied by
    /// `per_unit`. If the data are quantized integers, `quantum` is the real value of the integer 1; then the mean is
    /// included in the shift, and the returned mean is 0.
    ///
    /// # Safety
    /// `args` must belong to a call with the inputs of BatchNorm, f32 statistics, and scratch memory as planned. No
    /// other slice of these parts may exist.
    pub unsafe fn fill<'a>(&self, args: &KernelArgs<'a>, quantum: Option<f64>, per_unit: f64) -> [&'a [f32]; 3] {
        // SAFETY: the caller promises scratch memory as planned, and that no other slices of the parts exist.
        let [mean, scale, shift] = self.parts.map(|part| unsafe { part.of(args) });
        // SAFETY: `input` is only called with `c < channels`, the number of f32 values of these inputs; outputs do not
        // overlap them.
        let input = |i: usize, c: usize| unsafe { args.inputs[i].as_ptr().cast::<f32>().wrapping_add(c).read() };
        let [of_gamma, of_beta, of_mean, of_var] = self.places;
        for c in 0..mean.len() {
            let exists = c < self.channels;
            let gamma = || if self.fix_gamma { 1.0 } else { f64::from(input(of_gamma, c)) };
            let deviation = || (f64::from(input(of_var, c)) + self.eps).sqrt();
            let (step, mean_of, beta) = match exists {
                true => (gamma() / deviation() * per_unit, input(of_mean, c), f64::from(input(of_beta, c))),
                false => (0.0, 0.0, 0.0),
            };
            [mean[c], scale[c], shift[c]] = match quantum {
                None => [mean_of, step as f32, (beta * per_unit) as f32],
                Some(quantum) => [0.0, (step * quantum) as f32, (beta * per_unit - f64::from(mean_of) * step) as f32],
            };
        }
        [mean, scale, shift]
    }
}
