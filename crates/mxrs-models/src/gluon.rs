//! Layers of the networks of Gluon's model zoo, with the names, attributes and variables that Gluon gives them.

use crate::net::{Flag, Net, square};
use mxrs_graph::{NameManager, Symbol};
use mxrs_op::Attrs;
use mxrs_types::Result;

/// A block of layers. A layer is named `<prefix><kind><number>`; the number counts the layers of one kind in the block.
pub(crate) struct Block {
    prefix: String,
    names: NameManager,
}

/// A convolution with a square kernel.
pub(crate) struct Conv {
    pub n_filters: usize,
    pub kernel: usize,
    pub stride: usize,
    pub pad: usize,
    pub has_bias: bool,
}

impl Block {
    pub fn new(prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), names: NameManager::new() }
    }

    /// The name of the next layer of this kind.
    fn next(&mut self, kind: &str) -> String {
        format!("{}{}", self.prefix, self.names.next(kind))
    }

    pub fn convolution(&mut self, net: &mut Net, input: &Symbol, conv: &Conv) -> Result<Symbol> {
        let name = self.next("conv");
        let (n_filters, kernel) = (conv.n_filters, conv.kernel);
        let weight = variable(&name, "weight", &format!("({n_filters}, 0, {kernel}, {kernel})"), None);
        let bias = variable(&name, "bias", &format!("({n_filters},)"), Some("zeros"));
        let inputs = if conv.has_bias { vec![input, &weight, &bias] } else { vec![input, &weight] };
        net.call(
            "Convolution",
            Some(&format!("{name}_fwd")),
            &inputs,
            &[
                ("dilate", &square(1)),
                ("kernel", &square(kernel)),
                ("layout", &"NCHW"),
                ("no_bias", &Flag(!conv.has_bias)),
                ("num_filter", &n_filters),
                ("num_group", &1),
                ("pad", &square(conv.pad)),
                ("stride", &square(conv.stride)),
            ],
        )
    }

    pub fn batch_norm(&mut self, net: &mut Net, input: &Symbol) -> Result<Symbol> {
        let name = self.next("batchnorm");
        let channels = |part: &str, init: &str| variable(&name, part, "(0,)", Some(init));
        let (gamma, beta) = (channels("gamma", "ones"), channels("beta", "zeros"));
        let (mean, var) = (channels("running_mean", "zeros"), channels("running_var", "ones"));
        net.call(
            "BatchNorm",
            Some(&format!("{name}_fwd")),
            &[input, &gamma, &beta, &mean, &var],
            &[
                ("axis", &1),
                ("eps", &"1e-05"),
                ("fix_gamma", &Flag(false)),
                ("momentum", &0.9),
                ("use_global_stats", &Flag(false)),
            ],
        )
    }

    pub fn relu(&mut self, net: &mut Net, input: &Symbol) -> Result<Symbol> {
        let name = self.next("relu");
        net.activation(Some(&format!("{name}_fwd")), input, "relu")
    }

    /// Adds a max pooling of 3x3 pixels that halves the image. If `is_full` is set, windows may exceed the right and the
    /// lower edge.
    pub fn max_pooling(&mut self, net: &mut Net, input: &Symbol, pad: usize, is_full: bool) -> Result<Symbol> {
        let name = self.next("pool");
        let convention = if is_full { "full" } else { "valid" };
        let attrs = [
            ("global_pool", &Flag(false) as _),
            ("kernel", &square(3) as _),
            ("layout", &"NCHW" as _),
            ("pad", &square(pad) as _),
            ("pooling_convention", &convention as _),
            ("stride", &square(2) as _),
        ];
        net.pooling(Some(&format!("{name}_fwd")), input, "max", &attrs)
    }

    /// Adds an average pooling of adjacent windows of `size` x `size` pixels.
    pub fn avg_pooling(&mut self, net: &mut Net, input: &Symbol, size: usize) -> Result<Symbol> {
        let name = self.next("pool");
        let attrs = [
            ("count_include_pad", &Flag(true) as _),
            ("global_pool", &Flag(false) as _),
            ("kernel", &square(size) as _),
            ("layout", &"NCHW" as _),
            ("pad", &square(0) as _),
            ("pooling_convention", &"valid" as _),
            ("stride", &square(size) as _),
        ];
        net.pooling(Some(&format!("{name}_fwd")), input, "avg", &attrs)
    }

    /// Adds a concatenation of channels.
    pub fn concat(&mut self, net: &mut Net, parts: &[&Symbol]) -> Result<Symbol> {
        net.call("Concat", Some(&self.next("concat")), parts, &[("dim", &1)])
    }

    pub fn dropout(&mut self, net: &mut Net, input: &Symbol, p: f64) -> Result<Symbol> {
        let name = format!("{}_fwd", self.next("dropout"));
        net.call("Dropout", Some(&name), &[input], &[("axes", &"()"), ("cudnn_off", &Flag(false)), ("p", &p)])
    }

    pub fn flatten(&mut self, net: &mut Net, input: &Symbol) -> Result<Symbol> {
        // The operator has an automatic name within its layer.
        net.flatten(Some(&format!("{}_flatten0", self.next("flatten"))), input)
    }

    pub fn dense(&mut self, net: &mut Net, input: &Symbol, n_hidden: usize) -> Result<Symbol> {
        let name = self.next("dense");
        let weight = variable(&name, "weight", &format!("({n_hidden}, 0)"), None);
        let bias = variable(&name, "bias", &format!("({n_hidden},)"), Some("zeros"));
        net.call(
            "FullyConnected",
            Some(&format!("{name}_fwd")),
            &[input, &weight, &bias],
            &[("flatten", &Flag(true)), ("no_bias", &Flag(false)), ("num_hidden", &n_hidden)],
        )
    }
}

/// A parameter of a layer. A size of 0 in its shape is unknown. Without `init`, the initializer of the training decides.
fn variable(layer: &str, part: &str, shape: &str, init: Option<&str>) -> Symbol {
    let mut attrs = Attrs::from([
        ("__dtype__", "0"),
        ("__lr_mult__", "1.0"),
        ("__shape__", shape),
        ("__storage_type__", "0"),
        ("__wd_mult__", "1.0"),
    ]);
    if let Some(init) = init {
        attrs.set("__init__", init);
    }
    Symbol::variable_with(format!("{layer}_{part}"), attrs)
}
