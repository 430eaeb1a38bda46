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
        /// Role of this process. Stores of mxrs connect workers only, and refuse the other roles.
        role: Option<Role> = unset("worker"), "DMLC_ROLE" [B1 Process Distributed];
        /// Host on which the scheduler listens. With `DMLC_LOCAL=1`, the folder of the sockets of the workers.
        root_uri: Option<String> = unset("required by distributed stores"), "DMLC_PS_ROOT_URI" [B2 Owner Distributed];
        /// Port on which the scheduler listens.
        root_port: Option<u16> = unset("required by distributed stores"), "DMLC_PS_ROOT_PORT" [B3 Owner Servers],
            Kind::int(1, 65535);
        /// Number of workers; a barrier waits for all of them.
        n_workers: Option<NonZeroUsize> = unset("required by distributed stores"), "DMLC_NUM_WORKER" [B4 Owner Distributed];
        /// Number of servers. The workers are the servers of mxrs, so any number is accepted, and logged.
        n_servers: Option<NonZeroUsize> = unset("required by distributed stores"), "DMLC_NUM_SERVER" [B5 Owner Distributed];
        /// Network interface whose address this process announces.
        interface: Option<String> = unset("the first usable one"), "DMLC_INTERFACE" [B6 Owner Servers];
        /// Address that this process announces. Takes precedence over `DMLC_INTERFACE`.
        node_host: Option<String> = unset("the address of DMLC_INTERFACE"), "DMLC_NODE_HOST" [B7 Owner Servers];
        /// Port on which a worker or server listens. If it is in use, the following ports are tried.
        port: Option<u16> = unset("a free port"), "PORT" [B8 Owner Servers], Kind::int(0, 65535);
        /// Uses local sockets instead of TCP.
        local: bool = 0, "DMLC_LOCAL" [B9 Owner Distributed];
        /// Transport of messages: TCP, TCP with prioritized slices, or RDMA.
        transport: Transport = zmq, "DMLC_PS_VAN_TYPE" [B10 Owner Distributed];
        /// The most messages that are being sent to one worker. If unset, 4.
        water_mark: Option<usize> = unset("unbounded"), "DMLC_PS_WATER_MARK" [B11 Owner Distributed];
        /// Number of this process among the processes with its role. The runtime sets this variable.
        rank: Option<i64> = unset("written by the runtime"), "DMLC_RANK" [B12 Owner Distributed];
        /// Makes the scheduler listen on every interface.
        kubernetes: bool = 0, "DMLC_USE_KUBERNETES" [B13 Owner Servers];
        /// 1 logs connections, 2 also every message.
        verbose: u8 = 0, "PS_VERBOSE" [B14 Owner Servers], Kind::int(0, 2);
        /// Seconds between two signs of life to the other workers; 0: none. If unset, 5.
        heartbeat_interval_s: u64 = 0, "PS_HEARTBEAT_INTERVAL" [B15 Owner Distributed];
        /// Seconds without a sign of life after which a worker counts as dead; 0: never. If unset, 30.
        heartbeat_timeout_s: u64 = 0, "PS_HEARTBEAT_TIMEOUT" [B16 Owner Distributed];
        /// Sends messages again if they were not acknowledged.
        resend: bool = 0, "PS_RESEND" [B17 Owner Servers];
        /// Milliseconds to wait before a message is sent again.
        resend_timeout_ms: u64 = 1000, "PS_RESEND_TIMEOUT" [B18 Owner Servers], Kind::int(1, u64::MAX as i128);
        /// Percentage of received messages that are dropped, for tests.
        drop_percent: u8 = 0, "PS_DROP_MSG" [B19 Owner Servers], Kind::int(0, 100);
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
    }
}
