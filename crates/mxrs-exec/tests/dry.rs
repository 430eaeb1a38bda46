//! Tests planning without binding: the tensors in the arena, and the sizes of the arrays outside it.

use mxrs_exec::{BindOptions, DryGraph, GradReq, GradRequests, PlannedGraph, TensorKind, plan_graph};
use mxrs_graph::{Graph, NameManager, PlanOptions, Symbol, SymbolCall};
use mxrs_op::ReferenceBackend;
use mxrs_types::Shape;
use std::sync::Arc;

/// A network on `data` [4, 8] of `layers` fully connected layers of width 8, each followed by tanh.
fn network(layers: usize) -> Graph {
    let ops = mxrs_ops::catalog();
    let mut names = NameManager::new();
    let mut x = Symbol::variable("data");
    for _ in 0..layers {
        let layer = SymbolCall::new(ops.get("FullyConnected").expect("built")).attr("num_hidden", "8");
        x = layer.input(&x).build(&mut names).expect("a well-formed call");
        let act = SymbolCall::new(ops.get("Activation").expect("built")).attr("act_type", "tanh");
        x = act.input(&x).build(&mut names).expect("a well-formed call");
    }
    x.graph().expect("a well-formed graph")
}

fn options() -> BindOptions {
    BindOptions { ops: mxrs_ops::catalog(), ..BindOptions::new(vec![Arc::new(ReferenceBackend)]) }
}

fn training() -> BindOptions {
    let gradients = GradRequests::all(GradReq::Write).with("data", GradReq::Null);
    BindOptions { gradients: Some(gradients), ..options() }
}

const DATA: [(&str, [usize; 2]); 1] = [("data", [4, 8])];

fn data() -> Vec<(&'static str, Shape)> {
    DATA.map(|(name, shape)| (name, shape.into())).to_vec()
}

/// Checks rule P1: if each tensor is drawn as a rectangle of its bytes and its steps, no two rectangles overlap, and all lie
/// in the arena.
fn check_rectangles(planned: &PlannedGraph) {
    let tensors: Vec<_> = planned.tensors.iter().filter(|t| t.size_bytes > 0).collect();
    for (i, a) in tensors.iter().enumerate() {
        assert!(a.first <= a.last && a.last < planned.steps.len());
        assert!(a.offset_bytes + a.size_bytes <= planned.arena_bytes);
        for b in &tensors[i + 1..] {
            let together = a.first <= b.last && b.first <= a.last;
            let shares =
                a.offset_bytes < b.offset_bytes + b.size_bytes && b.offset_bytes < a.offset_bytes + a.size_bytes;
            assert!(!(together && shares), "{a:?} and {b:?}");
        }
    }
}

#[test]
fn p1_tensors_of_every_plan_are_apart() {
    let graph = network(6);
    for (options, is_train) in [(options(), false), (training(), true)] {
        let dry = DryGraph::new(&graph, &data(), &options, is_train).unwrap();
        for plan in [
            PlanOptions::default(),
            PlanOptions { allow_pool: false, ..PlanOptions::default() },
            PlanOptions { match_range: Some(16), ..PlanOptions::default() },
            PlanOptions { match_range: Some(0), enable_inplace: false, ..PlanOptions::default() },
        ] {
            let planned = dry.plan(&plan).unwrap();
            check_rectangles(&planned);
            assert!(planned.activation_bytes <= planned.report.lower_bound_bytes);
            assert!(planned.report.lower_bound_bytes <= planned.activation_bytes + planned.workspace_bytes);
        }
    }
}

#[test]
fn arrays_are_counted_by_what_they_are_for() {
    let graph = network(3);
    let planned = plan_graph(&graph, &data(), &training(), true).unwrap();
    // Three weights of 8 x 8 and three biases of 8, in floats of four bytes.
    let parameters = 3 * (64 + 8) * 4;
    let tensor = 4 * 8 * 4;
    assert_eq!((planned.parameter_bytes, planned.gradient_bytes), (parameters, parameters));
    // The inputs are the data and the gradient of the head.
    assert_eq!((planned.input_bytes, planned.output_bytes), (2 * tensor, tensor));
    assert_eq!(planned.bound_bytes, planned.parameter_bytes + planned.input_bytes);
    assert_eq!(planned.total_bytes(), planned.arena_bytes + 2 * parameters + 3 * tensor + planned.packed_bytes);
    assert_eq!((planned.n_recomputed, planned.recomputed_work), (0, 0.0));
    let inference = plan_graph(&graph, &data(), &options(), false).unwrap();
    assert_eq!((inference.gradient_bytes, inference.input_bytes), (0, tensor));
}

#[test]
fn what_the_gradient_reads_is_kept() {
    let planned = plan_graph(&network(3), &data(), &training(), true).unwrap();
    let kinds = |kind: TensorKind| planned.tensors.iter().filter(|t| t.kind == kind).count();
    // The outputs of the first two tanh calls are kept. The output of the last is the output array.
    assert_eq!(kinds(TensorKind::Kept), 2);
    assert!(kinds(TensorKind::Gradient) > 0 && kinds(TensorKind::Recomputed) == 0);
    let kept = planned.tensors.iter().filter(|t| t.kind == TensorKind::Kept);
    assert!(kept.into_iter().all(|t| t.first < planned.n_forward && t.last >= planned.n_forward));
    let inference = plan_graph(&network(3), &data(), &options(), false).unwrap();
    assert!(inference.tensors.iter().all(|t| t.kind == TensorKind::Forward));
}
