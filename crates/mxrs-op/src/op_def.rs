//! An operator, declared as data.

use crate::param::{NoParams, ParamSpec, Parameters};
use crate::{
    Accuracy, Attrs, ByValues, Combines, ControlFlowOp, DescribeProducts, Gradient, InputNames, Moves, OpCall,
    OpParams, OutputCount, Pair, Pointwise, Precision, ReferenceFn, Sample, View, is_annotation_key,
};
use mxrs_types::{DType, Error, ErrorKind, PartialShape, Result};
use std::fmt;
use std::sync::Arc;

/// Shape inference in both directions: finds unknown shapes of inputs and outputs from the known ones. It is called
/// repeatedly until no shape changes. It must only add knowledge, and return an error if shapes contradict each other.
pub type InferShape = fn(&OpParams, &mut [PartialShape], &mut [PartialShape]) -> Result<()>;

/// Type inference in both directions, with the rules of [`InferShape`].
pub type InferDType = fn(&OpParams, &mut [Option<DType>], &mut [Option<DType>]) -> Result<()>;

/// The most inputs or outputs that a call may have. The limit is needed because files contain these numbers.
pub const MAX_TENSORS: usize = 1 << 16;

/// Pairs `(input, output)` of a call that may share memory.
pub type InplacePairs = fn(&OpParams) -> &'static [(usize, usize)];

