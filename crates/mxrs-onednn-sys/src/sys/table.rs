//! The functions of oneDNN's C interface, called through a table that is filled when a library is loaded at run time.

use super::constants::dnnl_unimplemented;
use super::types::*;
use crate::library::table;

macro_rules! through_table {
    (
        status { $(fn $s:ident as $s_short:ident($($s_arg:ident: $s_ty:ty),*);)* }
        value { $(fn $v:ident as $v_short:ident($($v_arg:ident: $v_ty:ty),*) -> $v_ret:ty;)* }
    ) => {
        /// One entry per function; `None` if the library does not have it.
        pub(crate) struct Table {
            $($s: Option<unsafe extern "C" fn($($s_ty),*) -> dnnl_status_t>,)*
            $($v: Option<unsafe extern "C" fn($($v_ty),*) -> $v_ret>,)*
        }

        impl Table {
            /// Looks up all functions in `library`, which must never be closed.
            ///
            /// # Safety
            /// Every symbol of `library` with the name of a function of oneDNN 3 must be that function.
            #[cfg(feature = "dynamic")]
            pub(crate) unsafe fn of(library: &libloading::Library) -> Self {
                // SAFETY: the caller ensures that the symbols are oneDNN's functions; the types are those of oneDNN's
                // headers.
                unsafe {
                    Self {
                        $($s: library.get(stringify!($s)).ok().map(|symbol| *symbol),)*
                        $($v: library.get(stringify!($v)).ok().map(|symbol| *symbol),)*
                    }
                }
            }
        }

        $(pub unsafe fn $s($($s_arg: $s_ty),*) -> dnnl_status_t {
            match table().and_then(|t| t.$s) {
                // SAFETY: the contract of this function is that of the C function.
                Some(function) => unsafe { function($($s_arg),*) },
                None => dnnl_unimplemented,
            }
        })*

        $(pub unsafe fn $v($($v_arg: $v_ty),*) -> $v_ret {
            match table().and_then(|t| t.$v) {
                // SAFETY: the contract of this function is that of the C function.
                Some(function) => unsafe { function($($v_arg),*) },
                // SAFETY: all these types are integers or raw pointers, for which zero is valid.
                None => unsafe { core::mem::zeroed() },
            }
        })*
    };
}

super::all_functions!(through_table);

#[cfg(feature = "dynamic")]
impl Table {
    /// The result of `dnnl_version` of this library; null if it has no such function.
    pub(crate) fn version(&self) -> *const dnnl_version_t {
        match self.dnnl_version {
            // SAFETY: the function has no arguments and may be called at any time.
            Some(function) => unsafe { function() },
            None => core::ptr::null(),
        }
    }
}
