//! Connectionist temporal classification loss: minus the logarithm of the probability that a sequence produces its
//! label, for any timing. Graves, Fernández, Gomez and Schmidhuber, ICML 2006.
//!
//! data (T, N, C) holds activations, to which softmax over C is applied; label (N, L) holds the classes of each label,
//! padded at the end; out is (N). One class is the blank. If `blank_label` is `first`, the blank is class 0, labels are 1 to
//! C - 1, and the padding of label is 0. If it is `last`, the blank is class C - 1, labels are 0 to C - 2, and the padding
//! is -1. With `use_data_lengths`, another input (N) holds the length of each sequence, which is T otherwise. With
//! `use_label_lengths`, another input (N) holds the length of each label, which otherwise ends at the padding.
//!
//! A path is a class for each of the T times. It produces the label that remains when first repeated classes and then blanks
//! are removed. If no path of a sequence can produce its label, the loss is 0, as in MXNet. The gradient is 0 too, which
//! MXNet leaves uninitialized.
//!
//! The hidden second output (T, N, C) is the gradient of each loss with respect to data: `softmax - γ`, where γ is the
//! probability of each class at each time, given that the path produces the label. `_backward_ctc_loss(ograd, grad)`
//! multiplies this gradient by `ograd`.
//!
//! MXNet: `CTCLoss`, also `ctc_loss`, `_contrib_CTCLoss`, `_contrib_ctc_loss`. Dtypes: f32 f64 for data; label and lengths
//! may have any type.

use crate::families::gradients::{Answers, call_with_params};
use crate::inference::{OP, learn, learn_dim, learn_dtype, require_ndim, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Accuracy, Fill, Gradient, GradientScope, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode,
    Sample, SampleInput, op_enum, op_params,
};
use mxrs_types::{DType, Error, PartialShape, Result};

op_enum! {
    /// The class that is the blank.
    pub enum BlankLabel { First = "first", Last = "last" }
}

op_params! {
    /// Parameters of `CTCLoss`.
    pub struct CtcLossParams for "CTCLoss" {
        /// Whether there is an input `data_lengths`.
        use_data_lengths: bool = false,
        /// Whether there is an input `label_lengths`.
        use_label_lengths: bool = false,
        /// The class that is the blank.
        blank_label: BlankLabel = BlankLabel::First,
    }
}

/// Defines the operator `CTCLoss`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_contrib_CTCLoss", "_contrib_ctc_loss", "ctc_loss"],
        summary: "loss of sequences against labels without timing",
        inputs: InputNames::ByParams {
            all: &["data", "label", "data_lengths", "label_lengths"],
            chosen: |params| {
                let params = params.get::<CtcLossParams>();
                let mut names = vec!["data", "label"];
                names.extend(params.use_data_lengths.then_some("data_lengths"));
                names.extend(params.use_label_lengths.then_some("label_lengths"));
                names
            },
        },
        n_outputs: OutputCount::Fixed(2),
        output_names: &["output", "grad"],
        infer_shape,
        infer_dtype,
        dtypes: &[DType::F32, DType::F64],
        accuracy: Accuracy::Reduction,
        gradient: Gradient::By(gradient),
        companions: || vec![define_backward()],
        reference: Some(ctc_loss),
        samples,
        ..OpDef::new("CTCLoss").params::<CtcLossParams>()
    }
}

