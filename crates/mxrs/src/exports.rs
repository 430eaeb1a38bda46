//! What the facade exports of the other crates: one module per crate, with the items that most programs use. A program that
//! needs more depends on the other crate directly. All crates have the version of the facade.

/// Iterators over training data, images and record files: the crate `mxrs-data`.
#[cfg(feature = "data")]
pub mod data {
    pub use mxrs_data::{
        Augment, BatchSampler, CropEmit, CropSampler, CsvIter, DataBatch, DataDesc, DataIter, DataLoader,
        DataLoaderBuilder, DataLoaderIter, Dataset, DecodeLimits, DetectAugment, DetectResize, Encoding, Image,
        ImageOptions, ImageRecordIter, ImageRecordIterBuilder, ImageThreads, InterMethod, Interpolation, LastBatch,
        LastSamples, LibSvmIter, LibSvmSettings, MAX_IMAGE_FILE_BYTES, MnistIter, NdArrayIter, NdArrayIterBuilder,
        PixelType, PrefetchingIter, ResizeIter, Sampler, create, decode, encode, im2rec, prepare, prepare_on,
        record_tools, resize, resize_on, stack, transform,
    };
}

/// The dependency engine: the crate `mxrs-engine`.
pub mod engine {
    pub use mxrs_engine::{
        BulkScope, Completion, Engine, EngineBuilder, EngineConfig, EngineCounters, EngineKind, Property, RunContext,
        TaskBuilder, Var, gpu,
    };
}

/// Environment variables and their settings: the crate `mxrs-env`.
pub mod env {
    pub use mxrs_env::{
        Area, COLUMNS, Capabilities, Capability, EnvSource, Listing, MapSource, Origin, OsSource, PoolDevice,
        Registered, RowView, Settings, Snapshot, State, Warning, registry,
    };
}

/// The executor of graphs and of single calls, and gradients: the crate `mxrs-exec`.
pub mod exec {
    pub use mxrs_exec::{
        Array, Axes, BackwardOptions, BindOptions, Bucket, BucketingExecutor, CachedOp, CachedOpFlags, CachedOpStats,
        ChosenBy, DeviceBytes, DryGraph, Executor, ExecutorReport, Function, FunctionCall, FusedReport, GradReq,
        GradRequests, Imperative, ImperativeOptions, MemoryPool, Monitored, Outcome, PackedStore, PassReport,
        PlannedGraph, PlannedTensor, Recompute, ReshapeOptions, Search, StepReport, StepTimes, TensorKind, TunedCall,
        autograd, optional_pass_names, pass_names, plan_graph,
    };
}

/// File formats: parameters, npy and npz, RecordIO, ONNX messages. The crate `mxrs-format`.
pub mod format {
    #[cfg(feature = "onnx")]
    pub use mxrs_format::onnx;
    pub use mxrs_format::{
        AlignedBytes, ArrayFile, Arrays, AtomicFile, Checkpoint, Csr, Dense, Limits, Loaded, Options, RowSparse,
        Tensor, Warnings, npy, npz, params, pickle, read_file, recordio, safetensors, tuning, write_atomically,
    };
}

/// Symbols and graphs: the crate `mxrs-graph`.
pub mod graph {
    pub use mxrs_graph::{
        AttrScope, Entry, Graph, GraphBuilder, Inferred, NameManager, Node, NodeId, Placement, PlanOptions, Symbol,
        SymbolCall, autocast, infer_dtypes, infer_shapes, memory, place,
    };
}

/// Key-value stores: arrays by key that are summed over devices. The crate `mxrs-kvstore`.
#[cfg(feature = "kvstore")]
pub mod kvstore {
    pub use mxrs_kvstore::{
        Compression, Constructor, Family, Key, KvStore, KvStoreOptions, LinkSource, MakeUpdater, NAMES, RowPull,
        RowSparse, ServedValue, ServerUpdater, StoreRegistry, StoreType, SumWatch, Update, Updater, UpdaterSettings,
        Value, bandwidth, dist, served, tree,
    };
}

/// The networks of MXNet's examples, and initial values: the crate `mxrs-models`.
#[cfg(feature = "models")]
pub mod models {
    pub use mxrs_models::{
        BENCHMARK_NETWORKS, FactorKind, Family, Initializer, Load, Mixed, Model, ModelOptions, NetBuilder, RandomKind,
        families, model, networks,
    };
}

