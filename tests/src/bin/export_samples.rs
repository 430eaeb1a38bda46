//! Writes the samples of every operator as ONNX models of one node, with inputs and the reference kernel's output.
//!
//! `cargo run -p mxrs-tests --bin export_samples -- DIR`; then `tests/onnx/compare.py DIR`. Prints the samples that ONNX
//! cannot express. Also writes two checkpoints of the digits data set, with one batch each.

use mxrs::format::{AlignedBytes, ArrayFile, Tensor, onnx};
use mxrs::graph::{Entry, Graph, GraphBuilder, infer_dtypes, infer_shapes};
use mxrs::onnx::{ExportOptions, export};
use mxrs::op::{Attrs, OpDef, RefInput, RefOutput, RunMode, Sample, TensorDesc};
use mxrs::types::{DType, Error, ErrorKind, Result, Shape};
use mxrs::{Model, Runtime};
use mxrs_testkit::{AlignedBuffer, Seeded, fill_input};
use std::path::Path;
use std::sync::Arc;

const DTYPE: DType = DType::F32;
const DIGITS: [&str; 2] = ["lenet", "resnet8"];

/// A graph of one call. Its inputs are variables with the operator's names for them.
fn one_call(op: &Arc<OpDef>, sample: &Sample) -> Result<(Graph, Vec<String>)> {
    let names = op.input_names(&op.parse(&sample.attrs)?);
    let mut builder = GraphBuilder::new();
    let inputs = names.iter().map(|name| Entry::new(builder.add_variable(name.to_string(), Attrs::new()), 0)).collect();
    let node = builder.add_op(op, "call", sample.attrs.clone(), inputs)?;
    builder.set_heads(vec![Entry::new(node, 0)]);
    Ok((builder.build()?, names.iter().map(ToString::to_string).collect()))
}

/// Runs the reference kernel and returns its first output.
fn reference(
    op: &OpDef,
    sample: &Sample,
    inputs: &[(TensorDesc, AlignedBuffer)],
    outputs: &[TensorDesc],
) -> Result<AlignedBuffer> {
    let run = op.reference.ok_or_else(|| Error::not_built(op.name, "no reference kernel"))?;
    let given: Vec<RefInput<'_>> = inputs.iter().map(|(desc, data)| RefInput { desc, bytes: data.bytes() }).collect();
    let mut buffers: Vec<AlignedBuffer> = outputs.iter().map(|desc| AlignedBuffer::zeroed(desc.size_bytes())).collect();
    let mut taken: Vec<RefOutput<'_>> =
        outputs.iter().zip(&mut buffers).map(|(desc, buffer)| RefOutput { desc, bytes: buffer.bytes_mut() }).collect();
    run(&op.parse(&sample.attrs)?, &given, &mut taken, RunMode { is_train: false, random: None })?;
    Ok(buffers.swap_remove(0))
}

fn tensor(desc: &TensorDesc, data: &AlignedBuffer) -> Result<Tensor> {
    Tensor::dense(desc.dtype, desc.shape.clone(), AlignedBytes::copy_of(data.bytes()))
}

