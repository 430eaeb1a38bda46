//! Times the gradients of a network's convolutions, and the packing of weights, which every training step repeats; and the
//! gradients of pooling.
//!
//! ```text
//! cargo run --release -p mxrs-backend-nnpack --example gradients -- [THREADS [BATCH [DTYPE]]]
//! ```

use mxrs_backend_nnpack::{Nnpack, NnpackOptions};
use mxrs_op::{Attrs, Backend, KernelArgs, OpCall, RawTensor, TensorDesc};
use mxrs_sync::{Team, TeamConfig};
use mxrs_testkit::AlignedBuffer;
use mxrs_types::{DType, Result, WriteReq};
use std::num::NonZeroUsize;
use std::time::Instant;

/// Input and output channels, height and width of the data, window, stride, groups.
const LAYERS: [[usize; 6]; 19] = [
    [3, 64, 224, 7, 2, 1],
    [64, 64, 56, 3, 1, 1],
    [128, 128, 28, 3, 1, 1],
    [256, 256, 14, 3, 1, 1],
    [512, 512, 7, 3, 1, 1],
    [128, 128, 56, 3, 2, 1],
    [256, 256, 28, 3, 2, 1],
    [512, 512, 14, 3, 2, 1],
    [64, 256, 56, 1, 1, 1],
    [256, 64, 56, 1, 1, 1],
    [512, 128, 28, 1, 1, 1],
    [1024, 256, 14, 1, 1, 1],
    [512, 2048, 7, 1, 1, 1],
    [256, 512, 56, 1, 2, 1],
    [1024, 2048, 14, 1, 2, 1],
    [128, 128, 56, 3, 1, 32],
    [256, 256, 28, 3, 1, 32],
    [512, 512, 14, 3, 1, 32],
    [256, 256, 56, 3, 2, 32],
];
const ROUNDS: usize = 3;

fn main() -> Result<()> {
    let dtype = std::env::args().nth(3).map_or(Ok(DType::F32), |text| text.parse())?;
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<usize>().ok().and_then(NonZeroUsize::new));
    let threads = args.next().flatten().unwrap_or(NonZeroUsize::MIN);
    let batch = args.next().flatten().map_or(32, NonZeroUsize::get);
    let team = Team::new(TeamConfig { threads, cpus: None })?;
    let backend = Nnpack::new(&team, NnpackOptions::default());
    println!("{:>28}  {:10} {:>9} {:>8} {:>9}  {:>9}  kernel", "layer", "of", "ms", "GFLOP/s", "estimate", "packing");
    for layer in LAYERS {
        for op in ["Convolution", "_backward_Convolution_data", "_backward_Convolution_weight"] {
            time(&backend, &team, batch, layer, (op, dtype))?;
        }
    }
    for pool_type in ["max", "avg"] {
        time_pooling(&backend, &team, batch, (pool_type, dtype))?;
    }
    Ok(())
}

/// Times the gradient of a pooling of 3x3 pixels with a stride of 2, as in residual networks.
fn time_pooling(backend: &Nnpack, team: &Team, batch: usize, (pool_type, dtype): (&str, DType)) -> Result<()> {
    let ops = mxrs_ops::catalog();
    let op = ops.get(if pool_type == "max" { "_backward_Pooling" } else { "_backward_Pooling_average" })?;
    let attrs = [("kernel", "(3, 3)"), ("stride", "(2, 2)"), ("pad", "(1, 1)"), ("pool_type", pool_type)];
    let params = op.parse(&Attrs::from(attrs))?;
    let [data, pooled] = [112, 56].map(|size| TensorDesc::dense([batch, 64, size, size], dtype));
    let inputs = [pooled.clone(), data.clone(), pooled];
    let inputs = if pool_type == "max" { &inputs[..] } else { &inputs[..2] };
    let outputs = [data.clone()];
    let is_constant = &[false; 3][..inputs.len()];
    let call = OpCall { op, params: &params, inputs, outputs: &outputs, is_constant, is_train: true };
    let Ok(offer) = backend.offer(&call) else {
        println!("the gradient of {pool_type} pooling is not taken");
        return Ok(());
    };
    let planned = offer.build()?;
    let given: Vec<_> = inputs.iter().map(|desc| filled(desc.size_bytes())).collect();
    let mut made = filled(data.size_bytes());
    let raw: Vec<_> = given.iter().map(|buffer| RawTensor::from_slice(buffer.bytes())).collect();
    let args = KernelArgs {
        inputs: &raw,
        outputs: &[RawTensor::from_mut_slice(made.bytes_mut())],
        reqs: &[WriteReq::Write],
        scratch: RawTensor::from_mut_slice(&mut []),
        team,
        random: None,
        stream: None,
    };
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        mxrs_testkit::run_kernel(&*planned.kernel, &args)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    let read = if pool_type == "max" { inputs } else { &inputs[..1] };
    let bytes: usize = read.iter().chain(&outputs).map(TensorDesc::size_bytes).sum();
    println!(
        "{pool_type} pooling {:9.3} ms {:6.1} GB/s  {}",
        1e3 * best,
        1e-9 * bytes as f64 / best,
        planned.kernel.name()
    );
    Ok(())
}

