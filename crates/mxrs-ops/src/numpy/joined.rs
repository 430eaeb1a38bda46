//! NumPy's operators that join arrays: `_npi_concatenate` along an axis, or flattened if the axis is `None`; `_npi_vstack`
//! along the first axis, with vectors as rows; `_npi_hstack` along the second axis, and vectors along the only one;
//! `_npi_dstack` along the third axis; `_npi_column_stack` along the second axis, with vectors as columns; and `_npi_stack`
//! along a new axis.
//!
//! Gradient: each input gets its part of `ograd`.
//!
//! MXNet's C API lists a parameter `dim` of `_npi_concatenate`, but reads `axis`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::dtypes::MOVABLE;
use crate::families::along;
use crate::families::gradients::{Answers, params_of};
use crate::inference::{OP, bad_attribute, learn, learn_dim, product, resolve_axis, unify, unify_dtypes};
use crate::shape::stack;
use mxrs_op::param::Parameters;
use mxrs_op::{
    Gradient, GradientScope, InputNames, Moves, OpDef, OpParams, OutputCount, Precision, RefInput, RefOutput, RunMode,
    Sample, op_params,
};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_npi_concatenate`.
    pub struct ConcatenateParams for "_npi_concatenate" {
        /// Number of inputs.
        num_args: i32,
        /// Axis along which to join; inputs are flattened if it is absent.
        axis: Option<i32> = Some(0),
    }
}

op_params! {
    /// Parameters of `_npi_hstack` and `_npi_dstack`.
    pub struct StackParams for "_npi_hstack" {
        /// Number of inputs.
        num_args: i32,
        /// Accepted for compatibility with MXNet; has no effect.
        dim: i32 = 1,
    }
}

op_params! {
    /// Parameters of `_npi_vstack` and `_npi_column_stack`.
    pub struct CountParams for "_npi_vstack" {
        /// Number of inputs.
        num_args: i32,
    }
}

type Dims = Vec<Option<usize>>;

/// The properties in which the operators that are defined here differ from each other.
trait Joined: 'static {
    type Params: Parameters;
    const NAME: &'static str;
    const BACKWARD: &'static str;
    /// Prefix of the names of the inputs.
    const PREFIX: &'static str;
    fn num_args(params: &Self::Params) -> i32;
    /// The shape to which an input with these sizes is reshaped before it is concatenated.
    fn view(params: &Self::Params, dims: &[Option<usize>]) -> Dims;
    /// The axis of the reshaped inputs along which they are concatenated.
    fn axis(params: &Self::Params, ndim: usize) -> Result<usize>;
}

macro_rules! joined {
    ($($type:ident($params_type:ident) $name:literal [$prefix:literal] ($params:ident)
        view |$dims:ident| $view:expr, axis |$ndim:ident| $axis:expr;)*) => {
        $(struct $type;

        impl Joined for $type {
            type Params = $params_type;
            const NAME: &'static str = $name;
            const BACKWARD: &'static str = concat!("_backward", $name);
            const PREFIX: &'static str = $prefix;
            fn num_args($params: &$params_type) -> i32 {
                $params.num_args
            }
            fn view($params: &$params_type, $dims: &[Option<usize>]) -> Dims {
                let _ = $params;
                $view
            }
            fn axis($params: &$params_type, $ndim: usize) -> Result<usize> {
                let _ = $params;
                $axis
            }
        })*

        /// Functions that define the operators.
        pub const DEFINITIONS: &[fn() -> OpDef] =
            &[|| OpDef { name: "_npi_stack", precision: Precision::float32, ..stack::define() }, $(define::<$type>),*];
    };
}

joined! {
    Concatenate(ConcatenateParams) "_npi_concatenate" ["data"] (params)
        view |dims| if params.axis.is_none() { vec![product(dims)] } else { dims.to_vec() },
        axis |ndim| params.axis.map_or(Ok(0), |axis| resolve_axis(i64::from(axis), ndim, "data"));
    VStack(CountParams) "_npi_vstack" ["arg"] (params)
        view |dims| match dims {
            [] => vec![Some(1), Some(1)],
            [n] => vec![Some(1), *n],
            dims => dims.to_vec(),
        },
        axis |_ndim| Ok(0);
    HStack(StackParams) "_npi_hstack" ["data"] (params)
        view |dims| if dims.is_empty() { vec![Some(1)] } else { dims.to_vec() },
        axis |ndim| Ok(usize::from(ndim > 1));
    DStack(StackParams) "_npi_dstack" ["data"] (params)
        view |dims| match dims {
            [] => vec![Some(1); 3],
            [n] => vec![Some(1), *n, Some(1)],
            [n, m] => vec![*n, *m, Some(1)],
            dims => dims.to_vec(),
        },
        axis |_ndim| Ok(2);
    ColumnStack(CountParams) "_npi_column_stack" ["arg"] (params)
        view |dims| match dims {
            [] => vec![Some(1), Some(1)],
            [n] => vec![*n, Some(1)],
            dims => dims.to_vec(),
        },
        axis |_ndim| Ok(1);
}

fn count<J: Joined>(params: &OpParams) -> usize {
    usize::try_from(J::num_args(params.get())).unwrap_or(0)
}

fn names<J: Joined, const IS_BACKWARD: bool>() -> InputNames {
    let count = match IS_BACKWARD {
        false => count::<J>,
        true => |params: &OpParams| count::<J>(params) + 1,
    };
    InputNames::Variable { prefix: J::PREFIX, listed: "data", key: "num_args", count }
}

fn infer_shape<J: Joined>(params: &OpParams, inputs: &mut [PartialShape], out: &mut PartialShape) -> Result<()> {
    let params: &J::Params = params.get();
    if inputs.is_empty() {
        return Err(bad_attribute(J::NAME, "num_args", "at least one input", J::num_args(params)));
    }
    let views: Option<Vec<Dims>> = inputs.iter().map(|input| Some(J::view(params, input.dims()?))).collect();
    let Some(views) = views else { return Ok(()) };
    let axis = J::axis(params, views[0].len())?;
    let mut all = PartialShape::new(views[0].iter().enumerate().map(|(i, size)| if i == axis { None } else { *size }));
    for view in &views {
        let others = PartialShape::new(view.iter().enumerate().map(|(i, size)| if i == axis { None } else { *size }));
        let shape = PartialShape::new(view.clone());
        all.merge(&others).map_err(|()| Error::shape(OP, "data", all.to_string(), shape))?;
    }
    let whole = views.iter().try_fold(0usize, |sum, view| sum.checked_add(view[axis]?));
    learn_dim(&mut all, axis, whole, "data")?;
    learn(out, &all, "output")
}

fn define<J: Joined>() -> OpDef {
    OpDef {
        summary: "joins arrays",
        inputs: names::<J, false>(),
        infer_shape: |params, inputs, outputs| infer_shape::<J>(params, inputs, &mut outputs[0]),
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "data"),
        dtypes: MOVABLE,
        gradient: Gradient::By(gradient::<J>),
        companions: || vec![backward::<J>()],
        moves: Moves::Parts(|params, inputs, outputs| {
            let (outer, lens) = lens::<J>(params, inputs, outputs[0])?;
            Ok(Some(along::joined(0, outer, &lens)))
        }),
        reference: Some(|params, inputs, outputs, _| {
            let out = &mut outputs[0];
            copy_parts::<J>(params, inputs, &out.desc.shape, |part, at, len, from| {
                out.bytes[at..at + len].copy_from_slice(&inputs[part].bytes[from..from + len]);
            })
        }),
        samples: || {
            let of = |name, n: &str, shapes: &[&[usize]]| {
                let mut sample = Sample::plain(name, shapes);
                sample.attrs.set("num_args", n);
                sample
            };
            vec![
                of("matrices", "2", &[&[2, 3], &[2, 3]]),
                of("vectors", "3", &[&[2], &[2], &[2]]),
                of("one", "1", &[&[2, 3, 2]]),
                of("empty", "2", &[&[0, 3], &[0, 3]]),
            ]
        },
        ..OpDef::new(J::NAME).params::<J::Params>()
    }
}

/// The number of rows of the joined array, and the length of each part's share of a row.
fn lens<J: Joined>(params: &OpParams, parts: &[&Shape], whole: &Shape) -> Result<(usize, Vec<usize>)> {
    let outer: usize = whole[..J::axis(params.get(), whole.ndim())?].iter().product();
    Ok((outer, parts.iter().map(|part| part.n_elements().checked_div(outer).unwrap_or(0)).collect()))
}

/// Calls `copy` for each piece: the number of the input, the position of the piece in the bytes of the output, its length,
/// and its position in the bytes of the input.
fn copy_parts<J: Joined>(
    params: &OpParams,
    parts: &[RefInput<'_>],
    out: &[usize],
    mut copy: impl FnMut(usize, usize, usize, usize),
) -> Result<()> {
    let outer: usize = out[..J::axis(params.get(), out.len())?].iter().product();
    let lens: Vec<usize> = parts
        .iter()
        .map(|part| (part.desc.shape.n_elements() * part.desc.dtype.size_of()).checked_div(outer).unwrap_or(0))
        .collect();
    let row: usize = lens.iter().sum();
    for i in 0..outer {
        let mut start = i * row;
        for (part, len) in lens.iter().enumerate() {
            copy(part, start, *len, i * len);
            start += len;
        }
    }
    Ok(())
}

fn gradient<J: Joined>(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let mut inputs = vec![scope.out_grad(0)?];
    inputs.extend((0..scope.n_inputs()).map(|i| scope.input(i)));
    let attrs = params_of(scope);
    Ok(scope.call(J::BACKWARD, attrs, &inputs)?.into_iter().map(Some).collect())
}

/// Takes `ograd` and the inputs, of which only the shapes matter, and returns the parts of `ograd`.
fn backward<J: Joined>() -> OpDef {
    OpDef {
        summary: "parts of the gradient of joined arrays",
        inputs: names::<J, true>(),
        n_outputs: OutputCount::ByParams(count::<J>),
        n_visible: OutputCount::ByParams(count::<J>),
        infer_shape: |params, inputs, outputs| {
            let Some((ograd, inputs)) = inputs.split_first_mut() else { return Ok(()) };
            let mut shared = |inputs: &mut [PartialShape]| {
                inputs.iter_mut().zip(outputs.iter_mut()).try_for_each(|(input, output)| unify(input, output, "data"))
            };
            shared(inputs)?;
            infer_shape::<J>(params, inputs, ograd)?;
            shared(inputs)
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "data"),
        dtypes: MOVABLE,
        ignored_inputs: &POSITIONS,
        moves: Moves::Parts(|params, inputs, outputs| {
            let (outer, lens) = lens::<J>(params, outputs, inputs[0])?;
            Ok(Some(along::cut(outer, &lens)))
        }),
        gradient: Gradient::By(|_, scope| {
            let n = scope.n_inputs();
            let heads = (0..n - 1).map(|i| scope.out_grad(i)).collect::<Result<Vec<_>>>()?;
            let attrs = params_of(scope);
            let mut answers = vec![None; n];
            answers[0] = Some(scope.call(J::NAME, attrs, &heads)?[0]);
            Ok(answers)
        }),
        reference: Some(run_backward::<J>),
        samples: || {
            crate::families::backward::samples_of(&define::<J>(), |sample, outputs| {
                Some([outputs, &sample.inputs].concat())
            })
        },
        ..OpDef::new(J::BACKWARD).params::<J::Params>()
    }
}

/// Positions 1, 2, … of the inputs whose content is not read. The list is longer than any that NumPy programs join.
const POSITIONS: [usize; 256] = {
    let mut positions = [0; 256];
    let mut i = 0;
    while i < positions.len() {
        positions[i] = i + 1;
        i += 1;
    }
    positions
};

fn run_backward<J: Joined>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let Some((ograd, parts)) = inputs.split_first() else { return Ok(()) };
    copy_parts::<J>(params, parts, &ograd.desc.shape, |part, at, len, from| {
        outputs[part].bytes[from..from + len].copy_from_slice(&ograd.bytes[at..at + len]);
    })
}
