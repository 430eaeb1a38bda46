//! The keys of a store with their values, and the checks of the keys and arrays that callers give.

use crate::reduce::KeySize;
use crate::sum::check_dtype;
use crate::{Key, RowSparse, Value};
use indexmap::IndexMap;
use mxrs_ndarray::NdArray;
use mxrs_types::{Device, Error, Result};
use std::sync::Arc;

/// The value of one key.
struct Entry {
    key: Key,
    /// The number of the key: the key itself if it is a number, otherwise the number of keys that were added before it.
    number: i64,
    stored: NdArray,
    /// The last sum, if the store has an updater.
    sum: Option<NdArray>,
}

/// The values of one key in one push.
pub(crate) enum Values {
    Dense(Vec<NdArray>),
    RowSparse(Vec<RowSparse>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Dense(arrays) => arrays.len(),
            Self::RowSparse(rows) => rows.len(),
        }
    }
}

/// What a call gives for one key: the position of the key, and the values or arrays.
pub(crate) type Group<T> = (usize, T);

/// All keys of a store.
#[derive(Default)]
pub(crate) struct Entries(IndexMap<Key, Entry>);

impl Entries {
    /// Checks that these keys may be added.
    pub fn check_new<'a>(&self, keys: impl Iterator<Item = &'a Key>) -> Result<()> {
        let mut seen = std::collections::HashSet::new();
        let mut first = self.first_key();
        for key in keys {
            check_kind(first.get_or_insert(key), key)?;
            if self.0.contains_key(key) || !seen.insert(key) {
                let got = format!("duplicate init of key {key}");
                return Err(Error::invalid("key", got, "one call of `init` or `broadcast` for each key"));
            }
        }
        Ok(())
    }

    pub fn insert(&mut self, key: Key, stored: NdArray) {
        let number = match &key {
            Key::Int(number) => *number,
            Key::Text(_) => self.0.len() as i64,
        };
        self.0.insert(key.clone(), Entry { key, number, stored, sum: None });
    }

    pub fn first_key(&self) -> Option<&Key> {
        self.0.keys().next()
    }

    /// The position of a key.
    pub fn find(&self, key: &Key) -> Result<usize> {
        if let Some(first) = self.first_key() {
            check_kind(first, key)?;
        }
        self.0.get_index_of(key).ok_or_else(|| {
            Error::invalid("key", format!("{key}, which has no value"), "a key whose first value was given to `init`")
        })
    }

    /// The key with this number.
    pub fn key_of(&self, number: i64) -> Option<&Key> {
        self.0.values().find(|entry| entry.number == number).map(|entry| &entry.key)
    }

    pub fn key(&self, entry: usize) -> &Key {
        &self.0[entry].key
    }

    pub fn number(&self, entry: usize) -> i64 {
        self.0[entry].number
    }

    pub fn stored(&self, entry: usize) -> &NdArray {
        &self.0[entry].stored
    }

    pub fn set_stored(&mut self, entry: usize, stored: NdArray) {
        self.0[entry].stored = stored;
    }

    /// For each key, its number and its number of elements.
    pub fn sizes(&self) -> Vec<KeySize> {
        self.0.values().map(|entry| (entry.number, entry.stored.shape().n_elements())).collect()
    }

    /// The array for the sum of a key, on `device`: a separate array if there is an updater, else the stored value.
    pub fn target(
        &mut self,
        entry: usize,
        is_separate: bool,
        device: Device,
        make: impl FnOnce(&NdArray) -> Result<NdArray>,
    ) -> Result<NdArray> {
        let Entry { stored, sum, .. } = &mut self.0[entry];
        if !is_separate {
            if stored.device() != device {
                *stored = make(stored)?;
            }
            return Ok(stored.clone());
        }
        match sum {
            Some(sum) if sum.device() == device => Ok(sum.clone()),
            _ => Ok(sum.insert(make(stored)?).clone()),
        }
    }

    /// The values by key, in the order of the keys' numbers. The values of one key keep their order.
    pub fn group_values(&self, values: &[(Key, Value)]) -> Result<Vec<Group<Values>>> {
        let mut groups: Vec<Group<Values>> = Vec::with_capacity(values.len());
        let mut places = Places::of(self);
        for (position, (key, value)) in values.iter().enumerate() {
            let entry = self.find(key)?;
            self.check_value(entry, value, || format!("value {position}, of key {key}"))?;
            let group = places.find(entry, groups.len()).map(|place| &mut groups[place]);
            match (group, value) {
                (Some((_, Values::Dense(arrays))), Value::Dense(array)) => arrays.push(array.clone()),
                (Some((_, Values::RowSparse(all))), Value::RowSparse(rows)) => all.push(rows.clone()),
                (Some(_), _) => {
                    let got = format!("dense and row-sparse values of key {key}");
                    return Err(Error::invalid("values to sum", got, "values of one kind for each key"));
                }
                (None, Value::Dense(array)) => groups.push((entry, Values::Dense(vec![array.clone()]))),
                (None, Value::RowSparse(rows)) => groups.push((entry, Values::RowSparse(vec![rows.clone()]))),
            }
        }
        groups.sort_by_key(|(entry, _)| self.number(*entry));
        Ok(groups)
    }

    fn check_value(&self, entry: usize, value: &Value, argument: impl Fn() -> String) -> Result<()> {
        let stored = self.stored(entry);
        match value {
            Value::Dense(array) => check_like("push", stored, array, &argument)?,
            Value::RowSparse(rows) => {
                check_type("push", stored, rows.rows(), &argument)?;
                rows.check_fits(stored.shape(), &argument)?;
            }
        }
        check_dtype(stored.dtype())
    }

    /// The arrays to overwrite by key, in the order of the keys' numbers.
    pub fn group_outs(&self, outs: &[(Key, NdArray)]) -> Result<Vec<Group<Vec<NdArray>>>> {
        let mut groups: Vec<Group<Vec<NdArray>>> = Vec::with_capacity(outs.len());
        let mut places = Places::of(self);
        for (position, (key, out)) in outs.iter().enumerate() {
            let entry = self.find(key)?;
            check_like("pull", self.stored(entry), out, &|| format!("output {position}, of key {key}"))?;
            match places.find(entry, groups.len()) {
                Some(place) => groups[place].1.push(out.clone()),
                None => groups.push((entry, vec![out.clone()])),
            }
        }
        groups.sort_by_key(|(entry, _)| self.number(*entry));
        Ok(groups)
    }

    /// The dense values of a push, grouped as the outputs of a pull, for a `pushpull` that overwrites its values.
    pub fn own_outs(&self, values: &[Group<Values>]) -> Result<Vec<Group<Vec<NdArray>>>> {
        let own = values.iter().map(|(entry, values)| match values {
            Values::Dense(arrays) => Ok((*entry, arrays.clone())),
            Values::RowSparse(_) => {
                let got = format!("row-sparse values of key {}", self.key(*entry));
                Err(Error::invalid("values to overwrite", got, "dense values, or arrays for the result"))
            }
        });
        own.collect()
    }

    /// Checks that the arrays for a result belong to keys that have values, and that there is one for each value.
    pub fn check_counts(&self, values: &[Group<Values>], outs: &[Group<Vec<NdArray>>]) -> Result<()> {
        let mut values = values.iter().peekable();
        for (entry, outs) in outs {
            while values.next_if(|(other, _)| self.number(*other) < self.number(*entry)).is_some() {}
            let n_values = values.next_if(|(other, _)| other == entry).map_or(0, |(_, values)| values.len());
            if n_values != outs.len() {
                let got = format!("{} for {n_values} values of key {}", outs.len(), self.key(*entry));
                return Err(Error::invalid("arrays for the result of `pushpull`", got, "one for each value"));
            }
        }
        Ok(())
    }

    /// The row numbers, sorted and without repetitions. Fails unless the value of the key has these rows.
    pub fn check_ids(&self, entry: usize, ids: &[i64]) -> Result<Arc<[i64]>> {
        let shape = self.stored(entry).shape();
        let Some(&n_rows) = shape.first() else {
            return Err(Error::shape("row_sparse_pull", self.key(entry).to_string(), "at least one axis", shape));
        };
        if let Some(id) = ids.iter().find(|&&id| id < 0 || id as u64 >= n_rows as u64) {
            let what = format!("row number of key {}", self.key(entry));
            return Err(Error::invalid(what, id, format!("a number from 0 below {n_rows}")));
        }
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        Ok(ids.into())
    }
}

