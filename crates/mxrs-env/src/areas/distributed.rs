//! Roles, addresses and transport of distributed training.

use crate::words::words;
use crate::{Kind, settings};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

words! {
    /// The role of a process in distributed training.
    pub enum Role {
        /// Computes gradients.
        Worker = "worker",
        /// Keeps and updates weights.
        Server = "server",
        /// Connects the workers and servers to each other.
        Scheduler = "scheduler",
    }
}

words! {
    /// The transport of messages between processes.
    pub enum Transport {
        /// ZeroMQ over TCP.
        Zmq = "zmq",
        /// ZeroMQ over TCP, with messages in prioritized slices.
        P3 = "p3",
        /// RDMA.
        Ibverbs = "ibverbs",
    }
}

words! {
    /// The launcher that started the processes of a job.
    pub enum Cluster {
        /// Processes on one machine.
        Local = "local",
        /// Secure shell.
        Ssh = "ssh",
        /// MPI.
        Mpi = "mpi",
        /// Sun Grid Engine.
        Sge = "sge",
        /// Hadoop YARN.
        Yarn = "yarn",
        /// Slurm.
        Slurm = "slurm",
    }
}

words! {
    /// What carries the messages of distributed stores.
    pub enum StoreEngine {
        /// MPI if a launcher of MPI started the process, otherwise sockets of one machine.
        Auto = "auto",
        /// MPI.
        Mpi = "mpi",
        /// Sockets of one machine.
        Local = "local",
    }
}

