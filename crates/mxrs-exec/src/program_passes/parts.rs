//! Finds where the parts of a concatenation lie in the whole.

use mxrs_op::TensorDesc;
use mxrs_types::Layout;

/// Kernels expect tensors and their images to begin at multiples of this many bytes.
const ALIGNMENT: usize = 64;

/// The place of one part in the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Distance of the part from the beginning of the whole, in bytes.
    pub offset_bytes: usize,
    /// The description of the part, with its layout inside the whole.
    pub desc: TensorDesc,
    /// Bytes from one image (slice along the first axis) to the next; `None` if the images are contiguous.
    pub image_bytes: Option<usize>,
    /// Number of images that lie in one piece each, and bytes of one image.
    pub images: (usize, usize),
    /// Whether all images begin at cache lines, so that a kernel can write them.
    pub is_aligned: bool,
}

/// The places of all parts, or `None` if some image of some part does not lie in one piece in the whole. Images lie in one
/// piece in two cases:
/// - The concatenation is along the first axis that is longer than 1.
/// - The concatenation is along the second axis, in row-major order or in blocks of channels that all parts but the last
///   fill.
pub fn places(whole: &TensorDesc, parts: &[&TensorDesc]) -> Option<Vec<Place>> {
    let differs = |axis: &usize| parts.iter().any(|part| part.shape.get(*axis) != whole.shape.get(*axis));
    let axis = (0..whole.shape.len()).find(differs)?;
    // If the concatenation is along a later axis, each part of an image is in several pieces.
    let is_one = whole.shape[..axis].iter().all(|size| *size == 1);
    if !is_one && axis != 1 {
        return None;
    }
    let n_images = if is_one { 1 } else { whole.shape[0] };
    if n_images == 0 {
        return None;
    }
    let element = whole.dtype.size_of();
    let whole_image = whole.size_bytes() / n_images;
    // Number of positions of the concatenated axis in one block, and number of elements from the beginning of one block
    // to the beginning of the next.
    let (block, distance) = match &whole.layout {
        Layout::RowMajor => (1, whole.shape[axis + 1..].iter().product::<usize>()),
        Layout::Blocked { strides, blocks, .. } => {
            let of_axis = blocks.iter().filter(|(d, _)| usize::from(*d) == axis).map(|(_, n)| usize::from(*n));
            (of_axis.product::<usize>(), *strides.get(axis)?)
        }
        _ => return None,
    };
    if !is_one && image_elements(whole)? * element != whole_image {
        return None;
    }
    let mut found = Vec::with_capacity(parts.len());
    let (mut before, mut end) = (0, 0);
    for (i, part) in parts.iter().enumerate() {
        let is_alike = match (&part.layout, &whole.layout) {
            (Layout::RowMajor, Layout::RowMajor) => true,
            (
                Layout::Blocked { strides: of_part, blocks: part_blocks, .. },
                Layout::Blocked { strides: of_whole, blocks: whole_blocks, .. },
            ) => part_blocks == whole_blocks && of_part.get(axis..) == of_whole.get(axis..),
            _ => false,
        };
        let size = *part.shape.get(axis)?;
        let offset_bytes = before / block * distance * element;
        let fills = i + 1 == parts.len() || size.is_multiple_of(block);
        let image = part.size_bytes() / n_images;
        let is_whole_images = is_one || image_elements(part)? * element == image;
        if !is_alike || !fills || offset_bytes != end || part.dtype != whole.dtype || image == 0 || !is_whole_images {
            return None;
        }
        let starts = if is_one { offset_bytes } else { offset_bytes | whole_image };
        found.push(Place {
            offset_bytes,
            desc: if is_one { (*part).clone() } else { apart(part, whole_image / element) },
            image_bytes: (!is_one).then_some(whole_image),
            images: (n_images, image),
            is_aligned: starts.is_multiple_of(ALIGNMENT),
        });
        (before, end) = (before + size, offset_bytes + image);
    }
    (end == whole_image).then_some(found)
}

/// Number of elements from one image to the next.
fn image_elements(desc: &TensorDesc) -> Option<usize> {
    match &desc.layout {
        Layout::RowMajor => Some(desc.shape[1..].iter().product()),
        Layout::Blocked { strides, .. } => strides.first().copied(),
        Layout::Opaque { .. } => None,
    }
}

