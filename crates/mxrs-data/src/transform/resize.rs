//! Resizing of images.

use super::{Draw, Picture, Transform};
use crate::prepare::shorter_edge_to;
use crate::resample::{InterMethod, Region, resize_region};
use mxrs_types::{Error, Result};

/// Target size of a resize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResizeTo {
    /// The shorter edge gets this length, and the longer edge keeps the proportion (Gluon's `keep_ratio`).
    ShorterEdge(usize),
    /// This exact size; the proportion may change.
    Exactly {
        /// Number of rows.
        height: usize,
        /// Number of columns.
        width: usize,
    },
}

/// Resizes 8-bit pixels: Gluon's `Resize`, and `ResizeAug` and `ForceResizeAug` of `mxnet.image`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resize {
    /// The target size.
    pub to: ResizeTo,
    /// Interpolation; linear in Gluon, cubic in `mxnet.image`.
    pub method: InterMethod,
}

impl Resize {
    /// Resizes to this size, with linear interpolation.
    pub fn new(to: ResizeTo) -> Self {
        Self { to, method: InterMethod::default() }
    }

    /// Sets the interpolation.
    #[must_use]
    pub fn method(self, method: InterMethod) -> Self {
        Self { method, ..self }
    }
}

impl Transform for Resize {
    fn apply(&self, picture: Picture, draw: &mut Draw) -> Result<Picture> {
        let (h, w) = (picture.height(), picture.width());
        let (height, width) = match self.to {
            ResizeTo::ShorterEdge(edge) => shorter_edge_to(edge, (h, w)),
            ResizeTo::Exactly { height, width } => (height, width),
        };
        cut_and_resize(picture, Region { top: 0, left: 0, height: h, width: w }, (height, width), self.method, draw)
    }
}

/// Cuts out a region, which must lie inside the picture, and resizes it to the given size.
pub(super) fn cut_and_resize(
    picture: Picture,
    region: Region,
    (height, width): (usize, usize),
    method: InterMethod,
    draw: &mut Draw,
) -> Result<Picture> {
    if (region.height, region.width) == (height, width) {
        return picture.cut(region);
    }
    let Picture::Pixels(image) = picture else {
        let expected = "pixels of 8 bits, that is, before Cast and ToTensor";
        return Err(Error::invalid("image to resize", "numbers of float32", expected));
    };
    let way = method.choose((region.height, region.width), (height, width), &mut draw.random);
    resize_region(&draw.threads, &image, region, height, width, way, &draw.limits).map(Picture::Pixels)
}
