//! Resizes images `[h, w, c]` or batches `[n, h, w, c]` with OpenCV's interpolations and rounding. On each axis, a position
//! of the result has a `Tap`: some positions of the image, each with a weight. An element of the result is the sum of the
//! pixels at the taps of its row and its column, times both weights.
//!
//! `interp` is 0 for the nearest pixel, 1 for linear interpolation, 2 for cubic interpolation (Keys' with -3/4), 3 for the mean of
//! the covered area, or nearly linear interpolation if the image grows, 4 for a Lanczos window of eight pixels. `size` is (width,
//! height), or the size of both; with `keep_ratio` the size of the shorter side.
//!
//! Gradient: of float images, by the transposed sums. MXNet has none.
//!
//! MXNet: `_image_resize`, also `_npx__image_resize`. Dtypes: u8 f32 f64.

use super::image_moves::row_axis;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::matrices::LINALG;
use crate::inference::{OP, bad_attribute, learn};
use crate::numeric;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Accuracy, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_image_resize`.
    pub struct ResizeParams for "_image_resize" {
        /// Width and height of the result, or one size for both.
        size: ShapeAttr = ShapeAttr::default(),
        /// Whether a single size is that of the shorter side.
        keep_ratio: bool = false,
        /// Number of the interpolation.
        interp: i32 = 1,
    }
}

/// The largest size of a side of the result. The taps of one position take a hundred times the memory of a pixel. Without
/// this limit, a small symbol file could demand more memory than the result itself takes.
pub(super) const MOST: usize = 1 << 20;

/// The method of interpolation between pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Nearest,
    Linear,
    Cubic,
    Area,
    Lanczos,
}

impl ResizeParams {
    pub(super) fn way(&self) -> Result<Way> {
        Ok(match self.interp {
            0 => Way::Nearest,
            1 => Way::Linear,
            2 => Way::Cubic,
            3 => Way::Area,
            4 => Way::Lanczos,
            _ => {
                let expected = "0 nearest, 1 linear, 2 cubic, 3 area or 4 Lanczos";
                return Err(bad_attribute("_image_resize", "interp", expected, self.interp));
            }
        })
    }

    /// The height and width of the result for those of the image.
    fn sizes(&self, [height, width]: [usize; 2]) -> Result<[usize; 2]> {
        let expected = format!("one or two sizes that give sides of 1 to {MOST} pixels");
        let wrong = || bad_attribute("_image_resize", "size", expected.as_str(), self.size.to_text());
        let read = |size: i64| usize::try_from(size).ok().filter(|size| *size <= MOST).ok_or_else(wrong);
        let sizes = match self.size.0.as_slice() {
            [size] if self.keep_ratio => {
                let (size, shorter) = (read(*size)?, height.min(width));
                let scaled =
                    |side: usize| side.checked_mul(size).map_or(usize::MAX, |product| product / shorter.max(1));
                if height > width { [scaled(height), size] } else { [size, scaled(width)] }
            }
            [size] => [read(*size)?; 2],
            [width, height] => [read(*height)?, read(*width)?],
            _ => return Err(wrong()),
        };
        if sizes.iter().all(|size| (1..=MOST).contains(size)) { Ok(sizes) } else { Err(wrong()) }
    }
}

/// The positions of an image, with weights, that one position of the result sums up.
struct Tap {
    places: Vec<usize>,
    weights: Vec<f32>,
}

/// The taps of an axis. `is_column` says that the axis is that of the columns. `shrinks` says that the result is not larger
/// than the image on any axis.
fn taps(way: Way, n_in: usize, n_out: usize, is_column: bool, shrinks: bool) -> Vec<Tap> {
    // OpenCV computes the step with these two divisions. Another formula could round a position to another pixel.
    let step = 1.0 / (n_out as f64 / n_in as f64);
    let last = n_in as i64 - 1;
    let clamped = |first: i64, n: i64| (first..first + n).map(|i| i.clamp(0, last) as usize).collect::<Vec<usize>>();
    let pair = |near: i64, part: f32| Tap { places: clamped(near, 2), weights: vec![1.0 - part, part] };
    let tap = |d: usize| {
        let place = ((d as f64 + 0.5) * step - 0.5) as f32;
        let (floor, part) = (place.floor() as i64, place - place.floor());
        match way {
            Way::Nearest => Tap { places: clamped((d as f64 * step).floor() as i64, 1), weights: vec![1.0] },
            Way::Linear => pair(floor, if is_column && (floor < 0 || floor >= last) { 0.0 } else { part }),
            Way::Cubic => Tap { places: clamped(floor - 1, 4), weights: cubic(part) },
            Way::Lanczos => Tap { places: clamped(floor - 3, 8), weights: lanczos(part) },
            Way::Area if shrinks => cover(d as f64 * step, step, n_in),
            Way::Area => {
                let grown = n_out as f64 / n_in as f64;
                let near = (d as f64 / grown).floor();
                let over = ((d as f64 + 1.0) - (near + 1.0) * grown) as f32;
                let near = (near as i64).min(last);
                pair(near, if over <= 0.0 || near == last { 0.0 } else { over.fract() })
            }
        }
    };
    (0..n_out).map(tap).collect()
}

/// Weights of the four pixels at -1, 0, 1, 2 for a position from 0 to 1 (Keys 1981 with a = -3/4).
fn cubic(x: f32) -> Vec<f32> {
    const A: f32 = -0.75;
    let near = |t: f32| ((A + 2.0) * t - (A + 3.0)) * t * t + 1.0;
    let t = x + 1.0;
    let first = ((A * t - 5.0 * A) * t + 8.0 * A) * t - 4.0 * A;
    let (second, third) = (near(x), near(1.0 - x));
    vec![first, second, third, 1.0 - first - second - third]
}

/// Weights of the eight pixels at -3 to 4 for a position from 0 to 1: `sinc(t) sinc(t / 4)`, divided by their sum.
fn lanczos(x: f32) -> Vec<f32> {
    if x < f32::EPSILON {
        return (0..8).map(|i| f32::from(u8::from(i == 3))).collect();
    }
    let weight = |i: u32| {
        let t = f64::from(x) + 3.0 - f64::from(i);
        let angle = std::f64::consts::PI * t;
        angle.sin() * (angle / 4.0).sin() / (t * t)
    };
    let weights: Vec<f64> = (0..8).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| (weight / sum) as f32).collect()
}

/// The pixels that a position covers from `start` on. Fractions of less than a thousandth of a pixel are ignored.
fn cover(start: f64, step: f64, n_in: usize) -> Tap {
    let (end, width) = (start + step, step.min(n_in as f64 - start));
    let last = (end.floor() as usize).min(n_in - 1);
    let inner = (start.ceil() as usize).min(last);
    let (mut first, mut weights) = (inner, Vec::new());
    if inner as f64 - start > 1e-3 {
        first = inner - 1;
        weights.push(((inner as f64 - start) / width) as f32);
    }
    weights.extend((inner..last).map(|_| (1.0 / width) as f32));
    if end - last as f64 > 1e-3 {
        weights.push(((end - last as f64).min(1.0).min(width) / width) as f32);
    }
    Tap { places: (first..first + weights.len()).collect(), weights }
}

/// The taps of both axes of a call, and how they are rounded.
struct Plan {
    way: Way,
    rows: Vec<Tap>,
    columns: Vec<Tap>,
    /// Height and width of the image.
    image: [usize; 2],
    channels: usize,
}

impl Plan {
    fn new(params: &ResizeParams, data: &Shape, out: &Shape) -> Result<Self> {
        let sizes = |shape: &Shape| [shape[shape.ndim() - 3], shape[shape.ndim() - 2]];
        let (image, result) = (sizes(data), sizes(out));
        let is_half = image[0] == 2 * result[0] && image[1] == 2 * result[1];
        let way = match params.way()? {
            // An image of the same size is copied.
            _ if image == result => Way::Nearest,
            // OpenCV takes the mean of four pixels if both sides of an image are halved.
            Way::Linear if is_half => Way::Area,
            way => way,
        };
        let shrinks = result[0] <= image[0] && result[1] <= image[1];
        let rows = taps(way, image[0], result[0], false, shrinks);
        let columns = taps(way, image[1], result[1], true, shrinks);
        Ok(Self { way, rows, columns, image, channels: data[data.ndim() - 1] })
    }

    /// The taps of an element of the result: those of its row and its column, and where its image and channel begin.
    fn at(&self, part: usize) -> (&Tap, &Tap, usize) {
        let (pixel, channel) = (part / self.channels, part % self.channels);
        let (line, column) = (pixel / self.columns.len(), pixel % self.columns.len());
        let (image, row) = (line / self.rows.len(), line % self.rows.len());
        (&self.rows[row], &self.columns[column], image * self.image[0] * self.image[1] * self.channels + channel)
    }

    fn place(&self, first: usize, row: usize, column: usize) -> usize {
        first + (row * self.image[1] + column) * self.channels
    }

    /// An element of a result of 8 bits, in OpenCV's fixed point with 11 fractional bits for each weight.
    fn byte(&self, data: &[u8], part: usize) -> u8 {
        let (rows, columns, first) = self.at(part);
        let pixel = |row: usize, column: usize| data[self.place(first, row, column)];
        let fixed = |weight: &f32| (weight * 2048.0).round_ties_even() as i64;
        let line = |row: usize| -> i64 {
            columns.places.iter().zip(&columns.weights).map(|(x, w)| i64::from(pixel(row, *x)) * fixed(w)).sum()
        };
        let lines = rows.places.iter().zip(&rows.weights).map(|(y, w)| (line(*y), fixed(w)));
        let clamp = |sum: i64| sum.clamp(0, 255) as u8;
        match self.way {
            Way::Nearest => pixel(rows.places[0], columns.places[0]),
            Way::Cubic | Way::Lanczos => clamp((lines.map(|(line, w)| line * w).sum::<i64>() + (1 << 21)) >> 22),
            Way::Area if self.is_half() => {
                let all = rows.places.iter().flat_map(|y| columns.places.iter().map(move |x| i64::from(pixel(*y, *x))));
                clamp((all.sum::<i64>() + 2) >> 2)
            }
            Way::Area if self.shrinks() => {
                let line = |row: usize| -> f32 {
                    columns.places.iter().zip(&columns.weights).map(|(x, w)| f32::from(pixel(row, *x)) * w).sum()
                };
                let sum: f32 = rows.places.iter().zip(&rows.weights).map(|(y, w)| line(*y) * w).sum();
                sum.round_ties_even().clamp(0.0, 255.0) as u8
            }
            // The vertical sums of linear interpolation drop four bits.
            Way::Linear | Way::Area => clamp((lines.map(|(line, w)| (w * (line >> 4)) >> 16).sum::<i64>() + 2) >> 2),
        }
    }

    fn shrinks(&self) -> bool {
        self.rows.len() <= self.image[0] && self.columns.len() <= self.image[1]
    }

    fn is_half(&self) -> bool {
        self.image == [2 * self.rows.len(), 2 * self.columns.len()]
    }
}

pub(super) struct Resize;

impl Formula for Resize {
    type Params = ResizeParams;
    const NAME: &'static str = "_image_resize";
    const ALIASES: &'static [&'static str] = &["_npx__image_resize"];
    const SUMMARY: &'static str = "an image of another size";
    const BACKWARD: &'static str = "_backward_image_resize";
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];
    const DTYPES: &'static [DType] = &[DType::U8, DType::F32, DType::F64];
    const BACKWARD_DTYPES: Option<&'static [DType]> = Some(LINALG);
    const ACCURACY: Accuracy = Accuracy::Product;

    fn infer_shape(params: &ResizeParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        params.way()?;
        let Some(axis) = row_axis(&inputs[0], "data")? else { return Ok(()) };
        let mut dims = inputs[0].dims().unwrap_or_default().to_vec();
        if let (Some(height), Some(width)) = (dims[axis], dims[axis + 1]) {
            if height == 0 || width == 0 {
                return Err(Error::shape(OP, "data", "an image with pixels", &inputs[0]));
            }
            let [height, width] = params.sizes([height, width])?;
            (dims[axis], dims[axis + 1]) = (Some(height), Some(width));
            learn(&mut outputs[0], &PartialShape::new(dims), "output")?;
        }
        Ok(())
    }

    /// One part for each image, for which the taps are made once.
    fn n_parts(_: &ResizeParams, _: &[Shape], outputs: &[Shape]) -> usize {
        usize::from(outputs[0].n_elements() > 0)
    }

    fn part<T: Number>(params: &ResizeParams, tensors: &Tensors<'_, T>, _: usize, emit: Emit<'_, T>) -> Result<()> {
        let plan = Plan::new(params, &tensors.inputs[0], &tensors.outputs[0])?;
        for part in 0..tensors.outputs[0].n_elements() {
            let (rows, columns, first) = plan.at(part);
            let mut sum = T::of(0.0);
            for (y, by) in rows.places.iter().zip(&rows.weights) {
                for (x, weight) in columns.places.iter().zip(&columns.weights) {
                    let weight = f64::from(*by) * f64::from(*weight);
                    sum = sum + T::of(weight) * tensors.at(0, plan.place(first, *y, *x));
                }
            }
            emit(0, part, sum);
        }
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of =
            |name, size, interp, shape: &[usize]| Sample::new(name, [("size", size), ("interp", interp)], &[shape]);
        vec![
            of("linear", "(6, 3)", "1", &[4, 5, 2]),
            of("nearest", "(3, 5)", "0", &[4, 5, 1]),
            of("cubic", "(7, 3)", "2", &[4, 5, 1]),
            of("area", "(2, 3)", "3", &[4, 5, 1]),
            of("lanczos", "(7, 9)", "4", &[1, 4, 5, 1]),
            of("half", "(2, 2)", "1", &[4, 4, 1]),
            of("empty", "(3, 3)", "1", &[0, 2, 2, 3]),
        ]
    }
}

pub(super) fn run(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    mode: RunMode,
) -> Result<()> {
    if inputs[0].desc.dtype != DType::U8 {
        return formula::forward::<Resize>(params, inputs, outputs, mode);
    }
    let n = outputs[0].desc.shape.n_elements();
    if n > 0 {
        let plan = Plan::new(params.get(), &inputs[0].desc.shape, &outputs[0].desc.shape)?;
        let bytes: Vec<i64> = (0..n).map(|part| i64::from(plan.byte(inputs[0].bytes, part))).collect();
        numeric::write_integers(&mut outputs[0], &bytes);
    }
    Ok(())
}

/// Defines the operator `_image_resize`.
pub fn define() -> OpDef {
    OpDef { reference: Some(run), ..formula::define::<Resize>() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    #[test]
    fn sizes_of_results_are_limited() {
        let op = define();
        let infer = |size: &str, keep_ratio: &str, image: [usize; 3]| {
            let params = op.parse(&Attrs::from([("size", size), ("keep_ratio", keep_ratio)]))?;
            let mut outputs = [PartialShape::unknown()];
            op.infer_shapes(&params, &mut [PartialShape::from(Shape::from(image))], &mut outputs)?;
            Ok::<_, Error>(outputs[0].to_string())
        };
        assert_eq!(infer("(1048576, 1)", "0", [2, 2, 3]).unwrap(), "(1, 1048576, 3)");
        for (size, keep_ratio, image) in [
            ("(1048577, 1)", "0", [2, 2, 3]),
            ("(1, -1)", "0", [2, 2, 3]),
            ("2", "1", [1, 1 << 20, 1]),
            ("0", "0", [2, 2, 3]),
        ] {
            let error = infer(size, keep_ratio, image).unwrap_err().to_string();
            assert!(error.contains("sides of 1 to 1048576 pixels") && error.contains("size"), "{error}");
        }
    }
}
