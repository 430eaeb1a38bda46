//! A set of operators, looked up by name or alias, with their companions: operators that only gradients call.

use crate::OpDef;
use indexmap::IndexMap;
use mxrs_types::{Error, ErrorKind, Result};
use std::sync::Arc;

/// Operators by name. Cheap to clone. The code that assembles a runtime makes it once; there is no global registry.
#[derive(Clone, Default)]
pub struct OpSet {
    ops: Arc<IndexMap<&'static str, Arc<OpDef>>>,
    companions: Arc<IndexMap<&'static str, Arc<OpDef>>>,
    aliases: Arc<IndexMap<&'static str, &'static str>>,
}

impl OpSet {
    /// A set of these operators and their companions.
    ///
    /// # Errors
    /// Returns [`ErrorKind::InvalidValue`] if two operators share a name or alias.
    pub fn new(ops: impl IntoIterator<Item = OpDef>) -> Result<Self> {
        Self::with_companions(ops, [])
    }

    /// A set of these operators, their companions, and the companions `more`, which belong to no operator of the set.
    ///
    /// # Errors
    /// Returns [`ErrorKind::InvalidValue`] if two operators share a name or alias.
    pub fn with_companions(
        ops: impl IntoIterator<Item = OpDef>,
        more: impl IntoIterator<Item = OpDef>,
    ) -> Result<Self> {
        let twice = |op: &OpDef| Error::invalid("operator name", op.name, "one operator per name");
        let mut by_name = IndexMap::new();
        let mut companions = IndexMap::new();
        let mut aliases = IndexMap::new();
        let mut add_companions = |mut waiting: Vec<OpDef>| -> Result<()> {
            while let Some(companion) = waiting.pop() {
                waiting.extend((companion.companions)());
                if let Some(old) = companions.insert(companion.name, Arc::new(companion)) {
                    return Err(twice(&old));
                }
            }
            Ok(())
        };
        add_companions(more.into_iter().collect())?;
        for op in ops {
            add_companions((op.companions)())?;
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
            return Err(Error::invalid("operator alias", both, "a word that is not an operator's name"));
        }
        Ok(Self { ops: Arc::new(by_name), companions: Arc::new(companions), aliases: Arc::new(aliases) })
    }

    /// This set extended by these operators and their companions.
    ///
    /// # Errors
    /// Returns [`ErrorKind::InvalidValue`] if an operator has the name or an alias of another one.
    pub fn extended(&self, ops: impl IntoIterator<Item = OpDef>) -> Result<Self> {
        let added = Self::new(ops)?;
        let names = added.ops.keys().chain(added.companions.keys()).chain(added.aliases.keys());
        if let Some(name) = names.copied().find(|name| self.find(name).is_some()) {
            return Err(Error::invalid("operator name", name, "one operator per name"));
        }
        let mut all = self.clone();
        Arc::make_mut(&mut all.ops).extend(added.ops.iter().map(|(name, op)| (*name, op.clone())));
        Arc::make_mut(&mut all.companions).extend(added.companions.iter().map(|(name, op)| (*name, op.clone())));
        Arc::make_mut(&mut all.aliases).extend(added.aliases.iter());
        Ok(all)
    }

    /// The operator with this canonical name or alias. Companions are found too.
    ///
    /// # Errors
    /// Returns [`ErrorKind::UnknownOperator`] with the nearest names.
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

    /// Like [`Self::get`], without the search for nearest names.
    pub fn find(&self, name: &str) -> Option<&Arc<OpDef>> {
        let listed = self.ops.get(name).or_else(|| self.companions.get(name));
        listed.or_else(|| self.ops.get(*self.aliases.get(name)?))
    }

    /// Operators that only gradients call.
    pub fn companions(&self) -> impl Iterator<Item = &Arc<OpDef>> {
        self.companions.values()
    }

    /// All operators except companions, in the order given.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<OpDef>> {
        self.ops.values()
    }

    /// Number of operators, without companions.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extended_set_finds_old_and_new_operators_and_refuses_names_that_are_taken() {
        let aliased = OpDef { aliases: &["_Tanh"], ..OpDef::new("tanh") };
        let set = OpSet::with_companions([aliased], [OpDef::new("_hidden")]).unwrap();
        let larger = set.extended([OpDef::new("mish")]).unwrap();
        assert!(["tanh", "_Tanh", "_hidden", "mish"].iter().all(|name| larger.find(name).is_some()));
        assert!(set.find("mish").is_none() && larger.len() == 2);
        for taken in ["tanh", "_Tanh", "_hidden"] {
            let error = set.extended([OpDef::new(taken)]).unwrap_err().to_string();
            assert!(error.contains(taken), "{error}");
        }
    }
}
