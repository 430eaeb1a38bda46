//! The custom operators of the process, by name, and the parameters of calls.

use super::{CustomOp, square};
use mxrs_op::{Attrs, MAX_TENSORS, ParamSpec, Parameters, param};
use mxrs_types::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock, Weak};

/// Makes an operator from the attributes of a call.
type Make = Arc<dyn Fn(&Attrs) -> Result<Box<dyn CustomOp>> + Send + Sync>;

static REGISTERED: LazyLock<RwLock<BTreeMap<String, Make>>> = LazyLock::new(|| {
    let square: Make = Arc::new(|_| Ok(Box::new(square::Square)));
    RwLock::new(BTreeMap::from([(square::NAME.to_owned(), square)]))
});

/// The operators of calls whose gradients were requested, by number, so that a gradient is computed by the operator that ran the
/// call.
static DIFFERENTIATED: RwLock<BTreeMap<u64, Weak<dyn CustomOp>>> = RwLock::new(BTreeMap::new());

/// The attribute by which the gradient of a call names the operator of the call.
const NUMBER: &str = "_mxrs_custom_number";

/// Registers an operator that calls of `Custom` name in the parameter `op_type`. `make` gets the attributes of a call, as text,
/// and is called when a call is read. Calls of arrays with the same attributes, shapes and types share one operator.
///
/// # Errors
/// Returns an error if the name is empty or taken. Calls that were prepared under a name keep their operator, so it cannot be
/// replaced.
pub fn register(
    name: impl Into<String>,
    make: impl Fn(&Attrs) -> Result<Box<dyn CustomOp>> + Send + Sync + 'static,
) -> Result<()> {
    let name = name.into();
    if name.is_empty() {
        return Err(Error::invalid("name of a custom operator", "an empty text", "a name"));
    }
    match REGISTERED.write().unwrap_or_else(PoisonError::into_inner).entry(name) {
        Entry::Occupied(taken) => Err(Error::invalid(
            "name of a custom operator",
            format!("`{}`, which is taken", taken.key()),
            "another name",
        )),
        Entry::Vacant(free) => {
            free.insert(Arc::new(make));
            Ok(())
        }
    }
}

/// Parameters of `Custom`: the operator that `op_type` names, made from the attributes of the call.
#[derive(Clone)]
pub struct CustomParams {
    /// The operator.
    pub op: Arc<dyn CustomOp>,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Number of outputs.
    pub n_outputs: usize,
    /// The attributes from which the operator was made.
    attrs: Attrs,
}

impl fmt::Debug for CustomParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomParams").field("attrs", &self.attrs).finish_non_exhaustive()
    }
}

impl Parameters for CustomParams {
    const OP: &'static str = "Custom";

    fn parse(attrs: &Attrs) -> Result<Self> {
        let op_type = attrs.get("op_type").ok_or_else(|| param::missing(Self::OP, "op_type", "string"))?;
        let wrong = |expected: String, got: String| {
            Error::new(ErrorKind::Attribute { op: Self::OP.into(), name: "op_type".into(), expected, got })
        };
        if let Some(op) = attrs.get(NUMBER).and_then(differentiated) {
            return Self::of(op_type, op, attrs);
        }
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        let Some(make) = registered.get(op_type).cloned() else {
            let names: Vec<&str> = registered.keys().map(String::as_str).filter(|name| *name != square::NAME).collect();
            let known = if names.is_empty() { "none is".to_owned() } else { format!("{} are", names.join(", ")) };
            let expected = format!("a custom operator that this program has registered; {known}");
            return Err(wrong(expected, op_type.chars().take(80).collect()));
        };
        drop(registered);
        Self::of(op_type, make(attrs)?.into(), attrs)
    }

    fn specs() -> Vec<ParamSpec> {
        let doc = "Name under which the program registered the operator.";
        vec![ParamSpec { name: "op_type", type_text: "string".into(), doc }]
    }
}

impl CustomParams {
    fn of(op_type: &str, op: Arc<dyn CustomOp>, attrs: &Attrs) -> Result<Self> {
        let (n_outputs, inputs) = (op.n_outputs(), op.arguments());
        if n_outputs == 0 || n_outputs > MAX_TENSORS || inputs.len() > MAX_TENSORS {
            let got = format!("{} inputs and {n_outputs} outputs of `{op_type}`", inputs.len());
            return Err(Error::invalid(
                "custom operator",
                got,
                format!("1 to {MAX_TENSORS} outputs and at most as many inputs"),
            ));
        }
        Ok(Self { op, inputs, n_outputs, attrs: attrs.clone() })
    }

    /// The attributes with which the gradient of this call finds its operator.
    pub fn attrs_of_gradient(&self) -> Attrs {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut known = DIFFERENTIATED.write().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, op| op.strong_count() > 0);
        known.insert(number, Arc::downgrade(&self.op));
        let mut attrs = self.attrs.clone();
        attrs.set(NUMBER, number.to_string());
        attrs
    }
}

/// The operator with this number, if a call still has it.
fn differentiated(number: &str) -> Option<Arc<dyn CustomOp>> {
    let known = DIFFERENTIATED.read().unwrap_or_else(PoisonError::into_inner);
    known.get(&number.parse().ok()?)?.upgrade()
}