fn define_backward() -> OpDef {
    OpDef {
        summary: "gradient of CTCLoss",
        inputs: InputNames::Fixed(&["ograd", "grad"]),
        infer_shape: |_, inputs, outputs| {
            let [ograd, grad] = inputs else { return Ok(()) };
            crate::inference::unify(grad, &mut outputs[0], "output")?;
            require_ndim(grad, 3, "grad")?;
            learn_dim(grad, 1, ograd.dim(0), "grad")?;
            learn(&mut outputs[0], grad, "output")?;
            learn(ograd, &PartialShape::new([grad.dim(1)]), "ograd")
        },
        dtypes: &[DType::F32, DType::F64],
        inplace: &[(1, 0)],
        accuracy: Accuracy::Elementwise,
        reference: Some(|_, inputs, outputs, _| {
            let (ograd, mut grad) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
            let n_classes = inputs[1].desc.shape[2];
            for (i, row) in grad.chunks_exact_mut(n_classes.max(1)).enumerate() {
                row.iter_mut().for_each(|g| *g *= ograd[i % ograd.len()]);
            }
            numeric::write(&mut outputs[0], &grad);
            Ok(())
        }),
        samples: || {
            vec![
                Sample::plain("plain", &[&[3], &[5, 3, 4]]),
                Sample::plain("one", &[&[1], &[1, 1, 2]]),
                Sample::new("last", [("blank_label", "last")], &[&[2], &[4, 2, 5]]),
                Sample::plain("empty", &[&[0], &[2, 0, 3]]),
            ]
        },
        ..OpDef::new("_backward_ctc_loss").params::<CtcLossParams>()
    }
}

fn gradient(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let grad = scope.output(1);
    let mut gradients = vec![None; scope.n_inputs()];
    gradients[0] = Some(call_with_params(scope, "_backward_ctc_loss", &[grad])?);
    Ok(gradients)
}

/// The largest product of the length of the sequence and the number of states of the label.
const MOST_STATES: usize = 1 << 27;

fn infer_shape(_: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [data, label, lengths @ ..] = inputs else { return Ok(()) };
    let [out, grad] = outputs else { return Ok(()) };
    crate::inference::unify(data, grad, "grad")?;
    require_ndim(data, 3, "data")?;
    require_ndim(label, 2, "label")?;
    // The probabilities of all states at all times are kept: each class of the label and the blanks around it.
    let n_states = label.dim(1).map(|n| n.saturating_mul(2).saturating_add(1));
    if let (Some(n_times), Some(n_states)) = (data.dim(0), n_states)
        && n_times.saturating_mul(n_states) > MOST_STATES
    {
        let expected = format!("at most {MOST_STATES} times and states, of {n_times} times");
        return Err(Error::shape(OP, "label", expected, &*label));
    }
    let known = [data.dim(1), label.dim(0), out.dim(0)].into_iter().chain(lengths.iter().map(|l| l.dim(0)));
    let n = known.flatten().next();
    learn_dim(data, 1, n, "data")?;
    learn_dim(label, 0, n, "label")?;
    lengths.iter_mut().try_for_each(|shape| learn(shape, &PartialShape::new([n]), "lengths"))?;
    learn(out, &PartialShape::new([n]), "output")?;
    learn(grad, data, "grad")?;
    if data.dim(2) == Some(0) {
        return Err(Error::shape(OP, "data", "at least one class: the blank", &*data));
    }
    match (data.dim(0), label.dim(1)) {
        (Some(time), Some(most)) if most > time => {
            Err(Error::shape(OP, "label", format!("at most the {time} labels that sequences are long"), &*label))
        }
        _ => Ok(()),
    }
}

fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let [data, rest @ ..] = inputs else { return Ok(()) };
    unify_dtypes(std::iter::once(&mut *data).chain(outputs), "data")?;
    // Labels and lengths may have any type; if it is unknown, they get the type of data.
    let Some(known) = *data else { return Ok(()) };
    rest.iter_mut().filter(|dtype| dtype.is_none()).try_for_each(|dtype| learn_dtype(dtype, known, "label"))
}

