//! Requests for gradients.

use crate::{Entry, Graph};
use mxrs_types::{Error, Result};

/// The source of the gradients of the heads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadGrads {
    /// The gradient of every head is all ones.
    #[default]
    Ones,
    /// The gradient of every head is a new variable, named `<output>_grad`. A head that is listed twice gets two variables,
    /// which are added.
    Variables,
}

/// What to do if a gradient is requested of an entry on which no head depends.
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
    /// What to do if a gradient is requested of an entry on which no head depends.
    pub unreachable: Unreachable,
    /// The number of terms from which a sum is a chain of `_grad_add` instead of one `add_n`
    /// (`MXNET_EXEC_INPLACE_GRAD_SUM_CAP`). Each `_grad_add` runs as soon as its term is available. All readers of the entry
    /// are counted as terms, whether or not they contribute one.
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
    /// Fails if a name is not that of a variable of the graph.
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
