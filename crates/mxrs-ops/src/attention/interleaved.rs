//! Products of multi-head attention on tensors whose last axis holds, for each head, its queries, keys and values side by
//! side.
//!
//! Sizes: t queries, s keys, n examples, h heads (the parameter `heads`), and d elements of each query, key and value.
//!
//! - `_contrib_interleaved_matmul_selfatt_qk`: from queries, keys and values `[t, n, 3 · h · d]`, computes the products of
//!   the queries, divided by √d, with the keys: scores `[n · h, t, t]`.
//! - `_contrib_interleaved_matmul_selfatt_valatt`: from the same tensor and attention weights `[n · h, t, t]`, computes the
//!   weighted sums of the values: `[t, n, h · d]`.
//! - `_contrib_interleaved_matmul_encdec_qk`: from queries `[t, n, h · d]`, and keys and values `[s, n, 2 · h · d]`,
//!   computes scores `[n · h, t, s]`.
//! - `_contrib_interleaved_matmul_encdec_valatt`: from keys and values, and attention weights `[n · h, t, s]`, computes the
//!   weighted sums of the values: `[t, n, h · d]`.
//!
//! All inputs have a gradient.
//!
//! Dtypes: f32 f64 f16 bf16.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{OP, bad_attribute, learn, learn_dim, require_ndim};
use mxrs_op::{DescribeProducts, Matrices, OpCall, OpDef, OpParams, Precision, Products, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of the products.
    pub struct HeadsParams for "_contrib_interleaved_matmul_selfatt_qk" {
        /// Number of heads.
        heads: i32,
    }
}

