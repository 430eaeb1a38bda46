//! The directory at the end of a zip archive, and the checks of its entries.

use super::{CENTRAL, END, END64, EXTRA64, LOCATOR64, MAX_RATIO};
use crate::reader::Reader;
use crate::{Options, fault};
use mxrs_types::{FormatErrorKind, Result};
use std::collections::HashSet;
use std::io::{Read, Seek, SeekFrom};

/// One member of the archive, as the directory describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub name: String,
    pub deflated: bool,
    pub crc: u32,
    pub packed: u64,
    pub size: u64,
    pub header_offset: u64,
}

/// Position of the directory in the file.
struct Place {
    count: u64,
    size: u64,
    offset: u64,
    /// Offset at which the end records begin; all members and the directory lie before it.
    limit: u64,
}

/// Bytes of an end record without its comment.
const END_LEN: u64 = 22;
/// Bytes of the zip64 locator.
const LOCATOR_LEN: u64 = 20;
/// Bytes of a directory entry without name, extra fields and comment.
const ENTRY_LEN: u64 = 46;
/// Bytes of a member's own header without name and extra fields.
pub(super) const LOCAL_LEN: u64 = 30;

/// A reader over the `len` bytes at `offset`.
pub(super) fn window<R: Read + Seek>(source: &mut R, offset: u64, len: u64) -> Result<Reader<&mut R>> {
    source.seek(SeekFrom::Start(offset)).map_err(|e| fault::io(&e))?;
    Ok(Reader::bounded(source, offset, len))
}

/// Reads and checks the directory of an archive of `len` bytes.
pub(super) fn read<R: Read + Seek>(source: &mut R, len: u64, options: &Options) -> Result<Vec<Member>> {
    let place = find(source, len)?;
    let end = place.offset.checked_add(place.size);
    if end.is_none_or(|end| end > place.limit) {
        let context = format!("zip directory of {} bytes at {} goes beyond its end record", place.size, place.offset);
        return Err(fault::at(place.offset, FormatErrorKind::Inconsistent, context));
    }
    let mut r = window(source, place.offset, place.size)?;
    let count = r.expect_count(place.count, ENTRY_LEN, options.limits.max_tensors, "number of zip members")?;
    let mut members = Vec::new();
    let mut names = HashSet::new();
    let mut total = 0u64;
    for _ in 0..count {
        let at = r.position();
        let member = entry(&mut r, options)?;
        if !names.insert(member.name.clone()) {
            return Err(fault::at(at, FormatErrorKind::Duplicate, format!("zip member `{}`", member.name)));
        }
        // Members that share bytes of the file could together unpack to more than `MAX_RATIO` times the size of the
        // file. Therefore the sum of their packed sizes is limited too.
        total = total.saturating_add(member.packed).saturating_add(LOCAL_LEN);
        members.push(member);
    }
    if r.remaining() != Some(0) || total > place.offset {
        let context = "zip directory does not agree with its size or with the members' sizes";
        return Err(r.fault(FormatErrorKind::Inconsistent, context));
    }
    Ok(members)
}

/// Finds the end record of the archive, or its zip64 end record if the numbers need 64 bits.
fn find<R: Read + Seek>(source: &mut R, len: u64) -> Result<Place> {
    let tail_len = len.min(END_LEN + u64::from(u16::MAX));
    let tail_start = len - tail_len;
    let tail = window(source, tail_start, tail_len)?.bytes(tail_len, "end of the zip archive")?;
    let end = (0..tail.len().saturating_sub(END_LEN as usize - 1)).rev().find(|&at| {
        let comment = usize::from(u16::from_le_bytes([tail[at + 20], tail[at + 21]]));
        tail[at..at + 4] == END.to_le_bytes() && at + END_LEN as usize + comment == tail.len()
    });
    let Some(at) = end else {
        return Err(fault::truncated(len, END_LEN, 0, "zip archive without its directory; the file was cut off"));
    };
    let limit = tail_start + at as u64;
    let mut r = Reader::from_slice(&tail[at + 4..]);
    let (disk, directory_disk) = (r.u16("disk")?, r.u16("disk")?);
    let (_, count) = (r.u16("members")?, r.u16("members")?);
    let (size, offset) = (r.u32("directory size")?, r.u32("directory offset")?);
    if count == u16::MAX || size == u32::MAX || offset == u32::MAX {
        return find64(source, limit);
    }
    if disk != 0 || directory_disk != 0 {
        return Err(fault::at(limit, FormatErrorKind::UnsupportedFeature, "zip archive in several parts"));
    }
    Ok(Place { count: u64::from(count), size: u64::from(size), offset: u64::from(offset), limit })
}

