//! Inference of element types.

use super::fixpoint::{Attribute, Inferred, Visits, given_entry, require_known, run};
use crate::Graph;
use mxrs_op::{OpDef, OpParams};
use mxrs_types::{DType, Error, ErrorKind, Result};

impl Attribute for Option<DType> {
    const WHAT: &'static str = "dtype";

    fn is_known(&self) -> bool {
        self.is_some()
    }
    fn learn(&mut self, other: &Self) -> Result<bool, ()> {
        match (*self, *other) {
            (Some(a), Some(b)) if a != b => Err(()),
            (None, Some(_)) => {
                *self = *other;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
    fn text(&self) -> String {
        self.map_or("?".into(), |d| d.name().into())
    }
    fn unknown() -> Self {
        None
    }
    fn row(&self) -> Self {
        *self
    }
    fn of_rows(row: &Self, _: &Self) -> Self {
        *row
    }
    fn stacked(&self, _: Option<usize>) -> Self {
        *self
    }
    fn unstacked(&self) -> Self {
        *self
    }
    fn n_rows(&self) -> Result<Option<usize>, ()> {
        Ok(None)
    }
    fn may_be_one_element(&self) -> bool {
        true
    }
    fn check(&self) -> Result<()> {
        Ok(())
    }
    fn infer(op: &OpDef, params: &OpParams, inputs: &mut [Self], outputs: &mut [Self]) -> Result<()> {
        op.infer_dtypes(params, inputs, outputs)
    }
}

/// Infers the element type of every entry from the types given for variables and from `__dtype__` attributes (numeric
/// flags). A type given by the caller wins over the attribute. If variables stay unknown and `default` is given, the first
/// unknown variable gets the default and inference continues, until all variables are known.
///
/// # Errors
/// Fails if a name is not that of a variable, if a `__dtype__` is unknown, or if types contradict each other. In the last
/// case the message names the node and all its types.
pub fn infer_dtypes<'a>(
    graph: &Graph,
    given: impl IntoIterator<Item = (&'a str, DType)>,
    default: Option<DType>,
) -> Result<Inferred<Option<DType>>> {
    infer_dtypes_by(graph, given, default, Visits::Forward)
}

pub(super) fn infer_dtypes_by<'a>(
    graph: &Graph,
    given: impl IntoIterator<Item = (&'a str, DType)>,
    default: Option<DType>,
    visits: Visits,
) -> Result<Inferred<Option<DType>>> {
    let mut entries: Vec<Option<DType>> = vec![None; graph.n_entries()];
    for (name, dtype) in given {
        entries[given_entry(graph, name, dtype.name())?.index()] = Some(dtype);
    }
    for id in graph.variables() {
        let node = graph.node(*id);
        let known = &mut entries[graph.output_id(*id, 0).index()];
        if let (Some(text), None) = (node.attrs.get("__dtype__"), *known) {
            *known = parse_dtype(&node.name, text)?;
        }
    }
    run(graph, &mut entries, visits)?;
    if let Some(default) = default {
        for id in graph.variables() {
            let entry = graph.output_id(*id, 0).index();
            if entries[entry].is_none() {
                entries[entry] = Some(default);
                run(graph, &mut entries, visits)?;
            }
        }
    }
    Ok(Inferred { entries })
}

/// Parses a `__dtype__` flag; -1 means unknown.
fn parse_dtype(variable: &str, text: &str) -> Result<Option<DType>> {
    let flag: Option<i32> = text.trim().parse().ok();
    match flag {
        Some(-1) => Ok(None),
        flag => flag.and_then(DType::from_flag).map(Some).ok_or_else(|| {
            Error::new(ErrorKind::Attribute {
                op: format!("variable `{variable}`"),
                name: "__dtype__".into(),
                expected: "a type flag such as 0 (float32)".into(),
                got: format!("\"{}\"", text.chars().take(80).collect::<String>()),
            })
        }),
    }
}

impl Inferred<Option<DType>> {
    /// The type of every entry, in id order.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Unresolved`] with the names of the variables whose type is unknown (or of the nodes, if all
    /// variables are known).
    pub fn complete(&self, graph: &Graph) -> Result<Vec<DType>> {
        require_known(graph, &self.entries)?;
        Ok(self.entries.iter().copied().flatten().collect())
    }
}
