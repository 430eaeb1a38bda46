//! Workers of an asynchronous store, whose servers keep the weights: loss scales, clipping, and resuming. The only server is
//! a value in this process.

mod common;

use common::{batch, bits, context, fit_options, iter, numbers, options, sgd, small_net};
use mxrs_data::DataIter;
use mxrs_exec::{BackwardOptions, Imperative, autograd};
use mxrs_kvstore::served::{DistAsync, Reply, Request, ServedKey, Servers};
use mxrs_kvstore::{
    Key, KvStore, KvStoreOptions, MakeUpdater, ServedValue, ServerUpdater, Update, UpdaterSettings, Value,
};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::Attrs;
use mxrs_sync::Mutex;
use mxrs_train::callback::Callbacks;
use mxrs_train::metric::create;
use mxrs_train::{
    BindFor, CheckpointOptions, FitOptions, KvStoreChoice, LossScaler, Module, StoreOptions, Trainer, server_updater,
};
use mxrs_types::{DType, Error, Result};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server that updates values as `mxrs_train::server_updater` does.
struct World {
    nd: Imperative,
    make: MakeUpdater,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    values: Vec<(Key, NdArray)>,
    updater: Option<Box<dyn ServerUpdater>>,
    /// Whether worker 0 has set states, or an update was made.
    has_states: bool,
    /// Whether a worker has reported that it failed.
    has_failed: bool,
}

impl World {
    fn new() -> Arc<Self> {
        let nd = Imperative::new(&context(), &options()).unwrap();
        Arc::new(Self { make: server_updater(&nd), nd, state: Mutex::default() })
    }

    fn answer(&self, request: Request) -> Result<Vec<Vec<u8>>> {
        let mut state = self.state.lock();
        let value = |state: &State| state.values.iter().find(|(key, _)| *key == request.key.key).unwrap().1.clone();
        let stored = value(&state);
        if let Some(gradient) = &request.gradient {
            let sum = NdArray::from_bytes(self.nd.context(), stored.shape().clone(), stored.dtype(), &gradient[0])?;
            let (key, sum, stored) = (request.key.key.clone(), Value::Dense(sum), stored.clone());
            let update = Update { key, sum, stored, part: None, priority: 0 };
            state.updater.as_mut().unwrap().update(&[update])?;
            state.has_states = true;
        }
        if request.wants_value { Ok(vec![stored.read_bytes(<[u8]>::to_vec)?]) } else { Ok(Vec::new()) }
    }

    /// The values, by key.
    fn values(&self) -> Vec<(Key, Vec<u8>)> {
        let state = self.state.lock();
        let read = |(key, value): &(Key, NdArray)| (key.clone(), value.read_bytes(<[u8]>::to_vec).unwrap());
        state.values.iter().map(read).collect()
    }
}

/// The connection of one worker to the server.
struct Way {
    rank: usize,
    n_workers: usize,
    world: Arc<World>,
}

impl Servers for Way {
    fn rank(&self) -> usize {
        self.rank
    }

    fn n_workers(&self) -> usize {
        self.n_workers
    }

    fn n_servers(&self) -> usize {
        1
    }

    fn init(&self, key: &Arc<ServedKey>, value: Option<Vec<u8>>) -> Result<()> {
        let values = &mut self.world.state.lock().values;
        if let Some(bytes) = value.filter(|_| values.iter().all(|(known, _)| *known != key.key)) {
            let array = NdArray::from_bytes(self.world.nd.context(), key.shape.clone(), key.dtype, &bytes)?;
            values.push((key.key.clone(), array));
        }
        Ok(())
    }

    fn exchange(&self, request: Request, reply: Reply) {
        let world = Arc::clone(&self.world);
        drop(std::thread::spawn(move || reply(world.answer(request))));
    }

    fn set_updater(&self, settings: &UpdaterSettings) -> Result<()> {
        let updater = &mut self.world.state.lock().updater;
        match updater {
            None => *updater = Some((self.world.make)(settings)?),
            Some(updater) if self.rank == 0 => updater.set_settings(settings)?,
            Some(_) => {}
        }
        Ok(())
    }

