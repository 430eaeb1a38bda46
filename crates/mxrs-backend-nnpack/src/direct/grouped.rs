//! Convolutions in groups of channels, computed as products of whole blocks.
//!
//! Groups are merged until their channels fill whole blocks of 16, for inputs and outputs. Weights between channels of
//! different groups are packed as zeros. So 32 groups of 4 channels become 8 convolutions of 16 channels, and groups of
//! 64 channels stay as they are. If no number of groups fills whole blocks, all groups become one convolution.

use super::product::{Place, ProductConv};
use crate::convolve::{Convolve, Operands, Panel, part};
use crate::functions::Apply;
use crate::layouts::{BLOCK, PANEL, PackedForm};
use crate::problem::ConvProblem;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;

/// Sizes of one convolution of merged groups, and how many such convolutions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Number of convolutions.
    pub n: usize,
    /// Groups in each convolution.
    pub merged: usize,
    /// Input channels of each convolution.
    pub c: usize,
    /// Output channels of each convolution.
    pub k: usize,
}

impl Groups {
    /// Chooses how `groups` groups of `c` input and `k` output channels each are merged.
    pub fn new(groups: usize, c: usize, k: usize) -> Self {
        let fills = |merged: &usize| {
            groups.is_multiple_of(*merged) && (merged * c).is_multiple_of(BLOCK) && (merged * k).is_multiple_of(BLOCK)
        };
        // If any number of merged groups fills whole blocks, then a power of two up to 16 does so too. So no larger number
        // is tried.
        let merged = (1..=groups.min(BLOCK)).find(fills).unwrap_or(groups);
        Self { n: groups / merged, merged, c: merged * c, k: merged * k }
    }

    /// The groups of the convolution that computes the gradient of the data, whose inputs are the output channels. `k` is
    /// the number of output channels of all groups together, `c` the number of input channels of one group.
    pub fn flipped(groups: usize, [k, c]: [usize; 2]) -> Self {
        Self::new(groups, k / groups, c)
    }

    /// Number of values of the packed weights of one convolution whose windows have `cells` taps (height times width).
    pub fn packed_len(&self, cells: usize) -> usize {
        PackedForm::Blocks.len([self.k, self.c, cells, 1])
    }

    /// Packs the weights (`[output channels][input channels of a group][taps]`) of convolution `index`, whose windows
    /// have `cells` taps.
    pub fn pack(&self, index: usize, cells: usize, from: &[f32], to: &mut [f32]) {
        let (c, k) = (self.c / self.merged, self.k / self.merged);
        let steps = self.c.next_multiple_of(BLOCK) * cells;
        to.fill(0.0);
        for output in 0..self.k {
            let weights = &from[(index * self.k + output) * c * cells..][..c * cells];
            let panel = Panel::of(self.k, output / PANEL);
            let to = &mut to[panel.index * PANEL * steps..][..panel.width * steps];
            for (at, weight) in weights.iter().enumerate() {
                let (channel, cell) = (output / k * c + at / cells, at % cells);
                let step = (channel / BLOCK * cells + cell) * BLOCK + channel % BLOCK;
                to[step * panel.width + output % PANEL] = *weight;
            }
        }
    }

    /// Packs the filters of convolution `index` of the gradient of the data, with only these taps of the windows
    /// (`None` for zeros), from weights (`[output channels][input channels of a group][cells]`). `self` are [flipped](Self::flipped) groups.
    pub fn pack_flipped(&self, index: usize, (taps, cells): (&[Option<usize>], usize), from: &[f32], to: &mut [f32]) {
        let (c, k) = (self.c / self.merged, self.k / self.merged);
        let steps = self.c.next_multiple_of(BLOCK) * taps.len();
        to.fill(0.0);
        for (output, i) in (0..self.k).flat_map(|output| (0..c).map(move |i| (output, i))) {
            let channel = output / k * c + i;
            let weights = &from[((index * self.c + channel) * k + output % k) * cells..][..cells];
            let panel = Panel::of(self.k, output / PANEL);
            let to = &mut to[panel.index * PANEL * steps..][..panel.width * steps];
            for (at, tap) in taps.iter().enumerate() {
                let step = (channel / BLOCK * taps.len() + at) * BLOCK + channel % BLOCK;
                to[step * panel.width + output % PANEL] = tap.map_or(0.0, |tap| weights[tap]);
            }
        }
    }
}

/// A prepared grouped convolution.
pub struct GroupedConv {
    whole: ConvProblem,
    groups: Groups,
    product: ProductConv,
    place: Place,
    threads: usize,
    /// Whether each product (one image and one convolution) runs on one thread; otherwise all threads share each
    /// product.
    is_apart: bool,
}

impl GroupedConv {
    /// Prepares a convolution of all channels for at most `threads` threads. `function` is applied to its outputs.
    pub fn new(whole: ConvProblem, groups: Groups, function: Option<Apply>, isa: Isa, threads: usize) -> Self {
        let conv = Self::placed(whole, groups, Place::all(&whole), isa, threads);
        Self { product: conv.product.with_function(function), ..conv }
    }

