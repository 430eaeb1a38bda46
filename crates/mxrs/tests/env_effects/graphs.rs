//! Small graphs, and binding them with the settings of a runtime.

use mxrs::Runtime;
use mxrs::exec::Executor;
use mxrs::graph::{Graph, NameManager, Symbol, SymbolCall};
use mxrs::types::Shape;

/// Builds calls of a runtime's operators.
pub struct Calls<'a> {
    runtime: &'a Runtime,
    names: NameManager,
}

impl<'a> Calls<'a> {
    pub fn new(runtime: &'a Runtime) -> Self {
        Self { runtime, names: NameManager::new() }
    }

    pub fn named(&mut self, name: &str, op: &str, attrs: &[(&str, &str)], inputs: &[&Symbol]) -> Symbol {
        let op = self.runtime.ops().get(op).expect("a built operator");
        let mut call = SymbolCall::new(op).inputs(inputs.iter().copied());
        if !name.is_empty() {
            call = call.name(name);
        }
        for (key, value) in attrs {
            call = call.attr(*key, value);
        }
        call.build(&mut self.names).expect("a well-formed call")
    }

    pub fn call(&mut self, op: &str, attrs: &[(&str, &str)], inputs: &[&Symbol]) -> Symbol {
        self.named("", op, attrs, inputs)
    }
}

/// A chain of `length` additions of 1 to `x`.
pub fn chain(runtime: &Runtime, length: usize) -> Graph {
    let mut calls = Calls::new(runtime);
    let mut x = Symbol::variable("x");
    for _ in 0..length {
        x = calls.call("_plus_scalar", &[("scalar", "1")], &[&x]);
    }
    x.graph().expect("a well-formed graph")
}

/// The graph with `x` of this shape, bound with the settings of the runtime.
pub fn bind(runtime: &Runtime, graph: &Graph, shape: impl Into<Shape>) -> Executor {
    Executor::simple_bind(graph, runtime.arrays(), &[("x", shape.into())], &runtime.bind_options())
        .expect("the graph binds")
}
