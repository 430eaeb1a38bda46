//! The stores of one process, `local` and `device`. They differ only in how they sum.

pub(crate) mod entries;

use crate::reduce::{
    Buffers, DeviceReducer, HostReducer, Job, Reducer, TreeReducer, assign_rows, copy, gather_rows, sum_row_sparse,
};
use crate::sum::SumThreads;
use crate::{
    Compression, Key, KvStore, KvStoreOptions, Residual, RowPull, RowSparse, StoreType, Update, Updater, Value,
};
use entries::{Entries, Group, Values};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_sync::Mutex;
use mxrs_trace::api_call;
use mxrs_types::{DType, Device, Error, Result};
use std::sync::Arc;

/// A store of this process.
pub(crate) struct InProcess {
    store_type: StoreType,
    context: ArrayContext,
    options: KvStoreOptions,
    threads: Arc<SumThreads>,
    state: Mutex<State>,
}

struct State {
    entries: Entries,
    reducer: Box<dyn Reducer>,
    /// Arrays for row-sparse values, which all stores sum in the same way.
    rows: Buffers,
    updater: Option<Box<dyn Updater>>,
    compression: Option<Compression>,
}

impl InProcess {
    pub fn new(store_type: StoreType, context: &ArrayContext, options: &KvStoreOptions) -> Self {
        let threads = match store_type.reduces_on_device() {
            true => SumThreads::of_devices(options),
            false => SumThreads::of_host(options),
        };
        let row_threads = if options.serial_rows { SumThreads::single(options) } else { threads.clone() };
        let state = State {
            entries: Entries::default(),
            reducer: reducer(&store_type, context, options, &threads, None),
            rows: Buffers::new(context, row_threads),
            updater: None,
            compression: None,
        };
        let (context, options) = (context.clone(), options.clone());
        Self { store_type, context, options, threads, state: Mutex::new(state) }
    }

    fn new_array(&self, like: &NdArray, device: Device) -> Result<NdArray> {
        NdArray::empty(&self.context, like.shape().clone(), like.dtype(), device, "kvstore")
    }
}

/// How a store of this type sums.
fn reducer(
    store_type: &StoreType,
    context: &ArrayContext,
    options: &KvStoreOptions,
    threads: &Arc<SumThreads>,
    compression: Option<Compression>,
) -> Box<dyn Reducer> {
    let buffers = Buffers::new(context, threads.clone());
    if !store_type.reduces_on_device() {
        return Box::new(HostReducer::new(buffers));
    }
    let star = DeviceReducer::new(buffers, options, compression);
    match options.tree {
        Some(tree) => Box::new(TreeReducer::new(star, options, tree)),
        None => Box::new(star),
    }
}

impl State {
    /// Sums the values of one key. If there is an updater, returns the update that it shall make.
    fn push_key(&mut self, store: &InProcess, entry: usize, values: &Values, priority: i32) -> Result<Option<Update>> {
        let updates = self.updater.is_some();
        let sum = match values {
            Values::RowSparse(rows) => {
                let sum = sum_row_sparse(&mut self.rows, self.entries.number(entry), rows, priority)?;
                if !updates {
                    assign_rows(&sum, self.entries.stored(entry), &mut self.rows, priority)?;
                    return Ok(None);
                }
                Value::RowSparse(sum)
            }
            Values::Dense(arrays) => {
                let job = Job { number: self.entries.number(entry), values: arrays, priority };
                let device = self.reducer.place(&job, &|| self.entries.sizes())?;
                match arrays.as_slice() {
                    [value] if updates && self.reducer.keeps_single() => Value::Dense(value.clone()),
                    _ => {
                        let out = self.entries.target(entry, updates, device, |like| store.new_array(like, device))?;
                        self.reducer.reduce(&job, &out)?;
                        Value::Dense(out)
                    }
                }
            }
        };
        if !updates {
            return Ok(None);
        }
        // If sums of this key are on a device, a stored value that is still in host memory moves to this device.
        let device = sum.device();
        if !device.is_host() && self.entries.stored(entry).device().is_host() {
            let moved = store.new_array(self.entries.stored(entry), device)?;
            copy(self.entries.stored(entry), &moved, priority)?;
            self.entries.set_stored(entry, moved);
        }
        let (key, stored) = (self.entries.key(entry).clone(), self.entries.stored(entry).clone());
        Ok(Some(Update { key, sum, stored, part: None, priority }))
    }

    fn push(&mut self, store: &InProcess, groups: &[Group<Values>], priority: i32) -> Result<()> {
        self.check_compression(groups)?;
        let mut updates = Vec::with_capacity(groups.len());
        for (entry, values) in groups {
            updates.extend(self.push_key(store, *entry, values, priority)?);
        }
        match &mut self.updater {
            Some(updater) => updater.update(&updates),
            None => Ok(()),
        }
    }

    fn check_compression(&self, groups: &[Group<Values>]) -> Result<()> {
        let Some(compression) = self.compression else { return Ok(()) };
        for (entry, values) in groups {
            if let Values::RowSparse(_) = values {
                let got = format!("row-sparse values of key {}", self.entries.key(*entry));
                return Err(Error::invalid("values to compress", got, "dense values"));
            }
            compression.check_dtype(self.entries.stored(*entry).dtype())?;
        }
        Ok(())
    }

    fn pull(&mut self, outs: &[Group<Vec<NdArray>>], priority: i32) -> Result<()> {
        for (entry, outs) in outs {
            let (number, stored) = (self.entries.number(*entry), self.entries.stored(*entry));
            self.reducer.spread(number, stored, outs, priority)?;
        }
        Ok(())
    }

