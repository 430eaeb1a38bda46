//! Traces of the allocations in training: sequences of allocate and free, the same on every machine.
//!
//! This module depends only on std and allocates no tensor: block sizes follow from the shapes of the networks. A trace
//! first allocates blocks that live throughout (weights, their gradients, the optimizer's state) and then repeats training
//! passes: in forward, each layer allocates the arrays that backward needs; in backward, gradients of activations are
//! allocated and activations are freed. At the end all blocks have been freed.
//!
//! ```
//! use mxrs_benches::traces::{Event, variable_length_recurrent};
//!
//! let trace = variable_length_recurrent(2, 7);
//! let n_allocations = trace.events.iter().filter(|event| matches!(event, Event::Alloc { .. })).count();
//! assert_eq!(2 * n_allocations, trace.events.len());
//! assert!(trace.peak_live() > 100 << 20);
//! ```

/// One call of an allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Allocates a block.
    Alloc {
        /// Number of the block, below [`Trace::n_ids`]. Two live blocks never have the same number; the number of a freed
        /// block is reused.
        id: usize,
        /// Size in bytes, at least 1.
        bytes: usize,
    },
    /// Frees a block.
    Free {
        /// Number of the block, which must be live.
        id: usize,
    },
}

/// A sequence of allocations and releases.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The calls, in order.
    pub events: Vec<Event>,
    /// All block numbers are below this, so it is the length of a table of live blocks.
    pub n_ids: usize,
}

impl Trace {
    /// The largest sum of bytes that are allocated and not yet freed.
    ///
    /// # Panics
    /// Panics if a block is freed that is not live, or allocated twice; the traces of this module do neither.
    pub fn peak_live(&self) -> u64 {
        let mut live = vec![0u64; self.n_ids];
        let (mut sum, mut peak) = (0u64, 0u64);
        for event in &self.events {
            match *event {
                Event::Alloc { id, bytes } => {
                    assert_eq!(std::mem::replace(&mut live[id], bytes as u64), 0, "block {id} is live");
                    sum += bytes as u64;
                    peak = peak.max(sum);
                }
                Event::Free { id } => {
                    let bytes = std::mem::take(&mut live[id]);
                    assert!(bytes > 0, "block {id} is not live");
                    sum -= bytes;
                }
            }
        }
        peak
    }

    /// Number of allocations.
    pub fn n_allocations(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::Alloc { .. })).count()
    }
}

/// Bytes of `n` numbers of 4 bytes.
const fn floats(n: usize) -> usize {
    4 * n
}

/// Records a trace. Numbers of freed blocks are reused.
#[derive(Default)]
struct Recorder {
    trace: Trace,
    unused: Vec<usize>,
}

impl Recorder {
    fn alloc(&mut self, bytes: usize) -> usize {
        let id = self.unused.pop().unwrap_or_else(|| {
            self.trace.n_ids += 1;
            self.trace.n_ids - 1
        });
        self.trace.events.push(Event::Alloc { id, bytes });
        id
    }

    fn free(&mut self, id: usize) {
        self.trace.events.push(Event::Free { id });
        self.unused.push(id);
    }

    fn free_all(&mut self, ids: impl IntoIterator<Item = usize>) {
        ids.into_iter().for_each(|id| self.free(id));
    }

    /// Records memory that is needed only while one operator runs.
    fn workspace(&mut self, bytes: usize) {
        let id = self.alloc(bytes);
        self.free(id);
    }

    /// Records the blocks of a parameter with `n` elements: its value, its gradient and the optimizer's momentum.
    fn parameter(&mut self, kept: &mut Vec<usize>, n: usize) {
        kept.extend((0..3).map(|_| self.alloc(floats(n))));
    }
}

/// A convolution with its normalization. Images are square; the output has `side_out` rows and columns.
#[derive(Clone, Copy)]
struct Conv {
    channels: usize,
    channels_out: usize,
    kernel: usize,
    side_out: usize,
}

impl Conv {
    fn weights(&self) -> usize {
        self.channels * self.channels_out * self.kernel * self.kernel
    }

    fn outputs(&self, batch: usize) -> usize {
        batch * self.channels_out * self.side_out * self.side_out
    }

    /// Elements of the workspace for a convolution by matrix multiplication: the columns (im2col) of one image. A 1 by 1
    /// convolution needs none.
    fn workspace(&self) -> usize {
        match self.kernel {
            1 => 0,
            kernel => self.channels * kernel * kernel * self.side_out * self.side_out,
        }
    }
}

