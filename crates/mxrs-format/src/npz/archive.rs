//! Unpacking of archive members: bounded in size, with their length and CRC-32 checked.

use super::LOCAL;
use super::directory::{self, LOCAL_LEN, Member, window};
use crate::reader::Reader;
use crate::{Options, fault};
use flate2::bufread::DeflateDecoder;
use mxrs_types::{Error, ErrorKind, FormatErrorKind, Result};
use std::io::{BufReader, Read, Seek, SeekFrom};

/// An open archive with its directory.
pub(super) struct Archive<R> {
    source: R,
    len: u64,
    pub members: Vec<Member>,
}

/// A reader that counts the bytes that pass through it and computes their CRC-32.
struct Summing<R> {
    inner: R,
    crc: crc32fast::Hasher,
    count: u64,
}

impl<R: Read> Read for Summing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.crc.update(&buffer[..n]);
        self.count += n as u64;
        Ok(n)
    }
}

impl<R: Read + Seek> Archive<R> {
    pub(super) fn open(mut source: R, len: u64, options: &Options) -> Result<Self> {
        let members = directory::read(&mut source, len, options)?;
        Ok(Self { source, len, members })
    }

    /// Lets `read` consume a whole member, then checks the member's size and CRC-32.
    pub(super) fn unpack<T>(
        &mut self,
        member: &Member,
        read: impl FnOnce(&mut Reader<&mut dyn Read>) -> Result<T>,
    ) -> Result<T> {
        self.checked(member, read).map_err(|e| e.context(format!("reading zip member `{}`", member.name)))
    }

    fn checked<T>(&mut self, member: &Member, read: impl FnOnce(&mut Reader<&mut dyn Read>) -> Result<T>) -> Result<T> {
        let start = self.data_start(member)?;
        self.source.seek(SeekFrom::Start(start)).map_err(|e| fault::io(&e))?;
        let packed = BufReader::with_capacity(64 << 10, (&mut self.source).take(member.packed));
        let (value, crc, count) = if member.deflated {
            // One byte more than the stated size is allowed, so that a longer member is noticed.
            let inner = DeflateDecoder::new(packed).take(member.size.saturating_add(1));
            let mut summing = Summing { inner, crc: crc32fast::Hasher::new(), count: 0 };
            let value = read(&mut Reader::from_stream(&mut summing)).map_err(corrupt)?;
            (value, summing.crc.finalize(), summing.count)
        } else {
            let mut summing = Summing { inner: packed, crc: crc32fast::Hasher::new(), count: 0 };
            let value = read(&mut Reader::bounded(&mut summing, start, member.size))?;
            (value, summing.crc.finalize(), summing.count)
        };
        if count != member.size {
            let context = format!("{count} bytes unpacked, the directory says {}", member.size);
            return Err(fault::at(start, FormatErrorKind::Inconsistent, context));
        }
        if crc != member.crc {
            let context =
                format!("CRC-32 is {crc:#010x}, the directory says {:#010x}; the data is damaged", member.crc);
            return Err(fault::at(start, FormatErrorKind::Inconsistent, context));
        }
        Ok(value)
    }

    /// Checks the member's own header and returns where its data starts.
    fn data_start(&mut self, member: &Member) -> Result<u64> {
        let offset = member.header_offset;
        let left = self.len.saturating_sub(offset);
        if left < LOCAL_LEN {
            return Err(fault::truncated(offset, LOCAL_LEN, left, "zip member header"));
        }
        let mut r = window(&mut self.source, offset, left)?;
        let magic = r.u32("zip member header")?;
        if magic != LOCAL {
            let found = u64::from(magic);
            return Err(fault::at(offset, FormatErrorKind::BadMagic { found }, "not a zip member"));
        }
        // Skips versions, flags, method, time, CRC-32 and sizes: the directory has the same fields, and those are the ones
        // checked.
        r.bytes(22, "zip member header")?;
        let name_len = u64::from(r.u16("name length")?);
        let extra_len = u64::from(r.u16("extra length")?);
        if r.bytes(name_len, "zip member name")? != member.name.as_bytes() {
            let context = "zip member has another name in the directory";
            return Err(fault::at(offset, FormatErrorKind::Inconsistent, context));
        }
        r.bytes(extra_len, "zip extra fields")?;
        r.expect(member.packed, "zip member")?;
        Ok(r.position())
    }
}

/// Converts an I/O error of the decoder to a format error: the decoder reports damaged data as an I/O error.
fn corrupt(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Io { message, .. } => {
            fault::whole(FormatErrorKind::InvalidValue, format!("damaged deflate data: {message}"))
        }
        _ => error,
    }
}