/// The definition of an operator. Made by [`OpDef::new`] and the chained setters.
#[derive(Clone)]
pub struct OpDef {
    /// MXNet's canonical name.
    pub name: &'static str,
    /// Other names that are accepted in files.
    pub aliases: &'static [&'static str],
    /// Description in one line, for tables.
    pub summary: &'static str,
    /// Parameters as the C API describes them.
    pub param_specs: Vec<ParamSpec>,
    /// Reads parameters from text. [`Self::params`] sets it. Callers use [`Self::parse`], which also refuses unknown keys.
    pub parse_with: fn(&Attrs) -> Result<OpParams>,
    /// Whether the program defines what a call computes. Such a call may have attributes that [`Self::param_specs`] does not
    /// list. Two equal calls may give different results, so calls are not merged, folded or computed again.
    pub is_custom: bool,
    /// Names of the inputs.
    pub inputs: InputNames,
    /// How many of the last inputs are auxiliary states, which the operator may write in training.
    pub n_aux: usize,
    /// Number of all outputs, including hidden ones.
    pub n_outputs: OutputCount,
    /// Number of outputs that a user sees.
    pub n_visible: OutputCount,
    /// Suffixes of the names of the outputs if there are several (`output`, `mean`, `var`).
    pub output_names: &'static [&'static str],
    /// Shape inference.
    pub infer_shape: InferShape,
    /// Type inference.
    pub infer_dtype: InferDType,
    /// Element types of the first input that kernels accept.
    pub dtypes: &'static [DType],
    /// Pairs `(input, output)` that may share memory. Callers use [`Self::inplace_pairs`].
    pub inplace: &'static [(usize, usize)],
    /// If set, replaces [`Self::inplace`] for operators whose pairs depend on the parameters.
    pub inplace_by_params: Option<InplacePairs>,
    /// Whether the output is the first input itself.
    pub view: fn(&OpParams, is_train: bool) -> View,
    /// Whether the operator works element by element.
    pub pointwise: Pointwise,
    /// Whether the operator only adds or concatenates its inputs.
    pub combines: Combines,
    /// Where elements go, for an operator that only moves or selects them.
    pub moves: Moves,
    /// Whether a call may read its input on another device than the one it runs on: it copies between devices. If both are
    /// the same device, the call is a [view](Self::view).
    pub crosses_devices: bool,
    /// Initializers of special inputs, as pairs of the input's name and the text of its `__init__` attribute:
    /// (`moving_var`, `["one", {}]`).
    pub init_hints: &'static [(&'static str, &'static str)],
    /// Inputs whose content the kernel never reads at inference (labels of loss heads).
    pub ignored_at_inference: &'static [usize],
    /// Inputs of which only shape and dtype matter (the data of a sum's gradient). Their content need not be kept for this
    /// call.
    pub ignored_inputs: &'static [usize],
    /// Inputs that a call rewrites (moving statistics in training, weights of an optimizer's update). The kernel gets each
    /// as an additional output at the end, in this order, row-major and in the input's memory.
    pub rewrites: fn(&OpParams, is_train: bool) -> &'static [usize],
    /// What the operator does with its subgraphs, if it is a control-flow operator. Such an operator has no kernel.
    pub control_flow: Option<ControlFlowOp>,
    /// How to call the operator, if its output shapes depend on the values of an input. Such an operator has no kernel.
    pub by_values: Option<ByValues>,
    /// Whether a call draws random numbers.
    pub is_random: fn(&OpParams, is_train: bool) -> bool,
    /// The gradient of the operator.
    pub gradient: Gradient,
    /// Operators that only gradients call (`_backward_Convolution`). They are declared together with this one.
    pub companions: fn() -> Vec<OpDef>,
    /// Estimated multiply-adds of a call, for comparing calls. The default is one for every element of the largest tensor.
    pub multiply_adds: fn(&OpCall<'_>) -> u64,
    /// Whether mirroring (`MXNET_BACKWARD_DO_MIRROR`) keeps the outputs instead of computing them again. True for
    /// convolutions, matrix products and the other operators that MXNet's rule for mirroring names.
    pub is_costly: bool,
    /// Whether a call computes sums of products with a weight (convolution, matrix product), or the gradient of such
    /// sums. The reference kernel is too slow for large calls of such an operator. The pass that widens half precision
    /// to float32 looks at the calls of such operators.
    pub is_product: bool,
    /// Describes calls that are products of matrices, so that a backend needs no code for this operator.
    pub products: Option<DescribeProducts>,
    /// For some calls, another operator with its parameters that computes the same from the same inputs. A backend then uses
    /// its kernels for that operator.
    pub same_as: Option<SameAs>,
    /// An operator that computes the first output again, bit for bit. Its inputs are the inputs of this operator
    /// without auxiliary states, and then the other outputs, which are small and are kept. Set if the recomputation
    /// takes less time than a call of this operator.
    pub recompute: Option<fn() -> OpDef>,
    /// The pair of calls that this operator replaces in a training step, if it replaces any.
    pub pair: Option<&'static Pair>,
    /// What autocast to bfloat16 does with calls of the operator. Callers use [`Self::precision_in`].
    pub precision: fn(&OpParams) -> Precision,
    /// What autocast to float16 does with calls of the operator, if that differs from [`Self::precision`].
    pub precision_float16: Option<fn(&OpParams) -> Precision>,
    /// Whether the operator is a loss with these parameters: the gradient of its first input does not depend on that of its
    /// output. A loss scale is therefore applied to the gradient of the first input.
    pub is_loss: fn(&OpParams) -> bool,
    /// How closely kernels agree with the reference kernel.
    pub accuracy: Accuracy,
    /// The reference kernel: slow and obviously correct. `None` for an operator that is listed but not built.
    pub reference: Option<ReferenceFn>,
    /// Example calls.
    pub samples: fn() -> Vec<Sample>,
}

/// Returns an operator with parameters that computes the same as a call, or `None` if there is none.
pub type SameAs = fn(&OpCall<'_>) -> Option<(Arc<OpDef>, OpParams)>;

fn parse_as<P: Parameters>(attrs: &Attrs) -> Result<OpParams> {
    P::parse(attrs).map(OpParams::new)
}

fn same_shape(_: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let mut all = PartialShape::unknown();
    for s in inputs.iter().chain(outputs.iter()) {
        all.merge(s).map_err(|()| Error::shape("operator", "inputs and outputs", all.to_string(), s))?;
    }
    inputs.iter_mut().chain(outputs).for_each(|s| *s = all.clone());
    Ok(())
}

fn same_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let known = inputs.iter().chain(outputs.iter()).flatten().next().copied();
    let Some(known) = known else { return Ok(()) };
    for t in inputs.iter_mut().chain(outputs) {
        match *t {
            Some(other) if other != known => {
                return Err(Error::dtype("operator", "inputs and outputs", known.name(), other.name()));
            }
            _ => *t = Some(known),
        }
    }
    Ok(())
}

