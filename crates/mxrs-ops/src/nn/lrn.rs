//! Local response normalization across channels: `out[n, c] = data[n, c] · (knorm + alpha / nsize · Σ data[n,
//! c']²)^-beta`, `c'` over the `nsize` channels around `c` (fewer at the border). Krizhevsky et al. 2012.
//!
//! data and out have the shape [N, C, H, W]. The hidden second output holds the base of the power,
//! `norm = knorm + alpha / nsize · Σ data²`. `nsize` is odd.
//!
//! `_backward_LRN(ograd, data)` computes the gradient and recomputes `norm`.
//!
//! MXNet: `LRN`. Dtypes: f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::families::gradients::{from_input, samples_after};
use crate::families::indexing::around_axis;
use crate::inference::{bad_attribute, require_ndim, unify_all};
use crate::numeric;
use mxrs_op::{
    Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, OutputCount, Precision, RefInput, RefOutput, RunMode,
    Sample, op_params,
};
use mxrs_types::{PartialShape, Result, Shape};

op_params! {
    /// Parameters of `LRN`.
    pub struct LrnParams for "LRN" {
        /// Number by which the sum of squares is multiplied.
        alpha: f32 = 1e-4,
        /// Exponent of the divisor.
        beta: f32 = 0.75,
        /// Number added to the sum of squares.
        knorm: f32 = 2.0,
        /// Number of channels in a window.
        nsize: u32,
    }
}

/// Defines the operator `LRN`.
pub fn define() -> OpDef {
    OpDef {
        summary: "local response normalization",
        n_outputs: OutputCount::Fixed(2),
        output_names: &["output", "tmp_norm"],
        infer_shape,
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        precision: Precision::follows,
        gradient: Gradient::By(|_, scope| from_input(scope, "_backward_LRN")),
        companions: || vec![define_backward()],
        reference: Some(normalize),
        samples,
        precision_float16: Some(Precision::float32),
        ..OpDef::new("LRN").params::<LrnParams>()
    }
}

fn define_backward() -> OpDef {
    OpDef {
        summary: "gradient of LRN",
        inputs: InputNames::Fixed(&["ograd", "data"]),
        infer_shape,
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        reference: Some(backward),
        samples: || samples_after(&define()),
        ..OpDef::new("_backward_LRN").params::<LrnParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let nsize = params.get::<LrnParams>().nsize;
    if nsize.is_multiple_of(2) {
        return Err(bad_attribute("LRN", "nsize", "an odd number", nsize));
    }
    require_ndim(&mut inputs[0], 4, "data")?;
    unify_all(inputs, outputs, "data")
}

/// Returns `norm` of every element, and the flat positions of the window around every element of data.
fn brackets(params: &LrnParams, shape: &Shape, x: &[f64]) -> (Vec<f64>, Vec<Vec<usize>>) {
    let reach = params.nsize as usize / 2;
    let (_, channels, cells) = around_axis(shape, 1);
    let window = |i: usize| -> Vec<usize> {
        let (image, c, cell) = (i / cells / channels, i / cells % channels, i % cells);
        let near = c.saturating_sub(reach)..channels.min(c.saturating_add(reach).saturating_add(1));
        near.map(|c| (image * channels + c) * cells + cell).collect()
    };
    let windows: Vec<Vec<usize>> = (0..x.len()).map(window).collect();
    let scale = f64::from(params.alpha) / f64::from(params.nsize);
    let bracket = |w: &Vec<usize>| f64::from(params.knorm) + scale * w.iter().map(|i| x[*i].powi(2)).sum::<f64>();
    (windows.iter().map(bracket).collect(), windows)
}

fn normalize(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<LrnParams>();
    let x = numeric::read(&inputs[0]);
    let (norm, _) = brackets(params, &inputs[0].desc.shape, &x);
    let y: Vec<f64> = x.iter().zip(&norm).map(|(x, n)| x * n.powf(-f64::from(params.beta))).collect();
    numeric::write(&mut outputs[0], &y);
    numeric::write(&mut outputs[1], &norm);
    Ok(())
}

/// Computes `dx = ograd · norm^-beta - 2 · alpha · beta / nsize · x · Σ ograd' · x' · norm'^(-beta - 1)`. The sum is over
/// the window of the element, because windows are symmetric: if `a` lies in the window of `b`, then `b` lies in the window
/// of `a`.
fn backward(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<LrnParams>();
    let (g, x) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
    let beta = f64::from(params.beta);
    let factor = 2.0 * f64::from(params.alpha) * beta / f64::from(params.nsize);
    let (norm, windows) = brackets(params, &inputs[1].desc.shape, &x);
    let at = |i: usize| {
        let sum: f64 = windows[i].iter().map(|k| g[*k] * x[*k] * norm[*k].powf(-beta - 1.0)).sum();
        g[i] * norm[i].powf(-beta) - factor * x[i] * sum
    };
    let dx: Vec<f64> = (0..x.len()).map(at).collect();
    numeric::write(&mut outputs[0], &dx);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let large = Fill::Uniform(-20.0, 20.0);
    vec![
        Sample::new(
            "alexnet",
            [("nsize", "5"), ("alpha", "0.0001"), ("beta", "0.75"), ("knorm", "2")],
            &[&[1, 16, 5, 5]],
        )
        .fill(0, large.clone()),
        Sample::new("strong", [("nsize", "3"), ("alpha", "0.5"), ("beta", "0.5"), ("knorm", "1")], &[&[2, 7, 3, 4]])
            .fill(0, large.clone()),
        Sample::new("wider_than_channels", [("nsize", "7")], &[&[1, 3, 2, 2]]).fill(0, large),
        Sample::new("one_element", [("nsize", "1")], &[&[1, 1, 1, 1]]),
        Sample::new("no_images", [("nsize", "3")], &[&[0, 3, 2, 2]]),
    ]
}
