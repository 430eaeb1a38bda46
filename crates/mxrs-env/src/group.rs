//! The trait of settings structs. A settings struct lists its variables as [`Row`]s and can be read from a snapshot of
//! the environment.

use crate::resolve::{Resolver, default_text};
use crate::{Area, Row, Snapshot, Warning};
use mxrs_types::{Error, Result};
use serde::de::DeserializeOwned;

/// A struct declared by [`settings!`](crate::settings!).
pub trait Group: DeserializeOwned {
    /// The area under which the struct is listed.
    const AREA: Area;

    /// The variables of the struct, in the order of its fields.
    const ROWS: &'static [Row];

    /// The struct with every field at its default.
    ///
    /// # Panics
    /// Panics if a default in the declaration does not fit the type of its field, which is a mistake in the declaration.
    fn defaults() -> Self {
        let pairs = Self::ROWS.iter().filter_map(|row| Some((row.field.to_owned(), default_text(row)?)));
        envy::from_iter(pairs).unwrap_or_else(|error| panic!("a default of {}: {error}", std::any::type_name::<Self>()))
    }

    /// Reads only this struct. For crates outside mxrs, whose variables are not part of [`Settings`](crate::Settings).
    ///
    /// # Errors
    /// Returns `ErrorKind::Env` for the first bad value.
    fn from_snapshot(snapshot: &Snapshot) -> Result<(Self, Vec<Warning>)> {
        let mut resolver = Resolver::new(snapshot);
        let group = load(&mut resolver);
        match resolver.errors.into_iter().next() {
            None => Ok((group, resolver.warnings)),
            Some(error) => Err(error),
        }
    }
}

/// Reads the variables of `G` from the snapshot in `resolver` and deserializes their values. `resolver` collects the
/// errors; a field whose value has an error gets its default.
pub(crate) fn load<G: Group>(resolver: &mut Resolver<'_>) -> G {
    let mut pairs = Vec::with_capacity(G::ROWS.len());
    for row in G::ROWS {
        if let Some(text) = resolver.resolve(G::AREA, row).text {
            pairs.push((row.field.to_owned(), text));
        }
    }
    envy::from_iter(pairs).unwrap_or_else(|error| {
        // Each text was checked against the kind of its row. So deserializing fails only if the kind of a row accepts a
        // text that the type of the field refuses.
        resolver.errors.push(Error::invalid(std::any::type_name::<G>(), error, "values that fit the fields"));
        G::defaults()
    })
}
