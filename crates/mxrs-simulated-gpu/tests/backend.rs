//! Tests of kernels of the host on a simulated device.
#![cfg(not(loom))]
#![allow(unsafe_code)]
// Unsafe code: the tests run kernels on memory of a device.

use mxrs_engine::gpu::{GpuDevice, StreamUse};
use mxrs_op::{Attrs, Backend, KernelArgs, OpCall, OpDef, PlannedKernel, RawTensor, ReferenceBackend, TensorDesc};
use mxrs_simulated_gpu::{SimulatedBackend, SimulatedDevice};
use mxrs_storage::{DeviceCopies, DeviceMemory};
use mxrs_sync::Team;
use mxrs_types::{DType, Device, DeviceStream, Error, Result, WriteReq};
use std::ptr::NonNull;
use std::sync::Arc;

const GPU: Device = Device::gpu(0);

/// Elements of a tensor.
const N: usize = 16;
const N_BYTES: usize = 4 * N;

/// Doubles each element, and refuses a first element of 13.
fn double() -> OpDef {
    let mut double = OpDef::new("double");
    double.reference = Some(|_, inputs, outputs, _| {
        for (y, x) in outputs[0].bytes.chunks_exact_mut(4).zip(inputs[0].bytes.chunks_exact(4)) {
            let x = f32::from_ne_bytes([x[0], x[1], x[2], x[3]]);
            if x == 13.0 {
                return Err(Error::invalid("element", x, "a lucky number"));
            }
            y.copy_from_slice(&(2.0 * x).to_ne_bytes());
        }
        Ok(())
    });
    double
}

fn planned(backend: &dyn Backend) -> PlannedKernel {
    let op = double();
    let params = op.parse(&Attrs::new()).unwrap();
    let tensor = [TensorDesc::dense([N], DType::F32)];
    let call =
        OpCall { op: &op, params: &params, inputs: &tensor, outputs: &tensor, is_constant: &[false], is_train: false };
    backend.plan(&call).unwrap()
}

/// Two tensors of a device. The second is the output.
struct Tensors(Arc<SimulatedDevice>, [NonNull<u8>; 2]);

impl Tensors {
    fn new(device: &Arc<SimulatedDevice>) -> Self {
        Self(Arc::clone(device), [(); 2].map(|()| device.memory().allocate(N_BYTES).unwrap()))
    }

    fn run(&self, planned: &PlannedKernel, req: WriteReq, stream: Option<&dyn DeviceStream>) -> Result<()> {
        // SAFETY: `new` allocated both with this size, and the tests synchronize their streams before they are freed.
        let [input, output] = self.1.map(|place| unsafe { RawTensor::new(place.as_ptr(), N_BYTES) });
        let args = KernelArgs {
            inputs: &[input],
            outputs: &[output],
            reqs: &[req],
            scratch: RawTensor::from_slice(&[]),
            team: &Team::serial(),
            random: None,
            stream,
        };
        // SAFETY: the tensors have the sizes that the kernel was planned for.
        unsafe { planned.kernel.run(&args) }
    }

    fn fill(&self, stream: &dyn DeviceStream, value: f32) {
        let from: Vec<u8> = [value; N].iter().flat_map(|x| x.to_ne_bytes()).collect();
        // SAFETY: both have this size, and the stream is synchronized before `from` is dropped.
        unsafe { self.0.upload(stream, from.as_ptr(), self.1[0].as_ptr(), N_BYTES) }.unwrap();
        stream.synchronize().unwrap();
    }

    fn output(&self, stream: &dyn DeviceStream) -> Vec<f32> {
        let mut to = [0f32; N];
        // SAFETY: both have this size, and the stream is synchronized before `to` is used.
        unsafe { self.0.download(stream, self.1[1].as_ptr(), to.as_mut_ptr().cast(), N_BYTES) }.unwrap();
        stream.synchronize().unwrap();
        to.to_vec()
    }
}

impl Drop for Tensors {
    fn drop(&mut self) {
        for place in self.1 {
            // SAFETY: `new` allocated it with this size, and the tests synchronize their streams before this.
            unsafe { self.0.memory().free(place, N_BYTES) };
        }
    }
}

struct World {
    device: Arc<SimulatedDevice>,
    backend: Arc<SimulatedBackend>,
    stream: Arc<dyn DeviceStream>,
}

fn world() -> World {
    let device = SimulatedDevice::new(GPU, 1 << 20);
    let backend = SimulatedBackend::new(Arc::new(ReferenceBackend), &device);
    let stream = device.gpu().create_stream(StreamUse::Compute).unwrap();
    World { device, backend, stream }
}

#[test]
fn a_kernel_runs_when_its_turn_comes() {
    let World { device, backend, stream } = world();
    assert!(backend.runs_on(GPU) && !backend.runs_on(Device::cpu(0)) && !backend.runs_on(Device::gpu(1)));
    let (planned, tensors) = (planned(&*backend), Tensors::new(&device));
    tensors.fill(&*stream, 3.0);
    let hold = device.gpu().hold();
    let before = device.gpu().counters();
    tensors.run(&planned, WriteReq::Write, Some(&*stream)).unwrap();
    tensors.run(&planned, WriteReq::Add, Some(&*stream)).unwrap();
    let after = device.gpu().counters();
    assert_eq!((after.launches, after.executed), (before.launches + 2, before.executed));
    drop(hold);
    assert_eq!(tensors.output(&*stream), [12.0; N]);
    assert_eq!(device.checker().violations(), []);
}

#[test]
fn what_a_kernel_reads_and_writes_is_checked() {
    let World { device, backend, stream } = world();
    let (planned, tensors) = (planned(&*backend), Tensors::new(&device));
    tensors.fill(&*stream, 3.0);
    let other = device.gpu().create_stream(StreamUse::Compute).unwrap();
    tensors.run(&planned, WriteReq::Write, Some(&*stream)).unwrap();
    tensors.run(&planned, WriteReq::Write, Some(&*other)).unwrap();
    assert_eq!(device.checker().violations().len(), 1, "both write the output, and nothing orders them");
    stream.synchronize().unwrap();
    other.synchronize().unwrap();
}

#[test]
fn a_failure_comes_late_and_names_the_operator() {
    let World { device, backend, stream } = world();
    let (planned, tensors) = (planned(&*backend), Tensors::new(&device));
    tensors.fill(&*stream, 13.0);
    tensors.run(&planned, WriteReq::Write, Some(&*stream)).unwrap();
    let error = stream.synchronize().unwrap_err().to_string();
    assert!(error.contains("double") && error.contains("lucky") && error.contains("gpu(0)"), "{error}");
    device.gpu().fail_launch(device.gpu().counters().launches + 1);
    tensors.run(&planned, WriteReq::Write, Some(&*stream)).unwrap();
    let error = stream.synchronize().unwrap_err().to_string();
    assert!(error.contains("double"), "{error}");
}

#[test]
fn a_kernel_without_a_stream_of_its_device_is_refused() {
    let World { device, backend, .. } = world();
    let (planned, tensors) = (planned(&*backend), Tensors::new(&device));
    let other = device.beside(Device::gpu(1), 1 << 20);
    let elsewhere = other.gpu().create_stream(StreamUse::Compute).unwrap();
    for stream in [None, Some(&*elsewhere)] {
        let error = tensors.run(&planned, WriteReq::Write, stream).unwrap_err().to_string();
        assert!(error.contains("a stream of gpu(0)"), "{error}");
    }
}
