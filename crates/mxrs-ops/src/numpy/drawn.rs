//! NumPy's random draws: `_npi_bernoulli`, 1 with a probability that is given itself or by its log-odds; `_npi_multinomial`, how
//! often each outcome occurs in `n` experiments; `_npi_choice`, random positions of an array.
//!
//! Gradient: zero.
//!
//! Dtypes: probabilities f32 f64 f16 bf16; the result of `_npi_bernoulli` as `dtype` says, others i64. The numbers differ from
//! MXNet's, the distributions do not.

use super::creation::LongOrNone;
use crate::dtypes::{FLOATS, dtype_of};
use crate::families::broadcast::{positions, whole_shape};
use crate::families::draws::{self, Stream};
use crate::families::nameless::{DoublesOrNone, SizesOrNone};
use crate::inference::{OP, bad_attribute, learn, learn_dim, learn_dtype, require_ndim};
use crate::numeric;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Fill, Gradient, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, op_enum, op_params};
use mxrs_types::{DType, Error, PartialShape, Result};
use std::collections::HashMap;

op_enum! {
    /// Element type of draws.
    pub enum BernoulliDtype {
        U8 = "uint8",
        I32 = "int32",
        F32 = "float32",
        F64 = "float64",
        F16 = "float16",
        Bool = "bool",
    }
}

op_params! {
    /// Parameters of `_npi_bernoulli`.
    pub struct BernoulliParams for "_npi_bernoulli" {
        /// The probability of 1; an input if both this and `logit` are `None`.
        prob: Option<f32>,
        /// The logarithm of the odds of 1.
        logit: Option<f32>,
        /// Shape of the output; that of the input if absent.
        size: Option<ShapeAttr> = None,
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = "cpu".into(),
        /// Element type of the output.
        dtype: BernoulliDtype = BernoulliDtype::F32,
        /// Whether the input holds logarithms of odds.
        is_logit: bool,
    }
}

op_params! {
    /// Parameters of `_npi_multinomial`.
    pub struct NpMultinomialParams for "_npi_multinomial" {
        /// Number of experiments.
        n: i32,
        /// Probabilities of the outcomes; an input if absent. The last outcome has what is left of 1.
        pvals: DoublesOrNone = DoublesOrNone(None),
        /// Number of results; one if absent.
        size: Option<ShapeAttr> = None,
    }
}

