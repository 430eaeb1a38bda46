//! Training targets of a single-shot detector. From anchors `[1, a, 4]`, labels `[n, l, 5 or more]` (each a class and
//! corners; a class of -1 ends the list) and class scores `[n, k, a]`, computes the targets of the boxes `[n, 4 a]`, masks
//! that are 1 where there is a target `[n, 4 a]`, and the classes of the anchors `[n, a]`.
//!
//! First, pairs of a labeled box and an anchor are matched greedily: the pair with the largest overlap comes first, and each
//! box and anchor is used once. Then each anchor that is left is matched with the box that overlaps it most, if their
//! overlap is above `overlap_threshold`. A matched anchor gets the class of its box plus 1, and as targets the offsets of
//! the box from the anchor, divided by `variances`. The other anchors become background, class 0. If `negative_mining_ratio`
//! is a positive number r, only r times as many anchors as are matched become background: those with the lowest probability
//! of the background, among those whose overlap is below `negative_mining_thresh`. All others get the class `ignore_label`.
//!
//! Gradient: 0.
//!
//! MXNet: `_contrib_MultiBoxTarget`, also `_npx_multibox_target`. Dtypes: f32 f64 f16 bf16. Liu et al., arXiv:1512.02325.

use super::geometry::{BoxFormat, Corners};
use super::sample_anchors;
use crate::dtypes::FLOATS;
use crate::inference::{OP, bad_attribute, learn, learn_dim, require_ndim, unify_dtypes};
use crate::numeric;
use mxrs_op::param::Floats;
use mxrs_op::{
    Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, OutputCount, Precision, RefInput, RefOutput, RunMode,
    Sample, op_params,
};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `_contrib_MultiBoxTarget`.
    pub struct TargetParams for "_contrib_MultiBoxTarget" {
        /// Overlap above which an anchor is matched.
        overlap_threshold: f32 = 0.5,
        /// Class of anchors that are neither matched nor background.
        ignore_label: f32 = -1.0,
        /// Number of background anchors for each matched one; all others if it is not positive.
        negative_mining_ratio: f32 = -1.0,
        /// Overlap below which an anchor may be background.
        negative_mining_thresh: f32 = 0.5,
        /// Accepted for compatibility with MXNet, whose CPU kernel ignores it too.
        minimum_negative_samples: i32 = 0,
        /// Divisors of the four numbers of a target.
        variances: Floats = Floats([0.1, 0.1, 0.2, 0.2].into_iter().collect()),
    }
}

/// Requires four variances.
pub(super) fn four(op: &str, variances: &Floats) -> Result<[f64; 4]> {
    match variances.0.as_slice() {
        [a, b, c, d] => Ok([*a, *b, *c, *d].map(f64::from)),
        other => Err(bad_attribute(op, "variances", "four numbers", other.len())),
    }
}

/// Defines the operator `_contrib_MultiBoxTarget`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_multibox_target"],
        summary: "targets of a single-shot detector",
        inputs: InputNames::Fixed(&["anchor", "label", "cls_pred"]),
        n_outputs: OutputCount::Fixed(3),
        n_visible: OutputCount::Fixed(3),
        output_names: &["loc_target", "loc_mask", "cls_target"],
        infer_shape: |params, inputs, outputs| {
            let [anchor, label, scores] = inputs else { return Ok(()) };
            four("_contrib_MultiBoxTarget", &params.get::<TargetParams>().variances)?;
            for (shape, arg) in [(&mut *anchor, "anchor"), (&mut *label, "label"), (&mut *scores, "cls_pred")] {
                require_ndim(shape, 3, arg)?;
            }
            learn(anchor, &PartialShape::new([Some(1), scores.dim(2), Some(4)]), "anchor")?;
            learn_dim(scores, 2, anchor.dim(1), "cls_pred")?;
            learn_dim(scores, 0, label.dim(0), "cls_pred")?;
            learn_dim(label, 0, scores.dim(0), "label")?;
            if scores.dim(1) == Some(0) {
                return Err(Error::shape(OP, "cls_pred", "at least 1 class", &*scores));
            }
            if label.dim(2).is_some_and(|size| size < 5) {
                return Err(Error::shape(OP, "label", "at least 5 numbers for each box", &*label));
            }
            let four = anchor.dim(1).and_then(|n| n.checked_mul(4));
            for (output, size) in outputs.iter_mut().zip([four, four, anchor.dim(1)]) {
                learn(output, &PartialShape::new([label.dim(0), size]), "output")?;
            }
            Ok(())
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "label"),
        dtypes: FLOATS,
        precision: Precision::widest,
        accuracy: Accuracy::Reduction,
        gradient: Gradient::Zero,
        reference: Some(run),
        samples: || {
            let of = |name, attrs: &[(&str, &str)], n: usize, a: usize| {
                let labels: Vec<f64> =
                    (0..n).flat_map(|_| [1.0, 0.1, 0.0, 0.4, 0.5, -1.0, 0.0, 0.0, 0.0, 0.0]).collect();
                let sample = Sample::plain(name, &[&[1, a, 4], &[n, 2, 5], &[n, 3, a]]);
                let sample = sample.fill(0, Fill::Values(sample_anchors(a))).fill(1, Fill::Values(labels));
                Sample { attrs: attrs.iter().copied().collect(), ..sample }
            };
            vec![
                of("plain", &[], 2, 4),
                of("mining", &[("negative_mining_ratio", "1"), ("overlap_threshold", "0.3")], 1, 6),
                of("one", &[], 1, 1),
                of("empty", &[], 0, 2),
            ]
        },
        precision_float16: Some(Precision::float32),
        ..OpDef::new("_contrib_MultiBoxTarget").params::<TargetParams>()
    }
}

