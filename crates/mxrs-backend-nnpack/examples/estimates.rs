//! Measures all algorithms on convolutions of known networks, and marks the algorithm that the estimates choose. The
//! constants of the estimates come from these measurements.
//!
//! Usage: `estimates [batch] [threads] [words of layers…]`. Only layers whose title contains one of the words are
//! measured; without words, all layers are. The output has one line per layer and algorithm: milliseconds with the
//! suggested blocking, milliseconds with the fastest blocking, and the name of that blocking. A star marks the choice.
//! Weights are not in the caches, because each run reads another copy.

use mxrs_backend_nnpack::{Accuracy, Nnpack, NnpackOptions};
use mxrs_op::{Attrs, Backend, KernelArgs, OpCall, PlannedKernel, RawTensor, TensorDesc};
use mxrs_processor::{Processor, peak_flops};
use mxrs_sync::{Team, TeamConfig};
use mxrs_testkit::AlignedBuffer;
use mxrs_types::{DType, WriteReq};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Input channels, output channels, and the size that is both height and width. All layers have 3x3 windows, stride 1
/// and padding 1.
const LAYERS: [(usize, usize, usize); 12] = [
    (64, 64, 56),
    (128, 128, 28),
    (256, 256, 14),
    (512, 512, 7),
    (64, 64, 224),
    (64, 128, 112),
    (128, 128, 112),
    (128, 256, 56),
    (256, 256, 56),
    (256, 512, 28),
    (512, 512, 28),
    (512, 512, 14),
];
const ALGORITHMS: [&str; 6] = ["product", "f2x2_3x3", "f3x3_3x3", "f4x4_3x3", "f5x5_3x3", "f6x6_3x3"];
/// Total bytes of the copies of the weights: more than the caches hold.
const COLD_BYTES: usize = 64 << 20;
/// Number of bytes that are read to measure the memory bandwidth.
const READ_BYTES: usize = 192 << 20;

struct Memory {
    data: AlignedBuffer,
    weights: AlignedBuffer,
    bias: AlignedBuffer,
    out: AlignedBuffer,
    at: usize,
}

impl Memory {
    /// Runs the kernel at least three times, and until `patience` has passed. Returns the time of the fastest run.
    fn time(&mut self, planned: &PlannedKernel, team: &Team, weights: usize, patience: Duration) -> Duration {
        let mut scratch = AlignedBuffer::zeroed(planned.scratch_bytes);
        let (started, mut best, mut runs) = (Instant::now(), Duration::MAX, 0);
        while runs < 3 || started.elapsed() < patience {
            self.at = if self.at + 2 * weights > self.weights.bytes().len() { 0 } else { self.at + weights };
            let at = self.at.next_multiple_of(64).min(self.weights.bytes().len() - weights);
            let inputs = [self.data.bytes(), &self.weights.bytes()[at..][..weights], self.bias.bytes()];
            let args = KernelArgs {
                inputs: &inputs.map(RawTensor::from_slice),
                outputs: &[RawTensor::from_mut_slice(self.out.bytes_mut())],
                reqs: &[WriteReq::Write],
                scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
                team,
                random: None,
                stream: None,
            };
            let from = Instant::now();
            mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("it runs");
            best = best.min(from.elapsed());
            runs += 1;
        }
        best
    }
}

fn filled(n_bytes: usize) -> AlignedBuffer {
    let mut buffer = AlignedBuffer::zeroed(n_bytes);
    buffer.bytes_mut().chunks_exact_mut(4).for_each(|x| x.copy_from_slice(&0.125f32.to_ne_bytes()));
    buffer
}

/// Measures how many bytes per second the team reads from memory.
fn read_speed(team: &Team) -> f64 {
    let memory = vec![1u64; READ_BYTES / 8];
    let part = memory.len() / team.size();
    let mut best = Duration::MAX;
    for _ in 0..8 {
        let from = Instant::now();
        team.run(team.size(), &|i| {
            let mut sums = [0u64; 32];
            for line in memory[i * part..][..part].chunks_exact(32) {
                sums.iter_mut().zip(line).for_each(|(sum, x)| *sum = sum.wrapping_add(*x));
            }
            std::hint::black_box(sums);
        });
        best = best.min(from.elapsed());
    }
    READ_BYTES as f64 / best.as_secs_f64()
}

fn layer((c, k, size): (usize, usize, usize), n: usize, backend: &Nnpack, team: &Team) {
    let ops = mxrs_ops::catalog();
    let op = ops.get("_sg_conv").expect("it is in the catalog");
    let filters = k.to_string();
    let attrs = [("kernel", "(3, 3)"), ("pad", "(1, 1)"), ("num_filter", filters.as_str()), ("act", "relu")];
    let params = op.parse(&Attrs::from(attrs)).expect("attributes");
    let dense = |sizes: &[usize]| TensorDesc::dense(sizes, DType::F32);
    let inputs = [dense(&[n, c, size, size]), dense(&[k, c, 3, 3]), dense(&[k])];
    let outputs = [dense(&[n, k, size, size])];
    let is_constant = &[false, true, true];
    let call = OpCall { op, params: &params, inputs: &inputs, outputs: &outputs, is_constant, is_train: false };
    let offered = backend.algorithms(&call);
    let mut memory = Memory {
        data: filled(4 * n * c * size * size),
        weights: filled(COLD_BYTES + 2 * 4 * 64 * c * k),
        bias: filled(4 * k),
        out: AlignedBuffer::zeroed(4 * n * k * size * size),
        at: 0,
    };
    let mut run = |algorithm: &str, patience: u64| {
        let planned = backend.plan_algorithm(&call, algorithm).expect("it plans");
        let weights = inputs[1].with_layout(planned.input_layouts[1].clone()).size_bytes();
        memory.time(&planned, team, weights, Duration::from_millis(patience)).as_secs_f64() * 1e3
    };
    for algorithm in ALGORITHMS {
        let suggested = format!("{algorithm}@{}", team.size());
        let mut times = BTreeMap::from([(suggested.clone(), run(&suggested, 30))]);
        let is_variant = |name: &str| name.split(['/', '@']).next() == Some(algorithm) && name != suggested;
        for name in offered.iter().filter(|name| is_variant(name)) {
            times.insert(name.clone(), run(name, 2));
        }
        let (fastest, best) = times.iter().min_by(|a, b| a.1.total_cmp(b.1)).expect("one at least");
        let star = if offered.first() == Some(&suggested) { "*" } else { "" };
        println!("{n} {c} {k} {size} {algorithm}{star} {:.4} {best:.4} {fastest}", times[&suggested]);
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: usize| words.get(i).and_then(|w| w.parse().ok()).unwrap_or(default);
    let (n, threads) = (number(0, 1), number(1, 2));
    let config = TeamConfig { threads: threads.try_into().expect("at least one thread"), cpus: None };
    let team = Team::new(config).expect("threads can be started");
    let options = NnpackOptions { accuracy: Accuracy::Loose, ..NnpackOptions::default() };
    let backend = Nnpack::new(&team, options);
    let peak = peak_flops(&team, Duration::from_millis(200));
    let (peak, read) = (peak / 1e9, read_speed(&team) / 1e9);
    println!("{}; {threads} threads, peak {peak:.0} GFLOP/s, reading {read:.1} GB/s", Processor::here());
    for sizes in LAYERS {
        let title = format!("{}-{}@{}", sizes.0, sizes.1, sizes.2);
        if words.len() < 3 || words[2..].iter().any(|word| title.contains(word.as_str())) {
            layer(sizes, n, &backend, &team);
        }
    }
}
