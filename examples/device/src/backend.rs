//! The kernels of the device. They are the kernels of the host, which can use a mapped file like any other memory.

use crate::stream::Stream;
use mxrs::op::{Answer, Backend, Kernel, KernelArgs, Offer, OpCall, PlannedKernel, RawTensor, Team, TensorDesc};
use mxrs::types::{Device, Error, Result};
use std::sync::Arc;

/// A backend of the host whose kernels run on the streams of the device.
pub struct FileBackend {
    host: Arc<dyn Backend>,
    device: Device,
}

impl FileBackend {
    /// The kernels of `host`, on `device`.
    pub fn new(host: Arc<dyn Backend>, device: Device) -> Self {
        Self { host, device }
    }

    fn on_stream(&self, host: Arc<dyn Kernel>) -> Arc<dyn Kernel> {
        Arc::new(OnStream { host, device: self.device, team: Team::serial() })
    }
}

impl Backend for FileBackend {
    fn name(&self) -> &'static str {
        self.host.name()
    }

    fn runs_on(&self, device: Device) -> bool {
        device == self.device
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        let host = self.host.offer(call)?;
        let (seconds, is_reference) = (host.seconds(), host.is_reference());
        let offer = Offer::new(seconds, move || {
            let planned = host.build()?;
            Ok(PlannedKernel { kernel: self.on_stream(planned.kernel), ..planned })
        });
        Ok(if is_reference { offer.as_reference() } else { offer })
    }

    fn reorder(&self, from: &TensorDesc, to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        Ok(self.host.reorder(from, to)?.map(|kernel| self.on_stream(kernel)))
    }
}

/// A kernel that enqueues a kernel of the host.
struct OnStream {
    host: Arc<dyn Kernel>,
    device: Device,
    team: Arc<Team>,
}

impl Kernel for OnStream {
    fn name(&self) -> &str {
        self.host.name()
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let stream = args.stream.ok_or_else(|| Error::invalid("stream of a kernel", "none", "one of the device"))?;
        // SAFETY: the tensors are those of `args`, and the caller keeps them allocated until the enqueued work is done.
        let kept = |tensor: &RawTensor<'_>| unsafe { RawTensor::<'static>::new(tensor.as_ptr(), tensor.len_bytes()) };
        let inputs: Vec<_> = args.inputs.iter().map(kept).collect();
        let outputs: Vec<_> = args.outputs.iter().map(kept).collect();
        let (scratch, reqs, random) = (kept(&args.scratch), args.reqs.to_vec(), args.random);
        let (host, team) = (self.host.clone(), self.team.clone());
        Stream::of(stream, self.device)?.enqueue(self.name(), move || {
            let (inputs, outputs, reqs) = (&inputs[..], &outputs[..], &reqs[..]);
            let args = KernelArgs { inputs, outputs, reqs, scratch, team: &team, random, stream: None };
            // SAFETY: these are the tensors of the call for which the kernel was planned. Other work on them is ordered
            // before or after this work by the stream and its events.
            unsafe { host.run(&args) }
        })
    }
}
