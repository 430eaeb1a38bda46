//! Finds the tensors that a gradient keeps in memory until it runs: the forward tensors that the gradient requests, and
//! that at least one of its calls reads.

use mxrs_op::{Attrs, GradValue, Gradient, GradientScope, OpDef, OpParams, OpSet};
use mxrs_types::Result;
use std::collections::BTreeSet;

/// Records which forward tensors the calls of a gradient read. Values are numbered: first the inputs of the forward call,
/// then its outputs, then the results of the gradient's calls.
struct Reads<'a> {
    ops: &'a OpSet,
    attrs: Attrs,
    n_inputs: usize,
    n_outputs: usize,
    n_values: u32,
    read: BTreeSet<u32>,
    /// Whether the gradient reads the gradient of an output.
    reads_out_grad: bool,
    /// The operators that the gradient calls.
    called: Vec<String>,
}

impl GradientScope for Reads<'_> {
    fn input(&mut self, index: usize) -> GradValue {
        GradValue(index as u32)
    }
    fn output(&mut self, index: usize) -> GradValue {
        GradValue((self.n_inputs + index) as u32)
    }
    fn out_grad(&mut self, _: usize) -> Result<GradValue> {
        self.n_values += 1;
        self.reads_out_grad = true;
        Ok(GradValue(self.n_values))
    }
    fn has_out_grad(&self, _: usize) -> bool {
        true
    }
    fn wants(&self, _: usize) -> bool {
        true
    }
    fn attrs(&self) -> &Attrs {
        &self.attrs
    }
    fn n_inputs(&self) -> usize {
        self.n_inputs
    }
    fn call(&mut self, op: &str, attrs: Attrs, inputs: &[GradValue]) -> Result<Vec<GradValue>> {
        self.called.push(op.to_owned());
        let op = self.ops.get(op)?;
        let params = op.parse(&attrs)?;
        let n_forward = (self.n_inputs + self.n_outputs) as u32;
        for (position, value) in inputs.iter().enumerate() {
            if value.0 < n_forward && !op.unread_inputs(true).any(|unread| unread == position) {
                self.read.insert(value.0);
            }
        }
        let made: Vec<GradValue> =
            (1..=op.n_outputs.get(&params) as u32).map(|k| GradValue(self.n_values + k)).collect();
        self.n_values += made.len() as u32;
        Ok(made)
    }
}

/// Runs the gradient of a call of `op` with these attributes; `None` if the operator has none.
fn run<'a>(ops: &'a OpSet, op: &OpDef, attrs: Attrs) -> Option<Reads<'a>> {
    let Gradient::By(function) = op.gradient else { return None };
    let params: OpParams = op.parse(&attrs).expect("a readable sample");
    let (n_inputs, n_outputs) = (op.n_inputs(&params), op.n_outputs.get(&params));
    let n_values = (n_inputs + n_outputs) as u32;
    let (read, called) = (BTreeSet::new(), Vec::new());
    let mut scope = Reads { ops, attrs, n_inputs, n_outputs, n_values, read, reads_out_grad: false, called };
    function(&params, &mut scope).expect("a gradient");
    Some(scope)
}

/// Names of the forward tensors that the gradient of `op` reads: `x0`, `x1`, … for inputs and `y0`, … for outputs.
fn kept(ops: &OpSet, op: &OpDef) -> Vec<String> {
    // Control flow has no samples.
    let Some(sample) = (op.samples)().into_iter().next() else { return Vec::new() };
    let Some(scope) = run(ops, op, sample.attrs) else { return Vec::new() };
    let name = |v: u32| match (v as usize).checked_sub(scope.n_inputs) {
        None => format!("x{v}"),
        Some(output) => format!("y{output}"),
    };
    scope.read.iter().map(|v| name(*v)).collect()
}

/// A loss scale is applied to the first input of every operator that ignores the gradient of its output, and to no other.
#[test]
fn losses_are_the_operators_that_ignore_the_gradient_of_their_output() {
    let ops = mxrs_ops::catalog();
    let mut losses = BTreeSet::new();
    for op in ops.iter() {
        for sample in (op.samples)() {
            let is_loss = (op.is_loss)(&op.parse(&sample.attrs).expect("a readable sample"));
            let Some(scope) = run(&ops, op, sample.attrs) else {
                assert!(!is_loss, "{}", op.name);
                continue;
            };
            // An operator with gradient 0 does not read the gradient of its output either, but it is not a loss.
            let is_zero = scope.called.iter().all(|name| name == "zeros_like" || name == "_zeros");
            assert_eq!(is_loss, !scope.reads_out_grad && !is_zero, "{}, {}", op.name, sample.name);
            losses.extend(is_loss.then_some(op.name));
        }
    }
    assert!(losses.contains("SoftmaxOutput") && losses.len() > 5, "{losses:?}");
}

