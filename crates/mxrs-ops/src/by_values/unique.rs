//! The distinct elements of the flattened data, or the distinct slices of an axis, in ascending order. Further outputs, if they are
//! requested, are vectors of i64: the first position of each in data, the place of each element of data in the result, and how often
//! each occurs.
//!
//! Slices are ordered by their first elements that differ. NaN is the largest number, and all NaN are the same; so are 0 and -0.
//!
//! Gradient: zero.
//!
//! MXNet: `_npi_unique`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use super::{expect_at_most, expect_size, size};
use crate::families::indexing::around_axis;
use crate::inference::{learn, learn_dtype, resolve_axis, unify_dtypes};
use crate::{dtypes::MOVABLE, numeric};
use mxrs_op::{
    Attrs, ByValues, Fill, Gradient, InputNames, OpDef, OpParams, OutputCount, Precision, RefInput, RefOutput,
    ResolvedCall, RunMode, Sample, op_params,
};
use mxrs_types::{DType, PartialShape, Result, Shape};

const SIZED: &str = "_unique_sized";

op_params! {
    /// Parameters of `_npi_unique`.
    pub struct UniqueParams for "_npi_unique" {
        /// Whether to return the first position of each distinct element.
        return_index: bool = false,
        /// Whether to return the place of each element of data in the result.
        return_inverse: bool = false,
        /// Whether to return how often each distinct element occurs.
        return_counts: bool = false,
        /// Axis whose slices are compared; the flattened data if absent.
        axis: Option<i32> = None,
    }
}

op_params! {
    /// Parameters of `_unique_sized`.
    pub struct SizedParams for "_unique_sized" {
        /// Whether to return the first position of each distinct element.
        return_index: bool = false,
        /// Whether to return the place of each element of data in the result.
        return_inverse: bool = false,
        /// Whether to return how often each distinct element occurs.
        return_counts: bool = false,
        /// Axis whose slices are compared; the flattened data if absent.
        axis: Option<i32> = None,
        /// Number of distinct elements.
        size: i64,
    }
}

/// What a call returns besides the distinct elements, and the axis.
#[derive(Clone, Copy)]
struct Wanted {
    index: bool,
    inverse: bool,
    counts: bool,
    axis: Option<i32>,
}

impl Wanted {
    fn of_unique(params: &OpParams) -> Self {
        let params: &UniqueParams = params.get();
        let [index, inverse, counts] = [params.return_index, params.return_inverse, params.return_counts];
        Self { index, inverse, counts, axis: params.axis }
    }

    fn of_sized(params: &OpParams) -> Self {
        let params: &SizedParams = params.get();
        let [index, inverse, counts] = [params.return_index, params.return_inverse, params.return_counts];
        Self { index, inverse, counts, axis: params.axis }
    }

    fn n_outputs(self) -> usize {
        1 + usize::from(self.index) + usize::from(self.inverse) + usize::from(self.counts)
    }

    /// Number of slices before, of and after the axis.
    fn around(self, data: &Shape) -> Result<(usize, usize, usize)> {
        match self.axis {
            None => Ok((1, data.n_elements(), 1)),
            Some(axis) => Ok(around_axis(data, resolve_axis(i64::from(axis), data.ndim(), "data")?)),
        }
    }

