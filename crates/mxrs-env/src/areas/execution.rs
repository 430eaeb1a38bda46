//! The shared library that a front end loads.

use crate::{Kind, settings};
use std::path::PathBuf;

settings! {
    /// The shared library that a front end loads.
    pub struct ExecutionSettings in Execution {
        /// The shared library to load. If unset, `LD_LIBRARY_PATH`, the package folder and the build folders are searched.
        library_path: Option<PathBuf> = unset, "MXNET_LIBRARY_PATH" [D1 Process FrontEnd], Kind::File;
        /// Folders that are searched for shared libraries before the package folder.
        ld_library_path: Option<PathBuf> = unset, "LD_LIBRARY_PATH" [B65 Process FrontEnd], Kind::PathList;
    }
}
