//! Two operators that convert between boxes and their offsets from anchors, and back.
//!
//! `_contrib_box_encode` computes training targets. `samples` `[n, a]` is above 0.5 for positive anchors, and `matches`
//! `[n, a]` is the number of the box of `refs` `[n, m, 4]` to which an anchor of `anchors` `[n, a, 4]` is matched. The
//! targets `[n, a, 4]` of a box with center (x, y), width w and height h, and an anchor (x', y', w', h') are
//! `((x - x') / w', (y - y') / h', ln(w / w'), ln(h / h'))` minus `means`, divided by `stds`. The second output is 1 for
//! positive anchors and 0 for the others.
//!
//! `_contrib_box_decode` is the inverse: from offsets `data` `[n, a, 4]` and `anchors` `[1, a, 4]` it computes corners of
//! boxes.
//!
//! Gradient: 0, as in MXNet.
//!
//! Dtypes: f32 f64 f16 bf16.

use super::geometry::{BoxFormat, Corners};
use crate::dtypes::FLOATS;
use crate::inference::{learn, learn_dim, require_ndim, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{Accuracy, Fill, Gradient, InputNames, OpDef, OutputCount, Sample, op_params};
use mxrs_types::{Error, PartialShape};

op_params! {
    /// Parameters of `_contrib_box_decode`.
    pub struct DecodeParams for "_contrib_box_decode" {
        /// Factor of the first number.
        std0: f32 = 1.0,
        /// Factor of the second number.
        std1: f32 = 1.0,
        /// Factor of the third number.
        std2: f32 = 1.0,
        /// Factor of the fourth number.
        std3: f32 = 1.0,
        /// Largest exponent of a width or height; none if it is not positive.
        clip: f32 = -1.0,
        /// How four numbers describe an anchor.
        format: BoxFormat = BoxFormat::Center,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[encode, decode];

fn encode() -> OpDef {
    OpDef {
        summary: "boxes relative to anchors",
        inputs: InputNames::Fixed(&["samples", "matches", "anchors", "refs", "means", "stds"]),
        n_outputs: OutputCount::Fixed(2),
        n_visible: OutputCount::Fixed(2),
        output_names: &["output0", "output1"],
        infer_shape: |_, inputs, outputs| {
            let ([samples, matches, anchors, refs, means, stds], [targets, masks]) = (inputs, outputs) else {
                return Ok(());
            };
            require_ndim(samples, 2, "samples")?;
            require_ndim(anchors, 3, "anchors")?;
            require_ndim(refs, 3, "refs")?;
            learn_dim(refs, 2, Some(4), "refs")?;
            learn_dim(refs, 0, samples.dim(0), "refs")?;
            learn(anchors, &PartialShape::new([samples.dim(0), samples.dim(1), Some(4)]), "anchors")?;
            learn(samples, &PartialShape::new([anchors.dim(0), anchors.dim(1)]), "samples")?;
            unify(samples, matches, "matches")?;
            for (shape, arg) in [(means, "means"), (stds, "stds")] {
                learn(shape, &PartialShape::new([Some(4)]), arg)?;
            }
            learn(targets, anchors, "output")?;
            learn(masks, anchors, "output")
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "anchors"),
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        gradient: Gradient::Zero,
        reference: Some(|_, inputs, outputs, _| {
            let [samples, matches, anchors, refs, means, stds] = [0, 1, 2, 3, 4, 5].map(|i| numeric::read(&inputs[i]));
            let (n_anchors, n_refs) = (inputs[2].desc.shape[1], inputs[3].desc.shape[1]);
            let [mut targets, mut masks] = [vec![0.0; anchors.len()], vec![0.0; anchors.len()]];
            for (i, _) in samples.iter().enumerate().filter(|(_, sample)| **sample > 0.5) {
                let place = matches[i];
                if !(0.0..n_refs as f64).contains(&place) {
                    return Err(Error::invalid("a match", place, format!("a number below {n_refs}")));
                }
                let corners = |values: &[f64], at: usize| Corners::new(&values[at * 4..][..4], BoxFormat::Corner);
                let [x, y, w, h] = corners(&refs, i / n_anchors * n_refs + place as usize).center();
                let [ax, ay, aw, ah] = corners(&anchors, i).center();
                let relative = [(x - ax) / aw, (y - ay) / ah, (w / aw).ln(), (h / ah).ln()];
                for (j, value) in relative.into_iter().enumerate() {
                    targets[i * 4 + j] = (value - means[j]) / stds[j];
                    masks[i * 4 + j] = 1.0;
                }
            }
            numeric::write(&mut outputs[0], &targets);
            numeric::write(&mut outputs[1], &masks);
            Ok(())
        }),
        samples: || {
            let of = |name, n: usize, a: usize, m: usize| {
                let shapes: [&[usize]; 6] = [&[n, a], &[n, a], &[n, a, 4], &[n, m, 4], &[4], &[4]];
                let boxes = |count: usize| {
                    Fill::Values((0..count).flat_map(|i| [0.1, 0.2, 0.5 + 0.1 * i as f64, 0.75]).collect())
                };
                let sample =
                    Sample::plain(name, &shapes).fill(0, Fill::Integers(0, 2)).fill(1, Fill::Integers(0, m as i64));
                sample.fill(2, boxes(n * a)).fill(3, boxes(n * m)).fill(5, Fill::Uniform(0.5, 1.0))
            };
            vec![of("two", 2, 3, 2), of("one", 1, 1, 1), of("many", 1, 5, 3), of("empty", 0, 2, 2)]
        },
        ..OpDef::new("_contrib_box_encode")
    }
}

fn decode() -> OpDef {
    OpDef {
        summary: "corners of boxes relative to anchors",
        inputs: InputNames::Fixed(&["data", "anchors"]),
        infer_shape: |_, inputs, outputs| {
            let [data, anchors] = inputs else { return Ok(()) };
            unify(data, &mut outputs[0], "output")?;
            require_ndim(data, 3, "data")?;
            learn_dim(data, 2, Some(4), "data")?;
            learn(anchors, &PartialShape::new([Some(1), data.dim(1), Some(4)]), "anchors")?;
            learn_dim(data, 1, anchors.dim(1), "data")?;
            unify(data, &mut outputs[0], "output")
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "anchors"),
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        gradient: Gradient::Zero,
        reference: Some(|params, inputs, outputs, _| {
            let params: &DecodeParams = params.get();
            let [data, anchors] = [0, 1].map(|i| numeric::read(&inputs[i]));
            let factors = [params.std0, params.std1, params.std2, params.std3].map(f64::from);
            let mut out = Vec::with_capacity(data.len());
            for (i, numbers) in data.chunks_exact(4).enumerate() {
                let anchor = &anchors[i % (anchors.len() / 4) * 4..][..4];
                let [x, y, w, h] = Corners::new(anchor, params.format).center();
                let exponent = |j: usize| match numbers[j] * factors[j] {
                    value if params.clip > 0.0 => value.min(f64::from(params.clip)),
                    value => value,
                };
                let (x, y) = (numbers[0] * factors[0] * w + x, numbers[1] * factors[1] * h + y);
                let (w, h) = (exponent(2).exp() * w / 2.0, exponent(3).exp() * h / 2.0);
                out.extend([x - w, y - h, x + w, y + h]);
            }
            numeric::write(&mut outputs[0], &out);
            Ok(())
        }),
        samples: || {
            let of = |name, attrs: &[(&str, &str)], n: usize, a: usize| {
                let anchors: Vec<f64> = (0..a).flat_map(|i| [0.2, 0.3, 0.5 + 0.1 * i as f64, 0.75]).collect();
                let sample = Sample::plain(name, &[&[n, a, 4], &[1, a, 4]]).fill(1, Fill::Values(anchors));
                Sample { attrs: attrs.iter().copied().collect(), ..sample }
            };
            vec![
                of("centers", &[], 2, 3),
                of("corners", &[("format", "corner"), ("std0", "0.1"), ("std2", "0.2")], 1, 4),
                of("clipped", &[("clip", "0.25")], 1, 2),
                of("empty", &[], 0, 2),
            ]
        },
        ..OpDef::new("_contrib_box_decode").params::<DecodeParams>()
    }
}
