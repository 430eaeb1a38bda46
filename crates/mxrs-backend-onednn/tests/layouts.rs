//! Runs samples on tensors in the layout in which a convolution writes them: in blocks of channels, padded if the channels
//! do not fill a block. The tests check numbers, requests and padding, as they do for row-major tensors.

use mxrs_backend_onednn::{OneDnn, OneDnnConfig};
use mxrs_op::{Attrs, Backend, KernelArgs, OpCall, OpDef, OpSet, RawTensor, TensorDesc};
use mxrs_sync::Team;
use mxrs_testkit::AlignedBuffer;
use mxrs_testkit::conformance::{Prepared, Runner};
use mxrs_types::{DType, Layout, WriteReq};
use std::collections::BTreeSet;

/// Names of inputs that are parameters, which no convolution computes.
const PARAMETERS: [&str; 2] = ["weight", "bias"];
/// The convolution has the tested tensor as input or output; its other tensor has this many channels.
const OTHER_CHANNELS: usize = 32;

/// The computation that writes a tensor and so determines its layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Maker {
    /// A convolution. It writes channels last on most processors.
    Forward,
    /// The gradient of a convolution's data. It writes blocks of channels on most processors.
    Backward,
}

/// The layout in which a convolution or its gradient writes a tensor of this shape.
fn layout_of(maker: Maker, backend: &OneDnn, ops: &OpSet, desc: &TensorDesc) -> Layout {
    let n_spatial = desc.shape.ndim() - 2;
    let (three, one) = (vec!["3"; n_spatial].join(", "), vec!["1"; n_spatial].join(", "));
    let channels = desc.shape[1];
    let n_filters = if maker == Maker::Forward { channels } else { OTHER_CHANNELS };
    let attrs = Attrs::from([
        ("kernel", format!("({three},)").as_str()),
        ("pad", format!("({one},)").as_str()),
        ("num_filter", n_filters.to_string().as_str()),
        ("no_bias", "True"),
    ]);
    let dense =
        |channels: &[usize], space: &[usize]| TensorDesc::dense([channels, space].concat().as_slice(), desc.dtype);
    let other = dense(&[desc.shape[0], OTHER_CHANNELS], &desc.shape[2..]);
    let window = vec![3; n_spatial];
    let this = desc.with_layout(Layout::RowMajor);
    let (name, inputs) = match maker {
        Maker::Forward => ("Convolution", vec![other, dense(&[channels, OTHER_CHANNELS], &window)]),
        Maker::Backward => {
            ("_backward_Convolution_data", vec![other, dense(&[OTHER_CHANNELS, channels], &window), this.clone()])
        }
    };
    let op = ops.get(name).expect("it is in the catalog");
    let params = op.parse(&attrs).expect("the attributes are right");
    let is_constant = vec![false; inputs.len()];
    let outputs = [this];
    let call =
        OpCall { op, params: &params, inputs: &inputs, outputs: &outputs, is_constant: &is_constant, is_train: true };
    backend.plan(&call).map_or(Layout::RowMajor, |planned| planned.output_layouts[0].clone())
}

/// Returns a copy of the tensor in another layout.
fn copy(backend: &OneDnn, data: &AlignedBuffer, from: &TensorDesc, to: &TensorDesc) -> AlignedBuffer {
    let kernel = backend.reorder(from, to).expect("oneDNN answers").expect("it made the layout");
    let mut copy = AlignedBuffer::zeroed(to.size_bytes());
    let args = KernelArgs {
        inputs: &[RawTensor::from_slice(data.bytes())],
        outputs: &[RawTensor::from_mut_slice(copy.bytes_mut())],
        reqs: &[WriteReq::Write],
        scratch: RawTensor::from_slice(&[]),
        team: &Team::serial(),
        random: None,
        stream: None,
    };
    mxrs_testkit::run_kernel(&*kernel, &args).expect("a copy runs");
    copy
}

/// Copies the inputs of a sample into layouts that `maker` chooses: all inputs, or only the input `only`. Returns the
/// description of the last copied input, or `None` if no input was copied.
fn into_layouts(
    maker: Maker,
    backend: &OneDnn,
    ops: &OpSet,
    op: &OpDef,
    prepared: &mut Prepared,
    only: Option<usize>,
) -> Option<TensorDesc> {
    let names = op.input_names(&prepared.params);
    let mut last = None;
    for (i, name) in names.iter().enumerate() {
        let desc = prepared.inputs[i].clone();
        let is_image = (3..=5).contains(&desc.shape.ndim()) && desc.shape.n_elements() > 0;
        if !is_image || PARAMETERS.contains(&name.as_str()) || only.is_some_and(|only| only != i) {
            continue;
        }
        let layout = layout_of(maker, backend, ops, &desc);
        if layout.is_row_major() {
            continue;
        }
        let other = desc.with_layout(layout);
        prepared.data[i] = copy(backend, &prepared.data[i], &desc, &other);
        prepared.inputs[i] = other.clone();
        last = Some(other);
    }
    last
}

