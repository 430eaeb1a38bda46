//! One checked function per C function that returns a status.

use super::check;
use crate::sys::{self, *};
use mxrs_types::Result;

macro_rules! checked {
    (
        status { $(fn $s:ident as $s_short:ident($($s_arg:ident: $s_ty:ty),*);)* }
        value { $(fn $v:ident as $v_short:ident($($v_arg:ident: $v_ty:ty),*) -> $v_ret:ty;)* }
    ) => {
        $(
            #[doc = concat!("Calls [`", stringify!($s), "`](sys::", stringify!($s), ").")]
            ///
            /// # Errors
            /// Returns the error that [`check`] makes of the status.
            ///
            /// # Safety
            /// The contract of the C function applies; see oneDNN's manual.
            #[allow(non_snake_case)] // Arguments keep the names of the C headers.
            pub unsafe fn $s_short($($s_arg: $s_ty),*) -> Result<()> {
                // SAFETY: the contract of this function is that of the C function.
                check(stringify!($s), unsafe { sys::$s($($s_arg),*) })
            }
        )*
    };
}

sys::all_functions!(checked);