/// Writes a sample; returns false if ONNX cannot express it. Inputs with a fixed type other than float32 become constants of
/// the model.
fn write_sample(op: &Arc<OpDef>, sample: &Sample, dir: &Path) -> Result<bool> {
    let (graph, names) = one_call(op, sample)?;
    let given = || names.iter().zip(&sample.inputs).map(|(name, input)| (name.as_str(), input));
    let shapes = given().map(|(name, input)| (name, input.shape.clone().into()));
    let shapes = infer_shapes(&graph, shapes)?.complete(&graph)?;
    let dtypes = given().map(|(name, input)| (name, input.dtype.unwrap_or(DTYPE)));
    let dtypes = infer_dtypes(&graph, dtypes, Some(DTYPE))?.complete(&graph)?;
    let desc = |entry: usize| TensorDesc::dense(shapes[entry].clone(), dtypes[entry]);
    let mut seed = Seeded::from_text(sample.name);
    let (mut inputs, mut fed, mut arrays, mut constants) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (name, input) in given() {
        let id = graph.find(name).ok_or_else(|| Error::invalid("input", name, "a variable"))?;
        let desc = desc(graph.output_id(id, 0).index());
        let data = fill_input(input, desc.dtype, &mut seed);
        let array = (name.to_owned(), tensor(&desc, &data)?);
        if desc.dtype == DTYPE {
            fed.push((name, desc.shape.clone()));
            arrays.push(array);
        } else {
            constants.push(array);
        }
        inputs.push((desc, data));
    }
    let model = match export(&graph, constants, &ExportOptions::new(fed)) {
        Ok(model) => model,
        Err(error) if matches!(error.kind(), ErrorKind::NotBuilt { .. }) => {
            println!("refused: {} {}: {error}", op.name, sample.name);
            return Ok(false);
        }
        Err(error) => return Err(error),
    };
    let head = graph.heads()[0];
    if dtypes[graph.entry_id(head).index()] == DType::BF16 {
        // NumPy, which the comparison uses, has no bfloat16.
        return Ok(true);
    }
    let outputs: Vec<TensorDesc> = graph.output_ids(head.node).map(|entry| desc(entry.index())).collect();
    arrays.push(("output".to_owned(), tensor(&outputs[0], &reference(op, sample, &inputs, &outputs)?)?));
    let file = format!("{}.{}", op.name, sample.name);
    onnx::save(dir.join(format!("{file}.onnx")), &model)?;
    ArrayFile::named(arrays).save_npz(dir.join(format!("{file}.npz")))?;
    Ok(true)
}

/// Writes a checkpoint of the digits data set as an ONNX model with a variable batch size. Also writes one batch of inputs
/// with the model's output.
fn write_checkpoint(runtime: &Runtime, name: &str, dir: &Path) -> Result<()> {
    let model = Model::load(runtime, mxrs_tests::digits(name), 10)?;
    let mut params = Vec::new();
    for (name, array) in model.params() {
        params.push((name.clone(), Tensor::from_slice(array.shape().clone(), &array.to_vec::<f32>()?)?));
    }
    let shape = Shape::from([3, 1, 28, 28]);
    let input: Vec<f32> = (0..shape.n_elements()).map(|i| (i % 29) as f32 / 29.0).collect();
    let output = &model.bind(&[("data", shape.clone())])?;
    let output = &output.forward(&[("data", &input)])?[0];
    let output = Tensor::from_slice(output.shape().clone(), &output.to_vec::<f32>()?)?;
    let arrays = [("output".to_owned(), output), ("data".to_owned(), Tensor::from_slice(shape, &input)?)];
    let options =
        ExportOptions { has_dynamic_batch: true, ..ExportOptions::new([("data", Shape::from([1, 1, 28, 28]))]) };
    onnx::save(dir.join(format!("digits-{name}.onnx")), &export(model.graph(), params, &options)?)?;
    ArrayFile::named(arrays).save_npz(dir.join(format!("digits-{name}.npz")))
}

fn main() -> Result<()> {
    let dir = std::env::args().nth(1).ok_or_else(|| Error::invalid("arguments", "none", "DIR"))?;
    let dir = Path::new(&dir);
    std::fs::create_dir_all(dir).map_err(|e| Error::io(dir, &e))?;
    let (mut written, mut refused) = (0, 0);
    for op in mxrs::ops::catalog().iter() {
        for sample in (op.samples)().iter().filter(|sample| !sample.is_train) {
            let count = if write_sample(op, sample, dir)? { &mut written } else { &mut refused };
            *count += 1;
        }
    }
    let runtime = Runtime::from_env()?;
    DIGITS.iter().try_for_each(|name| write_checkpoint(&runtime, name, dir))?;
    println!(
        "{written} samples and {} checkpoints written to {}, {refused} samples refused",
        DIGITS.len(),
        dir.display()
    );
    Ok(())
}
