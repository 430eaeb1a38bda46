//! Convolutions whose windows are deformed: each element of a window is read at its place plus an offset that is an input,
//! and interpolated bilinearly. `_contrib_DeformableConvolution` is from Dai et al. 2017, arXiv:1703.06211.
//! `_contrib_ModulatedDeformableConvolution` also multiplies each value by an element of a mask (Zhu et al. 2018,
//! arXiv:1811.11168).
//!
//! Shapes: data `[n, c, h, w]`, offset `[n, g · 2 · kh · kw, oh, ow]`, where vertical and horizontal offsets alternate, mask
//! `[n, g · kh · kw, oh, ow]`, weight `[o, c / groups, kh, kw]`, bias `[o]` unless `no_bias`, out `[n, o, oh, ow]`. The c
//! channels are split into g = `num_deformable_group` parts of equal size, and each part has its own offsets. The first
//! operator reads 0 at places outside data, and repeats the last row and column up to the border. The second one
//! interpolates as if data were surrounded by pixels of value 0.
//!
//! Gradient: of all inputs. MXNet has none of the second operator on a CPU.
//!
//! Dtypes: f32 f64 f16 bf16.

use crate::families::bilinear::{around, weighted};
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::window::Window;
use crate::inference::{OP, bad_attribute, learn, learn_dim, require_ndim};
use mxrs_op::param::{Parameters, ShapeAttr};
use mxrs_op::{Accuracy, OpDef, Sample, op_enum, op_params};
use mxrs_types::{Error, PartialShape, Result};
use std::marker::PhantomData;

op_enum! {
    /// Order of the axes of data and output.
    pub enum DeformableLayout { Ncw = "NCW", Nchw = "NCHW", Ncdhw = "NCDHW" }
}

op_params! {
    /// Parameters of `_contrib_DeformableConvolution`.
    pub struct DeformableParams for "_contrib_DeformableConvolution" {
        /// Height and width of the window.
        kernel: ShapeAttr,
        /// Distance between windows; 1 if empty.
        stride: ShapeAttr = ShapeAttr::default(),
        /// Distance between neighboring elements of a window; 1 if empty.
        dilate: ShapeAttr = ShapeAttr::default(),
        /// Zeros added on each side; 0 if empty.
        pad: ShapeAttr = ShapeAttr::default(),
        /// Number of output channels.
        num_filter: i32,
        /// Number of groups that the channels are split into.
        num_group: i32 = 1,
        /// Number of groups of channels with offsets of their own.
        num_deformable_group: i32 = 1,
        /// MXNet's workspace limit; read and ignored.
        workspace: u64 = 1024,
        /// Whether there is no bias input.
        no_bias: bool = false,
        /// Order of axes; NCHW if absent.
        layout: Option<DeformableLayout> = None,
    }
}

