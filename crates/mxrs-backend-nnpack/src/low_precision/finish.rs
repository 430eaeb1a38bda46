//! What is done to the sums of a product before they are stored: scale, bias, addition of a tensor, bounds, conversion.

use super::block::{PANEL, SQUARE};
#[cfg(target_arch = "x86_64")]
use super::finish512;
use super::level::{Level, for_each_level};
use super::number::Number;
use half::bf16;
#[cfg(target_arch = "x86_64")]
use mxrs_processor::Feature;
use mxrs_types::DType;

/// The output of a product, with channels last, and what is added to it.
#[derive(Clone, Copy)]
pub struct Output {
    /// The output.
    pub dst: *mut u8,
    /// Channels of a pixel.
    pub channels: usize,
    /// Distance in values between the pixels of neighboring rows of sums.
    pub row_step: usize,
    /// Whether whole cache lines are stored directly to memory, bypassing the caches, because they would be evicted before
    /// they are read.
    pub past_caches: bool,
    /// A factor for each channel. [`Rule::Sums`] does not read it. For [`Rule::Bf16`] it must be 1, because only some
    /// kernels multiply by it.
    pub scales: *const f32,
    /// The bias of each channel: int32 for [`Rule::Sums`], else float32.
    pub bias: *const f32,
    /// A tensor of the output's shape that is added, or null. It may be the output.
    pub sum: *const u8,
    /// Factor of the tensor that is added.
    pub sum_scale: f32,
    /// Lower bound of the result. A NaN stays a NaN.
    pub low: f32,
    /// Upper bound of the result.
    pub high: f32,
}

// SAFETY: sharing copies addresses only. The memory behind them is accessed by unsafe functions, whose contracts exclude
// conflicting accesses.
unsafe impl Sync for Output {}

/// Which conversion stores the sums. Scales and bias have values for all squares of 16 channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Sums of bfloat16 products: adds the bias and a tensor, applies the bounds, and stores as bfloat16.
    Bf16,
    /// Sums of products of bytes: scales, adds the bias and a tensor of the first type if there is one, applies the bounds,
    /// and stores as the second type.
    Bytes(Option<DType>, DType),
    /// Sums of products of bytes: adds an integer bias and stores as int32.
    Sums,
}

/// Rows of sums to store.
pub struct Stored<'a> {
    /// The output that the sums are stored to.
    pub output: &'a Output,
    /// The first row of sums.
    pub sums: *const u32,
    /// Number of rows.
    pub rows: usize,
    /// First channel.
    pub channel: usize,
    /// Number of channels, at most [`PANEL`].
    pub width: usize,
    /// Index of the pixel of the first row.
    pub pixel: usize,
}

/// A function that stores rows of sums.
///
/// # Safety
/// The pixels and channels must be in the output, and no other thread may use them. `sums` must be rows of
/// [`super::block::Sums`].
pub type Store = unsafe fn(&Stored<'_>);

/// The type of the sums.
pub trait Total: 'static {
    /// The sum in float32.
    fn wide(bits: u32) -> f32;
}

/// Sums in float32.
pub struct Floats;
/// Sums in int32.
pub struct Integers;

impl Total for Floats {
    #[inline(always)]
    fn wide(bits: u32) -> f32 {
        f32::from_bits(bits)
    }
}

impl Total for Integers {
    #[inline(always)]
    fn wide(bits: u32) -> f32 {
        bits as i32 as f32
    }
}

