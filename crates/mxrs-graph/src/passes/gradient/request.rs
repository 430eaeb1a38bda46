//! What gradients are asked for.

use crate::{Entry, Graph};
use mxrs_types::{Error, Result};

/// Where the gradients of the heads come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadGrads {
    /// They are ones.
    #[default]
    Ones,
    /// A new variable per head, named `<output>_grad`; a head listed twice gets two, which add up.
    Variables,
}

/// What to do about a wanted entry that no head depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unreachable {
    /// Refuse, naming it.
    #[default]
    Error,
    /// Its gradient is zeros.
    Zeros,
}

/// Which gradients to build, and how.
#[derive(Clone, Debug)]
pub struct GradientRequest {
    /// Whose gradients: variables, or outputs of calls.
    pub wanted: Vec<Entry>,
    /// The gradients of the heads.
    pub head_grads: HeadGrads,
    /// Wanted entries that no head depends on.
    pub unreachable: Unreachable,
    /// Number of terms from which a sum is a chain of `_grad_add`, each as soon as its term is there, instead of one
    /// `add_n` (`MXNET_EXEC_INPLACE_GRAD_SUM_CAP`). Readers are counted, whether or not they turn out to contribute.
    pub sum_cap: usize,
}

impl GradientRequest {
    /// The documented default of `MXNET_EXEC_INPLACE_GRAD_SUM_CAP`.
    pub const DEFAULT_SUM_CAP: usize = 8;

    /// The gradients of these entries, with ones as gradients of the heads.
    pub fn new(wanted: Vec<Entry>) -> Self {
        Self {
            wanted,
            head_grads: HeadGrads::default(),
            unreachable: Unreachable::default(),
            sum_cap: Self::DEFAULT_SUM_CAP,
        }
    }

    /// The gradients of the variables with these names.
    ///
    /// # Errors
    /// A name that no variable of the graph has.
    pub fn of_variables<'a>(graph: &Graph, names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let entry = |name: &str| match graph.find(name).filter(|id| graph.node(*id).is_variable()) {
            Some(id) => Ok(Entry::new(id, 0)),
            None => Err(Error::invalid("gradient wanted of", format!("`{name}`"), "a variable of the graph")),
        };
        Ok(Self::new(names.into_iter().map(entry).collect::<Result<_>>()?))
    }

    /// With new variables as gradients of the heads.
    #[must_use]
    pub fn head_variables(mut self) -> Self {
        self.head_grads = HeadGrads::Variables;
        self
    }

    /// With zeros for what no head depends on.
    #[must_use]
    pub fn zeros_where_unreachable(mut self) -> Self {
        self.unreachable = Unreachable::Zeros;
        self
    }
}
