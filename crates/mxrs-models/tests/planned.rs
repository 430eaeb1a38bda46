//! Tests the memory plans of the benchmark networks at inference, computed from the graphs alone, without layouts and
//! scratch memory.

use mxrs_graph::{EntryId, EntryKind, MemoryPlan, PlanEntry, PlanOptions, PlanStep, infer_shapes, plan_memory};
use mxrs_models::{BENCHMARK_NETWORKS, ModelOptions, model};
use mxrs_op::View;
use mxrs_types::{Device, Shape};

const BATCH: usize = 32;

fn plan(network: &str, options: &PlanOptions) -> MemoryPlan {
    let model = model(network, &ModelOptions::default()).unwrap();
    let graph = model.symbol.graph().unwrap();
    let [c, h, w] = model.image;
    let given = [("data", Shape::from([BATCH, c, h, w]).into())];
    let shapes = infer_shapes(&graph, given).unwrap().complete(&graph).unwrap();
    let mut entries: Vec<PlanEntry> = shapes
        .iter()
        .map(|s| PlanEntry { size_bytes: 4 * s.n_elements(), device: Device::cpu(0), kind: EntryKind::Planned })
        .collect();
    let mut steps = Vec::new();
    for (id, node) in graph.iter() {
        let Some((op, params)) = node.call() else {
            entries[graph.output_id(id, 0).index()].kind = EntryKind::External;
            continue;
        };
        steps.push(PlanStep {
            inputs: graph.input_ids(id).collect(),
            outputs: graph.output_ids(id).collect(),
            inplace: op.inplace.to_vec(),
            identity: if (op.view)(params, false) == View::No { vec![] } else { vec![(0, 0)] },
            ignored_inputs: op.ignored_at_inference.to_vec(),
            scratch_bytes: 0,
        });
    }
    let heads: Vec<EntryId> = graph.heads().iter().map(|e| graph.entry_id(*e)).collect();
    plan_memory(&steps, &entries, &heads, options).unwrap()
}

#[test]
fn offsets_reach_the_bound_or_nearly_and_beat_the_pool() {
    for network in BENCHMARK_NETWORKS {
        let default = plan(network, &PlanOptions::default()).report;
        let pool = plan(network, &PlanOptions { match_range: Some(16), ..PlanOptions::default() }).report;
        assert!(default.bytes < pool.bytes, "{network}: {default}");
        assert!(default.bytes * 8 <= default.lower_bound_bytes * 9, "{network}: {default}");
        assert!(default.bytes * 2 < default.unshared_bytes, "{network}: {default}");
    }
}

#[test]
fn resnet_50_without_in_place_reuse_by_hand() {
    let off = PlanOptions { enable_inplace: false, ..PlanOptions::default() };
    let report = plan("resnet-50", &off).report;
    // The most memory is needed in a unit of the first stage: the residual is kept while two more tensors of the same size,
    // 32 x 256 x 56 x 56 floats, are read and written.
    assert_eq!(report.lower_bound_bytes, 3 * 4 * BATCH * 256 * 56 * 56);
    assert_eq!(report.bytes, report.lower_bound_bytes);
}
