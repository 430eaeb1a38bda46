//! The payload of an image record: labels, ids and the encoded image.

use crate::fault;
use crate::reader::Reader;
use mxrs_types::{FormatErrorKind, Result};

/// Size in bytes of the header, which precedes the label list.
const HEADER_LEN: usize = 24;

/// One image with its labels.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ImageRecord<'a> {
    /// The label field of the header. In a record without a label list, this is the label. Otherwise it is 0 (written by
    /// Python) or the first label (written by the C++ tool).
    pub label: f32,
    /// The label list; empty if the record has only the label of the header.
    pub labels: Vec<f32>,
    /// First id, usually the index of the line in the image list.
    pub id: u64,
    /// Second id, usually 0.
    pub id2: u64,
    /// Encoded image (JPEG, PNG, ...) or raw bytes.
    pub image: &'a [u8],
}

impl<'a> ImageRecord<'a> {
    /// Parses a payload.
    ///
    /// # Errors
    /// Returns `Truncated` if the header is incomplete or labels are missing, and `Inconsistent` if no image follows.
    pub fn unpack(payload: &'a [u8]) -> Result<Self> {
        let mut r = Reader::from_slice(payload);
        let n_labels = r.u32("label count of an image record")?;
        let label = f32::from_bits(r.u32("label of an image record")?);
        let id = r.u64("id of an image record")?;
        let id2 = r.u64("second id of an image record")?;
        r.expect(u64::from(n_labels) * 4, "labels of an image record")?;
        let labels = (0..n_labels).map(|_| Ok(f32::from_bits(r.u32("label")?))).collect::<Result<Vec<f32>>>()?;
        let image = payload.get(HEADER_LEN + labels.len() * 4..).unwrap_or_default();
        if image.is_empty() {
            let context = format!("image record {id} without an image");
            return Err(fault::at(payload.len() as u64, FormatErrorKind::Inconsistent, context));
        }
        Ok(Self { label, labels, id, id2, image })
    }

    /// Builds the payload. A list of labels is written as a list even if it has one entry.
    pub fn pack(&self) -> Vec<u8> {
        let mut payload = Vec::with_capacity(HEADER_LEN + self.labels.len() * 4 + self.image.len());
        payload.extend((self.labels.len() as u32).to_le_bytes());
        payload.extend(self.label.to_le_bytes());
        payload.extend(self.id.to_le_bytes());
        payload.extend(self.id2.to_le_bytes());
        payload.extend(self.labels.iter().flat_map(|l| l.to_le_bytes()));
        payload.extend(self.image);
        payload
    }

    /// The labels: the list, or the single label of the header.
    pub fn all_labels(&self) -> &[f32] {
        if self.labels.is_empty() { std::slice::from_ref(&self.label) } else { &self.labels }
    }

    /// The labels, whose number must be `label_width`.
    ///
    /// # Errors
    /// Returns `Inconsistent`, with both numbers, for another number of labels.
    pub fn labels_of_width(&self, label_width: usize) -> Result<&[f32]> {
        let labels = self.all_labels();
        if labels.len() == label_width {
            return Ok(labels);
        }
        let context =
            format!("image record {} has {} labels, expected label_width {label_width}", self.id, labels.len());
        Err(fault::whole(FormatErrorKind::Inconsistent, context))
    }
}

/// Labels of an object-detection record: `[header_width, object_width, extra..., objects...]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detection<'a> {
    /// Values between the two widths and the first object.
    pub extra: &'a [f32],
    /// Number of values per object: id, xmin, ymin, xmax, ymax and more.
    pub object_width: usize,
    /// The values of all objects, consecutively.
    pub objects: &'a [f32],
}

