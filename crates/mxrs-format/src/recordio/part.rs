//! The header of one part: its role and length.

/// Role of a part in its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Whole = 0,
    First = 1,
    Middle = 2,
    Last = 3,
}

/// Second word of a part: role and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub role: Role,
    pub len: u32,
}

impl Head {
    /// Decodes the second word of a part. If its flag is not one of the four roles, the flag is the error.
    pub(super) fn decode(word: u32) -> Result<Self, u32> {
        let role = match word >> 29 {
            0 => Role::Whole,
            1 => Role::First,
            2 => Role::Middle,
            3 => Role::Last,
            other => return Err(other),
        };
        Ok(Self { role, len: word & ((1 << 29) - 1) })
    }

    pub(super) fn encode(self) -> u32 {
        (self.role as u32) << 29 | self.len
    }

    /// Whether a part with this role starts a record.
    pub(super) fn starts_record(self) -> bool {
        matches!(self.role, Role::Whole | Role::First)
    }
}

/// Number of padding bytes after `len` bytes of data.
pub(super) fn padding(len: u32) -> usize {
    (4 - len as usize % 4) % 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        for role in [Role::Whole, Role::First, Role::Middle, Role::Last] {
            let head = Head { role, len: 0x1234_5678 & ((1 << 29) - 1) };
            assert_eq!(Head::decode(head.encode()), Ok(head));
        }
        // The magic number itself is not a valid second word.
        assert_eq!(Head::decode(super::super::MAGIC), Err(6));
        assert_eq!([0, 1, 2, 3, 4].map(padding), [0, 3, 2, 1, 0]);
    }
}
