//! Draws distinct classes of a log-uniform distribution: class `k` of `range_max` has the probability
//! `ln((k + 2) / (k + 1)) / ln(range_max + 1)`, approximately. A shape (n, m) gives two outputs: `[n, m]`, where each row
//! holds m distinct classes in the order in which they were drawn; and `[n]`, the number of draws that each row needed,
//! repeated classes included.
//!
//! Gradient: none, because there is nothing to differentiate.
//!
//! MXNet: `_sample_unique_zipfian`. Dtype: i64. The numbers differ from MXNet's, the distribution does not.

use crate::families::draws::Stream;
use crate::inference::{OP, bad_attribute, learn, learn_dtype, require_ndim};
use crate::init::full::ShapeOrNone;
use crate::numeric;
use mxrs_op::{Gradient, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result};
use std::collections::HashSet;

op_params! {
    /// Parameters of `_sample_unique_zipfian`.
    pub struct ZipfianParams for "_sample_unique_zipfian" {
        /// Number of classes.
        range_max: i32,
        /// Number of rows, and number of distinct classes in each; inferred from where the output is used if absent.
        shape: ShapeOrNone = ShapeOrNone(None),
    }
}

/// Defines the operator `_sample_unique_zipfian`.
pub fn define() -> OpDef {
    OpDef {
        summary: "distinct classes of a log-uniform distribution",
        inputs: InputNames::Fixed(&[]),
        n_outputs: OutputCount::Fixed(2),
        n_visible: OutputCount::Fixed(2),
        output_names: &["output0", "output1"],
        infer_shape,
        infer_dtype: |_, _, outputs| outputs.iter_mut().try_for_each(|dtype| learn_dtype(dtype, DType::I64, "output")),
        dtypes: &[DType::I64],
        is_random: |_, _| true,
        gradient: Gradient::Zero,
        reference: Some(run),
        samples: || {
            let of = |name, shape| Sample::new(name, [("range_max", "5"), ("shape", shape)], &[]);
            vec![of("some", "(3, 2)"), of("all", "(2, 5)"), of("one", "(1, 1)"), of("empty", "(0, 2)")]
        },
        ..OpDef::new("_sample_unique_zipfian").params::<ZipfianParams>()
    }
}

fn infer_shape(params: &OpParams, _: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params: &ZipfianParams = params.get();
    if params.range_max < 1 {
        return Err(bad_attribute("_sample_unique_zipfian", "range_max", "at least one class", params.range_max));
    }
    let [classes, tries] = outputs else { return Ok(()) };
    require_ndim(classes, 2, "output0")?;
    if let Some(shape) = &params.shape.0 {
        let wrong = || bad_attribute("_sample_unique_zipfian", "shape", "two sizes", shape.to_text());
        let [rows, columns] = shape.0.as_slice() else { return Err(wrong()) };
        let size = |size: i64| usize::try_from(size).map(Some).map_err(|_| wrong());
        learn(classes, &PartialShape::new([size(*rows)?, size(*columns)?]), "output0")?;
    }
    if let Some(columns) = classes.dim(1).filter(|columns| *columns > params.range_max as usize) {
        let expected = format!("at most {} distinct classes in a row", params.range_max);
        return Err(Error::shape(OP, "output0", expected, columns));
    }
    learn(tries, &PartialShape::new([classes.dim(0)]), "output1")
}

fn run(params: &OpParams, _: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    let random = mode.random.ok_or_else(|| Error::invalid("random numbers", "none", "a seed and a number"))?;
    let logarithm = f64::from(params.get::<ZipfianParams>().range_max).ln();
    let (rows, columns) = (outputs[0].desc.shape[0], outputs[0].desc.shape[1]);
    let (mut classes, mut tries) = (Vec::with_capacity(rows * columns), Vec::with_capacity(rows));
    for row in 0..rows {
        let mut stream = Stream::new(random, row);
        let (mut found, mut n_tries) = (HashSet::with_capacity(columns), 0);
        while found.len() < columns {
            let class = (stream.uniform() * logarithm).exp().round() as i64 - 1;
            if found.insert(class) {
                classes.push(class);
            }
            n_tries += 1;
        }
        tries.push(n_tries);
    }
    numeric::write_integers(&mut outputs[0], &classes);
    numeric::write_integers(&mut outputs[1], &tries);
    Ok(())
}
