//! How an operator names its inputs and counts its outputs.

use crate::{OpDef, OpParams};

/// Names of an operator's inputs, auxiliary states last.
#[derive(Clone, Copy)]
pub enum InputNames {
    /// Every call has these inputs.
    Fixed(&'static [&'static str]),
    /// The parameters determine which inputs a call has (`bias` unless `no_bias`).
    ByParams {
        /// All possible inputs, as the C API lists them.
        all: &'static [&'static str],
        /// The inputs that a call with these parameters has.
        chosen: fn(&OpParams) -> Vec<&'static str>,
    },
    /// `n` inputs called `<prefix>0`, `<prefix>1`, …; `n` is the parameter `key`.
    Variable {
        /// Name prefix of each input (`arg`).
        prefix: &'static str,
        /// The single name under which the C API lists all of these inputs (`data`, `args`).
        listed: &'static str,
        /// Parameter that holds `n` (`num_args`).
        key: &'static str,
        /// Reads `n`, the number of these inputs, from the parameters.
        count: fn(&OpParams) -> usize,
    },
    /// `n` inputs as in [`Self::Variable`], followed by one input for each of them and each suffix (`arg0_min`, `arg0_max`,
    /// `arg1_min`, …).
    Grouped {
        /// Name prefix of the first `n` inputs (`arg`).
        prefix: &'static str,
        /// Suffixes that make the names of the further inputs (`_min`, `_max`).
        suffixes: &'static [&'static str],
        /// The single name under which the C API lists all of these inputs (`data`, `args`).
        listed: &'static str,
        /// Parameter that holds `n` (`num_args`).
        key: &'static str,
        /// Reads `n`, the number of these inputs, from the parameters.
        count: fn(&OpParams) -> usize,
    },
    /// `n` groups of inputs with numbered names (`weight_0`, `grad_0`, `weight_1`, `grad_1`), followed by inputs that all
    /// groups share (`lrs`). `n` is a parameter that every call gives.
    Numbered {
        /// Names within a group (`weight`, `grad`).
        group: &'static [&'static str],
        /// Names of the shared inputs.
        shared: &'static [&'static str],
        /// The single name under which the C API lists all of these inputs (`data`, `args`).
        listed: &'static str,
        /// Reads `n`, the number of these inputs, from the parameters.
        count: fn(&OpParams) -> usize,
    },
    /// Inputs whose names only the parameters know, such as those of an operator that a program defines.
    Listed {
        /// The single name under which the C API lists all of these inputs (`data`).
        listed: &'static str,
        /// The names of the inputs of a call.
        names: fn(&OpParams) -> Vec<String>,
    },
}

/// How the number of outputs of a call is determined.
#[derive(Clone, Copy)]
pub enum OutputCount {
    /// Every call has this number of outputs.
    Fixed(usize),
    /// The number depends on the parameters.
    ByParams(fn(&OpParams) -> usize),
}

impl OutputCount {
    /// The number of outputs of a call with these parameters.
    pub fn get(self, params: &OpParams) -> usize {
        match self {
            Self::Fixed(n) => n,
            Self::ByParams(f) => f(params),
        }
    }
}

impl OpDef {
    /// Names of a call's inputs, auxiliary states last.
    pub fn input_names(&self, params: &OpParams) -> Vec<String> {
        match self.inputs {
            InputNames::Fixed(names) => names.iter().map(|n| n.to_string()).collect(),
            InputNames::ByParams { chosen, .. } => chosen(params).into_iter().map(String::from).collect(),
            InputNames::Variable { prefix, count, .. } => (0..count(params)).map(|i| format!("{prefix}{i}")).collect(),
            InputNames::Grouped { prefix, suffixes, count, .. } => {
                let first = (0..count(params)).map(|i| format!("{prefix}{i}"));
                let others = (0..count(params)).flat_map(|i| suffixes.iter().map(move |s| format!("{prefix}{i}{s}")));
                first.chain(others).collect()
            }
            InputNames::Listed { names, .. } => names(params),
            InputNames::Numbered { group, shared, count, .. } => {
                let groups = (0..count(params)).flat_map(|i| group.iter().map(move |name| format!("{name}_{i}")));
                groups.chain(shared.iter().map(|name| name.to_string())).collect()
            }
        }
    }

    /// Number of a call's inputs, including auxiliary states. Does not make their names.
    pub fn n_inputs(&self, params: &OpParams) -> usize {
        match self.inputs {
            InputNames::Fixed(names) => names.len(),
            InputNames::ByParams { chosen, .. } => chosen(params).len(),
            InputNames::Variable { count, .. } => count(params),
            InputNames::Listed { names, .. } => names(params).len(),
            InputNames::Grouped { suffixes, count, .. } => count(params).saturating_mul(1 + suffixes.len()),
            InputNames::Numbered { group, shared, count, .. } => {
                count(params).saturating_mul(group.len()).saturating_add(shared.len())
            }
        }
    }

    /// The subgraphs and tensors that a call takes, as the C API lists them: name and type text.
    pub fn argument_specs(&self) -> Vec<(&'static str, &'static str)> {
        let subgraphs = self.subgraph_names().iter().map(|name| (*name, "Symbol"));
        subgraphs.chain(self.tensor_specs()).collect()
    }

    fn tensor_specs(&self) -> Vec<(&'static str, &'static str)> {
        match self.inputs {
            InputNames::Fixed(names) => names.iter().map(|n| (*n, "NDArray-or-Symbol")).collect(),
            InputNames::ByParams { all, .. } => all.iter().map(|n| (*n, "NDArray-or-Symbol")).collect(),
            InputNames::Variable { listed, .. }
            | InputNames::Grouped { listed, .. }
            | InputNames::Listed { listed, .. }
            | InputNames::Numbered { listed, .. } => {
                vec![(listed, "NDArray-or-Symbol[]")]
            }
        }
    }

    /// The parameter that holds the number of inputs, for an operator with a variable number.
    pub fn variable_count_key(&self) -> Option<&'static str> {
        match self.inputs {
            InputNames::Variable { key, .. } | InputNames::Grouped { key, .. } => Some(key),
            _ => None,
        }
    }

    /// The value of the parameter [`Self::variable_count_key`] for a call with `n_inputs` inputs. MXNet counts subgraphs as
    /// inputs.
    pub fn variable_count(&self, n_inputs: usize) -> usize {
        match self.inputs {
            InputNames::Grouped { suffixes, .. } => n_inputs / (1 + suffixes.len()),
            _ => n_inputs + self.subgraph_names().len(),
        }
    }

    /// Names of the subgraphs of a control-flow operator; none for other operators.
    pub fn subgraph_names(&self) -> &'static [&'static str] {
        self.control_flow.map_or(&[], |flow| flow.subgraphs)
    }
}
