//! A backend whose kernels read their weight packed backwards, and count how often it is packed.

use mxrs_engine::{Engine, EngineConfig};
use mxrs_exec::BindOptions;
use mxrs_graph::{Graph, NameManager, Symbol, SymbolCall};
use mxrs_ndarray::ArrayContext;
use mxrs_op::{
    Answer, Backend, InputNames, Kernel, KernelArgs, Offer, OpCall, OpDef, PlannedKernel, ReferenceBackend, TensorDesc,
};
use mxrs_storage::{Storage, StorageConfig};
use mxrs_types::{Error, Layout, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const PACKED: Layout = Layout::Opaque { backend: "backwards", id: 1, size_bytes: 16 };

/// A backend that stores weights of four floats in reverse order. Its kernels stop at a gate if their first input begins
/// with [`GATED`].
pub struct Backwards {
    pub packs: Arc<AtomicUsize>,
    pub gate: Arc<Gate>,
}

pub const GATED: f32 = 7.0;

/// Stops one kernel until a test lets it pass. The gate is closed while `sides` holds channels. The first kernel that comes
/// takes the channels, which opens the gate for later kernels.
#[derive(Default)]
pub struct Gate {
    pub sides: Mutex<Option<(Sender<()>, Receiver<()>)>>,
}

impl Gate {
    /// Closes the gate for the next kernel. Returns a channel that reports the kernel's arrival, and one that lets it pass.
    pub fn close(&self) -> (Receiver<()>, Sender<()>) {
        let ((came, comes), (pass, passes)) = (channel(), channel());
        *self.sides.lock().unwrap() = Some((came, passes));
        (comes, pass)
    }

    pub fn pass(&self, input: &[f32]) {
        let sides = if input[0] == GATED { self.sides.lock().unwrap().take() } else { None };
        if let Some((came, passes)) = sides {
            came.send(()).unwrap();
            passes.recv_timeout(PATIENCE).expect("the test opens the gate");
        }
    }
}

/// A time limit that is longer than any wait of these tests.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// A kernel that passes its inputs as floats to a closure and writes the floats that the closure returns.
pub struct Closure<F>(F);

impl<F: Fn(Vec<Vec<f32>>) -> Result<Vec<f32>> + Send + Sync> Kernel for Closure<F> {
    fn name(&self) -> &str {
        "backwards"
    }
    #[allow(unsafe_code)]
    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        // SAFETY: these kernels are planned with `can_run_inplace: false` or as copies, so no output shares memory with an
        // input, and no other task writes the inputs while this one runs.
        let inputs = args.inputs.iter().map(|i| floats(unsafe { i.bytes() })).collect();
        let result = (self.0)(inputs)?;
        // SAFETY: only this call writes its output. The output shares no memory with an input, because these kernels never
        // run in place.
        let output = unsafe { args.outputs[0].bytes_mut() };
        for (to, from) in output.chunks_exact_mut(4).zip(result) {
            to.copy_from_slice(&from.to_ne_bytes());
        }
        Ok(())
    }
}

impl Backend for Backwards {
    fn name(&self) -> &'static str {
        "backwards"
    }
    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        if call.op.name != "weighted" {
            return Err("not mine".into());
        }
        Ok(Offer::new(1e-6, move || {
            let gate = self.gate.clone();
            let kernel = Closure(move |inputs: Vec<Vec<f32>>| {
                gate.pass(&inputs[0]);
                if inputs[0].iter().any(|x| x.is_nan()) {
                    return Err(Error::invalid("weighted", "NaN", "numbers"));
                }
                Ok(inputs[0].iter().zip(inputs[1].iter().rev()).map(|(x, w)| x * w).collect())
            });
            Ok(PlannedKernel {
                input_layouts: vec![Layout::RowMajor, PACKED],
                output_layouts: vec![Layout::RowMajor],
                scratch_bytes: 0,
                can_run_inplace: false,
                kernel: Arc::new(kernel),
            })
        }))
    }
    fn reorder(&self, _: &TensorDesc, to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        let (packs, gate) = (self.packs.clone(), self.gate.clone());
        let kernel = Closure(move |mut inputs: Vec<Vec<f32>>| {
            gate.pass(&inputs[0]);
            packs.fetch_add(1, Ordering::Relaxed);
            inputs[0].reverse();
            Ok(inputs.swap_remove(0))
        });
        Ok((to.layout == PACKED).then(|| Arc::new(kernel) as Arc<dyn Kernel>))
    }
}

pub fn graph() -> Graph {
    let op = Arc::new(OpDef { inputs: InputNames::Fixed(&["data", "weight"]), ..OpDef::new("weighted") });
    let (x, w) = (Symbol::variable("x"), Symbol::variable("w"));
    let mut names = NameManager::new();
    let once = SymbolCall::new(&op).input(&x).input(&w).build(&mut names).unwrap();
    SymbolCall::new(&op).input(&once).input(&w).build(&mut names).unwrap().graph().unwrap()
}

pub fn context_and_options() -> (ArrayContext, BindOptions, Arc<AtomicUsize>) {
    let engine = Engine::new(EngineConfig::default()).unwrap();
    let context = ArrayContext::new(engine, Storage::new(StorageConfig::default()).unwrap());
    let packs = Arc::new(AtomicUsize::new(0));
    let backend = Backwards { packs: packs.clone(), gate: Arc::default() };
    let options = BindOptions::new(vec![Arc::new(backend), Arc::new(ReferenceBackend)]);
    (context, options, packs)
}
