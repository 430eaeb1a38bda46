//! Tests batch normalization in training, with ReLU and without: shapes of known networks and odd ones against the reference
//! kernels, the same bits on any number of threads, and the same bits in recomputation.

mod common;
mod copies;

use common::{backends, check};
use copies::copy;
use mxrs_backend_nnpack::{Nnpack, NnpackOptions};
use mxrs_op::{Backend, Fill, KernelArgs, OpCall, RawTensor, Sample};
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_testkit::AlignedBuffer;
use mxrs_testkit::conformance::{Prepared, team};
use mxrs_types::{DType, WriteReq};

const FREE: [(&str, &str); 2] = [("fix_gamma", "False"), ("eps", "2e-05")];
/// Sizes with planes that one partial sum covers or that need several, with whole and partial blocks of channels, and
/// with numbers of blocks that are multiples of the number of threads or not.
const SIZES: [[usize; 4]; 6] =
    [[2, 64, 12, 11], [3, 48, 7, 7], [2, 20, 3, 5], [4, 33, 1, 2], [1, 16, 30, 31], [5, 80, 4, 4]];

fn forward(sizes: [usize; 4], attrs: &[(&str, &str)]) -> Sample {
    let c: &[usize] = &[sizes[1]];
    let sample = Sample::new("training", [], &[&sizes, c, c, c, c]);
    let sample = Sample { attrs: attrs.iter().copied().collect(), is_train: true, ..sample };
    sample.fill(1, Fill::Uniform(-2.0, 2.0)).fill(4, Fill::Uniform(0.1, 2.0))
}

fn backward(sizes: [usize; 4], attrs: &[(&str, &str)]) -> Sample {
    let c: &[usize] = &[sizes[1]];
    let sample = Sample::new("training", [], &[&sizes, &sizes, c, c, c, c]);
    let sample = Sample { attrs: attrs.iter().copied().collect(), is_train: true, ..sample };
    sample.fill(2, Fill::Uniform(-2.0, 2.0)).fill(4, Fill::Uniform(-0.1, 0.1)).fill(5, Fill::Uniform(1.0, 2.0))
}

/// Without ReLU, the gradient does not depend on beta.
fn backward_without_relu(sizes: [usize; 4], attrs: &[(&str, &str)]) -> Sample {
    let c: &[usize] = &[sizes[1]];
    let sample = Sample::new("training", [], &[&sizes, &sizes, c, c, c]);
    let sample = Sample { attrs: attrs.iter().copied().collect(), is_train: true, ..sample };
    sample.fill(2, Fill::Uniform(-2.0, 2.0)).fill(3, Fill::Uniform(-0.1, 0.1)).fill(4, Fill::Uniform(1.0, 2.0))
}

#[test]
fn all_agree_with_the_reference() {
    let global = [("use_global_stats", "True"), ("fix_gamma", "False")];
    // `fix_gamma` is left out. By MXNet's default, gamma then counts as ones.
    let global_fixed = [("use_global_stats", "True")];
    for (backend, team) in backends() {
        for sizes in SIZES {
            for attrs in [&FREE[..], &[], &global, &global_fixed] {
                let what = check("_bn_relu", &forward(sizes, attrs), &backend, &team);
                assert!(what.starts_with("nnpack:bn_relu:"), "{what}");
                check("_bn_relu_recompute", &forward(sizes, attrs), &backend, &team);
                check("_backward_bn_relu", &backward(sizes, attrs), &backend, &team);
                let what = check("BatchNorm", &forward(sizes, attrs), &backend, &team);
                assert!(what.starts_with("nnpack:batch_norm:"), "{what}");
                let what = check("_backward_BatchNorm", &backward_without_relu(sizes, attrs), &backend, &team);
                assert!(what.starts_with("nnpack:batch_norm_gradient:"), "{what}");
            }
        }
    }
}

/// Data far from 0 compared to their spread: sums of plain squares would lose the variance.
#[test]
fn variances_of_data_far_from_zero_are_right() {
    for (backend, team) in backends() {
        let sizes = [3, 16, 20, 20];
        let n = sizes.iter().product::<usize>();
        let values = (0..n).map(|i| 500.0 + ((i * 7919) % 97) as f64 / 97.0).collect();
        let attrs = [("fix_gamma", "False"), ("eps", "1e-3")];
        let sample = forward(sizes, &attrs).fill(0, Fill::Values(values));
        let outputs = run("_bn_relu", &sample, &backend, &team, WriteReq::Write);
        let inverse = outputs[2][..16].iter().map(|bits| f64::from(f32::from_bits(*bits)));
        // The data are 97 evenly spaced values in an interval of length 1, whose variance is `(1 - 1 / 97²) / 12`.
        let expected = 1.0 / ((1.0 - 1.0 / 97f64.powi(2)) / 12.0 + 1e-3).sqrt();
        for (c, inverse) in inverse.enumerate() {
            assert!((inverse / expected - 1.0).abs() < 0.01, "channel {c}: {inverse}, not {expected}");
        }
    }
}

