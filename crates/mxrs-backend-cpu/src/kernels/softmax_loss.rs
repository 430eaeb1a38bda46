//! The gradient of `SoftmaxOutput`: `(out - target) · factor`. The label of a row is a class, from which the target is made,
//! or a distribution, which is the target.

use super::softmax::Rows;
use super::{around, for_float};
use crate::chunks::{Compute, Storing, each};
use crate::level::{Level, Loop};
use crate::number::Float;
use crate::plan::{Build, Planned, row_major};
use crate::split::in_element_ranges;
use crate::tensors::{Sink, Source};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::nn::softmax_output::{Normalization, SoftmaxOutputParams};
use mxrs_types::{DType, Result};
use std::ops::Range;

/// The rows of the data of `SoftmaxOutput`, its first input; each row is one distribution.
pub fn rows(call: &OpCall<'_>) -> Rows {
    let (params, shape) = (call.params.get::<SoftmaxOutputParams>(), &call.inputs[0].shape);
    let (outer, size, inner) = if params.multi_output {
        around(shape, 1)
    } else if params.preserve_shape {
        around(shape, shape.ndim() - 1)
    } else {
        (shape[0], shape[1..].iter().product(), 1)
    };
    Rows { outer, size, inner }
}

/// Plans `_backward_SoftmaxOutput`.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    if call.op.name != "_backward_SoftmaxOutput" {
        return None;
    }
    let (rows, dtype) = (rows(call), call.outputs[0].dtype);
    let is_distribution = call.inputs[1].shape == call.inputs[0].shape;
    if !is_distribution && call.inputs[1].shape.n_elements() < rows.outer * rows.inner {
        return Some(Err("there are fewer labels than rows".into()));
    }
    Some(for_float!(call, dtype, T => loss::<T>(call, level, rows, is_distribution)))
}

/// The values of the target of a row, and the factor of the gradient.
#[derive(Clone, Copy)]
struct Target<T> {
    /// Value of the target at the label.
    on: T,
    /// Value of the target at other classes.
    off: T,
    factor: T,
    /// A row with this label has the gradient 0.
    ignored: Option<i64>,
}

/// Converts a label to a class index: truncates, and saturates like a cast.
fn class<T: Float>(label: T) -> i64 {
    label.widen() as i64
}

fn loss<T: Float + 'static>(call: &OpCall<'_>, level: Level, rows: Rows, is_distribution: bool) -> Build {
    let params = call.params.clone();
    let dtype = call.outputs[0].dtype;
    row_major(call, 0, move |args| {
        let params = params.get::<SoftmaxOutputParams>();
        if is_distribution {
            return of_distributions::<T>(args, level, T::from_f64(f64::from(params.grad_scale)), dtype);
        }
        let labels = Source::<T>::of(args, 1);
        // SAFETY: the label's shape differs from the output's, so it is not in the output's memory, and nothing writes
        // it. `plan` has checked that there are at least this many labels.
        let labels = unsafe { labels.slice(0..rows.outer * rows.inner) };
        of_classes(args, level, rows, labels, target(params, rows, labels), dtype)
    })
}

fn target<T: Float>(params: &SoftmaxOutputParams, rows: Rows, labels: &[T]) -> Target<T> {
    let ignored = params.ignore_label as i64;
    let n_counted = match params.normalization {
        Normalization::Null => 1,
        Normalization::Batch if params.multi_output => rows.outer,
        Normalization::Batch => labels.len(),
        Normalization::Valid => labels.iter().filter(|label| class(**label) != ignored).count().max(1),
    };
    let per_image = params.multi_output && params.normalization != Normalization::Valid;
    let n_positions = if per_image { rows.inner } else { 1 };
    let alpha = if params.multi_output { 0.0 } else { f64::from(params.smooth_alpha) };
    let off = if alpha > 0.0 { alpha / (rows.size as f64 - 1.0) } else { 0.0 };
    Target {
        on: T::from_f64(1.0 - alpha),
        off: T::from_f64(off),
        factor: T::from_f64(f64::from(params.grad_scale) / n_positions as f64 / n_counted as f64),
        ignored: params.use_ignore.then_some(ignored),
    }
}

/// Stores the gradient of one row.
struct RowLoop<'a, 'b, T> {
    out: &'b Sink<'a, T>,
    /// The elements of the row.
    at: Range<usize>,
    gradient: RowGradient<'a, 'b, T>,
}

impl<T: Float> Loop for RowLoop<'_, '_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: `in_pieces` gives this row to one thread, which reads each element before it stores the gradient there.
        unsafe { Storing::new(*self.out, self.at, self.gradient).finish() };
    }
}

/// Computes the gradient of one row.
struct RowGradient<'a, 'b, T> {
    output: &'b Source<'a, T>,
    ograd: Option<&'b Source<'a, T>>,
    target: Target<T>,
    /// Index of the element of the labeled class; an index that no element has if the label is not a class of the row.
    labeled: usize,
    is_ignored: bool,
}

