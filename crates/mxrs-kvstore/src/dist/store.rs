//! The store of one worker.

mod direct;
mod planning;

use super::group::{AllReduce, Command, Group};
use super::job::RoundId;
use super::plan::{Piece, Rules, plan};
use super::sum::Codec;
use super::tasks::{Round, exchange, fetch, first, send_and_sum};
use crate::in_process::entries::{Entries, Group as Grouped, Values};
use crate::reduce::{Buffers, Job, LocalSum, Reducer, copy, encode, of_process};
use crate::{
    Compression, Family, Key, KvStore, KvStoreOptions, Residual, RowPull, RowSparse, StoreType, Update, Updater, Value,
};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_sync::Mutex;
use mxrs_trace::api_call;
use mxrs_types::{DType, Device, Error, Result};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// A store whose values are the same on all workers of a group: `dist_sync` with its aliases, `p3` or `horovod`.
pub struct DistSync {
    store_type: StoreType,
    context: ArrayContext,
    options: KvStoreOptions,
    group: Arc<Group>,
    number: u32,
    commands: Sender<Command>,
    state: Mutex<State>,
}

/// What is known of a key besides its value.
struct KeyState {
    label: Arc<str>,
    /// Empty until the key is planned.
    pieces: Arc<[Piece]>,
    /// The elements that this worker owns.
    own: Range<usize>,
    /// The number of pushes so far.
    n_pushes: u64,
    /// The sum of the elements that this worker owns, if the store updates.
    sum: Option<NdArray>,
}

struct State {
    entries: Entries,
    /// By the position of the key in `entries`.
    keys: Vec<KeyState>,
    n_planned: usize,
    reducer: Box<dyn Reducer>,
    buffers: Buffers,
    updater: Option<Box<dyn Updater>>,
    compression: Option<Compression>,
}

impl DistSync {
    /// A store of this type. All workers of the group make their stores in the same order.
    ///
    /// # Errors
    /// Fails if the type is not one of a synchronous store of several workers.
    pub fn new(
        store_type: StoreType,
        context: &ArrayContext,
        options: &KvStoreOptions,
        group: &Arc<Group>,
    ) -> Result<Self> {
        if !matches!(store_type.family(), Family::DistSync | Family::P3 | Family::Horovod) {
            let expected = "dist_sync, its aliases, p3 or horovod";
            return Err(Error::invalid("type of the key-value store", &store_type, expected));
        }
        let (threads, reducer) = of_process(&store_type, context, options);
        let state = State {
            entries: Entries::default(),
            keys: Vec::new(),
            n_planned: 0,
            reducer,
            buffers: Buffers::new(context, threads),
            updater: None,
            compression: None,
        };
        let (number, commands) = (group.next_store(), group.commands());
        let (context, options, group) = (context.clone(), options.clone(), Arc::clone(group));
        Ok(Self { store_type, context, options, group, number, commands, state: Mutex::new(state) })
    }

    fn new_array(&self, shape: impl Into<mxrs_types::Shape>, dtype: DType) -> Result<NdArray> {
        NdArray::empty(&self.context, shape, dtype, Device::cpu(0), "kvstore")
    }

    /// Pushes values. `direct` has, for each group of values, an array that gets the new value together with the store's own
    /// copy, if there is one. It may be empty.
    fn push_all(
        &self,
        state: &mut State,
        groups: &[Grouped<Values>],
        direct: &[Option<NdArray>],
        priority: i32,
    ) -> Result<()> {
        // All values are checked before the first message is sent: a round that only some workers begin never ends.
        for (entry, values) in groups {
            if let Values::RowSparse(_) = values {
                let what = format!("row-sparse values of key {}", state.entries.key(*entry));
                return Err(refuse_rows(&self.store_type, what));
            }
            if let Some(compression) = state.compression {
                compression.check_dtype(state.entries.stored(*entry).dtype())?;
            }
        }
        self.plan(state)?;
        let (mut updates, mut rounds) = (Vec::new(), Vec::new());
        for (i, (entry, values)) in groups.iter().enumerate() {
            let Values::Dense(arrays) = values else { continue };
            let State { entries, reducer, buffers, .. } = state;
            let mut local = LocalSum { context: &self.context, entries, reducer: &mut **reducer, buffers };
            let value = local.on_host(*entry, arrays, priority)?;
            let outs = direct.get(i).and_then(Option::as_ref);
            let (round, update) = self.push_key(state, *entry, &value, outs, priority)?;
            updates.extend(update);
            rounds.push((*entry, round));
        }
        let Some(updater) = &mut state.updater else { return Ok(()) };
        if !updates.is_empty() {
            updater.update(&updates)?;
        }
        rounds.iter().try_for_each(|(entry, round)| fetch(round, state.entries.stored(*entry)))
    }

