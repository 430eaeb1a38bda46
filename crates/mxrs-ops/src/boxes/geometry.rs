//! Boxes: corners (left, top, right, bottom), or centers (x, y, width, height).

use mxrs_op::op_enum;

op_enum! {
    /// How four numbers describe a box.
    pub enum BoxFormat { Center = "center", Corner = "corner" }
}

/// A box by its corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corners {
    /// The left side.
    pub left: f64,
    /// The upper side.
    pub top: f64,
    /// The right side.
    pub right: f64,
    /// The lower side.
    pub bottom: f64,
}

impl Corners {
    /// The box that four numbers describe.
    pub fn new(numbers: &[f64], format: BoxFormat) -> Self {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| numbers.get(i).copied().unwrap_or(f64::NAN));
        match format {
            BoxFormat::Corner => Self { left: a, top: b, right: c, bottom: d },
            BoxFormat::Center => Self { left: a - c / 2.0, top: b - d / 2.0, right: a + c / 2.0, bottom: b + d / 2.0 },
        }
    }

    /// The four numbers of the box.
    pub fn numbers(&self, format: BoxFormat) -> [f64; 4] {
        let [x, y, width, height] = self.center();
        match format {
            BoxFormat::Corner => [self.left, self.top, self.right, self.bottom],
            BoxFormat::Center => [x, y, width, height],
        }
    }

    /// The center, the width and the height.
    pub fn center(&self) -> [f64; 4] {
        let (width, height) = (self.right - self.left, self.bottom - self.top);
        [self.left + width / 2.0, self.top + height / 2.0, width, height]
    }

    /// The area; 0 if a side is negative.
    pub fn area(&self) -> f64 {
        let (width, height) = (self.right - self.left, self.bottom - self.top);
        if width < 0.0 || height < 0.0 { 0.0 } else { width * height }
    }

    /// The area of the intersection.
    pub fn intersection(&self, other: &Self) -> f64 {
        let side = |low: f64, high: f64| (high - low).max(0.0);
        let width = side(self.left.max(other.left), self.right.min(other.right));
        width * side(self.top.max(other.top), self.bottom.min(other.bottom))
    }

    /// The area of the intersection divided by that of the union; 0 if the union is empty.
    pub fn overlap(&self, other: &Self) -> f64 {
        let intersection = self.intersection(other);
        let union = self.area() + other.area() - intersection;
        if union <= 0.0 { 0.0 } else { intersection / union }
    }
}
