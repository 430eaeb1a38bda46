//! Random graphs of the catalog's operators. Most calls start from a sample of their operator with a few attributes changed.
//! Their inputs are results of earlier calls, or new variables whose shapes follow from the call.

use crate::attributes;
use crate::{MULTIPLY_ADDS, TENSOR_BYTES};
use arbitrary::{Result, Unstructured};
use mxrs_graph::{Entry, Graph, GraphBuilder};
use mxrs_op::{Attrs, OpCall, OpDef, OpParams, Sample, TensorDesc};
use mxrs_types::{DType, PartialShape, Shape};
use std::sync::Arc;

/// A graph, with the shapes and types of its variables.
pub struct RandomGraph {
    /// The graph.
    pub graph: Graph,
    /// Shape and element type of each variable, by name.
    pub variables: Vec<(String, Shape, DType)>,
}

/// An entry whose shape and element type are known.
struct Known {
    entry: Entry,
    shape: Shape,
    dtype: DType,
}

/// A graph under construction.
struct Growing<'a> {
    ops: &'a [Arc<OpDef>],
    builder: GraphBuilder,
    known: Vec<Known>,
    variables: Vec<(String, Shape, DType)>,
    calls: Vec<Entry>,
}

/// An input of a call under construction.
enum Input {
    /// A result of an earlier call, or a variable.
    Existing(usize),
    /// A new variable.
    New,
}

/// A random graph of at most `most` calls of `ops`; `None` if no call could be added.
///
/// # Errors
/// Fails if `from` has no more bytes.
pub fn random_graph(ops: &[Arc<OpDef>], most: usize, from: &mut Unstructured<'_>) -> Result<Option<RandomGraph>> {
    let mut growing =
        Growing { ops, builder: GraphBuilder::new(), known: Vec::new(), variables: Vec::new(), calls: Vec::new() };
    for _ in 0..from.int_in_range(1..=most)? {
        growing.grow(from)?;
    }
    let Growing { mut builder, calls, variables, .. } = growing;
    let Some(last) = calls.last() else { return Ok(None) };
    let mut heads = vec![*last];
    if from.ratio(1, 4)? {
        heads.push(*from.choose(&calls)?);
    }
    builder.set_heads(heads);
    Ok(builder.build().ok().map(|graph| RandomGraph { graph, variables }))
}

