//! Inference of shapes.

use super::fixpoint::{Attribute, Inferred, Visits, given_entry, require_known, run};
use crate::{EntryId, Graph};
use mxrs_op::param::{Field, ShapeAttr};
use mxrs_op::{OpDef, OpParams};
use mxrs_types::{Error, ErrorKind, PartialShape, Result, ResultExt, Shape};

impl Attribute for PartialShape {
    const WHAT: &'static str = "shape";

    fn is_known(&self) -> bool {
        self.is_known()
    }
    fn learn(&mut self, other: &Self) -> Result<bool, ()> {
        self.merge(other)
    }
    fn text(&self) -> String {
        self.to_string()
    }
    fn unknown() -> Self {
        Self::unknown()
    }
    fn row(&self) -> Self {
        match self.dims() {
            Some([_]) => Self::new([Some(1)]),
            _ => self.unstacked(),
        }
    }
    fn of_rows(row: &Self, tensor: &Self) -> Self {
        let is_flat = row.ndim() == Some(1) && row.dim(0).is_none_or(|size| size == 1);
        match tensor.ndim() {
            Some(1) => Self::of_rank(1),
            // One row of shape (1,) does not say whether the tensor has one axis or two: a row of a tensor with one axis
            // also has the shape (1,).
            None if is_flat => Self::unknown(),
            _ => row.stacked(None),
        }
    }
    fn stacked(&self, n: Option<usize>) -> Self {
        self.dims().map_or_else(Self::unknown, |dims| Self::new(std::iter::once(n).chain(dims.iter().copied())))
    }
    fn unstacked(&self) -> Self {
        self.dims().map_or_else(Self::unknown, |dims| Self::new(dims.iter().skip(1).copied()))
    }
    fn n_rows(&self) -> Result<Option<usize>, ()> {
        if self.ndim() == Some(0) { Err(()) } else { Ok(self.dim(0)) }
    }
    fn may_be_one_element(&self) -> bool {
        self.known().is_none_or(|shape| shape.checked_n_elements().is_ok_and(|n| n == 1))
    }
    fn check(&self) -> Result<()> {
        self.known().map_or(Ok(()), |shape| shape.checked_n_elements().map(drop))
    }
    fn infer(op: &OpDef, params: &OpParams, inputs: &mut [Self], outputs: &mut [Self]) -> Result<()> {
        op.infer_shapes(params, inputs, outputs)
    }
}

/// Infers the shape of every entry from the shapes given for variables and from `__shape__` attributes (in which 0 means
/// unknown, except in graphs with NumPy shapes, where -1 does). A given shape wins over the attribute. Unknown sizes stay
/// unknown; [`Inferred::complete`] reports them as an error.
///
/// # Errors
/// Fails if a name is not that of a variable, if a `__shape__` is unreadable, or if shapes contradict each other. In the
/// last case the message names the node and all its shapes.
pub fn infer_shapes<'a>(
    graph: &Graph,
    given: impl IntoIterator<Item = (&'a str, PartialShape)>,
) -> Result<Inferred<PartialShape>> {
    infer_shapes_by(graph, given, Visits::Forward)
}

pub(super) fn infer_shapes_by<'a>(
    graph: &Graph,
    given: impl IntoIterator<Item = (&'a str, PartialShape)>,
    visits: Visits,
) -> Result<Inferred<PartialShape>> {
    let mut entries = vec![PartialShape::unknown(); graph.n_entries()];
    for (name, shape) in given {
        let entry = given_entry(graph, name, &shape)?;
        entries[entry.index()] = shape;
    }
    for id in graph.variables() {
        let node = graph.node(*id);
        let known = &mut entries[graph.output_id(*id, 0).index()];
        if let (Some(text), false) = (node.attrs.get("__shape__"), known.is_known()) {
            let declared = parse_shape(text, graph.is_np_shape())
                .context(|| format!("reading `__shape__` of variable `{}`", node.name))?;
            // The caller may override sizes; only sizes that the caller left open are taken from the attribute.
            if known.merge(&declared).is_err()
                && let (Some(mine), Some(theirs)) = (known.dims(), declared.dims())
                && mine.len() == theirs.len()
            {
                *known = PartialShape::new(mine.iter().zip(theirs).map(|(a, b)| a.or(*b)));
            }
        }
    }
    run(graph, &mut entries, visits)?;
    Ok(Inferred { entries })
}

/// Parses a `__shape__` text.
fn parse_shape(text: &str, is_np_shape: bool) -> Result<PartialShape> {
    let wrong = |expected: String| {
        let got = format!("\"{}\"", text.chars().take(80).collect::<String>());
        Error::new(ErrorKind::Attribute { op: "variable".into(), name: "__shape__".into(), expected, got })
    };
    if text.trim() == "None" {
        return Ok(PartialShape::unknown());
    }
    let dims = ShapeAttr::parse(text).map_err(wrong)?;
    if dims.is_empty() && !is_np_shape {
        return Ok(PartialShape::unknown());
    }
    if dims.len() > Shape::MAX_NDIM || dims.iter().any(|d| *d < -1) {
        return Err(wrong(format!("at most {} sizes, none below -1", Shape::MAX_NDIM)));
    }
    let is_unknown = |d: i64| d == -1 || (d == 0 && !is_np_shape);
    Ok(PartialShape::new(dims.iter().map(|&d| if is_unknown(d) { None } else { usize::try_from(d).ok() })))
}

impl Inferred<PartialShape> {
    /// The shape of every entry, in id order.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Unresolved`] with the names of the variables whose shape is unknown (or of the nodes, if
    /// all variables are known).
    pub fn complete(&self, graph: &Graph) -> Result<Vec<Shape>> {
        require_known(graph, &self.entries)?;
        Ok(self.entries.iter().filter_map(PartialShape::known).collect())
    }

    /// The shape of one entry, if it is known.
    pub fn known(&self, id: EntryId) -> Option<Shape> {
        self.entry(id).known()
    }
}
