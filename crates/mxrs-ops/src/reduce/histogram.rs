//! Counts the elements in bins. With `bin_cnt` and `range` the bins are even; otherwise the input `bins` holds their bounds in
//! ascending order. A bin holds its lower bound, and the last bin its upper bound too; elements outside are not counted. Outputs:
//! the counts `[n]`, and the bounds `[n + 1]`.
//!
//! Gradient: zero.
//!
//! MXNet: `_histogram`, also `_npi_histogram`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; counts i64.

use crate::dtypes::NUMBERS;
use crate::families::nameless::DoublesOrNone;
use crate::inference::{OP, bad_attribute, learn, learn_dtype, require_ndim, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, OutputCount, Precision, RefInput, RefOutput, RunMode,
    Sample, op_params,
};
use mxrs_types::{DType, Error, PartialShape, Result};

op_params! {
    /// Parameters of `_histogram`.
    pub struct HistogramParams for "_histogram" {
        /// Number of even bins; the bounds are an input if absent.
        bin_cnt: Option<i32> = None,
        /// Lower bound of the first even bin and upper bound of the last.
        range: DoublesOrNone = DoublesOrNone(None),
    }
}

impl HistogramParams {
    /// The number of even bins with the first and the last bound; `None` if the bounds are an input.
    fn even(&self) -> Result<Option<(usize, f64, f64)>> {
        let wrong = |expected: &str, got: String| Err(bad_attribute("_histogram", "range", expected, got));
        match (self.bin_cnt, self.range.0.as_deref()) {
            (None, None) => Ok(None),
            (Some(count), Some([low, high])) => match usize::try_from(count) {
                Ok(count) if count > 0 && low == high => Ok(Some((count, low - 0.5, high + 0.5))),
                Ok(count) if count > 0 && low < high => Ok(Some((count, *low, *high))),
                Ok(count) if count > 0 => wrong("a lower and an upper bound", format!("{low} and {high}")),
                _ => Err(bad_attribute("_histogram", "bin_cnt", "at least 1", count)),
            },
            (Some(_), Some(range)) => wrong("two bounds", format!("{} numbers", range.len())),
            (Some(_), None) => wrong("two bounds with `bin_cnt`", "None".into()),
            (None, Some(_)) => wrong("None without `bin_cnt`", "bounds".into()),
        }
    }
}

/// Defines the operator `_histogram`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npi_histogram"],
        precision_float16: Some(Precision::follows),
        summary: "numbers of elements in bins",
        inputs: InputNames::ByParams {
            all: &["data", "bins"],
            chosen: |params| match params.get::<HistogramParams>().bin_cnt {
                Some(_) => vec!["data"],
                None => vec!["data", "bins"],
            },
        },
        n_outputs: OutputCount::Fixed(2),
        n_visible: OutputCount::Fixed(2),
        output_names: &["output0", "output1"],
        infer_shape,
        infer_dtype: |_, inputs, outputs| {
            let [counts, bounds] = outputs else { return Ok(()) };
            learn_dtype(counts, DType::I64, "output")?;
            unify_dtypes(inputs.iter_mut().chain([bounds]), "bins")
        },
        dtypes: NUMBERS,
        accuracy: Accuracy::Elementwise,
        gradient: Gradient::Zero,
        reference: Some(run),
        samples: || {
            let even = [("bin_cnt", "4"), ("range", "(-0.5, 1)")];
            let bounds = Fill::Values(vec![-0.75, -0.5, 0.0, 0.75]);
            vec![
                Sample::new("even", even, &[&[3, 5]]),
                Sample::plain("bounds", &[&[3, 5], &[4]]).fill(1, bounds),
                Sample::new("whole", [("bin_cnt", "3"), ("range", "(0, 6)")], &[&[8]]).fill(0, Fill::Integers(0, 7)),
                Sample::new("empty", even, &[&[0, 3]]),
            ]
        },
        ..OpDef::new("_histogram").params::<HistogramParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [counts, bounds] = outputs else { return Ok(()) };
    let n_bounds = match (params.get::<HistogramParams>().even()?, &mut inputs[1..]) {
        (Some((count, ..)), _) => Some(count + 1),
        (None, [bins]) => {
            require_ndim(bins, 1, "bins")?;
            unify(bins, bounds, "output")?;
            bins.dim(0)
        }
        _ => None,
    };
    match n_bounds {
        Some(n) if n < 2 => Err(Error::shape(OP, "bins", "at least two bounds", format!("({n},)"))),
        Some(n) => {
            learn(counts, &PartialShape::new([Some(n - 1)]), "output")?;
            learn(bounds, &PartialShape::new([Some(n)]), "output")
        }
        None => Ok(()),
    }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let dtype = inputs[0].desc.dtype;
    let bounds: Vec<f64> = match params.get::<HistogramParams>().even()? {
        Some((count, low, high)) => {
            let n = count as f64;
            let bound = |i: usize| (high * i as f64 + (n - i as f64) * low) / n;
            (0..=count).map(|i| numeric::rounded_to(dtype, bound(i))).collect()
        }
        None => numeric::read(&inputs[1]),
    };
    let Some((last, lower)) = bounds.split_last() else { return Ok(()) };
    let mut counts = vec![0i64; lower.len()];
    for x in numeric::read(&inputs[0]) {
        // The number of bins whose lower bound the element reaches.
        let reached = lower.partition_point(|bound| *bound <= x);
        if reached > 0 && x <= *last {
            counts[reached - 1] += 1;
        }
    }
    numeric::write_integers(&mut outputs[0], &counts);
    numeric::write(&mut outputs[1], &bounds);
    Ok(())
}
