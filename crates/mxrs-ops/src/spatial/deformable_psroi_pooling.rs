//! Means of points of the bins of regions, where each bin reads its own channel and can be moved by an input. Data `[n, output_dim ·
//! group_size², h, w]` and rois `[r, 5]`, each (image, x1, y1, x2, y2), give `[r, output_dim, pooled_size, pooled_size]`. The hidden
//! output of MXNet's operator is not computed. Dai et al. 2017, arXiv:1703.06211.
//!
//! Corners are rounded and then multiplied by `spatial_scale`; the right and lower ones are one pixel further. A bin has
//! `sample_per_part`² points, interpolated bilinearly; points more than half a pixel outside the image are left out. A bin without
//! points gives 0.
//!
//! Unless `no_trans`, trans `[r, 2 · classes, part_size, part_size]` moves the bins: first horizontally, then vertically, in units of
//! `trans_std` times the size of the region. The channels of the output are split into `classes` parts of equal size, which move
//! independently of each other. A `part_size` of 0 is `pooled_size`.
//!
//! Gradient: of data and trans. Rois have none.
//!
//! MXNet: `_contrib_DeformablePSROIPooling`. Dtypes: f32 f64 f16 bf16.

use super::roi_pooling::image_of;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{OP, bad_attribute, learn, learn_dim, require_ndim};
use mxrs_op::{Accuracy, Fill, OpDef, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `_contrib_DeformablePSROIPooling`.
    pub struct DeformablePsroiParams for "_contrib_DeformablePSROIPooling" {
        /// Size of data relative to the image in which rois are measured, from 0 to 1.
        spatial_scale: f32,
        /// Number of channels of the output.
        output_dim: i32,
        /// Number of groups of channels along each side.
        group_size: i32,
        /// Height and width of the output.
        pooled_size: i32,
        /// Height and width of trans; `pooled_size` if 0.
        part_size: i32 = 0,
        /// Number of points on each side of a bin, at most 32.
        sample_per_part: i32 = 1,
        /// Factor of trans, from 0 to 1.
        trans_std: f32 = 0.0,
        /// Whether there is no input trans.
        no_trans: bool = false,
    }
}

/// The largest size of an axis that a parameter names.
const MOST_SIZE: usize = 1 << 16;
/// The most points on each side of a bin. A small image with a large output and many points would take hours.
const MOST_POINTS: usize = 32;

/// The checked sizes of a call.
struct Call {
    channels: usize,
    group: usize,
    size: usize,
    part: usize,
    points: usize,
}

impl DeformablePsroiParams {
    fn call(&self) -> Result<Call> {
        let read = |name: &str, size: i32, most: usize| {
            let allowed = usize::try_from(size).ok().filter(|size| (1..=most).contains(size));
            allowed.ok_or_else(|| bad_attribute(DeformablePsroi::NAME, name, format!("1 to {most}"), size))
        };
        for (name, factor) in [("spatial_scale", self.spatial_scale), ("trans_std", self.trans_std)] {
            if !(0.0..=1.0).contains(&factor) {
                return Err(bad_attribute(DeformablePsroi::NAME, name, "a number from 0 to 1", factor));
            }
        }
        let part = if self.part_size == 0 { self.pooled_size } else { self.part_size };
        Ok(Call {
            channels: read("output_dim", self.output_dim, MOST_SIZE)?,
            group: read("group_size", self.group_size, MOST_SIZE)?,
            size: read("pooled_size", self.pooled_size, MOST_SIZE)?,
            part: read("part_size", part, MOST_SIZE)?,
            points: read("sample_per_part", self.sample_per_part, MOST_POINTS)?,
        })
    }
}

impl Call {
    /// The row or column of trans that moves a bin. It is computed in float32 as in MXNet, because the rounding decides which one it
    /// is for some sizes.
    fn part_of(&self, bin: usize) -> usize {
        let part = (bin as f32 / self.size as f32 * self.part as f32).floor();
        (part as usize).min(self.part - 1)
    }

    /// The row or column of the group of channels that a bin reads.
    fn group_of(&self, bin: usize) -> usize {
        (bin * self.group / self.size).min(self.group - 1)
    }
}

struct DeformablePsroi;

