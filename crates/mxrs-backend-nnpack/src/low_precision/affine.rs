//! The loop `out = max(data · scale + shift, low)` with a scale and a shift for each channel, between any two types:
//! quantization, dequantization, requantization, and batch normalization at inference.

use super::level::{Level, for_each_level};
use super::loops::{Shared, in_parts};
use super::number::Number;
use half::bf16;
use mxrs_op::TensorDesc;
use mxrs_sync::Team;
use mxrs_types::{DType, Layout};

/// Which channel an element belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// All elements are of one channel.
    One,
    /// Channels are the last axis in memory, of this size.
    Last(usize),
    /// For each image, `channels` planes of `inner` elements each.
    Planes {
        /// Number of channels.
        channels: usize,
        /// Elements of a plane.
        inner: usize,
    },
}

impl Order {
    /// The order of a tensor in this layout, which is row-major or has channels last, with channels along `axis`.
    pub fn of(desc: &TensorDesc, layout: &Layout, axis: usize) -> Self {
        let channels = desc.shape[axis];
        let inner: usize = desc.shape[axis + 1..].iter().product();
        match layout.is_row_major() && inner > 1 {
            true => Self::Planes { channels, inner },
            false => Self::Last(channels),
        }
    }
}

/// A run of elements.
pub struct Run<'a> {
    src: *const u8,
    dst: *mut u8,
    len: usize,
    scale: &'a [f32],
    shift: &'a [f32],
    low: f32,
}

/// A function that converts a run.
type Convert = unsafe fn(&Run<'_>);

for_each_level! {
    fn one [A: Value, O: Number] [A, O]: unsafe fn(run: &Run<'_>) = convert_one
}
for_each_level! {
    fn many [A: Value, O: Number] [A, O]: unsafe fn(run: &Run<'_>) = convert_many
}

/// A type of elements that the loops read: the types of [`Number`], and int32.
trait Value: Copy + 'static {
    fn value(self) -> f32;
}

impl<T: Number> Value for T {
    #[inline(always)]
    fn value(self) -> f32 {
        self.wide()
    }
}

impl Value for i32 {
    #[inline(always)]
    fn value(self) -> f32 {
        self as f32
    }
}

#[inline(always)]
fn bounded(x: f32, low: f32) -> f32 {
    if x < low { low } else { x }
}

/// Converts elements of one channel.
///
/// # Safety
/// The run must be readable and writable, and it must have a scale and a shift.
#[inline(always)]
unsafe fn convert_one<A: Value, O: Number>(run: &Run<'_>) {
    let (src, dst) = (run.src.cast::<A>(), run.dst.cast::<O>());
    let (scale, shift, low) = (run.scale[0], run.shift[0], run.low);
    for i in 0..run.len {
        // SAFETY: the caller promises `len` elements.
        unsafe { *dst.add(i) = O::of(bounded((*src.add(i)).value() * scale + shift, low)) }
    }
}

/// Converts pixels of all channels.
///
/// # Safety
/// As for [`convert_one`]; the length is a multiple of the number of channels.
#[inline(always)]
unsafe fn convert_many<A: Value, O: Number>(run: &Run<'_>) {
    let n = run.scale.len();
    let shift = &run.shift[..n];
    for first in (0..run.len).step_by(n) {
        // SAFETY: the length is a multiple of `n`, so this pixel has `n` elements in the run.
        let (src, dst) = unsafe { (run.src.cast::<A>().add(first), run.dst.cast::<O>().add(first)) };
        for i in 0..n {
            // SAFETY: `i < n`, and this pixel has `n` elements in the run.
            unsafe { *dst.add(i) = O::of(bounded((*src.add(i)).value() * run.scale[i] + shift[i], run.low)) }
        }
    }
}

/// The function for data of one type and a result of another; `None` if there is none.
fn convert(data: DType, out: DType, is_one: bool, level: Level) -> Option<Convert> {
    fn of<A: Value, O: Number>(is_one: bool, level: Level) -> Convert {
        if is_one { one::<A, O>(level) } else { many::<A, O>(level) }
    }
    fn to<A: Value>(out: DType, is_one: bool, level: Level) -> Option<Convert> {
        Some(match out {
            DType::F32 => of::<A, f32>(is_one, level),
            DType::BF16 => of::<A, bf16>(is_one, level),
            DType::I8 => of::<A, i8>(is_one, level),
            DType::U8 => of::<A, u8>(is_one, level),
            _ => return None,
        })
    }
    match data {
        DType::F32 => to::<f32>(out, is_one, level),
        DType::BF16 => to::<bf16>(out, is_one, level),
        DType::I8 => to::<i8>(out, is_one, level),
        DType::U8 => to::<u8>(out, is_one, level),
        DType::I32 => to::<i32>(out, is_one, level),
        _ => None,
    }
}

/// A prepared loop.
pub struct Affine {
    order: Order,
    n: usize,
    sizes: [usize; 2],
    convert: Convert,
    threads: usize,
}

/// Scales, shifts and the lower bound of a run.
pub struct Factors {
    /// A scale for each channel.
    pub scale: Vec<f32>,
    /// A shift for each channel.
    pub shift: Vec<f32>,
    /// Lower bound of the result, -∞ for none. A NaN stays a NaN.
    pub low: f32,
}

impl Factors {
    /// The same scale for all elements.
    pub fn scale(scale: f64) -> Self {
        Self { scale: vec![scale as f32], shift: vec![0.0], low: f32::NEG_INFINITY }
    }
}

impl Affine {
    /// Prepares the loop over `n` elements; `None` if there is none between these types.
    pub fn new(order: Order, n: usize, [data, out]: [DType; 2], level: Level, threads: usize) -> Option<Self> {
        let convert = convert(data, out, !matches!(order, Order::Last(_)), level)?;
        Some(Self { order, n, sizes: [data.size_of(), out.size_of()], convert, threads })
    }

    /// Converts all elements.
    ///
    /// # Safety
    /// `src` and `dst` must have the elements of the loop; nothing else may use `dst`, which may be `src` if both types have
    /// the same size.
    pub unsafe fn run(&self, src: *const u8, dst: *mut u8, factors: &Factors, team: &Team) {
        let (src, dst) = (Shared(src.cast_mut()), Shared(dst));
        let [from, to] = self.sizes;
        let piece = match self.order {
            Order::One => 256,
            Order::Last(channels) => channels,
            Order::Planes { inner, .. } => inner,
        }
        .max(1);
        in_parts(team, self.threads, self.n.div_ceil(piece), piece * (from + to), &|parts| {
            let run = |first: usize, len: usize, c: std::ops::Range<usize>| {
                let (scale, shift) = (&factors.scale[c.clone()], &factors.shift[c]);
                // SAFETY: the runs of all parts are disjoint and lie within the `n` elements, for which the caller promises
                // the memory.
                unsafe {
                    let (src, dst) = (src.at(first * from), dst.at(first * to));
                    (self.convert)(&Run { src, dst, len, scale, shift, low: factors.low });
                }
            };
            match self.order {
                Order::Planes { channels, inner } => {
                    parts.for_each(|plane| run(plane * inner, inner, plane % channels..plane % channels + 1));
                }
                Order::One | Order::Last(_) => {
                    let (first, end) = (parts.start * piece, (parts.end * piece).min(self.n));
                    run(first, end - first, 0..factors.scale.len());
                }
            }
        });
    }
}
