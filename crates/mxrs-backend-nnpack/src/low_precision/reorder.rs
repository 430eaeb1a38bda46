//! Copies between layouts: images between row-major order, channels last and blocks of channels; weights into their packed
//! form.

use super::block::{PANEL, SQUARE, STEP};
use super::flipped::Flipped;
use super::loops::{Shared, in_parts};
use super::packing::{Merging, Packing};
use crate::layouts::{BLOCK, blocked, channels_last};
use mxrs_op::{Kernel, KernelArgs, TensorDesc};
use mxrs_types::{DType, Error, Layout, Result, WriteReq};

/// How the values of an image lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Planes,
    Pixels,
    Blocks,
}

impl Order {
    fn of(layout: &Layout, sizes: [usize; 4]) -> Option<Self> {
        match layout {
            Layout::RowMajor => Some(Self::Planes),
            layout if *layout == channels_last(sizes) => Some(Self::Pixels),
            layout if *layout == blocked(sizes) => Some(Self::Blocks),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Conversion {
    Image([Order; 2]),
    Pack(Packing),
    /// Packs weights in the flipped form, for the gradient of the data.
    Flip(Flipped),
}

/// A copy between two layouts.
pub struct Reorder {
    sizes: [usize; 4],
    number_bytes: usize,
    conversion: Conversion,
}

/// Pixels that are copied at a time.
const TILE: usize = 32;

impl Reorder {
    /// Returns the copy, if this module knows both layouts.
    pub fn new(from: &TensorDesc, to: &TensorDesc) -> Option<Self> {
        let sizes = match from.shape[..] {
            [k, c] => [k, c, 1, 1],
            [n, c, h, w] => [n, c, h, w],
            _ => return None,
        };
        if from.shape != to.shape || from.dtype != to.dtype || sizes.contains(&0) {
            return None;
        }
        let number_bytes = from.dtype.size_of();
        if from.layout.is_row_major()
            && let Some(packing) = Packing::of(&to.layout, sizes)
            && matches!((from.dtype, packing.bytes), (DType::BF16, false) | (DType::I8, true))
        {
            return Some(Self { sizes, number_bytes, conversion: Conversion::Pack(packing) });
        }
        if from.layout.is_row_major()
            && from.dtype == DType::BF16
            && let Some(form) = Flipped::of(&to.layout, sizes)
        {
            return Some(Self { sizes, number_bytes, conversion: Conversion::Flip(form) });
        }
        let orders = [Order::of(&from.layout, sizes)?, Order::of(&to.layout, sizes)?];
        // Copies between two layouts without channels last are made by `crate::reorder`.
        let is_here = from.shape.ndim() == 4 && orders[0] != orders[1] && orders.contains(&Order::Pixels);
        (is_here && matches!(number_bytes, 1 | 2 | 4)).then_some(Self {
            sizes,
            number_bytes,
            conversion: Conversion::Image(orders),
        })
    }

    fn pack(&self, packing: Packing, args: &KernelArgs<'_>) {
        // SAFETY: this is an input of the running call, which the executor does not let share memory with the output.
        let from = unsafe { args.inputs[0].bytes() };
        let to = Shared(args.outputs[0].as_ptr());
        if packing.depthwise {
            // SAFETY: this is an output of the running call, and no other slice of it exists.
            packing.pack_depthwise(self.sizes, from, unsafe { args.outputs[0].bytes_mut() });
            return;
        }
        let Merging { n, k, .. } = packing.merging(self.sizes);
        let (all, columns) = (packing.panels_bytes(self.sizes), k.next_multiple_of(SQUARE));
        let (panel, panels) = (all / columns * PANEL, k.div_ceil(PANEL));
        in_parts(args.team, usize::MAX, n * panels, panel.max(STEP), &|part| {
            for index in part {
                let (group, index) = (index / panels, index % panels);
                let first = index * panel;
                // SAFETY: panel `index` of a group is a part of the packed weights that only this thread writes.
                let to_panel =
                    unsafe { std::slice::from_raw_parts_mut(to.at(group * all + first), panel.min(all - first)) };
                let corrections = packing.pack(self.sizes, from, [group, index], to_panel);
                if packing.bytes {
                    let n_columns = (columns - index * PANEL).min(PANEL);
                    // SAFETY: the corrections of all columns follow the panels of all groups, and only this thread writes
                    // these.
                    unsafe {
                        let to = to.at(n * all).cast::<i32>().add(group * columns + index * PANEL);
                        to.copy_from_nonoverlapping(corrections.as_ptr(), n_columns);
                    }
                }
            }
        });
    }

    fn flip(&self, form: Flipped, args: &KernelArgs<'_>) {
        // SAFETY: this is an input of the running call, which the executor does not let share memory with the output.
        let from: &[u16] = bytemuck::cast_slice(unsafe { args.inputs[0].bytes() });
        let to = Shared(args.outputs[0].as_ptr());
        let [_, c, ..] = self.sizes;
        let phases = form.phases(self.sizes).unwrap_or_default();
        let panels = c.div_ceil(PANEL);
        let bytes = args.outputs[0].len_bytes() / (phases.len() * panels).max(1);
        in_parts(args.team, usize::MAX, phases.len() * panels, bytes.max(STEP), &|part| {
            for index in part {
                let (phase, index) = (&phases[index / panels], index % panels);
                let panel = phase.n_bytes / c.next_multiple_of(SQUARE) * PANEL;
                let (first, len) = (index * panel, panel.min(phase.n_bytes - index * panel));
                // SAFETY: a panel of a phase is a part of the packed weights that only this thread writes.
                let to = unsafe { std::slice::from_raw_parts_mut(to.at(phase.start + first), len) };
                Flipped::pack(self.sizes, phase, from, index, bytemuck::cast_slice_mut(to));
            }
        });
    }

    /// Copies an image whose values have type `T`.
    fn image<T: Copy + Default + Send>(&self, orders: [Order; 2], args: &KernelArgs<'_>) {
        let [n, c, h, w] = self.sizes;
        let pixels = h * w;
        let (from, to) = (Shared(args.inputs[0].as_ptr().cast::<T>()), Shared(args.outputs[0].as_ptr().cast::<T>()));
        let blocks = c.div_ceil(BLOCK);
        // Index of a channel of pixel 0 of an image, and the distance between pixels.
        let place = |order: Order, image: usize, channel: usize| match order {
            Order::Planes => ((image * c + channel) * pixels, 1),
            Order::Pixels => (image * pixels * c + channel, c),
            Order::Blocks => ((image * blocks + channel / BLOCK) * pixels * BLOCK + channel % BLOCK, BLOCK),
        };
        let tiles = pixels.div_ceil(TILE);
        let padded = if orders[1] == Order::Blocks { blocks * BLOCK } else { c };
        in_parts(args.team, usize::MAX, n * tiles, 2 * TILE * c * self.number_bytes, &|part| {
            for index in part {
                let (image, first) = (index / tiles, index % tiles * TILE);
                let len = (pixels - first).min(TILE);
                for channel in 0..padded {
                    let (start, step) = place(orders[1], image, channel);
                    // SAFETY: `first + len` pixels of this channel exist in both tensors; padding channels exist in blocks
                    // only, and are not read. Each thread writes its own pixels.
                    unsafe {
                        let to = to.at(start + first * step);
                        if channel >= c {
                            (0..len).for_each(|i| *to.add(i * step) = T::default());
                            continue;
                        }
                        let (start, from_step) = place(orders[0], image, channel);
                        let from = from.at(start + first * from_step);
                        (0..len).for_each(|i| *to.add(i * step) = *from.add(i * from_step));
                    }
                }
            }
        });
    }
}

impl Kernel for Reorder {
    fn name(&self) -> &str {
        match self.conversion {
            Conversion::Image([_, Order::Pixels]) => "nnpack:reorder:pixels",
            Conversion::Image(_) => "nnpack:reorder:from_pixels",
            Conversion::Pack(_) => "nnpack:reorder:weights",
            Conversion::Flip(_) => "nnpack:reorder:flipped_weights",
        }
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        match args.reqs.first().copied().unwrap_or_default() {
            WriteReq::Null => return Ok(()),
            WriteReq::Add => return Err(Error::not_built("adding to a copy", "copies between layouts overwrite")),
            WriteReq::Write | WriteReq::Inplace => {}
        }
        match (self.conversion, self.number_bytes) {
            (Conversion::Pack(packing), _) => self.pack(packing, args),
            (Conversion::Flip(form), _) => self.flip(form, args),
            (Conversion::Image(orders), 1) => self.image::<u8>(orders, args),
            (Conversion::Image(orders), 2) => self.image::<u16>(orders, args),
            (Conversion::Image(orders), _) => self.image::<u32>(orders, args),
        }
        Ok(())
    }
}
