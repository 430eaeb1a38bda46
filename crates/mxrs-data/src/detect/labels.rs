//! The objects of an image, with coordinates relative to its size.

use super::{CropEmit, CropSampler, N_BEFORE};
use crate::Image;
use mxrs_format::recordio::Detection;
use mxrs_types::{Error, Result};

/// A rectangle in coordinates relative to the size of the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) left: f32,
    pub(super) top: f32,
    pub(super) width: f32,
    pub(super) height: f32,
}

impl Rect {
    fn area(self) -> f32 {
        self.width * self.height
    }

    /// The area of the intersection.
    fn shared(self, other: Self) -> f32 {
        let along = |a: f32, a_len: f32, b: f32, b_len: f32| (a + a_len).min(b + b_len) - a.max(b);
        let width = along(self.left, self.width, other.left, other.width);
        let height = along(self.top, self.height, other.top, other.height);
        width.max(0.0) * height.max(0.0)
    }

    /// Intersection over union: the area of the intersection divided by that of the union.
    fn overlap(self, other: Self) -> f32 {
        let shared = self.shared(other);
        if shared <= 0.0 { 0.0 } else { shared / (self.area() + other.area() - shared) }
    }

    fn contains(self, x: f32, y: f32) -> bool {
        (self.left..self.left + self.width).contains(&x) && (self.top..self.top + self.height).contains(&y)
    }
}

/// The label of an image: a header, and for each object its class, left, top, right, bottom, and further values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Objects {
    header: Vec<f32>,
    objects: Vec<Vec<f32>>,
}

fn rect(object: &[f32]) -> Rect {
    Rect { left: object[1], top: object[2], width: object[3] - object[1], height: object[4] - object[2] }
}

impl Objects {
    /// Reads a label as records store it. Objects without an area are dropped.
    pub(crate) fn read(label: &[f32]) -> Result<Self> {
        let parts = Detection::from_labels(label)?;
        let header = label[..2 + parts.extra.len()].to_vec();
        let objects = parts.objects.chunks_exact(parts.object_width).map(<[f32]>::to_vec);
        Ok(Self { header, objects: objects.filter(|object| object[3] > object[1] && object[4] > object[2]).collect() })
    }

    /// Writes a row of labels to `out`: channels, height and width of the image, the number of label values, and these
    /// values. The rest of `out` is filled with `pad_value`.
    pub(crate) fn write(&self, image: &Image, pad_value: f32, out: &mut [f32]) -> Result<()> {
        let n = self.header.len() + self.objects.iter().map(Vec::len).sum::<usize>();
        let room = out.len().saturating_sub(N_BEFORE);
        if n > room {
            return Err(Error::invalid("numbers of a label", n, format!("at most label_pad_width ({room})")));
        }
        let sizes = [image.channels(), image.height(), image.width(), n].map(|size| size as f32);
        let numbers = sizes.iter().chain(&self.header).chain(self.objects.iter().flatten());
        let all = numbers.copied().chain(std::iter::repeat(pad_value));
        out.iter_mut().zip(all).for_each(|(out, number)| *out = number);
        Ok(())
    }

    /// Converts the coordinates to those relative to `frame`, which may be larger than the image.
    pub(super) fn project(&mut self, frame: Rect) {
        for object in &mut self.objects {
            object[1] = ((object[1] - frame.left) / frame.width).max(0.0);
            object[2] = ((object[2] - frame.top) / frame.height).max(0.0);
            object[3] = ((object[3] - frame.left) / frame.width).min(1.0);
            object[4] = ((object[4] - frame.top) / frame.height).min(1.0);
        }
    }

    /// Mirrors the objects: left and right are exchanged.
    pub(super) fn mirror(&mut self) {
        for object in &mut self.objects {
            (object[1], object[3]) = (1.0 - object[3], 1.0 - object[1]);
        }
    }