op_params! {
    /// Parameters of `_npi_choice`.
    pub struct ChoiceParams for "_npi_choice" {
        /// Number of positions; that of the first input if `None`.
        a: LongOrNone,
        /// Shape of the output; a scalar if `None`.
        size: SizesOrNone,
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = "cpu".into(),
        /// Whether a position may be chosen again.
        replace: bool = true,
        /// Whether the last input holds the probabilities of the positions.
        weighted: bool = false,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[bernoulli, multinomial, choice];

/// An operator that draws random numbers.
fn drawn(name: &'static str, summary: &'static str) -> OpDef {
    OpDef { summary, dtypes: FLOATS, is_random: |_, _| true, gradient: Gradient::Zero, ..OpDef::new(name) }
}

/// The sizes of a parameter `size`.
fn sizes(op: &str, size: Option<&ShapeAttr>) -> Result<Option<Vec<Option<usize>>>> {
    size.map(|size| crate::random::laws::sizes(op, size)).transpose()
}

fn bernoulli() -> OpDef {
    OpDef {
        inputs: InputNames::ByParams {
            all: &["input1"],
            chosen: |params| match params.get::<BernoulliParams>() {
                BernoulliParams { prob: None, logit: None, .. } => vec!["input1"],
                _ => Vec::new(),
            },
        },
        infer_shape: |params, inputs, outputs| {
            let params: &BernoulliParams = params.get();
            if let Some(prob) = params.prob.filter(|prob| !(0.0..=1.0).contains(prob)) {
                return Err(bad_attribute("_npi_bernoulli", "prob", "a probability", prob));
            }
            let input = inputs.first().map(PartialShape::known);
            let out = match (sizes("_npi_bernoulli", params.size.as_ref())?, input) {
                (_, Some(None)) => return Ok(()),
                (Some(size), Some(Some(input))) => {
                    let known: Vec<usize> = size.iter().copied().flatten().collect();
                    if whole_shape(&known, &input).as_ref() != Some(&known) {
                        return Err(Error::shape(OP, "input1", format!("a shape that broadcasts to {known:?}"), input));
                    }
                    PartialShape::new(size)
                }
                (Some(size), None) => PartialShape::new(size),
                (None, Some(Some(input))) => input.into(),
                (None, None) => PartialShape::new([]),
            };
            learn(&mut outputs[0], &out, "output")
        },
        infer_dtype: |params, inputs, outputs| {
            inputs.iter_mut().for_each(|dtype| *dtype = dtype.or(Some(DType::F32)));
            learn_dtype(&mut outputs[0], dtype_of(params.get::<BernoulliParams>().dtype), "output")
        },
        reference: Some(|params, inputs, outputs, mode| {
            let params: &BernoulliParams = params.get();
            let sigmoid = numeric::sigmoid;
            let shape = outputs[0].desc.shape.clone();
            let (given, places) = match (params.prob, params.logit, inputs) {
                (Some(prob), ..) => (vec![f64::from(prob)], vec![0; shape.n_elements()]),
                (None, Some(odds), _) => (vec![sigmoid(f64::from(odds))], vec![0; shape.n_elements()]),
                (None, None, inputs) => {
                    let values = numeric::read(&inputs[0]);
                    let values = if params.is_logit { values.into_iter().map(sigmoid).collect() } else { values };
                    (values, positions(&inputs[0].desc.shape, &shape))
                }
            };
            if let Some(wrong) = given.iter().find(|prob| !(0.0..=1.0).contains(*prob)) {
                return Err(Error::invalid("input1", wrong, "a probability"));
            }
            draws::fill(&mut outputs[0], mode, |stream, i| f64::from(u8::from(stream.uniform() < given[places[i]])))
        }),
        samples: || {
            let of = |name, [prob, logit, is_logit]: [&'static str; 3], more: &[(&str, &str)], shapes: &[&[usize]]| {
                let mut sample = Sample::new(name, [("prob", prob), ("logit", logit), ("is_logit", is_logit)], shapes);
                more.iter().for_each(|(key, value)| drop(sample.attrs.set(*key, *value)));
                sample.inputs.iter_mut().for_each(|input| input.fill = Fill::Uniform(0.25, 0.75));
                sample
            };
            let (number, input) = (["0.5", "None", "False"], ["None", "None", "False"]);
            vec![
                of("number", number, &[("size", "(3, 4)")], &[]),
                of("odds", ["None", "0.5", "True"], &[("size", "(5,)"), ("dtype", "bool")], &[]),
                of("input", input, &[("dtype", "int32")], &[&[2, 3]]),
                of("stretched", ["None", "None", "True"], &[("size", "(2, 3)")], &[&[3]]),
                of("scalar", number, &[], &[]),
                of("empty", input, &[], &[&[0, 3]]),
            ]
        },
        ..drawn("_npi_bernoulli", "1 with a probability, else 0").params::<BernoulliParams>()
    }
}

fn multinomial() -> OpDef {
    OpDef {
        inputs: InputNames::ByParams {
            all: &["a"],
            // MXNet lists the input as `a`, and calls it `data` in graphs.
            chosen: |params| match params.get::<NpMultinomialParams>().pvals.0 {
                Some(_) => Vec::new(),
                None => vec!["data"],
            },
        },
        infer_shape: |params, inputs, outputs| {
            let params: &NpMultinomialParams = params.get();
            if params.n < 0 {
                return Err(bad_attribute("_npi_multinomial", "n", "no negative number", params.n));
            }
            let n = match (&params.pvals.0, inputs) {
                (Some(pvals), _) => Some(pvals.len()),
                (None, [input]) => {
                    require_ndim(input, 1, "data")?;
                    input.dim(0)
                }
                (None, _) => None,
            };
            let size = sizes("_npi_multinomial", params.size.as_ref())?.unwrap_or_default();
            learn(&mut outputs[0], &PartialShape::new(size.into_iter().chain([n])), "output")
        },
        infer_dtype: |_, inputs, outputs| {
            inputs.iter_mut().for_each(|dtype| *dtype = dtype.or(Some(DType::F32)));
            learn_dtype(&mut outputs[0], DType::I64, "output")
        },
        reference: Some(run_multinomial),
        samples: || {
            let of = |name, attrs: &[(&str, &str)], shapes: &[&[usize]]| {
                let mut sample = Sample::plain(name, shapes);
                sample.attrs = attrs.iter().copied().collect();
                sample.inputs.iter_mut().for_each(|input| input.fill = Fill::Uniform(0.1, 0.2));
                sample
            };
            vec![
                of("numbers", &[("n", "5"), ("pvals", "(0.25, 0.25, 0.5)"), ("size", "(2, 2)")], &[]),
                of("one", &[("n", "3"), ("pvals", "(1.0,)")], &[]),
                of("input", &[("n", "4"), ("size", "(3,)")], &[&[4]]),
                of("nothing", &[("n", "0")], &[&[3]]),
                of("empty", &[("n", "4")], &[&[0]]),
            ]
        },
        ..drawn("_npi_multinomial", "how often each outcome occurs").params::<NpMultinomialParams>()
    }
}

/// The most experiments that are run one by one. Of more, the number of each outcome is drawn, so that the time does not grow
/// with the number of experiments.
const MOST_EXPERIMENTS: i32 = 4096;

fn run_multinomial(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    mode: RunMode,
) -> Result<()> {
    let params: &NpMultinomialParams = params.get();
    let random = mode.random.ok_or_else(|| Error::invalid("random numbers", "none", "a seed and a number"))?;
    let (pvals, slack) = match &params.pvals.0 {
        Some(pvals) => (pvals.to_vec(), 1e-12),
        // The sum of probabilities may exceed 1 by the rounding of the input's type: much less for float64 than for other
        // types.
        None if inputs[0].desc.dtype == DType::F64 => (numeric::read(&inputs[0]), 1e-12),
        None => (numeric::read(&inputs[0]), 1e-2),
    };
    let mut sums = Vec::with_capacity(pvals.len());
    let mut sum = 0.0;
    for p in &pvals {
        sum += p;
        if p.is_nan() || *p < 0.0 || sum > 1.0 + slack {
            return Err(Error::invalid("pvals", sum, "probabilities that add up to at most 1"));
        }
        sums.push(sum);
    }
    let n_results = outputs[0].desc.shape.n_elements().checked_div(pvals.len()).unwrap_or(0);
    let mut counts = vec![0i64; n_results * pvals.len()];
    for result in 0..n_results {
        let mut stream = Stream::new(random, result);
        let counts = &mut counts[result * pvals.len()..][..pvals.len()];
        if params.n <= MOST_EXPERIMENTS {
            for _ in 0..params.n {
                let u = stream.uniform();
                counts[sums.partition_point(|sum| *sum <= u).min(pvals.len() - 1)] += 1;
            }
            continue;
        }
        let (mut left, mut before) = (params.n as u64, 0.0);
        for (count, p) in counts.iter_mut().zip(&pvals) {
            let share = if *p > 0.0 { (p / (1.0 - before)).clamp(0.0, 1.0) } else { 0.0 };
            let drawn = stream.binomial(left, share);
            (*count, left, before) = (drawn as i64, left - drawn, before + p);
        }
        // Probabilities may add up to less than 1. As above, the last outcome gets the rest.
        counts[pvals.len() - 1] += left as i64;
    }
    numeric::write_integers(&mut outputs[0], &counts);
    Ok(())
}

fn choice() -> OpDef {
    OpDef {
        inputs: InputNames::ByParams {
            all: &["input1", "input2"],
            chosen: |params| {
                let params: &ChoiceParams = params.get();
                ["input1", "input2"][..usize::from(params.a.0.is_none()) + usize::from(params.weighted)].to_vec()
            },
        },
        infer_shape: infer_choice,
        infer_dtype: |_, inputs, outputs| {
            inputs.iter_mut().for_each(|dtype| *dtype = dtype.or(Some(DType::F32)));
            learn_dtype(&mut outputs[0], DType::I64, "output")
        },
        reference: Some(run_choice),
        samples: || {
            let of = |name, [a, size, replace, weighted]: [&'static str; 4], shapes: &[&[usize]]| {
                let attrs = [("a", a), ("size", size), ("replace", replace), ("weighted", weighted)];
                let mut sample = Sample::new(name, attrs, shapes);
                sample.inputs.iter_mut().for_each(|input| input.fill = Fill::Uniform(0.1, 0.2));
                sample
            };
            vec![
                of("numbers", ["5", "(2, 3)", "True", "False"], &[]),
                of("distinct", ["5", "(3,)", "False", "False"], &[]),
                of("array", ["None", "None", "True", "False"], &[&[4]]),
                of("weighted", ["None", "(6,)", "True", "True"], &[&[4], &[4]]),
                of("weighted_distinct", ["4", "(3,)", "False", "True"], &[&[4]]),
                of("empty", ["None", "(0,)", "True", "False"], &[&[0]]),
            ]
        },
        ..drawn("_npi_choice", "random positions of an array").params::<ChoiceParams>()
    }
}

fn infer_choice(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params: &ChoiceParams = params.get();
    let size = sizes("_npi_choice", params.size.0.as_ref())?.unwrap_or_default();
    learn(&mut outputs[0], &PartialShape::new(size), "output")?;
    let n_drawn = outputs[0].known().map(|shape| shape.checked_n_elements()).transpose()?;
    let n = match (params.a.0, inputs.first_mut()) {
        (Some(a), _) if a < 1 => return Err(bad_attribute("_npi_choice", "a", "at least one position", a)),
        (Some(a), _) => usize::try_from(a).ok(),
        (None, Some(input)) => {
            require_ndim(input, 1, "input1")?;
            input.dim(0)
        }
        (None, None) => None,
    };
    if let (true, Some(weights)) = (params.weighted, inputs.last_mut()) {
        require_ndim(weights, 1, "input2")?;
        learn_dim(weights, 0, n, "input2")?;
    }
    let needed = n_drawn.map(|n| if params.replace { n.min(1) } else { n });
    match (n, needed) {
        (Some(n), Some(needed)) if needed > n => {
            let expected = format!("at most {n} positions, because `replace` is false or there is none");
            Err(Error::shape(OP, "output", expected, &outputs[0]))
        }
        _ => Ok(()),
    }
}

fn run_choice(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    let params: &ChoiceParams = params.get();
    let random = mode.random.ok_or_else(|| Error::invalid("random numbers", "none", "a seed and a number"))?;
    let n_drawn = outputs[0].desc.shape.n_elements();
    let n = params.a.0.unwrap_or_else(|| inputs[0].desc.shape.n_elements() as i64);
    let chosen: Vec<i64> = match (params.weighted, params.replace) {
        (false, true) => (0..n_drawn).map(|i| (Stream::new(random, i).uniform() * n as f64) as i64).collect(),
        (false, false) => {
            // The first steps of shuffling all positions. The map holds only the positions that were moved, so memory does
            // not grow with `n`.
            let mut moved = HashMap::new();
            let mut draw = |i: usize| {
                let first = i as i64;
                let other = first + (Stream::new(random, i).uniform() * (n - first) as f64) as i64;
                let at_first = moved.get(&first).copied().unwrap_or(first);
                moved.insert(other, at_first).unwrap_or(other)
            };
            (0..n_drawn).map(&mut draw).collect()
        }
        (true, replace) => {
            let weights = inputs.last().map(numeric::read).unwrap_or_default();
            if let Some(wrong) = weights.iter().find(|weight| !weight.is_finite() || **weight < 0.0) {
                return Err(Error::invalid("the weights", wrong, "probabilities"));
            }
            if replace {
                let total: f64 = weights.iter().sum();
                let draw = |i: usize| {
                    let mut rest = Stream::new(random, i).uniform() * total;
                    let at = weights.iter().position(|weight| {
                        rest -= weight;
                        rest < 0.0
                    });
                    at.unwrap_or(weights.len().saturating_sub(1)) as i64
                };
                (0..n_drawn).map(draw).collect()
            } else {
                // Gumbel-max trick: to draw without replacement, takes the elements with the largest sums of the logarithm
                // of their weight and a random number from the Gumbel distribution.
                let key =
                    |(i, weight): (usize, &f64)| (weight.ln() - Stream::new(random, i).exponential().ln(), i as i64);
                let mut keys: Vec<(f64, i64)> = weights.iter().enumerate().map(key).collect();
                keys.sort_by(|a, b| b.0.total_cmp(&a.0));
                keys.into_iter().take(n_drawn).map(|(_, i)| i).collect()
            }
        }
    };
    numeric::write_integers(&mut outputs[0], &chosen);
    Ok(())
}
