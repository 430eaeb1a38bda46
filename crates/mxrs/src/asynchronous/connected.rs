//! Servers and workers that are connected by gRPC.

use crate::Runtime;
use crate::distributed::SignsOfLife;
use mxrs_env::{Role, Settings};
use mxrs_kvstore::served::{DistAsync, Servers};
use mxrs_kvstore::{Constructor, KvStore};
use mxrs_kvstore_grpc::{GrpcServers, Server, ServerOptions, TlsFiles, WorkerOptions, host_and_port};
use mxrs_sync::atomic::AtomicBool;
use mxrs_types::{Error, Result};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How this process takes part in an asynchronous training, according to the settings.
#[derive(Clone)]
struct Connection {
    role: Role,
    rank: Option<usize>,
    n_workers: Option<usize>,
    n_servers: Option<usize>,
    servers: Option<String>,
    root: Option<(String, u16)>,
    /// The files for TLS, each with the environment variable that names it.
    tls: [(&'static str, Option<PathBuf>); 3],
    token_file: Option<PathBuf>,
    insecure: bool,
    listen: Option<String>,
    heartbeat: Option<Duration>,
    silence: Duration,
    signs_of_life: SignsOfLife,
    patience: Duration,
    window: Option<usize>,
    snapshots: Option<PathBuf>,
    snapshot_interval: Duration,
    metrics: Option<String>,
    staleness: Option<u64>,
    pending_bytes: usize,
    replay_bytes: usize,
}

impl Connection {
    fn of(settings: &Settings) -> Self {
        let distributed = &settings.distributed;
        let place = settings.place().copied();
        let own = distributed.rank.and_then(|rank| usize::try_from(rank).ok()).or(distributed.task_id);
        let role = distributed.role.unwrap_or(Role::Worker);
        let (rank, size) = match role {
            Role::Worker => (own.or(place.map(|place| place.rank)), place.and_then(|place| place.size)),
            _ => (own, None),
        };
        let mebi = |n: usize| n.saturating_mul(1 << 20);
        let signs_of_life = SignsOfLife::of(settings);
        let silence = match signs_of_life.silence {
            Some(silence) => silence,
            // A worker expects answers from servers even if it sends no signs of life itself, so the default limit applies.
            None if role == Role::Worker && !settings.is_set("PS_HEARTBEAT_TIMEOUT") => {
                WorkerOptions::default().silence
            }
            // A server without a limit waits forever. This is the longest time that can be added to a point in time without
            // overflow.
            None => Duration::from_secs(u64::from(u32::MAX)),
        };
        let host = if distributed.kubernetes { Some("0.0.0.0".to_owned()) } else { distributed.node_host.clone() };
        Self {
            role,
            rank,
            n_workers: distributed.n_workers.map(usize::from).or(size),
            n_servers: distributed.n_servers.map(usize::from),
            servers: distributed.servers.clone(),
            root: distributed.root_uri.clone().zip(distributed.root_port),
            tls: [
                ("MXRS_KVSTORE_CA", distributed.tls_authority.clone()),
                ("MXRS_KVSTORE_CERT", distributed.tls_certificate.clone()),
                ("MXRS_KVSTORE_KEY", distributed.tls_key.clone()),
            ],
            token_file: distributed.token_file.clone(),
            insecure: distributed.insecure,
            listen: host,
            heartbeat: signs_of_life.heartbeat,
            silence,
            signs_of_life,
            patience: Duration::from_secs(distributed.patience_s.get()),
            window: distributed.water_mark,
            snapshots: distributed.snapshot_folder.clone(),
            snapshot_interval: Duration::from_secs(distributed.snapshot_interval_s.get()),
            metrics: distributed.metrics.clone(),
            staleness: distributed.staleness,
            pending_bytes: mebi(distributed.pending_mib.get()),
            replay_bytes: mebi(distributed.replay_mib),
        }
    }

    /// The addresses of the servers, by number.
    fn servers(&self) -> Result<Vec<String>> {
        let servers: Vec<String> = match (&self.servers, &self.root, self.n_servers) {
            (Some(list), _, _) => list.split(',').map(|address| address.trim().to_owned()).collect(),
            (None, Some((host, port)), Some(n_servers)) => {
                let host = bracketed(host);
                let last = usize::from(u16::MAX - *port);
                if n_servers > last {
                    let expected = format!("at most {last} servers after port {port} (DMLC_PS_ROOT_PORT)");
                    return Err(Error::invalid("DMLC_NUM_SERVER", n_servers, expected));
                }
                (1..=n_servers).map(|i| format!("{host}:{}", usize::from(*port) + i)).collect()
            }
            _ => {
                let expected = "the addresses of the servers: MXRS_KVSTORE_SERVERS, or DMLC_PS_ROOT_URI, DMLC_PS_ROOT_PORT and \
                                DMLC_NUM_SERVER; `mxrs launch -n 2 -s 1 -- COMMAND` starts two workers and a server on this \
                                machine";
                return Err(Error::invalid("servers of the store `dist_async`", "nothing", expected));
            }
        };
        for address in &servers {
            host_and_port(address)?;
        }
        if let Some(n_servers) = self.n_servers.filter(|n_servers| *n_servers != servers.len()) {
            let got = format!("{} addresses", servers.len());
            return Err(Error::invalid("MXRS_KVSTORE_SERVERS", got, format!("{n_servers}, as DMLC_NUM_SERVER says")));
        }
        Ok(servers)
    }

    /// The files of TLS, if there are any. Without them, all of `servers` must be on this machine.
    fn tls(&self, servers: &[String]) -> Result<Option<TlsFiles>> {
        match self.tls.each_ref().map(|(_, path)| path.clone()) {
            [Some(authority), Some(certificate), Some(key)] => Ok(Some(TlsFiles { authority, certificate, key })),
            [None, None, None] => {
                let far = servers.iter().find(|address| !is_here(address));
                match far.filter(|_| !self.insecure) {
                    None => Ok(None),
                    Some(address) => {
                        let expected = "certificates (MXRS_KVSTORE_CA, MXRS_KVSTORE_CERT, MXRS_KVSTORE_KEY), or \
                                        MXRS_KVSTORE_INSECURE=1 in a network whose machines trust each other";
                        Err(Error::invalid(format!("security of the server at {address}"), "none", expected))
                    }
                }
            }
            _ => {
                let (missing, _) = self.tls.iter().find(|(_, path)| path.is_none()).unwrap_or(&self.tls[0]);
                Err(Error::invalid(
                    *missing,
                    "nothing",
                    "a PEM file: MXRS_KVSTORE_CA, MXRS_KVSTORE_CERT and \
                                    MXRS_KVSTORE_KEY belong together",
                ))
            }
        }
    }

    fn token(&self) -> Result<String> {
        let Some(path) = &self.token_file else { return Ok(String::new()) };
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, &error))?;
        let token = text.trim();
        match token.len() {
            1..=4096 => Ok(token.to_owned()),
            n => Err(Error::invalid("MXRS_KVSTORE_TOKEN_FILE", format!("{n} bytes"), "1 to 4096 bytes of text")),
        }
    }