/// How the loss uses an anchor.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Ignored,
    Background,
    Matched,
}

/// For each anchor, its kind and the index of the box that it is matched with. The index has no meaning if it is not
/// matched.
fn matched(
    params: &TargetParams,
    anchors: &[Corners],
    boxes: &[Corners],
    background: impl Fn(usize) -> f64,
) -> Vec<(Kind, usize)> {
    let mut matches = vec![(Kind::Ignored, 0, -1.0); anchors.len()];
    let mut is_taken = vec![false; boxes.len()];
    let overlap = |a: usize, b: usize| anchors[a].overlap(&boxes[b]);
    loop {
        let mut best = None;
        let mut most = 1e-6;
        for a in (0..anchors.len()).filter(|a| matches[*a].0 != Kind::Matched) {
            for b in (0..boxes.len()).filter(|b| !is_taken[*b]) {
                if overlap(a, b) > most {
                    (best, most) = (Some((a, b)), overlap(a, b));
                }
            }
        }
        let Some((a, b)) = best else { break };
        matches[a] = (Kind::Matched, b, most);
        is_taken[b] = true;
    }
    if params.overlap_threshold > 0.0 {
        for (a, found) in matches.iter_mut().enumerate().filter(|(_, found)| found.0 != Kind::Matched) {
            for b in 0..boxes.len() {
                if overlap(a, b) > found.2 {
                    (found.1, found.2) = (b, overlap(a, b));
                }
            }
            if found.2 > f64::from(params.overlap_threshold) {
                found.0 = Kind::Matched;
            }
        }
    }
    let n_matched = matches.iter().filter(|found| found.0 == Kind::Matched).count();
    let mut others: Vec<usize> = (0..anchors.len()).filter(|a| matches[*a].0 != Kind::Matched).collect();
    if params.negative_mining_ratio > 0.0 {
        let wanted = (n_matched as f64 * f64::from(params.negative_mining_ratio)) as usize;
        let count = wanted.min(others.len());
        others.retain(|a| matches[*a].2 < f64::from(params.negative_mining_thresh));
        others.sort_by(|a, b| background(*a).total_cmp(&background(*b)));
        others.truncate(count);
    }
    others.into_iter().for_each(|a| matches[a].0 = Kind::Background);
    matches.into_iter().map(|(kind, b, _)| (kind, b)).collect()
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params: &TargetParams = params.get();
    let variances = four("_contrib_MultiBoxTarget", &params.variances)?;
    let [anchors, labels, scores] = [0, 1, 2].map(|i| numeric::read(&inputs[i]));
    let anchors: Vec<Corners> =
        anchors.chunks_exact(4).map(|numbers| Corners::new(numbers, BoxFormat::Corner)).collect();
    let (n_labels, width) = (inputs[1].desc.shape[1], inputs[1].desc.shape[2]);
    let (n, n_classes) = (inputs[2].desc.shape[0], inputs[2].desc.shape[1]);
    let n_anchors = anchors.len();
    let (mut targets, mut masks) = (vec![0.0; n * n_anchors * 4], vec![0.0; n * n_anchors * 4]);
    let mut classes = vec![f64::from(params.ignore_label); n * n_anchors];
    for batch in 0..n {
        let rows = (0..n_labels).map(|i| &labels[(batch * n_labels + i) * width..][..width]);
        let rows: Vec<&[f64]> = rows.take_while(|row| row[0] != -1.0).collect();
        if rows.is_empty() {
            continue;
        }
        let boxes: Vec<Corners> = rows.iter().map(|row| Corners::new(&row[1..5], BoxFormat::Corner)).collect();
        let background = |a: usize| {
            let score = |class: usize| scores[(batch * n_classes + class) * n_anchors + a];
            let largest = (0..n_classes).map(score).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = (0..n_classes).map(|class| (score(class) - largest).exp()).sum();
            (score(0) - largest).exp() / sum
        };
        for (a, (kind, b)) in matched(params, &anchors, &boxes, background).into_iter().enumerate() {
            let at = batch * n_anchors + a;
            match kind {
                Kind::Ignored => {}
                Kind::Background => classes[at] = 0.0,
                Kind::Matched => {
                    classes[at] = rows[b][0] + 1.0;
                    let ([ax, ay, aw, ah], [x, y, w, h]) = (anchors[a].center(), boxes[b].center());
                    let relative = [(x - ax) / aw, (y - ay) / ah, (w / aw).ln(), (h / ah).ln()];
                    for (i, value) in relative.into_iter().enumerate() {
                        targets[at * 4 + i] = value / variances[i];
                        masks[at * 4 + i] = 1.0;
                    }
                }
            }
        }
    }
    for (output, values) in outputs.iter_mut().zip([targets, masks, classes]) {
        numeric::write(output, &values);
    }
    Ok(())
}