/// Runs a sample and returns the bits of the outputs, in the layouts of the kernel.
fn run(name: &str, sample: &Sample, backend: &Nnpack, team: &Team, req: WriteReq) -> Vec<Vec<u32>> {
    let ops = mxrs_ops::catalog();
    let op = ops.get(name).expect("it is in the catalog");
    let prepared = Prepared::new(op, sample, DType::F32).expect("the reference runs it");
    let is_constant = vec![false; prepared.inputs.len()];
    let call: OpCall<'_> = prepared.call(op, &is_constant);
    let planned = backend.plan(&call).expect("it is taken");
    let given = prepared.data.iter().zip(&prepared.inputs).zip(&planned.input_layouts);
    let given: Vec<AlignedBuffer> = given
        .map(|((data, desc), layout)| copy(backend, data, desc, &desc.with_layout(layout.clone()), team))
        .collect();
    let descs = prepared.outputs.iter().zip(&planned.output_layouts);
    let mut outputs: Vec<AlignedBuffer> =
        descs.map(|(desc, layout)| AlignedBuffer::poisoned(desc.with_layout(layout.clone()).size_bytes())).collect();
    if req == WriteReq::Add {
        bytemuck::cast_slice_mut::<u8, f32>(outputs[0].bytes_mut()).fill(0.25);
    }
    let mut scratch = AlignedBuffer::poisoned(planned.scratch_bytes);
    let raw: Vec<RawTensor<'_>> = outputs.iter_mut().map(|b| RawTensor::from_mut_slice(b.bytes_mut())).collect();
    let mut reqs = vec![WriteReq::Write; raw.len()];
    reqs[0] = req;
    let args = KernelArgs {
        inputs: &given.iter().map(|b| RawTensor::from_slice(b.bytes())).collect::<Vec<_>>(),
        outputs: &raw,
        reqs: &reqs,
        scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
        team,
        random: None,
        stream: None,
    };
    mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("it runs");
    outputs.iter().map(|b| bytemuck::cast_slice::<u8, u32>(b.bytes()).to_vec()).collect()
}

fn on(isa: Isa, threads: usize) -> (std::sync::Arc<Nnpack>, std::sync::Arc<Team>) {
    let team = team(threads);
    (Nnpack::new(&team, NnpackOptions { isa, ..NnpackOptions::default() }), team)
}

#[test]
fn bits_are_the_same_on_any_number_of_threads() {
    for isa in Isa::available() {
        for sizes in SIZES {
            for (name, sample) in [("_bn_relu", forward(sizes, &FREE)), ("_backward_bn_relu", backward(sizes, &FREE))] {
                let of = |threads| {
                    let (backend, team) = on(isa, threads);
                    run(name, &sample, &backend, &team, WriteReq::Write)
                };
                let one = of(1);
                assert!([2, 3, 5].iter().all(|threads| of(*threads) == one), "{name} {sizes:?} {}", isa.name());
            }
        }
    }
}

#[test]
fn the_output_is_made_again_bit_for_bit() {
    for (backend, team) in backends() {
        for sizes in SIZES {
            let sample = forward(sizes, &FREE);
            let ops = mxrs_ops::catalog();
            let op = ops.get("_bn_relu").expect("it is in the catalog");
            let prepared = Prepared::new(op, &sample, DType::F32).expect("the reference runs it");
            let first = run("_bn_relu", &sample, &backend, &team, WriteReq::Write);
            let values = |i: usize| Fill::Values(prepared.data[i].to_f64(DType::F32));
            let statistics = |i: usize| {
                let bits = first[i][..sizes[1]].iter();
                Fill::Values(bits.map(|bits| f64::from(f32::from_bits(*bits))).collect())
            };
            let again = forward(sizes, &FREE).fill(0, values(0)).fill(1, values(1)).fill(2, values(2));
            let again = again.fill(3, statistics(1)).fill(4, statistics(2));
            let second = run("_bn_relu_recompute", &again, &backend, &team, WriteReq::Write);
            assert!(first[0] == second[0], "{sizes:?} {}", backend.options().isa.name());
        }
    }
}

#[test]
fn a_gradient_is_added_as_if_it_were_written_first() {
    for (backend, team) in backends() {
        for sizes in SIZES {
            let of = |req| run("_backward_bn_relu", &backward(sizes, &FREE), &backend, &team, req);
            let (written, added) = (of(WriteReq::Write), of(WriteReq::Add));
            let sums = written[0].iter().map(|bits| (f32::from_bits(*bits) + 0.25).to_bits());
            assert!(added[0].iter().copied().eq(sums), "{sizes:?} {}", backend.options().isa.name());
            assert_eq!(written[1..], added[1..]);
        }
    }
}

/// With given statistics each image is independent. So a tensor so large that its stores bypass the caches must have the
/// same bits as a tensor of a single image.
#[test]
fn tensors_larger_than_the_caches_have_the_same_bits() {
    let attrs = [("use_global_stats", "True"), ("fix_gamma", "False")];
    let values = |images: usize, image: usize, step: usize| {
        Fill::Values((0..images * image).map(|i| ((i % image * step) % 1009) as f64 / 504.0 - 1.0).collect())
    };
    let image = 64 * 128 * 100;
    let (backend, team) = on(Isa::best(), 2);
    for (name, make) in [("_bn_relu", forward as fn([usize; 4], &_) -> Sample), ("_backward_bn_relu", backward)] {
        let of = |images: usize| {
            let sample = make([images, 64, 128, 100], &attrs).fill(0, values(images, image, 7919));
            let sample = if name == "_bn_relu" { sample } else { sample.fill(1, values(images, image, 104_729)) };
            run(name, &sample, &backend, &team, WriteReq::Write).swap_remove(0)
        };
        let (one, many) = (of(1), of(9));
        assert!(many.chunks_exact(one.len()).all(|image| image == one), "{name}");
    }
}