    /// Sends the value of one key. If the store updates, returns the update of the elements that this worker owns.
    fn push_key(
        &self,
        state: &mut State,
        entry: usize,
        value: &NdArray,
        out: Option<&NdArray>,
        priority: i32,
    ) -> Result<(Round, Option<Update>)> {
        let (stored, number) = (state.entries.stored(entry).clone(), state.entries.number(entry));
        let value = match state.compression {
            None => value.clone(),
            Some(compression) => {
                let job = Job { number, values: std::slice::from_ref(value), priority };
                encode(&mut state.buffers, compression, &job, 0, value)?
            }
        };
        let key = &mut state.keys[entry];
        let codec = Codec { dtype: stored.dtype(), compression: state.compression };
        let round = self.round(entry, key.n_pushes, &key.label, &key.pieces, codec, priority);
        key.n_pushes += 1;
        if state.updater.is_none() {
            exchange(&round, &value, &stored, out.map_or(&[], std::slice::from_ref))?;
            return Ok((round, None));
        }
        if key.own.is_empty() {
            send_and_sum(&round, &value, &stored, None)?;
            return Ok((round, None));
        }
        let n_elements = stored.shape().n_elements();
        let (own, part) = match key.own.len() == n_elements {
            true => (stored.clone(), None),
            false => (stored.reshape([n_elements])?.slice(key.own.start, key.own.end)?, Some(key.own.clone())),
        };
        let sum = match &key.sum {
            Some(sum) => sum.clone(),
            None => key.sum.insert(self.new_array(own.shape().clone(), own.dtype())?).clone(),
        };
        send_and_sum(&round, &value, &stored, Some(&sum))?;
        let key = state.entries.key(entry).clone();
        Ok((round, Some(Update { key, sum: Value::Dense(sum), stored: own, part, priority })))
    }

    fn round(
        &self,
        entry: usize,
        round: u64,
        label: &Arc<str>,
        pieces: &Arc<[Piece]>,
        codec: Codec,
        priority: i32,
    ) -> Round {
        Round {
            id: RoundId { store: self.number, key: u32::try_from(entry).unwrap_or(u32::MAX), round },
            label: Arc::clone(label),
            pieces: Arc::clone(pieces),
            codec,
            priority,
            rank: self.group.rank(),
            n_workers: self.group.size(),
            commands: self.commands.clone(),
        }
    }

    fn pull_all(&self, state: &mut State, outs: &[Grouped<Vec<NdArray>>], priority: i32) -> Result<()> {
        for (entry, outs) in outs {
            let (number, stored) = (state.entries.number(*entry), state.entries.stored(*entry));
            state.reducer.spread(number, stored, outs, priority)?;
        }
        Ok(())
    }
}

/// The error for row-sparse values in stores of several processes.
pub(crate) fn refuse_rows(store_type: &StoreType, what: String) -> Error {
    let reason = "it exchanges dense values only; use dense gradients".to_owned();
    Error::not_built(format!("{what} in the store `{store_type}`"), reason)
}

impl Drop for DistSync {
    /// Waits until the rounds of this worker are complete: other workers wait for the elements that it owns.
    fn drop(&mut self) {
        let state = self.state.lock();
        for entry in 0..state.keys.len() {
            // An error is ignored: it was returned to a reader of the value, or was logged by the thread that communicates.
            drop(state.entries.stored(entry).wait_to_read());
        }
    }
}

impl KvStore for DistSync {
    fn store_type(&self) -> &StoreType {
        &self.store_type
    }

    fn init(&self, values: &[(Key, NdArray)]) -> Result<()> {
        let _call = api_call("KvStore::init");
        let mut state = self.state.lock();
        state.entries.check_new(values.iter().map(|(key, _)| key))?;
        for (key, value) in values {
            let stored = self.new_array(value.shape().clone(), value.dtype())?;
            let label: Arc<str> = key.to_string().into();
            let n_elements = stored.shape().n_elements();
            // The pieces in which worker 0 sends the first value. Worker 0 is their only owner.
            let rules = Rules {
                n_workers: 1,
                big_array_elements: u64::MAX,
                slice_elements: None,
                is_divisible: false,
                grain: 1,
            };
            let pieces = plan(&[n_elements], &rules).pop().unwrap_or_default().into();
            let codec = Codec { dtype: stored.dtype(), compression: None };
            let round = self.round(state.keys.len(), 0, &label, &pieces, codec, 0);
            let value = value.as_in_context(&self.context, Device::cpu(0))?;
            first(&round, &value, &stored)?;
            state.entries.insert(key.clone(), stored);
            state.keys.push(KeyState { label, pieces: Arc::default(), own: 0..0, n_pushes: 0, sum: None });
        }
        Ok(())
    }

