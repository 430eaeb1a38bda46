//! Operators with typed attributes, for programs that build networks: one struct per operator, with MXNet's names and
//! defaults.
//!
//! ```
//! use mxrs_op::Layer;
//! use mxrs_ops::layers::{Activation, Conv2d, Pool2d};
//!
//! let conv = Conv2d { kernel: [3, 3], num_filter: 64, pad: [1, 1], ..Conv2d::default() };
//! assert_eq!(conv.attrs().get("kernel"), Some("(3, 3)"));
//! // Attributes with MXNet's default are not written.
//! assert_eq!(conv.attrs().get("stride"), None);
//! assert_eq!(Activation::relu().attrs().get("act_type"), Some("relu"));
//! assert_eq!(Pool2d::max([2, 2]).attrs().get("stride"), Some("(2, 2)"));
//! ```
//!
//! `mxrs_models::NetBuilder` makes a symbol from such a struct, `mxrs_exec::Array::apply` an array. Shapes, types and
//! formulas are those of the operator; each struct links to the operator's page.
//!
//! Read next: `conv.rs` for windows, `value.rs` for how values become texts.

mod conv;
mod dense;
mod norm;
mod output;
mod pool;
mod reshaping;
mod value;

pub use crate::nn::activation::ActType;
pub use crate::nn::dropout::DropoutMode;
pub use crate::nn::pooling::{PoolConvention, PoolType};
pub use crate::nn::softmax_output::Normalization;
pub use conv::{Conv, Conv1d, Conv2d, Conv3d};
pub use dense::{Activation, Dropout, FullyConnected};
pub use norm::{BatchNorm, Lrn};
pub use output::{Softmax, SoftmaxOutput};
pub use pool::{Pool, Pool1d, Pool2d, Pool3d};
pub use reshaping::{Concat, Flatten, Reshape};

/// Declares a layer: attributes with `=` have MXNet's default, and are written only if they differ from it.
macro_rules! layer {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident for $op:literal {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty $(= $default:expr)?,)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $($(#[doc = $doc])+ pub $field: $type,)* }

        layer!(@default $name { $($field: $type $(= $default)?,)* });

        impl mxrs_op::Layer for $name {
            const OP: &'static str = $op;

            #[allow(unused_mut, reason = "a layer may have no attributes")]
            fn attrs(&self) -> mxrs_op::Attrs {
                let mut attrs = mxrs_op::Attrs::new();
                $(layer!(@write attrs, self, $field $(= $default)?);)*
                attrs
            }
        }
    };
    (@default $name:ident { $($field:ident: $type:ty = $default:expr,)* }) => {
        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    };
    (@default $name:ident { $($field:ident: $type:ty $(= $default:expr)?,)* }) => {};
    (@write $attrs:ident, $self:ident, $field:ident) => {
        $attrs.set(stringify!($field), $crate::layers::value::Value::text(&$self.$field));
    };
    (@write $attrs:ident, $self:ident, $field:ident = $default:expr) => {
        if $self.$field != $default {
            layer!(@write $attrs, $self, $field);
        }
    };
}
use layer;