    fn n_workers(&self) -> Result<usize> {
        self.n_workers.ok_or_else(|| Error::invalid("DMLC_NUM_WORKER", "nothing", "the number of workers"))
    }

    fn rank(&self) -> Result<usize> {
        let missing = || Error::invalid("DMLC_RANK", "nothing", "the number of this process, or DMLC_TASK_ID");
        self.rank.ok_or_else(missing)
    }

    fn worker(&self) -> Result<WorkerOptions> {
        if self.role != Role::Worker {
            let expected = "worker; servers call Runtime::run_server";
            return Err(Error::invalid("DMLC_ROLE of a process that trains", self.role.word(), expected));
        }
        self.signs_of_life.check()?;
        let servers = self.servers()?;
        let (tls, defaults) = (self.tls(&servers)?, WorkerOptions::default());
        Ok(WorkerOptions {
            rank: self.rank()?,
            n_workers: self.n_workers()?,
            servers,
            tls,
            token: self.token()?,
            heartbeat: self.heartbeat,
            silence: self.silence,
            patience: self.patience,
            window: self.window.unwrap_or(defaults.window),
            replay_bytes: self.replay_bytes,
        })
    }

    fn server(&self) -> Result<ServerOptions> {
        let (servers, server) = (self.servers()?, self.rank()?);
        let address = servers.get(server).ok_or_else(|| {
            let expected = format!("a number from 0 below {}, the number of servers", servers.len());
            Error::invalid("DMLC_RANK of a server", server, expected)
        })?;
        let (_, port) = host_and_port(address)?;
        let listen = self.listen.as_ref().map_or_else(|| address.clone(), |host| format!("{}:{port}", bracketed(host)));
        let tls = self.tls(std::slice::from_ref(&listen))?;
        let metrics = match &self.metrics {
            None => None,
            Some(first) => {
                let (host, port) = host_and_port(first)?;
                let port = usize::from(port) + server;
                Some(format!("{}:{port}", bracketed(host)))
            }
        };
        Ok(ServerOptions {
            server,
            n_servers: servers.len(),
            n_workers: self.n_workers()?,
            listen,
            tls,
            token: self.token()?,
            metrics,
            snapshots: self.snapshots.clone(),
            snapshot_interval: self.snapshot_interval,
            silence: self.silence,
            patience: self.patience,
            pending_bytes: self.pending_bytes,
            staleness: self.staleness,
            ..ServerOptions::default()
        })
    }
}

/// A host name as it is written before a port. An IPv6 address contains colons itself, so it is put in brackets.
fn bracketed(host: &str) -> String {
    if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_owned() }
}

/// Whether an address can only be reached from this machine.
fn is_here(address: &str) -> bool {
    let host = host_and_port(address).map_or("", |(host, _)| host);
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// Makes the stores.
pub(crate) fn constructor(settings: &Settings) -> Constructor {
    let connection = Connection::of(settings);
    Arc::new(move |name, context, options| {
        let servers = Arc::new(GrpcServers::connect(connection.worker()?)?) as Arc<dyn Servers>;
        Ok(Arc::new(DistAsync::new(name.parse()?, context, options, servers)?) as Arc<dyn KvStore>)
    })
}

/// Runs this process as a server until all workers have left.
pub(super) fn run_server(runtime: &Runtime, interrupt: Option<Arc<AtomicBool>>) -> Result<()> {
    let connection = Connection::of(runtime.settings());
    if connection.role == Role::Scheduler {
        tracing::info!("the scheduler has nothing to do: workers know the addresses of the servers");
        return Ok(());
    }
    let nd = runtime.imperative()?;
    let options = ServerOptions { interrupt, ..connection.server()? };
    Server::start(options, runtime.arrays(), mxrs_train::server_updater(&nd))?.wait()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_ipv6_is_in_brackets_before_a_port() {
        for (host, expected) in [("::1", "[::1]"), ("[::1]", "[::1]"), ("10.0.0.1", "10.0.0.1"), ("node", "node")] {
            assert_eq!(bracketed(host), expected);
            assert!(host_and_port(&format!("{}:9000", bracketed(host))).is_ok());
        }
    }
}
