//! The gradient of an offset that is added to a convolution's data (`_backward_Convolution_offset`), on blocks of channels.
//! [`Reach`] cuts each plane of the output's gradient into rectangular pieces. One pass over the gradient sums the pixels
//! of each piece. Then these sums are multiplied with the weights.

use super::Chosen;
use crate::choose::UNMEASURED;
use crate::convolve::{Convolve, Operands, part};
use crate::layouts::{BLOCK, blocked};
use crate::problem::ConvProblem;
use mxrs_ops::nn::convolution::offset::Reach;
use mxrs_sync::Team;
use mxrs_types::{Layout, Result};

/// Chooses the algorithm for the gradient of an offset that is added to the data of `p`.
pub fn choose(p: &ConvProblem, threads: usize) -> Chosen {
    let p = *p;
    let reach = [
        Reach::new([p.h, p.oh, p.kh], [p.stride.0, p.dilate.0, p.pad.0]),
        Reach::new([p.w, p.ow, p.kw], [p.stride.1, p.dilate.1, p.pad.1]),
    ];
    Chosen {
        algorithm: Box::new(move || Ok(Box::new(OffsetSums { p, reach, threads }))),
        what: "offset_gradient".into(),
        layouts: [blocked([p.n, p.k, p.oh, p.ow]), Layout::RowMajor, Layout::RowMajor],
        // Vendor libraries do not have this operator, so only the reference kernel competes.
        cost: UNMEASURED,
    }
}

/// A prepared gradient of an offset.
struct OffsetSums {
    p: ConvProblem,
    reach: [Reach; 2],
    threads: usize,
}

impl OffsetSums {
    /// Number of sums of one block of channels of one image: 16 for each pair of a piece of rows and a piece of columns.
    fn sums_len(&self) -> usize {
        self.reach[0].n_pieces() * self.reach[1].n_pieces() * BLOCK
    }

    /// Number of blocks of output channels.
    fn blocks(&self) -> usize {
        self.p.k.div_ceil(BLOCK)
    }

    /// Sums the pixels of each piece of a plane of 16 channels, first down the rows, then across the columns.
    fn sum_plane(&self, plane: &[f32], column_sums: &mut [f32], sums: &mut [f32]) {
        let row_len = self.p.ow * BLOCK;
        let [down, across] = &self.reach;
        let per_piece = across.n_pieces() * BLOCK;
        for (i, sums) in sums.chunks_exact_mut(per_piece).enumerate() {
            column_sums.fill(0.0);
            for row in plane.chunks_exact(row_len).take(down.piece(i).end).skip(down.piece(i).start) {
                column_sums.iter_mut().zip(row).for_each(|(sum, g)| *sum += g);
            }
            for (j, sums) in sums.chunks_exact_mut(BLOCK).enumerate() {
                sums.fill(0.0);
                let columns = column_sums.chunks_exact(BLOCK).take(across.piece(j).end).skip(across.piece(j).start);
                columns.for_each(|column| sums.iter_mut().zip(column).for_each(|(sum, g)| *sum += g));
            }
        }
    }

    /// Adds the contribution of one block of output channels to `offsets`; `sums` are the block's sums over all images.
    fn multiply(&self, block: usize, sums: &[f64], weights: &[f32], offsets: &mut [f64]) {
        let p = &self.p;
        let [down, across] = &self.reach;
        let cells = p.kh * p.kw;
        for cell in 0..cells {
            let mut of_cell = [0.0; BLOCK];
            for i in down.cells[cell / p.kw].clone() {
                for j in across.cells[cell % p.kw].clone() {
                    let sums = &sums[(i * across.n_pieces() + j) * BLOCK..][..BLOCK];
                    of_cell.iter_mut().zip(sums).for_each(|(sum, s)| *sum += s);
                }
            }
            for (k, sum) in of_cell.iter().enumerate().take(p.k - block * BLOCK) {
                let filter = &weights[(block * BLOCK + k) * p.c * cells..][..p.c * cells];
                let of_channels = offsets.iter_mut().zip(filter.iter().skip(cell).step_by(cells));
                of_channels.for_each(|(offset, weight)| *offset += sum * f64::from(*weight));
            }
        }
    }
}

impl Convolve for OffsetSums {
    fn scratch_bytes(&self) -> usize {
        self.p.n * self.blocks() * self.sums_len() * size_of::<f32>()
    }

    fn supports_sum(&self) -> bool {
        false
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let (p, sums_len, plane_len) = (&self.p, self.sums_len(), self.p.oh * self.p.ow * BLOCK);
        let n_planes = p.n * self.blocks();
        let threads = self.threads.min(n_planes);
        team.run(threads, &|thread| {
            let mut column_sums = vec![0.0; p.ow * BLOCK];
            for plane in part(n_planes, threads, thread) {
                // SAFETY: `part` keeps `plane < n_planes`, the number of planes of the gradient and of the sums in the
                // scratch memory (`scratch_bytes`), and gives each plane to one thread. Nothing writes the gradient.
                let (g, sums) = unsafe {
                    let g = std::slice::from_raw_parts(o.src.add(plane * plane_len), plane_len);
                    (g, std::slice::from_raw_parts_mut(o.scratch.add(plane * sums_len), sums_len))
                };
                self.sum_plane(g, &mut column_sums, sums);
            }
        });
        // SAFETY: all threads have finished, so the scratch memory holds the sums of all planes. The weights have `k *
        // c` windows and the result `c` values, as planned.
        let (sums, weights, to) = unsafe {
            let sums = std::slice::from_raw_parts(o.scratch.cast_const(), n_planes * sums_len);
            let weights = std::slice::from_raw_parts(o.weights, p.k * p.c * p.kh * p.kw);
            (sums, weights, std::slice::from_raw_parts_mut(o.dst, p.c))
        };
        let mut offsets = vec![0.0f64; p.c];
        for block in 0..self.blocks() {
            let mut of_images = vec![0.0f64; sums_len];
            for image in sums.chunks_exact(self.blocks() * sums_len) {
                let sums = &image[block * sums_len..][..sums_len];
                of_images.iter_mut().zip(sums).for_each(|(sum, s)| *sum += f64::from(*s));
            }
            self.multiply(block, &of_images, weights, &mut offsets);
        }
        to.iter_mut().zip(&offsets).for_each(|(to, offset)| *to = *offset as f32);
        Ok(())
    }
}
