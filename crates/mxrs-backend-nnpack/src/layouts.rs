//! The layouts that the kernels read and write: activations in blocks of 16 channels, weights in packed forms.

use crate::direct::grouped::Groups;
use crate::fourier::{self, Tile};
use crate::gradients::merged_phases::MergedPhases;
use crate::gradients::phases::Steps;
use crate::winograd::{Blocking, Data, Plan, Schedule, Shape, Variant};
use half::bf16;
use mxrs_op::TensorDesc;
use mxrs_processor::Isa;
use mxrs_types::{DType, Layout, Result};
use smallvec::smallvec;

/// Channels of a block of activations.
pub const BLOCK: usize = 16;
/// Output channels of a panel of weights.
pub const PANEL: usize = 32;
/// Size in bytes above which a tensor is written directly to memory, bypassing the caches, because it would be evicted from
/// them before it is read. It is about the size of the last-level cache that a few cores of a current processor share.
pub const LARGE_BYTES: usize = 24 << 20;
/// Name of the backend, which is also stored in its layouts.
pub const NAME: &str = "nnpack";

/// `nChw16c` for a tensor `[n, c, h, w]`: blocks of 16 channels, padded with zeros; each block has its pixels row by
/// row.
pub fn blocked([n, c, h, w]: [usize; 4]) -> Layout {
    let blocks = c.div_ceil(BLOCK);
    Layout::Blocked {
        padded: smallvec![n, blocks * BLOCK, h, w],
        strides: smallvec![blocks * h * w * BLOCK, h * w * BLOCK, w * BLOCK, BLOCK],
        blocks: smallvec![(1, BLOCK as u16)],
    }
}

/// `nhwc` for a tensor `[n, c, h, w]`: all channels of a pixel, then the next pixel.
pub fn channels_last([n, c, h, w]: [usize; 4]) -> Layout {
    Layout::Blocked { padded: smallvec![n, c, h, w], strides: smallvec![h * w * c, 1, w * c, c], blocks: smallvec![] }
}

/// The layout in which kernels read and write images of these sizes.
pub fn image_layout(data: Data, sizes: [usize; 4]) -> Layout {
    match data {
        Data::Blocks => blocked(sizes),
        Data::Bf16Pixels => channels_last(sizes),
    }
}

/// Sizes of a bfloat16 tensor with four axes.
pub fn bf16_image(desc: &TensorDesc) -> Option<[usize; 4]> {
    if desc.dtype != DType::BF16 {
        return None;
    }
    desc.shape[..].try_into().ok()
}

/// Sizes of a float32 tensor with four axes.
pub fn image(desc: &TensorDesc) -> Option<[usize; 4]> {
    if desc.dtype != DType::F32 {
        return None;
    }
    desc.shape[..].try_into().ok()
}

/// Sizes of float32 weights with four axes, or with two for a fully-connected layer.
pub fn weights(desc: &TensorDesc) -> Option<[usize; 4]> {
    match desc.shape[..] {
        [k, c] if desc.dtype == DType::F32 => Some([k, c, 1, 1]),
        _ => image(desc),
    }
}

/// Whether a tensor is in `nChw16c`.
pub fn is_blocked(desc: &TensorDesc) -> bool {
    image(desc).is_some_and(|sizes| desc.layout == blocked(sizes))
}

/// Distance in values from one image to the next of a tensor in `nChw16c`, which may be a part of a tensor with more
/// channels. `None` for other layouts.
pub fn blocked_image_stride(desc: &TensorDesc) -> Option<usize> {
    let sizes = image(desc)?;
    let Layout::Blocked { strides, .. } = &desc.layout else { return None };
    let (mut expected, distance) = (blocked(sizes), *strides.first()?);
    if let Layout::Blocked { strides, .. } = &mut expected {
        if distance < strides[0] {
            return None;
        }
        strides[0] = distance;
    }
    (desc.layout == expected).then_some(distance)
}

