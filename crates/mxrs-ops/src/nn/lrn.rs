//! Local response normalisation across channels: `out[n, c] = data[n, c] · (knorm + alpha / nsize · Σ data[n,
//! c']²)^-beta`, `c'` over the `nsize` channels around `c` (fewer at the border). Krizhevsky et al. 2012.
//!
//! data and out [N, C, H, W]; the hidden second output holds the bracket. `nsize` is odd.
//!
//! MXNet: `LRN`. Dtypes: f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::indexing::around_axis;
use crate::inference::{bad_attribute, require_ndim, unify_all};
use crate::numeric;
use mxrs_op::{Accuracy, Fill, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{PartialShape, Result};

op_params! {
    /// Parameters of `LRN`.
    pub struct LrnParams for "LRN" {
        /// Weight of the squares.
        alpha: f32 = 1e-4,
        /// Exponent.
        beta: f32 = 0.75,
        /// Added to the sum.
        knorm: f32 = 2.0,
        /// Number of channels in a window.
        nsize: u32,
    }
}

/// `LRN`.
pub fn define() -> OpDef {
    OpDef {
        summary: "local response normalisation",
        n_outputs: OutputCount::Fixed(2),
        output_names: &["output", "tmp_norm"],
        infer_shape,
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        reference: Some(normalise),
        samples,
        ..OpDef::new("LRN").params::<LrnParams>()
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

fn normalise(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<LrnParams>();
    let [alpha, beta, knorm] = [params.alpha, params.beta, params.knorm].map(f64::from);
    let reach = params.nsize as usize / 2;
    let (images, channels, cells) = around_axis(&inputs[0].desc.shape, 1);
    let x = numeric::read(&inputs[0]);
    let (mut y, mut norm) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    for n in 0..images {
        for c in 0..channels {
            let window = c.saturating_sub(reach)..channels.min(c.saturating_add(reach).saturating_add(1));
            for cell in 0..cells {
                let at = |c: usize| (n * channels + c) * cells + cell;
                let squares: f64 = window.clone().map(|c| x[at(c)].powi(2)).sum();
                norm[at(c)] = knorm + alpha / f64::from(params.nsize) * squares;
                y[at(c)] = x[at(c)] * norm[at(c)].powf(-beta);
            }
        }
    }
    numeric::write(&mut outputs[0], &y);
    numeric::write(&mut outputs[1], &norm);
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
