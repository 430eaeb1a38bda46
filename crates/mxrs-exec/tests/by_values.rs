//! Tests operators whose output shapes depend on values: numbers of MXNet 1.9.1, recorded by `tests/mxnet/make_by_values.py`, calls
//! on arrays of several engines, graphs, and bad input.

mod common;

use common::{KINDS, Net, array, backward, grad, imperative, imperative_on, marked, options, recorded, values};
use mxrs_engine::EngineKind;
use mxrs_exec::{CachedOp, CachedOpFlags, Executor, Imperative, autograd};
use mxrs_graph::Symbol;
use mxrs_ndarray::NdArray;
use mxrs_op::{Attrs, elements};
use mxrs_types::{DType, Shape};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Tensor {
    shape: Vec<usize>,
    dtype: String,
    values: Vec<serde_json::Number>,
}

#[derive(Deserialize)]
struct Case {
    op: String,
    attrs: BTreeMap<String, String>,
    inputs: Vec<Tensor>,
    outputs: Vec<Tensor>,
    ograd: Option<Tensor>,
    gradient: Option<Tensor>,
}

#[derive(Deserialize)]
struct Recording {
    cases: Vec<Case>,
}

impl Tensor {
    fn dtype(&self) -> DType {
        self.dtype.parse().expect("a type of mxrs")
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.values.len() * self.dtype().size_of()];
        if self.dtype().is_float() {
            let numbers: Vec<f64> = self.values.iter().map(|v| v.as_f64().expect("a number")).collect();
            elements::write_f64(&numbers, self.dtype(), &mut bytes);
        } else {
            let numbers: Vec<i64> = self.values.iter().map(|v| v.as_i64().expect("an integer")).collect();
            elements::write_i64(&numbers, self.dtype(), &mut bytes);
        }
        bytes
    }

    fn array(&self, nd: &Imperative) -> NdArray {
        NdArray::from_bytes(nd.context(), Shape::from(self.shape.as_slice()), self.dtype(), &self.bytes()).unwrap()
    }

    fn check(&self, got: &NdArray, what: &str) {
        assert_eq!(*got.shape(), Shape::from(self.shape.as_slice()), "{what}");
        assert_eq!(got.dtype(), self.dtype(), "{what}");
        assert_eq!(got.read_bytes(<[u8]>::to_vec).unwrap(), self.bytes(), "{what}");
    }
}

fn cases() -> Vec<Case> {
    let recording: Recording = serde_json::from_str(include_str!("golden/by_values.json")).expect("a recording");
    recording.cases
}

#[test]
fn results_and_gradients_are_those_of_mxnet_on_every_engine() {
    assert_eq!(cases().len(), 43);
    for kind in KINDS {
        let nd = imperative_on(kind, 2, 1);
        for (i, case) in cases().iter().enumerate() {
            let what = format!("case {i}, {}", case.op);
            let attrs: Attrs = case.attrs.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
            let inputs: Vec<NdArray> = case.inputs.iter().map(|input| input.array(&nd)).collect();
            let inputs: Vec<&NdArray> = inputs.iter().collect();
            if let (Some(ograd), Some(expected)) = (&case.ograd, &case.gradient) {
                nd.attach_grad(inputs[0], mxrs_exec::GradReq::Write).unwrap();
                let outputs = recorded(|| nd.invoke(&case.op, &attrs, &inputs));
                let ograd = ograd.array(&nd);
                nd.backward(&[&outputs[0]], &[Some(&ograd)], Default::default()).unwrap();
                expected.check(&autograd::grad_of(inputs[0]).unwrap(), &what);
            }
            let outputs = nd.invoke(&case.op, &attrs, &inputs).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(outputs.len(), case.outputs.len(), "{what}");
            outputs.iter().zip(&case.outputs).for_each(|(got, expected)| expected.check(got, &what));
        }
    }
}

/// NumPy's rule for NaN; MXNet gives random results.
#[test]
fn all_nan_are_one_element_and_the_last() {
    let nd = imperative();
    let x = array(&nd, [5], &[f64::NAN, 1.0, -f64::NAN, f64::INFINITY, 1.0]);
    let attrs = Attrs::from([("return_counts", "1")]);
    let found = nd.invoke("_npi_unique", &attrs, &[&x]).unwrap();
    let numbers = values(&found[0]);
    assert_eq!(numbers[..2], [1.0, f64::INFINITY]);
    assert!(numbers.len() == 3 && numbers[2].is_nan(), "{numbers:?}");
    assert_eq!(found[1].to_vec::<i64>().unwrap(), [2, 1, 2]);
}

