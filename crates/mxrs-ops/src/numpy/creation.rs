//! NumPy's operators that make arrays: `_npi_zeros`, `_npi_ones`, `_npi_full_like`, `_npi_identity`, `_npi_eye`, `_npi_arange`,
//! `_npi_logspace`, `_npi_indices`, and the windows `_npi_hanning`, `_npi_hamming` and `_npi_blackman`.
//!
//! An empty shape is a scalar, and a size of 0 is 0, as in NumPy.
//!
//! Gradient: zero.
// NumPy's parameters N and M are written in upper case.
#![allow(non_snake_case)]

use crate::dtypes::{DTypeWord, MOVABLE, NUMBERS, NumberWord, dtype_of};
use crate::families::filled;
use crate::inference::{bad_attribute, learn, learn_dtype};
use crate::init::arange;
use crate::numeric;
use mxrs_op::param::{Field, ShapeAttr};
use mxrs_op::{Gradient, InputNames, OpDef, Sample, op_params};
use mxrs_types::{PartialShape, Result};
use std::f64::consts::TAU;

/// An integer that may be `None`. MXNet's C API gives its type no name.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LongOrNone(pub Option<i64>);

impl Field for LongOrNone {
    fn type_name() -> String {
        String::new()
    }
    fn parse(text: &str) -> Result<Self, String> {
        if text.trim() == "None" {
            return Ok(Self(None));
        }
        i64::parse(text).map(|value| Self(Some(value))).map_err(|expected| expected + " or None")
    }
    fn default_text(&self) -> String {
        self.0.map_or("None".into(), |value| value.to_string())
    }
}

op_params! {
    /// Parameters of `_npi_zeros`, `_npi_ones` and `_npi_identity`.
    pub struct ShapeParams for "_npi_zeros" {
        /// Shape of the output.
        shape: ShapeAttr = ShapeAttr::default(),
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Element type of the output.
        dtype: DTypeWord = DTypeWord::F32,
    }
}

op_params! {
    /// Parameters of `_npi_full_like`.
    pub struct FullLikeParams for "_npi_full_like" {
        /// The value of every element.
        fill_value: f64,
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Element type of the output; that of the input if absent.
        dtype: Option<DTypeWord> = None,
    }
}

op_params! {
    /// Parameters of `_npi_eye`.
    pub struct EyeParams for "_npi_eye" {
        /// Number of rows.
        N: i64,
        /// Number of columns; that of rows if absent.
        M: LongOrNone = LongOrNone(None),
        /// The diagonal: 0 is the main one, positive numbers are above it.
        k: i64 = 0,
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Element type of the output.
        dtype: NumberWord = NumberWord::F32,
    }
}

op_params! {
    /// Parameters of `_npi_logspace`.
    pub struct LogspaceParams for "_npi_logspace" {
        /// Exponent of the first number.
        start: f64,
        /// Exponent of the end.
        stop: f64,
        /// Number of elements.
        num: i32,
        /// Whether the end is the last element.
        endpoint: bool = true,
        /// Base of the powers.
        base: f64 = 10.0,
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Element type of the output.
        dtype: NumberWord = NumberWord::F32,
    }
}

op_params! {
    /// Parameters of `_npi_indices`.
    pub struct IndicesParams for "_npi_indices" {
        /// Shape of the array that is indexed.
        dimensions: ShapeAttr,
        /// Element type of the output.
        dtype: NumberWord = NumberWord::I32,
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
    }
}

op_params! {
    /// Parameters of windows.
    pub struct WindowParams for "_npi_hanning" {
        /// Number of elements.
        M: LongOrNone = LongOrNone(None),
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Element type of the output.
        dtype: NumberWord = NumberWord::F32,
    }
}