fn one_per_element(call: &OpCall<'_>) -> u64 {
    let tensors = call.inputs.iter().chain(call.outputs);
    tensors.map(|tensor| tensor.shape.n_elements() as u64).max().unwrap_or(0)
}

impl OpDef {
    /// An operator with one input `data`, one output of the same shape and type, no parameters and no kernel.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            summary: "",
            param_specs: Vec::new(),
            parse_with: parse_as::<NoParams>,
            is_custom: false,
            inputs: InputNames::Fixed(&["data"]),
            n_aux: 0,
            n_outputs: OutputCount::Fixed(1),
            n_visible: OutputCount::Fixed(1),
            output_names: &["output"],
            infer_shape: same_shape,
            infer_dtype: same_dtype,
            dtypes: &[DType::F32],
            inplace: &[],
            inplace_by_params: None,
            view: |_, _| View::No,
            pointwise: Pointwise::No,
            combines: Combines::No,
            moves: Moves::No,
            crosses_devices: false,
            init_hints: &[],
            ignored_at_inference: &[],
            ignored_inputs: &[],
            rewrites: |_, _| &[],
            control_flow: None,
            by_values: None,
            is_random: |_, _| false,
            gradient: Gradient::Undefined,
            companions: Vec::new,
            multiply_adds: one_per_element,
            is_costly: false,
            is_product: false,
            products: None,
            same_as: None,
            recompute: None,
            pair: None,
            precision: Precision::float32,
            precision_float16: None,
            is_loss: |_| false,
            accuracy: Accuracy::Exact,
            reference: None,
            samples: Vec::new,
        }
    }

    /// Sets the parameter struct.
    #[must_use]
    pub fn params<P: Parameters>(mut self) -> Self {
        self.param_specs = P::specs();
        self.parse_with = parse_as::<P>;
        self
    }

    /// What autocast to the 16-bit type `half` does with calls that have these parameters.
    pub fn precision_in(&self, params: &OpParams, half: DType) -> Precision {
        match self.precision_float16 {
            Some(precision) if half == DType::F16 => precision(params),
            _ => (self.precision)(params),
        }
    }

    /// Reads the parameters from text. Annotation keys (`__x__`) and the key that counts variable inputs are accepted.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Attribute`] if the operator does not have a key, a text is unreadable, or the parameters would
    /// give more than 65,536 inputs or outputs.
    pub fn parse(&self, attrs: &Attrs) -> Result<OpParams> {
        for (key, value) in attrs.iter().filter(|_| !self.is_custom) {
            let is_known = self.param_specs.iter().any(|p| p.name == key) || self.variable_count_key() == Some(key);
            if !is_annotation_key(key) && !is_known {
                let known: Vec<&str> = self.param_specs.iter().map(|p| p.name).collect();
                return Err(Error::new(ErrorKind::Attribute {
                    op: self.name.into(),
                    name: key.chars().take(80).collect(),
                    expected: if known.is_empty() {
                        "no attributes".into()
                    } else {
                        format!("one of {}", known.join(", "))
                    },
                    got: format!("\"{}\"", value.chars().take(80).collect::<String>()),
                }));
            }
        }
        let params = (self.parse_with)(attrs).map_err(|e| self.name_in(e))?;
        // A name and a shape are made for each input and output, so a number from a hostile file must be limited.
        let count = self.n_inputs(&params).max(self.n_outputs.get(&params));
        if count > MAX_TENSORS {
            return Err(Error::new(ErrorKind::Attribute {
                op: self.name.into(),
                name: self.variable_count_key().unwrap_or("number of tensors").into(),
                expected: format!("at most {MAX_TENSORS} inputs and outputs"),
                got: count.to_string(),
            }));
        }
        Ok(params)
    }

    /// Pairs `(input, output)` of a call that may share memory.
    pub fn inplace_pairs(&self, params: &OpParams) -> &'static [(usize, usize)] {
        self.inplace_by_params.map_or(self.inplace, |pairs| pairs(params))
    }

    /// Positions of the inputs whose content a call never reads: in training if `is_train`, otherwise at inference.
    pub fn unread_inputs(&self, is_train: bool) -> impl Iterator<Item = usize> + '_ {
        let at_inference: &[usize] = if is_train { &[] } else { self.ignored_at_inference };
        self.ignored_inputs.iter().chain(at_inference).copied()
    }

    /// Whether a call does more than compute outputs from inputs: it draws random numbers, rewrites inputs, or runs code of the
    /// program. Passes neither merge nor fold such calls.
    pub fn has_effect(&self, params: &OpParams, is_train: bool) -> bool {
        self.is_custom || (self.is_random)(params, is_train) || !(self.rewrites)(params, is_train).is_empty()
    }

    /// Whether the operator has no kernel, because other operators take the place of its calls.
    pub fn is_replaced(&self) -> bool {
        self.control_flow.is_some() || self.by_values.is_some()
    }

    /// Whether the operator has a reference kernel, and so can run.
    pub fn is_built(&self) -> bool {
        self.reference.is_some()
    }

    /// Infers shapes. Errors name this operator. Every path to a kernel infers shapes by this function, so sizes are
    /// checked here once, and later code (layouts, memory planning, kernels) may compute with them.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Shape`] if shapes contradict each other, or [`ErrorKind::Overflow`] if an input or an output
    /// has more than [`mxrs_types::Shape::MAX_ELEMENTS`] elements, or none, while its other sizes multiply to more than
    /// [`mxrs_types::Shape::MAX_EMPTY`].
    pub fn infer_shapes(
        &self,
        params: &OpParams,
        inputs: &mut [PartialShape],
        outputs: &mut [PartialShape],
    ) -> Result<()> {
        let check = |shapes: &[PartialShape]| {
            shapes.iter().filter_map(PartialShape::known).try_for_each(|shape| shape.checked_n_elements().map(drop))
        };
        // The function multiplies sizes too, so they are checked before it runs.
        check(inputs)?;
        check(outputs)?;
        (self.infer_shape)(params, inputs, outputs).map_err(|e| self.name_in(e))?;
        check(inputs)?;
        check(outputs)
    }

    /// Infers element types. Errors name this operator.
    ///
    /// # Errors
    /// Returns [`ErrorKind::DType`] if types contradict each other.
    pub fn infer_dtypes(
        &self,
        params: &OpParams,
        inputs: &mut [Option<DType>],
        outputs: &mut [Option<DType>],
    ) -> Result<()> {
        (self.infer_dtype)(params, inputs, outputs).map_err(|e| self.name_in(e))
    }

    /// Puts this operator's name into an error. Shared inference functions write "operator" in place of the name, and a
    /// parameter struct that several operators share writes the name of only one of them.
    fn name_in(&self, mut error: Error) -> Error {
        if let ErrorKind::Attribute { op, .. } = error.kind_mut() {
            *op = self.name.into();
        }
        if let ErrorKind::Shape { op, .. } | ErrorKind::DType { op, .. } = error.kind_mut()
            && op == "operator"
        {
            *op = self.name.into();
        }
        error
    }
}

impl fmt::Debug for OpDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpDef").field("name", &self.name).field("is_built", &self.is_built()).finish_non_exhaustive()
    }
}
