//! How front ends call the library.

use crate::settings;

settings! {
    /// How front ends call the library.
    pub struct FrontendSettings in Frontend {
        /// Uses the compiled path of the front end if there is one; 0: the generic path through the C ABI.
        enable_compiled: bool = 1, "MXNET_ENABLE_CYTHON" [D54 Process FrontEnd];
        /// Makes it an error if the compiled path is preferred but missing.
        enforce_compiled: bool = 0, "MXNET_ENFORCE_CYTHON" [D55 Process FrontEnd];
    }
}