impl Formula for DeformablePsroi {
    type Params = DeformablePsroiParams;
    const NAME: &'static str = "_contrib_DeformablePSROIPooling";
    const SUMMARY: &'static str = "means of points of the bins of regions, each of its own channel, moved by an input";
    const BACKWARD: &'static str = "_backward_DeformablePSROIPooling";
    const INPUTS: &'static [&'static str] = &["data", "rois", "trans"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "rois", "trans"];
    const OUTPUTS: &'static [&'static str] = &["output", "top_count"];
    const N_HIDDEN: usize = 1;
    const DIFFERENTIATED: &'static [usize] = &[0, 2];
    const ACCURACY: Accuracy = Accuracy::Product;

    fn n_inputs(params: &DeformablePsroiParams) -> usize {
        if params.no_trans { 2 } else { 3 }
    }

    fn infer_shape(
        params: &DeformablePsroiParams,
        inputs: &mut [PartialShape],
        outputs: &mut [PartialShape],
    ) -> Result<()> {
        let call = params.call()?;
        let [data, rois, trans @ ..] = inputs else { return Ok(()) };
        require_ndim(data, 4, "data")?;
        require_ndim(rois, 2, "rois")?;
        learn_dim(rois, 1, Some(5), "rois")?;
        learn_dim(data, 1, call.channels.checked_mul(call.group * call.group), "data")?;
        for trans in trans {
            learn(trans, &PartialShape::new([rois.dim(0), None, Some(call.part), Some(call.part)]), "trans")?;
            learn_dim(rois, 0, trans.dim(0), "rois")?;
            let is_cut = |maps: usize| maps > 0 && maps.is_multiple_of(2) && call.channels.is_multiple_of(maps / 2);
            if trans.dim(1).is_some_and(|maps| !is_cut(maps)) {
                let expected = format!("two maps for each of the equal parts of {} channels", call.channels);
                return Err(Error::shape(OP, "trans", expected, &*trans));
            }
        }
        for out in outputs {
            let shape = PartialShape::new([rois.dim(0), Some(call.channels), Some(call.size), Some(call.size)]);
            learn(out, &shape, "output")?;
            learn_dim(rois, 0, out.dim(0), "rois")?;
        }
        Ok(())
    }

    fn part<T: Number>(
        params: &DeformablePsroiParams,
        tensors: &Tensors<'_, T>,
        part: usize,
        emit: Emit<'_, T>,
    ) -> Result<()> {
        let call = params.call()?;
        let (data, size) = (&tensors.inputs[0], call.size);
        let (bins, channel) = ([part / size % size, part % size], part / (size * size) % call.channels);
        let region = part / (size * size * call.channels);
        let roi = &tensors.values(1)[region * 5..][..5];
        let Some(image) = image_of(roi[0], data[0])? else { return Ok(()) };
        if data[2..].contains(&0) {
            return Ok(());
        }
        // The first point of the bin, and the distance between points: vertically and horizontally.
        let places = [0, 1].map(|axis| {
            let scaled = |corner: f64| corner * f64::from(params.spatial_scale) - 0.5;
            let start = scaled(roi[2 - axis].round());
            let extent = (scaled(roi[4 - axis].round() + 1.0) - start).max(0.1);
            let bin = extent / size as f64;
            let moved = match tensors.inputs.get(2) {
                Some(trans) => {
                    let classes = trans[1] / 2;
                    let class = channel / (call.channels / classes);
                    let map = (region * classes + class) * 2 + 1 - axis;
                    let at = (map * call.part + call.part_of(bins[0])) * call.part + call.part_of(bins[1]);
                    tensors.at(2, at) * T::of(f64::from(params.trans_std) * extent)
                }
                None => T::of(0.0),
            };
            (T::of(bins[axis] as f64 * bin + start) + moved, bin / call.points as f64)
        });
        let plane = (channel * call.group + call.group_of(bins[0])) * call.group + call.group_of(bins[1]);
        let first = (image * data[1] + plane) * data[2] * data[3];
        let (mut sum, mut n) = (T::of(0.0), 0.0);
        for down in 0..call.points {
            for right in 0..call.points {
                let [y, x] = [(places[0], down), (places[1], right)].map(|((at, step), i)| at + T::of(i as f64 * step));
                let is_inside = |at: T, size: usize| (-0.5..=size as f64 - 0.5).contains(&at.value());
                if is_inside(y, data[2]) && is_inside(x, data[3]) {
                    sum = sum + interpolated(tensors, first, [data[2], data[3]], [y, x]);
                    n += 1.0;
                }
            }
        }
        emit(0, part, if n > 0.0 { sum / T::of(n) } else { T::of(0.0) });
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, more: &[(&str, &str)], data: &[usize], rois: &[f64], trans: Option<[usize; 2]>| {
            let attrs = [("spatial_scale", "1"), ("output_dim", "2"), ("group_size", "2"), ("pooled_size", "2")];
            let (n, rois_shape) = (rois.len() / 5, [rois.len() / 5, 5]);
            let trans = trans.map(|[maps, part]| [n, maps, part, part]);
            let mut shapes: Vec<&[usize]> = vec![data, &rois_shape];
            shapes.extend(trans.as_ref().map(|shape| &shape[..]));
            let mut sample = Sample::new(name, attrs, &shapes).fill(1, Fill::Values(rois.to_vec()));
            more.iter().for_each(|(key, value)| drop(sample.attrs.set(*key, *value)));
            sample
        };
        let two = [0.0, 0.0, 0.0, 3.0, 4.0, 1.0, 1.0, 2.0, 2.0, 3.0];
        let one = [0.0, 1.0, 0.0, 7.0, 9.0];
        let moved = ("trans_std", "0.5");
        vec![
            of("moved", &[moved, ("sample_per_part", "2")], &[2, 8, 6, 5], &two, Some([2, 2])),
            of(
                "classes",
                &[moved, ("spatial_scale", "0.5"), ("pooled_size", "3"), ("part_size", "2")],
                &[1, 8, 5, 4],
                &one,
                Some([4, 2]),
            ),
            of("not_moved", &[("no_trans", "True"), ("sample_per_part", "3")], &[2, 8, 6, 5], &two, None),
            of("outside", &[moved], &[1, 8, 4, 4], &[0.0, -3.0, 2.0, 9.0, 2.0], Some([2, 2])),
            of("no_image", &[moved], &[1, 8, 4, 4], &[-1.0, 0.0, 0.0, 3.0, 3.0], Some([2, 2])),
            of("empty", &[moved], &[1, 8, 4, 4], &[], Some([2, 2])),
        ]
    }
}