impl<T: Float> Compute<T> for RowGradient<'_, '_, T> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [T; N] {
        let Self { output, ograd, target, labeled, is_ignored } = *self;
        let place = labeled.checked_sub(at).and_then(|place| u32::try_from(place).ok()).unwrap_or(u32::MAX);
        // SAFETY: the caller guarantees that no other thread writes these elements of the inputs.
        let y = unsafe { output.chunk::<N>(at) };
        let result: [T; N] = each(T::ZERO, |l| {
            let there = if l as u32 == place { target.on } else { target.off };
            if is_ignored { T::ZERO } else { y[l].minus(there).times(target.factor) }
        });
        let Some(ograd) = ograd else { return result };
        // SAFETY: the caller guarantees that no other thread writes these elements of the inputs.
        let g = unsafe { ograd.chunk::<N>(at) };
        each(T::ZERO, |l| result[l].times(g[l]))
    }

    #[inline(always)]
    fn prefetch<const N: usize>(&self, at: usize) {
        self.output.prefetch::<N>(at);
    }
}

/// Computes the gradient of element `k` of several interleaved rows.
struct ColumnsLoop<'a, T> {
    target: Target<T>,
    y: &'a [T],
    k: i64,
    labels: &'a [T],
    ograd: Option<&'a [T]>,
    to: &'a mut [T],
}

impl<T: Float> Loop for ColumnsLoop<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let target = self.target;
        for ((to, y), label) in self.to.iter_mut().zip(self.y).zip(self.labels) {
            let label = label.widen() as i64;
            let there = if label == self.k { target.on } else { target.off };
            *to = if target.ignored == Some(label) { T::ZERO } else { y.minus(there).times(target.factor) };
        }
        for (to, g) in self.to.iter_mut().zip(self.ograd.unwrap_or(&[])) {
            *to = to.times(*g);
        }
    }
}

/// The third input of the call, the gradient of the output, if there is one.
fn ograd_of<'a, T: Float>(args: &KernelArgs<'a>) -> Option<Source<'a, T>> {
    (args.inputs.len() > 2).then(|| Source::of(args, 2))
}

fn of_classes<T: Float + 'static>(
    args: &KernelArgs<'_>,
    level: Level,
    rows: Rows,
    labels: &[T],
    target: Target<T>,
    dtype: DType,
) -> Result<()> {
    let (output, ograd, out) = (Source::<T>::of(args, 0), ograd_of::<T>(args), Sink::<T>::of(args, 0, dtype)?);
    rows.in_pieces(args, &|outer, first, width| {
        let at = |k: usize| (outer * rows.size + k) * rows.inner + first;
        // SAFETY: `in_pieces` gives each piece to one thread, and an element of an input in the output's memory is read
        // before it is overwritten.
        let read = |piece: &Range<usize>| unsafe {
            (output.slice(piece.clone()), ograd.map(|ograd| ograd.slice(piece.clone())))
        };
        if rows.inner == 1 {
            let (start, label) = (at(0), class(labels[outer]));
            let place = usize::try_from(label).ok().filter(|place| *place < rows.size);
            let gradient = RowGradient {
                output: &output,
                ograd: ograd.as_ref(),
                target,
                labeled: place.map_or(usize::MAX, |place| start + place),
                is_ignored: target.ignored == Some(label),
            };
            level.run(RowLoop { out: &out, at: start..start + rows.size, gradient });
            return;
        }
        let labels = &labels[outer * rows.inner + first..][..width];
        for k in 0..rows.size {
            let fill = |piece: Range<usize>, to: &mut [T]| {
                let (y, ograd) = read(&piece);
                let labels = &labels[piece.start - at(k)..];
                level.run(ColumnsLoop { target, y, k: k as i64, labels, ograd, to });
            };
            // SAFETY: `in_pieces` gives these columns to this thread alone, and `fill` reads each piece before the
            // piece is written.
            unsafe { out.write(at(k)..at(k) + width, fill) };
        }
    });
    Ok(())
}

struct DistributionLoop<'a, T> {
    y: &'a [T],
    label: &'a [T],
    ograd: Option<&'a [T]>,
    scale: T,
    to: &'a mut [T],
}

impl<T: Float> Loop for DistributionLoop<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for ((to, y), label) in self.to.iter_mut().zip(self.y).zip(self.label) {
            *to = y.minus(*label).times(self.scale);
        }
        for (to, g) in self.to.iter_mut().zip(self.ograd.unwrap_or(&[])) {
            *to = to.times(*g);
        }
    }
}

fn of_distributions<T: Float>(args: &KernelArgs<'_>, level: Level, scale: T, dtype: DType) -> Result<()> {
    let (output, label, ograd) = (Source::<T>::of(args, 0), Source::<T>::of(args, 1), ograd_of::<T>(args));
    let out = Sink::<T>::of(args, 0, dtype)?;
    let n_elements = args.inputs[0].len_bytes() / dtype.size_of();
    in_element_ranges(args.team, n_elements, &|range| {
        // SAFETY: ranges are disjoint and each belongs to one thread. Elements of inputs in the output's memory are
        // read before they are overwritten.
        unsafe {
            out.write(range, |piece, to| {
                let (y, label) = (output.slice(piece.clone()), label.slice(piece.clone()));
                let ograd = ograd.map(|ograd| ograd.slice(piece));
                level.run(DistributionLoop { y, label, ograd, scale, to });
            });
        }
    });
    Ok(())
}