/// A buffer of numbers near 0.37, which are the same in float32 and in bfloat16.
fn filled(bytes: usize) -> AlignedBuffer {
    AlignedBuffer::from_f64(&vec![f64::from(f32::from_bits(0x3ebd_3ebd)); bytes.div_ceil(4)], DType::F32)
}

fn time(backend: &Nnpack, team: &Team, batch: usize, layer: [usize; 6], (name, dtype): (&str, DType)) -> Result<()> {
    let [c, k, size, window, stride, groups] = layer;
    let (pad, ops) = (window / 2, mxrs_ops::catalog());
    let op = ops.get(name)?;
    let text = |n: usize| format!("({n}, {n})");
    let (kernel, pads, strides) = (text(window), text(pad), text(stride));
    let (filters, n_groups) = (k.to_string(), groups.to_string());
    let params = op.parse(&Attrs::from([
        ("kernel", kernel.as_str()),
        ("pad", &pads),
        ("stride", &strides),
        ("num_filter", &filters),
        ("num_group", &n_groups),
        ("no_bias", "True"),
    ]))?;
    let out = (size + 2 * pad - window) / stride + 1;
    let [data, weight, ograd] = [[batch, c, size, size], [k, c / groups, window, window], [batch, k, out, out]]
        .map(|sizes| TensorDesc::dense(sizes, dtype));
    let (inputs, result) = match name {
        "Convolution" => (vec![data, weight], ograd),
        "_backward_Convolution_data" => (vec![ograd, weight, data.clone()], data),
        _ => {
            let sums = TensorDesc { dtype: DType::F32, ..weight };
            (vec![ograd, data, sums.clone()], sums)
        }
    };
    let outputs = [result.clone()];
    let is_constant = &[false; 3][..inputs.len()];
    let call = OpCall { op, params: &params, inputs: &inputs, outputs: &outputs, is_constant, is_train: true };
    let Ok(offer) = backend.offer(&call) else {
        println!("{:>28}  {name} is not taken", layer.map(|n| n.to_string()).join(" "));
        return Ok(());
    };
    let estimate_ms = 1e3 * offer.seconds();
    let planned = offer.build()?;
    let laid_out = |desc: &TensorDesc, layout: &mxrs_types::Layout| desc.with_layout(layout.clone());
    let descs: Vec<_> =
        inputs.iter().zip(&planned.input_layouts).map(|(desc, layout)| laid_out(desc, layout)).collect();
    let given: Vec<_> = descs.iter().map(|desc| filled(desc.size_bytes())).collect();
    let mut made = filled(laid_out(&result, &planned.output_layouts[0]).size_bytes());
    let mut scratch = filled(planned.scratch_bytes);
    let raw: Vec<_> = given.iter().map(|buffer| RawTensor::from_slice(buffer.bytes())).collect();
    let args = KernelArgs {
        inputs: &raw,
        outputs: &[RawTensor::from_mut_slice(made.bytes_mut())],
        reqs: &[WriteReq::Write],
        scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
        team,
        random: None,
        stream: None,
    };
    let best = |run: &dyn Fn() -> Result<()>| -> Result<f64> {
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            run()?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        Ok(best)
    };
    let seconds = best(&|| mxrs_testkit::run_kernel(&*planned.kernel, &args))?;
    let packing = match backend.reorder(&inputs[1], &descs[1])? {
        Some(copy) if name != "_backward_Convolution_weight" => {
            let from = filled(inputs[1].size_bytes());
            let mut to = filled(descs[1].size_bytes());
            let inputs = &[RawTensor::from_slice(from.bytes())];
            let args = KernelArgs { inputs, outputs: &[RawTensor::from_mut_slice(to.bytes_mut())], ..args };
            best(&|| mxrs_testkit::run_kernel(&*copy, &args))?
        }
        _ => 0.0,
    };
    let flops = 2.0 * (batch * k * out * out * c / groups * window * window) as f64;
    let of = name.rsplit('_').next().unwrap_or(name);
    let (ms, rate, packing_ms) = (1e3 * seconds, 1e-9 * flops / seconds, 1e3 * packing);
    println!(
        "{:>28}  {of:10} {ms:9.3} {rate:8.1} {estimate_ms:9.3}  {packing_ms:9.3}  {}",
        layer.map(|n| n.to_string()).join(" "),
        planned.kernel.name()
    );
    Ok(())
}
