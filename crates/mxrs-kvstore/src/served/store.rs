//! The store of one worker whose values are kept by servers.

use super::tasks::Exchange;
use super::{ServedKey, Servers, divide};
use crate::dist::refuse_rows;
use crate::in_process::entries::{Entries, Group, Values};
use crate::reduce::{Buffers, Job, LocalSum, Reducer, encode, of_process};
use crate::{
    Compression, Family, Key, KvStore, KvStoreOptions, RowPull, RowSparse, StoreType, Updater, UpdaterSettings, Value,
};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_sync::Mutex;
use mxrs_trace::api_call;
use mxrs_types::{Device, Error, Result};
use std::sync::Arc;

/// `dist_async` and its aliases. Each push updates the value on the servers at once.
///
/// Consistency: each update is atomic per key; if the value of a key is divided among servers, per part. A worker reads its own
/// writes: a pull returns a value that includes all earlier pushes of this worker to the key. How many pushes of other workers
/// it includes is not bounded, unless the servers bound it.
pub struct DistAsync {
    store_type: StoreType,
    context: ArrayContext,
    options: KvStoreOptions,
    servers: Arc<dyn Servers>,
    state: Mutex<State>,
}

struct State {
    entries: Entries,
    /// By the position of the key in `entries`.
    keys: Vec<Arc<ServedKey>>,
    reducer: Box<dyn Reducer>,
    buffers: Buffers,
    updater: Option<Box<dyn Updater>>,
    /// The settings of the updater that the servers have.
    sent: Option<UpdaterSettings>,
    compression: Option<Compression>,
}

impl DistAsync {
    /// A store of this type.
    ///
    /// # Errors
    /// Fails if the type is not one of an asynchronous store.
    pub fn new(
        store_type: StoreType,
        context: &ArrayContext,
        options: &KvStoreOptions,
        servers: Arc<dyn Servers>,
    ) -> Result<Self> {
        if store_type.family() != Family::DistAsync {
            return Err(Error::invalid("type of the key-value store", &store_type, "dist_async or one of its aliases"));
        }
        let (threads, reducer) = of_process(&store_type, context, options);
        let state = State {
            entries: Entries::default(),
            keys: Vec::new(),
            reducer,
            buffers: Buffers::new(context, threads),
            updater: None,
            sent: None,
            compression: None,
        };
        let (context, options) = (context.clone(), options.clone());
        Ok(Self { store_type, context, options, servers, state: Mutex::new(state) })
    }

    /// Sends the settings of the updater if they differ from those that the servers have, such as after a change of the
    /// learning rate.
    fn send_settings(&self, state: &mut State) -> Result<()> {
        let Some(updater) = &state.updater else {
            let expected =
                "a call of set_updater before the first push: servers update values, they do not assign them";
            return Err(Error::invalid(format!("updater of the store `{}`", self.store_type), "none", expected));
        };
        let settings = updater.settings()?.ok_or_else(|| self.undescribed())?;
        // Only worker 0 sends changed settings, because its settings count.
        if state.sent.is_some() && (self.servers.rank() != 0 || state.sent.as_ref() == Some(&settings)) {
            return Ok(());
        }
        self.servers.set_updater(&settings)?;
        state.sent = Some(settings);
        Ok(())
    }

    fn undescribed(&self) -> Error {
        let expected = "one that has named settings, such as an optimizer of mxrs: servers are not sent code";
        Error::invalid(format!("updater of the store `{}`", self.store_type), "a function", expected)
    }

    fn exchange<'a>(
        &'a self,
        key: &'a Arc<ServedKey>,
        compression: Option<Compression>,
        priority: i32,
    ) -> Exchange<'a> {
        Exchange { servers: &self.servers, key, compression, priority }
    }

    fn push_all(&self, state: &mut State, groups: &[Group<Values>], priority: i32, wants_value: bool) -> Result<()> {
        for (entry, values) in groups {
            if let Values::RowSparse(_) = values {
                return Err(refuse_rows(
                    &self.store_type,
                    format!("row-sparse values of key {}", state.entries.key(*entry)),
                ));
            }
            if let Some(compression) = state.compression {
                compression.check_dtype(state.entries.stored(*entry).dtype())?;
            }
        }
        self.send_settings(state)?;
        for (entry, values) in groups {
            let Values::Dense(arrays) = values else { continue };
            let State { entries, reducer, buffers, .. } = state;
            let mut local = LocalSum { context: &self.context, entries, reducer: &mut **reducer, buffers };
            let mut value = local.on_host(*entry, arrays, priority)?;
            let (number, stored) = (state.entries.number(*entry), state.entries.stored(*entry));
            if let Some(compression) = state.compression {
                let job = Job { number, values: std::slice::from_ref(&value), priority };
                value = encode(&mut state.buffers, compression, &job, 0, &value)?;
            }
            self.exchange(&state.keys[*entry], state.compression, priority).run(Some(&value), stored, wants_value)?;
        }
        Ok(())
    }

    fn spread(&self, state: &mut State, outs: &[Group<Vec<NdArray>>], priority: i32) -> Result<()> {
        for (entry, outs) in outs {
            let (number, stored) = (state.entries.number(*entry), state.entries.stored(*entry));
            state.reducer.spread(number, stored, outs, priority)?;
        }
        Ok(())
    }
}