    fn push(&self, values: &[(Key, Value)], priority: i32) -> Result<()> {
        let _call = api_call("KvStore::push");
        let mut state = self.state.lock();
        let groups = state.entries.group_values(values)?;
        self.push_all(&mut state, &groups, &[], priority)
    }

    fn pull(&self, outs: &[(Key, NdArray)], priority: i32) -> Result<()> {
        let _call = api_call("KvStore::pull");
        let mut state = self.state.lock();
        let groups = state.entries.group_outs(outs)?;
        self.pull_all(&mut state, &groups, priority)
    }

    fn pushpull(&self, values: &[(Key, Value)], outs: &[(Key, NdArray)], priority: i32) -> Result<()> {
        let _call = api_call("KvStore::pushpull");
        let mut state = self.state.lock();
        let values = state.entries.group_values(values)?;
        let outs = if outs.is_empty() { state.entries.own_outs(&values)? } else { state.entries.group_outs(outs)? };
        state.entries.check_counts(&values, &outs)?;
        let direct = self.direct(&state, &values, &outs);
        self.push_all(&mut state, &values, &direct, priority)?;
        let mut rest = outs;
        let mut is_direct = direct.iter().map(Option::is_some);
        rest.retain(|_| !is_direct.next().unwrap_or(false));
        self.pull_all(&mut state, &rest, priority)
    }

    fn row_sparse_pull(&self, _: &[RowPull], _: i32) -> Result<Vec<Vec<RowSparse>>> {
        Err(refuse_rows(&self.store_type, "rows of values".to_owned()))
    }

    fn set_updater(&self, updater: Box<dyn Updater>) -> Result<()> {
        if !self.store_type.can_update() {
            let expected = "a store that updates values, such as dist_sync: this one only sums them";
            return Err(Error::invalid("store of an updater", &self.store_type, expected));
        }
        let mut state = self.state.lock();
        if !updater.is_elementwise()
            && let Some(key) = state.keys.iter().find(|key| key.pieces.iter().any(|p| p.owner != key.pieces[0].owner))
        {
            let got = format!("one that needs whole values, after key {} was divided among workers", key.label);
            return Err(Error::invalid("updater", got, "a call before the first push"));
        }
        state.updater = Some(updater);
        Ok(())
    }

    fn set_gradient_compression(&self, compression: Compression) -> Result<()> {
        let mut state = self.state.lock();
        crate::compression::check(
            &self.store_type,
            "dist_sync",
            compression,
            state.compression,
            state.entries.first_key(),
        )?;
        state.compression = Some(compression);
        Ok(())
    }

    fn residuals(&self) -> Result<Vec<Residual>> {
        let state = self.state.lock();
        let known =
            |(number, position, array)| Some(Residual { key: state.entries.key_of(number)?.clone(), position, array });
        Ok(state.buffers.residuals().into_iter().filter_map(known).collect())
    }

    fn set_residuals(&self, residuals: &[Residual]) -> Result<()> {
        let mut state = self.state.lock();
        for Residual { key, position, array } in residuals {
            if state.compression.is_none() {
                let expected = "a store that compresses gradients";
                return Err(Error::invalid(format!("residual of key {key}"), &self.store_type, expected));
            }
            let entry = state.entries.find(key)?;
            let n_elements = state.entries.stored(entry).shape().n_elements();
            if array.shape()[..] != [n_elements] || array.dtype() != DType::F32 {
                let got = format!("{} {}", array.dtype(), array.shape());
                return Err(Error::invalid(format!("residual of key {key}"), got, format!("float32 ({n_elements},)")));
            }
            let own = self.new_array([n_elements], DType::F32)?;
            copy(array, &own, 0)?;
            let number = state.entries.number(entry);
            state.buffers.set_residual(number, *position, own);
        }
        Ok(())
    }

    fn rank(&self) -> usize {
        self.group.rank()
    }

    fn num_workers(&self) -> usize {
        self.group.size()
    }

    fn barrier(&self) -> Result<()> {
        self.group.barrier()
    }

    fn updated_part(&self, key: &Key) -> Result<Option<Range<usize>>> {
        let mut state = self.state.lock();
        let entry = state.entries.find(key)?;
        self.plan(&mut state)?;
        let own = &state.keys[entry].own;
        Ok((own.len() != state.entries.stored(entry).shape().n_elements()).then(|| own.clone()))
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.group.all_gather(bytes)
    }

    fn transport_sum(&self, sum: AllReduce) -> Result<Option<AllReduce>> {
        self.group.all_reduce(sum)
    }

    fn gather(&self, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        self.group.gather(bytes)
    }
}