/// The sizes of a shape that is wholly known.
fn sizes(op: &str, name: &str, shape: &[i64]) -> Result<PartialShape> {
    let size = |size: &i64| match usize::try_from(*size) {
        Ok(size) => Ok(Some(size)),
        Err(_) => Err(bad_attribute(op, name, "no negative size", size)),
    };
    Ok(PartialShape::new(shape.iter().map(size).collect::<Result<Vec<_>>>()?))
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[
    zeros,
    ones,
    identity,
    full_like,
    eye,
    || OpDef { name: "_npi_arange", ..arange::define() },
    logspace,
    indices,
    window::<Hanning>,
    window::<Hamming>,
    window::<Blackman>,
];

/// An operator without inputs.
fn made(name: &'static str, summary: &'static str) -> OpDef {
    OpDef { summary, inputs: InputNames::Fixed(&[]), dtypes: NUMBERS, gradient: Gradient::Zero, ..OpDef::new(name) }
}

/// An operator with the parameters `shape`, `ctx` and `dtype`.
fn shaped(name: &'static str, summary: &'static str) -> OpDef {
    OpDef {
        infer_shape: |params, _, outputs| {
            learn(&mut outputs[0], &sizes("_npi_zeros", "shape", &params.get::<ShapeParams>().shape)?, "output")
        },
        infer_dtype: |params, _, outputs| {
            learn_dtype(&mut outputs[0], dtype_of(params.get::<ShapeParams>().dtype), "output")
        },
        dtypes: MOVABLE,
        samples: || {
            vec![
                Sample::new("matrix", [("shape", "(3, 3)")], &[]),
                Sample::new("empty", [("shape", "(0, 0)")], &[]),
                Sample::new("half", [("shape", "(2, 2)"), ("dtype", "float16")], &[]),
                Sample::new("integers", [("shape", "(4, 4)"), ("dtype", "int64")], &[]),
            ]
        },
        ..made(name, summary).params::<ShapeParams>()
    }
}

fn zeros() -> OpDef {
    OpDef {
        reference: Some(|_, _, outputs, _| {
            filled::fill(&mut outputs[0], 0.0);
            Ok(())
        }),
        ..shaped("_npi_zeros", "out = 0")
    }
}

fn ones() -> OpDef {
    OpDef {
        reference: Some(|_, _, outputs, _| {
            filled::fill(&mut outputs[0], 1.0);
            Ok(())
        }),
        ..shaped("_npi_ones", "out = 1")
    }
}

fn identity() -> OpDef {
    OpDef {
        infer_shape: |params, _, outputs| match params.get::<ShapeParams>().shape.0.as_slice() {
            [n, m] => learn(&mut outputs[0], &sizes("_npi_identity", "shape", &[*n, *m])?, "output"),
            shape => Err(bad_attribute("_npi_identity", "shape", "two sizes", format!("{shape:?}"))),
        },
        reference: Some(|_, _, outputs, _| {
            write_diagonal(&mut outputs[0], 0);
            Ok(())
        }),
        ..shaped("_npi_identity", "ones on the main diagonal")
    }
}

/// Writes 1 to the elements of a matrix that are on a diagonal, and 0 to the others.
fn write_diagonal(out: &mut mxrs_op::RefOutput<'_>, k: i64) {
    let (n, columns) = (out.desc.shape.n_elements(), out.desc.shape[1]);
    let is_on = |at: usize| ((at / columns) as i64).saturating_add(k) == (at % columns) as i64;
    numeric::write(out, &(0..n).map(|at| f64::from(is_on(at))).collect::<Vec<f64>>());
}

fn full_like() -> OpDef {
    OpDef {
        summary: "out = fill_value, shaped like data",
        inputs: InputNames::Fixed(&["a"]),
        infer_dtype: |params, inputs, outputs| match (params.get::<FullLikeParams>().dtype, inputs[0]) {
            (Some(word), _) => learn_dtype(&mut outputs[0], dtype_of(word), "output"),
            (None, Some(data)) => learn_dtype(&mut outputs[0], data, "output"),
            (None, None) => Ok(()),
        },
        dtypes: MOVABLE,
        gradient: Gradient::Zero,
        ignored_inputs: &[0],
        reference: Some(|params, _, outputs, _| {
            filled::fill(&mut outputs[0], params.get::<FullLikeParams>().fill_value);
            Ok(())
        }),
        samples: || {
            let value = ("fill_value", "2.5");
            vec![
                Sample::new("matrix", [value], &[&[3, 5]]),
                Sample::new("integers", [value, ("dtype", "int32")], &[&[2, 3]]),
                Sample::new("scalar", [value], &[&[]]),
                Sample::new("empty", [value], &[&[0, 3]]),
            ]
        },
        ..OpDef::new("_npi_full_like").params::<FullLikeParams>()
    }
}

fn eye() -> OpDef {
    OpDef {
        infer_shape: |params, _, outputs| {
            let params: &EyeParams = params.get();
            let size = sizes("_npi_eye", "N and M", &[params.N, params.M.0.unwrap_or(params.N)])?;
            learn(&mut outputs[0], &size, "output")
        },
        infer_dtype: |params, _, outputs| {
            learn_dtype(&mut outputs[0], dtype_of(params.get::<EyeParams>().dtype), "output")
        },
        reference: Some(|params, _, outputs, _| {
            write_diagonal(&mut outputs[0], params.get::<EyeParams>().k);
            Ok(())
        }),
        samples: || {
            vec![
                Sample::new("square", [("N", "3")], &[]),
                Sample::new("above", [("N", "3"), ("M", "5"), ("k", "1")], &[]),
                Sample::new("below", [("N", "4"), ("M", "2"), ("k", "-2"), ("dtype", "int32")], &[]),
                Sample::new("empty", [("N", "0")], &[]),
            ]
        },
        ..made("_npi_eye", "ones on a diagonal").params::<EyeParams>()
    }
}

fn logspace() -> OpDef {
    OpDef {
        infer_shape: |params, _, outputs| {
            let num = i64::from(params.get::<LogspaceParams>().num);
            learn(&mut outputs[0], &sizes("_npi_logspace", "num", &[num])?, "output")
        },
        infer_dtype: |params, _, outputs| {
            learn_dtype(&mut outputs[0], dtype_of(params.get::<LogspaceParams>().dtype), "output")
        },
        reference: Some(|params, _, outputs, _| {
            let params: &LogspaceParams = params.get();
            let n_steps = (f64::from(params.num) - f64::from(u8::from(params.endpoint))).max(1.0);
            let step = (params.stop - params.start) / n_steps;
            let power = |i: i32| params.base.powf(params.start + step * f64::from(i));
            numeric::write(&mut outputs[0], &(0..params.num).map(power).collect::<Vec<f64>>());
            Ok(())
        }),
        samples: || {
            let range = [("start", "0"), ("stop", "2")];
            vec![
                Sample::new("five", [range[0], range[1], ("num", "5")], &[]),
                Sample::new("open", [range[0], range[1], ("num", "4"), ("endpoint", "False"), ("base", "2")], &[]),
                Sample::new("one", [range[0], range[1], ("num", "1"), ("dtype", "float64")], &[]),
                Sample::new("none", [range[0], range[1], ("num", "0")], &[]),
            ]
        },
        ..made("_npi_logspace", "powers with evenly spaced exponents").params::<LogspaceParams>()
    }
}

fn indices() -> OpDef {
    OpDef {
        infer_shape: |params, _, outputs| {
            let dimensions = &params.get::<IndicesParams>().dimensions;
            let all: Vec<i64> = std::iter::once(dimensions.len() as i64).chain(dimensions.iter().copied()).collect();
            learn(&mut outputs[0], &sizes("_npi_indices", "dimensions", &all)?, "output")
        },
        infer_dtype: |params, _, outputs| {
            learn_dtype(&mut outputs[0], dtype_of(params.get::<IndicesParams>().dtype), "output")
        },
        reference: Some(|_, _, outputs, _| {
            let mut values = Vec::new();
            crate::families::indexing::for_each_index(&outputs[0].desc.shape, |index| {
                values.push(index[index[0] + 1] as f64);
            });
            numeric::write(&mut outputs[0], &values);
            Ok(())
        }),
        samples: || {
            vec![
                Sample::new("matrix", [("dimensions", "(2, 3)")], &[]),
                Sample::new("vector", [("dimensions", "(4,)"), ("dtype", "int64")], &[]),
                Sample::new("floats", [("dimensions", "(2, 1, 2)"), ("dtype", "float32")], &[]),
                Sample::new("empty", [("dimensions", "(0, 2)")], &[]),
            ]
        },
        ..made("_npi_indices", "the index of each element").params::<IndicesParams>()
    }
}

/// A window: a function of the angle, which goes from 0 to 2 π.
trait Window: 'static {
    const NAME: &'static str;
    fn value(angle: f64) -> f64;
}

