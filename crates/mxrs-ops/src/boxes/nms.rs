//! Non-maximum suppression. Data [..., n, k] holds n boxes of k numbers each: four coordinates from `coord_start` on, a
//! score, and maybe a class. Boxes with scores above `valid_thresh` are sorted by score, the best first; only the first
//! `topk` of them are used, if `topk` is positive. A box is suppressed if its overlap with a better box that was kept is
//! above `overlap_thresh` and both have the same class (any class with `force_suppress`). Kept boxes come first, and -1
//! fills the other rows.
//!
//! The second output, which is hidden, holds the place of each kept box in data, or -1.
//!
//! Gradient: each kept box gets the `ograd` of its place.
//!
//! MXNet: `_contrib_box_nms`, also `_contrib_box_non_maximum_suppression`. Dtypes: f32 f64 f16 bf16.

use super::geometry::{BoxFormat, Corners};
use crate::dtypes::FLOATS;
use crate::families::gradients::params_of;
use crate::inference::{OP, bad_attribute, learn, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, OutputCount, Precision, RefInput, RefOutput, RunMode,
    Sample, op_params,
};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `_contrib_box_nms`.
    pub struct BoxNmsParams for "_contrib_box_nms" {
        /// Overlap above which a box is suppressed.
        overlap_thresh: f32 = 0.5,
        /// Score below which a box is left out.
        valid_thresh: f32 = 0.0,
        /// Number of boxes to look at; all if it is negative.
        topk: i32 = -1,
        /// Place of the first coordinate.
        coord_start: i32 = 2,
        /// Place of the score.
        score_index: i32 = 1,
        /// Place of the class; negative if there is none.
        id_index: i32 = -1,
        /// Class whose boxes are left out; negative if there is none.
        background_id: i32 = -1,
        /// Whether boxes of different classes suppress each other.
        force_suppress: bool = false,
        /// How four numbers of data describe a box.
        in_format: BoxFormat = BoxFormat::Corner,
        /// How four numbers of the output describe a box.
        out_format: BoxFormat = BoxFormat::Corner,
    }
}

const BACKWARD: &str = "_backward_contrib_box_nms";

/// Defines the operator `_contrib_box_nms`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_contrib_box_non_maximum_suppression"],
        summary: "non-maximum suppression of boxes",
        n_outputs: OutputCount::Fixed(2),
        output_names: &["output", "places"],
        infer_shape: |params, inputs, outputs| {
            let [out, places] = outputs else { return Ok(()) };
            infer_shape(params, &mut inputs[0], out, places)
        },
        dtypes: FLOATS,
        precision: Precision::widest,
        accuracy: Accuracy::Elementwise,
        gradient: Gradient::By(|_, scope| {
            let (head, places) = (scope.out_grad(0)?, scope.output(1));
            let attrs = params_of(scope);
            Ok(vec![Some(scope.call(BACKWARD, attrs, &[head, places])?[0])])
        }),
        companions: || vec![backward()],
        reference: Some(run),
        samples,
        ..OpDef::new("_contrib_box_nms").params::<BoxNmsParams>()
    }
}

fn infer_shape(
    params: &OpParams,
    data: &mut PartialShape,
    out: &mut PartialShape,
    places: &mut PartialShape,
) -> Result<()> {
    let params: &BoxNmsParams = params.get();
    unify(data, out, "output")?;
    let Some(dims) = data.dims() else { return Ok(()) };
    let [outer @ .., k] = dims else { return Err(Error::shape(OP, "data", "at least 2 axes", &*data)) };
    if outer.is_empty() {
        return Err(Error::shape(OP, "data", "at least 2 axes", &*data));
    }
    for (name, first, n) in [("coord_start", params.coord_start, 4), ("score_index", params.score_index, 1)] {
        let end = usize::try_from(first).ok().and_then(|first| first.checked_add(n));
        if end.is_none() || k.zip(end).is_some_and(|(k, end)| end > k) {
            return Err(bad_attribute("_contrib_box_nms", name, "a place in the last axis of data", first));
        }
    }
    if k.is_some_and(|k| usize::try_from(params.id_index).is_ok_and(|place| place >= k)) {
        return Err(bad_attribute("_contrib_box_nms", "id_index", "a place in the last axis of data", params.id_index));
    }
    learn(places, &PartialShape::new(outer.iter().copied().chain([Some(1)])), "places")
}

