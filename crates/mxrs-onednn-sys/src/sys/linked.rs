//! The functions of oneDNN's C interface, resolved by the linker.

use super::types::*;

macro_rules! link {
    (
        status { $(fn $s:ident as $s_short:ident($($s_arg:ident: $s_ty:ty),*);)* }
        value { $(fn $v:ident as $v_short:ident($($v_arg:ident: $v_ty:ty),*) -> $v_ret:ty;)* }
    ) => {
        unsafe extern "C" {
            $(pub fn $s($($s_arg: $s_ty),*) -> dnnl_status_t;)*
            $(pub fn $v($($v_arg: $v_ty),*) -> $v_ret;)*
        }
    };
}

super::all_functions!(link);
