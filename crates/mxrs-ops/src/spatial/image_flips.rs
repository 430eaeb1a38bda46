//! Mirrors an image `[h, w, c]` with one or three channels, with a probability of one half: `_image_random_flip_left_right` reverses
//! the columns, `_image_random_flip_top_bottom` the rows. Otherwise the result is a copy.
//!
//! Gradient: `ograd`, passed on as it is, as in MXNet. MXNet leaves the middle column or row of a mirrored image unset, if their
//! number is odd.
//!
//! MXNet: also `_npx__image_random_flip_left_right` and `_npx__image_random_flip_top_bottom`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64
//! bool. The choices differ from MXNet's, the probability does not.

use super::image_colors::infer_image;
use crate::dtypes::MOVABLE;
use crate::families::gradients;
use crate::families::indexing::{flat, gather_bytes};
use crate::numeric;
use mxrs_op::{Gradient, OpDef, OpParams, Precision, RefInput, RefOutput, RunMode, Sample};
use mxrs_types::{Error, Result};

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[define_left_right, define_top_bottom];

fn define_left_right() -> OpDef {
    OpDef {
        aliases: &["_npx__image_random_flip_left_right"],
        summary: "an image, or the image with reversed columns",
        ..define::<1>("_image_random_flip_left_right")
    }
}

fn define_top_bottom() -> OpDef {
    OpDef {
        aliases: &["_npx__image_random_flip_top_bottom"],
        summary: "an image, or the image with reversed rows",
        ..define::<0>("_image_random_flip_top_bottom")
    }
}

/// Both operators, without what differs between them.
fn define<const AXIS: usize>(name: &'static str) -> OpDef {
    OpDef {
        infer_shape: |_, inputs, outputs| infer_image(inputs, outputs),
        dtypes: MOVABLE,
        is_random: |_, _| true,
        gradient: Gradient::By(gradients::pass_to_all),
        precision_float16: Some(Precision::follows),
        reference: Some(run::<AXIS>),
        samples: || {
            vec![
                Sample::plain("picture", &[&[4, 5, 3]]),
                Sample::plain("gray", &[&[3, 4, 1]]),
                Sample::plain("pixel", &[&[1, 1, 3]]),
                Sample::plain("empty", &[&[0, 4, 3]]),
            ]
        },
        ..OpDef::new(name)
    }
}

fn run<const AXIS: usize>(
    _: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    mode: RunMode,
) -> Result<()> {
    let random = mode.random.ok_or_else(|| Error::invalid("random numbers", "none", "a seed and a number"))?;
    if random.uniform(0) < 0.5 {
        numeric::copy_bytes(inputs, outputs);
        return Ok(());
    }
    let shape = &inputs[0].desc.shape;
    gather_bytes(&inputs[0], &mut outputs[0], |index| {
        let mut index = index.to_vec();
        index[AXIS] = shape[AXIS] - 1 - index[AXIS];
        flat(shape, &index)
    });
    Ok(())
}
