//! How front ends call the library.

use crate::settings;

settings! {
    /// How front ends call the library.
    pub struct FrontendSettings in Frontend {
        /// Prefers the compiled path of the front end; 0: the generic path through the C ABI.
        enable_compiled: bool = 1, "MXNET_ENABLE_CYTHON" [D54 Process FrontEnd];
        /// Makes it an error when the compiled path is preferred and missing.
        enforce_compiled: bool = 0, "MXNET_ENFORCE_CYTHON" [D55 Process FrontEnd];
    }
}
