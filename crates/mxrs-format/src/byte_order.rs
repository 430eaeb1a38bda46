//! Byte order of stored elements: files are little-endian; the host may be big-endian.

/// Reverses the bytes of every `item_size`-byte element.
pub(crate) fn swap_elements(bytes: &mut [u8], item_size: usize) {
    if item_size > 1 {
        for item in bytes.chunks_exact_mut(item_size) {
            item.reverse();
        }
    }
}

/// Converts stored little-endian elements to the host's byte order, or host elements to little-endian.
pub(crate) fn little_to_host(bytes: &mut [u8], item_size: usize) {
    if cfg!(target_endian = "big") {
        swap_elements(bytes, item_size);
    }
}

/// Converts stored big-endian elements to the host's byte order.
pub(crate) fn big_to_host(bytes: &mut [u8], item_size: usize) {
    if cfg!(target_endian = "little") {
        swap_elements(bytes, item_size);
    }
}

/// Writes host elements as little-endian ones.
///
/// # Errors
/// Returns the I/O errors of `sink`.
pub(crate) fn write_little<W: std::io::Write + ?Sized>(
    sink: &mut W,
    bytes: &[u8],
    item_size: usize,
) -> std::io::Result<()> {
    if cfg!(target_endian = "little") || item_size == 1 {
        return sink.write_all(bytes);
    }
    let mut block = Vec::new();
    for part in bytes.chunks((64 << 10) / item_size * item_size) {
        block.clear();
        block.extend_from_slice(part);
        swap_elements(&mut block, item_size);
        sink.write_all(&block)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapping_reverses_each_element() {
        let mut bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        swap_elements(&mut bytes, 4);
        assert_eq!(bytes, [4, 3, 2, 1, 8, 7, 6, 5]);
        swap_elements(&mut bytes, 1);
        assert_eq!(bytes, [4, 3, 2, 1, 8, 7, 6, 5]);
    }

    #[test]
    fn big_endian_numbers_become_host_numbers() {
        let mut bytes = 258u16.to_be_bytes();
        big_to_host(&mut bytes, 2);
        assert_eq!(u16::from_ne_bytes(bytes), 258);
    }
}
