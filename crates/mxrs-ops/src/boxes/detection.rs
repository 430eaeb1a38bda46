//! Detections of a single-shot detector: from class probabilities `[n, k, a]`, where class 0 is the background, offsets of
//! boxes from anchors `[n, 4 a]`, and anchors `[1, a, 4]`, computes rows `[n, a, 6]`, each (class, probability, four
//! corners).
//!
//! Each anchor gets its most probable class other than the background. It is a detection if that probability is at least
//! `threshold`. The rows of the detections come first, in order of falling probability; the other rows are filled with -1.
//! The class of a detection becomes -1 if it overlaps a better one of the same class (of any class with `force_suppress`) by
//! `nms_threshold` or more, or if it comes after the best `nms_topk`.
//!
//! Gradient: 0.
//!
//! MXNet: `_contrib_MultiBoxDetection`, also `_npx_multibox_detection`. Dtypes: f32 f64 f16 bf16. Liu et al.,
//! arXiv:1512.02325.

use super::geometry::{BoxFormat, Corners};
use super::sample_anchors;
use super::target::four;
use crate::dtypes::FLOATS;
use crate::inference::{bad_attribute, learn, learn_dim, require_ndim, unify_dtypes};
use crate::numeric;
use mxrs_op::param::Floats;
use mxrs_op::{
    Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, Precision, RefInput, RefOutput, RunMode, Sample, op_params,
};
use mxrs_types::{PartialShape, Result};

op_params! {
    /// Parameters of `_contrib_MultiBoxDetection`.
    pub struct DetectionParams for "_contrib_MultiBoxDetection" {
        /// Whether corners are moved into the image.
        clip: bool = true,
        /// Least probability of a detection.
        threshold: f32 = 0.01,
        /// The background class. Only 0 is built; MXNet ignores other numbers.
        background_id: i32 = 0,
        /// Overlap from which a detection is suppressed.
        nms_threshold: f32 = 0.5,
        /// Whether detections of different classes suppress each other.
        force_suppress: bool = false,
        /// Factors of the four numbers of a box.
        variances: Floats = Floats([0.1, 0.1, 0.2, 0.2].into_iter().collect()),
        /// Number of detections to keep before suppression; all if it is not positive.
        nms_topk: i32 = -1,
    }
}

