//! Tests of mixed precision: each operator gets the types that it requests, and nothing else changes.

use super::autocast;
use crate::test_ops::norm;
use crate::{Entry, GradientRequest, Graph, GraphBuilder, NodeId, gradient, infer_dtypes};
use mxrs_op::{Attrs, GradValue, Gradient, GradientScope, InputNames, OpDef, OpParams, OpSet, Precision, op_params};
use mxrs_types::{DType, Error, Result};
use proptest::prelude::*;
use rustc_hash::FxHashSet;

op_params! {
    /// Parameters of `amp_cast`.
    pub struct CastParams for "amp_cast" {
        /// The type of the output.
        dtype: String,
    }
}

const HALF: DType = DType::BF16;

fn of_two(name: &'static str, inputs: &'static [&'static str], precision: fn(&OpParams) -> Precision) -> OpDef {
    OpDef { inputs: InputNames::Fixed(inputs), dtypes: &[DType::F32, HALF], precision, ..OpDef::new(name) }
}

/// Infers the output type of `SumLike`, whose inputs are an output gradient and `like`. The output has the type of `like`,
/// which is either that of the output gradient or float32.
fn sum_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    outputs[0] = inputs[1].or(inputs[0]);
    match (inputs[0], inputs[1]) {
        (Some(a), Some(b)) if a != b && b != DType::F32 => Err(Error::dtype("operator", "like", a.name(), b.name())),
        _ => Ok(()),
    }
}

fn grad_product(_: &OpParams, s: &mut dyn GradientScope) -> Result<Vec<Option<GradValue>>> {
    let (g, data, weight) = (s.out_grad(0)?, s.input(0), s.input(1));
    Ok(vec![Some(s.call_one("SumLike", &[g, data])?), Some(s.call_one("SumLike", &[g, weight])?)])
}

/// `Product` runs in half precision, `Follow` and `Norm` accept any type, `Sum` uses the widest, `Loss` uses float32.
fn set() -> OpSet {
    let cast = OpDef {
        infer_dtype: |params, inputs, outputs| {
            outputs[0] = inputs[0].map(|_| params.get::<CastParams>().dtype.parse()).transpose()?;
            Ok(())
        },
        gradient: Gradient::By(|_, s| {
            let (g, data) = (s.out_grad(0)?, s.input(0));
            Ok(vec![Some(s.call_one("_backward_cast", &[g, data])?)])
        }),
        ..OpDef::new("amp_cast").params::<CastParams>()
    };
    let cast_back = OpDef {
        inputs: InputNames::Fixed(&["ograd", "data"]),
        ignored_inputs: &[1],
        infer_dtype: |_, inputs, outputs| {
            outputs[0] = inputs[1];
            Ok(())
        },
        ..OpDef::new("_backward_cast")
    };
    let sum_like = OpDef {
        ignored_inputs: &[1],
        infer_dtype: sum_dtype,
        ..of_two("SumLike", &["ograd", "like"], |_| Precision::Float32)
    };
    let product =
        OpDef { gradient: Gradient::By(grad_product), ..of_two("Product", &["data", "weight"], Precision::short) };
    let norm = OpDef {
        dtypes: &[DType::F32, HALF],
        precision: Precision::follows,
        infer_dtype: |_, inputs, outputs| {
            outputs[0] = inputs[0];
            inputs[1..].iter_mut().chain(&mut outputs[1..]).for_each(|t| *t = Some(DType::F32));
            Ok(())
        },
        ..(*norm()).clone()
    };
    OpSet::new([
        cast,
        cast_back,
        sum_like,
        product,
        norm,
        of_two("Sum", &["lhs", "rhs"], Precision::widest),
        of_two("Follow", &["data"], Precision::follows),
        of_two("Loss", &["data"], Precision::float32),
    ])
    .unwrap()
}

/// Builds a graph of calls, each given as (kind, first input, second input). Inputs are earlier entries; the last `n_heads`
/// calls are heads.
fn net(ops: &OpSet, calls: &[(u8, u16, u16)], n_heads: usize) -> Graph {
    let mut b = GraphBuilder::new();
    let mut made = vec![b.add_variable("data", Attrs::new())];
    let out = |node: NodeId| Entry::new(node, 0);
    for (i, (kind, first, second)) in calls.iter().enumerate() {
        let at = |n: u16| out(made[n as usize % made.len()]);
        let (first, second) = (at(*first), at(*second));
        let mut variable = |what: &str| out(b.add_variable(format!("{what}{i}"), Attrs::new()));
        let (op, inputs) = match kind % 5 {
            0 => ("Product", vec![first, variable("weight")]),
            1 => ("Follow", vec![first]),
            2 => ("Sum", vec![first, second]),
            3 => ("Norm", vec![first, variable("gamma"), variable("mean"), variable("var")]),
            _ => ("Loss", vec![first]),
        };
        made.push(b.add_op(ops.get(op).unwrap(), format!("n{i}"), Attrs::new(), inputs).unwrap());
    }
    b.set_heads(made[made.len() - n_heads..].iter().map(|node| out(*node)).collect());
    b.build().unwrap()
}

fn types(graph: &Graph) -> Vec<DType> {
    let given = graph.variables().iter().map(|id| (graph.node(*id).name.as_str(), DType::F32));
    infer_dtypes(graph, given, None).unwrap().complete(graph).unwrap()
}

