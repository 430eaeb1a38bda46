//! The stores of several processes: how this process is connected to the others, according to the settings and to the launcher
//! that has started it.

use mxrs_env::{Place, PlacedBy, Role, Settings, StoreEngine, Transport};
use mxrs_kvstore::dist::{Connect, DistSync, Group, GroupOptions};
use mxrs_kvstore::{Constructor, KvStore, StoreType};
use mxrs_sync::Mutex;
use mxrs_types::{Error, Result};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The names of the synchronous stores of several processes.
pub(crate) const NAMES: [&str; 6] = ["dist", "dist_sync", "dist_sync_device", "dist_device_sync", "p3", "horovod"];

/// The default time between two signs of life, if no variable sets it.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// The default time without a sign of life after which a worker counts as dead, if no variable sets it.
const SILENCE: Duration = Duration::from_secs(30);

/// How this process reaches the other workers, from the settings.
struct Connection {
    engine: StoreEngine,
    place: Option<Place>,
    is_local: bool,
    folder: Option<String>,
    rank: Option<i64>,
    n_workers: Option<usize>,
    mpi_library: Option<PathBuf>,
    options: GroupOptions,
    role: Option<Role>,
    in_slices: bool,
    /// A description of the job from the launcher, for the log.
    job: String,
    signs_of_life: SignsOfLife,
}

/// How often a process sends a sign of life, and how long another process may be silent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignsOfLife {
    /// The time between two signs of life; `None` means that none are sent.
    pub heartbeat: Option<Duration>,
    /// The longest silence of another process; `None` means that it is not limited.
    pub silence: Option<Duration>,
    /// Whether both times are given by variables.
    are_given: bool,
}

impl SignsOfLife {
    /// Reads the times from the settings. If only one of them is given, the other one follows from it. Without any variable
    /// the defaults apply here, while MXNet never notices that a worker is dead.
    pub(crate) fn of(settings: &Settings) -> Self {
        let given = |name: &str, seconds: u64| {
            settings.is_set(name).then(|| (seconds > 0).then(|| Duration::from_secs(seconds)))
        };
        let heartbeat = given("PS_HEARTBEAT_INTERVAL", settings.distributed.heartbeat_interval_s);
        let silence = given("PS_HEARTBEAT_TIMEOUT", settings.distributed.heartbeat_timeout_s);
        let are_given = heartbeat.is_some() && silence.is_some();
        let (heartbeat, silence) = match (heartbeat, silence) {
            // If no signs of life are sent, silence does not mean that a worker is dead.
            (Some(None), None) => (None, None),
            (Some(Some(heartbeat)), None) => (Some(heartbeat), Some(SILENCE.max(3 * heartbeat))),
            (None, Some(Some(silence))) => (Some(HEARTBEAT.min(silence / 3)), Some(silence)),
            (heartbeat, silence) => (heartbeat.unwrap_or(Some(HEARTBEAT)), silence.unwrap_or(Some(SILENCE))),
        };
        Self { heartbeat, silence, are_given }
    }

    /// Fails if the time between two signs of life is so long that other workers would count this process as dead.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(silence) = self.silence.filter(|_| self.are_given) else { return Ok(()) };
        let got = match self.heartbeat {
            Some(heartbeat) if heartbeat < silence => return Ok(()),
            heartbeat => heartbeat.map_or(0, |heartbeat| heartbeat.as_secs()),
        };
        let expected =
            format!("1 to less than PS_HEARTBEAT_TIMEOUT, {} s; set both to 0 to switch them off", silence.as_secs());
        Err(Error::invalid("PS_HEARTBEAT_INTERVAL", got, expected))
    }
}

/// Makes the stores. All stores of a runtime share one connection, which the first of them makes.
pub(crate) fn constructor(settings: &Settings) -> Constructor {
    let connection = Connection::of(settings);
    let group: Mutex<Option<Arc<Group>>> = Mutex::new(None);
    Arc::new(move |name, context, options| {
        let mut store_type: StoreType = name.parse()?;
        if connection.in_slices {
            store_type = store_type.in_slices()?;
        }
        let mut group = group.lock();
        let group = match &*group {
            Some(group) => Arc::clone(group),
            None => {
                let made = connection.connect(name)?;
                Arc::clone(group.insert(Group::start(made, connection.options.clone())?))
            }
        };
        Ok(Arc::new(DistSync::new(store_type, context, options, &group)?) as Arc<dyn KvStore>)
    })
}

impl Connection {
    fn of(settings: &Settings) -> Self {
        let distributed = &settings.distributed;
        let signs_of_life = SignsOfLife::of(settings);
        let options = GroupOptions {
            heartbeat: signs_of_life.heartbeat,
            silence: signs_of_life.silence,
            patience: Duration::from_secs(distributed.patience_s.get()),
            window: distributed.water_mark.unwrap_or(GroupOptions::default().window),
        };
        let cluster = distributed.cluster.map_or("unknown", |cluster| cluster.word());
        let n_servers = distributed.n_servers.map_or(0, usize::from);
        let job = format!("started by the launcher `{cluster}`; {n_servers} servers are not needed");
        let task = distributed.task_id.and_then(|task| i64::try_from(task).ok());
        Self {
            engine: distributed.engine,
            place: settings.place().copied(),
            is_local: distributed.local,
            folder: distributed.root_uri.clone(),
            rank: distributed.rank.or(task),
            n_workers: distributed.n_workers.map(usize::from),
            mpi_library: distributed.mpi_library.clone(),
            options,
            role: distributed.role,
            in_slices: distributed.transport == Transport::P3,
            job,
            signs_of_life,
        }
    }

