//! Resizing by interpolation between more than two pixels along each axis: cubic and Lanczos, in fixed point.

use super::{Out, View};
use mxrs_types::Result;

/// Number of fractional bits of a weight.
const BITS: u32 = 11;

/// Weights of the four pixels at -1, 0, 1, 2 for a sample at `x` between 0 and 1 (Keys 1981 with a = -3/4).
pub(super) fn cubic(x: f32) -> Vec<f32> {
    const A: f32 = -0.75;
    let near = |t: f32| ((A + 2.0) * t - (A + 3.0)) * t * t + 1.0;
    let far = |t: f32| ((A * t - 5.0 * A) * t + 8.0 * A) * t - 4.0 * A;
    let [first, second, third] = [far(x + 1.0), near(x), near(1.0 - x)];
    vec![first, second, third, 1.0 - first - second - third]
}

/// Weights of the eight pixels at -3 to 4 for a sample at `x` between 0 and 1: sinc(t) sinc(t / 4), normalized to the sum 1.
pub(super) fn lanczos(x: f32) -> Vec<f32> {
    if x < f32::EPSILON {
        return vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    }
    let weight = |i: u32| {
        let t = f64::from(x) + 3.0 - f64::from(i);
        let angle = std::f64::consts::PI * t;
        angle.sin() * (angle / 4.0).sin() / (t * t)
    };
    let weights: Vec<f64> = (0..8).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| (w / sum) as f32).collect()
}

/// One output sample: source positions, clamped to the image, and their weights.
struct Taps {
    places: Vec<usize>,
    weights: Vec<i32>,
}

fn taps(n_in: usize, n_out: usize, kernel: &dyn Fn(f32) -> Vec<f32>) -> Vec<Taps> {
    let step = 1.0 / (n_out as f64 / n_in as f64);
    let tap = |d: usize| {
        let place = ((d as f64 + 0.5) * step - 0.5) as f32;
        let floor = place.floor();
        let weights = kernel(place - floor);
        let before = weights.len() as i64 / 2 - 1;
        let last = n_in as i64 - 1;
        let places = (0..weights.len() as i64).map(|i| (floor as i64 - before + i).clamp(0, last) as usize).collect();
        let fixed = |w: &f32| (w * (1 << BITS) as f32).round_ties_even() as i32;
        Taps { places, weights: weights.iter().map(fixed).collect() }
    };
    (0..n_out).map(tap).collect()
}

pub(super) fn resize(view: View<'_>, out: Out<'_>, kernel: &dyn Fn(f32) -> Vec<f32>) -> Result<()> {
    let channels = view.image.channels();
    let columns = taps(view.region.width, out.width, kernel);
    let rows = taps(view.region.height, out.height, kernel);
    let row_len = out.width * channels;
    let n_taps = rows.first().map_or(0, |row| row.places.len());
    out.threads.share_rows(out.pixels, row_len, &|first, lines| {
        // A ring buffer of source rows that are already interpolated horizontally, scaled by 2^11. Row `y` is in entry `y %
        // n_taps`.
        let mut ring: Vec<(Option<usize>, Vec<i32>)> = vec![(None, vec![0; row_len]); n_taps];
        for (line, row) in lines.chunks_exact_mut(row_len).zip(&rows[first..]) {
            for y in &row.places {
                let (held, values) = &mut ring[y % n_taps];
                if *held != Some(*y) {
                    combine(view.row(*y), channels, &columns, values);
                    *held = Some(*y);
                }
            }
            for (i, value) in line.iter_mut().enumerate() {
                let terms = row.places.iter().zip(&row.weights);
                let sum: i64 = terms.map(|(y, w)| i64::from(ring[y % n_taps].1[i]) * i64::from(*w)).sum();
                *value = ((sum + (1 << (2 * BITS - 1))) >> (2 * BITS)).clamp(0, 255) as u8;
            }
        }
    })
}

fn combine(row: &[u8], channels: usize, columns: &[Taps], out: &mut [i32]) {
    for (taps, out) in columns.iter().zip(out.chunks_exact_mut(channels)) {
        for (c, value) in out.iter_mut().enumerate() {
            let terms = taps.places.iter().zip(&taps.weights);
            *value = terms.map(|(x, w)| i32::from(row[x * channels + c]) * w).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights sum to 1, are mirrored if the position is mirrored, and select a pixel exactly if the sample lies on it.
    #[test]
    fn weights() {
        for kernel in [cubic, lanczos] {
            for i in 0..32_u8 {
                let x = f32::from(i) / 32.0;
                let weights = kernel(x);
                assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                if i > 0 {
                    let mirrored = kernel(1.0 - x);
                    let n = weights.len();
                    assert!((0..n).all(|k| (weights[k] - mirrored[n - 1 - k]).abs() < 1e-5), "{x}");
                }
            }
            let exact = kernel(0.0);
            let middle = exact.len() / 2 - 1;
            assert!(exact.iter().enumerate().all(|(k, w)| (w - f32::from(u8::from(k == middle))).abs() < 1e-6));
        }
        // Keys: for a = -3/4 the cubic weights at one half are -3/32, 19/32, 19/32, -3/32.
        assert!(cubic(0.5).iter().zip([-3.0, 19.0, 19.0, -3.0]).all(|(w, x)| (w - x / 32.0).abs() < 1e-6));
    }
}
