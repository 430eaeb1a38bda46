//! Proposals of regions from a region proposal network: at each position of a map, anchors of several sizes and shapes are moved by
//! predicted deltas and cut at the borders of the image; those with the highest scores are kept, then those that overlap a better
//! one are dropped. `_contrib_Proposal` is for one image, `_contrib_MultiProposal` for several. Ren et al. 2015, arXiv:1506.01497.
//!
//! Shapes: `cls_prob` `[n, 2 · a, h, w]`, of which the second half are scores of objects; `bbox_pred` `[n, 4 · a, h, w]`; `im_info`
//! `[n, 3]`, the height, width and scale of each image; `a` is the number of `ratios` times that of `scales`. Outputs: the
//! proposals `[n · rpn_post_nms_top_n, 5]`, each (image, x1, y1, x2, y2), and their scores `[n · rpn_post_nms_top_n, 1]`, which are
//! hidden unless `output_score`. If fewer proposals are left, they are repeated.
//!
//! Gradient: zero.
//!
//! Dtypes: f32.

use crate::inference::{OP, bad_attribute, learn, learn_dim, require_ndim, unify_dtypes};
use crate::numeric;
use mxrs_op::param::{Floats, Parameters};
use mxrs_op::{
    Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, OutputCount, Precision, RefInput, RefOutput, RunMode,
    Sample, op_params,
};
use mxrs_types::{DType, Error, PartialShape, Result};

