//! Counts how often each number from 0 on occurs in a vector: element `i` of the result is the number of elements `i`, or the
//! sum of their weights. The result has at least `minlength` elements.
//!
//! Gradient: zero, as in MXNet.
//!
//! MXNet: `_npi_bincount`. Dtypes: u8 i8 i32 i64; weights of any number type. The result has the type of the weights, or of the
//! data if there are none.

use super::{expect_size, size};
use crate::inference::{bad_attribute, learn, learn_dtype, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Accuracy, Attrs, ByValues, Fill, Gradient, InputNames, OpDef, OpParams, Parameters, Precision, RefInput, RefOutput,
    ResolvedCall, RunMode, Sample, elements, op_params,
};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};
use std::collections::BTreeMap;

const NAME: &str = "_npi_bincount";
const SIZED: &str = "_bincount_sized";
const INPUTS: &[&str] = &["data", "weights"];
const INTEGERS: &[DType] = &[DType::I32, DType::I64, DType::U8, DType::I8];

op_params! {
    /// Parameters of `_npi_bincount`.
    pub struct BincountParams for "_npi_bincount" {
        /// Least number of elements of the result.
        minlength: i32 = 0,
        /// Whether the call has weights.
        has_weights: bool = false,
    }
}

op_params! {
    /// Parameters of `_bincount_sized`.
    pub struct SizedParams for "_bincount_sized" {
        /// Whether the call has weights.
        has_weights: bool = false,
        /// Number of elements of the result.
        size: i64,
    }
}

fn infer_shape(size: Option<usize>, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let (data, weights) = inputs.split_at_mut(1);
    learn(&mut data[0], &PartialShape::of_rank(1), "data")?;
    weights.iter_mut().try_for_each(|weights| unify(&mut data[0], weights, "weights"))?;
    learn(&mut outputs[0], &PartialShape::new([size]), "output")
}

/// The operator and the companion, without what differs between them.
fn shared<P: Parameters>(name: &'static str, chosen: fn(&OpParams) -> Vec<&'static str>) -> OpDef {
    OpDef {
        summary: "how often each number from 0 on occurs",
        inputs: InputNames::ByParams { all: INPUTS, chosen },
        infer_dtype: |_, inputs, outputs| match inputs {
            [data, weights] => {
                learn_dtype(data, data.unwrap_or(DType::I32), "data")?;
                unify_dtypes([weights, &mut outputs[0]], "weights")
            }
            _ => unify_dtypes(inputs.iter_mut().chain(outputs), "output"),
        },
        dtypes: INTEGERS,
        gradient: Gradient::Zero,
        precision: Precision::follows,
        accuracy: Accuracy::Reduction,
        ..OpDef::new(name).params::<P>()
    }
}

fn names(has_weights: bool) -> Vec<&'static str> {
    INPUTS[..1 + usize::from(has_weights)].to_vec()
}

/// Defines the operator `_npi_bincount`.
pub fn define() -> OpDef {
    OpDef {
        infer_shape: |_, inputs, outputs| infer_shape(None, inputs, outputs),
        by_values: Some(ByValues { input: 0, resolve }),
        companions: || vec![sized()],
        ..shared::<BincountParams>(NAME, |params| names(params.get::<BincountParams>().has_weights))
    }
}

fn resolve(params: &OpParams, inputs: &[RefInput<'_>]) -> Result<ResolvedCall> {
    let params: &BincountParams = params.get();
    let least = u64::try_from(params.minlength)
        .map_err(|_| bad_attribute(NAME, "minlength", "no negative number", params.minlength))?;
    let largest = places(&inputs[0])?.max();
    let size = largest.map_or(0, |largest| largest + 1).max(least);
    if size > Shape::MAX_ELEMENTS as u64 {
        let expected = format!("numbers below {}, the most elements of an array", Shape::MAX_ELEMENTS);
        return Err(Error::invalid("an element to count", size - 1, expected));
    }
    let has_weights = if params.has_weights { "True" } else { "False" };
    let attrs = Attrs::from([("has_weights", has_weights.to_owned()), ("size", size.to_string())]);
    Ok(ResolvedCall { op: SIZED, attrs })
}

/// The elements of data, none of which may be negative.
fn places(data: &RefInput<'_>) -> Result<impl Iterator<Item = u64> + use<>> {
    let values = numeric::read_integers(data);
    match values.iter().find(|value| **value < 0) {
        Some(negative) => Err(Error::invalid("an element to count", negative, "no negative number")),
        None => Ok(values.into_iter().map(|value| value as u64)),
    }
}

/// Takes the place of `_npi_bincount` when the size of the result is known.
fn sized() -> OpDef {
    OpDef {
        infer_shape: |params, inputs, outputs| {
            infer_shape(Some(size(SIZED, params.get::<SizedParams>().size)?), inputs, outputs)
        },
        reference: Some(run),
        samples: || {
            let of = |name, attrs, values: &[f64]| {
                let n = values.len();
                Sample::new(name, attrs, &[&[n], &[n]]).fill(0, Fill::Values(values.to_vec())).dtype(1, DType::F32)
            };
            let without_weights = |mut sample: Sample| {
                sample.inputs.truncate(1);
                sample
            };
            let plain = [("has_weights", "False"), ("size", "6")];
            vec![
                without_weights(of("counts", plain, &[0.0, 1.0, 1.0, 5.0])),
                without_weights(of("longer", plain, &[2.0, 0.0])),
                of("sums", [("has_weights", "True"), ("size", "4")], &[0.0, 1.0, 1.0, 3.0]),
                without_weights(of("empty", [("has_weights", "False"), ("size", "0")], &[])),
            ]
        },
        ..shared::<SizedParams>(SIZED, |params| names(params.get::<SizedParams>().has_weights))
    }
}

fn run(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let n = outputs[0].desc.shape[0];
    let places: Vec<u64> = places(&inputs[0])?.collect();
    let needed = places.iter().max().map_or(0, |largest| *largest as usize + 1);
    if needed > n {
        expect_size(SIZED, n, needed)?;
    }
    // Sums of the places that occur: the result may be much larger than the data.
    let out = &mut outputs[0];
    out.bytes.fill(0);
    let (dtype, size_of) = (out.desc.dtype, out.desc.dtype.size_of());
    let slot = |place: u64| place as usize * size_of..(place as usize + 1) * size_of;
    match inputs.get(1) {
        Some(weights) if dtype.is_float() => {
            let mut sums: BTreeMap<u64, f64> = BTreeMap::new();
            let terms = places.iter().zip(numeric::read(weights));
            terms.for_each(|(place, weight)| *sums.entry(*place).or_default() += weight);
            sums.into_iter().for_each(|(place, sum)| elements::write_f64(&[sum], dtype, &mut out.bytes[slot(place)]));
        }
        weights => {
            let weights = weights.map_or_else(|| vec![1; places.len()], numeric::read_integers);
            let mut sums: BTreeMap<u64, i64> = BTreeMap::new();
            for (place, weight) in places.iter().zip(weights) {
                let sum = sums.entry(*place).or_default();
                *sum = sum.wrapping_add(weight);
            }
            sums.into_iter().for_each(|(place, sum)| elements::write_i64(&[sum], dtype, &mut out.bytes[slot(place)]));
        }
    }
    Ok(())
}