    fn collect(&self, _: &[u8], _: bool) -> Result<Option<Vec<Vec<u8>>>> {
        Err(Error::invalid("worker of an asynchronous store", "a wait for the others", "none"))
    }

    fn updater_states(&self) -> Result<Vec<Vec<u8>>> {
        Ok(vec![self.world.state.lock().updater.as_ref().unwrap().states()?()?])
    }

    fn set_updater_states(&self, states: &[u8]) -> Result<()> {
        let mut state = self.world.state.lock();
        let served = |(key, value): &(Key, NdArray)| ServedValue { key: key.clone(), value: value.clone(), part: None };
        let values: Vec<ServedValue> = state.values.iter().map(served).collect();
        state.updater.as_mut().unwrap().set_states(&values, states)?;
        state.has_states = true;
        Ok(())
    }

    fn wait_for_updater_states(&self) -> Result<()> {
        let since = Instant::now();
        while !self.world.state.lock().has_states {
            if since.elapsed() > Duration::from_secs(60) {
                return Err(Error::invalid("states of the updater", "none", "those that worker 0 sets"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    fn fail(&self) {
        self.world.state.lock().has_failed = true;
    }
}

/// A store with which a worker of this rank reaches the server. The worker's arrays are in `context`.
fn store(context: &ArrayContext, world: &Arc<World>, rank: usize, n_workers: usize) -> KvStoreChoice {
    let servers = Arc::new(Way { rank, n_workers, world: Arc::clone(world) });
    let store = DistAsync::new("dist_async".parse().unwrap(), context, &KvStoreOptions::default(), servers);
    (Arc::new(store.unwrap()) as Arc<dyn KvStore>).into()
}

/// A module for a worker. It is bound and initialized, and does not have an optimizer yet.
fn bound(scaler: Option<LossScaler>) -> Module {
    let mut module = Module::new(&(context(), options()), &small_net(8, 3)).unwrap();
    if let Some(scaler) = scaler {
        module = module.loss_scaling(scaler).unwrap();
    }
    let data = iter(1, 16, 8, 3);
    module.bind(data.provide_data(), data.provide_label(), BindFor::default()).unwrap();
    module.init_params(None, &fit_options(1).init).unwrap();
    module
}

fn worker(world: &Arc<World>, rank: usize, n_workers: usize, scaler: Option<LossScaler>) -> Module {
    let mut module = bound(scaler);
    let store = store(module.context(), world, rank, n_workers);
    module.init_optimizer_with(sgd(0.1, 0.9), &StoreOptions::new(store)).unwrap();
    module
}

/// Each worker has its own loss scale, which the server does not know. The weights must still be those of a training without
/// scales.
#[test]
fn gradients_of_workers_with_different_loss_scales_are_those_without_scales() {
    let train = |scales: Option<[f64; 2]>| {
        let world = World::new();
        let scaler = |rank: usize| scales.map(|scales| LossScaler::fixed(scales[rank]).unwrap());
        let mut workers = [0, 1].map(|rank| worker(&world, rank, 2, scaler(rank)));
        let mut data = [iter(1, 24, 8, 3), iter(2, 24, 8, 3)];
        for _ in 0..3 {
            // Worker 1 makes the first step. The server must apply its gradient even though worker 0 has not sent one yet.
            for rank in [1, 0] {
                workers[rank].forward_backward(batch(&mut data[rank])).unwrap();
                workers[rank].update().unwrap();
                drop(bits(&workers[rank]));
            }
        }
        world.values()
    };
    assert!(train(Some([1024.0, 65_536.0])) == train(None), "the scales have changed the weights");
}

#[test]
fn a_trainer_divides_by_its_own_loss_scale_and_waits_for_nobody() {
    let train = |scaler: Option<LossScaler>| {
        let (world, host) = (World::new(), (context(), options()));
        let nd = Imperative::new(&host.0, &host.1).unwrap();
        let weight = NdArray::from_slice(&host.0, [5], &numbers(7, 5)).unwrap();
        let store = StoreOptions::new(store(&host.0, &world, 0, 2));
        let mut trainer =
            Trainer::on_devices(&nd, &host, &[("weight", &[&weight][..])], sgd(0.1, 0.0), &store).unwrap();
        if let Some(scaler) = scaler {
            trainer.set_loss_scaler(scaler).unwrap();
        }
        for unscales in [false, true] {
            let loss = {
                let _record = autograd::record();
                let loss = nd.invoke("square", &Attrs::default(), &[&weight]).unwrap().remove(0);
                if trainer.loss_scaler().is_some() { trainer.scale_loss(&loss).unwrap() } else { loss }
            };
            nd.backward(&[&loss], &[], BackwardOptions::default()).unwrap();
            if unscales && trainer.loss_scaler().is_some() {
                trainer.unscale().unwrap();
            }
            trainer.step(2).unwrap();
        }
        weight.to_vec::<f32>().unwrap()
    };
    assert_eq!(train(Some(LossScaler::fixed(4096.0).unwrap())), train(None));
}

/// Servers cannot receive scaled gradients. Divided by the scale in float16, small gradients would become 0 again, so such a
/// training is refused.
#[test]
fn gradients_in_float16_are_not_divided_for_servers() {
    let (world, host) = (World::new(), (context(), options()));
    let nd = Imperative::new(&host.0, &host.1).unwrap();
    let weight = NdArray::zeros(&host.0, [5], DType::F16).unwrap();
    let store = StoreOptions::new(store(&host.0, &world, 0, 1));
    let mut trainer = Trainer::on_devices(&nd, &host, &[("weight", &[&weight][..])], sgd(0.1, 0.0), &store).unwrap();
    let error = trainer.set_loss_scaler(LossScaler::dynamic()).unwrap_err().to_string();
    assert!(error.contains("`weight`") && error.contains("float16") && error.contains("float32"), "{error}");
}

/// The server does not sum gradients over workers, so the norm is that of this worker's gradients alone, whatever the number
/// of workers.
#[test]
fn gradients_are_clipped_by_the_norm_of_one_worker() {
    let clipped = |mut module: Module| {
        module.forward_backward(batch(&mut iter(1, 16, 8, 3))).unwrap();
        let norm = module.clip_gradients(0.01).unwrap();
        (norm, module.executor().unwrap().gradient("fc2_weight").unwrap().to_vec::<f32>().unwrap())
    };
    let mut alone = bound(None);
    alone.init_optimizer(sgd(0.1, 0.9)).unwrap();
    assert_eq!(clipped(worker(&World::new(), 0, 4, None)), clipped(alone));
}

/// Trains up to epoch `n_epochs`, from the newest checkpoint, with a new server. `given` says whether `fit` is given an
/// optimizer or creates it by name. Returns the parameters.
fn resumed(prefix: &Path, n_epochs: u64, given: bool) -> Result<Vec<(String, Vec<u8>)>> {
    let host = (context(), options());
    let options = FitOptions {
        checkpoint: Some(CheckpointOptions::new(prefix)),
        resume: true,
        kvstore: store(&host.0, &World::new(), 0, 1),
        optimizer_params: [("learning_rate", "0.1"), ("momentum", "0.9")].map(|(k, v)| (k.into(), v.into())).to_vec(),
        ..fit_options(n_epochs)
    };
    let mut module = Module::new(&host, &small_net(8, 3)).unwrap();
    let optimizer = given.then(|| sgd(0.1, 0.9));
    let (mut metric, mut callbacks) = (create("acc", &[]).unwrap(), Callbacks::default());
    module.fit(&mut iter(1, 40, 8, 3), None, &mut metric, optimizer, &mut callbacks, &options)?;
    Ok(bits(&module))
}

#[test]
fn servers_begin_with_the_checkpoint_from_which_a_training_resumes() {
    for given in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let (whole, parts) = (dir.path().join("whole"), dir.path().join("parts"));
        let expected = resumed(&whole, 4, given).unwrap();
        resumed(&parts, 2, given).unwrap();
        assert!(resumed(&parts, 4, given).unwrap() == expected, "other weights; an optimizer is given: {given}");
    }
}

/// Worker 1 is ready to push before worker 0 has restored the checkpoint. The servers must get the states of the checkpoint all
/// the same, and no update may be made without them.
#[test]
fn servers_have_the_states_of_the_checkpoint_before_the_first_push() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    resumed(&prefix, 1, true).unwrap();
    let saved = || mxrs_train::resume::newest(&prefix).unwrap().unwrap();
    let begin = |world: &Arc<World>, rank: usize| {
        let mut module = bound(None);
        module.set_params(&saved().1).unwrap();
        let store = store(module.context(), world, rank, 2);
        module.init_optimizer_with(sgd(0.1, 0.9), &StoreOptions::new(store)).unwrap();
        module
    };
    let restore = |module: &mut Module| {
        let (state, params) = saved();
        module.restore(&state, &params).unwrap();
    };
    let step = |module: &mut Module| {
        module.forward_backward(batch(&mut iter(1, 16, 8, 3))).unwrap();
        module.update().unwrap();
        drop(bits(module));
    };
    let train = |is_late: bool| {
        let world = World::new();
        let mut first = begin(&world, 0);
        if !is_late {
            restore(&mut first);
        }
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                let mut second = begin(&world, 1);
                restore(&mut second);
                step(&mut second);
            });
            if is_late {
                std::thread::sleep(Duration::from_millis(500));
                restore(&mut first);
            }
            second.join().unwrap();
        });
        step(&mut first);
        world.values()
    };
    assert!(train(true) == train(false), "other weights");
}

