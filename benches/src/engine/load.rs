//! The operators that a measurement pushes to an engine. Each operator is described by the variables that it reads and
//! writes. A load is a period of operators, which is pushed again and again.

use anyhow::{Context, Result};
use mxrs_models::{ModelOptions, model};
use rand::RngExt;
use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

/// One operator: the numbers of its variables. No variable occurs twice or in both lists, because MXNet's engine blocks on
/// duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operator {
    /// Variables read.
    pub reads: Vec<u32>,
    /// Variables written.
    pub writes: Vec<u32>,
}

impl Operator {
    /// Adds `first` to every variable's number.
    pub fn shift(&mut self, first: u32) {
        self.reads.iter_mut().chain(&mut self.writes).for_each(|var| *var += first);
    }
}

/// A sequence of operators that is pushed again and again.
#[derive(Clone, Debug)]
pub struct Load {
    name: String,
    n_vars: usize,
    operators: Vec<Operator>,
}

impl Load {
    /// A chain: every operator writes the same variable.
    pub fn chain() -> Self {
        Self::new("chain", 1, vec![Operator { reads: vec![], writes: vec![0] }])
    }

    /// Independent operators: each of `n` operators writes a variable of its own.
    pub fn independent(n: u32) -> Self {
        let operators = (0..n).map(|var| Operator { reads: vec![], writes: vec![var] }).collect();
        Self::new(format!("{n} independent"), n as usize, operators)
    }

    /// Operators with four reads and one write each, on random variables out of `n`, which must be at least five. The same
    /// seed gives the same operators.
    pub fn four_reads_one_write(n: u32, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let operators = (0..997).map(|_| {
            let mut drawn: Vec<u32> = index::sample(&mut random, n as usize, 5).iter().map(|var| var as u32).collect();
            let written = drawn.swap_remove(random.random_range(0..5));
            Operator { reads: drawn, writes: vec![written] }
        });
        Self::new("4 reads + 1 write", n as usize, operators.collect())
    }

    /// Fan-out and fan-in: one operator writes a variable, `n` operators read it and write one variable each, one operator
    /// reads all of these.
    pub fn fan(n: u32) -> Self {
        let out = Operator { reads: vec![], writes: vec![0] };
        let middle = (1..=n).map(|var| Operator { reads: vec![0], writes: vec![var] });
        let into = Operator { reads: (1..=n).collect(), writes: vec![n + 1] };
        let operators = [out].into_iter().chain(middle).chain([into]).collect();
        Self::new("fan-out, fan-in", n as usize + 2, operators)
    }

    /// The operators of a network in the order in which the executor would push them: each reads the variables of its
    /// inputs, parameters included, and writes a variable of its own.
    ///
    /// # Errors
    /// Fails if no model has this name.
    pub fn network(name: &str) -> Result<Self> {
        let model = model(name, &ModelOptions::default()).with_context(|| format!("the network {name}"))?;
        let graph = model.symbol.graph().with_context(|| format!("the graph of {name}"))?;
        let operators = graph.iter().filter(|(_, node)| !node.is_variable()).map(|(id, node)| {
            let mut reads: Vec<u32> = node.inputs.iter().map(|input| input.node.index() as u32).collect();
            reads.sort_unstable();
            reads.dedup();
            Operator { reads, writes: vec![id.index() as u32] }
        });
        Ok(Self::new(name, graph.n_nodes(), operators.collect()))
    }

    fn new(name: impl Into<String>, n_vars: usize, operators: Vec<Operator>) -> Self {
        Self { name: name.into(), n_vars, operators }
    }

    /// Name of the load in the report's table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of variables. The operators use the numbers below it.
    pub fn n_vars(&self) -> usize {
        self.n_vars
    }

    /// Operators of one period.
    pub fn operators(&self) -> &[Operator] {
        &self.operators
    }

    /// Whether every operator has exactly one variable. With more, two threads that push on the same variables can block an
    /// engine forever if it reserves an operator's variables one after the other.
    pub fn has_single_variables(&self) -> bool {
        self.operators.iter().all(|op| op.reads.len() + op.writes.len() == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn all() -> Vec<Load> {
        vec![
            Load::chain(),
            Load::independent(1000),
            Load::four_reads_one_write(100, 7),
            Load::fan(16),
            Load::network("resnet-50").unwrap(),
        ]
    }

    #[test]
    fn no_operator_names_a_variable_twice_and_all_numbers_are_in_range() {
        for load in all() {
            for op in load.operators() {
                let vars: Vec<u32> = op.reads.iter().chain(&op.writes).copied().collect();
                let distinct: HashSet<u32> = vars.iter().copied().collect();
                assert_eq!(distinct.len(), vars.len(), "{}: {op:?}", load.name());
                assert!(vars.iter().all(|var| (*var as usize) < load.n_vars()), "{}: {op:?}", load.name());
            }
        }
    }

    #[test]
    fn shapes_are_as_named() {
        let four = Load::four_reads_one_write(100, 7);
        assert!(four.operators().iter().all(|op| op.reads.len() == 4 && op.writes.len() == 1));
        assert_eq!(four.operators(), Load::four_reads_one_write(100, 7).operators());
        assert_ne!(four.operators(), Load::four_reads_one_write(100, 8).operators());
        assert_eq!(Load::fan(16).operators().len(), 18);
        assert_eq!(Load::fan(16).operators()[17].reads.len(), 16);
        let single: Vec<bool> = all().iter().map(Load::has_single_variables).collect();
        assert_eq!(single, [true, true, false, false, false]);
    }

    #[test]
    fn resnet_50_has_its_layers() {
        let load = Load::network("resnet-50").unwrap();
        // ResNet-50 has 53 convolutions. Inputs and parameters are variables too, so there are fewer operators than
        // variables.
        assert!((150..300).contains(&load.operators().len()), "{}", load.operators().len());
        assert!(load.operators().len() < load.n_vars());
        let written: HashSet<u32> = load.operators().iter().flat_map(|op| op.writes.clone()).collect();
        assert_eq!(written.len(), load.operators().len(), "each operator writes a variable of its own");
        assert!(load.operators().iter().skip(1).all(|op| op.reads.iter().any(|var| written.contains(var))));
    }
}