    fn infer_shape(self, size: Option<usize>, inputs: &[PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let Some(data) = inputs[0].dims() else { return Ok(()) };
        let (n, dims) = match self.axis {
            None => (crate::inference::product(data), vec![size]),
            Some(axis) => {
                let axis = resolve_axis(i64::from(axis), data.len(), "data")?;
                let mut dims = data.to_vec();
                (std::mem::replace(&mut dims[axis], size), dims)
            }
        };
        learn(&mut outputs[0], &PartialShape::new(dims), "output")?;
        let sizes = [(self.index, size), (self.inverse, n), (self.counts, size)];
        let sizes = sizes.into_iter().filter(|(is_wanted, _)| *is_wanted);
        outputs[1..]
            .iter_mut()
            .zip(sizes)
            .try_for_each(|(output, (_, size))| learn(output, &PartialShape::new([size]), "output"))
    }
}

/// The distinct slices of data, in ascending order.
struct Groups {
    /// The first slice of each group of equal slices.
    first: Vec<usize>,
    /// The group of each slice; empty if it is not wanted.
    inverse: Vec<usize>,
    counts: Vec<usize>,
}

impl Groups {
    fn of(data: &RefInput<'_>, (outer, n, inner): (usize, usize, usize), wants_inverse: bool) -> Self {
        let inverse = |groups| if wants_inverse { vec![0; groups] } else { Vec::new() };
        if outer == 0 || inner == 0 {
            // All slices are equal, because they have no elements. There may be more than fit into memory.
            let n_groups = usize::from(n > 0);
            return Self { first: vec![0; n_groups], inverse: inverse(n), counts: vec![n; n_groups] };
        }
        let keys = keys(data);
        let slice = |i: usize| (0..outer).flat_map(move |o| (o * n + i) * inner..(o * n + i + 1) * inner);
        let compare = |a: usize, b: usize| slice(a).map(|at| keys[at]).cmp(slice(b).map(|at| keys[at]));
        let mut order: Vec<usize> = (0..n).collect();
        // A stable sort: the first slice of a group is the first one in data.
        order.sort_by(|a, b| compare(*a, *b));
        let mut groups = Self { first: Vec::new(), inverse: inverse(n), counts: Vec::new() };
        for i in order {
            match (groups.first.last(), groups.counts.last_mut()) {
                (Some(first), Some(count)) if compare(*first, i).is_eq() => *count += 1,
                _ => {
                    groups.first.push(i);
                    groups.counts.push(1);
                }
            }
            if let Some(group) = groups.inverse.get_mut(i) {
                *group = groups.first.len() - 1;
            }
        }
        groups
    }
}

/// A number for each element, in the order of the elements. Equal elements have equal numbers.
fn keys(data: &RefInput<'_>) -> Vec<i64> {
    if !data.desc.dtype.is_float() {
        return numeric::read_integers(data);
    }
    let key = |value: f64| {
        let value = if value.is_nan() { f64::NAN.abs() } else { value + 0.0 };
        let bits = value.to_bits() as i64;
        // The bits of negative numbers are in descending order.
        if bits < 0 { bits ^ i64::MAX } else { bits }
    };
    numeric::read(data).into_iter().map(key).collect()
}

/// The operator and the companion, without what differs between them.
fn shared(op: OpDef) -> OpDef {
    OpDef {
        summary: "distinct elements, in ascending order",
        inputs: InputNames::Fixed(&["data"]),
        infer_dtype: |_, inputs, outputs| {
            let (values, others) = outputs.split_at_mut(1);
            others.iter_mut().try_for_each(|other| learn_dtype(other, DType::I64, "output"))?;
            unify_dtypes(inputs.iter_mut().chain(values), "output")
        },
        dtypes: MOVABLE,
        gradient: Gradient::Zero,
        precision: Precision::follows,
        ..op
    }
}

/// Defines the operator `_npi_unique`.
pub fn define() -> OpDef {
    OpDef {
        n_outputs: OutputCount::ByParams(|params| Wanted::of_unique(params).n_outputs()),
        n_visible: OutputCount::ByParams(|params| Wanted::of_unique(params).n_outputs()),
        infer_shape: |params, inputs, outputs| Wanted::of_unique(params).infer_shape(None, inputs, outputs),
        by_values: Some(ByValues { input: 0, resolve }),
        companions: || vec![sized()],
        ..shared(OpDef::new("_npi_unique").params::<UniqueParams>())
    }
}

fn resolve(params: &OpParams, inputs: &[RefInput<'_>]) -> Result<ResolvedCall> {
    let wanted = Wanted::of_unique(params);
    let size = Groups::of(&inputs[0], wanted.around(&inputs[0].desc.shape)?, false).first.len();
    let flags = [("return_index", wanted.index), ("return_inverse", wanted.inverse), ("return_counts", wanted.counts)];
    let mut attrs: Attrs = flags.into_iter().map(|(name, is_wanted)| (name, u8::from(is_wanted).to_string())).collect();
    attrs.set("axis", wanted.axis.map_or("None".to_owned(), |axis| axis.to_string()));
    attrs.set("size", size.to_string());
    Ok(ResolvedCall { op: SIZED, attrs })
}

/// Takes the place of `_npi_unique` when the size of the result is known.
fn sized() -> OpDef {
    OpDef {
        n_outputs: OutputCount::ByParams(|params| Wanted::of_sized(params).n_outputs()),
        n_visible: OutputCount::ByParams(|params| Wanted::of_sized(params).n_outputs()),
        infer_shape: |params, inputs, outputs| {
            let (wanted, size) = (Wanted::of_sized(params), size(SIZED, params.get::<SizedParams>().size)?);
            wanted.infer_shape(Some(size), inputs, outputs)?;
            let n = inputs[0].known().map(|data| wanted.around(&data)).transpose()?;
            expect_at_most(SIZED, size, n.map(|(_, n, _)| n))
        },
        reference: Some(run),
        samples: || {
            let values = |sample: Sample, values: &[f64]| sample.fill(0, Fill::Values(values.to_vec()));
            let all = [("return_index", "1"), ("return_inverse", "1"), ("return_counts", "1")];
            let with = |axis, size| [all[0], all[1], all[2], ("axis", axis), ("size", size)];
            vec![
                values(Sample::new("vector", [("size", "2")], &[&[5]]), &[1.0, 0.0, 1.0, 1.0, 0.0]),
                values(Sample::new("all outputs", with("None", "2"), &[&[2, 2]]), &[1.0, 0.0, 0.0, 1.0]),
                values(Sample::new("rows", with("0", "2"), &[&[3, 2]]), &[1.0, 0.0, 0.0, 1.0, 1.0, 0.0]),
                values(Sample::new("columns", with("-1", "2"), &[&[2, 3]]), &[1.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
                values(Sample::new("counts", [("return_counts", "1"), ("size", "2")], &[&[3]]), &[0.0, 1.0, 0.0]),
                Sample::new("empty", [("size", "0")], &[&[0, 3]]),
            ]
        },
        ..shared(OpDef::new(SIZED).params::<SizedParams>())
    }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let wanted = Wanted::of_sized(params);
    let (outer, n, inner) = wanted.around(&inputs[0].desc.shape)?;
    let groups = Groups::of(&inputs[0], (outer, n, inner), wanted.inverse);
    expect_size(SIZED, size(SIZED, params.get::<SizedParams>().size)?, groups.first.len())?;
    let (values, others) = outputs.split_at_mut(1);
    let len = inner * values[0].desc.dtype.size_of();
    let sources = (0..outer).flat_map(|o| groups.first.iter().map(move |first| o * n + first));
    for (to, from) in values[0].bytes.chunks_exact_mut(len.max(1)).zip(sources) {
        to.copy_from_slice(&inputs[0].bytes[from * len..][..len]);
    }
    let lists = [(wanted.index, &groups.first), (wanted.inverse, &groups.inverse), (wanted.counts, &groups.counts)];
    let lists = lists.into_iter().filter(|(is_wanted, _)| *is_wanted);
    for (output, (_, list)) in others.iter_mut().zip(lists) {
        numeric::write_integers(output, &list.iter().map(|value| *value as i64).collect::<Vec<_>>());
    }
    Ok(())
}
