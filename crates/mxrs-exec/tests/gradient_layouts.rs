//! Tests gradients that a kernel writes in its own layout: the next step copies each of them to the gradient array, and
//! then the memory of the kernel's output is free for other values.

mod common;

use common::options;
use mxrs_exec::{BindOptions, DryGraph, GradReq, GradRequests};
use mxrs_graph::{Graph, NameManager, Symbol, SymbolCall};
use mxrs_op::{Answer, Backend, Kernel, KernelArgs, Offer, OpCall, PlannedKernel, TensorDesc};
use mxrs_types::{Layout, Result};
use std::sync::Arc;

const N_LAYERS: usize = 10;
const WIDTH: usize = 64;
const WEIGHT_BYTES: usize = 4 * WIDTH * WIDTH;
const OWN: Layout = Layout::Opaque { backend: "own", id: 1, size_bytes: WEIGHT_BYTES };

/// A backend that makes the gradients of weights in its own layout. The kernels are never run.
struct Own;

impl Backend for Own {
    fn name(&self) -> &'static str {
        "own"
    }
    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        if call.op.name != "_backward_FullyConnected_weight" {
            return Err("not mine".into());
        }
        Ok(Offer::new(1e-6, move || {
            Ok(PlannedKernel {
                input_layouts: vec![Layout::RowMajor; call.inputs.len()],
                output_layouts: vec![OWN; call.outputs.len()],
                scratch_bytes: 0,
                can_run_inplace: false,
                kernel: Arc::new(Never),
            })
        }))
    }
    fn reorder(&self, from: &TensorDesc, _: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        Ok((from.layout == OWN).then(|| Arc::new(Never) as Arc<dyn Kernel>))
    }
}

struct Never;

// Unsafe code is allowed here, because Unsafe code is allowed here, because `Kernel::run` is an unsafe function.
#[allow(unsafe_code)]
impl Kernel for Never {
    fn name(&self) -> &str {
        "never"
    }
    unsafe fn run(&self, _: &KernelArgs<'_>) -> Result<()> {
        unreachable!("only planned")
    }
}

fn layers() -> Graph {
    let ops = mxrs_ops::catalog();
    let mut names = NameManager::new();
    let mut x = Symbol::variable("data");
    for _ in 0..N_LAYERS {
        let call = SymbolCall::new(ops.get("FullyConnected").unwrap()).attr("num_hidden", WIDTH).attr("no_bias", true);
        x = call.input(&x).build(&mut names).unwrap();
    }
    x.graph().unwrap()
}

#[test]
fn a_gradient_in_another_layout_is_copied_as_soon_as_it_is_made() {
    for request in [GradReq::Write, GradReq::Add] {
        let mut backends: Vec<Arc<dyn Backend>> = vec![Arc::new(Own)];
        backends.extend(options().backends);
        let options = BindOptions { backends, gradients: Some(GradRequests::all(request)), ..options() };
        let planned = DryGraph::new(&layers(), &[("data", [1, WIDTH].into())], &options, true).unwrap();
        let planned = planned.plan(&options.plan).unwrap();
        let made: Vec<usize> =
            planned.steps.iter().enumerate().filter(|(_, s)| s.backend == "own").map(|(i, _)| i).collect();
        let gradients = made.iter().filter(|i| planned.steps[**i].op == "_backward_FullyConnected_weight");
        let gradients: Vec<usize> = gradients.copied().collect();
        assert_eq!(gradients.len(), N_LAYERS);
        for at in gradients {
            assert_eq!(planned.steps[at + 1].op, "reorder", "{request}: after {}", planned.steps[at].name);
        }
        // At most two gradients are in the arena at the same time: one in the kernel's layout and, for the request `add`,
        // its copy in the layout of the array.
        assert!(planned.arena_bytes < 3 * WEIGHT_BYTES, "{request}: {} bytes", planned.arena_bytes);
    }
}
