//! A network under construction: short functions that add calls, with automatic names.

use crate::ModelOptions;
use mxrs_graph::{NameManager, Symbol, SymbolCall};
use mxrs_op::OpSet;
use mxrs_types::{DType, Error, Result};
use std::fmt::{self, Display};

/// The attributes of a call: keys and values as MXNet spells them.
pub(crate) type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

/// Two sizes, printed like a Python tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair(pub usize, pub usize);

/// Makes a pair of equal sizes.
pub(crate) fn square(size: usize) -> Pair {
    Pair(size, size)
}

impl Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.0, self.1)
    }
}

/// A flag, printed like a Python bool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flag(pub bool);

impl Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 { "True" } else { "False" })
    }
}

pub(crate) struct Net {
    ops: OpSet,
    names: NameManager,
    pub dtype: DType,
    pub n_classes: usize,
    label_smoothing: f32,
}

impl Net {
    pub fn new(options: &ModelOptions) -> Self {
        Self {
            ops: mxrs_ops::catalog(),
            names: NameManager::new(),
            dtype: options.dtype,
            n_classes: options.n_classes,
            label_smoothing: options.label_smoothing,
        }
    }

    /// Adds a call of operator `op`. Without a name, the call gets the next automatic name, which is derived from `op` as it
    /// is spelled here.
    pub fn call(&mut self, op: &str, name: Option<&str>, inputs: &[&Symbol], attrs: Attributes<'_>) -> Result<Symbol> {
        let mut call = SymbolCall::new(self.ops.get(op)?).called(op).inputs(inputs.iter().copied());
        for (key, value) in attrs {
            call = call.attr(*key, value);
        }
        if let Some(name) = name {
            call = call.name(name);
        }
        call.build(&mut self.names)
    }

    pub fn convolution(&mut self, name: Option<&str>, input: &Symbol, attrs: Attributes<'_>) -> Result<Symbol> {
        self.call("Convolution", name, &[input], attrs)
    }

    pub fn batch_norm(&mut self, name: &str, input: &Symbol, attrs: Attributes<'_>) -> Result<Symbol> {
        self.call("BatchNorm", Some(name), &[input], attrs)
    }

    pub fn activation(&mut self, name: Option<&str>, input: &Symbol, kind: &str) -> Result<Symbol> {
        self.call("Activation", name, &[input], &[("act_type", &kind)])
    }

    pub fn pooling(&mut self, name: Option<&str>, input: &Symbol, kind: &str, attrs: Attributes<'_>) -> Result<Symbol> {
        let mut all: Vec<(&str, &dyn Display)> = attrs.to_vec();
        all.push(("pool_type", &kind));
        self.call("Pooling", name, &[input], &all)
    }

    pub fn dense(&mut self, name: Option<&str>, input: &Symbol, n_hidden: usize) -> Result<Symbol> {
        self.call("FullyConnected", name, &[input], &[("num_hidden", &n_hidden)])
    }

    pub fn flatten(&mut self, name: Option<&str>, input: &Symbol) -> Result<Symbol> {
        self.call("Flatten", name, &[input], &[])
    }

    /// Adds the input of the network. In half precision, a cast follows it. In float32, an `identity` node with the name
    /// `id` follows it if `has_identity` is set.
    pub fn data(&mut self, has_identity: bool) -> Result<Symbol> {
        let data = Symbol::variable("data");
        match self.dtype {
            DType::F32 if has_identity => self.call("identity", Some("id"), &[&data], &[]),
            DType::F32 => Ok(data),
            dtype => self.call("Cast", None, &[&data], &[("dtype", &dtype.name())]),
        }
    }

    /// Adds the loss head, which computes in float32.
    pub fn softmax(&mut self, input: &Symbol) -> Result<Symbol> {
        let input = match self.dtype {
            DType::F32 => input.clone(),
            _ => self.call("Cast", None, &[input], &[("dtype", &DType::F32.name())])?,
        };
        let smoothing = self.label_smoothing;
        // Without smoothing there is no attribute, so that the symbol equals MXNet's exactly.
        let attrs: Attributes<'_> = if smoothing > 0.0 { &[("smooth_alpha", &smoothing)] } else { &[] };
        self.call("SoftmaxOutput", Some("softmax"), &[&input], attrs)
    }

    /// Rejects half precision for a network that is only defined in float32.
    pub fn require_f32(&self, network: &str) -> Result<()> {
        match self.dtype {
            DType::F32 => Ok(()),
            other => Err(Error::invalid(format!("dtype of {network}"), other.name(), DType::F32.name())),
        }
    }
}
