//! Finds the threshold that loses the least information when numbers are quantized, from a histogram of the numbers.
//!
//! Inputs: `hist`, the counts of an odd number n of bins that lie symmetrically around 0; `hist_edges`, their `n + 1` bounds. Outputs:
//! `threshold`, one of the bounds, and `divergence`, both `[1]`.
//!
//! [`entropy`] describes the search. Each threshold has at least `num_quantized_bins` bins inside. If none has a divergence, because
//! too few bins have counts, the smallest threshold and the largest float32 are returned.
//!
//! MXNet: `_contrib_calibrate_entropy`, which reads past the end of `hist_edges` if the number of bins is even. Dtypes: f32.

use crate::families::entropy;
use crate::families::quantized::{floats, require_type, sample};
use crate::inference::{OP, bad_attribute, learn, learn_dtype};
use crate::numeric;
use mxrs_op::{Accuracy, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result};

op_params! {
    /// Parameters of `_contrib_calibrate_entropy`.
    pub struct CalibrateEntropyParams for "_contrib_calibrate_entropy" {
        /// Number of quantized numbers.
        num_quantized_bins: i32 = 255,
    }
}

/// The most bins of a histogram. The search takes steps in proportion to the square of the number of bins.
const MOST_BINS: usize = 1 << 15;

impl CalibrateEntropyParams {
    fn n_quantized(&self) -> Result<usize> {
        usize::try_from(self.num_quantized_bins).ok().filter(|n| (1..=MOST_BINS).contains(n)).ok_or_else(|| {
            let expected = format!("1 to {MOST_BINS}");
            bad_attribute("_contrib_calibrate_entropy", "num_quantized_bins", expected, self.num_quantized_bins)
        })
    }
}

/// Defines the operator `_contrib_calibrate_entropy`.
pub fn define() -> OpDef {
    OpDef {
        summary: "best threshold of a histogram for quantization",
        inputs: InputNames::Fixed(&["hist", "hist_edges"]),
        n_outputs: OutputCount::Fixed(2),
        n_visible: OutputCount::Fixed(2),
        output_names: &["threshold", "divergence"],
        infer_shape,
        infer_dtype: |_, inputs, outputs| {
            require_type(inputs[0], &[DType::F32], "hist")?;
            inputs.iter_mut().chain(outputs).try_for_each(|dtype| learn_dtype(dtype, DType::F32, "hist_edges"))
        },
        dtypes: &[DType::F32],
        accuracy: Accuracy::Product,
        reference: Some(run),
        samples,
        ..OpDef::new("_contrib_calibrate_entropy").params::<CalibrateEntropyParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let n_quantized = params.get::<CalibrateEntropyParams>().n_quantized()?;
    let one = PartialShape::new([Some(1)]);
    outputs.iter_mut().try_for_each(|output| learn(output, &one, "output"))?;
    let [hist, edges] = inputs else { return Ok(()) };
    let Some(n_bins) = hist.known().map(|shape| shape.n_elements()) else { return Ok(()) };
    let is_symmetric = n_bins % 2 == 1 && (n_quantized..=MOST_BINS).contains(&n_bins);
    if n_bins > 0 && !is_symmetric {
        let expected = format!("an odd number of bins from {n_quantized} to {MOST_BINS}");
        return Err(Error::shape(OP, "hist", expected, &*hist));
    }
    match edges.known() {
        Some(shape) if shape.n_elements() != n_bins + 1 => {
            Err(Error::shape(OP, "hist_edges", format!("{} elements", n_bins + 1), shape))
        }
        _ => Ok(()),
    }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let n_quantized = params.get::<CalibrateEntropyParams>().n_quantized()?;
    let (counts, edges) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
    if let Some(wrong) = counts.iter().find(|count| !count.is_finite() || **count < 0.0) {
        return Err(Error::invalid("a count of hist", wrong, "a finite number, 0 or more"));
    }
    let (threshold, divergence) = best_threshold(counts, &edges, n_quantized);
    numeric::write(&mut outputs[0], &[threshold]);
    numeric::write(&mut outputs[1], &[divergence]);
    Ok(())
}

/// The threshold of least divergence, and the divergence.
fn best_threshold(counts: Vec<f64>, edges: &[f64], n_quantized: usize) -> (f64, f64) {
    // Without bins there is no threshold.
    let smallest = if counts.is_empty() { 0.0 } else { edges[counts.len() / 2 + n_quantized / 2 + 1] };
    let mut best = (smallest, f64::from(f32::MAX));
    for (stop, divergence) in entropy::divergences(counts, n_quantized) {
        if let Some(divergence) = divergence.filter(|divergence| *divergence < best.1) {
            best = (edges[stop], divergence);
        }
    }
    best
}

fn samples() -> Vec<Sample> {
    let of = |name, n_quantized: &str, counts: &[f64]| {
        let n = counts.len();
        let edges: Vec<f64> = (0..=n).map(|i| 2.0 * i as f64 / n.max(1) as f64 - 1.0).collect();
        sample(name, &[("num_quantized_bins", n_quantized)], vec![floats(counts), floats(&edges)])
    };
    let peak = [1.0, 0.0, 2.0, 8.0, 30.0, 60.0, 90.0, 60.0, 33.0, 8.0, 3.0, 0.0, 4.0];
    vec![
        of("peak", "5", &peak),
        of("even", "4", &peak),
        of("one_side", "3", &[0.0, 0.0, 0.0, 9.0, 7.0, 5.0, 1.0]),
        of("one", "1", &[3.0]),
        of("no_counts", "3", &[0.0; 7]),
        of("empty", "3", &[]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;
    use mxrs_types::Shape;

    #[test]
    fn impossible_histograms_are_refused() {
        let op = define();
        let refuse = |n_quantized: &str, n_bins: usize, n_edges: usize| {
            let params = op.parse(&Attrs::from([("num_quantized_bins", n_quantized)])).expect("readable parameters");
            let mut inputs = [n_bins, n_edges].map(|n| PartialShape::from(Shape::from([n])));
            let result = op.infer_shapes(&params, &mut inputs, &mut [PartialShape::unknown(), PartialShape::unknown()]);
            assert!(result.is_err(), "{n_quantized} {n_bins} {n_edges}");
        };
        refuse("0", 9, 10);
        refuse("-1", 9, 10);
        refuse("5", 8, 9);
        refuse("11", 9, 10);
        refuse("5", 9, 9);
        refuse("5", MOST_BINS + 1, MOST_BINS + 2);
        refuse("2147483647", 9, 10);
    }

    #[test]
    fn without_counts_no_threshold_is_better_than_the_smallest() {
        let edges: Vec<f64> = (0..=7).map(f64::from).collect();
        assert_eq!(best_threshold(vec![0.0; 7], &edges, 3), (5.0, f64::from(f32::MAX)));
        assert_eq!(best_threshold(Vec::new(), &[0.0], 3), (0.0, f64::from(f32::MAX)));
    }

    #[test]
    fn even_counts_are_quantized_without_loss() {
        let edges: Vec<f64> = (0..=9).map(f64::from).collect();
        // The first bin counts as empty in Q, but it gets the mean of the other bins of its group.
        assert_eq!(best_threshold(vec![4.0; 9], &edges, 3), (9.0, 0.0));
    }
}
