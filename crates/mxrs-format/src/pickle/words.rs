//! Words of a pickle: the class names that it may contain, and texts in Python's notation.

/// Whether a pickle may refer to the class or function with this name.
pub(super) fn is_known(name: &str) -> bool {
    const EXACT: &[&str] = &[
        "mxnet.ndarray.NDArray",
        "mxnet.ndarray.ndarray.NDArray",
        "mxnet.ndarray.sparse.CSRNDArray",
        "mxnet.ndarray.sparse.RowSparseNDArray",
        "mxnet.numpy.ndarray",
        "mxnet.numpy.multiarray.ndarray",
        "builtins.bytearray",
        "__builtin__.bytearray",
        "builtins.object",
        "__builtin__.object",
        "copyreg._reconstructor",
        "copy_reg._reconstructor",
        "_codecs.encode",
        "numpy.dtype",
        "numpy.core.multiarray.scalar",
        "numpy._core.multiarray.scalar",
    ];
    EXACT.contains(&name) || name.starts_with("mxnet.optimizer.") || name.starts_with("mxnet.lr_scheduler.")
}

/// The bytes of a quoted text in which Python's escapes are replaced.
pub(super) fn unquoted(line: &str) -> Option<Vec<u8>> {
    let quote = line.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inner = line.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut bytes = Vec::with_capacity(inner.len());
    let mut chars = inner.bytes();
    while let Some(b) = chars.next() {
        if b != b'\\' {
            bytes.push(b);
            continue;
        }
        bytes.push(match chars.next()? {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'x' => {
                let digits = [chars.next()?, chars.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other @ (b'\\' | b'\'' | b'"') => other,
            _ => return None,
        });
    }
    Some(bytes)
}

/// The text in which `\uXXXX` escapes are replaced.
pub(super) fn unescaped(line: &str) -> Option<String> {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("\\u") {
        text.push_str(&rest[..at]);
        let code = rest.get(at + 2..at + 6)?;
        text.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
        rest = &rest[at + 6..];
    }
    text.push_str(rest);
    Some(text)
}
