//! What every settings struct can do: list its rows and be read from a snapshot.

use crate::resolve::{Resolver, default_text};
use crate::{Area, Row, Snapshot, Warning};
use mxrs_types::{Error, Result};
use serde::de::DeserializeOwned;

/// A struct declared by [`settings!`](crate::settings!).
pub trait Group: DeserializeOwned {
    /// The area under which it is listed.
    const AREA: Area;

    /// Its variables, in the order of its fields.
    const ROWS: &'static [Row];

    /// The struct with every field at its default.
    ///
    /// # Panics
    /// When a default written in the declaration does not fit its field's type, which is a mistake of the declaration.
    fn defaults() -> Self {
        let pairs = Self::ROWS.iter().filter_map(|row| Some((row.field.to_owned(), default_text(row)?)));
        envy::from_iter(pairs).unwrap_or_else(|error| panic!("a default of {}: {error}", std::any::type_name::<Self>()))
    }

    /// Reads this struct alone; for crates outside mxrs, whose variables [`Settings`](crate::Settings) does not have.
    ///
    /// # Errors
    /// The first bad value, as `ErrorKind::Env`.
    fn from_snapshot(snapshot: &Snapshot) -> Result<(Self, Vec<Warning>)> {
        let mut resolver = Resolver::new(snapshot);
        let group = load(&mut resolver);
        match resolver.errors.into_iter().next() {
            None => Ok((group, resolver.warnings)),
            Some(error) => Err(error),
        }
    }
}

/// Resolves the rows of `G` and deserializes them. After an error, which `resolver` keeps, the affected fields have
/// their defaults.
pub(crate) fn load<G: Group>(resolver: &mut Resolver<'_>) -> G {
    let mut pairs = Vec::with_capacity(G::ROWS.len());
    for row in G::ROWS {
        if let Some(text) = resolver.resolve(G::AREA, row).text {
            pairs.push((row.field.to_owned(), text));
        }
    }
    envy::from_iter(pairs).unwrap_or_else(|error| {
        // Only a row whose kind is wider than its field's type gets here.
        resolver.errors.push(Error::invalid(std::any::type_name::<G>(), error, "values that fit the fields"));
        G::defaults()
    })
}
