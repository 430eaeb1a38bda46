//! The macro that declares a settings struct together with its rows.

/// Declares a struct of settings. Each entry has a doc comment, a field, its type, a default and the variable.
///
/// After the variable, `[id read-time needs]` may follow, where `needs` is a [`Capability`](crate::Capability). Then a
/// comma and a [`Kind`](crate::Kind) may follow that is narrower than the kind of the field's type. The default `unset`
/// goes with an `Option`; `unset("…")` describes what happens if the variable is not set. Texts in defaults must not
/// contain escapes.
///
/// ```
/// use mxrs_env::{Group, Kind, MapSource, Snapshot};
/// use std::num::NonZeroUsize;
///
/// mxrs_env::settings! {
///     /// Settings of an outside backend.
///     pub struct TurboSettings {
///         /// Boost stages.
///         stages: NonZeroUsize = 2, "MXNET_TURBO_STAGES";
///         /// Highest temperature in percent of the limit.
///         heat_percent: u8 = 80, "MXNET_TURBO_HEAT", Kind::int(0, 100);
///     }
/// }
///
/// let snapshot = Snapshot::take(&MapSource::new([("MXNET_TURBO_STAGES", "3")]));
/// let (turbo, _warnings) = TurboSettings::from_snapshot(&snapshot)?;
/// assert_eq!((turbo.stages.get(), turbo.heat_percent), (3, 80));
/// # Ok::<(), mxrs_types::Error>(())
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[doc = $about:literal])+
        $vis:vis struct $group:ident $(in $area:ident)? {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty = $default:expr, $name:literal
                $([$id:ident $read:ident $needs:ident])? $(, $kind:expr)?;
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, $crate::private::serde::Deserialize)]
        #[serde(crate = "mxrs_env::private::serde")]
        $vis struct $group {
            $(
                $(#[doc = $doc])+
                #[doc = concat!("\n\nVariable `", $name, "`, default `", stringify!($default), "`.")]
                pub $field: $type,
            )+
        }

        impl $crate::Group for $group {
            const AREA: $crate::Area = [$($crate::Area::$area,)? $crate::Area::Extension][0];
            const ROWS: &'static [$crate::Row] = &[$(
                $crate::Row::new(
                    stringify!($field),
                    $name,
                    <$type as $crate::Setting>::KIND,
                    stringify!($default),
                    concat!($($doc),+),
                )
                $(.tagged(stringify!($id), $crate::ReadTime::$read, $crate::Capability::$needs))?
                $(.accepting($kind))?
            ),+];
        }

        impl Default for $group {
            fn default() -> Self {
                $crate::Group::defaults()
            }
        }
    };
}
