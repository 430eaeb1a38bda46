//! The Khatri-Rao product: the Kronecker products of the columns of matrices. Matrices of `r0`, `r1`, … rows and `k` columns give
//! a matrix of `r0 · r1 · …` rows and `k` columns.
//!
//! Gradient: of every matrix. MXNet has none.
//!
//! MXNet: `khatri_rao`. Inputs are `arg0`, `arg1`, …; the attribute `num_args` counts them. Dtypes: f32 f64 f16 bf16 u8 i8 i32
//! i64; integers wrap.

use crate::dtypes::NUMBERS;
use crate::elemwise::add_n::AddNParams;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{learn, learn_dim, product, require_ndim};
use mxrs_op::{OpDef, Sample};
use mxrs_types::{DType, PartialShape, Result};

struct KhatriRao;

impl Formula for KhatriRao {
    type Params = AddNParams;
    const NAME: &'static str = "khatri_rao";
    const SUMMARY: &'static str = "Kronecker products of the columns of matrices";
    const BACKWARD: &'static str = "_backward_khatri_rao";
    const INPUTS: &'static [&'static str] = &[];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd"];
    const VARIABLE: Option<[&'static str; 3]> = Some(["arg", "args", "num_args"]);
    const DTYPES: &'static [DType] = NUMBERS;
    const IS_WHOLE: bool = true;

    fn n_inputs(params: &AddNParams) -> usize {
        params.num_args
    }

    fn infer_shape(_: &AddNParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        inputs.iter_mut().try_for_each(|input| require_ndim(input, 2, "args"))?;
        let columns = inputs.iter().chain(outputs.iter()).find_map(|shape| shape.dim(1));
        inputs.iter_mut().try_for_each(|input| learn_dim(input, 1, columns, "args"))?;
        let rows = product(&inputs.iter().map(|input| input.dim(0)).collect::<Vec<_>>());
        learn(&mut outputs[0], &PartialShape::new([rows, columns]), "output")
    }

    fn part<T: Number>(_: &AddNParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let columns = tensors.outputs[0][1];
        let (mut row, column) = (part / columns, part % columns);
        let mut all = T::of(1.0);
        // The row of the last matrix changes fastest from one row of the result to the next.
        for (i, shape) in tensors.inputs.iter().enumerate().rev() {
            all = all * tensors.at(i, row % shape[0] * columns + column);
            row /= shape[0];
        }
        emit(0, part, all);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, n, shapes: &[&[usize]]| Sample::new(name, [("num_args", n)], shapes);
        vec![
            of("two", "2", &[&[2, 3], &[4, 3]]),
            of("three", "3", &[&[2, 2], &[3, 2], &[2, 2]]),
            of("one", "1", &[&[2, 3]]),
            of("empty", "2", &[&[0, 3], &[2, 3]]),
        ]
    }
}

/// Defines the operator `khatri_rao`.
pub fn define() -> OpDef {
    formula::define::<KhatriRao>()
}