/// The packed forms of weights `[k, c, kh, kw]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PackedForm {
    /// `[k/32][c/16][kh][kw][16 c][32 k]`, channels padded with zeros; the last panel may be 16 wide.
    Blocks,
    /// `[k/32][c][kh][kw][32 k]`, output channels padded with zeros; the last panel may be 16 wide.
    Taps,
    /// Filters transformed for this variant of Winograd's algorithm.
    Winograd(Variant),
    /// `[k/16][kh][kw][16 k]` of weights `[k, 1, kh, kw]`, channels padded with zeros.
    Depthwise,
    /// The weights of this number of groups, which are merged into fewer convolutions ([`Groups`]). Each convolution is
    /// packed as [`Blocks`](Self::Blocks). The sizes are those of the weights, `[k, c of a group, kh, kw]`.
    Groups(u32),
    /// `[k/16][kh][kw][channels of a group][16 k]`, for this number of small groups
    /// ([`small_groups`](crate::direct::small_groups)).
    SmallGroups(u32),
    /// Spectra for tiles of this size.
    Fourier(Tile),
    /// Row-major, in bfloat16.
    Bf16Rows,
    /// As [`Blocks`](Self::Blocks), in bfloat16.
    Bf16Blocks,
    /// As [`Blocks`](Self::Blocks), for the filters [flipped](crate::filters): `[c/32][k/16][kh][kw][16 k][32
    /// c]`.
    FlippedBlocks,
    /// As [`Winograd`](Self::Winograd), for flipped filters.
    FlippedWinograd(Variant),
    /// As [`FlippedBlocks`](Self::FlippedBlocks), for each phase of the gradient of the data with this stride, padding and
    /// dilation.
    Phases(Steps),
    /// As [`Phases`](Self::Phases), for weights of this number of groups. The filters of each phase are packed as
    /// [`Groups`](Self::Groups). There may be at most [`MOST_GROUPS`] groups.
    GroupPhases(Steps, u16),
    /// As [`Blocks`](Self::Blocks), for the one convolution that computes all phases of few channels.
    MergedPhases(Steps),
}

/// First id of layouts with groups. The id minus this value is the number of groups.
const GROUPS_ID: u64 = 1 << 32;
/// First id of layouts with small groups. The id minus this value is the number of groups.
const SMALL_GROUPS_ID: u64 = 1 << 35;
/// First id of layouts with phases. The id minus this value holds the [`Steps`] in its lowest bits, and the number of
/// groups from bit [`GROUPS_BIT`] on.
const PHASES_ID: u64 = 1 << 60;
/// First id of layouts with merged phases. The id minus this value holds the [`Steps`].
const MERGED_PHASES_ID: u64 = 1 << 61;
/// First bit of the number of groups in the id of a layout with phases.
const GROUPS_BIT: u32 = 48;
/// Largest number of groups of a layout with phases.
pub const MOST_GROUPS: u16 = 4095;

impl PackedForm {
    /// All forms that contain neither a number of groups nor a stride. The position of a form in this list is its id in
    /// a layout.
    fn all() -> impl Iterator<Item = Self> {
        let transformed = Variant::ALL.map(Self::Winograd).into_iter().chain(Tile::ALL.map(Self::Fourier));
        let short = [Self::Bf16Rows, Self::Bf16Blocks];
        let flipped = Variant::ALL.map(Self::FlippedWinograd).into_iter().chain([Self::FlippedBlocks]);
        [Self::Blocks, Self::Taps, Self::Depthwise].into_iter().chain(transformed).chain(short).chain(flipped)
    }

    /// Whether the packed values are bfloat16; otherwise they are float32.
    pub fn is_bf16(self) -> bool {
        matches!(self, Self::Bf16Rows | Self::Bf16Blocks)
    }

    /// The layout of weights of these sizes in this form.
    pub fn layout(self, sizes: [usize; 4]) -> Layout {
        let id = match self {
            Self::Groups(groups) => GROUPS_ID + u64::from(groups),
            Self::SmallGroups(groups) => SMALL_GROUPS_ID + u64::from(groups),
            Self::Phases(steps) => PHASES_ID + steps.code(),
            Self::GroupPhases(steps, groups) => PHASES_ID + (u64::from(groups) << GROUPS_BIT) + steps.code(),
            Self::MergedPhases(steps) => MERGED_PHASES_ID + steps.code(),
            _ => Self::all().position(|form| form == self).unwrap_or_default() as u64,
        };
        let number_bytes = if self.is_bf16() { size_of::<bf16>() } else { size_of::<f32>() };
        Layout::Opaque { backend: NAME, id, size_bytes: self.len(sizes) * number_bytes }
    }

    /// The form that a layout denotes.
    pub fn of(layout: &Layout) -> Option<Self> {
        match layout {
            Layout::Opaque { backend: NAME, id, .. } if *id >= MERGED_PHASES_ID => {
                Some(Self::MergedPhases(Steps::from_code(id - MERGED_PHASES_ID)))
            }
            Layout::Opaque { backend: NAME, id, .. } if *id >= PHASES_ID => {
                let steps = Steps::from_code(id - PHASES_ID);
                Some(match u16::try_from((id - PHASES_ID) >> GROUPS_BIT).ok()? {
                    0 => Self::Phases(steps),
                    groups => Self::GroupPhases(steps, groups),
                })
            }
            Layout::Opaque { backend: NAME, id, .. } if *id >= SMALL_GROUPS_ID => {
                Some(Self::SmallGroups(u32::try_from(id - SMALL_GROUPS_ID).ok()?))
            }
            Layout::Opaque { backend: NAME, id, .. } => match id.checked_sub(GROUPS_ID) {
                Some(groups) => Some(Self::Groups(u32::try_from(groups).ok()?)),
                None => Self::all().nth(usize::try_from(*id).ok()?),
            },
            _ => None,
        }
    }

