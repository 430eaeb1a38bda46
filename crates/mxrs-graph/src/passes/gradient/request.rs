//! Requests for gradients.

use crate::{Entry, Graph};
use mxrs_types::{Error, Result};

/// The source of the gradients of the heads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadGrads {
    /// All ones.
    #[default]
    Ones,
    /// A new variable per head, named `<output>_grad`; a head that is listed twice gets two, which are added.
    Variables,
}

/// What to do about a wanted entry that no head depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unreachable {
    /// Return an error that names the entry.
    #[default]
    Error,
    /// Use zeros as the gradient of the entry.
    Zeros,
}

/// The gradients to build, and options.
#[derive(Clone, Debug)]
pub struct GradientRequest {
    /// The entries whose gradients are wanted: variables, or outputs of calls.
    pub wanted: Vec<Entry>,
    /// The source of the gradients of the heads.
    pub head_grads: HeadGrads,
    /// What to do about wanted entries that no head depends on.
    pub unreachable: Unreachable,
    /// A sum of at least this number of terms is a chain of `_grad_add`, each of which runs as soon as its term is
    /// available, instead of one `add_n` (`MXNET_EXEC_INPLACE_GRAD_SUM_CAP`). All readers are counted, whether or not they
    /// contribute a term.
    pub sum_cap: usize,
}

impl GradientRequest {
    /// The documented default of `MXNET_EXEC_INPLACE_GRAD_SUM_CAP`.
    pub const DEFAULT_SUM_CAP: usize = 8;

    /// Requests the gradients of these entries, with ones as gradients of the heads.
    pub fn new(wanted: Vec<Entry>) -> Self {
        Self {
            wanted,
            head_grads: HeadGrads::default(),
            unreachable: Unreachable::default(),
            sum_cap: Self::DEFAULT_SUM_CAP,
        }
    }

    /// Requests the gradients of the variables with these names.
    ///
    /// # Errors
    /// If no variable of the graph has one of the names.
    pub fn of_variables<'a>(graph: &Graph, names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let entry = |name: &str| match graph.find(name).filter(|id| graph.node(*id).is_variable()) {
            Some(id) => Ok(Entry::new(id, 0)),
            None => Err(Error::invalid("gradient wanted of", format!("`{name}`"), "a variable of the graph")),
        };
        Ok(Self::new(names.into_iter().map(entry).collect::<Result<_>>()?))
    }

    /// Uses new variables as gradients of the heads.
    #[must_use]
    pub fn head_variables(mut self) -> Self {
        self.head_grads = HeadGrads::Variables;
        self
    }

    /// Uses zeros for entries that no head depends on.
    #[must_use]
    pub fn zeros_where_unreachable(mut self) -> Self {
        self.unreachable = Unreachable::Zeros;
        self
    }
}