impl Growing<'_> {
    /// Adds a random call if inference accepts it.
    fn grow(&mut self, from: &mut Unstructured<'_>) -> Result<()> {
        let op = Arc::clone(from.choose(self.ops)?);
        let samples = (op.samples)();
        let sample = if samples.is_empty() { None } else { Some(from.choose(&samples)?) };
        let mut attrs = sample.map(|sample| sample.attrs.clone()).unwrap_or_default();
        if !op.param_specs.is_empty() {
            for _ in 0..*from.choose(&[0, 0, 1, 1, 1, 2, 3])? {
                let spec = from.choose(&op.param_specs)?;
                attrs.set(spec.name, attributes::text(spec, from)?);
            }
        }
        let Ok(params) = op.parse(&attrs) else { return Ok(()) };
        let n_inputs = op.n_inputs(&params);
        let n_outputs = op.n_outputs.get(&params);
        if n_inputs > 16 || n_outputs > 16 {
            return Ok(());
        }
        let inputs = (0..n_inputs).map(|i| self.input(i, from)).collect::<Result<Vec<_>>>()?;
        let is_train = sample.is_some_and(|sample| sample.is_train);
        let Some((shapes, outputs)) = self.shapes(&op, &params, sample, &inputs, n_outputs, from)? else {
            return Ok(());
        };
        let Some((dtypes, output_dtypes)) = self.dtypes(&op, &params, sample, &inputs, n_outputs, from)? else {
            return Ok(());
        };
        let describe = |(shape, dtype): (&Shape, &DType)| TensorDesc::dense(shape.clone(), *dtype);
        let ins: Vec<TensorDesc> = shapes.iter().zip(&dtypes).map(describe).collect();
        let outs: Vec<TensorDesc> = outputs.iter().zip(&output_dtypes).map(describe).collect();
        if ins.iter().chain(&outs).any(|desc| desc.size_bytes() > TENSOR_BYTES) {
            return Ok(());
        }
        let is_constant = vec![false; ins.len()];
        let call =
            OpCall { op: &op, params: &params, inputs: &ins, outputs: &outs, is_constant: &is_constant, is_train };
        if (op.multiply_adds)(&call) > MULTIPLY_ADDS {
            return Ok(());
        }
        let mut entries = Vec::new();
        for (input, desc) in inputs.iter().zip(ins) {
            entries.push(match input {
                Input::Existing(at) => self.known[*at].entry,
                Input::New => self.variable(desc),
            });
        }
        let name = format!("call{}", self.calls.len());
        let Ok(node) = self.builder.add_op(&op, name, attrs, entries) else { return Ok(()) };
        let n_visible = op.n_visible.get(&params).min(n_outputs);
        for (i, desc) in outs.into_iter().take(n_visible).enumerate() {
            let entry = Entry::new(node, i as u32);
            self.known.push(Known { entry, shape: desc.shape, dtype: desc.dtype });
            self.calls.push(entry);
        }
        Ok(())
    }

    fn variable(&mut self, desc: TensorDesc) -> Entry {
        let name = format!("v{}", self.variables.len());
        let entry = Entry::new(self.builder.add_variable(name.clone(), Attrs::new()), 0);
        self.variables.push((name, desc.shape.clone(), desc.dtype));
        self.known.push(Known { entry, shape: desc.shape, dtype: desc.dtype });
        entry
    }

    /// Chooses an input. The first input of a call is usually an earlier result, the other inputs rarely.
    fn input(&self, position: usize, from: &mut Unstructured<'_>) -> Result<Input> {
        let chance = if position == 0 { 7 } else { 2 };
        if self.known.is_empty() || !from.ratio(chance, 8)? {
            return Ok(Input::New);
        }
        let last = self.known.len() - 1;
        Ok(Input::Existing(if from.ratio(1, 2)? { last } else { from.int_in_range(0..=last)? }))
    }

    /// Shapes of inputs and outputs, if inference finds them.
    fn shapes(
        &self,
        op: &OpDef,
        params: &OpParams,
        sample: Option<&Sample>,
        inputs: &[Input],
        n_outputs: usize,
        from: &mut Unstructured<'_>,
    ) -> Result<Option<(Vec<Shape>, Vec<Shape>)>> {
        let mut shapes = Vec::new();
        for (i, input) in inputs.iter().enumerate() {
            shapes.push(match input {
                Input::Existing(at) => PartialShape::from(&self.known[*at].shape),
                Input::New if i > 0 && from.ratio(3, 4)? => PartialShape::unknown(),
                Input::New => PartialShape::from(&shape(sample, i, from)?),
            });
        }
        let mut outputs = vec![PartialShape::unknown(); n_outputs];
        for attempt in 0..2 {
            for _ in 0..3 {
                if op.infer_shapes(params, &mut shapes, &mut outputs).is_err() {
                    return Ok(None);
                }
            }
            if attempt == 0 {
                for (i, partial) in shapes.iter_mut().enumerate().filter(|(_, shape)| !shape.is_known()) {
                    let guess = PartialShape::from(&shape(sample, i, from)?);
                    if partial.merge(&guess).is_err() {
                        return Ok(None);
                    }
                }
            }
        }
        let known = |shapes: Vec<PartialShape>| shapes.iter().map(PartialShape::known).collect::<Option<Vec<_>>>();
        Ok(known(shapes).zip(known(outputs)))
    }

    /// Element types of inputs and outputs, if inference finds them.
    fn dtypes(
        &self,
        op: &OpDef,
        params: &OpParams,
        sample: Option<&Sample>,
        inputs: &[Input],
        n_outputs: usize,
        from: &mut Unstructured<'_>,
    ) -> Result<Option<(Vec<DType>, Vec<DType>)>> {
        let mut dtypes = Vec::new();
        for (i, input) in inputs.iter().enumerate() {
            let fixed = sample.and_then(|sample| sample.inputs.get(i)?.dtype);
            dtypes.push(match input {
                Input::Existing(at) => Some(self.known[*at].dtype),
                Input::New if fixed.is_some() => fixed,
                Input::New if i == 0 && from.ratio(1, 4)? => Some(*from.choose(op.dtypes)?),
                Input::New if i == 0 => Some(DType::F32),
                Input::New => None,
            });
        }
        let mut outputs = vec![None; n_outputs];
        for attempt in 0..2 {
            for _ in 0..3 {
                if op.infer_dtypes(params, &mut dtypes, &mut outputs).is_err() {
                    return Ok(None);
                }
            }
            if attempt == 0 {
                dtypes.iter_mut().for_each(|dtype| *dtype = dtype.or(Some(DType::F32)));
            }
        }
        let known = |dtypes: Vec<Option<DType>>| dtypes.into_iter().collect::<Option<Vec<_>>>();
        Ok(known(dtypes).zip(known(outputs)))
    }
}

/// The shape of the sample's input, perhaps with one size changed, or a random small shape.
fn shape(sample: Option<&Sample>, input: usize, from: &mut Unstructured<'_>) -> Result<Shape> {
    if let Some(input) = sample.and_then(|sample| sample.inputs.get(input))
        && from.ratio(7, 8)?
    {
        let mut shape = input.shape.clone();
        if shape.ndim() > 0 && from.ratio(1, 3)? {
            let axis = from.int_in_range(0..=shape.ndim() - 1)?;
            shape.dims_mut()[axis] = from.int_in_range(0..=33)?;
        }
        return Ok(shape);
    }
    let n = from.int_in_range(0..=5)?;
    (0..n).map(|_| from.int_in_range(0..=9)).collect()
}

