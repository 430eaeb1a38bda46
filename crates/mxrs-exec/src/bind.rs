//! Shapes, types and arrays of every variable, before lowering.

use crate::device::{device_of, expect_device};
use crate::lower::Bound;
use crate::options::BindOptions;
use crate::pool::{Arrays, Role};
use indexmap::IndexMap;
use mxrs_graph::{Graph, NodeId, infer_dtypes, infer_shapes};
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Error, ErrorKind, PartialShape, Result, Shape};
use rustc_hash::FxHashMap;

/// What to do with variables that are neither inputs nor given parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Allocate zeros (`simple_bind`).
    Allocate,
    /// Return an error. Labels are exempt, because no operator reads them at inference.
    Refuse,
}

/// Shape and element type of every entry of a graph.
#[derive(Clone, Debug)]
pub struct Known {
    pub shapes: Vec<Shape>,
    pub dtypes: Vec<DType>,
}

/// A variable whose shape and type are given: name, shape, type.
pub type Given<'a> = (&'a str, &'a Shape, DType);

/// The variables of a graph with their arrays, and the shapes and types of all entries.
pub struct Variables {
    pub known: Known,
    /// Bound arrays in graph order, with names.
    pub arrays: Vec<(String, NdArray)>,
    pub bound: FxHashMap<NodeId, Bound>,
}

/// The shapes that are known before shape inference: those of the inputs, of the options and of the given variables.
pub fn seeds<'a>(
    inputs: &'a [(&'a str, Shape)],
    given: &'a [Given<'a>],
    options: &'a BindOptions,
) -> Vec<(&'a str, PartialShape)> {
    let seeds = inputs.iter().map(|(name, shape)| (*name, PartialShape::from(shape)));
    let seeds = seeds.chain(options.shapes.iter().map(|(name, shape)| (name.as_str(), PartialShape::from(shape))));
    seeds.chain(given.iter().map(|(name, shape, _)| (*name, PartialShape::from(*shape)))).collect()
}

/// The parameters that the graph has, with their shapes and types.
pub fn given<'a>(graph: &Graph, params: &'a IndexMap<String, NdArray>) -> Vec<Given<'a>> {
    let is_variable = |name: &str| graph.find(name).is_some_and(|id| graph.node(id).is_variable());
    let present = params.iter().filter(|(name, _)| is_variable(name));
    present.map(|(name, array)| (name.as_str(), array.shape(), array.dtype())).collect()
}

/// Infers the shapes and types of all entries from those of the inputs and of the given variables.
///
/// # Errors
/// Returns an error if a name is unknown, if shapes or types contradict each other, or if some shape stays unknown.
pub fn known(graph: &Graph, inputs: &[(&str, Shape)], given: &[Given<'_>], options: &BindOptions) -> Result<Known> {
    let shapes = infer_shapes(graph, seeds(inputs, given, options))?.complete(graph)?;
    let dtypes = options.dtypes.iter().map(|(name, dtype)| (name.as_str(), *dtype));
    let dtypes = dtypes.chain(given.iter().map(|(name, _, dtype)| (*name, *dtype)));
    let dtypes = infer_dtypes(graph, dtypes, Some(options.default_dtype))?.complete(graph)?;
    Ok(Known { shapes, dtypes })
}

/// Infers shapes and types and gives every variable an array.
///
/// # Errors
/// Returns the errors of [`known`], and an error if a parameter is missing or on another device, or memory runs out.
pub fn variables(
    graph: &Graph,
    from: &Arrays,
    inputs: &[(&str, Shape)],
    params: &IndexMap<String, NdArray>,
    missing: Missing,
    options: &BindOptions,
) -> Result<Variables> {
    let known = known(graph, inputs, &given(graph, params), options)?;

    let mut arrays = Vec::new();
    let mut bound = FxHashMap::default();
    let mut absent = Vec::new();
    for &id in graph.variables() {
        let name = &graph.node(id).name;
        let entry = graph.output_id(id, 0).index();
        let is_input = inputs.iter().any(|(input, _)| input == name);
        let is_constant = !is_input && !graph.is_label(id);
        let device = device_of(graph.node(id), options);
        let role = if is_constant { Role::Parameter } else { Role::PerShape };
        let array = match params.get(name) {
            Some(array) if !is_input => {
                expect_device(array, device, || format!("argument `{name}`"))?;
                from.give(role, name, array);
                array.clone()
            }
            _ if is_constant && missing == Missing::Refuse => {
                absent.push(name.clone());
                continue;
            }
            _ => from.get(role, name, (&known.shapes[entry], known.dtypes[entry]), device)?,
        };
        bound.insert(id, Bound { index: arrays.len(), is_constant });
        arrays.push((name.clone(), array));
    }
    if !absent.is_empty() {
        return Err(Error::new(ErrorKind::InvalidValue {
            what: "parameters".into(),
            got: format!("nothing for {}", absent.join(", ")),
            expected: "an array for every argument and auxiliary state".into(),
        }));
    }
    Ok(Variables { known, arrays, bound })
}

/// Infers the shapes and types of a training graph from those of its variables. Names in `given` that the graph lacks are
/// ignored: a pass may have removed a variable that no gradient needs.
///
/// # Errors
/// Returns an error if shapes or types contradict each other, or if some shape stays unknown.
pub fn infer(graph: &Graph, given: &[(String, Shape, DType)], options: &BindOptions) -> Result<Known> {
    let is_variable = |name: &str| graph.find(name).is_some_and(|id| graph.node(id).is_variable());
    let present = given.iter().filter(|(name, ..)| is_variable(name));
    let given: Vec<Given<'_>> = present.map(|(name, shape, dtype)| (name.as_str(), shape, *dtype)).collect();
    known(graph, &[], &given, &BindOptions { dtypes: Vec::new(), shapes: Vec::new(), ..options.clone() })
}
