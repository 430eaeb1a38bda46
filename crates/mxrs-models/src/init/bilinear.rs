//! The kernel of bilinear interpolation.

use mxrs_types::{Error, Result, Shape};

/// Fills every channel of a weight `[O, I, H, W]` with the same kernel, a product of two triangles whose width follows
/// from W.
///
/// # Errors
/// Fails if the weight does not have four axes.
pub(super) fn fill(name: &str, shape: &Shape, out: &mut [f32]) -> Result<()> {
    let &[_, _, height, width] = &shape[..] else {
        return Err(Error::shape("bilinear", name, "4 axes", shape.to_string()));
    };
    let half = width.div_ceil(2) as f64;
    let center = (2.0 * half - 1.0 - half % 2.0) / (2.0 * half);
    let triangle = |at: f64| 1.0 - (at / half - center).abs();
    for (i, value) in out.iter_mut().enumerate() {
        *value = (triangle((i % width) as f64) * triangle((i / width % height) as f64)) as f32;
    }
    Ok(())
}
