//! The custom operators of the process, by name, and the parameters of calls.

use super::{CustomOp, square};
use mxrs_op::{Attrs, ParamSpec, Parameters, param};
use mxrs_types::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// Makes an operator from the attributes of a call.
type Make = Arc<dyn Fn(&Attrs) -> Result<Box<dyn CustomOp>> + Send + Sync>;

static REGISTERED: LazyLock<RwLock<BTreeMap<String, Make>>> = LazyLock::new(|| {
    let square: Make = Arc::new(|_| Ok(Box::new(square::Square)));
    RwLock::new(BTreeMap::from([(square::NAME.to_owned(), square)]))
});

/// Registers an operator that calls of `Custom` name in the parameter `op_type`. `make` gets the attributes of a call, as text,
/// and is called whenever a call is read. A later registration of the same name replaces the earlier one for later calls.
///
/// # Errors
/// Returns an error if the name is empty.
pub fn register(
    name: impl Into<String>,
    make: impl Fn(&Attrs) -> Result<Box<dyn CustomOp>> + Send + Sync + 'static,
) -> Result<()> {
    let name = name.into();
    if name.is_empty() {
        return Err(Error::invalid("name of a custom operator", "an empty text", "a name"));
    }
    REGISTERED.write().unwrap_or_else(PoisonError::into_inner).insert(name, Arc::new(make));
    Ok(())
}

/// Parameters of `Custom`: the operator that `op_type` names, made from the attributes of the call.
#[derive(Clone)]
pub struct CustomParams {
    /// The name under which the operator was registered.
    pub op_type: String,
    /// The operator.
    pub op: Arc<dyn CustomOp>,
    /// Number of inputs.
    pub n_inputs: usize,
    /// Number of outputs.
    pub n_outputs: usize,
}

impl fmt::Debug for CustomParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomParams").field("op_type", &self.op_type).finish_non_exhaustive()
    }
}

impl Parameters for CustomParams {
    const OP: &'static str = "Custom";

    fn parse(attrs: &Attrs) -> Result<Self> {
        let op_type = attrs.get("op_type").ok_or_else(|| param::missing(Self::OP, "op_type", "string"))?;
        let wrong = |expected: String, got: String| {
            Error::new(ErrorKind::Attribute { op: Self::OP.into(), name: "op_type".into(), expected, got })
        };
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        let Some(make) = registered.get(op_type).cloned() else {
            let names: Vec<&str> = registered.keys().map(String::as_str).filter(|name| *name != square::NAME).collect();
            let known = if names.is_empty() { "none is".to_owned() } else { format!("{} are", names.join(", ")) };
            let expected = format!("a custom operator that this program has registered; {known}");
            return Err(wrong(expected, op_type.chars().take(80).collect()));
        };
        drop(registered);
        let op: Arc<dyn CustomOp> = make(attrs)?.into();
        let (n_inputs, n_outputs) = (op.arguments().len(), op.n_outputs());
        if n_outputs == 0 {
            return Err(wrong("an operator with at least 1 output".into(), format!("{op_type}, with none")));
        }
        Ok(Self { op_type: op_type.to_owned(), op, n_inputs, n_outputs })
    }

    fn specs() -> Vec<ParamSpec> {
        let doc = "Name under which the program registered the operator.";
        vec![ParamSpec { name: "op_type", type_text: "string".into(), doc }]
    }
}
