//! Builds custom networks, layer by layer.

use mxrs_graph::{NameManager, Symbol, SymbolCall};
use mxrs_op::{Layer, OpSet};
use mxrs_types::Result;

/// Makes symbols of layers. Weights, biases and labels that are not given become variables, named after the layer as MXNet
/// names them: `fullyconnected0_weight`.
///
/// ```
/// use mxrs_models::NetBuilder;
/// use mxrs_ops::layers::{Activation, Conv2d, FullyConnected, Pool2d, SoftmaxOutput};
///
/// let mut net = NetBuilder::new();
/// let x = net.input("data");
/// let x = net.add(&Conv2d { kernel: [5, 5], num_filter: 20, ..Conv2d::default() }, &[&x])?;
/// let x = net.add(&Activation::tanh(), &[&x])?;
/// let x = net.add(&Pool2d::max([2, 2]), &[&x])?;
/// let x = net.named("fc", &FullyConnected::new(10), &[&x])?;
/// let net = net.named("softmax", &SoftmaxOutput::default(), &[&x])?;
///
/// let arguments = net.arguments()?;
/// assert_eq!(arguments[1..], ["convolution0_weight", "convolution0_bias", "fc_weight", "fc_bias", "softmax_label"]);
/// # Ok::<(), mxrs_types::Error>(())
/// ```
#[derive(Debug)]
pub struct NetBuilder {
    ops: OpSet,
    names: NameManager,
}

impl Default for NetBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl NetBuilder {
    /// Makes a builder with the operators of the catalog.
    pub fn new() -> Self {
        Self { ops: mxrs_ops::catalog(), names: NameManager::new() }
    }

    /// Makes an input of the network.
    pub fn input(&self, name: &str) -> Symbol {
        Symbol::variable(name)
    }

    /// Adds a layer that reads these inputs, with the next automatic name.
    ///
    /// # Errors
    /// Fails if the operator refuses an attribute, or if there are more inputs than the operator has.
    pub fn add<L: Layer>(&mut self, layer: &L, inputs: &[&Symbol]) -> Result<Symbol> {
        self.call(layer, inputs)?.build(&mut self.names)
    }

    /// Does the same as [`Self::add`], with the given name.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::add`].
    pub fn named<L: Layer>(&mut self, name: &str, layer: &L, inputs: &[&Symbol]) -> Result<Symbol> {
        self.call(layer, inputs)?.name(name).build(&mut self.names)
    }

    fn call<L: Layer>(&self, layer: &L, inputs: &[&Symbol]) -> Result<SymbolCall> {
        Ok(SymbolCall::new(self.ops.get(L::OP)?).attrs(&layer.attrs()).inputs(inputs.iter().copied()))
    }
}
