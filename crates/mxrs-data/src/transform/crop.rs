//! Crops: of the center, at a random position, or of random size.

use super::resize::cut_and_resize;
use super::{Draw, Picture, Transform, check_range};
use crate::augment::{corner, pad};
use crate::resample::{InterMethod, Region};
use mxrs_types::{Error, Result};

/// The largest size with the proportion of `height` x `width` that fits in the picture; `height` x `width` itself if it
/// fits.
fn scaled_down(picture: &Picture, (height, width): (usize, usize)) -> Result<(usize, usize)> {
    if height == 0 || width == 0 {
        return Err(Error::invalid("size of a crop", format!("{height} x {width}"), "at least one pixel"));
    }
    let (rows, columns) = (picture.height() as f64, picture.width() as f64);
    let (mut h, mut w) = (height as f64, width as f64);
    if rows < h {
        (w, h) = (w * rows / h, rows);
    }
    if columns < w {
        (w, h) = (columns, h * columns / w);
    }
    // For an image of a single row or column, rounding down could give 0.
    Ok(((h as usize).max(1), (w as usize).max(1)))
}

/// Crops a region of this size from the center or, if `anywhere` is set, from a random position. If the picture is smaller,
/// crops the largest fitting region and resizes it to this size.
fn crop(
    picture: Picture,
    size: (usize, usize),
    anywhere: bool,
    method: InterMethod,
    draw: &mut Draw,
) -> Result<Picture> {
    let (height, width) = scaled_down(&picture, size)?;
    let (rows, columns) = (picture.height() - height, picture.width() - width);
    let (top, left) = corner(rows, columns, anywhere, &mut draw.random);
    cut_and_resize(picture, Region { top, left, height, width }, size, method, draw)
}

/// Crops the center. If the image is too small, crops the largest region with the requested proportion and enlarges it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CenterCrop {
    /// Height and width of the result.
    pub size: (usize, usize),
    /// Interpolation used if the image is too small; linear in Gluon, cubic in `mxnet.image`.
    pub method: InterMethod,
}

impl CenterCrop {
    /// A crop to this size, with linear interpolation.
    pub fn new(height: usize, width: usize) -> Self {
        Self { size: (height, width), method: InterMethod::default() }
    }

    /// Sets the interpolation.
    #[must_use]
    pub fn method(self, method: InterMethod) -> Self {
        Self { method, ..self }
    }
}

impl Transform for CenterCrop {
    fn apply(&self, picture: Picture, draw: &mut Draw) -> Result<Picture> {
        crop(picture, self.size, false, self.method, draw)
    }
}

/// Crops at a random position; all positions are equally likely. An image that is too small is cropped as in [`CenterCrop`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomCrop {
    /// Height and width of the result.
    pub size: (usize, usize),
    /// Number of pixels with the value `pad_value` that are added on each side before the crop; default 0.
    pub pad: usize,
    /// Value of the added pixels; default 0.
    pub pad_value: u8,
    /// Interpolation used if the image is too small; linear in Gluon, cubic in `mxnet.image`.
    pub method: InterMethod,
}

impl RandomCrop {
    /// A crop to this size, without padding and with linear interpolation.
    pub fn new(height: usize, width: usize) -> Self {
        Self { size: (height, width), pad: 0, pad_value: 0, method: InterMethod::default() }
    }

    /// Pads the image with `pad` pixels of the value `pad_value` on each side before the crop.
    #[must_use]
    pub fn pad(self, pad: usize, pad_value: u8) -> Self {
        Self { pad, pad_value, ..self }
    }

    /// Sets the interpolation.
    #[must_use]
    pub fn method(self, method: InterMethod) -> Self {
        Self { method, ..self }
    }
}

impl Transform for RandomCrop {
    fn apply(&self, picture: Picture, draw: &mut Draw) -> Result<Picture> {
        let picture = match picture {
            picture if self.pad == 0 => picture,
            Picture::Pixels(image) => Picture::Pixels(pad(&image, self.pad, self.pad_value, &draw.limits)?),
            Picture::Numbers(_) => {
                let expected = "pixels of 8 bits, that is, before Cast and ToTensor";
                return Err(Error::invalid("image to pad", "numbers of float32", expected));
            }
        };
        crop(picture, self.size, true, self.method, draw)
    }
}

/// Crops a region of random area and proportion at a random position and resizes it. If ten tries did not fit in the image,
/// it crops like [`CenterCrop`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomResizedCrop {
    /// Height and width of the result.
    pub size: (usize, usize),
    /// Smallest and largest fraction of the area, which is uniformly distributed; default 0.08 to 1.
    pub area: (f32, f32),
    /// Smallest and largest width divided by height; the logarithm of the ratio is uniformly distributed. Default 3/4 to
    /// 4/3.
    pub ratio: (f32, f32),
    /// Interpolation; linear in Gluon, cubic in `mxnet.image`.
    pub method: InterMethod,
}

