//! The logarithm of the likelihood of events of a self-exciting (Hawkes) process with `k` kinds of events (marks) and exponential
//! decay. An event of mark `m` has the intensity `lda[m] + alpha[m] · beta[m] · state[m]`; the state of a mark decays as
//! `exp(-beta[m] · time)`, and grows by 1 at an event of the mark.
//!
//! Shapes: `lda` `[n, k]`, the background intensities; `alpha` and `beta` `[k]`; `state` `[n, k]`, the states at time 0; `lags`
//! `[n, t]`, the times between events; `marks` `[n, t]`; `valid_length` `[n]`, the numbers of events; `max_time` `[n]`, the ends of
//! the observed times. Outputs: the logarithms `[n]`, and the states at the end `[n, k]`.
//!
//! Gradient: of all inputs but `marks` and `valid_length`. MXNet has that of the logarithms with respect to `lda`, `alpha` and
//! `beta`, and ignores the gradient of the states.
//!
//! MXNet: `_contrib_hawkesll`. Dtypes: f32 f64 f16 bf16; marks i32.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{learn_dim, learn_dtype, require_ndim, unify_dtypes};
use mxrs_op::param::NoParams;
use mxrs_op::{Fill, OpDef, Sample};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

struct Hawkes;

/// What an axis of each tensor counts: 0 for the sequences, 1 for the marks, 2 for the events.
const AXES: [&[usize]; 8] = [&[0, 1], &[1], &[1], &[0, 1], &[0, 2], &[0, 2], &[0], &[0]];

impl Formula for Hawkes {
    type Params = NoParams;
    const NAME: &'static str = "_contrib_hawkesll";
    const SUMMARY: &'static str = "log-likelihood of events of a Hawkes process";
    const BACKWARD: &'static str = "_backward_contrib_hawkesll";
    const INPUTS: &'static [&'static str] =
        &["lda", "alpha", "beta", "state", "lags", "marks", "valid_length", "max_time"];
    const BACKWARD_INPUTS: &'static [&'static str] =
        &["ograd_ll", "ograd_state", "lda", "alpha", "beta", "state", "lags", "marks", "valid_length", "max_time"];
    const OUTPUTS: &'static [&'static str] = &["output0", "output1"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1, 2, 3, 4, 7];

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let mut sizes = [None; 3];
        // The first round collects the sizes from all tensors. The second one gives them to the tensors that were visited
        // too early.
        for _ in 0..2 {
            let outputs = outputs.iter_mut().zip(["output", "output"]).zip([AXES[7], AXES[0]]);
            let inputs = inputs.iter_mut().zip(Self::INPUTS.iter().copied()).zip(AXES);
            for ((shape, name), axes) in inputs.chain(outputs) {
                require_ndim(shape, axes.len(), name)?;
                for (axis, which) in axes.iter().enumerate() {
                    learn_dim(shape, axis, sizes[*which], name)?;
                    sizes[*which] = sizes[*which].or(shape.dim(axis));
                }
            }
        }
        Ok(())
    }

    fn infer_dtype(_: &NoParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        let (before, after) = inputs.split_at_mut(5);
        let Some((marks, after)) = after.split_first_mut() else { return Ok(()) };
        learn_dtype(marks, DType::I32, "marks")?;
        unify_dtypes(before.iter_mut().chain(after).chain(outputs), "lda")
    }

    /// One part for each sequence.
    fn n_parts(_: &NoParams, inputs: &[Shape], _: &[Shape]) -> usize {
        inputs[0][0]
    }

    fn part<T: Number>(_: &NoParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let (n_marks, n_events) = (tensors.inputs[0][1], tensors.inputs[4][1]);
        let length = tensors.values(6)[part];
        if length > n_events as f64 {
            return Err(Error::invalid("valid_length", length, format!("at most {n_events} events")));
        }
        let number = |input: usize, mark: usize| tensors.at(input, mark);
        let of_sequence = |input: usize, mark: usize| tensors.at(input, part * n_marks + mark);
        let mut states: Vec<T> = (0..n_marks).map(|mark| of_sequence(3, mark)).collect();
        let mut last = vec![T::of(0.0); n_marks];
        let (mut time, mut sum) = (T::of(0.0), T::of(0.0));
        for event in (0..n_events).take_while(|event| (*event as f64) < length) {
            let mark = tensors.values(5)[part * n_events + event];
            if mark < 0.0 || mark >= n_marks as f64 {
                return Err(Error::invalid("a mark", mark, format!("a number below {n_marks}")));
            }
            let mark = mark as usize;
            time = time + tensors.at(4, part * n_events + event);
            let since = time - last[mark];
            let decay = (-(number(2, mark) * since)).exp();
            let intensity = of_sequence(0, mark) + number(1, mark) * number(2, mark) * states[mark] * decay;
            sum = sum + intensity.ln() - expected(of_sequence(0, mark), number(1, mark), states[mark], since, decay);
            states[mark] = T::of(1.0) + states[mark] * decay;
            last[mark] = time;
        }
        for (mark, (state, last)) in states.into_iter().zip(last).enumerate() {
            let since = tensors.at(7, part) - last;
            let decay = (-(number(2, mark) * since)).exp();
            sum = sum - expected(of_sequence(0, mark), number(1, mark), state, since, decay);
            emit(1, part * n_marks + mark, state * decay);
        }
        emit(0, part, sum);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, [n, k, t]: [usize; 3], marks: &[f64], lengths: &[f64]| {
            let shapes: [&[usize]; 8] = [&[n, k], &[k], &[k], &[n, k], &[n, t], &[n, t], &[n], &[n]];
            let sample = Sample::plain(name, &shapes).dtype(5, DType::I32).fill(5, Fill::Values(marks.to_vec()));
            let positive = [0, 1, 2, 3, 4].into_iter().fold(sample, |s, i| s.fill(i, Fill::Uniform(0.25, 1.0)));
            positive.fill(6, Fill::Values(lengths.to_vec())).fill(7, Fill::Uniform(5.0, 6.0))
        };
        vec![
            of("two", [2, 3, 4], &[0.0, 1.0, 0.0, 2.0, 2.0, 2.0, 1.0, 0.0], &[3.5, 1.5]),
            of("one", [1, 1, 3], &[0.0; 3], &[2.5]),
            of("no_events", [1, 2, 0], &[], &[-0.5]),
            of("empty", [0, 2, 3], &[], &[]),
        ]
    }
}

/// The expected number of events of a mark since its last event.
fn expected<T: Number>(background: T, alpha: T, state: T, since: T, decay: T) -> T {
    background * since + alpha * state * (T::of(1.0) - decay)
}

/// Defines the operator `_contrib_hawkesll`.
pub fn define() -> OpDef {
    formula::define::<Hawkes>()
}
