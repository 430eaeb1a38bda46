//! Tests the workspaces (scratch memory) of operators that are called one by one: no operator sees the workspace of another
//! (rule R3), and later calls reuse workspaces (rule R5).

mod common;

use common::{context, options};
use mxrs_engine::EngineKind;
use mxrs_exec::{BindOptions, Imperative};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::{Answer, Attrs, Backend, Kernel, KernelArgs, Offer, OpCall, PlannedKernel, TensorDesc};
use mxrs_types::{Error, Layout, Result};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A backend that copies its input slowly through a workspace eight times as large, and records the address of the
/// workspace.
#[derive(Clone, Default)]
struct Detour(Arc<Mutex<Vec<usize>>>);

impl Backend for Detour {
    fn name(&self) -> &'static str {
        "detour"
    }
    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        if call.op.name != "relu" {
            return Err("not mine".into());
        }
        Ok(Offer::new(1e-6, move || {
            Ok(PlannedKernel {
                input_layouts: vec![Layout::RowMajor],
                output_layouts: vec![Layout::RowMajor],
                scratch_bytes: 8 * call.inputs[0].size_bytes(),
                can_run_inplace: false,
                kernel: Arc::new(self.clone()),
            })
        }))
    }
    fn reorder(&self, _: &TensorDesc, _: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        Ok(None)
    }
}

impl Kernel for Detour {
    fn name(&self) -> &str {
        "detour"
    }
    #[allow(unsafe_code)]
    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        self.0.lock().unwrap().push(args.scratch.as_ptr().addr());
        // SAFETY: the kernel does not run in place, and the engine task of this call holds the input for reading. So no
        // code writes the input during this call.
        let input = unsafe { args.inputs[0].bytes() };
        // SAFETY: the workspace and the output belong to this call alone, do not overlap, and are borrowed once each.
        let (scratch, output) = unsafe { (args.scratch.bytes_mut(), args.outputs[0].bytes_mut()) };
        scratch.chunks_exact_mut(input.len()).for_each(|part| part.copy_from_slice(input));
        std::thread::sleep(Duration::from_micros(200));
        if scratch.chunks_exact(input.len()).any(|part| part != input) {
            return Err(Error::invalid("workspace", "what another operator wrote", "what this one wrote"));
        }
        output.copy_from_slice(&scratch[..input.len()]);
        Ok(())
    }
}

fn calls(workers: usize) -> (Imperative, Detour) {
    let detour = Detour::default();
    let mut backends: Vec<Arc<dyn Backend>> = vec![Arc::new(detour.clone())];
    backends.extend(options().backends);
    let context: ArrayContext = context(EngineKind::ThreadedPerDevice, workers);
    (Imperative::new(&context, &BindOptions { backends, ..options() }).unwrap(), detour)
}

fn relu(nd: &Imperative, values: &[f32]) -> NdArray {
    let input = NdArray::from_slice(nd.context(), [values.len()], values).unwrap();
    nd.invoke("relu", &Attrs::new(), &[&input]).unwrap().swap_remove(0)
}

/// Rule R3: no operator sees the workspace of another, with more workers than workspaces and with workspaces that grow while
/// tasks wait for them.
#[test]
fn r3_no_operator_sees_the_workspace_of_another() {
    let (nd, detour) = calls(8);
    let numbers = |i: usize| vec![i as f32 + 1.0; 16 << (i % 7)];
    let outputs: Vec<NdArray> = (0..120).map(|i| relu(&nd, &numbers(i))).collect();
    for (i, output) in outputs.iter().enumerate() {
        assert_eq!(output.to_vec::<f32>().unwrap(), numbers(i), "call {i}");
    }
    assert_eq!(detour.0.lock().unwrap().len(), 120);
}

/// Rule R5: calls of one size use four workspaces in turn, and the address of each stays the same.
#[test]
fn r5_workspaces_stay_where_they_are_between_calls_of_one_size() {
    let (nd, detour) = calls(1);
    for i in 0..12 {
        relu(&nd, &[i as f32; 100]).wait_to_read().unwrap();
    }
    let addresses = detour.0.lock().unwrap().clone();
    let first: std::collections::BTreeSet<usize> = addresses[..4].iter().copied().collect();
    assert_eq!(first.len(), 4);
    assert_eq!((&addresses[4..8], &addresses[8..]), (&addresses[..4], &addresses[..4]));
}
