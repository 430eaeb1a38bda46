//! Kernels of the host that run on the streams of a simulated device.

use crate::checker::Touch;
use crate::{SimulatedDevice, SimulatedStream};
use mxrs_engine::gpu::GpuDevice;
use mxrs_op::{Answer, Backend, Kernel, KernelArgs, Offer, OpCall, PlannedKernel, RawTensor, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::{Device, Error, Result, WriteReq};
use std::sync::Arc;

/// A backend of a simulated device: the kernels of a backend of the host, each enqueued as one launch. It has the same
/// offers, algorithms and layouts, so that a graph gets the same kernels on the device as on the host, and the same bits.
///
/// A launch finds the bytes of device addresses by [`SimulatedDevice::reach`]. It reports to the checker what the kernel may
/// read and write. As on a real device, an error of the kernel is reported only at a later wait.
pub struct SimulatedBackend {
    host: Arc<dyn Backend>,
    device: Arc<SimulatedDevice>,
}

impl SimulatedBackend {
    /// The kernels of `host`, on `device`.
    ///
    /// # Panics
    /// Panics if `host` does not run on the host.
    pub fn new(host: Arc<dyn Backend>, device: &Arc<SimulatedDevice>) -> Arc<Self> {
        assert!(host.runs_on(Device::cpu(0)), "{} runs on the host", host.name());
        Arc::new(Self { host, device: Arc::clone(device) })
    }

    /// The same offer, whose kernel runs on the device.
    fn on_device<'a>(&'a self, op: &'a str, offer: Offer<'a>) -> Offer<'a> {
        let (seconds, is_reference) = (offer.seconds(), offer.is_reference());
        let offer = Offer::new(seconds, move || {
            let planned = offer.build()?;
            let kernel = Launched::kernel(op, planned.kernel, &self.device);
            Ok(PlannedKernel { kernel, ..planned })
        });
        if is_reference { offer.as_reference() } else { offer }
    }
}

impl Backend for SimulatedBackend {
    fn name(&self) -> &'static str {
        self.host.name()
    }

    fn runs_on(&self, device: Device) -> bool {
        device == self.device.gpu().device()
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        Ok(self.on_device(call.op.name, self.host.offer(call)?))
    }

    fn algorithms(&self, call: &OpCall<'_>) -> Vec<String> {
        self.host.algorithms(call)
    }

    fn offer_algorithm<'a>(&'a self, call: &'a OpCall<'a>, algorithm: &str) -> Answer<'a> {
        Ok(self.on_device(call.op.name, self.host.offer_algorithm(call, algorithm)?))
    }

    fn setup(&self) -> String {
        self.host.setup()
    }

    fn reorder(&self, from: &TensorDesc, to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        let kernel = self.host.reorder(from, to)?;
        Ok(kernel.map(|kernel| Launched::kernel("reorder", kernel, &self.device)))
    }
}

/// A kernel of the host whose runs are launches.
struct Launched {
    host: Arc<dyn Kernel>,
    /// The name of the launches: the operator and the kernel.
    name: Arc<str>,
    op: String,
    device: Arc<SimulatedDevice>,
    team: Arc<Team>,
}

impl Launched {
    fn kernel(op: &str, host: Arc<dyn Kernel>, device: &Arc<SimulatedDevice>) -> Arc<dyn Kernel> {
        let name = format!("{op} ({})", host.name()).into();
        Arc::new(Self { host, name, op: op.to_owned(), device: Arc::clone(device), team: Team::serial() })
    }

    /// The same tensor at the addresses where a launch can access its bytes.
    ///
    /// # Safety
    /// Only launches that are enqueued now may use the result.
    unsafe fn reached(&self, tensor: &RawTensor<'_>) -> RawTensor<'static> {
        // SAFETY: `reach` returns the address of the same bytes in the second mapping of the memory, which the host can
        // access. The tensor stays allocated until the work is done. The caller uses it in that work only.
        unsafe { RawTensor::new(self.device.reach(tensor.as_ptr()), tensor.len_bytes()) }
    }
}

impl Kernel for Launched {
    fn name(&self) -> &str {
        self.host.name()
    }

    fn adds(&self, output: usize) -> bool {
        self.host.adds(output)
    }

    fn strided(self: Arc<Self>, image_bytes: usize) -> Option<Arc<dyn Kernel>> {
        let host = Arc::clone(&self.host).strided(image_bytes)?;
        Some(Self::kernel(&self.op, host, &self.device))
    }

    fn fuse_add(self: Arc<Self>, position: usize) -> Option<Arc<dyn Kernel>> {
        let host = Arc::clone(&self.host).fuse_add(position)?;
        Some(Self::kernel(&self.op, host, &self.device))
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let device = self.device.gpu().device();
        let stream = args.stream.filter(|stream| stream.id().device == device);
        let Some(stream) = stream else {
            let got = args.stream.map_or_else(|| "none".into(), |stream| stream.id().to_string());
            return Err(Error::invalid(format!("stream of `{}`", self.name), got, format!("a stream of {device}")));
        };
        let written = args.outputs.iter().zip(args.reqs).filter(|(_, req)| **req != WriteReq::Null);
        let reads = args.inputs.iter().filter_map(|tensor| range(tensor)).map(Touch::read);
        let writes = written.map(|(tensor, _)| tensor).chain([&args.scratch]).filter_map(range).map(Touch::write);
        let touches: Vec<Touch> = reads.chain(writes).collect();
        // SAFETY: the tensors are used by the launch below only.
        let reached = |tensor: &RawTensor<'_>| unsafe { self.reached(tensor) };
        let inputs: Vec<RawTensor<'static>> = args.inputs.iter().map(reached).collect();
        let outputs: Vec<RawTensor<'static>> = args.outputs.iter().map(reached).collect();
        let (scratch, reqs, random) = (reached(&args.scratch), args.reqs.to_vec(), args.random);
        let (host, team) = (Arc::clone(&self.host), Arc::clone(&self.team));
        SimulatedStream::of(stream)?.launch_fallible(Arc::clone(&self.name), &touches, move || {
            let (inputs, outputs, reqs) = (&inputs[..], &outputs[..], &reqs[..]);
            let args = KernelArgs { inputs, outputs, reqs, scratch, team: &team, random, stream: None };
            // SAFETY: the caller promised that the tensors are those of the call that the kernel was planned for, and that
            // they stay allocated until this work is done. `args` has the same bytes at the addresses of the second mapping,
            // which has the same alignment to pages. Other work that uses them is ordered before or after this launch.
            unsafe { host.run(&args) }
        })
    }
}

/// The addresses of a tensor; `None` if it has no bytes.
fn range(tensor: &RawTensor<'_>) -> Option<std::ops::Range<u64>> {
    let start = tensor.as_ptr().addr() as u64;
    (tensor.len_bytes() > 0).then(|| start..start + tensor.len_bytes() as u64)
}