impl Drop for DistAsync {
    /// Waits until the requests of this worker have their replies.
    fn drop(&mut self) {
        let state = self.state.lock();
        for entry in 0..state.keys.len() {
            if let Err(error) = state.entries.stored(entry).wait_to_read() {
                tracing::debug!("when the store of worker {} ended: {error}", self.servers.rank());
            }
        }
    }
}

impl KvStore for DistAsync {
    fn store_type(&self) -> &StoreType {
        &self.store_type
    }

    fn init(&self, values: &[(Key, NdArray)]) -> Result<()> {
        let _call = api_call("KvStore::init");
        let mut state = self.state.lock();
        state.entries.check_new(values.iter().map(|(key, _)| key))?;
        let is_divisible = state.updater.as_ref().is_none_or(|updater| updater.is_elementwise());
        let bound = if is_divisible { self.options.big_array_elements } else { u64::MAX };
        let grain = state.compression.map_or(1, |compression| 4 * compression.per_byte());
        for (key, value) in values {
            let stored =
                NdArray::empty(&self.context, value.shape().clone(), value.dtype(), Device::cpu(0), "kvstore")?;
            let number = match key {
                Key::Int(number) => *number,
                Key::Text(_) => state.keys.len() as i64,
            };
            let n_elements = value.shape().n_elements();
            let parts = divide(number, n_elements, self.servers.n_servers(), bound, grain).into();
            let (shape, dtype) = (value.shape().clone(), value.dtype());
            let served = Arc::new(ServedKey { key: key.clone(), number, shape, dtype, parts });
            let first = match self.servers.rank() {
                0 => Some(value.as_in_context(&self.context, Device::cpu(0))?.read_bytes(<[u8]>::to_vec)?),
                _ => None,
            };
            self.servers.init(&served, first)?;
            state.entries.insert(key.clone(), stored);
            state.keys.push(served);
        }
        Ok(())
    }

    fn push(&self, values: &[(Key, Value)], priority: i32) -> Result<()> {
        let _call = api_call("KvStore::push");
        let mut state = self.state.lock();
        let groups = state.entries.group_values(values)?;
        self.push_all(&mut state, &groups, priority, false)
    }

    fn pull(&self, outs: &[(Key, NdArray)], priority: i32) -> Result<()> {
        let _call = api_call("KvStore::pull");
        let mut state = self.state.lock();
        let groups = state.entries.group_outs(outs)?;
        for (entry, _) in &groups {
            self.exchange(&state.keys[*entry], None, priority).run(None, state.entries.stored(*entry), true)?;
        }
        self.spread(&mut state, &groups, priority)
    }

    fn pushpull(&self, values: &[(Key, Value)], outs: &[(Key, NdArray)], priority: i32) -> Result<()> {
        let _call = api_call("KvStore::pushpull");
        let mut state = self.state.lock();
        let values = state.entries.group_values(values)?;
        let outs = if outs.is_empty() { state.entries.own_outs(&values)? } else { state.entries.group_outs(outs)? };
        state.entries.check_counts(&values, &outs)?;
        self.push_all(&mut state, &values, priority, true)?;
        self.spread(&mut state, &outs, priority)
    }

    fn row_sparse_pull(&self, _: &[RowPull], _: i32) -> Result<Vec<Vec<RowSparse>>> {
        Err(refuse_rows(&self.store_type, "rows of values".to_owned()))
    }

    fn set_updater(&self, updater: Box<dyn Updater>) -> Result<()> {
        let mut state = self.state.lock();
        let settings = updater.settings()?.ok_or_else(|| self.undescribed())?;
        if !updater.is_elementwise()
            && let Some(key) = state.keys.iter().find(|key| key.parts.len() > 1)
        {
            let got = format!("one that needs whole values, after key {} was divided among servers", key.key);
            return Err(Error::invalid("updater", got, "a call before `init`"));
        }
        self.servers.set_updater(&settings)?;
        (state.updater, state.sent) = (Some(updater), Some(settings));
        Ok(())
    }

    fn set_gradient_compression(&self, compression: Compression) -> Result<()> {
        let mut state = self.state.lock();
        let State { entries, compression: set, .. } = &mut *state;
        crate::compression::check(&self.store_type, "dist_async", compression, *set, entries.first_key())?;
        *set = Some(compression);
        Ok(())
    }

    fn rank(&self) -> usize {
        self.servers.rank()
    }

    fn num_workers(&self) -> usize {
        self.servers.n_workers()
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        Ok(self.servers.collect(bytes, true)?.unwrap_or_default())
    }

    fn gather(&self, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        self.servers.collect(bytes, false)
    }

    fn barrier(&self) -> Result<()> {
        self.servers.collect(&[], true).map(drop)
    }

    fn updater_states(&self) -> Result<Option<Vec<Vec<u8>>>> {
        // A push may still be on its way to the servers, so its reply is awaited first.
        let state = self.state.lock();
        (0..state.keys.len()).try_for_each(|entry| state.entries.stored(entry).wait_to_read())?;
        self.servers.updater_states().map(Some)
    }

    fn set_updater_states(&self, states: &[u8]) -> Result<bool> {
        self.servers.set_updater_states(states).map(|()| true)
    }

    fn wait_for_updater_states(&self) -> Result<()> {
        self.servers.wait_for_updater_states()
    }

    fn fail(&self) {
        self.servers.fail();
    }
}