    /// A push and a pull of the same keys. Without an updater, each key is summed and copied to its outputs in one pass over
    /// its values.
    fn pushpull(
        &mut self,
        store: &InProcess,
        values: &[Group<Values>],
        outs: &[Group<Vec<NdArray>>],
        priority: i32,
    ) -> Result<()> {
        if self.updater.is_some() {
            self.push(store, values, priority)?;
            return self.pull(outs, priority);
        }
        self.check_compression(values)?;
        let mut outs = outs.iter().peekable();
        for (entry, values) in values {
            let outs = outs.next_if(|(other, _)| other == entry).map_or(&[][..], |(_, outs)| outs);
            match values {
                Values::Dense(arrays) => {
                    let job = Job { number: self.entries.number(*entry), values: arrays, priority };
                    let device = self.reducer.place(&job, &|| self.entries.sizes())?;
                    let stored = self.entries.target(*entry, false, device, |like| store.new_array(like, device))?;
                    self.reducer.reduce_and_spread(&job, &stored, outs)?;
                }
                Values::RowSparse(_) => {
                    self.push_key(store, *entry, values, priority)?;
                    self.reducer.spread(self.entries.number(*entry), self.entries.stored(*entry), outs, priority)?;
                }
            }
        }
        Ok(())
    }
}

impl KvStore for InProcess {
    fn store_type(&self) -> &StoreType {
        &self.store_type
    }

    fn init(&self, values: &[(Key, NdArray)]) -> Result<()> {
        let _call = api_call("KvStore::init");
        let mut state = self.state.lock();
        state.entries.check_new(values.iter().map(|(key, _)| key))?;
        for (key, value) in values {
            let stored = self.new_array(value, Device::cpu(0))?;
            copy(value, &stored, 0)?;
            state.entries.insert(key.clone(), stored);
        }
        Ok(())
    }

    fn push(&self, values: &[(Key, Value)], priority: i32) -> Result<()> {
        let _call = api_call("KvStore::push");
        let mut state = self.state.lock();
        let groups = state.entries.group_values(values)?;
        state.push(self, &groups, priority)
    }

    fn pull(&self, outs: &[(Key, NdArray)], priority: i32) -> Result<()> {
        let _call = api_call("KvStore::pull");
        let mut state = self.state.lock();
        let groups = state.entries.group_outs(outs)?;
        state.pull(&groups, priority)
    }

    fn pushpull(&self, values: &[(Key, Value)], outs: &[(Key, NdArray)], priority: i32) -> Result<()> {
        let _call = api_call("KvStore::pushpull");
        let mut state = self.state.lock();
        let values = state.entries.group_values(values)?;
        let outs = if outs.is_empty() { state.entries.own_outs(&values)? } else { state.entries.group_outs(outs)? };
        state.entries.check_counts(&values, &outs)?;
        state.pushpull(self, &values, &outs, priority)
    }

    fn row_sparse_pull(&self, pulls: &[RowPull], priority: i32) -> Result<Vec<Vec<RowSparse>>> {
        let _call = api_call("KvStore::row_sparse_pull");
        let mut state = self.state.lock();
        let State { entries, rows, .. } = &mut *state;
        let mut results = Vec::with_capacity(pulls.len());
        for RowPull { key, ids, devices } in pulls {
            let entry = entries.find(key)?;
            let (stored, ids) = (entries.stored(entry), entries.check_ids(entry, ids)?);
            results.push(gather_rows(stored, &ids, devices, rows, entries.number(entry), priority)?);
        }
        Ok(results)
    }

    fn set_updater(&self, updater: Box<dyn Updater>) -> Result<()> {
        self.state.lock().updater = Some(updater);
        Ok(())
    }

    fn set_gradient_compression(&self, compression: Compression) -> Result<()> {
        let mut state = self.state.lock();
        crate::compression::check(
            &self.store_type,
            "device",
            compression,
            state.compression,
            state.entries.first_key(),
        )?;
        state.compression = Some(compression);
        state.reducer = reducer(&self.store_type, &self.context, &self.options, &self.threads, Some(compression));
        Ok(())
    }

    fn residuals(&self) -> Result<Vec<Residual>> {
        let mut state = self.state.lock();
        let State { reducer, entries, .. } = &mut *state;
        let Some(buffers) = reducer.compressed() else { return Ok(Vec::new()) };
        let known =
            |(number, position, array)| Some(Residual { key: entries.key_of(number)?.clone(), position, array });
        Ok(buffers.residuals().into_iter().filter_map(known).collect())
    }

    fn set_residuals(&self, residuals: &[Residual]) -> Result<()> {
        let mut state = self.state.lock();
        let State { reducer, entries, .. } = &mut *state;
        for Residual { key, position, array } in residuals {
            let Some(buffers) = reducer.compressed() else {
                let expected = "a store that compresses gradients";
                return Err(Error::invalid(format!("residual of key {key}"), &self.store_type, expected));
            };
            let entry = entries.find(key)?;
            let n_elements = entries.stored(entry).shape().n_elements();
            if array.shape()[..] != [n_elements] || array.dtype() != DType::F32 {
                let got = format!("{} {}", array.dtype(), array.shape());
                return Err(Error::invalid(format!("residual of key {key}"), got, format!("float32 ({n_elements},)")));
            }
            let own = NdArray::empty(&self.context, [n_elements], DType::F32, Device::cpu(0), "kvstore")?;
            copy(array, &own, 0)?;
            buffers.set_residual(entries.number(entry), *position, own);
        }
        Ok(())
    }
}