    /// What connects this process to the others.
    fn connect(&self, name: &str) -> Result<Connect> {
        if let Some(role @ (Role::Server | Role::Scheduler)) = self.role {
            let reason = "the workers keep and update the values themselves; start workers only";
            return Err(Error::not_built(format!("the role `{}` (DMLC_ROLE)", role.word()), reason));
        }
        self.signs_of_life.check()?;
        tracing::debug!("{}", self.job);
        let by_mpi = self.place.is_some_and(|place| place.by != PlacedBy::Torchrun);
        match self.engine {
            StoreEngine::Mpi => self.mpi(),
            StoreEngine::Auto if by_mpi && !self.is_local => self.mpi(),
            StoreEngine::Local => self.sockets(),
            StoreEngine::Auto if self.is_local => self.sockets(),
            // Also catches engines that are added to the list later.
            _ => {
                let expected = "a process that a launcher has started: `mxrs launch -n 2 -- COMMAND` starts two workers on this \
                                machine, and `mpirun -n 2 COMMAND` two workers that MPI connects";
                Err(Error::invalid(format!("workers of the store `{name}`"), "no launcher", expected))
            }
        }
    }

    #[cfg(feature = "mpi")]
    fn mpi(&self) -> Result<Connect> {
        use mxrs_kvstore_mpi::{Abi, MpiOptions, mpi_worker};
        let place = self.place.filter(|place| place.by != PlacedBy::Torchrun);
        let first = place.map(|place| if place.by == PlacedBy::Pmi { Abi::Mpich } else { Abi::OpenMpi });
        let (rank, size) = (place.map(|place| place.rank), place.and_then(|place| place.size));
        let n_workers = self.n_workers.or(size);
        Ok(mpi_worker(MpiOptions { library: self.mpi_library.clone(), first, n_workers, rank }))
    }

    #[cfg(not(feature = "mpi"))]
    fn mpi(&self) -> Result<Connect> {
        let _ = &self.mpi_library;
        Err(Error::not_built("workers that are connected by MPI", "this build is without the feature `mpi`"))
    }

    #[cfg(unix)]
    fn sockets(&self) -> Result<Connect> {
        use mxrs_kvstore::dist::{SocketOptions, socket_worker};
        let missing = |what: &str, expected: &str| Error::invalid(what, "nothing", expected);
        let folder = self.folder.as_ref().filter(|folder| folder.starts_with('/'));
        let folder = folder.ok_or_else(|| {
            let got = self.folder.as_deref().unwrap_or("nothing");
            Error::invalid(
                "DMLC_PS_ROOT_URI with DMLC_LOCAL=1",
                got,
                "the folder of the sockets; `mxrs launch` sets it",
            )
        })?;
        let place = self.place;
        let n_workers = self.n_workers.or(place.and_then(|place| place.size));
        let n_workers = n_workers.ok_or_else(|| missing("DMLC_NUM_WORKER", "the number of workers"))?;
        let rank = match self.rank {
            Some(rank) => usize::try_from(rank)
                .map_err(|_| Error::invalid("DMLC_RANK", rank, format!("a number from 0 below {n_workers}")))?,
            None => place
                .map(|place| place.rank)
                .ok_or_else(|| missing("DMLC_RANK", "the number of this worker, or DMLC_TASK_ID"))?,
        };
        Ok(socket_worker(SocketOptions { folder: folder.into(), rank, n_workers, patience: self.options.patience }))
    }

    #[cfg(not(unix))]
    fn sockets(&self) -> Result<Connect> {
        Err(Error::not_built("workers that are connected by local sockets", "this system has no Unix sockets"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_env::MapSource;

    #[test]
    fn times_of_signs_of_life_follow_from_each_other() {
        let seconds = |variables: &[(&str, &str)]| {
            let settings = Settings::from_source(&MapSource::new(variables.iter().copied())).unwrap().0;
            let SignsOfLife { heartbeat, silence, .. } = SignsOfLife::of(&settings);
            [heartbeat, silence].map(|time| time.map(|time| time.as_secs_f64()))
        };
        let (interval, timeout) = ("PS_HEARTBEAT_INTERVAL", "PS_HEARTBEAT_TIMEOUT");
        assert_eq!(seconds(&[]), [Some(5.0), Some(30.0)]);
        assert_eq!(seconds(&[(interval, "0")]), [None, None], "who sends no signs is silent, and alive");
        assert_eq!(seconds(&[(interval, "20")]), [Some(20.0), Some(60.0)]);
        assert_eq!(seconds(&[(timeout, "6")]), [Some(2.0), Some(6.0)]);
        assert_eq!(seconds(&[(timeout, "0")]), [Some(5.0), None]);
        assert_eq!(seconds(&[(interval, "2"), (timeout, "60")]), [Some(2.0), Some(60.0)]);
    }
}
