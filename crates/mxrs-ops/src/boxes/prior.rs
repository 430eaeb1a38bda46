//! Anchor boxes at every position of an image: data `[n, c, h, w]`, of which only the shape matters, gives `[1, h · w · a,
//! 4]` with corners relative to the image. At each position there are, in this order, a box of each size with the first ratio
//! of width and height, and one of the first size with each further ratio.
//!
//! Gradient: 0.
//!
//! MXNet: `_contrib_MultiBoxPrior`, also `_npx_multibox_prior`. Dtypes: f32 f64 f16 bf16. Liu et al., arXiv:1512.02325.

use crate::dtypes::FLOATS;
use crate::inference::{bad_attribute, learn, require_ndim};
use crate::numeric;
use mxrs_op::param::Floats;
use mxrs_op::{Accuracy, Gradient, OpDef, Precision, Sample, op_params};
use mxrs_types::PartialShape;

op_params! {
    /// Parameters of `_contrib_MultiBoxPrior`.
    pub struct PriorParams for "_contrib_MultiBoxPrior" {
        /// Sizes of boxes, relative to the height of the image.
        sizes: Floats = Floats([1.0].into_iter().collect()),
        /// Ratios of width and height.
        ratios: Floats = Floats([1.0].into_iter().collect()),
        /// Whether corners are moved into the image.
        clip: bool = false,
        /// Distances of positions, vertical first; those of pixels if they are not positive.
        steps: Floats = Floats([-1.0, -1.0].into_iter().collect()),
        /// Place of a box in its pixel, vertical first.
        offsets: Floats = Floats([0.5, 0.5].into_iter().collect()),
    }
}

impl PriorParams {
    fn n_boxes(&self) -> Option<usize> {
        (self.sizes.0.len() + self.ratios.0.len()).checked_sub(1)
    }
}

/// Defines the operator `_contrib_MultiBoxPrior`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_multibox_prior"],
        summary: "anchor boxes at every position",
        infer_shape: |params, inputs, outputs| {
            let params: &PriorParams = params.get();
            for (name, floats, n) in [("steps", &params.steps, 2), ("offsets", &params.offsets, 2)] {
                if floats.0.len() != n {
                    return Err(bad_attribute("_contrib_MultiBoxPrior", name, "two numbers", floats.0.len()));
                }
            }
            if params.sizes.0.is_empty() || params.ratios.0.is_empty() {
                return Err(bad_attribute("_contrib_MultiBoxPrior", "sizes", "a size and a ratio", "none"));
            }
            require_ndim(&mut inputs[0], 4, "data")?;
            let sizes = [inputs[0].dim(2), inputs[0].dim(3), params.n_boxes()];
            let n = sizes.into_iter().try_fold(1usize, |n, size| n.checked_mul(size?));
            learn(&mut outputs[0], &PartialShape::new([Some(1), n, Some(4)]), "output")
        },
        dtypes: FLOATS,
        precision: Precision::widest,
        ignored_inputs: &[0],
        accuracy: Accuracy::Elementwise,
        gradient: Gradient::Zero,
        reference: Some(|params, inputs, outputs, _| {
            let params: &PriorParams = params.get();
            let (height, width) = (inputs[0].desc.shape[2], inputs[0].desc.shape[3]);
            let number = |floats: &Floats, i: usize| f64::from(floats.0[i]);
            let step = |i: usize, size: usize| match number(&params.steps, i) {
                step if step > 0.0 => step,
                _ => 1.0 / size as f64,
            };
            let (step_y, step_x) = (step(0, height), step(1, width));
            let first = params.sizes.0.iter().map(|size| (*size, params.ratios.0[0]));
            let shapes: Vec<(f32, f32)> =
                first.chain(params.ratios.0[1..].iter().map(|ratio| (params.sizes.0[0], *ratio))).collect();
            let mut boxes = Vec::new();
            for position in 0..height * width {
                let y = ((position / width) as f64 + number(&params.offsets, 0)) * step_y;
                let x = ((position % width) as f64 + number(&params.offsets, 1)) * step_x;
                for (size, ratio) in &shapes {
                    let (size, root) = (f64::from(*size), f64::from(*ratio).sqrt());
                    let w = size * height as f64 / width as f64 * root / 2.0;
                    let h = size / root / 2.0;
                    let inside = |at: f64| if params.clip { at.clamp(0.0, 1.0) } else { at };
                    boxes.extend([x - w, y - h, x + w, y + h].map(inside));
                }
            }
            numeric::write(&mut outputs[0], &boxes);
            Ok(())
        }),
        samples: || {
            let many = [("sizes", "(0.5, 0.25)"), ("ratios", "(1, 2, 0.5)")];
            vec![
                Sample::new("many", many, &[&[1, 3, 2, 3]]),
                Sample::new("clipped", [many[0], ("clip", "True"), ("offsets", "(0.25, 0.75)")], &[&[2, 1, 2, 2]]),
                Sample::new("steps", [("steps", "(0.1, 0.2)")], &[&[1, 1, 3, 2]]),
                Sample::plain("empty", &[&[1, 1, 0, 2]]),
            ]
        },
        precision_float16: Some(Precision::float32),
        ..OpDef::new("_contrib_MultiBoxPrior").params::<PriorParams>()
    }
}