/// A worker whose training fails reports this to the servers. They wait for it then, because it may be started again.
#[test]
fn a_training_that_fails_is_not_one_that_has_ended() {
    for (classes, fails) in [(3, false), (6, true)] {
        let (world, host) = (World::new(), (context(), options()));
        let options = FitOptions { kvstore: store(&host.0, &world, 0, 1), ..fit_options(1) };
        let mut module = Module::new(&host, &small_net(8, 3)).unwrap();
        let (mut metric, mut callbacks) = (create("acc", &[]).unwrap(), Callbacks::default());
        // The network has three classes. With six, some labels are not classes, so the training fails.
        let mut data = iter(1, 40, 8, classes);
        let report = module.fit(&mut data, None, &mut metric, None, &mut callbacks, &options);
        assert_eq!((report.is_err(), world.state.lock().has_failed), (fails, fails));
    }
}

/// Servers keep the weights and never read those of the program. A changed weight would be lost silently, so it is an error.
#[test]
fn changes_of_weights_that_servers_keep_are_refused() {
    let mut module = worker(&World::new(), 0, 1, None);
    module.set_params(&module.get_params().unwrap()).unwrap();
    module.forward_backward(batch(&mut iter(1, 16, 8, 3))).unwrap();
    let error = module.update().unwrap_err().to_string();
    assert!(error.contains("`fc1_weight`") && error.contains("before the optimizer is initialized"), "{error}");
    // Restoring a checkpoint is refused if the servers have taken other weights before.
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    resumed(&prefix, 1, true).unwrap();
    let (state, params) = mxrs_train::resume::newest(&prefix).unwrap().unwrap();
    let world = World::new();
    let mut module = worker(&world, 0, 2, None);
    let error = module.restore(&state, &params).unwrap_err().to_string();
    assert!(error.contains("servers began with") && error.contains("init_params"), "{error}");
    // Once servers have made an update, restoring is allowed: the servers and the worker keep the weights of the servers.
    module.forward_backward(batch(&mut iter(1, 16, 8, 3))).unwrap();
    module.update().unwrap();
    let before = bits(&module);
    module.restore(&state, &params).unwrap();
    module.forward_backward(batch(&mut iter(1, 16, 8, 3))).unwrap();
    module.update().unwrap();
    assert!(bits(&module) != before && world.values().len() > 3);
}
