//! Columns of windows, which `im2col` makes and `col2im` adds up. An image `[n, c, space…]` has columns `[n, c · k,
//! windows]`, where `k` is the number of elements of a window.

use crate::families::window::Window;
use crate::inference::OP;
use mxrs_types::{Error, PartialShape, Result, Shape};

/// The number of windows on each axis of an image with these sizes of space.
///
/// # Errors
/// Fails if an axis has no room for a window.
pub fn counts(window: &Window, space: &[usize]) -> Result<Vec<usize>> {
    let count = |(axis, size): (usize, &usize)| {
        let padded = || Error::shape(OP, "data", "an image with room for a window", Shape::from(space));
        window.count(axis, *size).ok_or_else(padded)
    };
    space.iter().enumerate().map(count).collect()
}

/// The shape of the columns, as far as that of the image is known.
///
/// # Errors
/// Fails if an axis has no room for a window.
pub fn columns_of(window: &Window, image: &PartialShape) -> Result<PartialShape> {
    let Some([n, c, space @ ..]) = image.dims() else { return Ok(PartialShape::unknown()) };
    let space: Option<Vec<usize>> = space.iter().copied().collect();
    let windows = match space {
        Some(space) => counts(window, &space)?.iter().try_fold(1usize, |n, count| n.checked_mul(*count)),
        None => None,
    };
    let size = window.kernel.iter().try_fold(1usize, |n, size| n.checked_mul(*size));
    let rows = c.and_then(|c| size.and_then(|size| c.checked_mul(size)));
    Ok(PartialShape::new([*n, rows, windows]))
}

/// For each element of the columns in row-major order, the position of its element of the image; `None` in the padding.
///
/// # Errors
/// Fails if an axis has no room for a window.
pub fn positions(window: &Window, image: &[usize]) -> Result<Vec<Option<usize>>> {
    let [n, c, space @ ..] = image else { return Ok(Vec::new()) };
    let counts = counts(window, space)?;
    if *n == 0 || *c == 0 {
        // The window may be larger than memory.
        return Ok(Vec::new());
    }
    let offsets = indices(&window.kernel);
    let starts = indices(&counts);
    let mut positions = Vec::new();
    for plane in 0..n * c {
        for offset in &offsets {
            for start in &starts {
                let place = |axis: usize| {
                    let at = start[axis] * window.stride[axis] + offset[axis] * window.dilate[axis];
                    at.checked_sub(window.pad[axis]).filter(|at| *at < space[axis])
                };
                let at = (0..space.len()).try_fold(plane, |at, axis| Some(at * space[axis] + place(axis)?));
                positions.push(at);
            }
        }
    }
    Ok(positions)
}

/// All indices of a shape in row-major order.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    crate::families::indexing::for_each_index(shape, |index| all.push(index.to_vec()));
    all
}
