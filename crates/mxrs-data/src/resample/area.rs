//! Shrinks an image: each pixel of the result is the mean of the area of the source that it covers.

use super::{Out, View};
use mxrs_types::Result;

/// One output sample: the first source position that it covers, and the weights of the positions from there.
struct Cover {
    first: usize,
    weights: Vec<f32>,
}

fn covers(n_in: usize, n_out: usize) -> Vec<Cover> {
    let step = 1.0 / (n_out as f64 / n_in as f64);
    let cover = |d: usize| {
        let start = d as f64 * step;
        let end = start + step;
        let width = step.min(n_in as f64 - start);
        let last = (end.floor() as usize).min(n_in - 1);
        let inner = (start.ceil() as usize).min(last);
        let mut weights = Vec::new();
        let mut first = inner;
        // Fractions of less than a thousandth of a pixel are ignored.
        if inner as f64 - start > 1e-3 {
            first = inner - 1;
            weights.push(((inner as f64 - start) / width) as f32);
        }
        weights.extend((inner..last).map(|_| (1.0 / width) as f32));
        if end - last as f64 > 1e-3 {
            weights.push(((end - last as f64).min(1.0).min(width) / width) as f32);
        }
        Cover { first, weights }
    };
    (0..n_out).map(cover).collect()
}

/// Shrinks an image; neither height nor width may grow.
pub(super) fn shrink(view: View<'_>, out: Out<'_>) -> Result<()> {
    let channels = view.image.channels();
    let columns = covers(view.region.width, out.width);
    let rows = covers(view.region.height, out.height);
    let row_len = out.width * channels;
    out.threads.share_rows(out.pixels, row_len, &|first, lines| {
        let mut sums = vec![0.0_f32; row_len];
        for (line, row) in lines.chunks_exact_mut(row_len).zip(&rows[first..]) {
            sums.fill(0.0);
            for (y, weight) in (row.first..).zip(&row.weights) {
                let source = view.row(y);
                for (cover, sums) in columns.iter().zip(sums.chunks_exact_mut(channels)) {
                    for (c, sum) in sums.iter_mut().enumerate() {
                        let terms = (cover.first..).zip(&cover.weights);
                        let along: f32 = terms.map(|(x, w)| f32::from(source[x * channels + c]) * w).sum();
                        *sum += along * weight;
                    }
                }
            }
            for (value, sum) in line.iter_mut().zip(&sums) {
                *value = sum.round_ties_even().clamp(0.0, 255.0) as u8;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each source pixel is covered once in total, and the weights of each output pixel sum to 1.
    #[test]
    fn pixels_are_covered_exactly_once() {
        for n_in in 1..40 {
            for n_out in 1..=n_in {
                let mut covered = vec![0.0; n_in];
                for cover in covers(n_in, n_out) {
                    assert!((cover.weights.iter().sum::<f32>() - 1.0).abs() < 2e-3);
                    for (x, w) in (cover.first..).zip(&cover.weights) {
                        covered[x] += f64::from(*w) * n_in as f64 / n_out as f64;
                    }
                }
                assert!(covered.iter().all(|c| (c - 1.0).abs() < 5e-3), "{n_in} {n_out} {covered:?}");
            }
        }
    }
}