op_params! {
    /// Parameters of `_contrib_ModulatedDeformableConvolution`.
    pub struct ModulatedParams for "_contrib_ModulatedDeformableConvolution" {
        /// Height and width of the window.
        kernel: ShapeAttr,
        /// Distance between windows; 1 if empty.
        stride: ShapeAttr = ShapeAttr::default(),
        /// Distance between neighboring elements of a window; 1 if empty.
        dilate: ShapeAttr = ShapeAttr::default(),
        /// Zeros added on each side; 0 if empty.
        pad: ShapeAttr = ShapeAttr::default(),
        /// Number of output channels.
        num_filter: u32,
        /// Number of groups that the channels are split into.
        num_group: u32 = 1,
        /// Number of groups of channels with offsets of their own.
        num_deformable_group: u32 = 1,
        /// MXNet's workspace limit; read and ignored.
        workspace: u64 = 1024,
        /// Whether there is no bias input.
        no_bias: bool = false,
        /// Number of images that MXNet computes at once; read and ignored.
        im2col_step: u32 = 64,
        /// Order of axes; NCHW if absent.
        layout: Option<DeformableLayout> = None,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] =
    &[formula::define::<Deformed<DeformableParams>>, formula::define::<Deformed<ModulatedParams>>];

/// The checked parameters of a call.
struct Call {
    window: Window,
    filters: usize,
    groups: usize,
    deformable: usize,
    has_bias: bool,
}

/// The properties in which the operators that are defined here differ from each other.
trait Deformable: Parameters {
    const BACKWARD: &'static str;
    const IS_MODULATED: bool;
    fn call(&self) -> Result<Call>;
    fn no_bias(&self) -> bool;
}

macro_rules! deformable {
    ($($params:ident $backward:literal $modulated:literal;)*) => {
        $(impl Deformable for $params {
            const BACKWARD: &'static str = $backward;
            const IS_MODULATED: bool = $modulated;

            fn call(&self) -> Result<Call> {
                let window = Window::new(Self::OP, &self.kernel, &self.stride, &self.dilate, &self.pad)?;
                if window.ndim() != 2 || self.layout.is_some_and(|layout| layout != DeformableLayout::Nchw) {
                    return Err(bad_attribute(Self::OP, "kernel", "two sizes, and the layout NCHW", self.kernel.to_text()));
                }
                let read = |name: &str, size: i64| match usize::try_from(size) {
                    Ok(size) if size > 0 => Ok(size),
                    _ => Err(bad_attribute(Self::OP, name, "at least 1", size)),
                };
                let filters = read("num_filter", i64::from(self.num_filter))?;
                let groups = read("num_group", i64::from(self.num_group))?;
                let deformable = read("num_deformable_group", i64::from(self.num_deformable_group))?;
                if !filters.is_multiple_of(groups) {
                    let got = format!("{groups} for num_filter {filters}");
                    return Err(bad_attribute(Self::OP, "num_group", "a divisor of num_filter", got));
                }
                Ok(Call { window, filters, groups, deformable, has_bias: !self.no_bias })
            }

            fn no_bias(&self) -> bool {
                self.no_bias
            }
        })*
    };
}

deformable! {
    DeformableParams "_backward_DeformableConvolution" false;
    ModulatedParams "_backward_ModulatedDeformableConvolution" true;
}

struct Deformed<P>(PhantomData<P>);

impl<P: Deformable> Formula for Deformed<P> {
    type Params = P;
    const NAME: &'static str = P::OP;
    const SUMMARY: &'static str = if P::IS_MODULATED {
        "convolution with deformed windows and weighted elements"
    } else {
        "convolution with deformed windows"
    };
    const BACKWARD: &'static str = P::BACKWARD;
    const INPUTS: &'static [&'static str] = if P::IS_MODULATED {
        &["data", "offset", "mask", "weight", "bias"]
    } else {
        &["data", "offset", "weight", "bias"]
    };
    const BACKWARD_INPUTS: &'static [&'static str] = if P::IS_MODULATED {
        &["ograd", "data", "offset", "mask", "weight", "bias"]
    } else {
        &["ograd", "data", "offset", "weight", "bias"]
    };
    const DIFFERENTIATED: &'static [usize] = &[0, 1, 2, 3, 4];
    const ACCURACY: Accuracy = Accuracy::Product;
    const IS_PRODUCT: bool = true;
    const IGNORED_IN_BACKWARD: &'static [usize] = if P::IS_MODULATED { &[5] } else { &[4] };

    fn n_inputs(params: &P) -> usize {
        Self::INPUTS.len() - usize::from(params.no_bias())
    }

    fn infer_shape(params: &P, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let call = params.call()?;
        let [kh, kw] = [call.window.kernel[0], call.window.kernel[1]];
        let (data, rest) = inputs.split_at_mut(1);
        let (data, out) = (&mut data[0], &mut outputs[0]);
        require_ndim(data, 4, "data")?;
        require_ndim(out, 4, "output")?;
        let (maps, rest) = rest.split_at_mut(1 + usize::from(P::IS_MODULATED));
        let (weight, bias) = rest.split_at_mut(1);
        let weight = &mut weight[0];
        require_ndim(weight, 4, "weight")?;
        let channels = data.dim(1).or(weight.dim(1).and_then(|size| size.checked_mul(call.groups)));
        let is_cut = |channels: usize| channels.is_multiple_of(call.groups) && channels.is_multiple_of(call.deformable);
        if channels.is_some_and(|channels| !is_cut(channels)) {
            let expected = format!("channels in {} groups and {} deformable groups", call.groups, call.deformable);
            return Err(Error::shape(OP, "data", expected, &*data));
        }
        learn_dim(data, 1, channels, "data")?;
        let per_group = channels.map(|channels| channels / call.groups);
        learn(weight, &PartialShape::new([Some(call.filters), per_group, Some(kh), Some(kw)]), "weight")?;
        let mut counts = [None; 2];
        for (axis, count) in counts.iter_mut().enumerate() {
            if let Some(size) = data.dim(axis + 2) {
                *count = Some(
                    call.window
                        .count(axis, size)
                        .ok_or_else(|| Error::shape(OP, "data", "an image with room for a window", &*data))?,
                );
            }
        }
        learn(out, &PartialShape::new([data.dim(0), Some(call.filters), counts[0], counts[1]]), "output")?;
        learn_dim(data, 0, out.dim(0), "data")?;
        for (i, map) in maps.iter_mut().enumerate() {
            let per_element = if i == 0 { 2 } else { 1 };
            let maps = kh.checked_mul(kw).and_then(|n| n.checked_mul(call.deformable)?.checked_mul(per_element));
            let name = Self::INPUTS[1 + i];
            learn(map, &PartialShape::new([out.dim(0), maps, out.dim(2), out.dim(3)]), name)?;
        }
        bias.iter_mut().try_for_each(|bias| learn(bias, &PartialShape::new([Some(call.filters)]), "bias"))
    }

    fn part<T: Number>(params: &P, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let call = params.call()?;
        let (data, out) = (&tensors.inputs[0], &tensors.outputs[0]);
        let [channels, height, width] = [data[1], data[2], data[3]];
        let (plane, window) = (out[2] * out[3], &call.window);
        let (image, filter, point) = (part / (out[1] * plane), part / plane % out[1], part % plane);
        let (kh, kw) = (window.kernel[0], window.kernel[1]);
        let weight = if P::IS_MODULATED { 3 } else { 2 };
        let per_group = channels / call.groups;
        let first = filter / (call.filters / call.groups) * per_group;
        let mut sum = if call.has_bias { tensors.at(weight + 1, filter) } else { T::of(0.0) };
        for c in 0..per_group {
            let channel = first + c;
            let group = channel / (channels / call.deformable);
            for element in 0..kh * kw {
                let place = |axis: usize, at: usize, step: usize| {
                    (at * window.stride[axis] + step * window.dilate[axis]) as f64 - window.pad[axis] as f64
                };
                let offset = |which: usize| {
                    let map = (image * call.deformable + group) * 2 * kh * kw + 2 * element + which;
                    tensors.at(1, map * plane + point)
                };
                let y = T::of(place(0, point / out[3], element / kw)) + offset(0);
                let x = T::of(place(1, point % out[3], element % kw)) + offset(1);
                let start = (image * channels + channel) * height * width;
                let value = if P::IS_MODULATED {
                    let map = (image * call.deformable + group) * kh * kw + element;
                    let pixels = around(y, x, height, width);
                    let value = weighted(pixels.map(|(at, weight)| (tensors.at(0, start + at), weight)));
                    value * tensors.at(2, map * plane + point)
                } else {
                    match interpolated(tensors, start, [height, width], [y, x]) {
                        Some(value) => value,
                        None => continue,
                    }
                };
                sum = sum + value * tensors.at(weight, (filter * per_group + c) * kh * kw + element);
            }
        }
        emit(0, part, sum);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, more: &[(&str, &str)], [data, out]: [&[usize]; 2], [groups, deformable, kernel]: [usize; 3]| {
            let (n, c, o) = (data[0], data[1], out[1]);
            let offset = [n, 2 * deformable * kernel * kernel, out[2], out[3]];
            let mask = [n, deformable * kernel * kernel, out[2], out[3]];
            let weight = [o, c / groups, kernel, kernel];
            let bias = [o];
            let mut shapes: Vec<&[usize]> = vec![data, &offset];
            if P::IS_MODULATED {
                shapes.push(&mask);
            }
            shapes.push(&weight);
            if !more.iter().any(|(key, _)| *key == "no_bias") {
                shapes.push(&bias);
            }
            let size = format!("({kernel}, {kernel})");
            let filters = o.to_string();
            let mut sample = Sample::new(name, [("kernel", size.as_str()), ("num_filter", filters.as_str())], &shapes);
            more.iter().for_each(|(key, value)| drop(sample.attrs.set(*key, *value)));
            sample
        };
        let no_bias = ("no_bias", "True");
        vec![
            of("padded", &[("pad", "(1, 1)")], [&[1, 2, 3, 4], &[1, 2, 3, 4]], [1, 1, 3]),
            of(
                "strides",
                &[("stride", "(2, 1)"), ("dilate", "(1, 2)"), no_bias],
                [&[1, 2, 6, 7], &[1, 2, 2, 3]],
                [1, 1, 3],
            ),
            of(
                "groups",
                &[("num_group", "2"), ("num_deformable_group", "2"), no_bias],
                [&[1, 4, 3, 3], &[1, 2, 2, 2]],
                [2, 2, 2],
            ),
            of("empty", &[], [&[0, 1, 3, 3], &[0, 1, 2, 2]], [1, 1, 2]),
        ]
    }
}

