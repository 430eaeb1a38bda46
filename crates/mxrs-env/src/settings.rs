//! All settings of a process, from one snapshot.

use crate::check::{hints, pool_errors, unknown_names};
use crate::group::load;
use crate::resolve::{Entry, Origin, Resolver};
use crate::*;
use mxrs_types::{Error, Result};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

macro_rules! groups {
    ($($(#[doc = $doc:literal])+ $field:ident: $group:ident;)+) => {
        /// All settings of a process, from one snapshot.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub struct Settings {
            $($(#[doc = $doc])+ pub $field: $group,)+
            entries: Vec<Entry>,
            old_names: BTreeMap<&'static str, String>,
            data_folder: Option<PathBuf>,
            cache_folder: Option<PathBuf>,
            conda_folder: Option<PathBuf>,
            place: Option<Place>,
        }

        /// The area and the variables of every settings struct, in the order of the listing.
        pub(crate) const GROUPS: &[(Area, &[Row])] = &[$((<$group as Group>::AREA, <$group as Group>::ROWS)),+];

        /// The variables of every settings struct, with the name of the field of [`Settings`] that holds the struct.
        pub(crate) const FIELDS: &[(&str, &[Row])] = &[$((stringify!($field), <$group as Group>::ROWS)),+];

        impl Settings {
            /// Reads all settings. `resolver` keeps errors and warnings; a setting with an error has its default.
            fn read(resolver: &mut Resolver<'_>, extensions: &[&'static [Row]]) -> Self {
                $(
                    let $field: $group = load(resolver);
                )+
                for row in extensions.iter().copied().flatten() {
                    resolver.resolve(Area::Extension, row);
                }
                let settings = Self {
                    $($field,)+
                    entries: std::mem::take(&mut resolver.entries),
                    old_names: std::mem::take(&mut resolver.old_names),
                    data_folder: resolver.snapshot.data_folder(),
                    cache_folder: resolver.snapshot.cache_folder(),
                    conda_folder: resolver.snapshot.conda_folder(),
                    place: Place::of(resolver.snapshot),
                };
                // Pool settings that were refused before have their defaults now, so no error about them is reported a
                // second time.
                resolver.errors.extend(pool_errors(&settings.pools));
                hints(resolver, &settings.profiler, &settings.onednn);
                unknown_names(resolver, extensions);
                settings
            }
        }
    };
}

groups! {
    /// The shared library that a front end loads.
    execution: ExecutionSettings;
    /// Numbers of threads, and the processors that they run on.
    threads: ThreadSettings;
    /// The memory planner.
    planner: PlannerSettings;
    /// Memory pools.
    pools: PoolSettings;
    /// The dependency engine.
    engine: EngineSettings;
    /// Bulks of operators.
    bulk: BulkSettings;
    /// CUDA graphs.
    cuda_graphs: CudaGraphSettings;
    /// Reduction and exchange of arrays.
    kvstore: KvStoreSettings;
    /// Settings that save memory in training.
    memory_opt: MemoryOptSettings;
    /// The initial settings of the profiler.
    profiler: ProfilerSettings;
    /// How front ends call the library.
    frontend: FrontendSettings;
    /// Log settings that concern several parts of mxrs.
    log: LogSettings;
    /// GPUs, their libraries and run-time compilation.
    cuda: CudaSettings;
    /// cuDNN and convolution engines.
    cudnn: CudnnSettings;
    /// The oneDNN backend.
    onednn: OneDnnSettings;
    /// Resources that operators share, the precision of operators, and the instruction sets that kernels may use.
    resources: ResourceSettings;
    /// Passes over the graph.
    graph: GraphSettings;
    /// Files and downloads.
    files: FileSettings;
    /// Operator tuning.
    tuning: TuningSettings;
    /// Distributed training.
    distributed: DistributedSettings;
    /// The test harness.
    testing: TestSettings;
}

impl Settings {
    /// Reads `source` once and checks every known variable that is set, including variables that have no effect.
    ///
    /// The caller should log each warning once.
    ///
    /// # Errors
    /// Returns `ErrorKind::Env` for the first bad value. [`check_all`](Self::check_all) returns all errors.
    pub fn from_source(source: &dyn EnvSource) -> Result<(Self, Vec<Warning>)> {
        Self::from_snapshot(&Snapshot::take(source))
    }

    /// Like [`from_source`](Self::from_source), from a snapshot, which may contain values given through the API.
    ///
    /// # Errors
    /// Returns the errors of [`from_source`](Self::from_source), or an error for an API value with an unknown name.
    pub fn from_snapshot(snapshot: &Snapshot) -> Result<(Self, Vec<Warning>)> {
        Self::from_snapshot_with(snapshot, &[])
    }

    /// Like [`from_snapshot`](Self::from_snapshot), with the variables of crates outside mxrs ([`Group::ROWS`]). These
    /// variables are checked and listed, and their names are known.
    ///
    /// # Errors
    /// Returns the errors of [`from_snapshot`](Self::from_snapshot).
    pub fn from_snapshot_with(snapshot: &Snapshot, extensions: &[&'static [Row]]) -> Result<(Self, Vec<Warning>)> {
        let mut resolver = Resolver::new(snapshot);
        let settings = Self::read(&mut resolver, extensions);
        match resolver.errors.into_iter().next() {
            None => Ok((settings, resolver.warnings)),
            Some(error) => Err(error),
        }
    }

    /// The errors of all bad values in `source`: first single variables in the order of the listing, then pairs of
    /// variables that contradict each other.
    pub fn check_all(source: &dyn EnvSource) -> Vec<Error> {
        let snapshot = Snapshot::take(source);
        let mut resolver = Resolver::new(&snapshot);
        Self::read(&mut resolver, &[]);
        resolver.errors
    }

    /// The origin of a variable's value. `name` may be canonical or older. An unknown name has the origin
    /// [`Default`](Origin::Default).
    pub fn origin(&self, name: &str) -> Origin {
        self.entry(name).map_or(Origin::Default, |entry| entry.origin)
    }

    /// Whether a value was given for the variable, in the environment or through the API. The value may be equal to the
    /// default.
    pub fn is_set(&self, name: &str) -> bool {
        self.origin(name) != Origin::Default
    }

    /// The value of a variable as the listing shows it; `None` for an unknown name.
    pub fn value(&self, name: &str) -> Option<String> {
        self.entry(name).map(Entry::shown)
    }

    /// The warning for a variable that mxrs supports but this build or machine cannot honor, because of `why` (such as
    /// `no GPU`). `None` if the variable has its default.
    pub fn inert_warning(&self, name: &str, why: &str) -> Option<Warning> {
        let entry = self.entry(name).filter(|entry| entry.differs_from_default())?;
        let text = format!("{}={} has no effect: {why}", entry.row.name, entry.shown());
        Some(Warning::of_row(WarningKind::Inert, entry.row, text))
    }

    /// The warnings for variables that are not at their default and have no effect in this build on this machine.
    pub fn warnings_without_effect(&self, capabilities: &Capabilities) -> Vec<Warning> {
        // The switch of oneDNN is honored even by a build without oneDNN, because such a build behaves as if oneDNN were
        // switched off.
        let is_honored = |entry: &&Entry| entry.row.needs == Capability::OneDnnFeature;
        let set = self.entries.iter().filter(|entry| entry.differs_from_default() && !is_honored(entry));
        set.filter_map(|entry| {
            let (kind, why) = match capabilities.state_of(entry.row) {
                State::InEffect => return None,
                State::Needs(what) => (WarningKind::Inert, format!("has no effect: it needs {what}")),
                State::NotYet(why) => (WarningKind::NotYetInEffect, format!("is not yet in effect: {why}")),
            };
            Some(Warning::of_row(kind, entry.row, format!("{}={} {why}", entry.row.name, entry.shown())))
        })
        .collect()
    }

    /// Number of colors that the memory planner gives to operators: `MXNET_EXEC_NUM_TEMP`, at most
    /// `MXNET_GPU_WORKER_NTHREADS`. Operators of different colors share no storage.
    pub fn n_colors(&self) -> NonZeroUsize {
        self.planner.num_temp.min(self.threads.gpu_workers)
    }

    /// Folder of downloaded data: `MXNET_HOME`, otherwise `.mxnet` in the user's home. `None` if neither is known.
    pub fn data_folder(&self) -> Option<&Path> {
        self.files.home.as_deref().or(self.data_folder.as_deref())
    }

    /// File for results of kernel tuning: `MXRS_TUNING_CACHE`, otherwise `mxrs/tuning.json` in the user's cache folder.
    /// `None` if the file is switched off or the folder is unknown.
    pub fn tuning_cache(&self) -> Option<PathBuf> {
        match &self.tuning.kernel_cache {
            Some(TuningCache::Off) => None,
            Some(TuningCache::File(path)) => Some(path.clone()),
            None => self.cache_folder.as_ref().map(|folder| folder.join("mxrs").join("tuning.json")),
        }
    }

    /// The folder of the active conda environment, in which libraries are looked for. `None` if no environment is active.
    pub fn conda_folder(&self) -> Option<&Path> {
        self.conda_folder.as_deref()
    }

    /// The place of this process among those that a launcher has started. `None` if no launcher is known to have started it.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn old_names(&self) -> &BTreeMap<&'static str, String> {
        &self.old_names
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        let canonical = registry::find(name).map_or(name, |row| row.name);
        self.entries.iter().find(|entry| entry.row.name == canonical)
    }
}

/// The settings of an empty environment.
impl Default for Settings {
    fn default() -> Self {
        let snapshot = Snapshot::default();
        Self::read(&mut Resolver::new(&snapshot), &[])
    }
}