/// `ln(e^a + e^b)`.
fn add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// The loss of a sequence of log-probabilities, and the probability of each class at each time, given the label. `None` if
/// no path produces the label.
fn align(logs: &[Vec<f64>], label: &[usize], blank: usize) -> Option<(f64, Vec<Vec<f64>>)> {
    // The classes of the label, with blanks around and between them.
    let states: Vec<usize> = std::iter::once(blank).chain(label.iter().flat_map(|class| [*class, blank])).collect();
    let n = states.len();
    let may_skip = |s: usize| s >= 2 && states[s] != blank && states[s] != states[s - 2];
    let repeats = label.windows(2).filter(|pair| pair[0] == pair[1]).count();
    if label.len() + repeats > logs.len() {
        return None;
    }
    let Some(last) = logs.len().checked_sub(1) else { return Some((0.0, Vec::new())) };
    let (mut forward, mut back) =
        (vec![vec![f64::NEG_INFINITY; n]; last + 1], vec![vec![f64::NEG_INFINITY; n]; last + 1]);
    for t in 0..=last {
        for s in 0..n {
            let ways = match t {
                0 => {
                    if s < 2 {
                        0.0
                    } else {
                        f64::NEG_INFINITY
                    }
                }
                _ => {
                    let before = &forward[t - 1];
                    let ways = if s > 0 { add(before[s], before[s - 1]) } else { before[s] };
                    if may_skip(s) { add(ways, before[s - 2]) } else { ways }
                }
            };
            forward[t][s] = ways + logs[t][states[s]];
        }
    }
    for t in (0..=last).rev() {
        for s in 0..n {
            back[t][s] = if t == last {
                if s + 2 >= n { 0.0 } else { f64::NEG_INFINITY }
            } else {
                let after = |s: usize| back[t + 1][s] + logs[t + 1][states[s]];
                let ways = if s + 1 < n { add(after(s), after(s + 1)) } else { after(s) };
                if s + 2 < n && may_skip(s + 2) { add(ways, after(s + 2)) } else { ways }
            };
        }
    }
    let total = if n > 1 { add(forward[last][n - 1], forward[last][n - 2]) } else { forward[last][0] };
    let mut shares: Vec<Vec<f64>> = logs.iter().map(|classes| vec![0.0; classes.len()]).collect();
    for (t, shares) in shares.iter_mut().enumerate() {
        for (s, class) in states.iter().enumerate() {
            shares[*class] += (forward[t][s] + back[t][s] - total).exp();
        }
    }
    Some((-total, shares))
}

/// Reads the length of each example and checks that it is at most `most`.
fn lengths(input: Option<&RefInput<'_>>, n: usize, most: usize, what: &str) -> Result<Option<Vec<usize>>> {
    let Some(input) = input else { return Ok(None) };
    let checked = numeric::read(input).into_iter().take(n).map(|length| match length {
        length if length >= 0.0 && length <= most as f64 => Ok(length as usize),
        _ => Err(Error::invalid(format!("{what} of CTCLoss"), length, format!("0 to {most}"))),
    });
    checked.collect::<Result<_>>().map(Some)
}