fn find64<R: Read + Seek>(source: &mut R, end: u64) -> Result<Place> {
    let bad = |at: u64, what: &str| fault::at(at, FormatErrorKind::Inconsistent, format!("zip64: {what}"));
    let Some(locator) = end.checked_sub(LOCATOR_LEN) else {
        return Err(bad(end, "no locator before the end record"));
    };
    let mut r = window(source, locator, LOCATOR_LEN)?;
    if r.u32("zip64 locator")? != LOCATOR64 {
        return Err(bad(locator, "no locator before the end record"));
    }
    r.u32("disk")?;
    let offset = r.u64("zip64 end record offset")?;
    let Some(record_len) = locator.checked_sub(offset) else {
        return Err(bad(locator, "end record after its locator"));
    };
    let mut r = window(source, offset, record_len)?;
    if r.u32("zip64 end record")? != END64 {
        return Err(bad(offset, "no end record where the locator says"));
    }
    r.u64("record size")?;
    r.u32("versions")?;
    if r.u64("disks")? != 0 {
        return Err(fault::at(offset, FormatErrorKind::UnsupportedFeature, "zip archive in several parts"));
    }
    r.u64("members")?;
    let count = r.u64("members")?;
    let size = r.u64("directory size")?;
    let directory = r.u64("directory offset")?;
    Ok(Place { count, size, offset: directory, limit: offset })
}

fn entry<R: Read>(r: &mut Reader<R>, options: &Options) -> Result<Member> {
    let at = r.position();
    let magic = r.u32("zip directory entry")?;
    if magic != CENTRAL {
        let found = u64::from(magic);
        return Err(fault::at(at, FormatErrorKind::BadMagic { found }, "not a zip directory entry"));
    }
    r.u32("versions")?;
    let flags = r.u16("flags")?;
    let method = r.u16("compression method")?;
    r.u32("time")?;
    let crc = r.u32("CRC-32")?;
    let (packed, size) = (r.u32("packed size")?, r.u32("size")?);
    let (name_len, extra_len, comment_len) = (r.u16("name length")?, r.u16("extra length")?, r.u16("comment length")?);
    r.u64("disk and attributes")?;
    let header_offset = r.u32("header offset")?;
    r.expect_count(u64::from(name_len), 1, options.limits.max_name, "zip member name")?;
    let name = r.bytes(u64::from(name_len), "zip member name")?;
    let extra = r.bytes(u64::from(extra_len), "zip extra fields")?;
    r.bytes(u64::from(comment_len), "zip comment")?;

    let name = String::from_utf8(name)
        .map_err(|_| fault::at(at, FormatErrorKind::InvalidValue, "zip member name is not UTF-8"))?;
    if let Err(why) = check_name(&name) {
        return Err(fault::at(
            at,
            FormatErrorKind::InvalidValue,
            format!("zip member `{}`: {why}", name.escape_debug()),
        ));
    }
    let refuse =
        |what: &str| Err(fault::at(at, FormatErrorKind::UnsupportedFeature, format!("zip member `{name}`: {what}")));
    // Bits 0, 6 and 13 mean encryption of the data, strong encryption, and encryption of the directory.
    if flags & 0x2041 != 0 {
        return refuse("encrypted; write it without a password");
    }
    if method != 0 && method != 8 {
        return refuse(&format!("compression method {method}, expected stored or deflate"));
    }
    let mut member = Member {
        name: String::new(),
        deflated: method == 8,
        crc,
        packed: u64::from(packed),
        size: u64::from(size),
        header_offset: u64::from(header_offset),
    };
    wide_fields(&extra, at, &mut member)?;
    let max = member.packed.saturating_mul(MAX_RATIO);
    if member.deflated && member.size > max {
        let kind = FormatErrorKind::LimitExceeded { value: member.size, max };
        return Err(fault::at(
            at,
            kind,
            format!("zip member `{name}` unpacks to more than {MAX_RATIO} times its size"),
        ));
    }
    if !member.deflated && member.size != member.packed {
        let context = format!("stored zip member `{name}`: {} bytes packed, {} unpacked", member.packed, member.size);
        return Err(fault::at(at, FormatErrorKind::Inconsistent, context));
    }
    Ok(Member { name, ..member })
}

/// Replaces the sizes that do not fit in the 32-bit fields of the entry by those of the zip64 extra field.
fn wide_fields(extra: &[u8], at: u64, member: &mut Member) -> Result<()> {
    let mut r = Reader::bounded(extra, at, extra.len() as u64);
    let wide = u64::from(u32::MAX);
    while r.remaining().unwrap_or(0) >= 4 {
        let (tag, len) = (r.u16("zip extra field")?, r.u16("zip extra field")?);
        let body = r.bytes(u64::from(len), "zip extra field")?;
        if tag != EXTRA64 {
            continue;
        }
        let mut body = Reader::bounded(&body[..], at, u64::from(len));
        for field in [&mut member.size, &mut member.packed, &mut member.header_offset] {
            if *field == wide {
                *field = body.u64("zip64 extra field")?;
            }
        }
        return Ok(());
    }
    Ok(())
}

/// Checks the name of a member; the error says why it is refused.
pub(super) fn check_name(name: &str) -> Result<(), &'static str> {
    let bytes = name.as_bytes();
    if name.is_empty() || name.starts_with('/') || name.contains('\\') {
        Err("absolute or foreign path")
    } else if bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && bytes[2] == b'/' {
        Err("absolute path")
    } else if name.split('/').any(|part| part == "..") {
        Err("path that leaves the archive")
    } else if name.contains('\0') {
        Err("NUL in the name")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for bad in ["", "/a.npy", "a/../b.npy", "..", "a\\b.npy", "C:/a.npy", "a\0.npy"] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
        for good in ["a.npy", "arg:w.npy", "a:b.npy", "features/0/w.npy", "a..b.npy"] {
            assert!(check_name(good).is_ok(), "{good:?}");
        }
    }
}