/// The same tensor with `image` elements from one image to the next.
fn apart(desc: &TensorDesc, image: usize) -> TensorDesc {
    let layout = match &desc.layout {
        Layout::Blocked { padded, strides, blocks } => {
            let mut strides = strides.clone();
            strides[0] = image;
            Layout::Blocked { padded: padded.clone(), strides, blocks: blocks.clone() }
        }
        _ => {
            let of = |axis: usize| desc.shape[axis + 1..].iter().product();
            let strides = (0..desc.shape.len()).map(|axis| if axis == 0 { image } else { of(axis) }).collect();
            Layout::Blocked { padded: desc.shape.iter().copied().collect(), strides, blocks: Default::default() }
        }
    };
    desc.with_layout(layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_types::DType;

    /// A tensor of four axes in the layout `nChw16c`.
    fn blocked(sizes: [usize; 4]) -> TensorDesc {
        let [n, c, h, w] = sizes;
        let c = c.next_multiple_of(16);
        let layout = Layout::Blocked {
            padded: [n, c, h, w].into_iter().collect(),
            strides: [c * h * w, h * w * 16, w * 16, 16].into_iter().collect(),
            blocks: [(1, 16)].into_iter().collect(),
        };
        TensorDesc::dense(sizes, DType::F32).with_layout(layout)
    }

    /// A tensor of four axes in the layout `nhwc`.
    fn pixels(sizes: [usize; 4]) -> TensorDesc {
        let [_, c, h, w] = sizes;
        let layout = Layout::Blocked {
            padded: sizes.into_iter().collect(),
            strides: [c * h * w, 1, w * c, c].into_iter().collect(),
            blocks: Default::default(),
        };
        TensorDesc::dense(sizes, DType::F32).with_layout(layout)
    }

    fn rows(sizes: [usize; 4]) -> TensorDesc {
        TensorDesc::dense(sizes, DType::F32)
    }

    fn along_channels(make: fn([usize; 4]) -> TensorDesc, n: usize, channels: &[usize]) -> Option<Vec<Place>> {
        let parts: Vec<TensorDesc> = channels.iter().map(|c| make([n, *c, 4, 4])).collect();
        places(&make([n, channels.iter().sum(), 4, 4]), &parts.iter().collect::<Vec<_>>())
    }

    fn offsets(places: Option<Vec<Place>>) -> Option<Vec<usize>> {
        places.map(|places| places.iter().map(|place| place.offset_bytes).collect())
    }

    #[test]
    fn parts_of_one_image_lie_in_one_piece() {
        for (make, sizes, expected) in [
            (rows as fn(_) -> _, &[16, 4, 5][..], &[0, 1024, 1280][..]),
            (blocked, &[16, 32, 16], &[0, 1024, 3072]),
            // The last part may end within a block, because the whole ends at the last element of this part.
            (blocked, &[16, 20], &[0, 1024]),
        ] {
            let places = along_channels(make, 1, sizes).expect("places");
            assert!(places.iter().all(|place| place.is_aligned && place.image_bytes.is_none()));
            assert!(places.iter().zip(sizes).all(|(place, c)| place.desc == make([1, *c, 4, 4])));
            assert_eq!(offsets(Some(places)), Some(expected.to_vec()));
        }
    }

    #[test]
    fn images_of_a_part_are_as_far_apart_as_those_of_the_whole() {
        for make in [rows as fn(_) -> _, blocked] {
            let found = along_channels(make, 3, &[16, 32]).expect("places");
            assert_eq!(offsets(Some(found.clone())), Some(vec![0, 1024]));
            for (place, c) in found.iter().zip([16, 32]) {
                assert_eq!((place.image_bytes, place.images), (Some(3072), (3, c * 64)));
                // The size reaches from the first element of the first image to the last element of the last image.
                assert_eq!(place.desc.size_bytes(), 2 * 3072 + c * 64);
                assert!(place.is_aligned);
            }
        }
        let last = along_channels(blocked, 2, &[16, 20]).expect("places");
        assert_eq!((last[1].images, last[1].image_bytes), ((2, 2048), Some(3072)));
    }

    #[test]
    fn other_parts_have_no_place_of_their_own() {
        assert_eq!(along_channels(blocked, 1, &[20, 16]), None, "a block of two parts");
        assert_eq!(along_channels(blocked, 2, &[20, 16]), None, "a block of two parts");
        assert_eq!(along_channels(blocked, 1, &[30, 31]), None, "as many blocks, but not the same");
        assert_eq!(along_channels(pixels, 1, &[16, 16]), None, "a part of each pixel");
        assert_eq!(along_channels(pixels, 2, &[16, 16]), None, "a part of each pixel");
        let short = |sizes| TensorDesc { dtype: DType::BF16, ..rows(sizes) };
        let (a, b) = (short([1, 1, 1, 3]), short([1, 1, 1, 5]));
        let found = places(&short([1, 1, 1, 8]), &[&a, &b]).expect("places");
        assert!(found[0].is_aligned && !found[1].is_aligned, "no cache line begins there");
        let (a, b) = (rows([1, 16, 4, 4]), blocked([1, 16, 4, 4]));
        assert_eq!(places(&rows([1, 32, 4, 4]), &[&a, &b]), None, "another layout");
        let (a, b) = (rows([2, 1, 1, 3]), rows([2, 1, 1, 5]));
        assert_eq!(places(&rows([2, 1, 1, 8]), &[&a, &b]), None, "a part of each row");
        let found = along_channels(rows, 2, &[1, 2]).expect("places");
        assert!(found.iter().all(|place| place.is_aligned));
        let (a, b) = (rows([2, 3, 1, 1]), rows([2, 16, 1, 1]));
        let found = places(&rows([2, 19, 1, 1]), &[&a, &b]).expect("places");
        assert!(found.iter().all(|place| !place.is_aligned), "the second image begins in no cache line");
    }

    #[test]
    fn images_follow_one_another() {
        let parts = [blocked([2, 20, 4, 4]), blocked([3, 20, 4, 4])];
        let found = places(&blocked([5, 20, 4, 4]), &parts.iter().collect::<Vec<_>>());
        assert_eq!(offsets(found.clone()), Some(vec![0, 2 * 32 * 16 * 4]));
        assert!(found.into_iter().flatten().all(|place| place.image_bytes.is_none()));
    }
}