fn ctc_loss(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<CtcLossParams>();
    let (data, label) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
    let (shape, n_labels) = (&inputs[0].desc.shape, inputs[1].desc.shape[1]);
    let (time, n, n_classes) = (shape[0], shape[1], shape[2]);
    let (blank, padding) = match params.blank_label {
        BlankLabel::First => (0, 0.0),
        BlankLabel::Last => (n_classes.saturating_sub(1), -1.0),
    };
    let of_data = lengths(inputs.get(2).filter(|_| params.use_data_lengths), n, time, "data_lengths")?;
    let at_labels = 2 + usize::from(params.use_data_lengths);
    let of_labels = lengths(inputs.get(at_labels), n, n_labels, "label_lengths")?;
    let (mut losses, mut gradient) = (vec![0.0; n], vec![0.0; data.len()]);
    for (i, loss) in losses.iter_mut().enumerate() {
        let row = &label[i * n_labels..][..n_labels];
        let n_said = match &of_labels {
            Some(lengths) => lengths[i],
            None => row.iter().position(|class| *class == padding).unwrap_or(n_labels),
        };
        let said = row[..n_said].iter().map(|class| match *class {
            class if class >= 0.0 && class < n_classes as f64 && class as usize != blank => Ok(class as usize),
            class => {
                let expected = format!("a class below {n_classes} other than the blank, {blank}");
                Err(Error::invalid(format!("label of CTCLoss, of example {i}"), class, expected))
            }
        });
        let said = said.collect::<Result<Vec<usize>>>()?;
        let at = |t: usize| (t * n + i) * n_classes..(t * n + i + 1) * n_classes;
        let logs: Vec<Vec<f64>> = (0..of_data.as_ref().map_or(time, |lengths| lengths[i]))
            .map(|t| {
                let x = &data[at(t)];
                let max = x.iter().copied().fold(f64::NEG_INFINITY, numeric::max_nan);
                let sum = x.iter().map(|x| (x - max).exp()).sum::<f64>().ln();
                x.iter().map(|x| x - max - sum).collect()
            })
            .collect();
        let Some((found, shares)) = align(&logs, &said, blank) else { continue };
        *loss = found;
        for (t, (logs, shares)) in logs.iter().zip(&shares).enumerate() {
            let both = logs.iter().zip(shares);
            gradient[at(t)].iter_mut().zip(both).for_each(|(g, (log, share))| *g = log.exp() - share);
        }
    }
    numeric::write(&mut outputs[0], &losses);
    numeric::write(&mut outputs[1], &gradient);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], data: &[usize], label: &[usize], classes: &[f64]| {
        Sample {
            attrs: attrs.iter().copied().collect(),
            ..Sample::new(name, [("blank_label", "first")], &[data, label])
        }
        .fill(0, Fill::Uniform(-2.0, 2.0))
        .fill(1, Fill::Values(classes.to_vec()))
    };
    let with = |mut sample: Sample, lengths: &[f64]| {
        let shape = [lengths.len()][..].into();
        sample.inputs.push(SampleInput { shape, fill: Fill::Values(lengths.to_vec()), dtype: None });
        sample
    };
    let last = ("blank_label", "last");
    let (by_data, by_label) = (("use_data_lengths", "True"), ("use_label_lengths", "True"));
    let classes = [2.0, 1.0, 0.0, 3.0, 2.0, 2.0];
    vec![
        of("first", &[], &[7, 2, 4], &[2, 3], &classes),
        of("last", &[last], &[7, 2, 4], &[2, 3], &[1.0, 0.0, -1.0, 2.0, 1.0, 1.0]),
        with(of("data_lengths", &[by_data], &[7, 2, 4], &[2, 3], &classes), &[5.0, 7.0]),
        with(of("label_lengths", &[by_label, last], &[6, 2, 4], &[2, 3], &[1.0, 0.0, 9.0, 2.0, 1.0, 1.0]), &[2.0, 3.0]),
        with(
            with(
                of("both", &[by_data, by_label, last], &[6, 2, 4], &[2, 3], &[1.0, 0.0, 1.0, 2.0, 1.0, 9.0]),
                &[6.0, 3.0],
            ),
            &[3.0, 2.0],
        ),
        // No path of two steps can produce two equal classes, because a blank must separate them.
        of("impossible", &[], &[2, 2, 3], &[2, 2], &[1.0, 1.0, 1.0, 2.0]),
        of("nothing_said", &[last], &[3, 1, 3], &[1, 2], &[-1.0, 0.0]),
        of("none", &[], &[3, 0, 3], &[0, 2], &[]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    #[test]
    fn data_without_a_blank_are_refused() {
        let op = define();
        let params = op.parse(&Attrs::new()).unwrap();
        let infer = |n_classes| {
            let mut inputs = [PartialShape::new([3, 2, n_classes].map(Some)), PartialShape::new([2, 1].map(Some))];
            op.infer_shapes(&params, &mut inputs, &mut vec![PartialShape::unknown(); 2])
        };
        assert!(infer(1).is_ok());
        let error = infer(0).unwrap_err().to_string();
        assert!(error.contains("at least one class") && error.contains("(3, 2, 0)"), "{error}");
    }
}