settings! {
    /// Roles, addresses and transport of distributed training.
    pub struct DistributedSettings in Distributed {
        /// Role of this process. `dist_async` has servers; the other stores connect workers only. A scheduler has nothing to do.
        role: Option<Role> = unset("worker"), "DMLC_ROLE" [B1 Process Distributed];
        /// Host of the servers, if `MXRS_KVSTORE_SERVERS` is unset. With `DMLC_LOCAL=1`, the folder of the sockets of the workers
        /// of other stores.
        root_uri: Option<String> = unset("required by distributed stores"), "DMLC_PS_ROOT_URI" [B2 Owner Distributed];
        /// Server `i` listens at this port plus 1 plus `i`, if `MXRS_KVSTORE_SERVERS` is unset.
        root_port: Option<u16> = unset("required by distributed stores"), "DMLC_PS_ROOT_PORT" [B3 Owner Servers],
            Kind::int(1, 65535);
        /// Number of workers; a barrier waits for all of them.
        n_workers: Option<NonZeroUsize> = unset("required by distributed stores"), "DMLC_NUM_WORKER" [B4 Owner Distributed];
        /// Number of servers of `dist_async`. The other stores have none: for them any number is accepted, and logged.
        n_servers: Option<NonZeroUsize> = unset("required by distributed stores"), "DMLC_NUM_SERVER" [B5 Owner Distributed];
        /// Network interface that connects the workers. `mxrs launch` gives it to `mpirun`.
        interface: Option<String> = unset("chosen by the MPI library"), "DMLC_INTERFACE" [B6 Owner Distributed];
        /// Address at which a server listens. If unset, the one of `MXRS_KVSTORE_SERVERS`.
        node_host: Option<String> = unset("the address of DMLC_INTERFACE"), "DMLC_NODE_HOST" [B7 Owner Servers];
        /// Port on which a worker or server listens. If it is in use, the following ports are tried.
        port: Option<u16> = unset("a free port"), "PORT" [B8 Owner Reader], Kind::int(0, 65535);
        /// Uses local sockets instead of TCP.
        local: bool = 0, "DMLC_LOCAL" [B9 Owner Distributed];
        /// Transport of messages: TCP, TCP with prioritized slices, or RDMA.
        transport: Transport = zmq, "DMLC_PS_VAN_TYPE" [B10 Owner Distributed];
        /// The most messages that are being sent to one worker. If unset, 4.
        water_mark: Option<usize> = unset("unbounded"), "DMLC_PS_WATER_MARK" [B11 Owner Distributed];
        /// Number of this process among the processes with its role. The runtime sets this variable.
        rank: Option<i64> = unset("written by the runtime"), "DMLC_RANK" [B12 Owner Distributed];
        /// Makes servers listen on every interface.
        kubernetes: bool = 0, "DMLC_USE_KUBERNETES" [B13 Owner Servers];
        /// 1 logs connections, 2 also every message.
        verbose: u8 = 0, "PS_VERBOSE" [B14 Owner Reader], Kind::int(0, 2);
        /// Seconds between two signs of life to the other workers; 0: none. If unset, 5, or a third of `PS_HEARTBEAT_TIMEOUT` if that is less.
        heartbeat_interval_s: u64 = 0, "PS_HEARTBEAT_INTERVAL" [B15 Owner Distributed];
        /// Seconds without a sign of life after which a worker counts as dead; 0: never. If unset, 30, or three times `PS_HEARTBEAT_INTERVAL` if that is more; never if that is 0.
        heartbeat_timeout_s: u64 = 0, "PS_HEARTBEAT_TIMEOUT" [B16 Owner Distributed];
        /// Sends messages again if they were not acknowledged.
        resend: bool = 0, "PS_RESEND" [B17 Owner Reader];
        /// Milliseconds to wait before a message is sent again.
        resend_timeout_ms: u64 = 1000, "PS_RESEND_TIMEOUT" [B18 Owner Reader], Kind::int(1, u64::MAX as i128);
        /// Percentage of received messages that are dropped, for tests.
        drop_percent: u8 = 0, "PS_DROP_MSG" [B19 Owner Reader], Kind::int(0, 100);
        /// The launcher that started the job. The launcher sets this variable.
        cluster: Option<Cluster> = unset("set by the launcher"), "DMLC_JOB_CLUSTER" [B20 Process Distributed];
        /// Index of this process among the processes with its role. The launcher sets this variable.
        task_id: Option<usize> = unset("set by the launcher"), "DMLC_TASK_ID" [B21 Process Distributed];
        /// What carries the messages of distributed stores: MPI, or sockets of one machine. With `auto`, MPI if a launcher of
        /// MPI started the process.
        engine: StoreEngine = auto, "MXRS_KVSTORE_ENGINE" [M12 Owner Distributed];
        /// Path of the MPI library to load.
        mpi_library: Option<PathBuf> = unset("the first that is found"), "MXRS_MPI_LIB" [M13 Owner Distributed];
        /// Seconds that a worker waits for something that another worker should send, such as a gradient, before it fails.
        patience_s: NonZeroU64 = 300, "MXRS_KVSTORE_TIMEOUT" [M14 Owner Distributed];
        /// The servers of `dist_async` by number, as `host:port` with commas between them.
        servers: Option<String> = unset("from DMLC_PS_ROOT_URI and DMLC_PS_ROOT_PORT"),
            "MXRS_KVSTORE_SERVERS" [M15 Owner Servers];
        /// PEM file with the certificates of the authority of the job. With it, servers and workers use TLS.
        tls_authority: Option<PathBuf> = unset("no TLS"), "MXRS_KVSTORE_CA" [M16 Owner Servers];
        /// PEM file with the certificate of this process.
        tls_certificate: Option<PathBuf> = unset("no TLS"), "MXRS_KVSTORE_CERT" [M17 Owner Servers];
        /// PEM file with the private key of the certificate.
        tls_key: Option<PathBuf> = unset("no TLS"), "MXRS_KVSTORE_KEY" [M18 Owner Servers];
        /// Allows servers that are not on this machine without TLS.
        insecure: bool = 0, "MXRS_KVSTORE_INSECURE" [M19 Owner Servers];
        /// File with a secret that servers and workers of a job share.
        token_file: Option<PathBuf> = unset("no secret"), "MXRS_KVSTORE_TOKEN_FILE" [M20 Owner Servers];
        /// Folder of the snapshots of servers.
        snapshot_folder: Option<PathBuf> = unset("no snapshots"), "MXRS_KVSTORE_SNAPSHOT_DIR" [M21 Owner Servers];
        /// Seconds between two snapshots of a server.
        snapshot_interval_s: NonZeroU64 = 60, "MXRS_KVSTORE_SNAPSHOT_INTERVAL" [M22 Owner Servers];
        /// Where server 0 answers `GET /metrics`, as `host:port`; server `i` takes the port plus `i`.
        metrics: Option<String> = unset("no metrics"), "MXRS_KVSTORE_METRICS" [M23 Owner Servers];
        /// The most updates of a value that a worker of `dist_async` may be ahead of the slowest one.
        staleness: Option<u64> = unset("no bound"), "MXRS_KVSTORE_STALENESS" [M24 Owner Servers];
        /// The most MiB of gradients that wait on a server for their update. Workers that send more wait.
        pending_mib: NonZeroUsize = 256, "MXRS_KVSTORE_PENDING_MB" [M25 Owner Servers], Kind::int(1, 1 << 20);
        /// The most MiB of pushes that a worker keeps until the snapshots of the servers have them.
        replay_mib: usize = 256, "MXRS_KVSTORE_REPLAY_MB" [M26 Owner Servers], Kind::int(0, 1 << 20);
    }
}