    /// Number of values in the packed form.
    pub fn len(self, [k, c, kh, kw]: [usize; 4]) -> usize {
        let (padded_k, padded_c) = (k.next_multiple_of(BLOCK), c.next_multiple_of(BLOCK));
        match self {
            Self::MergedPhases(steps) => MergedPhases::new(steps, [kh, kw])
                .map_or(0, |merged| Self::Blocks.len([merged.channels(c), k, merged.window[0], merged.window[1]])),
            Self::Phases(steps) => padded_k * padded_c * steps.n_cells([kh, kw]),
            Self::GroupPhases(steps, n) => {
                let groups = Groups::flipped(usize::from(n), [k, c]);
                groups.n * groups.packed_len(steps.n_cells([kh, kw]))
            }
            Self::Blocks | Self::Bf16Blocks => padded_k * padded_c * kh * kw,
            Self::Bf16Rows => k * c * kh * kw,
            Self::Taps => padded_k * c * kh * kw,
            Self::Depthwise => padded_k * kh * kw,
            Self::SmallGroups(_) => k * c * kh * kw,
            Self::Groups(n) => {
                let groups = Groups::new(n as usize, c, k / n as usize);
                groups.n * groups.packed_len(kh * kw)
            }
            Self::Winograd(variant) => transform([k, c, kh, kw], variant).map_or(0, |plan| plan.packed_bytes() / 4),
            Self::FlippedBlocks => Self::Blocks.len([c, k, kh, kw]),
            Self::FlippedWinograd(variant) => Self::Winograd(variant).len([c, k, kh, kw]),
            Self::Fourier(tile) => spectra([k, c, kh, kw], tile).map_or(0, |plan| plan.packed_bytes() / 4),
        }
    }
}

/// A plan that transforms weights of these sizes. The packed weights do not depend on the image or the blocking.
///
/// # Errors
/// Fails if the variant is for another window.
pub fn transform(sizes: [usize; 4], variant: Variant) -> Result<Plan> {
    Plan::new(any_image(sizes), variant, ANY_BLOCKING, Isa::best())
}

/// A plan that transforms weights of these sizes to spectra. The spectra do not depend on the image or the blocking.
///
/// # Errors
/// Fails if the transform of these tiles does not support the window.
pub fn spectra(sizes: [usize; 4], tile: Tile) -> Result<fourier::Plan> {
    fourier::Plan::new(any_image(sizes), tile, ANY_BLOCKING, Isa::best())
}

const ANY_BLOCKING: Blocking = Blocking { schedule: Schedule::Independent, tiles: 1, panels: 1, threads: 1 };

fn any_image([k, c, kh, kw]: [usize; 4]) -> Shape {
    Shape { n: 1, c, k, size: [kh, kw], kernel: [kh, kw], pad: [0, 0], out: [1, 1] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_tensor_is_padded_to_whole_blocks() {
        let desc = TensorDesc::dense([2, 20, 3, 5], DType::F32);
        let blocked = desc.with_layout(blocked([2, 20, 3, 5]));
        assert_eq!(blocked.size_bytes(), 2 * 32 * 15 * 4);
        assert_eq!(blocked.layout.to_string(), "aBcd16b");
        assert!(is_blocked(&blocked) && !is_blocked(&desc));
        assert_eq!((blocked_image_stride(&blocked), blocked_image_stride(&desc)), (Some(32 * 15), None));
        for (distance, expected) in [(48 * 15, Some(48 * 15)), (16 * 15, None)] {
            let Layout::Blocked { padded, mut strides, blocks } = blocked.layout.clone() else { unreachable!() };
            strides[0] = distance;
            let part = desc.with_layout(Layout::Blocked { padded, strides, blocks });
            assert_eq!(blocked_image_stride(&part), expected);
        }
    }

    const STRIDE_2: Steps = Steps { stride: [2, 2], pad: [1, 0], dilate: [1, 3] };

    #[test]
    fn a_form_is_found_by_its_layout() {
        let groups = [2, 40].map(PackedForm::Groups).into_iter().chain([PackedForm::SmallGroups(32)]);
        let groups = groups.chain([PackedForm::GroupPhases(STRIDE_2, 5)]);
        let phases = [PackedForm::Phases(STRIDE_2), PackedForm::MergedPhases(Steps { dilate: [1, 1], ..STRIDE_2 })];
        for form in PackedForm::all().chain(groups).chain(phases) {
            assert_eq!(PackedForm::of(&form.layout([40, 3, 3, 3])), Some(form));
        }
        assert_eq!(PackedForm::of(&Layout::Opaque { backend: "onednn", id: 0, size_bytes: 4 }), None);
        assert_eq!(PackedForm::Taps.len([40, 3, 3, 3]), 48 * 27);
        assert_eq!(PackedForm::Blocks.len([40, 3, 3, 3]), 48 * 16 * 9);
    }
}