/// The tensors that gradients keep alive decide how much memory training takes: gradients that are functions of the output
/// keep only the output, and gradients of sums keep nothing.
#[test]
fn gradients_keep_alive_what_they_must_and_no_more() {
    let from: &[(&str, &str)] = &[
        ("x2", "_scatter_set_nd fill_element_0index"),
        (
            "x0",
            "abs log square clip _maximum_scalar _minimum_scalar _rdiv_scalar _power_scalar LRN rsqrt rcbrt reciprocal \
             expm1 log1p log2 log10 sin cos arcsin arccos arctan sinh cosh arcsinh arccosh arctanh softsign erf gamma \
             gammaln _rmod_scalar _rpower_scalar _hypot_scalar where Embedding LeakyReLU L2Normalization MakeLoss sort \
             topk UpSampling _contrib_interleaved_matmul_selfatt_qk hard_sigmoid smooth_l1 _contrib_quadratic \
             _contrib_div_sqrt_dim _contrib_gradientmultiplier _contrib_round_ste _contrib_sign_ste \
             _scatter_plus_scalar _scatter_minus_scalar _npi_nan_to_num prod nansum nanprod _linalg_potrf \
             _npi_cholesky _linalg_potri _linalg_gelqf _linalg_sumlogdiag _linalg_det _linalg_slogdet _linalg_syrk \
             _npi_absolute _npi_arccos _npi_arccosh _npi_arcsin _npi_arcsinh _npi_arctan _npi_arctanh _npi_cos \
             _npi_cosh _npi_expm1 _npi_log _npi_log10 _npi_log1p _npi_log2 _npi_reciprocal _npi_sin _npi_sinh \
             _npi_square _npi_add_scalar _npi_subtract_scalar _npi_rsubtract_scalar _npi_multiply_scalar \
             _npi_true_divide_scalar _npi_rtrue_divide_scalar _npi_mod_scalar _npi_rmod_scalar _npi_power_scalar \
             _npi_rpower_scalar _npi_arctan2_scalar _npi_rarctan2_scalar _npi_copysign_scalar _npi_rcopysign_scalar \
             _npi_ldexp_scalar _npi_rldexp_scalar SoftmaxActivation softmin moments _np_prod _np_max _np_min _npi_std \
             _npi_var \
             _npi_where _npi_where_lscalar _npi_where_rscalar _square_sum _npi_pad _npi_average \
             _npi_tensorinv _npi_eigh _npi_eigvalsh _npi_eig _npi_eigvals _npi_norm _contrib_SparseEmbedding",
        ),
        (
            "y0",
            "relu sigmoid tanh sqrt exp Activation log_softmax softmax cbrt tan erfinv _linalg_inverse _npi_cbrt \
             _npi_exp _npi_sqrt _npi_tan _npi_tanh _npx_relu _npx_sigmoid",
        ),
        (
            "x1",
            "pick take batch_take gather_nd scatter_nd _contrib_ROIAlign _contrib_index_copy _contrib_PSROIPooling _contrib_RROIAlign \
             _npi_boolean_mask_assign_scalar _npi_boolean_mask_assign_tensor _sparse_retain",
        ),
        ("x0 y0", "Custom max min norm Pooling Pooling_v1 _npi_pinv _npi_pinv_scalar_rcond"),
        (
            "x0 x1",
            "elemwise_mul elemwise_div broadcast_mul broadcast_div Convolution FullyConnected _mod _power _hypot \
             _maximum _minimum broadcast_mod broadcast_power broadcast_hypot broadcast_maximum broadcast_minimum dot \
             batch_dot LayerNorm InstanceNorm GroupNorm BilinearSampler Correlation Deconvolution ROIPooling \
             SpatialTransformer _contrib_interleaved_matmul_selfatt_valatt _contrib_interleaved_matmul_encdec_qk \
             _contrib_interleaved_matmul_encdec_valatt _linalg_trsm _linalg_gemm _linalg_gemm2 _linalg_trmm \
             _random_pdf_exponential _random_pdf_poisson _random_pdf_dirichlet _npi_add _npi_subtract _npi_multiply \
             _npi_true_divide _npi_mod _npi_power _npi_hypot _npi_arctan2 _npi_copysign _npi_ldexp \
             softmax_cross_entropy _np_dot _npi_matmul _npi_tensordot_int_axes \
             _scatter_elemwise_div khatri_rao _npi_polyval _npi_percentile _npi_einsum \
             _npi_solve _npi_tensorsolve _npi_tensordot Convolution_v1 IdentityAttachKLSparseReg",
        ),
        ("x0 x1 y1 y2", "BatchNorm BatchNorm_v1 _contrib_SyncBatchNorm"),
        ("x0 x1 x2 y1 y2", "_contrib_BatchNormWithReLU"),
        ("x1 x2", "_npi_insert_tensor _contrib_count_sketch"),
        ("x0 x1 x2 x3 x4 x5 x6 x7", "_contrib_hawkesll"),
        ("x1 y0", "SoftmaxOutput LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput SVMOutput"),
        ("y1", "CTCLoss Dropout _contrib_box_nms"),
        (
            "x0 x1 x2",
            "RNN _contrib_DeformableConvolution _contrib_DeformablePSROIPooling _random_pdf_uniform _random_pdf_normal \
             _random_pdf_gamma _random_pdf_negative_binomial \
             _random_pdf_generalized_negative_binomial",
        ),
        ("y0 y1", "_linalg_syevd"),
        ("y0 y1 y2", "_npi_svd"),
        ("x0 x1 x2 x3", "_contrib_ModulatedDeformableConvolution"),
    ];
    let ops = mxrs_ops::catalog();
    let mut wrong = Vec::new();
    for (_, op) in mxrs_ops::declared_in() {
        let expected =
            from.iter().find(|(_, names)| names.split(' ').any(|name| name == op.name)).map_or("", |(kept, _)| *kept);
        let kept = kept(&ops, &op).join(" ");
        if kept != expected {
            wrong.push(format!("{}: \"{kept}\" instead of \"{expected}\"", op.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
