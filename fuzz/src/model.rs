//! Random ONNX models: a random graph is exported, then a few attributes, sizes, names and operators are changed.

use crate::attributes::integer;
use crate::graph::random_graph;
use arbitrary::{Result, Unstructured};
use indexmap::IndexMap;
use mxrs_format::onnx::ModelProto;
use mxrs_format::{AlignedBytes, Tensor};
use mxrs_onnx::{ExportOptions, export, imported_operators};
use mxrs_op::OpDef;
use std::sync::Arc;

/// A random model; `None` if the random graph cannot be expressed in ONNX.
///
/// # Errors
/// Fails if `from` has no more bytes.
pub fn random_model(ops: &[Arc<OpDef>], most: usize, from: &mut Unstructured<'_>) -> Result<Option<ModelProto>> {
    let Some(random) = random_graph(ops, most, from)? else { return Ok(None) };
    let Some((input, shape, dtype)) = random.variables.first().cloned() else { return Ok(None) };
    let mut params = IndexMap::new();
    for (name, shape, dtype) in &random.variables[1..] {
        let mut bytes = AlignedBytes::zeroed(shape.n_elements() * dtype.size_of());
        from.fill_buffer(&mut bytes)?;
        let Ok(tensor) = Tensor::dense(*dtype, shape.clone(), bytes) else { return Ok(None) };
        params.insert(name.clone(), tensor);
    }
    let options = ExportOptions { dtype, ..ExportOptions::new([(input, shape)]) };
    let Ok(mut model) = export(&random.graph, params, &options) else { return Ok(None) };
    for _ in 0..*from.choose(&[0, 1, 1, 2, 3])? {
        change(&mut model, from)?;
    }
    Ok(Some(model))
}

/// Makes one random change to a model.
fn change(model: &mut ModelProto, from: &mut Unstructured<'_>) -> Result<()> {
    let Some(graph) = &mut model.graph else { return Ok(()) };
    if graph.node.is_empty() {
        return Ok(());
    }
    let at = from.int_in_range(0..=graph.node.len() - 1)?;
    let names: Vec<String> = graph.node.iter().flat_map(|node| node.output.clone()).collect();
    let node = &mut graph.node[at];
    match from.int_in_range(0..=7)? {
        0..=3 if !node.attribute.is_empty() => {
            let attribute = from.int_in_range(0..=node.attribute.len() - 1)?;
            let attribute = &mut node.attribute[attribute];
            if !attribute.ints.is_empty() {
                let item = from.int_in_range(0..=attribute.ints.len() - 1)?;
                match from.int_in_range(0..=5)? {
                    0 => drop(attribute.ints.pop()),
                    1 => attribute.ints.push(integer(from)?),
                    _ => attribute.ints[item] = integer(from)?,
                }
            } else if attribute.i.is_some() {
                attribute.i = Some(integer(from)?);
            } else {
                attribute.f = Some(f32::from_bits(from.arbitrary()?));
            }
        }
        4 => node.op_type = (*from.choose(&imported_operators().collect::<Vec<_>>())?).to_owned(),
        5 if !node.input.is_empty() => {
            let input = from.int_in_range(0..=node.input.len() - 1)?;
            node.input[input] = from.choose(&names)?.clone();
        }
        6 if !graph.initializer.is_empty() => {
            let array = from.int_in_range(0..=graph.initializer.len() - 1)?;
            let array = &mut graph.initializer[array];
            match from.int_in_range(0..=2)? {
                0 => array.dims.push(integer(from)?),
                1 => drop(array.dims.pop()),
                _ => array.data_type = from.int_in_range(0..=16)?,
            }
        }
        _ if !node.attribute.is_empty() => drop(node.attribute.pop()),
        _ => {}
    }
    Ok(())
}
