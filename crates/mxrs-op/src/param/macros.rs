//! The macro that declares a parameter struct.

/// Declares a struct of parameters. A field without a default is required.
///
/// The crate documentation has an example. Doc comments on fields become the parameter descriptions.
#[macro_export]
macro_rules! op_params {
    ($(#[$doc:meta])* pub struct $name:ident for $op:literal {
        $($(#[doc = $fdoc:literal])* $field:ident : $ty:ty $(= $default:expr)?),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $($(#[doc = $fdoc])* pub $field: $ty),* }
        impl $crate::param::Parameters for $name {
            const OP: &'static str = $op;
            fn parse(attrs: &$crate::Attrs) -> $crate::macro_support::Result<Self> {
                $(let $field: $ty = match attrs.get(stringify!($field)) {
                    Some(text) => $crate::param::parse_field($op, stringify!($field), text)?,
                    None => {
                        #[allow(unused_mut, unused_assignments)]
                        let mut value: Option<$ty> = None;
                        $(value = Some($default);)?
                        value.ok_or_else(|| $crate::macro_support::missing(
                            $op, stringify!($field), &<$ty as $crate::param::Field>::type_text(None)))?
                    }
                };)*
                Ok(Self { $($field),* })
            }
            fn specs() -> Vec<$crate::ParamSpec> {
                vec![$({
                    #[allow(unused_mut, unused_assignments)]
                    let mut default: Option<$ty> = None;
                    $(default = Some($default);)?
                    $crate::ParamSpec {
                        name: stringify!($field),
                        type_text: <$ty as $crate::param::Field>::type_text(default.as_ref()),
                        doc: concat!($($fdoc),*).trim_ascii(),
                    }
                }),*]
            }
        }
    };
}
