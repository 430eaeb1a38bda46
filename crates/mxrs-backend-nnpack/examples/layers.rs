//! Measures convolutions of known networks in milliseconds and GFLOP/s. For comparison, the same run measures the peak
//! speed of multiply-adds.
//!
//! Usage: `layers [filter] [batch] [threads] [algorithm]`. Only layers whose title contains the filter are measured.
//! The defaults are batch 1 and 32, two threads, and the algorithm that the backend chooses. An algorithm is named as
//! in traces (`product`, `f4x4_3x3`, `fft16x16`). Each figure is the best of many short runs. Weights are not in the
//! caches, because every run reads another copy.

use mxrs_backend_nnpack::{Nnpack, NnpackOptions};
use mxrs_op::{Backend, DEFAULT_ALGORITHM, KernelArgs, OpCall, RawTensor, TensorDesc};
use mxrs_processor::peak_flops;
use mxrs_sync::{Team, TeamConfig};
use mxrs_testkit::AlignedBuffer;
use mxrs_types::{DType, WriteReq};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Network, input channels, output channels, input size, window, stride, pad.
type Layer = (&'static str, usize, usize, usize, (usize, usize), usize, (usize, usize));

const LAYERS: &[Layer] = &[
    ("stem resnet", 3, 64, 224, (7, 7), 2, (3, 3)),
    ("stem alexnet", 3, 64, 224, (11, 11), 4, (2, 2)),
    ("stem inception-v3", 3, 32, 299, (3, 3), 2, (0, 0)),
    ("stem vgg", 3, 64, 224, (3, 3), 1, (1, 1)),
    ("1x1 resnet", 64, 64, 56, (1, 1), 1, (0, 0)),
    ("1x1 resnet", 64, 256, 56, (1, 1), 1, (0, 0)),
    ("1x1 resnet", 256, 64, 56, (1, 1), 1, (0, 0)),
    ("1x1 resnet", 256, 128, 56, (1, 1), 1, (0, 0)),
    ("1x1 resnet", 128, 512, 28, (1, 1), 1, (0, 0)),
    ("1x1 resnet", 512, 128, 28, (1, 1), 1, (0, 0)),
    ("1x1 resnet", 256, 1024, 14, (1, 1), 1, (0, 0)),
    ("1x1 resnet", 1024, 256, 14, (1, 1), 1, (0, 0)),
    ("1x1 resnet", 512, 2048, 7, (1, 1), 1, (0, 0)),
    ("1x1 resnet", 2048, 512, 7, (1, 1), 1, (0, 0)),
    ("1x1 stride", 256, 512, 56, (1, 1), 2, (0, 0)),
    ("1x1 stride", 512, 1024, 28, (1, 1), 2, (0, 0)),
    ("1x1 stride", 1024, 2048, 14, (1, 1), 2, (0, 0)),
    ("fc vgg", 25088, 4096, 1, (1, 1), 1, (0, 0)),
    ("fc vgg", 4096, 4096, 1, (1, 1), 1, (0, 0)),
    ("1x1 inception-v3", 288, 64, 35, (1, 1), 1, (0, 0)),
    ("1x1 inception-v3", 768, 192, 17, (1, 1), 1, (0, 0)),
    ("1x1 inception-v3", 2048, 320, 8, (1, 1), 1, (0, 0)),
    ("3x3 stride", 128, 128, 56, (3, 3), 2, (1, 1)),
    ("3x3 stride", 256, 256, 28, (3, 3), 2, (1, 1)),
    ("3x3 stride", 512, 512, 14, (3, 3), 2, (1, 1)),
    ("3x3 stride inception-v3", 288, 384, 35, (3, 3), 2, (0, 0)),
    ("3x3 resnet", 64, 64, 56, (3, 3), 1, (1, 1)),
    ("3x3 resnet", 128, 128, 28, (3, 3), 1, (1, 1)),
    ("3x3 resnet", 256, 256, 14, (3, 3), 1, (1, 1)),
    ("3x3 resnet", 512, 512, 7, (3, 3), 1, (1, 1)),
    ("3x3 inception-v3", 32, 64, 147, (3, 3), 1, (1, 1)),
    ("5x5 alexnet", 64, 192, 27, (5, 5), 1, (2, 2)),
    ("5x5 inception-v3", 48, 64, 35, (5, 5), 1, (2, 2)),
    ("5x5 alexnet", 96, 256, 27, (5, 5), 1, (2, 2)),
    ("7x7", 64, 64, 56, (7, 7), 1, (3, 3)),
    ("9x9", 64, 64, 56, (9, 9), 1, (4, 4)),
    ("11x11", 64, 64, 56, (11, 11), 1, (5, 5)),
    ("1x7 inception-v3", 160, 160, 17, (1, 7), 1, (0, 3)),
    ("7x1 inception-v3", 192, 192, 17, (7, 1), 1, (3, 0)),
    ("1x3 inception-v3", 384, 384, 8, (1, 3), 1, (0, 1)),
    ("3x3 vgg", 64, 64, 224, (3, 3), 1, (1, 1)),
    ("3x3 vgg", 256, 256, 56, (3, 3), 1, (1, 1)),
    ("3x3 vgg", 512, 512, 28, (3, 3), 1, (1, 1)),
    ("3x3 vgg", 512, 512, 14, (3, 3), 1, (1, 1)),
];

/// How long each layer is measured.
const PATIENCE: Duration = Duration::from_millis(150);
/// How long the peak speed is measured. Each layer has its own measurement.
const PEAK_PATIENCE: Duration = Duration::from_millis(100);
/// Total bytes of the copies of the weights: more than the caches hold.
const COLD_BYTES: usize = 48 << 20;

/// Calls `run` at least four times, and until `patience` has passed. Returns the time of the fastest call.
fn best(patience: Duration, mut run: impl FnMut()) -> Duration {
    let (started, mut best) = (Instant::now(), Duration::MAX);
    let mut n = 0;
    while started.elapsed() < patience || n < 4 {
        let at = Instant::now();
        run();
        best = best.min(at.elapsed());
        n += 1;
    }
    best
}

/// Measures one layer. Returns the time of the fastest run, the layer's operations in units of 1e9, and the kernel's
/// name with the estimated time.
fn measure(backend: &Nnpack, team: &Team, layer: Layer, n: usize, algorithm: Option<&str>) -> (Duration, f64, String) {
    let (name, c, k, size, window, stride, pad) = layer;
    let ops = mxrs_ops::catalog();
    let is_dense = name.starts_with("fc");
    let op = ops.get(if is_dense { "_sg_fully_connected" } else { "_sg_conv" }).expect("it is in the catalog");
    let pair = |(a, b): (usize, usize)| format!("({a}, {b})");
    let attrs = if is_dense {
        vec![("num_hidden", k.to_string()), ("act", "relu".into())]
    } else {
        let (stride, k) = (pair((stride, stride)), k.to_string());
        vec![
            ("kernel", pair(window)),
            ("stride", stride),
            ("pad", pair(pad)),
            ("num_filter", k),
            ("act", "relu".into()),
        ]
    };
    let params = op.parse(&attrs.iter().map(|(name, value)| (*name, value.as_str())).collect()).expect("attributes");
    let along = |window: usize, pad: usize| (size + 2 * pad - window) / stride + 1;
    let (oh, ow) = (along(window.0, pad.0), along(window.1, pad.1));
    let dense = |sizes: &[usize]| TensorDesc::dense(sizes, DType::F32);
    let (inputs, outputs) = if is_dense {
        ([dense(&[n, c]), dense(&[k, c]), dense(&[k])], [dense(&[n, k])])
    } else {
        let sizes = [dense(&[n, c, size, size]), dense(&[k, c, window.0, window.1]), dense(&[k])];
        (sizes, [dense(&[n, k, oh, ow])])
    };
    let call = OpCall {
        op,
        params: &params,
        inputs: &inputs,
        outputs: &outputs,
        is_constant: &[false, true, true],
        is_train: false,
    };
    let algorithm = algorithm.map_or(DEFAULT_ALGORITHM.into(), |name| format!("{name}@{}", team.size()));
    let offer = backend.offer_algorithm(&call, &algorithm).expect("an offer");
    let estimate_ms = 1e3 * offer.seconds();
    let planned = offer.build().expect("it is built");
    let bytes = |i: usize| inputs[i].with_layout(planned.input_layouts[i].clone()).size_bytes();
    let filled = |n_bytes: usize| {
        let values: Vec<f64> = (0..n_bytes / 4).map(|i| (i % 251) as f64 / 251.0 - 0.5).collect();
        AlignedBuffer::from_f64(&values, DType::F32)
    };
    let (data, bias) = (filled(bytes(0)), filled(bytes(2)));
    let n_copies = (COLD_BYTES / bytes(1)).clamp(2, 24);
    let weights: Vec<AlignedBuffer> = (0..n_copies).map(|_| filled(bytes(1))).collect();
    let mut out = AlignedBuffer::zeroed(outputs[0].with_layout(planned.output_layouts[0].clone()).size_bytes());
    let mut scratch = AlignedBuffer::zeroed(planned.scratch_bytes);
    let mut turn = 0;
    let time = best(PATIENCE, || {
        turn += 1;
        let args = KernelArgs {
            inputs: &[&data, &weights[turn % n_copies], &bias].map(|b| RawTensor::from_slice(b.bytes())),
            outputs: &[RawTensor::from_mut_slice(out.bytes_mut())],
            reqs: &[WriteReq::Write],
            scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
            team,
            random: None,
            stream: None,
        };
        mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("it runs");
    });
    let gflop = 2e-9 * (n * k * oh * ow) as f64 * (c * window.0 * window.1) as f64;
    (time, gflop, format!("{}, estimated {estimate_ms:.3} ms", planned.kernel.name()))
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let filter = args.first().map_or("", String::as_str);
    let number = |i: usize| args.get(i).and_then(|text| text.parse::<usize>().ok());
    let threads = number(2).and_then(NonZeroUsize::new).unwrap_or(NonZeroUsize::MIN.saturating_add(1));
    let team: Arc<Team> = Team::new(TeamConfig { threads, cpus: None }).expect("threads can be started");
    let backend = Nnpack::new(&team, NnpackOptions::default());
    for batch in number(1).map_or(vec![1, 32], |batch| vec![batch]) {
        println!("batch {batch}, {} threads", team.size());
        for &layer in LAYERS {
            let (name, c, k, size, ..) = layer;
            let title = format!("{name} {c}->{k} @{size}");
            if !title.contains(filter) {
                continue;
            }
            let (time, gflop, kernel) = measure(&backend, &team, layer, batch, args.get(3).map(String::as_str));
            let (speed, peak) = (gflop / time.as_secs_f64(), peak_flops(&team, PEAK_PATIENCE) / 1e9);
            let (ms, part) = (time.as_secs_f64() * 1e3, 100.0 * speed / peak);
            println!("{title:36} {ms:9.3} ms {speed:7.1} GFLOP/s {part:5.1} % of {peak:5.1}  {kernel}");
        }
    }
}
