//! Which shared library a front end loads.

use crate::{Kind, settings};
use std::path::PathBuf;

settings! {
    /// Which shared library a front end loads.
    pub struct ExecutionSettings in Execution {
        /// Load exactly this shared library. Unset: look in `LD_LIBRARY_PATH`, the package folder and the build folders.
        library_path: Option<PathBuf> = unset, "MXNET_LIBRARY_PATH" [D1 Process FrontEnd], Kind::File;
        /// Folders searched for shared libraries before the package folder.
        ld_library_path: Option<PathBuf> = unset, "LD_LIBRARY_PATH" [B65 Process FrontEnd], Kind::PathList;
    }
}
