//! Adds elements before and after axes. `pad_width` holds two numbers per axis: how many elements come before and after.
//! The new elements are a constant, the nearest element (`edge`), or the elements mirrored at the border (`reflect`).
//!
//! Gradient: the sum of `ograd` over all copies of an element; constants have none.
//!
//! MXNet: `Pad`, also `pad`. MXNet pads only the last two or three axes of four or five; here any axis may be padded.
//! Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::dtypes::NUMBERS;
use crate::families::along::{self, Along};
use crate::families::moved::{self, Move, by_index};
use crate::inference::{OP, bad_attribute, learn};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{MovedParts, OpDef, RefInput, Sample, op_enum, op_params};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

op_enum! {
    /// What the new elements are.
    pub enum PadMode { Constant = "constant", Edge = "edge", Reflect = "reflect" }
}

op_params! {
    /// Parameters of `Pad`.
    pub struct PadParams for "Pad" {
        /// What the new elements are.
        mode: PadMode,
        /// Numbers of new elements before and after each axis.
        pad_width: ShapeAttr,
        /// The new elements of mode `constant`.
        constant_value: f64 = 0.0,
    }
}

struct Pad;

impl Move for Pad {
    type Params = PadParams;
    const NAME: &'static str = "Pad";
    const ALIASES: &'static [&'static str] = &["pad"];
    const SUMMARY: &'static str = "adds elements before and after axes";
    const BACKWARD: &'static str = "_backward_Pad";
    const CONSTANT: Option<&'static str> = Some("constant_value");
    const DTYPES: &'static [DType] = NUMBERS;

    fn infer_shape(params: &PadParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let widths = &params.pad_width;
        if !widths.len().is_multiple_of(2) || widths.iter().any(|width| !(0..1 << 31).contains(width)) {
            return Err(bad_attribute("Pad", "pad_width", "two non-negative numbers per axis", widths.to_text()));
        }
        let Some(dims) = inputs[0].dims() else { return Ok(()) };
        if widths.len() != 2 * dims.len() {
            return Err(Error::shape(OP, "data", format!("{} axes, as pad_width", widths.len() / 2), &inputs[0]));
        }
        let mut out = Vec::new();
        for (size, width) in dims.iter().zip(widths.chunks_exact(2)) {
            let most = if params.mode == PadMode::Reflect { size.map(|size| size.saturating_sub(1)) } else { None };
            if let Some(most) = most
                && width.iter().any(|width| *width as usize > most)
            {
                return Err(Error::shape(
                    OP,
                    "data",
                    format!("more elements than are mirrored, {width:?}"),
                    &inputs[0],
                ));
            }
            if params.mode == PadMode::Edge && *size == Some(0) && width != [0, 0] {
                return Err(Error::shape(OP, "data", "an element at the edge", &inputs[0]));
            }
            out.push(size.and_then(|size| size.checked_add((width[0] + width[1]) as usize)));
        }
        learn(&mut outputs[0], &PartialShape::new(out), "output")
    }

    fn parts(params: &PadParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
        let data = inputs[0];
        let axis = |(axis, stride): (usize, usize)| {
            let [before, after] = [0, 1].map(|side| params.pad_width[2 * axis + side] as usize);
            let (size, step) = (data[axis], stride as isize);
            let last = size.saturating_sub(1) * stride;
            match params.mode {
                PadMode::Constant => Along::new().then_constants(before).then(0, &[(size, step)]).then_constants(after),
                PadMode::Edge => {
                    Along::new().then(0, &[(before, 0)]).then(0, &[(size, step)]).then(last, &[(after, 0)])
                }
                PadMode::Reflect => {
                    let second_last = size.saturating_sub(2) * stride;
                    let mirrored = Along::new().then(before * stride, &[(before, -step)]).then(0, &[(size, step)]);
                    mirrored.then(second_last, &[(after, -step)])
                }
            }
        };
        let axes: Vec<Along> = data.strides().into_iter().enumerate().map(axis).collect();
        Ok(along::parts(0, &axes, out, params.constant_value))
    }

    fn sources(params: &PadParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
        let data = &inputs[0].desc.shape;
        let strides = data.strides();
        let place = |axis: usize, i: usize| {
            let (at, size) = (i as i64 - params.pad_width[2 * axis], data[axis] as i64);
            let inside = match params.mode {
                PadMode::Constant if !(0..size).contains(&at) => return None,
                PadMode::Constant => at,
                PadMode::Edge => at.clamp(0, size - 1),
                PadMode::Reflect if at < 0 => -at,
                PadMode::Reflect if at >= size => 2 * (size - 1) - at,
                PadMode::Reflect => at,
            };
            Some(inside as usize * strides[axis])
        };
        Ok(by_index(out, |index| index.iter().enumerate().map(|(axis, i)| place(axis, *i)).sum()))
    }

    fn constant(params: &PadParams) -> f64 {
        params.constant_value
    }

    fn samples() -> Vec<Sample> {
        let of = |name, mode, pad_width, shape| Sample::new(name, [("mode", mode), ("pad_width", pad_width)], &[shape]);
        let constant = [("mode", "constant"), ("pad_width", "(0,0,0,0,1,2,2,0)"), ("constant_value", "2.5")];
        vec![
            Sample::new("constant", constant, &[&[1, 2, 3, 4]]),
            of("edge", "edge", "(0,0,0,0,1,2,2,0)", &[2, 1, 3, 4]),
            of("reflect", "reflect", "(0,0,0,0,2,1,3,0)", &[1, 2, 3, 4]),
            of("volume", "edge", "(0,0,0,0,1,1,0,2,1,0)", &[1, 1, 2, 2, 3]),
            of("empty", "constant", "(0,0,1,1)", &[0, 3]),
        ]
    }
}

/// Defines the operator `Pad`.
pub fn define() -> OpDef {
    moved::define::<Pad>()
}