#[test]
fn a_gradient_flows_through_what_is_kept() {
    let nd = imperative();
    let x = marked(&nd, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let places = NdArray::from_slice(nd.context(), [2], &[0i64, -1]).unwrap();
    let y = recorded(|| {
        let kept = nd.invoke("_npi_delete", &Attrs::from([("axis", "1")]), &[&x, &places])?.remove(0);
        nd.invoke("square", &Attrs::new(), &[&kept])
    });
    backward(&nd, &y[0]);
    assert_eq!(values(&y[0]), [4.0, 25.0]);
    assert_eq!(grad(&x), [0.0, 4.0, 0.0, 0.0, 10.0, 0.0]);
}

#[test]
fn a_result_goes_to_an_array_of_its_shape_only() {
    let nd = imperative();
    let data = array(&nd, [3, 1], &[1.0, 2.0, 3.0]);
    let mask = array(&nd, [3], &[0.0, 1.0, 1.0]);
    let (fits, small) = (array(&nd, [2, 1], &[0.0; 2]), array(&nd, [1, 1], &[0.0]));
    nd.invoke_into("_contrib_boolean_mask", &Attrs::new(), &[&data, &mask], &[&fits]).unwrap();
    assert_eq!(values(&fits), [2.0, 3.0]);
    let error = nd.invoke_into("_contrib_boolean_mask", &Attrs::new(), &[&data, &mask], &[&small]).unwrap_err();
    assert!(error.to_string().contains("(2, 1)"), "{error}");
}

#[test]
fn bad_input_is_an_error_that_names_it() {
    let nd = imperative();
    let data = array(&nd, [3, 2], &[0.0; 6]);
    let [short, mask, matrix] = [array(&nd, [2], &[1.0; 2]), array(&nd, [3], &[1.0; 3]), array(&nd, [3, 1], &[1.0; 3])];
    let i32s = |values: &[i32]| NdArray::from_slice(nd.context(), [values.len()], values).unwrap();
    let far = NdArray::from_slice(nd.context(), [1], &[i64::MAX]).unwrap();
    let axis = Attrs::from([("axis", "1")]);
    let none = Attrs::new();
    for (op, attrs, inputs, expected) in [
        ("_contrib_boolean_mask", &none, vec![&data, &short], "index"),
        ("_contrib_boolean_mask", &none, vec![&data, &matrix], "index"),
        ("_contrib_boolean_mask", &axis, vec![&data, &mask], "axis"),
        ("_contrib_boolean_mask", &none, vec![&data], "number of inputs"),
        ("_npi_unique", &Attrs::from([("axis", "2")]), vec![&data], "axis"),
        ("_npi_bincount", &none, vec![&i32s(&[1, -1])], "no negative number"),
        ("_npi_bincount", &Attrs::from([("minlength", "-1")]), vec![&i32s(&[1])], "minlength"),
        ("_npi_bincount", &none, vec![&far], "below 1099511627776"),
        ("_npi_bincount", &none, vec![&mask], "float64"),
        ("_npi_delete", &Attrs::from([("int_ind", "3"), ("axis", "0")]), vec![&data], "int_ind"),
        ("_npi_delete", &Attrs::from([("step", "0"), ("axis", "0")]), vec![&data], "step"),
        // A companion checks its size against the values.
        ("_boolean_mask_rows", &Attrs::from([("size", "2")]), vec![&data, &mask], "3, as the values of the input give"),
        ("_nonzero_rows", &Attrs::from([("size", "-1")]), vec![&data], "size"),
    ] {
        let result = nd.invoke(op, attrs, &inputs).and_then(|made| made[0].wait_to_read());
        let error = result.expect_err(op).to_string();
        assert!(error.contains(expected), "{op}: {error}");
    }
}

/// A cached graph runs operator by operator; an executor refuses the graph, because it plans memory.
#[test]
fn cached_graphs_run_and_executors_refuse() {
    let mut net = Net::new();
    let (data, mask) = (Symbol::variable("data"), Symbol::variable("mask"));
    let kept = net.call("_contrib_boolean_mask", &[&data, &mask]);
    let doubled = net.call("elemwise_add", &[&kept, &kept]);
    let more = net.call("square", &[&doubled]);
    let graph = more.graph().unwrap();
    let nd = imperative();
    let flags = CachedOpFlags { static_alloc: true, ..CachedOpFlags::default() };
    let op = CachedOp::new(&nd, &graph, flags).unwrap();
    let x = marked(&nd, &[3, 1], &[1.0, 2.0, 3.0]);
    for (mask, expected, gradient) in
        [([1.0, 0.0, 1.0], vec![4.0, 36.0], [8.0, 0.0, 24.0]), ([0.0, 1.0, 0.0], vec![16.0], [0.0, 16.0, 0.0])]
    {
        let mask = array(&nd, [3], &mask);
        let y = recorded(|| op.call(&[&x, &mask]));
        backward(&nd, &y[0]);
        assert_eq!((values(&y[0]), grad(&x)), (expected, gradient.to_vec()));
    }
    let shapes = [("data", Shape::from([3, 1])), ("mask", Shape::from([3]))];
    let error = Executor::simple_bind(&graph, nd.context(), &shapes, &options()).err().unwrap().to_string();
    assert!(error.contains("_contrib_boolean_mask") && error.contains("cached graph"), "{error}");
}

/// Every shape and type gives a result or an error, and arrays without elements may have axes of any size.
#[test]
fn any_input_gives_a_result_or_an_error() {
    let nd = imperative_on(EngineKind::Naive, 1, 1);
    let types =
        [DType::F32, DType::F64, DType::F16, DType::BF16, DType::U8, DType::I8, DType::I32, DType::I64, DType::Bool];
    let huge = 1usize << 39;
    let shapes: [&[usize]; 9] = [&[], &[1], &[3], &[0], &[2, 3], &[0, 3], &[huge, 0], &[huge, 2, 0], &[2, 0, huge]];
    let (mut n_results, mut n_errors) = (0, 0);
    for (dtype, shape) in types.iter().flat_map(|dtype| shapes.map(|shape| (*dtype, shape))) {
        let shape = Shape::from(shape);
        let ones = vec![1u8; shape.n_elements() * dtype.size_of()];
        let x = NdArray::from_bytes(nd.context(), shape.clone(), dtype, &ones).unwrap();
        let mask = NdArray::from_slice(nd.context(), [3], &[1i64, 0, -1]).unwrap();
        for axis in ["None", "0", "1", "-1", "7"] {
            for (op, attrs, inputs) in [
                ("_contrib_boolean_mask", vec![], vec![&x, &mask]),
                ("_npx_nonzero", vec![], vec![&x]),
                ("_npi_unique", vec![("axis", axis), ("return_counts", "1")], vec![&x]),
                ("_npi_bincount", vec![("minlength", "2")], vec![&x]),
                ("_npi_delete", vec![("axis", axis), ("int_ind", "0")], vec![&x]),
                ("_npi_delete", vec![("axis", axis), ("step", "-2")], vec![&x]),
                ("_npi_delete", vec![("axis", axis)], vec![&x, &mask]),
                ("_unique_sized", vec![("axis", axis), ("size", "1099511627776")], vec![&x]),
                ("_boolean_mask_rows", vec![("size", "1099511627776")], vec![&x, &mask]),
                ("_nonzero_rows", vec![("size", "1099511627776")], vec![&x]),
                ("_delete_sized", vec![("axis", axis), ("step", "1"), ("size", "1099511627776")], vec![&x]),
            ] {
                // Ones in all bytes are large integers, whose counts would take terabytes.
                if op == "_npi_bincount" && dtype.size_of() > 1 {
                    continue;
                }
                let attrs: Attrs = attrs.into_iter().collect();
                match nd.invoke(op, &attrs, &inputs).and_then(|made| made[0].wait_to_read()) {
                    Ok(()) => n_results += 1,
                    Err(error) => {
                        n_errors += 1;
                        assert!(!error.to_string().contains("panic"), "{op} {attrs:?} of {dtype} {shape}: {error}");
                    }
                }
            }
        }
    }
    assert!(n_results > 500 && n_errors > 500, "{n_results} results, {n_errors} errors");
}
