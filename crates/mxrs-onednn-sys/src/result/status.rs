//! Converts statuses to errors.

use crate::sys;
use mxrs_types::{Error, ErrorKind, Result};

/// Turns the status that the C function `call` returned into a result.
///
/// # Errors
/// - `NotBuilt` for `dnnl_unimplemented`: this oneDNN has no implementation for these arguments on this machine, or
///   there is no library. The caller should use a fallback.
/// - `Backend` for all other errors, with the function's name and the meaning of the status.
pub fn check(call: &'static str, status: sys::dnnl_status_t) -> Result<()> {
    let meaning = match status {
        sys::dnnl_success => return Ok(()),
        sys::dnnl_unimplemented => return Err(no_implementation(call)),
        sys::dnnl_out_of_memory => "out of memory",
        sys::dnnl_invalid_arguments => "invalid arguments; ONEDNN_VERBOSE=check in the environment prints which",
        sys::dnnl_last_impl_reached => "there is no further implementation",
        sys::dnnl_runtime_error => "failed while running",
        sys::dnnl_not_required => "the object asked for does not exist here",
        sys::dnnl_invalid_graph => "invalid graph",
        sys::dnnl_invalid_graph_op => "invalid operator in a graph",
        sys::dnnl_invalid_shape => "shapes do not fit",
        sys::dnnl_invalid_data_type => "element types do not fit",
        _ => "unknown status",
    };
    Err(Error::new(ErrorKind::Backend {
        backend: crate::BACKEND,
        message: format!("{call}: {meaning} (status {status})"),
    }))
}

fn no_implementation(call: &'static str) -> Error {
    match crate::version() {
        Ok(version) => Error::not_built(call, format!("oneDNN {version} has no implementation for these arguments")),
        Err(reason) => Error::not_built(call, reason.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sys;
    use mxrs_types::ErrorKind;

    #[test]
    fn statuses_name_the_call() {
        assert_eq!(check("dnnl_x", sys::dnnl_success), Ok(()));
        let error = check("dnnl_x", sys::dnnl_out_of_memory).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Backend { backend: "onednn", message } if message == "dnnl_x: out of memory (status 1)"),
            "{error:?}"
        );
        let error = check("dnnl_x", sys::dnnl_unimplemented).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotBuilt { what, .. } if what == "dnnl_x"), "{error:?}");
        let error = check("dnnl_x", 999).unwrap_err();
        assert!(error.to_string().contains("unknown status (status 999)"), "{error}");
    }
}
