//! The loops of batch normalization over pixels in bfloat16. Sums of a few pixels are in float32, their totals in float64.

use crate::low_precision::level::for_each_level;
use crate::low_precision::loops::drain;
use crate::low_precision::number::Number;
use half::bf16;

/// Two sums per channel and the number of pixels. Forward: means and squared distances from them. Backward: sums of the
/// gradient, and of the gradient times the distance of the data from the mean.
pub struct Sums<'a> {
    /// Number of pixels.
    pub count: f64,
    /// The first sum of each channel.
    pub first: &'a mut [f64],
    /// The second sum of each channel.
    pub second: &'a mut [f64],
}

impl Sums<'_> {
    /// Merges the means and squared distances of `count` other pixels, as in Chan, Golub and LeVeque, Updating formulae and a
    /// pairwise algorithm for computing sample variances, 1979.
    #[inline(always)]
    pub fn join_moments<T: Copy + Into<f64>>(&mut self, count: f64, first: &[T], second: &[T]) {
        if count == 0.0 {
            return;
        }
        let all = self.count + count;
        let (part, between) = (count / all, self.count * count / all);
        let sums = self.first.iter_mut().zip(self.second.iter_mut());
        for ((mean, squares), (other, more)) in sums.zip(first.iter().zip(second)) {
            let delta = (*other).into() - *mean;
            *mean += delta * part;
            *squares += (*more).into() + delta * delta * between;
        }
        self.count = all;
    }

    /// Adds the sums of `count` other pixels.
    #[inline(always)]
    pub fn join_sums<T: Copy + Into<f64>>(&mut self, count: f64, first: &[T], second: &[T]) {
        self.count += count;
        self.first.iter_mut().zip(first).for_each(|(sum, x)| *sum += (*x).into());
        self.second.iter_mut().zip(second).for_each(|(sum, x)| *sum += (*x).into());
    }
}

/// How the data are normalized, for each channel: `(data - mean) * scale + shift`.
#[derive(Clone, Copy)]
pub struct Factors<'a> {
    /// The means.
    pub mean: &'a [f32],
    /// The factors of the distance from the mean.
    pub scale: &'a [f32],
    /// What is added.
    pub shift: &'a [f32],
}

/// Pixels with all their channels.
#[derive(Clone, Copy)]
pub struct Pixels<'a> {
    /// The data.
    pub data: *const bf16,
    /// The output's gradient; null in forward passes.
    pub ograd: *const bf16,
    /// The result. It may be the output's gradient.
    pub dst: *mut bf16,
    /// Number of pixels.
    pub n: usize,
    /// How the data are normalized.
    pub factors: Factors<'a>,
    /// What is subtracted from the gradient: the first as it is, the second times the distance of the data from the mean.
    pub less: [&'a [f32]; 2],
    /// Whether the result is stored directly to memory, bypassing the caches, because it would be evicted before it is
    /// read.
    pub past_caches: bool,
}

impl Pixels<'_> {
    fn channels(&self) -> usize {
        self.factors.mean.len()
    }
}

/// Pixels whose sums are added up in float32. They stay in the first cache between the passes for mean and variance.
fn partial(channels: usize) -> usize {
    (8192 / channels.max(1)).clamp(16, 128)
}

