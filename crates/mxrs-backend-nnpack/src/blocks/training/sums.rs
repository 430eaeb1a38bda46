//! Sums over the pixels of a plane, for each of its 16 channels: partial sums of 128 pixels in `f32`, their total in
//! `f64`.

use super::super::batch_norm::Factors;
use crate::dispatch::for_each_set;
use crate::gemm::lanes::Lanes;
use crate::layouts::BLOCK;

/// Number of pixels of a partial sum. A register holds only a part of the 16 channels, so these pixels are read several
/// times; they are few enough to stay in the first-level cache.
const PARTIAL: usize = 128;

/// Two sums per channel and the number of pixels: forward, the mean and the squared distances from it; backward, two
/// sums of the gradient.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Sums {
    /// Number of pixels.
    pub count: f64,
    /// Forward: means. Backward: sums of gradients.
    pub first: [f64; BLOCK],
    /// Forward: sums of squared distances from the mean. Backward: sums of gradients times distances from the mean.
    pub second: [f64; BLOCK],
}

impl Sums {
    /// The sums over zero pixels.
    pub const NONE: Self = Self { count: 0.0, first: [0.0; BLOCK], second: [0.0; BLOCK] };

    /// Merges the means and squared distances of `count` other pixels, as in Chan, Golub and LeVeque, Updating formulae
    /// and a pairwise algorithm for computing sample variances, 1979.
    #[inline(always)]
    pub fn join_moments(&mut self, count: f64, first: &[f64; BLOCK], second: &[f64; BLOCK]) {
        let all = self.count + count;
        let (part, between) = (count / all, self.count * count / all);
        for i in 0..BLOCK {
            let delta = first[i] - self.first[i];
            self.first[i] += delta * part;
            self.second[i] += second[i] + delta * delta * between;
        }
        self.count = all;
    }

    /// Adds the sums of `count` other pixels.
    #[inline(always)]
    pub fn join_sums(&mut self, count: f64, first: &[f64; BLOCK], second: &[f64; BLOCK]) {
        self.count += count;
        for i in 0..BLOCK {
            self.first[i] += first[i];
            self.second[i] += second[i];
        }
    }
}

/// A plane whose moments are computed.
pub struct Moments {
    /// The pixels of the plane, 16 values each.
    pub data: *const f32,
    /// Number of pixels.
    pub pixels: usize,
}

for_each_set! {
    /// Returns the function that computes the moments of a plane.
    pub fn moments: unsafe fn(plane: &Moments, to: &mut Sums) = moments_of
}

/// # Safety
/// `plane.data` must be readable for `plane.pixels * BLOCK` values, and the processor must have the instructions of
/// `L`.
#[inline(always)]
unsafe fn moments_of<L: Lanes>(plane: &Moments, to: &mut Sums) {
    *to = Sums::NONE;
    // For each partial sum, the distances of its pixels from a center and the squares of the distances are summed. The
    // center is the mean of all earlier pixels, which is near the mean of these pixels. So the sums can be converted to
    // distances from their own mean without losing digits, and one pass over memory suffices.
    let mut near = [0.0f32; BLOCK];
    for start in (0..plane.pixels).step_by(PARTIAL) {
        let len = PARTIAL.min(plane.pixels - start);
        let [mut sums, mut squares] = [[0.0f32; BLOCK]; 2];
        for lane in (0..BLOCK).step_by(L::N) {
            // SAFETY: `start + i < start + len <= plane.pixels` and `lane + L::N <= BLOCK`, so every load lies in the
            // plane and every store in the arrays of `BLOCK` values.
            unsafe {
                let from = plane.data.add(start * BLOCK + lane);
                let center = if start == 0 { average::<L>(from, len) } else { L::load(near.as_ptr().add(lane)) };
                center.store(near.as_mut_ptr().add(lane));
                let [sum, square] = distances::<L>(from, len, center);
                sum.store(sums.as_mut_ptr().add(lane));
                square.store(squares.as_mut_ptr().add(lane));
            }
        }
        let n = len as f64;
        let (mut mean, mut about_mean) = ([0.0; BLOCK], [0.0; BLOCK]);
        for i in 0..BLOCK {
            let off = f64::from(sums[i]) / n;
            mean[i] = f64::from(near[i]) + off;
            let squares = f64::from(squares[i]) - off * off * n;
            // Rounding may make the sum of squares negative. A NaN stays a NaN.
            about_mean[i] = if squares < 0.0 { 0.0 } else { squares };
        }
        to.join_moments(n, &mean, &about_mean);
        near = to.first.map(|mean| mean as f32);
    }
}

/// The mean of `len` pixels.
///
/// # Safety
/// `L::N` values must be readable at `from` and at each of the following `len - 1` pixels, and the processor must have the
/// instructions of `L`.
#[inline(always)]
unsafe fn average<L: Lanes>(from: *const f32, len: usize) -> L {
    // SAFETY: `i < len`, as the caller promises.
    unsafe {
        let sum = over_pixels::<L, 1>(len, |[sum], i| [sum.add(L::load(from.add(i * BLOCK)))]);
        sum[0].mul(L::splat(1.0 / len as f32))
    }
}

