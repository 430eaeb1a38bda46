//! Runs a graph operator by operator. Each call is recorded on its own if recording is on.

use crate::imperative::Imperative;
use crate::imperative::invoke::Asked;
use crate::imperative::signature::Operand;
use mxrs_graph::Graph;
use mxrs_ndarray::{NdArray, RandomCalls};
use mxrs_op::Attrs;
use mxrs_types::{Error, Result, ResultExt};
use std::panic::Location;

/// The outputs of `graph` on these arrays, one per variable. If `repeats` is given, the run draws the random numbers of
/// that earlier run and rewrites nothing.
///
/// # Errors
/// Returns the error of the first call that fails, with the name of its node.
pub fn replay(
    imperative: &Imperative,
    graph: &Graph,
    inputs: &[NdArray],
    repeats: Option<RandomCalls>,
    site: &'static Location<'static>,
) -> Result<Vec<NdArray>> {
    let mut entries: Vec<Option<NdArray>> = vec![None; graph.n_entries()];
    for (id, array) in graph.variables().iter().zip(inputs) {
        entries[graph.output_id(*id, 0).index()] = Some(array.clone());
    }
    // Number of readers that have not run, heads included: an array is dropped after the last one.
    let mut n_readers: Vec<usize> = vec![0; graph.n_entries()];
    let reads =
        graph.iter().flat_map(|(id, _)| graph.input_ids(id)).chain(graph.heads().iter().map(|h| graph.entry_id(*h)));
    reads.for_each(|entry| n_readers[entry.index()] += 1);
    let missing = || Error::invalid("a cached graph", "a tensor that no operator made", "one output per entry");
    let mut repeats = repeats;
    for (id, node) in graph.iter() {
        let Some((op, params)) = node.call() else { continue };
        let arrays: Option<Vec<&NdArray>> = graph.input_ids(id).map(|e| entries[e.index()].as_ref()).collect();
        let arrays = arrays.ok_or_else(missing)?;
        let operands: Vec<Operand<'_>> = arrays.iter().map(|array| Operand::Array(array)).collect();
        let is_read = |e: mxrs_graph::EntryId| {
            !graph.consumers(e).is_empty() || graph.heads().iter().any(|head| graph.entry_id(*head) == e)
        };
        let with_hidden = graph.output_ids(id).skip(node.n_visible).any(is_read);
        let device = inputs.first().map(NdArray::device);
        let asked = Asked { op: op.name, attrs: &node.attrs, with_hidden, device, repeats: repeats.map(Some), site };
        let made = imperative.make(&asked, &operands).context(|| format!("running node `{}`", node.name))?;
        for entry in graph.input_ids(id) {
            n_readers[entry.index()] -= 1;
            if n_readers[entry.index()] == 0 {
                entries[entry.index()] = None;
            }
        }
        for (entry, array) in graph.output_ids(id).zip(made.outputs) {
            entries[entry.index()] = (n_readers[entry.index()] > 0).then_some(array);
        }
        // The lowered program numbers its random calls in the order of the nodes. Each random node takes the next number
        // here too, so that both draw the same random numbers.
        let is_train = crate::imperative::flags::is_training();
        if let Some(random) = &mut repeats
            && (op.is_random)(params, is_train)
        {
            random.first = random.first.wrapping_add(1);
        }
    }
    let mut outputs = Vec::with_capacity(graph.heads().len());
    for (i, head) in graph.heads().iter().enumerate() {
        let array = entries[graph.entry_id(*head).index()].clone().ok_or_else(missing)?;
        // Each output is a separate array: an output that is an input, or that is listed twice, is copied.
        let is_shared = graph.node(head.node).is_variable() || graph.heads()[..i].contains(head);
        outputs.push(if is_shared {
            imperative.invoke("_copy", &Attrs::new(), &[&array])?.swap_remove(0)
        } else {
            array
        });
    }
    Ok(outputs)
}