impl RandomResizedCrop {
    /// A crop to this size, with linear interpolation.
    pub fn new(height: usize, width: usize) -> Self {
        let (area, ratio) = ((0.08, 1.0), (3.0 / 4.0, 4.0 / 3.0));
        Self { size: (height, width), area, ratio, method: InterMethod::default() }
    }

    /// Sets the interpolation.
    #[must_use]
    pub fn method(self, method: InterMethod) -> Self {
        Self { method, ..self }
    }

    fn region(&self, rows: usize, columns: usize, draw: &mut Draw) -> Option<Region> {
        let whole = (rows * columns) as f64;
        for _ in 0..10 {
            let area = whole * f64::from(draw.random.uniform(self.area.0, self.area.1));
            let ratio = f64::from(draw.random.uniform(self.ratio.0.ln(), self.ratio.1.ln())).exp();
            let width = (area * ratio).sqrt().round_ties_even() as usize;
            let height = (area / ratio).sqrt().round_ties_even() as usize;
            if (1..=rows).contains(&height) && (1..=columns).contains(&width) {
                let (top, left) = corner(rows - height, columns - width, true, &mut draw.random);
                return Some(Region { top, left, height, width });
            }
        }
        None
    }
}

impl Transform for RandomResizedCrop {
    fn apply(&self, picture: Picture, draw: &mut Draw) -> Result<Picture> {
        check_range("area of RandomResizedCrop", self.area, 0.0)?;
        check_range("ratio of RandomResizedCrop", self.ratio, f32::MIN_POSITIVE)?;
        match self.region(picture.height(), picture.width(), draw) {
            Some(region) => cut_and_resize(picture, region, self.size, self.method, draw),
            None => crop(picture, self.size, false, self.method, draw),
        }
    }
}

/// Crops a given region, and resizes it if a size is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CropResize {
    /// First row and column of the region.
    pub corner: (usize, usize),
    /// Height and width of the region.
    pub part: (usize, usize),
    /// Height and width of the result; by default those of the region.
    pub size: Option<(usize, usize)>,
    /// Interpolation; default linear.
    pub method: InterMethod,
}

impl CropResize {
    /// Crops a region of the height and width `part` whose first row and column are `corner`.
    pub fn new(corner: (usize, usize), part: (usize, usize)) -> Self {
        Self { corner, part, size: None, method: InterMethod::default() }
    }

    /// Sets the size to which the region is resized.
    #[must_use]
    pub fn size(self, height: usize, width: usize) -> Self {
        Self { size: Some((height, width)), ..self }
    }
}

impl Transform for CropResize {
    fn apply(&self, picture: Picture, draw: &mut Draw) -> Result<Picture> {
        let ((top, left), (height, width)) = (self.corner, self.part);
        let fits = |first: usize, n: usize, len: usize| n > 0 && first.checked_add(n).is_some_and(|end| end <= len);
        if !fits(top, height, picture.height()) || !fits(left, width, picture.width()) {
            let got = format!("{height} x {width} pixels from row {top} and column {left} on");
            let expected = format!("a part of the {} x {} pixels", picture.height(), picture.width());
            return Err(Error::invalid("part to crop", got, expected));
        }
        let region = Region { top, left, height, width };
        cut_and_resize(picture, region, self.size.unwrap_or(self.part), self.method, draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If every try fits, the fraction of the area and the logarithm of the proportion are uniformly distributed.
    #[test]
    fn areas_and_proportions_follow_the_formulas() {
        let crop = RandomResizedCrop { area: (0.1, 0.4), ratio: (0.5, 2.0), ..RandomResizedCrop::new(8, 8) };
        let n = 4000;
        let regions = (0..n).map(|i| crop.region(1000, 1000, &mut Draw::keyed(&[i])).expect("at most 0.9 of a side"));
        let (mut areas, mut logs) = (0.0, 0.0);
        for r in regions {
            assert!(r.top + r.height <= 1000 && r.left + r.width <= 1000);
            areas += (r.height * r.width) as f64 / 1e6 / n as f64;
            logs += (r.width as f64 / r.height as f64).ln() / n as f64;
        }
        // The tolerances are four standard errors of uniform numbers from 0.1 to 0.4 and from -0.69 to 0.69; rounding adds
        // less than 0.0005.
        assert!((areas - 0.25).abs() < 0.006, "{areas}");
        assert!(logs.abs() < 0.026, "{logs}");
    }

    /// If area and proportion are fixed, height and width are exactly those that follow from them.
    #[test]
    fn sides_are_those_of_area_and_proportion() {
        let crop = RandomResizedCrop { area: (0.25, 0.25), ratio: (4.0, 4.0), ..RandomResizedCrop::new(8, 8) };
        let region = crop.region(400, 400, &mut Draw::keyed(&[])).unwrap();
        assert_eq!((region.height, region.width), (100, 400));
    }
}