/// The sum of the distances of `len` pixels from `center`, and that of their squares.
///
/// # Safety
/// The conditions of [`average`].
#[inline(always)]
unsafe fn distances<L: Lanes>(from: *const f32, len: usize, center: L) -> [L; 2] {
    // SAFETY: `i < len`, as the caller promises.
    unsafe {
        over_pixels::<L, 2>(len, |[sum, square], i| {
            let distance = L::load(from.add(i * BLOCK)).sub(center);
            [sum.add(distance), distance.mul_add(distance, square)]
        })
    }
}

/// Planes of gradient and data whose products are summed.
pub struct Products<'a> {
    /// The gradient of the output.
    pub ograd: *const f32,
    /// The data.
    pub data: *const f32,
    /// Number of pixels.
    pub pixels: usize,
    /// Mean, scale and shift that the data are normalized with.
    pub factors: &'a Factors,
}

for_each_set! {
    /// Returns the function that computes two sums: the sum of the gradient, and the sum of the gradient times the distance
    /// of the data from the mean. With `RELU`, only values that ReLU let through count.
    pub fn products[const RELU: bool] [RELU]: unsafe fn(planes: &Products<'_>, to: &mut Sums) = products_of
}

/// # Safety
/// `planes.ograd` and `planes.data` must be readable for `planes.pixels * BLOCK` values, and the processor must have
/// the instructions of `L`.
#[inline(always)]
unsafe fn products_of<L: Lanes, const RELU: bool>(planes: &Products<'_>, to: &mut Sums) {
    *to = Sums::NONE;
    let f = planes.factors;
    for start in (0..planes.pixels).step_by(PARTIAL) {
        let len = PARTIAL.min(planes.pixels - start);
        let [mut all, mut times] = [[0.0f32; BLOCK]; 2];
        for lane in (0..BLOCK).step_by(L::N) {
            // SAFETY: `start + i < start + len <= planes.pixels` and `lane + L::N <= BLOCK`, so every load lies in both
            // planes and every store in the arrays of `BLOCK` values.
            unsafe {
                let at = start * BLOCK + lane;
                let of = |values: &[f32; BLOCK]| L::load(values.as_ptr().add(lane));
                let factors = [of(&f.mean), of(&f.scale), of(&f.shift)];
                let [mut sums, mut products] = [[L::splat(0.0); 4]; 2];
                for i in 0..len {
                    let [ograd, data] = [planes.ograd, planes.data].map(|from| L::load(from.add(at + i * BLOCK)));
                    let (through, distance) = let_through::<L, RELU>(ograd, data, factors);
                    sums[i % 4] = sums[i % 4].add(through);
                    products[i % 4] = through.mul_add(distance, products[i % 4]);
                }
                let total = |[a, b, c, d]: [L; 4]| a.add(b).add(c.add(d));
                total(sums).store(all.as_mut_ptr().add(lane));
                total(products).store(times.as_mut_ptr().add(lane));
            }
        }
        to.join_sums(len as f64, &all.map(f64::from), &times.map(f64::from));
    }
}

/// Returns the gradient and the distance of the data from the mean. With `RELU` the gradient is 0 where ReLU did not let
/// the value through. Uses exactly the operations of the forward pass, so both passes agree on which values are positive.
///
/// # Safety
/// The processor must have the instructions of `L`.
#[inline(always)]
pub unsafe fn let_through<L: Lanes, const RELU: bool>(ograd: L, data: L, [mean, scale, shift]: [L; 3]) -> (L, L) {
    // SAFETY: these operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe {
        let distance = data.sub(mean);
        if RELU { (ograd.where_above_zero(distance.mul_add(scale, shift)), distance) } else { (ograd, distance) }
    }
}

/// Adds up all pixels by `add`. Each of the `N` sums is made in four independent parts, so that their additions overlap in
/// the processor.
///
/// # Safety
/// `add` must be callable for all `i < pixels`, and the processor must have the instructions of `L`.
#[inline(always)]
unsafe fn over_pixels<L: Lanes, const N: usize>(pixels: usize, add: impl Fn([L; N], usize) -> [L; N]) -> [L; N] {
    // SAFETY: `i + k < whole <= pixels` and `i < pixels`, as `add` requires; the caller has the instructions of `L`.
    unsafe {
        let mut sums = [[L::splat(0.0); N]; 4];
        let whole = pixels / 4 * 4;
        for i in (0..whole).step_by(4) {
            for (k, sum) in sums.iter_mut().enumerate() {
                *sum = add(*sum, i + k);
            }
        }
        for i in whole..pixels {
            sums[0] = add(sums[0], i);
        }
        std::array::from_fn(|n| sums[0][n].add(sums[1][n]).add(sums[2][n].add(sums[3][n])))
    }
}