/// The convolutions of resnet-50 for images of 224 by 224, block by block. In the first block of each stage, the last
/// convolution is the shortcut.
fn resnet50_blocks() -> Vec<Vec<Conv>> {
    let conv = |channels, channels_out, kernel, side_out| Conv { channels, channels_out, kernel, side_out };
    let mut blocks = vec![vec![conv(3, 64, 7, 112)]];
    let mut channels = 64;
    for (stage, n_blocks) in [3usize, 4, 6, 3].into_iter().enumerate() {
        let (width, side) = (64 << stage, 56 >> stage);
        for block in 0..n_blocks {
            // In the first block of a stage, the first 1 by 1 convolution still has the larger image, because the stride is
            // in the 3 by 3 convolution.
            let side_in = if block == 0 && stage > 0 { 2 * side } else { side };
            let mut convs =
                vec![conv(channels, width, 1, side_in), conv(width, width, 3, side), conv(width, 4 * width, 1, side)];
            if block == 0 {
                convs.push(conv(channels, 4 * width, 1, side));
            }
            blocks.push(convs);
            channels = 4 * width;
        }
    }
    blocks
}

/// Training of resnet-50 with momentum on images of 3 by 224 by 224. Every pass allocates the same sizes.
///
/// # Panics
/// Panics if `batch` is 0.
pub fn resnet50_training(batch: usize, iterations: usize) -> Trace {
    assert!(batch > 0, "a batch has at least one image");
    let mut recorder = Recorder::default();
    let blocks = resnet50_blocks();
    let mut kept = Vec::new();
    for conv in blocks.iter().flatten() {
        recorder.parameter(&mut kept, conv.weights());
        // The four parameters of the normalization: scale, shift, running mean and running variance.
        for _ in 0..4 {
            recorder.parameter(&mut kept, conv.channels_out);
        }
    }
    recorder.parameter(&mut kept, 2048 * 1000);
    recorder.parameter(&mut kept, 1000);

    let image = floats(batch * 3 * 224 * 224);
    let mut data = recorder.alloc(image);
    for iteration in 0..iterations {
        // Forward: each convolution keeps its output, the statistics of its normalization, and the normalized output (ReLU
        // works in place).
        let mut passed: Vec<(Conv, Vec<usize>)> = Vec::new();
        for conv in blocks.iter().flatten() {
            let out = floats(conv.outputs(batch));
            let kept = vec![recorder.alloc(out), recorder.alloc(floats(2 * conv.channels_out)), recorder.alloc(out)];
            if conv.workspace() > 0 {
                recorder.workspace(floats(conv.workspace()));
            }
            passed.push((*conv, kept));
        }
        let head = [batch * 2048, batch * 1000, batch * 1000].map(|n| recorder.alloc(floats(n)));
        // The next images are decoded while this pass runs.
        let next = (iteration + 1 < iterations).then(|| recorder.alloc(image));

        // Backward: allocates the gradient of each output and frees the blocks that forward kept.
        let mut gradient = recorder.alloc(floats(batch * 1000));
        recorder.free_all(head);
        for (conv, kept) in passed.into_iter().rev() {
            let of_normalized = recorder.alloc(floats(conv.outputs(batch)));
            recorder.free(gradient);
            if conv.workspace() > 0 {
                recorder.workspace(floats(conv.workspace()));
            }
            let side_in = if conv.kernel == 7 { 224 } else { conv.side_out };
            gradient = recorder.alloc(floats(batch * conv.channels * side_in * side_in));
            recorder.free(of_normalized);
            recorder.free_all(kept.into_iter().rev());
        }
        recorder.free(gradient);
        recorder.free(data);
        if let Some(next) = next {
            data = next;
        }
    }
    if iterations == 0 {
        recorder.free(data);
    }
    recorder.free_all(kept);
    recorder.trace
}

/// Pseudo-random numbers from a seed: SplitMix64, by Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators".
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}

/// Layers of [`variable_length_recurrent`].
const N_LAYERS: usize = 24;
/// Sequences in a batch.
const N_SEQUENCES: usize = 4;
/// Width of a hidden state.
const WIDTH: usize = 256;
/// Attention heads of a layer.
const N_HEADS: usize = 4;

