//! Tests of inference: G6 soundness, G7 monotonicity, G8 independence of order; and that errors about conflicts and unknown
//! shapes name the node.

use super::fixpoint::Visits;
use super::infer_dtype::{infer_dtypes, infer_dtypes_by};
use super::infer_shape::{infer_shapes, infer_shapes_by};
use crate::{Entry, Graph, GraphBuilder, NameManager, NodeId, Symbol, SymbolCall, test_ops as ops};
use mxrs_op::Attrs;
use mxrs_types::{DType, ErrorKind, PartialShape, Shape};
use proptest::prelude::*;

const ORDERS: [Visits; 3] = [Visits::Forward, Visits::Backward, Visits::Newest];

/// A random network over `data` `[7, 5]`, with the expected shape of each node recorded while it is built.
fn random_net(choices: &[(u8, u16, u16)]) -> (Graph, Vec<Shape>) {
    let mut b = GraphBuilder::new();
    let mut shapes = vec![Shape::from([7, 5])];
    let mut made = vec![b.add_variable("data", Attrs::new())];
    let out = |node: NodeId| Entry::new(node, 0);
    for (i, (kind, first, second)) in choices.iter().enumerate() {
        let at = *first as usize % made.len();
        let (from, shape) = (made[at], shapes[at].clone());
        let name = format!("n{i}");
        let (node, shape) = match kind % 4 {
            0 => (b.add_op(&ops::relu(), name, Attrs::new(), vec![out(from)]).unwrap(), shape),
            1 => {
                // A variable whose shape follows only from the other operand.
                let other = b.add_variable(format!("v{i}"), Attrs::new());
                (b.add_op(&ops::add(), name, Attrs::new(), vec![out(other), out(from)]).unwrap(), shape)
            }
            2 => {
                let equal: Vec<usize> = (0..made.len()).filter(|j| shapes[*j] == shape).collect();
                let other = made[equal[*second as usize % equal.len()]];
                (b.add_op(&ops::add(), name, Attrs::new(), vec![out(from), out(other)]).unwrap(), shape)
            }
            _ => {
                let hidden = 1 + *second as usize % 6;
                let attrs = Attrs::from([("num_hidden", hidden.to_string().as_str())]);
                let weight = b.add_variable(format!("w{i}"), Attrs::new());
                let bias = b.add_variable(format!("b{i}"), Attrs::new());
                let inputs = vec![out(from), out(weight), out(bias)];
                (b.add_op(&ops::dense(), name, attrs, inputs).unwrap(), Shape::from([shape[0], hidden]))
            }
        };
        made.push(node);
        shapes.push(shape);
    }
    // Every node is a head, so that the builder keeps their order and drops none.
    b.set_heads(made.iter().map(|n| out(*n)).collect());
    (b.build().unwrap(), shapes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn g6_g7_g8_hold(choices in prop::collection::vec(any::<(u8, u16, u16)>(), 1..40), extra in any::<u16>()) {
        let (graph, truth) = random_net(&choices);
        let data = || ("data", PartialShape::from(Shape::from([7, 5])));
        let found = infer_shapes(&graph, [data()]).unwrap();
        // G6: the inferred shapes equal the expected shapes.
        let complete = found.complete(&graph).unwrap();
        for (head, shape) in graph.heads().iter().zip(&truth) {
            prop_assert_eq!(&complete[graph.entry_id(*head).index()], shape);
        }
        for order in ORDERS {
            // G8: the order of visits does not change the result.
            prop_assert_eq!(&infer_shapes_by(&graph, [data()], order).unwrap(), &found);
        }
        // G7: if only one variable is known, the inferred shapes do not contradict the complete ones. If `data` is known
        // too, shapes only become better known.
        let some = graph.variables()[extra as usize % graph.variables().len()];
        let entry = graph.output_id(some, 0);
        let given = (graph.node(some).name.as_str(), found.entry(entry).clone());
        let less = infer_shapes(&graph, [given.clone()]).unwrap();
        let more = if given.0 == "data" { less.clone() } else { infer_shapes(&graph, [given, data()]).unwrap() };
        for (less, more) in less.entries().iter().zip(more.entries()) {
            let mut merged = more.clone();
            prop_assert_eq!(merged.merge(less), Ok(false));
        }
        prop_assert_eq!(more.complete(&graph).unwrap(), complete);
        // Every operator of these networks needs equal types, so the type of one variable determines the types of all
        // entries connected to it.
        let types = infer_dtypes(&graph, [("data", DType::F16)], None).unwrap();
        prop_assert!(types.complete(&graph).unwrap().iter().all(|t| *t == DType::F16));
        for order in ORDERS {
            prop_assert_eq!(&infer_dtypes_by(&graph, [("data", DType::F16)], None, order).unwrap(), &types);
        }
    }
}

fn dense_net(data: Symbol) -> Symbol {
    let mut names = NameManager::new();
    let fc = SymbolCall::new(&ops::dense()).name("fc").attr("num_hidden", 3).input(&data);
    fc.build(&mut names).unwrap()
}

#[test]
fn shapes_flow_from_outputs_to_inputs() {
    let mut names = NameManager::new();
    let fc = dense_net(Symbol::variable("data"));
    let other = Symbol::variable("other");
    let sum = SymbolCall::new(&ops::add()).input(&fc).input(&other).build(&mut names).unwrap();
    let graph = sum.graph().unwrap();
    let given = [("other", PartialShape::new([Some(9), None])), ("fc_weight", PartialShape::new([None, Some(4)]))];
    let shapes = infer_shapes(&graph, given).unwrap();
    let of = |name: &str| shapes.known(graph.output_id(graph.find(name).unwrap(), 0));
    assert_eq!(of("data"), Some(Shape::from([9, 4])));
    assert_eq!(of("fc_weight"), Some(Shape::from([3, 4])));
    assert_eq!(of("other"), Some(Shape::from([9, 3])));
}

#[test]
fn shape_attributes_are_read_and_overridden() {
    let infer = |text: &str, given: Option<[usize; 2]>| {
        let data = Symbol::variable_with("data", Attrs::from([("__shape__", text)]));
        let graph = dense_net(data).graph().unwrap();
        let given = given.map(|s| ("data", Shape::from(s).into()));
        infer_shapes(&graph, given).map(|s| s.entry(graph.output_id(graph.find("fc").unwrap(), 0)).to_string())
    };
    assert_eq!(infer("(2, 4)", None).unwrap(), "(2, 3)");
    assert_eq!(infer("(0, 4)", None).unwrap(), "(?, 3)");
    assert_eq!(infer("(-1, 4)", None).unwrap(), "(?, 3)");
    assert_eq!(infer("(2, 4)", Some([5, 6])).unwrap(), "(5, 3)");
    assert_eq!(infer("None", None).unwrap(), "(?, 3)");
    assert!(infer("(2, -3)", None).unwrap_err().to_string().contains("`__shape__` of variable `data`"));
    assert!(infer("two", None).is_err());
    // A size that the caller leaves open comes from the attribute `__shape__`, even if the caller overrides another size.
    let data = Symbol::variable_with("data", Attrs::from([("__shape__", "(2, 4)")]));
    let graph = dense_net(data).graph().unwrap();
    let shapes = infer_shapes(&graph, [("data", PartialShape::new([Some(8), None]))]).unwrap();
    assert_eq!(shapes.known(graph.output_id(graph.find("data").unwrap(), 0)), Some(Shape::from([8, 4])));
}

#[test]
fn failures_name_node_and_shapes() {
    let graph = dense_net(Symbol::variable("data")).graph().unwrap();
    let shape = |dims: [usize; 2]| PartialShape::from(Shape::from(dims));
    let conflict = [("data", shape([2, 4])), ("fc_weight", shape([3, 5]))];
    let error = infer_shapes(&graph, conflict).unwrap_err().to_string();
    for words in ["Dense", "`fc`", "data (2, 4)", "fc_weight (3, 5)", "fc_bias"] {
        assert!(error.contains(words), "{error}: {words}");
    }
    let error = infer_shapes(&graph, [("date", shape([2, 4]))]).unwrap_err().to_string();
    assert!(error.contains("`date`") && error.contains("data, fc_weight, fc_bias"), "{error}");
    // The operator's parameters alone determine the shape of the bias, but not those of data and weight.
    let error = infer_shapes(&graph, []).unwrap().complete(&graph).unwrap_err();
    let expected = ErrorKind::Unresolved { names: vec!["data".into(), "fc_weight".into()], what: "shape" };
    assert_eq!(error.kind(), &expected);
    let error = infer_dtypes(&graph, [("data", DType::F32), ("fc_bias", DType::F64)], None).unwrap_err().to_string();
    assert!(error.contains("Dense") && error.contains("`fc`") && error.contains("float64"), "{error}");
}

#[test]
fn types_come_from_flags_and_the_default() {
    let typed = Symbol::variable_with("data", Attrs::from([("__dtype__", "2")]));
    let graph = dense_net(typed).graph().unwrap();
    let types = infer_dtypes(&graph, [], Some(DType::F32)).unwrap();
    assert!(types.complete(&graph).unwrap().iter().all(|t| *t == DType::F16));
    let graph = dense_net(Symbol::variable("data")).graph().unwrap();
    assert!(infer_dtypes(&graph, [], None).unwrap().complete(&graph).is_err());
    let types = infer_dtypes(&graph, [], Some(DType::F32)).unwrap();
    assert!(types.complete(&graph).unwrap().iter().all(|t| *t == DType::F32));
    let wrong = Symbol::variable_with("data", Attrs::from([("__dtype__", "float32")]));
    assert!(infer_dtypes(&dense_net(wrong).graph().unwrap(), [], None).is_err());
}