/// The image that begins at `start`, interpolated at a place between pixels; `None` outside the image. Beyond the centers of
/// the last row and column, the value is that of the last row or column.
fn interpolated<T: Number>(
    tensors: &Tensors<'_, T>,
    start: usize,
    [height, width]: [usize; 2],
    [y, x]: [T; 2],
) -> Option<T> {
    let is_inside = |at: T, size: usize| at.value() >= 0.0 && at.value() < size as f64;
    if !is_inside(y, height) || !is_inside(x, width) {
        return None;
    }
    // The pixel before a position, the pixel after it, and the weight of the pixel after it.
    let around = |at: T, size: usize| {
        let low = at.value().floor();
        match low as usize {
            last if last + 1 >= size => (last, last, T::of(0.0)),
            before => (before, before + 1, at - T::of(low)),
        }
    };
    let ((top, bottom, down), (left, right, across)) = (around(y, height), around(x, width));
    let pixel = |row: usize, column: usize| tensors.at(0, start + row * width + column);
    let line = |row: usize| pixel(row, left) * (T::of(1.0) - across) + pixel(row, right) * across;
    Some(line(top) * (T::of(1.0) - down) + line(bottom) * down)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;
    use mxrs_types::Shape;

    #[test]
    fn hostile_parameters_are_refused() {
        let op = formula::define::<Deformed<ModulatedParams>>();
        for (key, value) in [("kernel", "(3,)"), ("num_group", "0"), ("num_deformable_group", "0"), ("layout", "NCW")] {
            let mut attrs = Attrs::from([("kernel", "(3, 3)"), ("num_filter", "4")]);
            attrs.set(key, value);
            let params = op.parse(&attrs).expect("readable parameters");
            let mut inputs = vec![PartialShape::unknown(); 5];
            inputs[0] = Shape::from([1, 4, 5, 5]).into();
            let error = op.infer_shapes(&params, &mut inputs, &mut [PartialShape::unknown()]);
            assert!(error.is_err(), "{key}={value}");
        }
    }
}