    /// Crops to a region of the image: drops the objects that lie outside the region by the rule `emit`, and makes the
    /// coordinates relative to the region. If no object satisfies the bounds of `sampler`, or none would be left,
    /// changes nothing and returns `false`.
    pub(super) fn crop(&mut self, part: Rect, sampler: &CropSampler, emit: CropEmit) -> bool {
        if self.objects.is_empty() {
            return true;
        }
        let within =
            |value: f32, (least, most): (f32, f32)| (least <= 0.0 && most >= 1.0) || (least <= value && value <= most);
        let is_wanted = |object: &Vec<f32>| {
            let object = rect(object);
            let shared = part.shared(object);
            within(part.overlap(object), sampler.overlaps)
                && within(shared / part.area(), sampler.sample_coverages)
                && within(shared / object.area(), sampler.object_coverages)
        };
        let stays = |object: &&Vec<f32>| match emit {
            CropEmit::Center => part.contains((object[1] + object[3]) * 0.5, (object[2] + object[4]) * 0.5),
            CropEmit::Overlap(least) => part.shared(rect(object)) / rect(object).area() > least,
        };
        let left: Vec<Vec<f32>> = self.objects.iter().filter(stays).cloned().collect();
        if left.is_empty() || !self.objects.iter().any(is_wanted) {
            return false;
        }
        self.objects = left;
        self.project(part);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label() -> Vec<f32> {
        // The header has one extra value, and each object has one extra value; the second object has no area.
        vec![3.0, 6.0, 9.0, 1.0, 0.25, 0.25, 0.5, 0.75, 7.0, 2.0, 0.5, 0.1, 0.5, 0.2, 8.0, 3.0, 0.5, 0.5, 1.0, 1.0, 6.0]
    }

    const HALF: Rect = Rect { left: 0.0, top: 0.0, width: 0.5, height: 1.0 };

    #[test]
    fn labels_are_read_and_written() {
        let image = Image::new(2, 3, 1, vec![0; 6]).unwrap();
        let objects = Objects::read(&label()).unwrap();
        let mut out = [5.0; 21];
        objects.write(&image, -1.0, &mut out).unwrap();
        assert_eq!(out[..7], [1.0, 2.0, 3.0, 15.0, 3.0, 6.0, 9.0]);
        assert_eq!(out[13], 3.0, "the object without an area is left out");
        assert_eq!(out[19..], [-1.0; 2]);
        let message = objects.write(&image, -1.0, &mut [0.0; 18]).unwrap_err().to_string();
        assert!(message.contains("label_pad_width (14)"), "{message}");
        assert!(Objects::read(&[2.0, 4.0, 1.0]).is_err());
    }

    #[test]
    fn objects_go_with_the_image() {
        let mut objects = Objects::read(&label()).unwrap();
        objects.mirror();
        assert_eq!(objects.objects[0], [1.0, 0.5, 0.25, 0.75, 0.75, 7.0]);
        // The frame is twice as wide and high as the image, which is at its lower right: a position p becomes (p + 1) / 2.
        objects.project(Rect { left: -1.0, top: -1.0, width: 2.0, height: 2.0 });
        assert_eq!(objects.objects[0][1..5], [0.75, 0.625, 0.875, 0.875]);
    }

    #[test]
    fn crops_keep_what_the_rules_say() {
        let any = CropSampler::default();
        let crop = |sampler: &CropSampler, emit| {
            let mut objects = Objects::read(&label()).unwrap();
            objects.crop(HALF, sampler, emit).then_some(objects.objects)
        };
        assert_eq!(crop(&any, CropEmit::Center).unwrap(), [[1.0, 0.5, 0.25, 1.0, 0.75, 7.0]]);
        assert_eq!(crop(&any, CropEmit::Overlap(0.9)).unwrap().len(), 1);
        assert_eq!(crop(&any, CropEmit::Overlap(1.0)), None, "the object lies in the half, but not by more than all");
        // The region covers 1/2 of the image. The object covers 1/8 and lies inside the region. So the overlap is 1/4, and
        // the intersection is 1/4 of the region and all of the object.
        for (least, most, is_found) in [(0.24, 0.26, true), (0.26, 0.9, false), (0.1, 0.2, false)] {
            let overlaps = CropSampler { overlaps: (least, most), ..any };
            let covered = CropSampler { sample_coverages: (least, most), ..any };
            assert_eq!(crop(&overlaps, CropEmit::Center).is_some(), is_found, "{least}");
            assert_eq!(crop(&covered, CropEmit::Center).is_some(), is_found, "{least}");
        }
        assert!(crop(&CropSampler { object_coverages: (0.9, 1.0), ..any }, CropEmit::Center).is_some());
        assert!(crop(&CropSampler { object_coverages: (0.1, 0.9), ..any }, CropEmit::Center).is_none());
    }
}
