//! Operators of ONNX whose import takes several calls. The expected numbers are those of the examples in ONNX's specification, or
//! NumPy's.

mod common;

use common::{array, model, node, run, tensor};
use mxrs_format::onnx::{self, AttributeProto, ValueInfoProto};
use mxrs_onnx::{ImportOptions, import_with};
use mxrs_types::{DType, Shape};

/// An array: element type, shape and elements.
type Array<'a> = (DType, &'a [usize], &'a [f64]);

/// Imports a node and compares its output, once with inputs that the user feeds and once with constants.
#[track_caller]
fn check(op: &str, opset: i64, attributes: &[AttributeProto], inputs: &[Array<'_>], expected: Array<'_>) {
    let names: Vec<String> = (0..inputs.len()).map(|i| format!("x{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for is_fed in [true, false] {
        let nodes = vec![node(op, &names, &["y"], attributes.to_vec())];
        let all = || names.iter().zip(inputs);
        let model = match is_fed {
            true => {
                let value = |(name, (dtype, shape, _)): (&&str, &Array<'_>)| {
                    ValueInfoProto::of(*name, *dtype, &Shape::from(*shape))
                };
                model(opset, all().map(value).collect(), [], nodes)
            }
            false => {
                let constant = |(name, (dtype, shape, values)): (&&str, &Array<'_>)| {
                    (name.to_string(), tensor(*dtype, shape, values))
                };
                model(opset, Vec::new(), all().map(constant), nodes)
            }
        };
        let imported = import_with(&model, &ImportOptions::default()).unwrap_or_else(|e| panic!("{op} {is_fed}: {e}"));
        let fed = all().map(|(name, (dtype, shape, values))| (name.to_string(), array(*dtype, shape, values)));
        let outputs = run(&imported, fed.filter(|_| is_fed));
        let (desc, values) = &outputs[0];
        assert_eq!((desc.dtype, &desc.shape[..], &values[..]), expected, "{op} {is_fed}");
    }
}

fn range(n: u8) -> Vec<f64> {
    (0..n).map(f64::from).collect()
}

const F32: DType = DType::F32;
const I64: DType = DType::I64;

#[test]
fn gather_elements() {
    let axis = |axis| [AttributeProto::int("axis", axis)];
    let matrix: &[f64] = &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
    check(
        "GatherElements",
        13,
        &axis(1),
        &[(F32, &[2, 2], &matrix[..4]), (I64, &[2, 2], &[0.0, 0.0, 1.0, 0.0])],
        (F32, &[2, 2], &[1.0, 1.0, 4.0, 3.0]),
    );
    for (dtype, indices, expected) in [
        (I64, [1.0, 2.0, 0.0, 2.0, 0.0, 0.0], [4.0, 8.0, 3.0, 7.0, 2.0, 3.0]),
        (DType::I32, [-1.0, -2.0, 0.0, -2.0, 0.0, 0.0], [7.0, 5.0, 3.0, 4.0, 2.0, 3.0]),
    ] {
        let inputs: [Array<'_>; 2] = [(F32, &[3, 3], matrix), (dtype, &[2, 3], &indices)];
        check("GatherElements", 11, &[], &inputs, (F32, &[2, 3], &expected));
    }
    // The indices have fewer places than the data on the other axes.
    let data = range(24);
    let indices = [2.0, 0.0, -1.0, 1.0, 1.0, 0.0, 0.0, -3.0, 2.0, 2.0, 2.0, -2.0];
    let expected = [8.0, 1.0, 10.0, 4.0, 5.0, 2.0, 12.0, 13.0, 22.0, 20.0, 21.0, 18.0];
    let inputs: [Array<'_>; 2] = [(F32, &[2, 3, 4], &data), (I64, &[2, 2, 3], &indices)];
    check("GatherElements", 13, &axis(-2), &inputs, (F32, &[2, 2, 3], &expected));
    let inputs: [Array<'_>; 2] = [(I64, &[2, 3, 4], &data), (I64, &[1, 3, 1], &[-1.0, 0.0, 3.0])];
    check("GatherElements", 13, &axis(2), &inputs, (I64, &[1, 3, 1], &[3.0, 4.0, 11.0]));
    let inputs: [Array<'_>; 2] = [(F32, &[3], &matrix[..3]), (I64, &[4], &[2.0, -3.0, 0.0, -1.0])];
    check("GatherElements", 13, &[], &inputs, (F32, &[4], &[3.0, 1.0, 1.0, 3.0]));
}

#[test]
fn scatter_nd() {
    let data: &[f64] = &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let indices: Array<'_> = (I64, &[4, 1], &[4.0, 3.0, 1.0, 7.0]);
    let expected: Array<'_> = (F32, &[8], &[1.0, 11.0, 3.0, 10.0, 9.0, 6.0, 7.0, 12.0]);
    let inputs: [Array<'_>; 3] = [(F32, &[8], data), indices, (F32, &[4], &[9.0, 10.0, 11.0, 12.0])];
    check("ScatterND", 11, &[], &inputs, expected);
    check("ScatterND", 16, &[AttributeProto::text("reduction", "none")], &inputs, expected);
    // Two updates of one element are added.
    let twice: Array<'_> = (I64, &[3, 1], &[4.0, 3.0, 4.0]);
    let inputs: [Array<'_>; 3] = [(F32, &[8], data), twice, (F32, &[3], &[9.0, 10.0, 11.0])];
    let sums: Array<'_> = (F32, &[8], &[1.0, 2.0, 3.0, 14.0, 25.0, 6.0, 7.0, 8.0]);
    check("ScatterND", 18, &[AttributeProto::text("reduction", "add")], &inputs, sums);
    // Rows of a tensor, at points of two coordinates.
    let data = range(12);
    let points: Array<'_> = (I64, &[2, 1, 2], &[1.0, 2.0, 0.0, -1.0]);
    let inputs: [Array<'_>; 3] = [(F32, &[2, 3, 2], &data), points, (F32, &[2, 1, 2], &[-1.0, -2.0, -3.0, -4.0])];
    let expected = [0.0, 1.0, 2.0, 3.0, -3.0, -4.0, 6.0, 7.0, 8.0, 9.0, -1.0, -2.0];
    check("ScatterND", 13, &[], &inputs, (F32, &[2, 3, 2], &expected));
}

#[test]
fn reverse_sequence() {
    let axes = |batch, time| [AttributeProto::int("batch_axis", batch), AttributeProto::int("time_axis", time)];
    let by_time = [0.0, 4.0, 8.0, 12.0, 1.0, 5.0, 9.0, 13.0, 2.0, 6.0, 10.0, 14.0, 3.0, 7.0, 11.0, 15.0];
    let inputs: [Array<'_>; 2] = [(F32, &[4, 4], &by_time), (I64, &[4], &[4.0, 3.0, 2.0, 1.0])];
    let expected = [3.0, 6.0, 9.0, 12.0, 2.0, 5.0, 8.0, 13.0, 1.0, 4.0, 10.0, 14.0, 0.0, 7.0, 11.0, 15.0];
    check("ReverseSequence", 10, &axes(1, 0), &inputs, (F32, &[4, 4], &expected));
    check("ReverseSequence", 10, &[], &inputs, (F32, &[4, 4], &expected));
    let by_batch = range(16);
    let inputs: [Array<'_>; 2] = [(F32, &[4, 4], &by_batch), (I64, &[4], &[1.0, 2.0, 3.0, 4.0])];
    let expected = [0.0, 1.0, 2.0, 3.0, 5.0, 4.0, 6.0, 7.0, 10.0, 9.0, 8.0, 11.0, 15.0, 14.0, 13.0, 12.0];
    check("ReverseSequence", 10, &axes(0, 1), &inputs, (F32, &[4, 4], &expected));
}

#[test]
fn einsum() {
    let equation = |text: &str| [AttributeProto::text("equation", text)];
    let (six, twelve, eighteen) = (range(6), range(12), range(18));
    let two = [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0];
    let product: [Array<'_>; 2] = [(F32, &[2, 2, 3], &twelve), (F32, &[2, 3, 1], &two)];
    check("Einsum", 12, &equation("bij, bjk -> bik"), &product, (F32, &[2, 2, 1], &[-1.0, -10.0, 44.0, 62.0]));
    let cubes: [Array<'_>; 1] = [(F32, &[2, 3, 3], &eighteen)];
    check("Einsum", 12, &equation("...ii ->...i"), &cubes, (F32, &[2, 3], &[0.0, 4.0, 8.0, 9.0, 13.0, 17.0]));
    let matrix: [Array<'_>; 1] = [(F32, &[2, 3], &six)];
    check("Einsum", 12, &equation("ij->i"), &matrix, (F32, &[2], &[3.0, 12.0]));
    check("Einsum", 12, &equation("ba"), &matrix, (F32, &[3, 2], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]));
    let vectors: [Array<'_>; 2] = [(F32, &[3], &[1.0, 2.0, 3.0]), (F32, &[3], &[4.0, 5.0, 6.0])];
    check("Einsum", 21, &equation("i,i"), &vectors, (F32, &[], &[32.0]));
}

#[test]
fn eye_like() {
    let ints = |k, dtype: i64| [AttributeProto::int("k", k), AttributeProto::int("dtype", dtype)];
    let zeros = [0.0; 20];
    let above = (0..20).map(|i| f64::from(u8::from(i / 5 + 1 == i % 5))).collect::<Vec<f64>>();
    check("EyeLike", 9, &ints(1, 1), &[(DType::I32, &[4, 5], &zeros)], (F32, &[4, 5], &above));
    let below = [0.0, 0.0, 1.0, 0.0, 0.0, 1.0];
    // Without `dtype` the type is that of the input.
    let k = [AttributeProto::int("k", -1)];
    check("EyeLike", 9, &k, &[(DType::I32, &[3, 2], &zeros[..6])], (DType::I32, &[3, 2], &below));
    check("EyeLike", 9, &ints(-1, 9), &[(F32, &[3, 2], &zeros[..6])], (DType::Bool, &[3, 2], &below));
}

#[test]
fn squeeze() {
    let axes = |axes: &[i64]| [AttributeProto::ints("axes", axes.iter().copied())];
    let one: [Array<'_>; 1] = [(F32, &[1, 1], &[5.0])];
    // Without axes, the result is a scalar.
    check("Squeeze", 13, &[], &one, (F32, &[], &[5.0]));
    check("Squeeze", 11, &axes(&[0, -1]), &one, (F32, &[], &[5.0]));
    check("Squeeze", 11, &axes(&[0]), &one, (F32, &[1], &[5.0]));
    let row: [Array<'_>; 1] = [(F32, &[1, 2, 1], &[5.0, 6.0])];
    check("Squeeze", 13, &[], &row, (F32, &[2], &[5.0, 6.0]));
}

/// A constant that a node defines may have the name that the import would give to another one.
#[test]
fn constants_with_names_of_nodes_stay_apart() {
    let value = onnx::from_tensor("value", tensor(F32, &[2], &[10.0, 20.0])).unwrap();
    let nodes = vec![
        node("Neg", &["k"], &["n"], vec![]),
        node("Constant", &[], &["Neg_node_1"], vec![AttributeProto::tensor("value", value)]),
        node("Add", &["n", "Neg_node_1"], &["y"], vec![]),
    ];
    let constants = [("k".to_owned(), tensor(F32, &[2], &[1.0, 2.0]))];
    let imported = import_with(&model(13, Vec::new(), constants, nodes), &ImportOptions::default()).unwrap();
    assert_eq!(run(&imported, [])[0].1, [9.0, 18.0]);
}

#[test]
fn integers_to_a_fractional_power_are_refused() {
    let x = ValueInfoProto::of("x", I64, &Shape::from([2]));
    let half = ("half".to_owned(), tensor(F32, &[], &[0.5]));
    let power = node("Pow", &["x", "half"], &["y"], vec![]);
    let error = import_with(&model(15, vec![x], [half], vec![power]), &ImportOptions::default()).unwrap_err();
    assert!(error.to_string().contains("integers to the power of 0.5"), "{error}");
}

#[test]
fn cast_like() {
    let data: Array<'_> = (F32, &[3], &[1.9, -2.7, 0.0]);
    check("CastLike", 15, &[], &[data, (I64, &[1], &[7.0])], (I64, &[3], &[1.0, -2.0, 0.0]));
    let saturate = [AttributeProto::int("saturate", 1)];
    check("CastLike", 19, &saturate, &[data, (DType::Bool, &[1], &[1.0])], (DType::Bool, &[3], &[1.0, 1.0, 0.0]));
}

#[test]
fn what_these_operators_cannot_do_is_refused() {
    let refused = |op: &str, attribute: Vec<AttributeProto>, shapes: &[(DType, &[usize])], words: &str| {
        let names = ["x0", "x1", "x2"];
        let value = |(name, (dtype, shape)): (&&str, &(DType, &[usize]))| {
            ValueInfoProto::of(*name, *dtype, &Shape::from(*shape))
        };
        let inputs: Vec<ValueInfoProto> = names.iter().zip(shapes).map(value).collect();
        let node = node(op, &names[..shapes.len()], &["y"], attribute);
        let error = import_with(&model(18, inputs, [], vec![node]), &ImportOptions::default()).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains(op), "{op}: {error}");
    };
    let matrix: (DType, &[usize]) = (F32, &[2, 3]);
    refused(
        "GatherElements",
        vec![],
        &[matrix, (I64, &[2, 4])],
        "indices of shape (2, 4) for an input of shape (2, 3)",
    );
    refused("GatherElements", vec![], &[matrix, (I64, &[2])], "indices of shape (2,)");
    refused("GatherElements", vec![AttributeProto::int("axis", 2)], &[matrix, (I64, &[2, 3])], "axis 2");
    let scatter: [(DType, &[usize]); 3] = [matrix, (I64, &[1, 1]), (F32, &[1, 3])];
    refused("ScatterND", vec![AttributeProto::text("reduction", "mul")], &scatter, "`mul`");
    let axes = vec![AttributeProto::int("batch_axis", 2), AttributeProto::int("time_axis", 0)];
    refused("ReverseSequence", axes, &[(F32, &[2, 3, 4]), (I64, &[4])], "batch_axis 2 with time_axis 0");
    refused("EyeLike", vec![], &[(F32, &[2, 3, 4])], "not a matrix");
    refused("Einsum", vec![], &[matrix], "no equation");
    refused("Einsum", vec![AttributeProto::text("equation", "ij,jk")], &[matrix], "terms");
}
