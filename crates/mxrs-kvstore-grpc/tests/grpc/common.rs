//! Servers and workers of one process, and what can go wrong between them.

use mxrs_engine::{Engine, EngineConfig};
use mxrs_kvstore::served::DistAsync;
use mxrs_kvstore::{
    Key, KvStore, KvStoreOptions, MakeUpdater, ReadStates, ServedValue, ServerUpdater, Update, Updater,
    UpdaterSettings, Value,
};
use mxrs_kvstore_grpc::{GrpcServers, Server, ServerOptions, WorkerOptions};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_storage::{Storage, StorageConfig};
use mxrs_types::{Error, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub fn context() -> ArrayContext {
    ArrayContext::new(Engine::new(EngineConfig::default()).unwrap(), Storage::new(StorageConfig::default()).unwrap())
}

/// An updater for tests. It adds `rate` times the gradient. Its state is the number of updates of each key.
#[derive(Clone)]
pub struct Adder {
    pub settings: Arc<Mutex<UpdaterSettings>>,
    counts: BTreeMap<String, u64>,
}

impl Adder {
    pub fn new(rate: f32) -> Self {
        Self::of(&UpdaterSettings { name: "adder".into(), settings: vec![("rate".into(), rate.to_string())] }).unwrap()
    }

    fn of(settings: &UpdaterSettings) -> Result<Self> {
        if settings.name != "adder" {
            return Err(Error::invalid("updater", &settings.name, "adder"));
        }
        Ok(Self { settings: Arc::new(Mutex::new(settings.clone())), counts: BTreeMap::new() })
    }

    fn rate(&self) -> f32 {
        self.settings.lock().unwrap().settings[0].1.parse().unwrap()
    }

    pub fn set_rate(&self, rate: f32) {
        self.settings.lock().unwrap().settings[0].1 = rate.to_string();
    }
}

impl Updater for Adder {
    fn update(&mut self, updates: &[Update]) -> Result<()> {
        for update in updates {
            let Value::Dense(sum) = &update.sum else { panic!("a dense gradient") };
            let (gradient, rate) = (sum.to_vec::<f32>()?, self.rate());
            *self.counts.entry(update.key.to_string()).or_default() += 1;
            update.stored.write_later(move |bytes| {
                for (value, gradient) in bytes.chunks_exact_mut(4).zip(gradient) {
                    let old = f32::from_ne_bytes(value.try_into().unwrap());
                    value.copy_from_slice(&(old + rate * gradient).to_ne_bytes());
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn settings(&self) -> Result<Option<UpdaterSettings>> {
        Ok(Some(self.settings.lock().unwrap().clone()))
    }
}

impl ServerUpdater for Adder {
    fn set_settings(&mut self, settings: &UpdaterSettings) -> Result<()> {
        *self.settings.lock().unwrap() = settings.clone();
        Ok(())
    }

    fn states(&self) -> Result<ReadStates> {
        let counts = self.counts.clone();
        Ok(Box::new(move || Ok(serde_json::to_vec(&counts).unwrap())))
    }

    fn set_states(&mut self, values: &[ServedValue], states: &[u8]) -> Result<()> {
        let counts: BTreeMap<String, u64> =
            serde_json::from_slice(states).map_err(|error| Error::invalid("states", error, "counts"))?;
        self.counts = counts.into_iter().filter(|(key, _)| values.iter().any(|v| v.key.to_string() == *key)).collect();
        Ok(())
    }
}

pub fn make_updater() -> MakeUpdater {
    Arc::new(|settings| Ok(Box::new(Adder::of(settings)?) as Box<dyn ServerUpdater>))
}

/// Options of servers that notice failures soon.
pub fn server_options(n_workers: usize, n_servers: usize) -> ServerOptions {
    ServerOptions {
        n_workers,
        n_servers,
        silence: Duration::from_secs(2),
        patience: Duration::from_secs(10),
        snapshot_interval: Duration::from_millis(100),
        ..ServerOptions::default()
    }
}

/// Starts servers with these options, each with its number.
pub fn servers(options: &ServerOptions) -> Vec<Server> {
    let start =
        |server| Server::start(ServerOptions { server, ..options.clone() }, &context(), make_updater()).unwrap();
    (0..options.n_servers).map(start).collect()
}

pub fn addresses(servers: &[Server]) -> Vec<String> {
    servers.iter().map(|server| server.address().to_string()).collect()
}

/// Options of a worker that notices failures soon.
pub fn worker_options(rank: usize, n_workers: usize, servers: &[String]) -> WorkerOptions {
    WorkerOptions {
        rank,
        n_workers,
        servers: servers.to_vec(),
        heartbeat: Some(Duration::from_millis(200)),
        silence: Duration::from_secs(1),
        patience: Duration::from_secs(4),
        ..WorkerOptions::default()
    }
}

/// A worker with its store.
pub struct Worker {
    pub context: ArrayContext,
    pub servers: Arc<GrpcServers>,
    pub store: DistAsync,
}

impl Worker {
    pub fn with(options: WorkerOptions, store_options: &KvStoreOptions) -> Result<Self> {
        let (context, servers) = (context(), Arc::new(GrpcServers::connect(options)?));
        let store = DistAsync::new("dist_async".parse()?, &context, store_options, Arc::clone(&servers) as _)?;
        Ok(Self { context, servers, store })
    }

    pub fn new(rank: usize, n_workers: usize, servers: &[String]) -> Self {
        Self::with(worker_options(rank, n_workers, servers), &KvStoreOptions::default()).unwrap()
    }

    pub fn array(&self, values: &[f32]) -> NdArray {
        NdArray::from_slice(&self.context, [values.len()], values).unwrap()
    }

    /// Sets the updater `Adder` and the first value of a key.
    pub fn begin(&self, key: &str, first: &[f32]) -> Result<()> {
        self.store.set_updater(Box::new(Adder::new(1.0)))?;
        self.store.init(&[(Key::from(key), self.array(first))])
    }

    /// Pushes a gradient, and returns the value after it.
    pub fn pushpull(&self, key: &str, gradient: &[f32]) -> Result<Vec<f32>> {
        let (gradient, out) = (self.array(gradient), self.array(&vec![0.0; gradient.len()]));
        self.store.pushpull(&[(key.into(), gradient.into())], &[(key.into(), out.clone())], 0)?;
        out.to_vec()
    }

    pub fn push(&self, key: &str, gradient: &[f32]) -> Result<()> {
        self.store.push(&[(key.into(), self.array(gradient).into())], 0)
    }

    pub fn pull(&self, key: &str, n: usize) -> Result<Vec<f32>> {
        let out = self.array(&vec![0.0; n]);
        self.store.pull(&[(key.into(), out.clone())], 0)?;
        out.to_vec()
    }
}

/// Runs each worker on a thread of its own.
pub fn on_threads<T: Send>(n_workers: usize, run: impl Fn(usize) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..n_workers).map(|rank| scope.spawn(move || run(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// A metric of a server.
pub fn metric(server: &Server, name: &str) -> f64 {
    let text = server.metrics();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in\n{text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

/// Waits until `is` returns true.
pub fn until(what: &str, is: impl Fn() -> bool) {
    let since = Instant::now();
    while !is() {
        assert!(since.elapsed() < Duration::from_secs(100), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs a function, and fails unless it takes between `least` and `most`.
pub fn timed<T>(least: Duration, most: Duration, run: impl FnOnce() -> T) -> T {
    let since = Instant::now();
    let result = run();
    let elapsed = since.elapsed();
    assert!(least <= elapsed && elapsed <= most, "{elapsed:?}, expected {least:?} to {most:?}");
    result
}