fn check_kind(first: &Key, key: &Key) -> Result<()> {
    if matches!(first, Key::Int(_)) == matches!(key, Key::Int(_)) {
        return Ok(());
    }
    let kind = |key: &Key| if matches!(key, Key::Int(_)) { "a number" } else { "a text" };
    let expected = format!("{}, like key {first}: a store has keys of one kind", kind(first));
    Err(Error::invalid("key", format!("{} ({key})", kind(key)), expected))
}

fn check_like(verb: &str, stored: &NdArray, array: &NdArray, argument: &impl Fn() -> String) -> Result<()> {
    if stored.shape() != array.shape() {
        return Err(Error::shape(verb, argument(), stored.shape().to_string(), array.shape()));
    }
    check_type(verb, stored, array, argument)
}

fn check_type(verb: &str, stored: &NdArray, array: &NdArray, argument: &impl Fn() -> String) -> Result<()> {
    if stored.dtype() == array.dtype() {
        return Ok(());
    }
    Err(Error::dtype(verb, argument(), stored.dtype().name(), array.dtype()))
}

/// Where the group of each key is in a list of groups.
struct Places(Vec<usize>);

impl Places {
    fn of(entries: &Entries) -> Self {
        Self(vec![usize::MAX; entries.0.len()])
    }

    /// The position of the key's group in the list. If the key has no group yet, returns `None` and notes that its group
    /// will be at `next`.
    fn find(&mut self, entry: usize, next: usize) -> Option<usize> {
        match std::mem::replace(&mut self.0[entry], next) {
            usize::MAX => None,
            place => {
                self.0[entry] = place;
                Some(place)
            }
        }
    }
}
