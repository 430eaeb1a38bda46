//! Checks that no written array overlaps another bound array: kernels take `&mut` to the memory they write.

use crate::bind::Variables;
use crate::gradients::BoundGradient;
use mxrs_graph::{Graph, NodeId};
use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result};
use rustc_hash::FxHashSet;

/// One array of an executor, with its name and whether it is written.
struct Place<'a> {
    name: String,
    array: &'a NdArray,
    is_written: bool,
}

impl Place<'_> {
    fn begin(&self) -> usize {
        self.array.as_ptr().addr()
    }

    fn end(&self) -> usize {
        self.begin().saturating_add(self.array.size_bytes())
    }
}

/// Checks the arrays of a graph's variables, gradients and outputs. Two arrays may overlap only if neither is written.
///
/// # Errors
/// Returns an error that names both arrays if two arrays share a byte and at least one of them is written. Gradients, and
/// variables that an operator rewrites, count as written. Also returns an error if a call takes one variable as two inputs
/// and rewrites one of these inputs.
pub fn check_aliases(
    graph: &Graph,
    variables: &Variables,
    gradients: &[BoundGradient],
    outputs: &[NdArray],
) -> Result<()> {
    let rewritten = rewritten(graph)?;
    if rewritten.is_empty() && gradients.is_empty() {
        return Ok(());
    }
    let is_rewritten = |name: &str| graph.find(name).is_some_and(|id| rewritten.contains(&id));
    let variables = variables.arrays.iter().map(|(name, array)| Place {
        name: name.clone(),
        array,
        is_written: is_rewritten(name),
    });
    let gradients = gradients.iter().map(|gradient| Place {
        name: format!("gradient of {}", gradient.name),
        array: &gradient.array,
        is_written: true,
    });
    let outputs =
        outputs.iter().enumerate().map(|(i, array)| Place { name: format!("output {i}"), array, is_written: false });
    let mut places: Vec<Place<'_>> = variables.chain(gradients).chain(outputs).collect();
    places.retain(|place| place.array.size_bytes() > 0);
    places.sort_by_key(Place::begin);
    // Of the arrays that begin before `place`: the one that ends last, and the written one that ends last.
    let (mut last, mut last_written): (Option<&Place<'_>>, Option<&Place<'_>>) = (None, None);
    for place in &places {
        let before = if place.is_written { last } else { last_written };
        if let Some(before) = before.filter(|before| before.end() > place.begin()) {
            let (written, other) = if place.is_written { (place, before) } else { (before, place) };
            return Err(refusal(&written.name, &other.name));
        }
        let later = |last: Option<&Place<'_>>| last.is_none_or(|last| place.end() > last.end());
        if later(last) {
            last = Some(place);
        }
        if place.is_written && later(last_written) {
            last_written = Some(place);
        }
    }
    Ok(())
}

/// The variables of the graph that at least one call rewrites.
fn rewritten(graph: &Graph) -> Result<FxHashSet<NodeId>> {
    let mut found = FxHashSet::default();
    for node in graph.nodes() {
        let Some((op, params)) = node.call() else { continue };
        for is_train in [true, false] {
            for &position in (op.rewrites)(params, is_train) {
                let Some(input) = node.inputs.get(position) else { continue };
                if !graph.node(input.node).is_variable() {
                    continue;
                }
                if node.inputs.iter().filter(|other| other.node == input.node).count() > 1 {
                    let name = &graph.node(input.node).name;
                    return Err(refusal(name, name));
                }
                found.insert(input.node);
            }
        }
    }
    Ok(found)
}

fn refusal(written: &str, other: &str) -> Error {
    Error::invalid(
        format!("arrays of `{written}` and `{other}`"),
        "memory that overlaps",
        format!("separate memory, because an operator writes `{written}`: give each an array of its own"),
    )
}