op_params! {
    /// Parameters of the operators.
    pub struct ProposalParams for "_contrib_Proposal" {
        /// Number of best proposals that suppression looks at; all if it is not positive.
        rpn_pre_nms_top_n: i32 = 6000,
        /// Number of proposals of an image.
        rpn_post_nms_top_n: i32 = 300,
        /// Overlap with a better proposal above which one is dropped.
        threshold: f32 = 0.7,
        /// Least height and width of a proposal, for an image of scale 1. Smaller ones are enlarged, and have the score -1.
        rpn_min_size: i32 = 16,
        /// Sizes of anchors, relative to the stride.
        scales: Floats = Floats([4.0, 8.0, 16.0, 32.0].into_iter().collect()),
        /// Ratios of the height and width of anchors.
        ratios: Floats = Floats([0.5, 1.0, 2.0].into_iter().collect()),
        /// Distance of the positions of the map in the image.
        feature_stride: i32 = 16,
        /// Whether the scores are an output.
        output_score: bool = false,
        /// Whether deltas are added to corners; otherwise they move and scale boxes.
        iou_loss: bool = false,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[
    || define("_contrib_Proposal", "proposals of regions of one image", infer_shape::<true>, samples::<1>),
    || define("_contrib_MultiProposal", "proposals of regions of several images", infer_shape::<false>, samples::<2>),
];

type Infer = fn(&OpParams, &mut [PartialShape], &mut [PartialShape]) -> Result<()>;

fn define(name: &'static str, summary: &'static str, infer_shape: Infer, samples: fn() -> Vec<Sample>) -> OpDef {
    OpDef {
        summary,
        inputs: InputNames::Fixed(&["cls_prob", "bbox_pred", "im_info"]),
        n_outputs: OutputCount::Fixed(2),
        precision: Precision::widest,
        n_visible: OutputCount::ByParams(|params| 1 + usize::from(params.get::<ProposalParams>().output_score)),
        output_names: &["output", "score"],
        infer_shape,
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "cls_prob"),
        dtypes: &[DType::F32],
        accuracy: Accuracy::Reduction,
        gradient: Gradient::Zero,
        reference: Some(run),
        samples,
        ..OpDef::new(name).params::<ProposalParams>()
    }
}

fn infer_shape<const IS_ONE: bool>(
    params: &OpParams,
    inputs: &mut [PartialShape],
    outputs: &mut [PartialShape],
) -> Result<()> {
    let params: &ProposalParams = params.get();
    let op = ProposalParams::OP;
    let n_proposals = usize::try_from(params.rpn_post_nms_top_n).ok().filter(|n| *n > 0);
    let n_proposals =
        n_proposals.ok_or_else(|| bad_attribute(op, "rpn_post_nms_top_n", "at least 1", params.rpn_post_nms_top_n))?;
    if params.feature_stride < 1 {
        return Err(bad_attribute(op, "feature_stride", "at least 1", params.feature_stride));
    }
    let n_anchors = params.scales.0.len() * params.ratios.0.len();
    if n_anchors == 0 {
        return Err(bad_attribute(op, "scales", "at least one scale and one ratio", "none"));
    }
    let ([scores, deltas, info], [out, score]) = (inputs, outputs) else { return Ok(()) };
    require_ndim(scores, 4, "cls_prob")?;
    require_ndim(deltas, 4, "bbox_pred")?;
    require_ndim(info, 2, "im_info")?;
    learn_dim(scores, 1, Some(2 * n_anchors), "cls_prob")?;
    learn_dim(deltas, 1, Some(4 * n_anchors), "bbox_pred")?;
    learn_dim(info, 1, Some(3), "im_info")?;
    for axis in [0, 2, 3] {
        learn_dim(deltas, axis, scores.dim(axis), "bbox_pred")?;
        learn_dim(scores, axis, deltas.dim(axis), "cls_prob")?;
    }
    learn_dim(info, 0, scores.dim(0), "im_info")?;
    learn_dim(scores, 0, info.dim(0), "cls_prob")?;
    if IS_ONE && scores.dim(0).is_some_and(|n| n > 1) {
        return Err(Error::shape(OP, "cls_prob", "one image; `_contrib_MultiProposal` is for several", &*scores));
    }
    if [2, 3].iter().any(|axis| scores.dim(*axis) == Some(0)) {
        return Err(Error::shape(OP, "cls_prob", "a map with positions", &*scores));
    }
    let rows = scores.dim(0).and_then(|n| n.checked_mul(n_proposals));
    learn(out, &PartialShape::new([rows, Some(5)]), "output")?;
    learn(score, &PartialShape::new([rows, Some(1)]), "score")
}

/// A proposal: its corners and its score. They are float32 because MXNet computes in float32, and rounding can decide which
/// proposals are suppressed.
type Proposal = ([f32; 4], f32);

impl ProposalParams {
    /// The anchors at the first position of the map, the upper left one.
    fn anchors(&self) -> Vec<[f32; 4]> {
        let size = self.feature_stride as f32;
        let center = 0.5 * (size - 1.0);
        let mut anchors = Vec::new();
        for ratio in &self.ratios.0 {
            let width = ((size * size / ratio).floor().sqrt() + 0.5).floor();
            let height = (width * ratio + 0.5).floor();
            for scale in &self.scales.0 {
                let [x, y] = [width * scale, height * scale].map(|side| 0.5 * (side - 1.0));
                anchors.push([center - x, center - y, center + x, center + y]);
            }
        }
        anchors
    }

    /// The box of an anchor after it was moved by deltas.
    fn moved(&self, [x1, y1, x2, y2]: [f32; 4], delta: [f32; 4]) -> [f32; 4] {
        if self.iou_loss {
            return [x1 + delta[0], y1 + delta[1], x2 + delta[2], y2 + delta[3]];
        }
        let (width, height) = (x2 - x1 + 1.0, y2 - y1 + 1.0);
        let (x, y) = (x1 + 0.5 * (width - 1.0) + delta[0] * width, y1 + 0.5 * (height - 1.0) + delta[1] * height);
        let [w, h] = [delta[2].exp() * width, delta[3].exp() * height].map(|side| 0.5 * (side - 1.0));
        [x - w, y - h, x + w, y + h]
    }

    /// The proposals of one image that remain after suppression, best first.
    fn of_image(&self, scores: &[f64], deltas: &[f64], info: &[f64], [height, width]: [usize; 2]) -> Vec<Proposal> {
        let anchors = self.anchors();
        let (n, plane, stride) = (anchors.len(), height * width, self.feature_stride as f32);
        let [image_height, image_width, scale] = [info[0] as f32, info[1] as f32, info[2] as f32];
        let least = self.rpn_min_size as f32 * scale;
        let mut all = Vec::with_capacity(n * plane);
        for at in 0..plane {
            let (row, column) = (at / width, at % width);
            let is_padding =
                row as f32 >= (image_height / stride).trunc() || column as f32 >= (image_width / stride).trunc();
            for (a, anchor) in anchors.iter().enumerate() {
                let by = [column as f32 * stride, row as f32 * stride];
                let anchor = [anchor[0] + by[0], anchor[1] + by[1], anchor[2] + by[0], anchor[3] + by[1]];
                let delta = [0, 1, 2, 3].map(|i| deltas[(a * 4 + i) * plane + at] as f32);
                let [x1, y1, x2, y2] = self.moved(anchor, delta);
                let [x1, x2] = [x1, x2].map(|x| x.min(image_width - 1.0).max(0.0));
                let [y1, y2] = [y1, y2].map(|y| y.min(image_height - 1.0).max(0.0));
                let score = if is_padding { -1.0 } else { scores[(n + a) * plane + at] as f32 };
                let is_small = x2 - x1 + 1.0 < least || y2 - y1 + 1.0 < least;
                let more = least / 2.0;
                all.push(match is_small {
                    true => ([x1 - more, y1 - more, x2 + more, y2 + more], -1.0),
                    false => ([x1, y1, x2, y2], score),
                });
            }
        }
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        if let Ok(most) = usize::try_from(self.rpn_pre_nms_top_n)
            && most > 0
        {
            all.truncate(most);
        }
        self.suppressed(&all)
    }

    /// The proposals that do not overlap a better one by more than `threshold`, at most `rpn_post_nms_top_n`.
    fn suppressed(&self, sorted: &[Proposal]) -> Vec<Proposal> {
        let side = |first: f32, last: f32| last - first + 1.0;
        let area = |[x1, y1, x2, y2]: [f32; 4]| side(x1, x2) * side(y1, y2);
        let mut left: Vec<Proposal> = Vec::new();
        for proposal in sorted {
            if left.len() >= self.rpn_post_nms_top_n as usize {
                break;
            }
            let overlaps = |better: &Proposal| {
                let ([ax1, ay1, ax2, ay2], [bx1, by1, bx2, by2]) = (better.0, proposal.0);
                let width = side(ax1.max(bx1), ax2.min(bx2)).max(0.0);
                let height = side(ay1.max(by1), ay2.min(by2)).max(0.0);
                let both = width * height;
                both / (area(better.0) + area(proposal.0) - both) > self.threshold
            };
            if !left.iter().any(overlaps) {
                left.push(*proposal);
            }
        }
        left
    }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params: &ProposalParams = params.get();
    let [scores, deltas, info] = [0, 1, 2].map(|i| numeric::read(&inputs[i]));
    let shape = &inputs[0].desc.shape;
    let [n, height, width] = [shape[0], shape[2], shape[3]];
    let (mut boxes, mut found) = (Vec::new(), Vec::new());
    for image in 0..n {
        let part = |values: &[f64]| {
            let len = values.len() / n;
            values[image * len..][..len].to_vec()
        };
        let info = part(&info);
        let stride = f64::from(params.feature_stride);
        if (info[0] / stride).trunc() > height as f64 || (info[1] / stride).trunc() > width as f64 {
            let expected = format!("at most {height} x {width} positions of the map times the stride {stride}");
            return Err(Error::invalid("im_info", format!("{} x {}", info[0], info[1]), expected));
        }
        let left = params.of_image(&part(&scores), &part(&deltas), &info, [height, width]);
        for (corners, score) in left.iter().cycle().take(params.rpn_post_nms_top_n as usize) {
            boxes.push(image as f64);
            boxes.extend(corners.map(f64::from));
            found.push(f64::from(*score));
        }
    }
    numeric::write(&mut outputs[0], &boxes);
    numeric::write(&mut outputs[1], &found);
    Ok(())
}

fn samples<const N: usize>() -> Vec<Sample> {
    let of = |name, more: &[(&str, &str)], n: usize, info: [f64; 3]| {
        let mut sample = Sample::plain(name, &[&[n, 12, 3, 4], &[n, 24, 3, 4], &[n, 3]])
            .fill(0, Fill::Uniform(0.0, 1.0))
            .fill(1, Fill::Uniform(-0.5, 0.5))
            .fill(2, Fill::Values(info.repeat(n)));
        sample.attrs = [
            ("rpn_pre_nms_top_n", "12"),
            ("rpn_post_nms_top_n", "5"),
            ("rpn_min_size", "4"),
            ("scales", "(1, 2)"),
            ("ratios", "(0.5, 1, 2)"),
            ("feature_stride", "8"),
        ]
        .iter()
        .chain(more)
        .copied()
        .collect();
        sample
    };
    let whole = [24.0, 32.0, 1.0];
    vec![
        of("plain", &[], N, whole),
        of("scores", &[("output_score", "True"), ("threshold", "0.3")], N, whole),
        of("corners", &[("iou_loss", "True")], N, whole),
        of("padded", &[("rpn_min_size", "16")], N, [17.0, 20.0, 1.5]),
        of("empty", &[], 0, whole),
    ]
}
