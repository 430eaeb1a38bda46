//! Resizing by nearest-neighbor interpolation.

use super::{Out, View};
use mxrs_types::Result;

/// The source position of each output sample along one axis.
fn places(n_in: usize, n_out: usize) -> Vec<usize> {
    let step = 1.0 / (n_out as f64 / n_in as f64);
    (0..n_out).map(|d| ((d as f64 * step).floor() as usize).min(n_in - 1)).collect()
}

pub(super) fn resize(view: View<'_>, out: Out<'_>) -> Result<()> {
    let channels = view.image.channels();
    let columns = places(view.region.width, out.width);
    let rows = places(view.region.height, out.height);
    let row_len = out.width * channels;
    out.threads.share_rows(out.pixels, row_len, &|first, lines| {
        for (line, y) in lines.chunks_exact_mut(row_len).zip(&rows[first..]) {
            let row = view.row(*y);
            for (pixel, x) in line.chunks_exact_mut(channels).zip(&columns) {
                pixel.copy_from_slice(&row[x * channels..][..channels]);
            }
        }
    })
}
