//! Turns a snapshot of the environment into typed settings, and lists every variable that mxrs knows.
//!
//! This crate does not act on settings: it neither counts cores nor starts threads, opens no library and logs nothing. Each
//! part of mxrs gets its settings struct and acts on it; warnings are returned as values. This is the only crate that reads
//! the process environment, and it does so in one function, [`OsSource::vars`](EnvSource::vars).
//!
//! ```
//! use mxrs_env::{MapSource, Origin, Settings};
//!
//! let source = MapSource::new([("MXNET_CPU_WORKER_NTHREADS", "4"), ("MXNET_EXEC_MATCH_RANGE", "8")]);
//! let (settings, warnings) = Settings::from_source(&source)?;
//! assert_eq!(settings.threads.cpu_workers.get(), 4);
//! assert_eq!(settings.planner.match_range, 8);
//! assert_eq!(settings.origin("NNVM_EXEC_MATCH_RANGE"), Origin::Alias);
//! assert_eq!(warnings[0].to_string(), "MXNET_EXEC_MATCH_RANGE is an older name: set NNVM_EXEC_MATCH_RANGE instead");
//!
//! let bad = MapSource::new([("MXNET_CPU_WORKER_NTHREADS", "two")]);
//! assert_eq!(
//!     Settings::from_source(&bad).unwrap_err().to_string(),
//!     "MXNET_CPU_WORKER_NTHREADS: invalid value \"two\": expected an integer >= 1"
//! );
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! A crate with its own variables declares them with [`settings!`] and reads them with [`Group::from_snapshot`].
//!
//! Read next: [`Settings`], then the struct of one area, such as [`ThreadSettings`].

// The macro `settings!` refers to this crate as `mxrs_env`, so that its expansion is the same inside and outside the crate.
extern crate self as mxrs_env;

mod affinity;
mod aliases;
mod area;
mod areas;
mod capability;
mod check;
mod docs;
mod group;
mod kind;
mod listing;
mod place;
mod recompute;
mod registry;
mod resolve;
mod row;
mod settings;
mod settings_macro;
mod snapshot;
mod source;
mod warning;
mod words;

pub use affinity::{Affinity, AffinityType, Granularity};
pub use aliases::{ALIASES, Alias};
pub use area::Area;
pub use areas::*;
pub use capability::{Capabilities, Capability, State};
pub use docs::docs_markdown;
pub use group::Group;
pub use kind::{Kind, Setting};
pub use listing::{COLUMNS, Listing, RowView};
pub use place::{Place, PlacedBy};
pub use recompute::{Bytes, Remat};
pub use registry::{Registered, field_paths, find, registry};
pub use resolve::Origin;
pub use row::{ReadTime, Row};
pub use settings::Settings;
pub use snapshot::Snapshot;
pub use source::{EnvSource, MapSource, OsSource};
pub use warning::{Warning, WarningKind};

/// Items that the expansion of [`settings!`] uses; not for direct use.
#[doc(hidden)]
pub mod private {
    pub use serde;
}
