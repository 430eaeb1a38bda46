//! Copies rows to given places: `out = old_tensor`, but `out[index_vector[i]] = new_tensor[i]`. If an index is given twice, the
//! last row wins. Shapes: `old_tensor` `[n, …]`, `index_vector` `[m]`, `new_tensor` `[m, …]`.
//!
//! Gradient: `old_tensor` gets `ograd` outside the places, and each row of `new_tensor` that of its place.
//!
//! MXNet: `_contrib_index_copy`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool; indices i32 i64.

use crate::dtypes::MOVABLE;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{OP, learn_dim, require_ndim, unify, unify_dtypes};
use mxrs_op::param::NoParams;
use mxrs_op::{Accuracy, Fill, OpDef, OpParams, Precision, Sample};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

struct IndexCopy;

impl Formula for IndexCopy {
    type Params = NoParams;
    const NAME: &'static str = "_contrib_index_copy";
    const SUMMARY: &'static str = "a tensor with rows of another at given places";
    const BACKWARD: &'static str = "_backward_index_copy";
    const INPUTS: &'static [&'static str] = &["old_tensor", "index_vector", "new_tensor"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "old_tensor", "index_vector", "new_tensor"];
    const DIFFERENTIATED: &'static [usize] = &[0, 2];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1, 3];
    const DTYPES: &'static [DType] = MOVABLE;
    const IS_WHOLE: bool = true;
    const ACCURACY: Accuracy = Accuracy::Elementwise;
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::follows);

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([old, index, new], [out]) = (inputs, outputs) else { return Ok(()) };
        unify(old, out, "output")?;
        if old.ndim() == Some(0) {
            return Err(Error::shape(OP, "old_tensor", "at least one axis", &*old));
        }
        require_ndim(index, 1, "index_vector")?;
        let Some(dims) = old.dims() else { return Ok(()) };
        let rows: Vec<Option<usize>> = std::iter::once(index.dim(0)).chain(dims[1..].iter().copied()).collect();
        unify(&mut PartialShape::new(rows), new, "new_tensor")?;
        learn_dim(index, 0, new.dim(0), "index_vector")
    }

    fn infer_dtype(_: &NoParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        let [old, index, new] = inputs else { return Ok(()) };
        unify_dtypes([old, new].into_iter().chain(outputs), "new_tensor")?;
        match *index {
            None => *index = Some(DType::I32),
            Some(DType::I32 | DType::I64) => {}
            Some(other) => return Err(Error::dtype(OP, "index_vector", "int32 or int64", other.name())),
        }
        Ok(())
    }

    fn n_parts(_: &NoParams, inputs: &[Shape], _: &[Shape]) -> usize {
        // One part reads all indices once.
        usize::from(inputs[0].n_elements() > 0)
    }

    fn part<T: Number>(_: &NoParams, tensors: &Tensors<'_, T>, _: usize, emit: Emit<'_, T>) -> Result<()> {
        let rows = tensors.inputs[0][0];
        let len: usize = tensors.inputs[0][1..].iter().product();
        let mut sources = vec![None; rows];
        for (i, index) in tensors.values(1).iter().enumerate() {
            let place = sources.get_mut(if *index < 0.0 { usize::MAX } else { *index as usize });
            *place.ok_or_else(|| Error::invalid("an index", index, format!("a row from 0 to {}", rows - 1)))? = Some(i);
        }
        for at in 0..rows * len {
            let (row, column) = (at / len, at % len);
            let value = match sources[row] {
                Some(i) => tensors.at(2, i * len + column),
                None => tensors.at(0, at),
            };
            emit(0, at, value);
        }
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, old: &[usize], index: &[f64], new: &[usize]| {
            let sample = Sample::plain(name, &[old, &[index.len()], new]).dtype(1, DType::I32);
            sample.fill(1, Fill::Values(index.to_vec()))
        };
        vec![
            of("rows", &[4, 2], &[3.0, 1.0], &[2, 2]),
            of("twice", &[3, 2], &[1.0, 1.0], &[2, 2]),
            of("vector", &[5], &[4.0, 0.0, 2.0], &[3]),
            of("nothing", &[3, 2], &[], &[0, 2]),
        ]
    }
}

/// Defines the operator `_contrib_index_copy`.
pub fn define() -> OpDef {
    formula::define::<IndexCopy>()
}