/// If a conversion made `entry`, looks through the conversion. Returns the node name and output index of the unconverted
/// entry.
fn behind(graph: &Graph, entry: Entry) -> (String, u32) {
    let node = graph.node(entry.node);
    match node.op_name() {
        "amp_cast" => behind(graph, node.inputs[0]),
        _ => (node.name.clone(), entry.index),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn types_are_what_operators_ask_for(calls in prop::collection::vec(any::<(u8, u16, u16)>(), 1..24)) {
        let ops = set();
        let old = net(&ops, &calls, calls.len());
        let new = autocast(&old, &ops, HALF).unwrap();
        let dtypes = types(&new);
        let of = |entry: &Entry| dtypes[new.entry_id(*entry).index()];
        for (_, node) in new.iter() {
            let inputs: Vec<DType> = node.inputs.iter().map(of).collect();
            match node.op_name() {
                "Product" => prop_assert_eq!(inputs, [HALF, HALF]),
                "Loss" => prop_assert_eq!(inputs, [DType::F32]),
                "Norm" => prop_assert_eq!(&inputs[1..], [DType::F32; 3]),
                // No conversion has equal types, or undoes another.
                "amp_cast" => {
                    prop_assert_ne!(inputs[0], of(&Entry::new(new.find(&node.name).unwrap(), 0)));
                    prop_assert_ne!(new.node(node.inputs[0].node).op_name(), "amp_cast");
                }
                _ => {}
            }
        }
        // Heads and variables stay in float32, and auxiliary states are read unconverted.
        prop_assert!(new.heads().iter().all(|head| of(head) == DType::F32));
        let aux = new.aux_states().all(|id| new.consumers(new.output_id(id, 0)).iter().all(|(node, _)| new.node(*node).op_name() == "Norm"));
        prop_assert!(aux);
        // Without the conversions, the new graph equals the old one.
        let calls = |graph: &Graph| -> Vec<(String, Vec<(String, u32)>)> {
            let calls = graph.iter().filter(|(_, node)| node.op_name() != "amp_cast");
            let one = |(_, node): (NodeId, &crate::Node)| {
                (node.name.clone(), node.inputs.iter().map(|entry| behind(graph, *entry)).collect())
            };
            calls.map(one).collect()
        };
        prop_assert_eq!(calls(&old), calls(&new));
        // Each value is converted to a type at most once.
        let casts = || new.nodes().iter().filter(|node| node.op_name() == "amp_cast");
        let once: FxHashSet<_> = casts().map(|node| (node.inputs[0], node.attrs.get("dtype"))).collect();
        prop_assert_eq!(casts().count(), once.len());
        // A converted graph stays unchanged.
        prop_assert_eq!(autocast(&new, &ops, HALF).unwrap().n_nodes(), new.n_nodes());
    }
}

/// Builds a graph of `calls` with [`net`], and returns the names of the conversions that `autocast` inserts.
fn casts(calls: &[(u8, u16, u16)]) -> Vec<String> {
    let ops = set();
    let graph = autocast(&net(&ops, calls, calls.len()), &ops, HALF).unwrap();
    graph.iter().filter(|(_, node)| node.op_name() == "amp_cast").map(|(_, node)| node.name.clone()).collect()
}

#[test]
fn casts_stand_where_types_change() {
    // A product, a call that accepts any type, and a loss, which needs float32.
    let expected = ["data_amp_cast_bfloat16", "weight0_amp_cast_bfloat16", "n1_output_amp_cast_float32"];
    assert_eq!(casts(&[(0, 0, 0), (1, 1, 0), (4, 2, 0)])[..3], expected);
    // Without a product, nothing is converted.
    assert!(casts(&[(1, 0, 0), (2, 0, 1), (4, 1, 0)]).is_empty());
    // A sum of a half-precision result and a float32 value is in float32.
    let mixed = casts(&[(0, 0, 0), (4, 0, 0), (2, 1, 2)]);
    assert_eq!(mixed, ["data_amp_cast_bfloat16", "weight0_amp_cast_bfloat16", "n0_output_amp_cast_float32"]);
}

#[test]
fn gradients_of_weights_leave_their_sums_in_float32() {
    let ops = set();
    // The second product reads the result of the first; both weights are variables in float32.
    let forward = autocast(&net(&ops, &[(0, 0, 0), (0, 1, 0)], 1), &ops, HALF).unwrap();
    let dtypes = types(&forward);
    let wanted: Vec<Entry> = ["weight0", "weight1"].map(|name| Entry::new(forward.find(name).unwrap(), 0)).into();
    let training = gradient(&forward, &ops, &GradientRequest::new(wanted).head_variables()).unwrap();
    let wide = training.wide_sums(&dtypes).unwrap();
    let backward = |graph: &Graph, op: &str| graph.nodes().iter().filter(|node| node.op_name() == op).count();
    assert_eq!(backward(&training.graph, "_backward_cast") - backward(&wide.graph, "_backward_cast"), 2);
    for head in wide.gradients() {
        let node = wide.graph.node(head.node);
        assert_eq!((node.op_name(), wide.graph.node(node.inputs[1].node).is_variable()), ("SumLike", true));
    }
    assert_eq!(wide.n_forward_nodes, training.n_forward_nodes);
}