    /// Prepares a convolution whose output pixels lie at `place` in an image with the same channels.
    pub fn placed(whole: ConvProblem, groups: Groups, place: Place, isa: Isa, threads: usize) -> Self {
        let one = ConvProblem { n: 1, c: groups.c, k: groups.k, ..whole };
        let is_apart = whole.n * groups.n >= threads;
        let product = ProductConv::placed(one, place, isa, if is_apart { 1 } else { threads });
        Self { whole, groups, product, place, threads: threads.max(1), is_apart }
    }

    /// Number of threads that work on different products.
    fn parts(&self) -> usize {
        if self.is_apart { self.threads } else { 1 }
    }

    /// Computes product `index`: image `index % n` of convolution `index / n`.
    ///
    /// # Safety
    /// The conditions of [`Convolve::run`] must hold; `index` must be below the number of products, no other thread may
    /// write this part of the output, and `scratch` must have the scratch memory of one product for this call alone.
    unsafe fn run_one(&self, o: &Operands, index: usize, scratch: *mut f32, team: &Team) -> Result<()> {
        let (p, groups) = (&self.whole, &self.groups);
        let (group, image) = (index / p.n, index % p.n);
        let from = (image * p.c.next_multiple_of(BLOCK) + group * groups.c) * p.h * p.w;
        let to = (image * p.k.next_multiple_of(BLOCK) + group * groups.k) * self.place.size[0] * self.place.size[1];
        // SAFETY: `index < p.n * groups.n` by the contract, so `group < groups.n` and `image < p.n`. If `groups.n > 1`,
        // each convolution fills whole blocks (`Groups::new`), so `from` and `to` are the starts of its planes in data,
        // output and sum. Weights and bias are stored convolution by convolution.
        unsafe {
            let of_group = |bias: *const f32| if bias.is_null() { bias } else { bias.add(group * groups.k) };
            let operands = Operands {
                src: o.src.add(from),
                weights: o.weights.add(group * groups.packed_len(p.kh * p.kw)),
                bias: of_group(o.bias),
                sum: if o.sum.is_null() { o.sum } else { o.sum.add(to) },
                dst: o.dst.add(to),
                dst_image_stride: None,
                scratch,
                bounds: o.bounds,
            };
            self.product.run(&operands, team)
        }
    }
}

impl Convolve for GroupedConv {
    fn scratch_bytes(&self) -> usize {
        self.parts() * self.product.scratch_bytes()
    }

    unsafe fn run(&self, operands: &Operands, team: &Team) -> Result<()> {
        let n = self.whole.n * self.groups.n;
        let stride = self.product.scratch_bytes() / size_of::<f32>();
        if !self.is_apart {
            // SAFETY: `i < n`, the number of products. They run one after another, so they share the scratch memory of
            // one product, which `scratch_bytes` counts: `parts()` is 1.
            return (0..n).try_for_each(|i| unsafe { self.run_one(operands, i, operands.scratch, team) });
        }
        let parts = self.parts().min(n);
        team.run(parts, &|thread| {
            let scratch = operands.scratch.wrapping_add(thread * stride);
            for i in part(n, parts, thread) {
                // SAFETY: `part` keeps `i < n` and gives each product to one thread. `thread < parts <= parts()`, so
                // this thread's `stride` values lie in the scratch memory, and no other thread uses them.
                let done = unsafe { self.run_one(operands, i, scratch, team) };
                debug_assert!(done.is_ok(), "products do not fail");
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_joined_to_whole_blocks() {
        let of = |groups, c, k| Groups::new(groups, c, k);
        assert_eq!(of(2, 64, 128), Groups { n: 2, merged: 1, c: 64, k: 128 });
        assert_eq!(of(32, 4, 4), Groups { n: 8, merged: 4, c: 16, k: 16 });
        assert_eq!(of(32, 1, 2), Groups { n: 2, merged: 16, c: 16, k: 32 });
        assert_eq!(of(3, 5, 7), Groups { n: 1, merged: 3, c: 15, k: 21 });
        assert_eq!(of(2, 24, 24), Groups { n: 1, merged: 2, c: 48, k: 48 });
    }

    #[test]
    fn weights_of_other_groups_are_zero() {
        let groups = Groups::new(8, 4, 4);
        let (cells, from) = (2, (0..32 * 4 * 2).map(|i| i as f32 + 1.0).collect::<Vec<_>>());
        let mut to = vec![f32::NAN; groups.packed_len(cells)];
        groups.pack(1, cells, &from, &mut to);
        for output in 0..16 {
            for channel in 0..16 {
                for cell in 0..cells {
                    let got = to[(cell * 16 + channel) * 16 + output];
                    let at = ((16 + output) * 4 + channel % 4) * cells + cell;
                    let want = if output / 4 == channel / 4 { from[at] } else { 0.0 };
                    assert_eq!(got, want, "{output} {channel} {cell}");
                }
            }
        }
    }
}