fn is_padded(desc: &TensorDesc) -> bool {
    desc.size_bytes() > desc.shape.n_elements() * desc.dtype.size_of()
}

#[test]
fn tensors_as_convolutions_leave_them() {
    let team = Team::serial();
    let backend = OneDnn::new(OneDnnConfig { team: team.clone(), cache_entries: None, row_major_weights: false })
        .expect("oneDNN is built in");
    let ops = mxrs_ops::catalog();
    let mut problems = Vec::new();
    // The tested operators, each with the maker of the layout and whether the layout was padded.
    let mut met: BTreeSet<(Maker, bool, &str)> = BTreeSet::new();
    for op in ops.iter().chain(ops.companions()) {
        for (sample, maker) in
            (op.samples)().iter().flat_map(|s| [Maker::Forward, Maker::Backward].map(|maker| (s.clone(), maker)))
        {
            // First all inputs are in the maker's layout; then one input at a time is, while the other inputs are row-major.
            for only in std::iter::once(None).chain((0..sample.inputs.len()).map(Some)) {
                let Ok(mut prepared) = Prepared::new(op, &sample, DType::F32) else { continue };
                let is_constant = vec![false; prepared.inputs.len()];
                let made = into_layouts(maker, &backend, &ops, op, &mut prepared, only);
                let Some(made) = made else { continue };
                if backend.offer(&prepared.call(op, &is_constant)).is_err() {
                    continue;
                }
                let checked = Runner::new(&*backend, op, &prepared, &is_constant, &team)
                    .and_then(|runner| runner.check_all(&team));
                met.insert((maker, is_padded(&made), op.name));
                problems.extend(
                    checked.err().map(|what| format!("{}/{} {maker:?} {only:?} {made}: {what}", op.name, sample.name)),
                );
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let n_ops = |of: &dyn Fn(&Maker, bool) -> bool| met.iter().filter(|(maker, padded, _)| of(maker, *padded)).count();
    assert!(n_ops(&|maker, _| *maker == Maker::Forward) > 10, "{met:?}");
    assert!(n_ops(&|maker, _| *maker == Maker::Backward) > 10, "{met:?}");
    // These operators must have been tested, because loops of this crate, which support any layout, run them.
    for name in ["_sg_bn_relu", "_sg_bn_relu_quantize"] {
        assert!(met.iter().any(|(_, _, op)| *op == name), "{name}: {met:?}");
    }
    // Processors with narrow registers have no padded layouts.
    #[cfg(target_arch = "x86_64")]
    if mxrs_processor::Isa::best().set() == mxrs_processor::Set::Avx512 {
        assert!(n_ops(&|_, padded| padded) > 10, "{met:?}");
    }
}

/// Tests blocks of channels as another backend describes them: in a layout of mxrs that oneDNN has not made.
#[test]
fn blocks_of_channels_that_another_backend_made() {
    let team = Team::serial();
    let backend = OneDnn::new(OneDnnConfig { team: team.clone(), cache_entries: None, row_major_weights: false })
        .expect("oneDNN is built in");
    let (n, c, h, w) = (2, 20, 5, 6);
    let dense = TensorDesc::dense([n, c, h, w], DType::F32);
    let blocked = dense.with_layout(Layout::Blocked {
        padded: [n, 32, h, w].into_iter().collect(),
        strides: [2 * h * w * 16, h * w * 16, w * 16, 16].into_iter().collect(),
        blocks: [(1u8, 16u16)].into_iter().collect(),
    });
    let values: Vec<f64> = (0..n * c * h * w).map(|i| i as f64).collect();
    let there = copy(&backend, &AlignedBuffer::from_f64(&values, DType::F32), &dense, &blocked);
    let lanes = there.to_f64(DType::F32);
    let at = |i: usize, ch: usize, pixel: usize| lanes[((i * 2 + ch / 16) * h * w + pixel) * 16 + ch % 16];
    assert_eq!(at(1, 17, 7), values[(c + 17) * h * w + 7]);
    assert_eq!(at(1, 27, 7), 0.0, "channels of padding are 0");
    assert_eq!(copy(&backend, &there, &blocked, &dense).to_f64(DType::F32), values);

    let odd = dense.with_layout(Layout::Blocked {
        padded: [n, 21, h, w].into_iter().collect(),
        strides: [7 * h * w * 3, h * w * 3, w * 3, 3].into_iter().collect(),
        blocks: [(1u8, 3u16)].into_iter().collect(),
    });
    assert!(backend.reorder(&dense, &odd).expect("oneDNN answers").is_none(), "no tag says blocks of three");
}
