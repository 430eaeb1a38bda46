//! The division of the keys among the workers, and the check that all workers have the same keys.

use super::{DistSync, State};
use crate::Family;
use crate::dist::plan::{Rules, owned, plan};
use mxrs_types::{Error, Result};

impl DistSync {
    /// Divides the keys that are not divided yet. Checks that all workers have the same keys and settings.
    pub(super) fn plan(&self, state: &mut State) -> Result<()> {
        if state.n_planned == state.keys.len() {
            return Ok(());
        }
        let is_divisible = state.updater.as_ref().is_none_or(|updater| updater.is_elementwise());
        let grain = state.compression.map_or(1, |compression| 4 * compression.per_byte());
        let slice_elements = (self.store_type.family() == Family::P3).then_some(self.options.slice_elements);
        let big_array_elements = self.options.big_array_elements;
        let n_workers = self.group.size();
        let rules = Rules { n_workers, big_array_elements, slice_elements, is_divisible, grain };
        let new = state.n_planned..state.keys.len();
        let mut text = format!(
            "store {} of the family {:?}\nupdates by the store: {}\ncompression: {:?}\n{rules:?}\n",
            self.number,
            self.store_type.family(),
            state.updater.is_some(),
            state.compression,
        );
        for entry in new.clone() {
            let stored = state.entries.stored(entry);
            text += &format!("key {} {} {}\n", state.keys[entry].label, stored.dtype(), stored.shape());
        }
        check_equal(&self.group.all_gather(text.as_bytes())?)?;
        let sizes: Vec<usize> = new.clone().map(|entry| state.entries.stored(entry).shape().n_elements()).collect();
        for (entry, pieces) in new.zip(plan(&sizes, &rules)) {
            let key = &mut state.keys[entry];
            key.own = owned(&pieces, self.group.rank());
            key.pieces = pieces.into();
        }
        state.n_planned = state.keys.len();
        Ok(())
    }
}

/// Checks that all workers gave the same text.
fn check_equal(texts: &[Vec<u8>]) -> Result<()> {
    let Some(first) = texts.first() else { return Ok(()) };
    let Some(rank) = texts.iter().position(|text| text != first) else { return Ok(()) };
    let (ours, theirs) = (String::from_utf8_lossy(first), String::from_utf8_lossy(&texts[rank]));
    let (mut ours, mut theirs) = (ours.lines(), theirs.lines());
    loop {
        let (one, other) = (ours.next(), theirs.next());
        if one != other {
            let shown = |line: Option<&str>| line.map_or("no further key".to_owned(), |line| format!("`{line}`"));
            let expected = format!("{}, as worker 0 has: all workers must train the same network", shown(one));
            return Err(Error::invalid(format!("keys and settings of worker {rank}"), shown(other), expected));
        }
        if one.is_none() {
            return Ok(());
        }
    }
}