impl<'a> Detection<'a> {
    /// Parses detection labels.
    ///
    /// # Errors
    /// Returns `Inconsistent` unless `header_width >= 2`, `object_width >= 5` and the rest is a whole number of objects.
    pub fn from_labels(labels: &'a [f32]) -> Result<Self> {
        let bad = |context: String| Err(fault::whole(FormatErrorKind::Inconsistent, context));
        let [header_width, object_width, ..] = *labels else {
            return bad(format!("{} detection labels, expected at least 2", labels.len()));
        };
        let width = |value: f32, least: usize| {
            let whole = value.fract() == 0.0 && value >= least as f32 && value <= labels.len() as f32;
            whole.then_some(value as usize)
        };
        let Some(header) = width(header_width, 2) else {
            return bad(format!(
                "detection header width {header_width} of {} labels, expected 2 or more",
                labels.len()
            ));
        };
        let objects = &labels[header..];
        // Without objects any width from 5 upward is accepted.
        let object_width = match width(object_width, 5) {
            Some(object_width) => object_width,
            None if objects.is_empty() && object_width >= 5.0 && object_width.fract() == 0.0 => object_width as usize,
            None => return bad(format!("detection object width {object_width}, expected 5 or more")),
        };
        if !objects.len().is_multiple_of(object_width) {
            return bad(format!("{} numbers of objects, expected a multiple of {object_width}", objects.len()));
        }
        Ok(Self { extra: &labels[2..header], object_width, objects })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::category;

    #[test]
    fn header_layout() {
        let record = ImageRecord { label: 3.0, id: 7, image: b"img", ..Default::default() };
        let bytes = record.pack();
        assert_eq!(bytes, [&[0, 0, 0, 0, 0, 0, 0x40, 0x40, 7, 0, 0, 0, 0, 0, 0, 0][..], &[0; 8], b"img"].concat());
        assert_eq!(ImageRecord::unpack(&bytes).unwrap(), record);
        assert_eq!(record.labels_of_width(1).unwrap(), [3.0]);
        for labels in [vec![1.0], vec![1.0, 2.0, 3.0]] {
            let record = ImageRecord { labels: labels.clone(), ..record.clone() };
            let bytes = record.pack();
            assert_eq!(bytes[0] as usize, labels.len());
            let back = ImageRecord::unpack(&bytes).unwrap();
            assert_eq!((back.all_labels(), back.image), (&labels[..], &b"img"[..]));
        }
    }

    #[test]
    fn broken_payloads() {
        let kind = |bytes: &[u8]| category(&ImageRecord::unpack(bytes).unwrap_err()).cloned().unwrap();
        let good = ImageRecord { labels: vec![1.0, 2.0], image: b"x", ..Default::default() }.pack();
        assert!(matches!(kind(&good[..23]), FormatErrorKind::Truncated { .. }));
        assert!(matches!(kind(&good[..28]), FormatErrorKind::Truncated { need: 8, have: 4 }));
        assert_eq!(kind(&good[..32]), FormatErrorKind::Inconsistent);
        let mut hostile = good.clone();
        hostile[..4].fill(0xff);
        assert!(matches!(kind(&hostile), FormatErrorKind::Truncated { need: 0x3_ffff_fffc, have: 9 }));
        let e = ImageRecord::unpack(&good).unwrap().labels_of_width(5).unwrap_err();
        assert!(e.to_string().contains("has 2 labels, expected label_width 5"), "{e}");
    }

    #[test]
    fn detection_labels() {
        let labels = [4.0, 5.0, 640.0, 480.0, 1.0, 0.1, 0.2, 0.3, 0.4];
        let d = Detection::from_labels(&labels).unwrap();
        assert_eq!((d.extra, d.object_width, d.objects), (&labels[2..4], 5, &labels[4..]));
        assert!(Detection::from_labels(&[2.0, 5.0]).unwrap().objects.is_empty());
        let nan = f32::NAN;
        for bad in [&[2.0][..], &[1.0, 5.0], &[2.0, 4.0, 1.0], &[2.0, 5.0, 1.0], &[9.0, 5.0], &[nan, 5.0], &[2.0, nan]]
        {
            assert_eq!(category(&Detection::from_labels(bad).unwrap_err()), Some(&FormatErrorKind::Inconsistent));
        }
    }
}
