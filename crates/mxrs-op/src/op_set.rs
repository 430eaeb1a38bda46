//! A set of operators, looked up by name or alias.

use crate::OpDef;
use indexmap::IndexMap;
use mxrs_types::{Error, ErrorKind, Result};
use std::sync::Arc;

/// Operators by name. Cheap to clone; built once by whoever assembles a runtime. There is no global registry.
#[derive(Clone, Default)]
pub struct OpSet {
    ops: Arc<IndexMap<&'static str, Arc<OpDef>>>,
    companions: Arc<IndexMap<&'static str, Arc<OpDef>>>,
    aliases: Arc<IndexMap<&'static str, &'static str>>,
}

impl OpSet {
    /// A set of these operators and of their companions.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] when two of them share a name or alias.
    pub fn new(ops: impl IntoIterator<Item = OpDef>) -> Result<Self> {
        let twice = |op: &OpDef| Error::invalid("operator name", op.name, "one operator per name");
        let mut by_name = IndexMap::new();
        let mut companions = IndexMap::new();
        let mut aliases = IndexMap::new();
        for op in ops {
            let mut beside = (op.companions)();
            while let Some(companion) = beside.pop() {
                beside.extend((companion.companions)());
                if let Some(old) = companions.insert(companion.name, Arc::new(companion)) {
                    return Err(twice(&old));
                }
            }
            let op = Arc::new(op);
            for alias in op.aliases {
                if aliases.insert(*alias, op.name).is_some() {
                    return Err(Error::invalid("operator alias", alias, "one operator per alias"));
                }
            }
            if let Some(old) = by_name.insert(op.name, op) {
                return Err(twice(&old));
            }
        }
        if let Some(both) = companions.values().find(|op| by_name.contains_key(op.name)) {
            return Err(twice(both));
        }
        if let Some(both) = aliases.keys().find(|a| by_name.contains_key(*a)) {
            return Err(Error::invalid("operator alias", both, "a word that is no operator's name"));
        }
        Ok(Self { ops: Arc::new(by_name), companions: Arc::new(companions), aliases: Arc::new(aliases) })
    }

    /// The operator called `name`, by canonical name or alias, companions included.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownOperator`] with the nearest names.
    pub fn get(&self, name: &str) -> Result<&Arc<OpDef>> {
        self.find(name).ok_or_else(|| {
            let mut near: Vec<(f64, &str)> = self
                .ops
                .keys()
                .chain(self.aliases.keys())
                .map(|k| (strsim::jaro_winkler(k, name), *k))
                .filter(|(score, _)| *score > 0.8)
                .collect();
            near.sort_by(|a, b| b.0.total_cmp(&a.0));
            Error::new(ErrorKind::UnknownOperator {
                name: name.chars().take(120).collect(),
                nearest: near.into_iter().take(3).map(|(_, k)| k.to_string()).collect(),
            })
        })
    }

    /// As [`Self::get`], without the search for nearest names.
    pub fn find(&self, name: &str) -> Option<&Arc<OpDef>> {
        let listed = self.ops.get(name).or_else(|| self.companions.get(name));
        listed.or_else(|| self.ops.get(*self.aliases.get(name)?))
    }

    /// Operators that only gradients call.
    pub fn companions(&self) -> impl Iterator<Item = &Arc<OpDef>> {
        self.companions.values()
    }

    /// Every operator but companions, in the order given.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<OpDef>> {
        self.ops.values()
    }

    /// Number of operators, companions not counted.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }
}

impl std::fmt::Debug for OpSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.ops.keys()).finish()
    }
}