impl HeadsParams {
    fn heads(&self) -> Result<usize> {
        match usize::try_from(self.heads) {
            Ok(heads) if heads > 0 => Ok(heads),
            _ => Err(bad_attribute("interleaved_matmul", "heads", "a positive number", self.heads)),
        }
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[
    formula::define::<SelfQk>,
    formula::define::<SelfValues>,
    formula::define::<CrossQk>,
    formula::define::<CrossValues>,
];

/// `size` divided by `by`; `None` if `size` is unknown, an error if it is not a multiple of `by`.
fn divided(size: Option<usize>, by: usize, shape: &PartialShape) -> Result<Option<usize>> {
    match size {
        Some(size) if !size.is_multiple_of(by) => {
            Err(Error::shape(OP, "data", format!("a multiple of {by} elements on the last axis"), shape))
        }
        size => Ok(size.map(|size| size / by)),
    }
}

fn times(size: Option<usize>, by: usize) -> Option<usize> {
    size.and_then(|size| size.checked_mul(by))
}

/// Infers the shape `[n · h, t, s]` of scores of tensors `[t, n, …]` and `[s, n, …]`.
fn infer_scores(
    heads: usize,
    queries: &mut PartialShape,
    keys: &mut PartialShape,
    scores: &mut PartialShape,
) -> Result<()> {
    require_ndim(queries, 3, "queries")?;
    require_ndim(keys, 3, "keys_values")?;
    require_ndim(scores, 3, "attention")?;
    learn_dim(keys, 1, queries.dim(1), "keys_values")?;
    learn_dim(queries, 1, keys.dim(1), "queries")?;
    let sizes = [times(queries.dim(1), heads), queries.dim(0), keys.dim(0)];
    learn(scores, &PartialShape::new(sizes), "attention")?;
    learn_dim(queries, 0, scores.dim(1), "queries")?;
    learn_dim(keys, 0, scores.dim(2), "keys_values")
}

/// One element of the scores: the product of a query and a key. `q` and `k` say where queries and keys are: into how many
/// parts each head of an input is split, the number of the part, and the number of the input.
fn score<T: Number>(params: &HeadsParams, tensors: &Tensors<'_, T>, part: usize, [q, k]: [[usize; 3]; 2]) -> Result<T> {
    let heads = params.heads()?;
    let out = &tensors.outputs[0];
    let (which, i, j) = (part / (out[1] * out[2]), part / out[2] % out[1], part % out[2]);
    let element = |[n_parts, of_part, input]: [usize; 3], row: usize, at: usize| {
        let shape = &tensors.inputs[input];
        let size = shape[2] / (heads * n_parts);
        let first = ((row * shape[1] + which / heads) * heads + which % heads) * n_parts + of_part;
        tensors.at(input, first * size + at)
    };
    let size = tensors.inputs[q[2]][2] / (heads * q[0]);
    let root = T::of((size as f64).sqrt());
    Ok((0..size).fold(T::of(0.0), |sum, at| sum + element(q, i, at) / root * element(k, j, at)))
}

/// One element of the result: the sum of values weighted with the attention of input 1. The values are the last of the
/// `n_parts` parts of each head of input 0.
fn value<T: Number>(params: &HeadsParams, tensors: &Tensors<'_, T>, part: usize, n_parts: usize) -> Result<T> {
    let heads = params.heads()?;
    let (values, attention, out) = (&tensors.inputs[0], &tensors.inputs[1], &tensors.outputs[0]);
    let (i, batch, rest) = (part / (out[1] * out[2]), part / out[2] % out[1], part % out[2]);
    let size = out[2] / heads;
    let (head, at) = (rest / size, rest % size);
    Ok((0..attention[2]).fold(T::of(0.0), |sum, j| {
        let first = ((j * values[1] + batch) * heads + head) * n_parts + n_parts - 1;
        let weight = tensors.at(1, ((batch * heads + head) * attention[1] + i) * attention[2] + j);
        sum + weight * tensors.at(0, first * size + at)
    }))
}

/// Describes part number `of_part` of each head of a tensor `[t, n, h · n_parts · d]`, whose heads have `n_parts` parts each
/// (queries, keys or values). The part is a matrix `[t, d]` for each of the n examples and h heads.
fn parts(tensor: usize, shape: &Shape, heads: usize, [n_parts, of_part]: [usize; 2]) -> Matrices {
    let size = shape[2] / (heads * n_parts);
    let batch = vec![heads * n_parts * size, n_parts * size];
    Matrices { tensor, start: of_part * size, batch, row: shape[1] * shape[2], column: 1 }
}

/// Scores `[n · h, t, s]`: a matrix `[t, s]` for each head.
fn scores(tensor: usize, shape: &Shape, heads: usize) -> Matrices {
    let matrix = shape[1] * shape[2];
    Matrices { tensor, start: 0, batch: vec![heads * matrix, matrix], row: shape[2], column: 1 }
}

/// Describes the products of queries and keys. `q` and `k` say where they are: into how many parts each head of an input is
/// split, the number of the part, and the number of the input.
fn products_qk(call: &OpCall<'_>, [q, k]: [[usize; 3]; 2]) -> Option<Products> {
    let heads = call.params.get::<HeadsParams>().heads().ok()?;
    let (queries, keys, out) = (&call.inputs[q[2]].shape, &call.inputs[k[2]].shape, &call.outputs[0].shape);
    let terms = queries[2] / (heads * q[0]);
    Some(Products {
        batch: vec![queries[1], heads],
        rows: out[1],
        columns: out[2],
        terms,
        left: parts(q[2], queries, heads, [q[0], q[1]]),
        right: parts(k[2], keys, heads, [k[0], k[1]]).transposed(),
        result: scores(0, out, heads),
        factor: (terms as f64).sqrt().recip(),
    })
}

/// Describes the products of attention weights and values. The values are the last of the `n_parts` parts of each head.
fn products_values(call: &OpCall<'_>, n_parts: usize) -> Option<Products> {
    let heads = call.params.get::<HeadsParams>().heads().ok()?;
    let (values, attention, out) = (&call.inputs[0].shape, &call.inputs[1].shape, &call.outputs[0].shape);
    Some(Products {
        batch: vec![values[1], heads],
        rows: attention[1],
        columns: out[2] / heads,
        terms: attention[2],
        left: scores(1, attention, heads),
        right: parts(0, values, heads, [n_parts, n_parts - 1]),
        result: parts(0, out, heads, [1, 0]),
        factor: 1.0,
    })
}

struct SelfQk;

impl Formula for SelfQk {
    type Params = HeadsParams;
    const NAME: &'static str = "_contrib_interleaved_matmul_selfatt_qk";
    const SUMMARY: &'static str = "products of queries and keys";
    const BACKWARD: &'static str = "_backward_interleaved_matmul_selfatt_qk";
    const PRODUCTS: Option<DescribeProducts> = Some(|call| products_qk(call, [[3, 0, 0], [3, 1, 0]]));
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::widest);
    const INPUTS: &'static [&'static str] = &["queries_keys_values"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "queries_keys_values"];

    fn infer_shape(params: &HeadsParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let heads = params.heads()?;
        divided(inputs[0].dim(2), 3usize.saturating_mul(heads), &inputs[0])?;
        let mut keys = inputs[0].clone();
        infer_scores(heads, &mut inputs[0], &mut keys, &mut outputs[0])?;
        learn(&mut inputs[0], &keys, "queries_keys_values")
    }

    fn part<T: Number>(params: &HeadsParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        emit(0, part, score(params, tensors, part, [[3, 0, 0], [3, 1, 0]])?);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, heads, shape: &[usize]| Sample::new(name, [("heads", heads)], &[shape]);
        vec![
            of("two", "2", &[3, 2, 12]),
            of("one", "1", &[2, 1, 6]),
            of("small", "1", &[1, 1, 3]),
            of("empty", "2", &[2, 0, 6]),
        ]
    }
}

struct SelfValues;

