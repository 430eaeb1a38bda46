//! Parameters whose values are words of a fixed list.

use super::Field;

/// A value that is written as one word of a fixed list. Implemented by [`crate::op_enum!`].
pub trait Choice: Copy + PartialEq + 'static {
    /// Every word, in declaration order.
    const WORDS: &'static [&'static str];
    /// The word of this value.
    fn to_word(self) -> &'static str;
    /// The value that a word stands for, or `None` if the word is not in the list.
    fn from_word(word: &str) -> Option<Self>;
}

/// MXNet's type text for the words: sorted, with `first` in front.
#[doc(hidden)]
pub fn word_list<C: Choice>(first: Option<&str>) -> String {
    let mut words: Vec<String> = C::WORDS.iter().map(|w| format!("'{w}'")).collect();
    words.sort();
    if let Some(first) = first {
        words.insert(0, first.into());
    }
    format!("{{{}}}", words.join(", "))
}

impl<C: Choice> Field for Option<C> {
    fn type_name() -> String {
        word_list::<C>(Some("None"))
    }
    fn parse(text: &str) -> Result<Self, String> {
        if text == "None" {
            return Ok(None);
        }
        C::from_word(text).map(Some).ok_or_else(|| format!("one of {} or None", C::WORDS.join(", ")))
    }
    fn default_text(&self) -> String {
        self.map_or("'None'".into(), |v| format!("'{}'", v.to_word()))
    }
    fn separator() -> &'static str {
        ","
    }
}

/// Declares an enum whose variants are words of a parameter, and implements [`Field`](crate::param::Field) for it and for
/// its `Option`.
///
/// ```
/// use mxrs_op::{op_enum, param::Field};
/// op_enum! {
///     /// Pooling function.
///     pub enum PoolType { Max = "max", Avg = "avg" }
/// }
/// assert_eq!(PoolType::parse("avg"), Ok(PoolType::Avg));
/// assert_eq!(PoolType::type_text(Some(&PoolType::Max)), "{'avg', 'max'},optional, default='max'");
/// assert_eq!(<Option<PoolType>>::type_text(Some(&None)), "{None, 'avg', 'max'},optional, default='None'");
/// ```
#[macro_export]
macro_rules! op_enum {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* #[doc = concat!("`", $word, "`.")] $variant),+ }
        impl $crate::param::Choice for $name {
            const WORDS: &'static [&'static str] = &[$($word),+];
            fn to_word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
            fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
        impl $crate::param::Field for $name {
            fn type_name() -> String {
                $crate::param::word_list::<Self>(None)
            }
            fn parse(text: &str) -> Result<Self, String> {
                <Self as $crate::param::Choice>::from_word(text)
                    .ok_or_else(|| format!("one of {}", <Self as $crate::param::Choice>::WORDS.join(", ")))
            }
            fn default_text(&self) -> String {
                format!("'{}'", <Self as $crate::param::Choice>::to_word(*self))
            }
            fn separator() -> &'static str {
                ","
            }
        }
    };
}
