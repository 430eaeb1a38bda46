//! Greedy matching of rows and columns by their scores [..., n, m]: the pair with the best score is matched first, and each
//! row and each column is matched at most once. A pair is matched only if its score is above `threshold`. With `is_ascend`
//! the lowest score is the best, and must be below `threshold`. The outputs are the column of each row, [..., n], and the
//! row of each column, [..., m]; both are -1 where nothing is matched.
//!
//! Gradient: 0.
//!
//! MXNet: `_contrib_bipartite_matching`. Dtypes: f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::inference::{OP, learn};
use crate::numeric;
use mxrs_op::{Gradient, OpDef, OutputCount, Precision, Sample, op_params};
use mxrs_types::{Error, PartialShape};

op_params! {
    /// Parameters of `_contrib_bipartite_matching`.
    pub struct MatchingParams for "_contrib_bipartite_matching" {
        /// Whether the lowest scores are the best.
        is_ascend: bool = false,
        /// Scores that are not better than this number are not matched.
        threshold: f32,
        /// MXNet matches one pair more than this number; as many as possible if it is not positive.
        topk: i32 = -1,
    }
}

/// Defines the operator `_contrib_bipartite_matching`.
pub fn define() -> OpDef {
    OpDef {
        summary: "greedy matching of rows and columns",
        n_outputs: OutputCount::Fixed(2),
        n_visible: OutputCount::Fixed(2),
        output_names: &["output0", "output1"],
        infer_shape: |_, inputs, outputs| {
            let Some(dims) = inputs[0].dims() else { return Ok(()) };
            let [outer @ .., n, m] = dims else {
                return Err(Error::shape(OP, "data", "at least 2 axes", &inputs[0]));
            };
            for (output, size) in outputs.iter_mut().zip([n, m]) {
                learn(output, &PartialShape::new(outer.iter().chain([size]).copied()), "output")?;
            }
            Ok(())
        },
        infer_dtype: |_, inputs, outputs| crate::inference::unify_dtypes(inputs.iter_mut().chain(outputs), "output"),
        dtypes: FLOATS,
        gradient: Gradient::Zero,
        reference: Some(|params, inputs, outputs, _| {
            let params: &MatchingParams = params.get();
            let [.., n, m] = *inputs[0].desc.shape else { return Ok(()) };
            let data = numeric::read(&inputs[0]);
            let [mut rows, mut columns] = [0, 1].map(|i: usize| vec![-1.0; outputs[i].desc.shape.n_elements()]);
            for (batch, scores) in data.chunks_exact((n * m).max(1)).enumerate() {
                let mut order: Vec<usize> = (0..scores.len()).collect();
                order.sort_by(|a, b| {
                    let order = scores[*a].total_cmp(&scores[*b]);
                    if params.is_ascend { order } else { order.reverse() }
                });
                let (rows, columns) = (&mut rows[batch * n..][..n], &mut columns[batch * m..][..m]);
                let mut count = 0;
                for at in order {
                    let (row, column, threshold) = (at / m, at % m, f64::from(params.threshold));
                    if rows[row] >= 0.0 || columns[column] >= 0.0 {
                        continue;
                    }
                    let is_better = if params.is_ascend { scores[at] < threshold } else { scores[at] > threshold };
                    if !is_better || (params.topk > 0 && count > params.topk) {
                        break;
                    }
                    (rows[row], columns[column]) = (column as f64, row as f64);
                    count += 1;
                }
            }
            numeric::write(&mut outputs[0], &rows);
            numeric::write(&mut outputs[1], &columns);
            Ok(())
        }),
        samples: || {
            let low = ("threshold", "0.1");
            vec![
                Sample::new("matrix", [low], &[&[3, 4]]),
                Sample::new("ascending", [low, ("is_ascend", "True")], &[&[2, 4, 3]]),
                Sample::new("two", [("threshold", "-1"), ("topk", "2")], &[&[4, 3]]),
                Sample::new("empty", [low], &[&[0, 3]]),
            ]
        },
        precision_float16: Some(Precision::follows),
        ..OpDef::new("_contrib_bipartite_matching").params::<MatchingParams>()
    }
}