for_each_level! {
    /// Adds the moments of the data to the sums.
    pub fn moments: unsafe fn(pixels: &Pixels<'_>, sums: &mut Sums<'_>) = moments_of
}
for_each_level! {
    /// Adds to `sums` the sums of the gradient over those values that ReLU let through.
    pub fn products_behind_relu: unsafe fn(pixels: &Pixels<'_>, sums: &mut Sums<'_>) = products_of_relu
}
for_each_level! {
    /// Adds to `sums` the sums of the gradient.
    pub fn products: unsafe fn(pixels: &Pixels<'_>, sums: &mut Sums<'_>) = products_of_all
}
for_each_level! {
    /// Writes the normalized data.
    pub fn normalize: unsafe fn(pixels: &Pixels<'_>) = normalize_plain
}
for_each_level! {
    /// Writes the normalized data after ReLU.
    pub fn normalize_with_relu: unsafe fn(pixels: &Pixels<'_>) = normalize_relu
}
for_each_level! {
    /// Writes the gradient of the data.
    pub fn gradient: unsafe fn(pixels: &Pixels<'_>, adds: bool) = gradient_plain
}
for_each_level! {
    /// Writes the gradient of the data of a normalization that ReLU follows.
    pub fn gradient_behind_relu: unsafe fn(pixels: &Pixels<'_>, adds: bool) = gradient_relu
}

/// The channels of pixel `i`.
///
/// # Safety
/// The pixel must exist, and nothing may write it while the slice is used.
#[inline(always)]
unsafe fn pixel<'a>(from: *const bf16, i: usize, channels: usize) -> &'a [bf16] {
    // SAFETY: the caller promises the pixel.
    unsafe { std::slice::from_raw_parts(from.add(i * channels), channels) }
}

/// # Safety
/// `pixels.data` must be readable for all pixels, and the sums must have all channels.
#[inline(always)]
unsafe fn moments_of(pixels: &Pixels<'_>, sums: &mut Sums<'_>) {
    let channels = pixels.channels();
    let (mut mean, mut spread) = (vec![0.0f32; channels], vec![0.0f32; channels]);
    let step = partial(channels);
    for start in (0..pixels.n).step_by(step) {
        let range = start..(start + step).min(pixels.n);
        mean.fill(0.0);
        spread.fill(0.0);
        for i in range.clone() {
            // SAFETY: `i` is a pixel.
            let data = unsafe { pixel(pixels.data, i, channels) };
            mean.iter_mut().zip(data).for_each(|(sum, x)| *sum += x.wide());
        }
        let factor = 1.0 / range.len() as f32;
        mean.iter_mut().for_each(|sum| *sum *= factor);
        for i in range.clone() {
            // SAFETY: `i` is a pixel.
            let data = unsafe { pixel(pixels.data, i, channels) };
            spread.iter_mut().zip(data).zip(&mean).for_each(|((sum, x), mean)| {
                let distance = x.wide() - mean;
                *sum += distance * distance;
            });
        }
        sums.join_moments(range.len() as f64, &mean, &spread);
    }
}

/// Whether ReLU lets a value through. Both passes compute the value by the same operations.
#[inline(always)]
fn is_open(value: f32) -> bool {
    value > 0.0 || value.is_nan()
}

/// # Safety
/// `pixels.data` and `pixels.ograd` must be readable for all pixels, and the sums must have all channels.
#[inline(always)]
unsafe fn products_of<const RELU: bool>(pixels: &Pixels<'_>, sums: &mut Sums<'_>) {
    let (channels, f) = (pixels.channels(), pixels.factors);
    let (mut all, mut times) = (vec![0.0f32; channels], vec![0.0f32; channels]);
    let step = partial(channels);
    for start in (0..pixels.n).step_by(step) {
        let range = start..(start + step).min(pixels.n);
        all.fill(0.0);
        times.fill(0.0);
        for i in range.clone() {
            // SAFETY: `i` is a pixel.
            let (data, ograd) = unsafe { (pixel(pixels.data, i, channels), pixel(pixels.ograd, i, channels)) };
            let [all, times] = [&mut all[..channels], &mut times[..channels]];
            let (mean, scale, shift) = (&f.mean[..channels], &f.scale[..channels], &f.shift[..channels]);
            for c in 0..channels {
                let distance = data[c].wide() - mean[c];
                let g = ograd[c].wide();
                let g = if !RELU || is_open(distance * scale[c] + shift[c]) { g } else { 0.0 };
                all[c] += g;
                times[c] += g * distance;
            }
        }
        sums.join_sums(range.len() as f64, &all, &times);
    }
}

#[inline(always)]
unsafe fn products_of_relu(pixels: &Pixels<'_>, sums: &mut Sums<'_>) {
    // SAFETY: the contract of this function is that of `products_of`.
    unsafe { products_of::<true>(pixels, sums) }
}

#[inline(always)]
unsafe fn products_of_all(pixels: &Pixels<'_>, sums: &mut Sums<'_>) {
    // SAFETY: the contract of this function is that of `products_of`.
    unsafe { products_of::<false>(pixels, sums) }
}

/// # Safety
/// `pixels.data` must be readable and `pixels.dst` writable for all pixels.
#[inline(always)]
unsafe fn normalize_of<const RELU: bool>(pixels: &Pixels<'_>) {
    let (channels, f) = (pixels.channels(), pixels.factors);
    for i in 0..pixels.n {
        // SAFETY: `i` is a pixel.
        let data = unsafe { pixel(pixels.data, i, channels) };
        for first in (0..channels).step_by(CHUNK) {
            let n = (channels - first).min(CHUNK);
            let data = &data[first..first + n];
            let [mean, scale, shift] = [f.mean, f.scale, f.shift].map(|x| &x[first..first + n]);
            let mut result = [0.0f32; CHUNK];
            for c in 0..n {
                let y = (data[c].wide() - mean[c]) * scale[c] + shift[c];
                result[c] = if !RELU || is_open(y) { y } else { 0.0 };
            }
            // SAFETY: these are channels of pixel `i` of the result, which does not overlap the data.
            unsafe { store(&result.map(bf16::of), pixels.dst.add(i * channels + first), n, pixels.past_caches) }
        }
    }
    drain(pixels.past_caches);
}

/// Channels that are computed before any of them is stored, because the result may be the output's gradient.
const CHUNK: usize = 64;

/// Stores the first `n` channels of a chunk. With `past_caches`, whole cache lines are stored directly to memory.
///
/// # Safety
/// `to` must be writable for `n` values.
#[inline(always)]
unsafe fn store(values: &[bf16; CHUNK], to: *mut bf16, n: usize, past_caches: bool) {
    // SAFETY: the caller promises `n` values; with `past_caches`, all `CHUNK` values of two whole cache lines.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if past_caches && n == CHUNK && to.addr().is_multiple_of(64) {
            use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
            for i in 0..CHUNK / 8 {
                let part = _mm_loadu_si128(values.as_ptr().cast::<__m128i>().add(i));
                _mm_stream_si128(to.cast::<__m128i>().add(i), part);
            }
            return;
        }
        to.copy_from_nonoverlapping(values.as_ptr(), n);
    }
}

#[inline(always)]
unsafe fn normalize_plain(pixels: &Pixels<'_>) {
    // SAFETY: the contract of this function is that of `normalize_of`.
    unsafe { normalize_of::<false>(pixels) }
}

#[inline(always)]
unsafe fn normalize_relu(pixels: &Pixels<'_>) {
    // SAFETY: the contract of this function is that of `normalize_of`.
    unsafe { normalize_of::<true>(pixels) }
}

/// # Safety
/// `pixels.data` and `pixels.ograd` must be readable and `pixels.dst` writable for all pixels.
#[inline(always)]
unsafe fn gradient_of<const RELU: bool>(pixels: &Pixels<'_>, adds: bool) {
    let (channels, f) = (pixels.channels(), pixels.factors);
    for i in 0..pixels.n {
        for first in (0..channels).step_by(CHUNK) {
            let n = (channels - first).min(CHUNK);
            let mut old = [bf16::ZERO; CHUNK];
            let mut result = [0.0f32; CHUNK];
            // SAFETY: these are channels of pixel `i`. The slices are dropped before the result is stored.
            unsafe {
                let at = i * channels + first;
                let data = std::slice::from_raw_parts(pixels.data.add(at), n);
                let ograd = std::slice::from_raw_parts(pixels.ograd.add(at), n);
                let [mean, scale, shift] = [f.mean, f.scale, f.shift].map(|x| &x[first..first + n]);
                let [less, less_distance] = pixels.less.map(|x| &x[first..first + n]);
                for c in 0..n {
                    let distance = data[c].wide() - mean[c];
                    let g = ograd[c].wide();
                    let g = if !RELU || is_open(distance * scale[c] + shift[c]) { g } else { 0.0 };
                    result[c] = (g - less[c] - distance * less_distance[c]) * scale[c];
                }
                if adds {
                    old[..n].copy_from_slice(std::slice::from_raw_parts(pixels.dst.add(at), n));
                }
            }
            let mut rounded = result.map(bf16::of);
            if adds {
                for c in 0..CHUNK {
                    rounded[c] = bf16::of(old[c].wide() + rounded[c].wide());
                }
            }
            // SAFETY: these are channels of pixel `i` of the result, which the caller promises.
            unsafe { store(&rounded, pixels.dst.add(i * channels + first), n, pixels.past_caches) }
        }
    }
    drain(pixels.past_caches);
}

#[inline(always)]
unsafe fn gradient_plain(pixels: &Pixels<'_>, adds: bool) {
    // SAFETY: the contract of this function is that of `gradient_of`.
    unsafe { gradient_of::<false>(pixels, adds) }
}

#[inline(always)]
unsafe fn gradient_relu(pixels: &Pixels<'_>, adds: bool) {
    // SAFETY: the contract of this function is that of `gradient_of`.
    unsafe { gradient_of::<true>(pixels, adds) }
}