/// Training of 24 layers, each a recurrent cell with attention over the preceding steps. Every batch has a random length of
/// 16 to 512 steps, uniformly distributed. Sizes rarely repeat: activations grow with the length, attention with its square.
pub fn variable_length_recurrent(iterations: usize, seed: u64) -> Trace {
    let mut recorder = Recorder::default();
    let mut random = SplitMix(seed);
    let mut kept = Vec::new();
    for _ in 0..N_LAYERS {
        // Weights of the gates for input and state, the four projections of attention, and three small parameters.
        for n in [8 * WIDTH * WIDTH, 4 * WIDTH * WIDTH, 4 * WIDTH, WIDTH, WIDTH] {
            recorder.parameter(&mut kept, n);
        }
    }
    let mut length = 16 + random.below(497);
    let mut data = recorder.alloc(floats(N_SEQUENCES * length));
    for iteration in 0..iterations {
        let states = floats(N_SEQUENCES * length * WIDTH);
        let scores = floats(N_SEQUENCES * N_HEADS * length * length);
        let statistics = floats(2 * N_SEQUENCES * length);
        let mut passed: Vec<Vec<usize>> = Vec::new();
        let embedded = recorder.alloc(states);
        for _ in 0..N_LAYERS {
            // The arrays of one layer, for all steps of the sequences: gates (four), cells, states, statistics, normalized
            // states, and queries, keys and values.
            let mut layer: Vec<usize> =
                [4 * states, states, states, statistics, states, 3 * states].map(|bytes| recorder.alloc(bytes)).into();
            // The scores are temporary; only their softmax is kept.
            let scratch = recorder.alloc(scores);
            layer.push(recorder.alloc(scores));
            recorder.free(scratch);
            layer.extend([states, states].map(|bytes| recorder.alloc(bytes)));
            passed.push(layer);
        }
        // The next batch is read while this one is processed.
        let next_length = 16 + random.below(497);
        let next = (iteration + 1 < iterations).then(|| recorder.alloc(floats(N_SEQUENCES * next_length)));
        let loss = recorder.alloc(floats(N_SEQUENCES));

        let mut gradient = recorder.alloc(states);
        for layer in passed.into_iter().rev() {
            let of_attention = recorder.alloc(states);
            let of_softmax = recorder.alloc(scores);
            let of_scores = recorder.alloc(scores);
            recorder.free(of_softmax);
            let of_inputs = recorder.alloc(3 * states);
            recorder.free(of_scores);
            recorder.free(of_attention);
            let of_gates = recorder.alloc(4 * states);
            recorder.free(of_inputs);
            let of_states = recorder.alloc(states);
            recorder.free(gradient);
            gradient = of_states;
            recorder.workspace(floats(8 * WIDTH * WIDTH));
            recorder.free(of_gates);
            recorder.free_all(layer.into_iter().rev());
        }
        recorder.free_all([gradient, loss, embedded, data]);
        if let Some(next) = next {
            (data, length) = (next, next_length);
        }
    }
    if iterations == 0 {
        recorder.free(data);
    }
    recorder.free_all(kept);
    recorder.trace
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a trace is well formed: `peak_live` checks every event, and as many blocks are freed as are allocated.
    fn is_complete(trace: &Trace) {
        let n_frees = trace.events.len() - trace.n_allocations();
        assert_eq!(n_frees, trace.n_allocations());
        assert!(trace.peak_live() > 0);
        assert!(trace.events.iter().all(|event| !matches!(event, Event::Alloc { bytes: 0, .. })));
    }

    #[test]
    fn traces_free_what_they_allocate() {
        for iterations in [0, 1, 3] {
            is_complete(&resnet50_training(2, iterations));
            is_complete(&variable_length_recurrent(iterations, 1));
        }
    }

    /// The published network has 25,557,032 weights (He et al., arXiv:1512.03385, as all model zoos count them).
    #[test]
    fn resnet50_has_its_weights() {
        let convs: usize = resnet50_blocks().iter().flatten().map(|conv| conv.weights() + 2 * conv.channels_out).sum();
        assert_eq!(convs + 2048 * 1000 + 1000, 25_557_032);
    }

    #[test]
    fn a_seed_decides_the_lengths() {
        let events = |seed| variable_length_recurrent(5, seed).events;
        assert_eq!(events(3), events(3));
        assert_ne!(events(3), events(4));
    }
}