macro_rules! windows {
    ($($type:ident $name:literal ($x:ident) = $value:expr;)*) => {
        $(struct $type;

        impl Window for $type {
            const NAME: &'static str = $name;
            fn value($x: f64) -> f64 {
                $value
            }
        })*
    };
}

windows! {
    Hanning "_npi_hanning" (x) = 0.5 - 0.5 * x.cos();
    Hamming "_npi_hamming" (x) = 0.54 - 0.46 * x.cos();
    Blackman "_npi_blackman" (x) = 0.42 - 0.5 * x.cos() + 0.08 * (2.0 * x).cos();
}

fn window<W: Window>() -> OpDef {
    OpDef {
        infer_shape: |params, _, outputs| {
            // Without `M`, the number of elements, the window has one element, as in MXNet.
            let n = params.get::<WindowParams>().M.0.unwrap_or(1).max(0);
            learn(&mut outputs[0], &sizes(W::NAME, "M", &[n])?, "output")
        },
        infer_dtype: |params, _, outputs| {
            learn_dtype(&mut outputs[0], dtype_of(params.get::<WindowParams>().dtype), "output")
        },
        reference: Some(|_, _, outputs, _| {
            let n = outputs[0].desc.shape.n_elements();
            let value = |i: usize| if n == 1 { 1.0 } else { W::value(TAU * i as f64 / (n - 1) as f64) };
            numeric::write(&mut outputs[0], &(0..n).map(value).collect::<Vec<f64>>());
            Ok(())
        }),
        accuracy: mxrs_op::Accuracy::Elementwise,
        samples: || {
            vec![
                Sample::new("five", [("M", "5")], &[]),
                Sample::new("one", [("M", "1")], &[]),
                Sample::new("double", [("M", "8"), ("dtype", "float64")], &[]),
                Sample::new("none", [("M", "0")], &[]),
            ]
        },
        ..made(W::NAME, "a window that is 0, or small, at both ends").params::<WindowParams>()
    }
}
