//! One row of the registry: the description of one variable.

use crate::{Capability, Kind};

/// When a variable is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadTime {
    /// The variable is read once, when the runtime starts.
    Process,
    /// The variable is read when the engine starts, and again when the engine restarts.
    Engine,
    /// The variable is read at its first use. Its value is then fixed for the process.
    FirstUse,
    /// The variable is read each time that an object that it configures is built.
    Owner,
    /// The variable is read at every use.
    EveryUse,
}

impl ReadTime {
    /// A short phrase for the documentation, such as `engine start`.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Process => "process start",
            Self::Engine => "engine start",
            Self::FirstUse => "first use",
            Self::Owner => "each new owner",
            Self::EveryUse => "every use",
        }
    }
}

/// The description of one variable.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The number in the documentation, such as `D4`; empty for a variable of another crate.
    pub id: &'static str,
    /// The canonical name.
    pub name: &'static str,
    /// Name of the struct field for the value.
    pub field: &'static str,
    /// The type and the accepted values.
    pub kind: Kind,
    /// When the variable is read.
    pub read: ReadTime,
    /// The capability that a build and machine must have so that setting the variable has an effect.
    pub needs: Capability,
    default: &'static str,
    meaning: &'static str,
}

impl Row {
    /// A row as written in [`settings!`](crate::settings!). `default` is the source text of the default: a literal, a bare
    /// word, `unset`, or `unset("what happens then")`.
    pub const fn new(
        field: &'static str,
        name: &'static str,
        kind: Kind,
        default: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { id: "", name, field, kind, read: ReadTime::Process, needs: Capability::Core, default, meaning }
    }

    /// This row with its number, its read time and the capability that it needs.
    #[must_use]
    pub const fn tagged(mut self, id: &'static str, read: ReadTime, needs: Capability) -> Self {
        self.id = id;
        self.read = read;
        self.needs = needs;
        self
    }

    /// This row with `kind` in place of the kind that follows from the type of its field.
    #[must_use]
    pub const fn accepting(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The value to use if the variable is not set; `None` if there is none.
    pub fn default_value(&self) -> Option<&'static str> {
        (!self.default.starts_with("unset")).then(|| unquoted(self.default))
    }

    /// The default in words: `1`, `unset`, `empty`, `half the logical CPUs`.
    pub fn default_text(&self) -> &'static str {
        match self.default_value() {
            Some("") => "empty",
            Some(value) => value,
            None => match self.default.strip_prefix("unset(").and_then(|rest| rest.strip_suffix(')')) {
                Some(phrase) => unquoted(phrase),
                None => "unset",
            },
        }
    }

    /// The meaning of the variable.
    pub fn meaning(&self) -> &'static str {
        self.meaning.trim()
    }

    /// Whether other programs use this name too. If so, a user who sets the variable may not have mxrs in mind.
    pub fn is_shared_name(&self) -> bool {
        !["MXNET_", "NNVM_", "MXRS_", "DMLC_", "PS_"].iter().any(|prefix| self.name.starts_with(prefix))
    }
}

fn unquoted(text: &'static str) -> &'static str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}
