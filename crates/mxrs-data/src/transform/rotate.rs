//! Rotation of images, which keep their size.

use super::{Draw, Numbers, Picture, Transform, check_probability, check_range};
use mxrs_types::{Error, Result};

/// How a rotation handles the corners that it would move out of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Zoom {
    /// The corners are cut off, and pixels from outside the image are 0.
    #[default]
    None,
    /// The image is enlarged until the result has no pixels from outside.
    In,
    /// The image is shrunk until no corner is cut off.
    Out,
}

/// Rotates float32 images about the center, with linear interpolation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotate {
    degrees: f32,
    zoom: Zoom,
}

impl Rotate {
    /// Rotates by this many degrees, counter-clockwise on the screen.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if the angle is not finite.
    pub fn new(degrees: f32, zoom: Zoom) -> Result<Self> {
        check_range("degrees to rotate by", (degrees, degrees), f32::MIN)?;
        Ok(Self { degrees, zoom })
    }

    /// Factor by which distances from the center are multiplied.
    fn scale(self, height: f32, width: f32) -> f32 {
        let radians = self.degrees.to_radians().abs();
        let (diagonal, angle) = (height.hypot(width), (height / width).atan());
        let ends = [angle + radians, angle - radians];
        let most = |side: fn(f32) -> f32| ends.map(|end| (diagonal * side(end)).abs()).into_iter().fold(0.0, f32::max);
        let (x, y) = (most(f32::cos), most(f32::sin));
        match self.zoom {
            Zoom::None => 1.0,
            Zoom::Out => (x / width).max(y / height),
            Zoom::In => (width / x).min(height / y),
        }
    }

    fn turned(self, picture: Picture) -> Result<Picture> {
        let (height, width) = (picture.height(), picture.width());
        let Picture::Numbers(old) = picture else {
            let expected = "numbers of float32, that is, after Cast or ToTensor";
            return Err(Error::invalid("image to rotate", "pixels of 8 bits", expected));
        };
        let scale = self.scale(height as f32, width as f32);
        let (sin, cos) = self.degrees.to_radians().sin_cos();
        let (middle_y, middle_x) = ((height - 1) as f32 / 2.0, (width - 1) as f32 / 2.0);
        let new = old.map(height, width, |y, x, c| {
            let (down, right) = (y as f32 - middle_y, x as f32 - middle_x);
            let from_x = (right * cos - down * sin) * scale + middle_x;
            let from_y = (right * sin + down * cos) * scale + middle_y;
            linear(&old, height, width, (from_y, from_x), c)
        });
        Ok(Picture::Numbers(new))
    }
}

/// The linearly interpolated number at a position between pixels; pixels outside the image are 0.
fn linear(numbers: &Numbers, height: usize, width: usize, (y, x): (f32, f32), c: usize) -> f32 {
    let at = |y: f32, x: f32| {
        let inside = y >= 0.0 && x >= 0.0 && y < height as f32 && x < width as f32;
        if inside { numbers.values()[numbers.place(y as usize, x as usize, c)] } else { 0.0 }
    };
    let (top, left) = (y.floor(), x.floor());
    let (down, right) = (y - top, x - left);
    let row = |y: f32| at(y, left) * (1.0 - right) + at(y, left + 1.0) * right;
    row(top) * (1.0 - down) + row(top + 1.0) * down
}

impl Transform for Rotate {
    fn apply(&self, picture: Picture, _: &mut Draw) -> Result<Picture> {
        self.turned(picture)
    }
}

/// Rotates by a random angle, with a given probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomRotation {
    degrees: (f32, f32),
    zoom: Zoom,
    probability: f64,
}

impl RandomRotation {
    /// Rotates by an angle in degrees that is uniformly distributed in this range, with this probability (1 in Gluon).
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if a bound is not finite, if the bounds are not ordered, or if the
    /// probability is not between 0 and 1.
    pub fn new(degrees: (f32, f32), zoom: Zoom, probability: f64) -> Result<Self> {
        check_range("angle_limits of RandomRotation", degrees, f32::MIN)?;
        check_probability("rotate_with_proba of RandomRotation", probability)?;
        Ok(Self { degrees, zoom, probability })
    }
}

impl Transform for RandomRotation {
    fn apply(&self, picture: Picture, draw: &mut Draw) -> Result<Picture> {
        if !draw.happens(self.probability) {
            return Ok(picture);
        }
        let degrees = draw.random.uniform(self.degrees.0, self.degrees.1);
        Rotate { degrees, zoom: self.zoom }.turned(picture)
    }
}