/// The image that begins at `start`, interpolated at a place that is at most half a pixel outside. There, the value is that of the
/// border.
fn interpolated<T: Number>(tensors: &Tensors<'_, T>, start: usize, [height, width]: [usize; 2], [y, x]: [T; 2]) -> T {
    // The pixels before and after a position, which are the same at a whole number, and the weight of the one after it.
    let around = |at: T, size: usize| {
        let end = size as f64 - 1.0;
        let at = if (0.0..=end).contains(&at.value()) { at } else { T::of(at.value().clamp(0.0, end)) };
        let low = at.value().floor();
        (low as usize, at.value().ceil() as usize, at - T::of(low))
    };
    let ((top, bottom, down), (left, right, across)) = (around(y, height), around(x, width));
    let pixel = |row: usize, column: usize| tensors.at(0, start + row * width + column);
    let line = |row: usize| pixel(row, left) * (T::of(1.0) - across) + pixel(row, right) * across;
    line(top) * (T::of(1.0) - down) + line(bottom) * down
}

/// Defines the operator `_contrib_DeformablePSROIPooling`.
pub fn define() -> OpDef {
    formula::define::<DeformablePsroi>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;
    use mxrs_types::Shape;

    #[test]
    fn impossible_calls_are_refused() {
        let op = define();
        let refuse = |key: &str, value: &str, maps: usize| {
            let sizes = [("output_dim", "2"), ("group_size", "2"), ("pooled_size", "2"), ("spatial_scale", "1")];
            let mut attrs = Attrs::from(sizes);
            attrs.set(key, value);
            let params = op.parse(&attrs).expect("readable parameters");
            let shapes = [Shape::from([1, 8, 4, 4]), Shape::from([3, 5]), Shape::from([3, maps, 2, 2])];
            let mut inputs = shapes.map(PartialShape::from);
            let mut outputs = [PartialShape::unknown(), PartialShape::unknown()];
            assert!(op.infer_shapes(&params, &mut inputs, &mut outputs).is_err(), "{key}={value}, {maps} maps");
        };
        for (key, value) in [
            ("group_size", "0"),
            ("group_size", "3"),
            ("output_dim", "-1"),
            ("pooled_size", "100000"),
            ("part_size", "3"),
            ("sample_per_part", "33"),
            ("trans_std", "1.5"),
            ("spatial_scale", "nan"),
        ] {
            refuse(key, value, 2);
        }
        refuse("part_size", "2", 0);
        refuse("part_size", "2", 3);
        refuse("part_size", "2", 6);
    }

    #[test]
    fn parts_are_those_of_mxnet() {
        let call = |size: usize, part: usize| Call { channels: 1, group: 1, size, part, points: 1 };
        assert_eq!([0, 1, 2].map(|bin| call(3, 2).part_of(bin)), [0, 0, 1]);
        // In float32, 1 / 41 · 41 is less than 1.
        assert_eq!([0, 1, 3].map(|bin| call(41, 41).part_of(bin)), [0, 0, 3]);
    }
}