/// Arrays: the crate `mxrs-ndarray`.
pub mod ndarray {
    pub use mxrs_ndarray::{ArrayContext, DeviceCopies, Element, Invoke, NdArray, Reading};
}

/// ONNX models from graphs and back: the crate `mxrs-onnx`.
#[cfg(feature = "onnx")]
pub mod onnx {
    pub use mxrs_onnx::{ExportOptions, ImportOptions, Imported, ImportedInput, OPSETS, export, import, import_with};
}

/// What an operator, a kernel and a backend are, for programs that add one: the crate `mxrs-op`.
pub mod op {
    pub use mxrs_op::{
        Accuracy, Answer, Attrs, Backend, Combines, DEFAULT_ALGORITHM, Fill, GradValue, Gradient, GradientScope,
        InputNames, Kernel, KernelArgs, Layer, Offer, OpCall, OpDef, OpParams, OpSet, OutputCount, ParamSpec,
        Parameters, Pattern, PlannedKernel, Pointwise, Precision, Proposal, RandomCall, RawTensor, RefInput, RefOutput,
        ReferenceBackend, RunMode, Sample, SampleInput, Speed, TensorDesc, View, accumulate, elements, op_params,
    };
    pub use mxrs_sync::Team;
}

/// The operators of this build: the crate `mxrs-ops`.
pub mod ops {
    pub use mxrs_ops::{catalog, custom, docs_markdown, find, layers};
}

/// Optimizers and learning rates: the crate `mxrs-optim`.
#[cfg(feature = "train")]
pub mod optim {
    pub use mxrs_optim::{
        Adam, AdamW, Common, Multipliers, NAMES, Optimizer, Param, Parameter, Range, SavedStates, Settings, Sgd, State,
        TwoBit, Updater, create, optimizers, schedule,
    };
}

/// The profiler, with MXNet's interface: the crate `mxrs-profiler`.
#[cfg(feature = "profiler")]
pub mod profiler {
    pub use mxrs_profiler::diff;
    pub use mxrs_profiler::{
        ApiCall, Config, Costs, Counter, Domain, Entry, Event, Format, Frame, Kinds, Limit, MarkScope, Marker,
        MemoryPlan, Peaks, Phase, Profiler, Rectangle, Schedule, ScopeGuard, SortBy, Started, State, Stats, Task, Unit,
        api_call, enter_scope, merge, process,
    };
}

/// Quantization of trained networks: the crate `mxrs-quantize`.
#[cfg(feature = "quantize")]
pub mod quantize {
    pub use mxrs_quantize::{
        CalibMode, CalibrationTable, Calibrator, Granularity, NodeReport, Outcome, QuantizeMode, QuantizeOptions,
        QuantizeReport, QuantizedDType, QuantizedNetwork, Quantizer, WrittenRange,
    };
}

/// Memory pools: the crate `mxrs-storage`.
pub mod storage {
    pub use mxrs_storage::{
        ALIGNMENT, Block, DeviceMemory, GrowableMemory, HostMemory, MemoryInfo, PoolConfig, PoolKind, PoolStats,
        Storage, StorageBuilder, StorageConfig, Tag, TagStats,
    };
}

/// Symbol files: the crate `mxrs-symbol`.
pub mod symbol {
    pub use mxrs_symbol::{check_operators, graph_from_bytes, graph_from_file, graph_to_file, open_graph};
}

/// Training: the module and its loop, metrics, callbacks, checkpoints. The crate `mxrs-train`.
#[cfg(feature = "train")]
pub mod train {
    pub use mxrs_train::{
        BindFor, CheckpointOptions, Compression, FitOptions, FitReport, Host, InitOptions, KvStore, KvStoreChoice,
        LossScaler, Module, ModuleNames, Outcome, Parameter, StoreOptions, Trainer, Updater, callback,
        clip_global_norm, global_norm, load_initializer, loss, metric, resume, split_and_load, split_data,
    };
}

/// Shapes, element types, devices, errors: the crate `mxrs-types`.
pub mod types {
    pub use mxrs_types::{
        DType, Device, DeviceEvent, DeviceKind, DeviceStream, Error, ErrorKind, Layout, PartialShape, Result,
        ResultExt, Shape, StreamId, WriteReq,
    };
}