/// Defines the operator `_contrib_MultiBoxDetection`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_multibox_detection"],
        summary: "detections of a single-shot detector",
        inputs: InputNames::Fixed(&["cls_prob", "loc_pred", "anchor"]),
        infer_shape: |params, inputs, outputs| {
            let [scores, boxes, anchor] = inputs else { return Ok(()) };
            four("_contrib_MultiBoxDetection", &params.get::<DetectionParams>().variances)?;
            if params.get::<DetectionParams>().background_id != 0 {
                let got = params.get::<DetectionParams>().background_id;
                return Err(bad_attribute("_contrib_MultiBoxDetection", "background_id", "0", got));
            }
            require_ndim(scores, 3, "cls_prob")?;
            require_ndim(boxes, 2, "loc_pred")?;
            require_ndim(anchor, 3, "anchor")?;
            learn(anchor, &PartialShape::new([Some(1), scores.dim(2), Some(4)]), "anchor")?;
            learn_dim(scores, 2, anchor.dim(1), "cls_prob")?;
            learn(
                boxes,
                &PartialShape::new([scores.dim(0), anchor.dim(1).and_then(|n| n.checked_mul(4))]),
                "loc_pred",
            )?;
            learn_dim(scores, 0, boxes.dim(0), "cls_prob")?;
            learn(&mut outputs[0], &PartialShape::new([scores.dim(0), anchor.dim(1), Some(6)]), "output")
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "anchor"),
        dtypes: FLOATS,
        precision: Precision::widest,
        accuracy: Accuracy::Reduction,
        gradient: Gradient::Zero,
        reference: Some(run),
        samples: || {
            let of = |name, attrs: &[(&str, &str)], n: usize, a: usize| {
                let sample = Sample::plain(name, &[&[n, 3, a], &[n, 4 * a], &[1, a, 4]]);
                let sample = sample.fill(0, Fill::Uniform(0.0, 1.0)).fill(2, Fill::Values(sample_anchors(a)));
                Sample { attrs: attrs.iter().copied().collect(), ..sample }
            };
            vec![
                of("plain", &[], 2, 4),
                of("forced", &[("force_suppress", "True"), ("nms_threshold", "0.2"), ("nms_topk", "3")], 1, 5),
                of("few", &[("threshold", "0.7"), ("clip", "False")], 1, 4),
                of("empty", &[], 0, 2),
            ]
        },
        precision_float16: Some(Precision::float32),
        ..OpDef::new("_contrib_MultiBoxDetection").params::<DetectionParams>()
    }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params: &DetectionParams = params.get();
    let variances = four("_contrib_MultiBoxDetection", &params.variances)?;
    let [scores, boxes, anchors] = [0, 1, 2].map(|i| numeric::read(&inputs[i]));
    let [n, n_classes, n_anchors] = *inputs[0].desc.shape else { return Ok(()) };
    let mut out = vec![-1.0; n * n_anchors * 6];
    for batch in 0..n {
        let mut found: Vec<[f64; 6]> = Vec::new();
        for a in 0..n_anchors {
            let score = |class: usize| scores[(batch * n_classes + class) * n_anchors + a];
            let mut best = (0, -1.0);
            for class in 1..n_classes {
                if score(class) > best.1 {
                    best = (class, score(class));
                }
            }
            if best.0 > 0 && best.1 >= f64::from(params.threshold) {
                let relative = &boxes[(batch * n_anchors + a) * 4..][..4];
                let [left, top, right, bottom] = decoded(params, relative, &anchors[a * 4..][..4], variances);
                found.push([best.0 as f64 - 1.0, best.1, left, top, right, bottom]);
            }
        }
        suppress(params, &mut found);
        out[batch * n_anchors * 6..][..found.len() * 6].copy_from_slice(&found.concat());
    }
    numeric::write(&mut outputs[0], &out);
    Ok(())
}

/// The corners of a box relative to an anchor.
fn decoded(params: &DetectionParams, relative: &[f64], anchor: &[f64], variances: [f64; 4]) -> [f64; 4] {
    let [x, y, w, h] = Corners::new(anchor, BoxFormat::Corner).center();
    let (x, y) = (relative[0] * variances[0] * w + x, relative[1] * variances[1] * h + y);
    let (w, h) = ((relative[2] * variances[2]).exp() * w / 2.0, (relative[3] * variances[3]).exp() * h / 2.0);
    [x - w, y - h, x + w, y + h].map(|at| if params.clip { at.clamp(0.0, 1.0) } else { at })
}

/// Sorts detections, and gives suppressed ones the class -1.
fn suppress(params: &DetectionParams, found: &mut [[f64; 6]]) {
    if !(params.nms_threshold > 0.0 && params.nms_threshold <= 1.0) {
        return;
    }
    let n_kept = match usize::try_from(params.nms_topk) {
        Ok(topk) if topk > 0 => topk.min(found.len()),
        _ => found.len(),
    };
    // As in MXNet, only the best `n_kept` detections are put in order. Positions after them are not sorted, and may hold a
    // detection that is among the best already; its class becomes -1.
    let mut sorted = found.to_vec();
    sorted.sort_by(|a, b| b[1].total_cmp(&a[1]));
    found[..n_kept].copy_from_slice(&sorted[..n_kept]);
    found[n_kept..].iter_mut().for_each(|detection| detection[0] = -1.0);
    for i in 0..n_kept {
        if found[i][0] < 0.0 {
            continue;
        }
        for j in i + 1..n_kept {
            let is_rival = found[j][0] >= 0.0 && (params.force_suppress || found[i][0] == found[j][0]);
            let corners = |at: usize| Corners::new(&found[at][2..], BoxFormat::Corner);
            if is_rival && corners(i).overlap(&corners(j)) >= f64::from(params.nms_threshold) {
                found[j][0] = -1.0;
            }
        }
    }
}
