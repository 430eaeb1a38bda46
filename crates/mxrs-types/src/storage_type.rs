//! The storage form of an array: dense, or with only some rows or only non-zero elements stored.

use std::fmt;

/// The storage form of an array, with the codes used in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(i32)]
pub enum StorageType {
    /// All elements are stored, in one block.
    #[default]
    Dense = 0,
    /// Only some rows are stored, with their indices.
    RowSparse = 1,
    /// The non-zero elements of a matrix are stored as compressed sparse rows.
    Csr = 2,
}

impl StorageType {
    /// The code stored in files (`stype`).
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// The form for a stored code; `None` for an unknown code.
    pub const fn from_code(code: i32) -> Option<Self> {
        match code {
            0 => Some(Self::Dense),
            1 => Some(Self::RowSparse),
            2 => Some(Self::Csr),
            _ => None,
        }
    }
}

impl fmt::Display for StorageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dense => "default",
            Self::RowSparse => "row_sparse",
            Self::Csr => "csr",
        })
    }
}
