//! Random change of the hue.

use super::{Draw, Picture, Transform, check_range};
use crate::augment::{hls_of, rgb_of};
use mxrs_types::Result;
use std::f32::consts::PI;

/// Color space in which the hue is rotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HueSpace {
    /// Exact rotation in hue, lightness and saturation (Gluon).
    Hls,
    /// Rotation about the luma axis of the YIQ color space, which is a linear map (`HueJitterAug`).
    Yiq,
}

/// Rotates all hues by a random part of a full turn ([`HueSpace::Hls`]) or of half a turn ([`HueSpace::Yiq`]). Gray images
/// stay unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomHue {
    parts: (f32, f32),
    space: HueSpace,
}

impl RandomHue {
    /// Rotates by at most `most` turns ([`HueSpace::Hls`]) or half turns ([`HueSpace::Yiq`]) in either direction.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if `most` is negative or not finite.
    pub fn new(most: f32, space: HueSpace) -> Result<Self> {
        check_range("hue", (most, most), 0.0)?;
        Ok(Self { parts: (-most, most), space })
    }

    /// Rotates by a random number of turns or half turns between `least` and `most`, which may be equal.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if a bound is not finite, or if `least` is above `most`.
    pub fn between(least: f32, most: f32, space: HueSpace) -> Result<Self> {
        check_range("hue", (least, most), f32::MIN)?;
        Ok(Self { parts: (least, most), space })
    }
}

/// Matrices from red, green and blue to luma and chroma (YIQ) and back, with three decimals as in MXNet.
const TO_YIQ: [[f32; 3]; 3] = [[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]];
const FROM_YIQ: [[f32; 3]; 3] = [[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]];

fn product(a: [[f32; 3]; 3], b: [[f32; 3]; 3]) -> [[f32; 3]; 3] {
    a.map(|row| [0, 1, 2].map(|j| (0..3).map(|k| row[k] * b[k][j]).sum()))
}

impl Transform for RandomHue {
    fn apply(&self, mut picture: Picture, draw: &mut Draw) -> Result<Picture> {
        let part = draw.random.uniform(self.parts.0, self.parts.1);
        if !picture.has_colors() {
            return Ok(picture);
        }
        match self.space {
            HueSpace::Hls => picture.recolor(|colors| {
                let [hue, lightness, saturation] = hls_of(colors.map(|value| value / 255.0));
                rgb_of([hue + part * 360.0, lightness, saturation]).map(|value| value * 255.0)
            }),
            HueSpace::Yiq => {
                let (sin, cos) = (part * PI).sin_cos();
                let turn = [[1.0, 0.0, 0.0], [0.0, cos, -sin], [0.0, sin, cos]];
                let all = product(product(FROM_YIQ, turn), TO_YIQ);
                picture.recolor(|colors| all.map(|row| row.iter().zip(colors).map(|(a, b)| a * b).sum()));
            }
        }
        Ok(picture)
    }
}