impl Formula for SelfValues {
    type Params = HeadsParams;
    const NAME: &'static str = "_contrib_interleaved_matmul_selfatt_valatt";
    const SUMMARY: &'static str = "values weighted with attention";
    const BACKWARD: &'static str = "_backward_interleaved_matmul_selfatt_valatt";
    const PRODUCTS: Option<DescribeProducts> = Some(|call| products_values(call, 3));
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::widest);
    const INPUTS: &'static [&'static str] = &["queries_keys_values", "attention"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "queries_keys_values", "attention"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1];

    fn infer_shape(params: &HeadsParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([data, attention], [out]) = (inputs, outputs) else { return Ok(()) };
        let heads = params.heads()?;
        let size = divided(data.dim(2), 3usize.saturating_mul(heads), data)?;
        let mut keys = data.clone();
        infer_scores(heads, data, &mut keys, attention)?;
        learn(data, &keys, "queries_keys_values")?;
        learn(out, &PartialShape::new([data.dim(0), data.dim(1), times(size, heads)]), "output")?;
        learn(data, &PartialShape::new([out.dim(0), out.dim(1), times(out.dim(2), 3)]), "queries_keys_values")
    }

    fn part<T: Number>(params: &HeadsParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        emit(0, part, value(params, tensors, part, 3)?);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, heads, data: &[usize], attention: &[usize]| {
            Sample::new(name, [("heads", heads)], &[data, attention])
        };
        vec![
            of("two", "2", &[3, 2, 12], &[4, 3, 3]),
            of("one", "1", &[2, 1, 6], &[1, 2, 2]),
            of("small", "1", &[1, 1, 3], &[1, 1, 1]),
            of("empty", "2", &[2, 0, 6], &[0, 2, 2]),
        ]
    }
}

struct CrossQk;

impl Formula for CrossQk {
    type Params = HeadsParams;
    const NAME: &'static str = "_contrib_interleaved_matmul_encdec_qk";
    const SUMMARY: &'static str = "products of queries and keys";
    const BACKWARD: &'static str = "_backward_interleaved_matmul_encdec_qk";
    const PRODUCTS: Option<DescribeProducts> = Some(|call| products_qk(call, [[1, 0, 0], [2, 0, 1]]));
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::widest);
    const INPUTS: &'static [&'static str] = &["queries", "keys_values"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "queries", "keys_values"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1];

    fn infer_shape(params: &HeadsParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([queries, keys], [out]) = (inputs, outputs) else { return Ok(()) };
        let heads = params.heads()?;
        infer_scores(heads, queries, keys, out)?;
        divided(queries.dim(2), heads, queries)?;
        let size = divided(keys.dim(2), 2usize.saturating_mul(heads), keys)?;
        learn_dim(keys, 2, times(queries.dim(2), 2), "keys_values")?;
        learn_dim(queries, 2, times(size, heads), "queries")
    }

    fn part<T: Number>(params: &HeadsParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        emit(0, part, score(params, tensors, part, [[1, 0, 0], [2, 0, 1]])?);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of =
            |name, heads, queries: &[usize], keys: &[usize]| Sample::new(name, [("heads", heads)], &[queries, keys]);
        vec![
            of("two", "2", &[3, 2, 4], &[2, 2, 8]),
            of("one", "1", &[2, 1, 2], &[3, 1, 4]),
            of("small", "1", &[1, 1, 1], &[1, 1, 2]),
            of("empty", "2", &[2, 0, 2], &[3, 0, 4]),
        ]
    }
}

struct CrossValues;

impl Formula for CrossValues {
    type Params = HeadsParams;
    const NAME: &'static str = "_contrib_interleaved_matmul_encdec_valatt";
    const SUMMARY: &'static str = "values weighted with attention";
    const BACKWARD: &'static str = "_backward_interleaved_matmul_encdec_valatt";
    const PRODUCTS: Option<DescribeProducts> = Some(|call| products_values(call, 2));
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::widest);
    const INPUTS: &'static [&'static str] = &["keys_values", "attention"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "keys_values", "attention"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1];

    fn infer_shape(params: &HeadsParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([data, attention], [out]) = (inputs, outputs) else { return Ok(()) };
        let heads = params.heads()?;
        let size = divided(data.dim(2), 2usize.saturating_mul(heads), data)?;
        let mut queries = PartialShape::new([out.dim(0), data.dim(1), None]);
        infer_scores(heads, &mut queries, data, attention)?;
        learn(out, &PartialShape::new([queries.dim(0), data.dim(1), times(size, heads)]), "output")?;
        learn_dim(data, 1, out.dim(1), "keys_values")?;
        learn_dim(data, 2, times(out.dim(2), 2), "keys_values")
    }

    fn part<T: Number>(params: &HeadsParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        emit(0, part, value(params, tensors, part, 2)?);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, heads, data: &[usize], attention: &[usize]| {
            Sample::new(name, [("heads", heads)], &[data, attention])
        };
        vec![
            of("two", "2", &[2, 2, 8], &[4, 3, 2]),
            of("one", "1", &[3, 1, 4], &[1, 2, 3]),
            of("small", "1", &[1, 1, 2], &[1, 1, 1]),
            of("empty", "2", &[3, 0, 4], &[0, 2, 3]),
        ]
    }
}