for_each_level! {
    fn looped [S: Total, A: Number, O: Number] [S, A, O]: unsafe fn(s: &Stored<'_>) = store
}
for_each_level! {
    fn counted: unsafe fn(s: &Stored<'_>) = store_counts
}

/// Returns the function that stores sums of type `S` as values of type `O`, after adding a tensor of type `A`.
#[cfg(target_arch = "x86_64")]
fn stored<S, A, O>(level: Level) -> Store
where
    S: Total + finish512::Sums512,
    A: Number + finish512::Number512,
    O: Number + finish512::Number512,
{
    match level {
        Level::Avx512 => finish512::store::<S, A, O>,
        _ => looped::<S, A, O>(level),
    }
}

/// Returns the function that stores sums of type `S` as values of type `O`, after adding a tensor of type `A`.
#[cfg(not(target_arch = "x86_64"))]
fn stored<S: Total, A: Number, O: Number>(level: Level) -> Store {
    looped::<S, A, O>(level)
}

impl Rule {
    /// The function that stores sums by this rule; `None` if there is none for these types.
    pub fn store(self, level: Level) -> Option<Store> {
        Some(match self {
            Self::Sums => counted(level),
            #[cfg(target_arch = "x86_64")]
            Self::Bf16 if level == Level::Avx512 && Feature::Avx512Bf16.is_there() => finish512::store_pairs,
            Self::Bf16 => stored::<Floats, bf16, bf16>(level),
            Self::Bytes(None | Some(DType::I8), DType::I8) => stored::<Integers, i8, i8>(level),
            Self::Bytes(None | Some(DType::I8), DType::U8) => stored::<Integers, i8, u8>(level),
            Self::Bytes(None | Some(DType::I8), DType::F32) => stored::<Integers, i8, f32>(level),
            Self::Bytes(Some(DType::U8), DType::I8) => stored::<Integers, u8, i8>(level),
            Self::Bytes(Some(DType::U8), DType::U8) => stored::<Integers, u8, u8>(level),
            Self::Bytes(Some(DType::U8), DType::F32) => stored::<Integers, u8, f32>(level),
            Self::Bytes(Some(DType::F32), DType::F32) => stored::<Integers, f32, f32>(level),
            Self::Bytes(..) => return None,
        })
    }
}

/// Sixteen values from `at` on, of which `n` exist.
///
/// # Safety
/// `at` must be readable for `n <= 16` values.
#[inline(always)]
unsafe fn load<T: Copy + Default>(at: *const T, n: usize) -> [T; SQUARE] {
    // SAFETY: the caller promises `n` values.
    unsafe {
        if n == SQUARE {
            return at.cast::<[T; SQUARE]>().read_unaligned();
        }
        let mut values = [T::default(); SQUARE];
        at.copy_to_nonoverlapping(values.as_mut_ptr(), n);
        values
    }
}

/// Stores the first `n` of sixteen values.
///
/// # Safety
/// `at` must be writable for `n <= 16` values.
#[inline(always)]
unsafe fn save<T: Copy>(values: [T; SQUARE], at: *mut T, n: usize) {
    // SAFETY: the caller promises `n` values.
    unsafe {
        if n == SQUARE {
            at.cast::<[T; SQUARE]>().write_unaligned(values);
        } else {
            at.copy_from_nonoverlapping(values.as_ptr(), n);
        }
    }
}

/// # Safety
/// The conditions of [`Store`] must hold.
#[inline(always)]
unsafe fn store<S: Total, A: Number, O: Number>(s: &Stored<'_>) {
    let o = s.output;
    for first in (0..s.width).step_by(SQUARE) {
        let n = (s.width - first).min(SQUARE);
        // SAFETY: scales and bias have values for whole squares of channels. The rows, pixels and channels are those that
        // the caller promises.
        unsafe {
            let channel = s.channel + first;
            let scales = load(o.scales.add(channel), SQUARE);
            let bias = load(o.bias.add(channel), SQUARE);
            for row in 0..s.rows {
                let sums = load(s.sums.add(row * PANEL + first), SQUARE);
                let at = s.pixel * o.channels + row * o.row_step + channel;
                let mut x = [0.0f32; SQUARE];
                for i in 0..SQUARE {
                    x[i] = S::wide(sums[i]) * scales[i] + bias[i];
                }
                if !o.sum.is_null() {
                    let sum = load(o.sum.cast::<A>().add(at), n);
                    for i in 0..SQUARE {
                        x[i] += sum[i].wide() * o.sum_scale;
                    }
                }
                let mut y = [O::default(); SQUARE];
                for i in 0..SQUARE {
                    let low = if x[i] < o.low { o.low } else { x[i] };
                    y[i] = O::of(if low > o.high { o.high } else { low });
                }
                save(y, o.dst.cast::<O>().add(at), n);
            }
        }
    }
}

/// # Safety
/// The conditions of [`Store`] must hold.
#[inline(always)]
unsafe fn store_counts(s: &Stored<'_>) {
    let o = s.output;
    for first in (0..s.width).step_by(SQUARE) {
        let n = (s.width - first).min(SQUARE);
        // SAFETY: as in `store`; the bias is int32.
        unsafe {
            let channel = s.channel + first;
            let bias: [i32; SQUARE] = load(o.bias.cast::<i32>().add(channel), SQUARE);
            for row in 0..s.rows {
                let sums: [u32; SQUARE] = load(s.sums.add(row * PANEL + first), SQUARE);
                let mut y = [0i32; SQUARE];
                for i in 0..SQUARE {
                    y[i] = (sums[i] as i32).saturating_add(bias[i]);
                }
                save(y, o.dst.cast::<i32>().add(s.pixel * o.channels + row * o.row_step + channel), n);
            }
        }
    }
}
