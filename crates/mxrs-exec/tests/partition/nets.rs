//! Builds small networks on images of one shape. Calls refer to their inputs by name.

use mxrs_graph::{Graph, NameManager, Symbol, SymbolCall};
use mxrs_op::OpSet;

/// Shape of `x`. Layers keep this shape unless their attributes change it.
pub const SHAPE: [usize; 4] = [2, 4, 5, 6];

/// A network under construction: calls by name. A name that no call has is a variable.
pub struct Net {
    ops: OpSet,
    names: NameManager,
    made: Vec<(String, Symbol)>,
}

impl Net {
    pub fn new() -> Self {
        Self { ops: mxrs_ops::catalog(), names: NameManager::new(), made: Vec::new() }
    }

    fn symbol(&mut self, name: &str) -> Symbol {
        if let Some((_, symbol)) = self.made.iter().find(|(known, _)| known == name) {
            return symbol.clone();
        }
        // `name#k` is output k of a call.
        if let Some((of, k)) = name.split_once('#') {
            return self.symbol(of).output(k.parse().expect("a number")).expect("an output");
        }
        let variable = Symbol::variable(name);
        self.made.push((name.into(), variable.clone()));
        variable
    }

    /// Calls an operator. Inputs that are not given become new variables.
    pub fn call(&mut self, op: &str, name: &str, inputs: &[&str], attrs: &[(&str, &str)]) -> String {
        let inputs: Vec<Symbol> = inputs.iter().map(|input| self.symbol(input)).collect();
        let mut call = SymbolCall::new(self.ops.get(op).expect("an operator")).name(name).inputs(&inputs);
        for (key, value) in attrs {
            call = call.attr(*key, value);
        }
        let made = call.build(&mut self.names).expect("a call");
        self.made.push((name.into(), made));
        name.into()
    }

    /// Calls an operator with the quantized tensors `data` and their ranges. The other inputs of the operator become
    /// variables.
    pub fn call_quantized(&mut self, op: &str, name: &str, data: &[&str], attrs: &[(&str, &str)]) -> String {
        let inputs: Vec<[Symbol; 3]> =
            data.iter().map(|d| [0, 1, 2].map(|k| self.symbol(d).output(k).expect("a range too"))).collect();
        let op = self.ops.get(op).expect("an operator");
        let names: Vec<[&str; 3]> = match op.name {
            "_contrib_quantized_elemwise_add" => vec![["lhs", "lhs_min", "lhs_max"], ["rhs", "rhs_min", "rhs_max"]],
            "_contrib_requantize" | "_contrib_dequantize" => vec![["data", "min_range", "max_range"]],
            _ => vec![["data", "min_data", "max_data"]],
        };
        let mut call = SymbolCall::new(op).name(name);
        for (input, symbol) in names.iter().flatten().zip(inputs.iter().flatten()) {
            call = call.named_input(*input, symbol);
        }
        for (key, value) in attrs {
            call = call.attr(*key, value);
        }
        let made = call.build(&mut self.names).expect("a call");
        self.made.push((name.into(), made));
        name.into()
    }

    /// A convolution that keeps the shape.
    pub fn conv(&mut self, name: &str, data: &str, attrs: &[(&str, &str)]) -> String {
        let keeps = [("kernel", "(3, 3)"), ("num_filter", "4"), ("pad", "(1, 1)")];
        let attrs: Vec<(&str, &str)> = keeps.iter().chain(attrs).copied().collect();
        self.call("Convolution", name, &[data], &attrs)
    }

    /// A fully connected layer over the last axis that keeps the shape.
    pub fn fc(&mut self, name: &str, data: &str) -> String {
        self.call("FullyConnected", name, &[data], &[("num_hidden", "6"), ("flatten", "False")])
    }

    pub fn graph(mut self, heads: &[&str]) -> Graph {
        let heads: Vec<Symbol> = heads.iter().map(|head| self.symbol(head)).collect();
        Symbol::group(&heads).graph().expect("a graph")
    }

    /// A residual unit: two convolutions, each followed by a normalization; a sum with `x`; and an activation after the
    /// first normalization and after the sum.
    pub fn residual_unit() -> Graph {
        let mut net = Self::new();
        let a = net.conv("a", "x", &[("no_bias", "True")]);
        let a = net.call("BatchNorm", "bn_a", &[&a], &[("fix_gamma", "False")]);
        let a = net.call("Activation", "relu_a", &[&a], &[("act_type", "relu")]);
        let b = net.conv("b", &a, &[]);
        let b = net.call("BatchNorm", "bn_b", &[&b], &[]);
        let sum = net.call("elemwise_add", "sum", &[&b, "x"], &[]);
        let end = net.call("relu", "relu", &[&sum], &[]);
        net.graph(&[&end])
    }
}
