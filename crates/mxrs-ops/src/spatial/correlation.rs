//! Correlation of two images. Each output channel is a displacement, and each element compares a patch of data1 with the
//! displaced patch of data2: the mean over the patch and the channels of the products, or of the absolute differences unless
//! `is_multiply`. Data `[n, c, h, w]` gives `[n, (2 r + 1)², oh, ow]` with `r = max_displacement / stride2`. Dosovitskiy et al.,
//! arXiv:1504.06852.
//!
//! Gradient: of both images.
//!
//! MXNet: `Correlation`. Dtypes: f32 f64 f16 bf16.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{OP, bad_attribute, learn, require_ndim, unify};
use mxrs_op::{OpDef, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `Correlation`.
    pub struct CorrelationParams for "Correlation" {
        /// Rows and columns of a patch; an odd number.
        kernel_size: u32 = 1,
        /// Largest displacement.
        max_displacement: u32 = 1,
        /// Distance of the patches of data1.
        stride1: u32 = 1,
        /// Distance of displacements.
        stride2: u32 = 1,
        /// Rows and columns of zeros on each side of the images.
        pad_size: u32 = 0,
        /// Whether to multiply; otherwise, absolute differences are taken.
        is_multiply: bool = true,
    }
}

/// Larger sizes could overflow.
const MAX_SIZE: u32 = 1 << 20;

impl CorrelationParams {
    fn check(&self) -> Result<()> {
        let sizes = [
            ("kernel_size", self.kernel_size, 1),
            ("max_displacement", self.max_displacement, 0),
            ("stride1", self.stride1, 1),
            ("stride2", self.stride2, 1),
            ("pad_size", self.pad_size, 0),
        ];
        for (name, size, least) in sizes {
            if !(least..=MAX_SIZE).contains(&size) {
                return Err(bad_attribute("Correlation", name, format!("{least} to {MAX_SIZE}"), size));
            }
        }
        if self.kernel_size.is_multiple_of(2) {
            return Err(bad_attribute("Correlation", "kernel_size", "an odd number", self.kernel_size));
        }
        Ok(())
    }

    /// Number of displacements on each side of 0 on an axis.
    fn radius(&self) -> usize {
        (self.max_displacement / self.stride2) as usize
    }

    /// Number of patches on an axis; `None` if not one fits.
    fn count(&self, size: usize) -> Option<usize> {
        let border = 2 * (self.max_displacement + self.kernel_size / 2) as usize;
        let inner = size.saturating_add(2 * self.pad_size as usize).checked_sub(border).filter(|inner| *inner > 0)?;
        Some(inner.div_ceil(self.stride1 as usize))
    }
}

struct Correlation;

impl Formula for Correlation {
    type Params = CorrelationParams;
    const NAME: &'static str = "Correlation";
    const SUMMARY: &'static str = "patches of an image compared with displaced patches of another";
    const BACKWARD: &'static str = "_backward_Correlation";
    const INPUTS: &'static [&'static str] = &["data1", "data2"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data1", "data2"];
    const OUTPUTS: &'static [&'static str] = &["output", "tmp1", "tmp2"];
    const N_HIDDEN: usize = 2;
    const DIFFERENTIATED: &'static [usize] = &[0, 1];
    const IS_WIDEST: bool = true;

    fn infer_shape(params: &Self::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([data, other], [out, hidden @ ..]) = (inputs, outputs) else { return Ok(()) };
        params.check()?;
        require_ndim(data, 4, "data1")?;
        unify(data, other, "data2")?;
        let width = 2 * params.radius() + 1;
        let count = |size: Option<usize>| match size.map(|size| params.count(size)) {
            Some(None) => Err(Error::shape(OP, "data1", "an image with room for a displaced patch", &*data)),
            count => Ok(count.flatten()),
        };
        let sizes = [data.dim(0), width.checked_mul(width), count(data.dim(2))?, count(data.dim(3))?];
        learn(out, &PartialShape::new(sizes), "output")?;
        learn(data, &PartialShape::new([out.dim(0), None, None, None]), "data1")?;
        let padded = |size: Option<usize>| size.and_then(|size| size.checked_add(2 * params.pad_size as usize));
        let rest = PartialShape::new([data.dim(0), padded(data.dim(2)), padded(data.dim(3)), data.dim(1)]);
        hidden.iter_mut().try_for_each(|hidden| learn(hidden, &rest, "tmp"))
    }

    fn part<T: Number>(params: &Self::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let (data, out) = (&tensors.inputs[0], &tensors.outputs[0]);
        let (plane, point) = (part / (out[2] * out[3]), part % (out[2] * out[3]));
        let (image, displacement) = (plane / out[1], plane % out[1]);
        let width = 2 * params.radius() + 1;
        let step = |i: usize| (i as i64 - params.radius() as i64) * i64::from(params.stride2);
        let (down, right) = (step(displacement / width), step(displacement % width));
        let start = |i: usize| {
            i as i64 * i64::from(params.stride1) + i64::from(params.max_displacement) - i64::from(params.pad_size)
        };
        let (top, left) = (start(point / out[3]), start(point % out[3]));
        let inside = |at: i64, size: usize| usize::try_from(at).ok().filter(|at| *at < size);
        let element =
            |input: usize, channel: usize, row: i64, column: i64| match (inside(row, data[2]), inside(column, data[3]))
            {
                (Some(row), Some(column)) => {
                    tensors.at(input, ((image * data[1] + channel) * data[2] + row) * data[3] + column)
                }
                _ => T::of(0.0),
            };
        let size = i64::from(params.kernel_size);
        let mut sum = T::of(0.0);
        // Outside both images the terms are 0, and the window may be much larger than the images.
        let within = |start: i64, moved: i64, n: usize| {
            start.max((-moved).min(0))..(start + size).min((n as i64).max(n as i64 - moved))
        };
        let columns = within(left, right, data[3]);
        for (row, column) in within(top, down, data[2]).flat_map(|row| columns.clone().map(move |column| (row, column)))
        {
            for channel in 0..data[1] {
                let (a, b) = (element(0, channel, row, column), element(1, channel, row + down, column + right));
                sum = sum + if params.is_multiply { a * b } else { (a - b).abs() };
            }
        }
        emit(0, part, sum / T::of((size * size) as f64 * data[1] as f64));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, attrs: [(&str, &str); 3], data: &[usize]| Sample::new(name, attrs, &[data, data]);
        vec![
            of("products", [("max_displacement", "1"), ("pad_size", "1"), ("kernel_size", "1")], &[2, 3, 4, 5]),
            of("patches", [("max_displacement", "2"), ("stride2", "2"), ("kernel_size", "3")], &[1, 2, 8, 9]),
            of("differences", [("is_multiply", "False"), ("stride1", "2"), ("pad_size", "1")], &[1, 2, 5, 5]),
            of("one", [("max_displacement", "0"), ("pad_size", "0"), ("kernel_size", "1")], &[1, 1, 1, 1]),
            of("empty", [("max_displacement", "1"), ("pad_size", "1"), ("kernel_size", "1")], &[0, 1, 3, 3]),
        ]
    }
}

/// Defines the operator `Correlation`.
pub fn define() -> OpDef {
    formula::define::<Correlation>()
}