/// The row numbers of the boxes that are kept, the best box first.
fn kept(params: &BoxNmsParams, boxes: &[&[f64]]) -> Vec<usize> {
    let score = |i: usize| boxes[i][params.score_index as usize];
    let class = |i: usize| usize::try_from(params.id_index).ok().map(|place| boxes[i][place]);
    let is_background = |i: usize| params.background_id >= 0 && class(i) == Some(f64::from(params.background_id));
    let is_valid = |i: &usize| score(*i) > f64::from(params.valid_thresh) && !is_background(*i);
    let mut order: Vec<usize> = (0..boxes.len()).filter(is_valid).collect();
    order.sort_by(|a, b| score(*b).total_cmp(&score(*a)));
    if let Ok(topk) = usize::try_from(params.topk)
        && topk > 0
    {
        order.truncate(topk);
    }
    let corners = |i: usize| Corners::new(&boxes[i][params.coord_start as usize..], params.in_format);
    let mut kept: Vec<usize> = Vec::new();
    for i in order {
        let is_rival = |j: &usize| params.force_suppress || class(i) == class(*j);
        let overlaps = |j: &usize| corners(i).overlap(&corners(*j)) > f64::from(params.overlap_thresh);
        if !kept.iter().any(|j| is_rival(j) && overlaps(j)) {
            kept.push(i);
        }
    }
    kept
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params: &BoxNmsParams = params.get();
    let [.., n, k] = *inputs[0].desc.shape else { return Ok(()) };
    let data = numeric::read(&inputs[0]);
    let (mut out, mut places) = (vec![-1.0; data.len()], vec![-1.0; outputs[1].desc.shape.n_elements()]);
    for batch in 0..places.len().checked_div(n).unwrap_or(0) {
        let boxes: Vec<&[f64]> = (0..n).map(|i| &data[(batch * n + i) * k..][..k]).collect();
        for (rank, i) in kept(params, &boxes).into_iter().enumerate() {
            let to = &mut out[(batch * n + rank) * k..][..k];
            to.copy_from_slice(boxes[i]);
            if params.in_format != params.out_format {
                let coordinates = &mut to[params.coord_start as usize..][..4];
                let numbers = Corners::new(coordinates, params.in_format).numbers(params.out_format);
                coordinates.copy_from_slice(&numbers);
            }
            places[batch * n + rank] = (batch * n + i) as f64;
        }
    }
    numeric::write(&mut outputs[0], &out);
    numeric::write(&mut outputs[1], &places);
    Ok(())
}

/// Takes (ograd, places) and returns the gradient of data.
fn backward() -> OpDef {
    OpDef {
        summary: "gradient of non-maximum suppression",
        inputs: InputNames::Fixed(&["ograd", "places"]),
        infer_shape: |params, inputs, outputs| {
            let [ograd, places] = inputs else { return Ok(()) };
            unify(ograd, &mut outputs[0], "data")?;
            infer_shape(params, ograd, &mut outputs[0], places)
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "data"),
        dtypes: FLOATS,
        accuracy: Accuracy::Exact,
        reference: Some(|_, inputs, outputs, _| {
            let [ograd, places] = [0, 1].map(|i| numeric::read(&inputs[i]));
            let k = inputs[0].desc.shape.last().copied().unwrap_or(0);
            let mut gradient = vec![0.0; ograd.len()];
            for (rank, place) in places.iter().enumerate().filter(|(_, place)| **place >= 0.0) {
                if *place >= places.len() as f64 {
                    return Err(Error::invalid("the place of a box", place, format!("one of {}", places.len())));
                }
                let to = &mut gradient[*place as usize * k..][..k];
                to.copy_from_slice(&ograd[rank * k..][..k]);
            }
            numeric::write(&mut outputs[0], &gradient);
            Ok(())
        }),
        samples: || {
            let with_places = |mut sample: Sample| {
                let mut dims = sample.inputs[0].shape.to_vec();
                if let Some(last) = dims.last_mut() {
                    *last = 1;
                }
                let n: i64 = dims.iter().product::<usize>() as i64;
                let fill = Fill::Values((0..n).map(|i| (n - 1 - i) as f64).collect());
                sample.inputs.push(mxrs_op::SampleInput { shape: dims.into_iter().collect(), fill, dtype: None });
                sample
            };
            samples().into_iter().map(with_places).collect()
        },
        ..OpDef::new(BACKWARD).params::<BoxNmsParams>()
    }
}

fn samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], shape: &[usize]| Sample {
        attrs: attrs.iter().copied().collect(),
        ..Sample::plain(name, &[shape]).fill(0, Fill::Uniform(0.0, 1.0))
    };
    vec![
        of("boxes", &[], &[5, 6]),
        of("batch", &[("overlap_thresh", "0.1"), ("topk", "3"), ("valid_thresh", "0.2")], &[2, 4, 6]),
        of("classes", &[("id_index", "0"), ("in_format", "center"), ("overlap_thresh", "0.3")], &[4, 6]),
        of("empty", &[], &[0, 6]),
    ]
}
