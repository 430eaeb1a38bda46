//! Bilinear interpolation in an image, as the operators of `spatial` use it.

use crate::families::formula::Number;

/// The four pixels around a point of an image of `height` rows and `width` columns, with their weights. Each position is that of
/// the pixel, `row · width + column`. Pixels outside the image are left out, as if they were 0.
pub fn around<T: Number>(y: T, x: T, height: usize, width: usize) -> impl Iterator<Item = (usize, T)> {
    let (top, left) = (y.value().floor(), x.value().floor());
    let (down, right) = (y - T::of(top), x - T::of(left));
    let (up, back) = (T::of(1.0) - down, T::of(1.0) - right);
    let corners = [(top, left, up * back), (top, left + 1.0, up * right), (top + 1.0, left, down * back)];
    let corners = corners.into_iter().chain([(top + 1.0, left + 1.0, down * right)]);
    corners.filter_map(move |(row, column, weight)| {
        let is_inside = row >= 0.0 && row < height as f64 && column >= 0.0 && column < width as f64;
        is_inside.then(|| (row as usize * width + column as usize, weight))
    })
}

/// The sum of values with weights.
pub fn weighted<T: Number>(terms: impl Iterator<Item = (T, T)>) -> T {
    terms.fold(T::of(0.0), |sum, (value, weight)| sum + value * weight)
}
