//! The list of all operators that this crate implements: one line per source file, and one per table. The file of an
//! optimizer family declares several operators, and its line names their functions.

use crate::families::broadcast_back;
use crate::{
    attention, boxes, control, elemwise, linalg, norms, numpy, products, random, reduce, shape, spatial, tables,
};
use mxrs_op::{OpDef, OpSet};

macro_rules! operators {
    ($($folder:ident::$file:ident),* $(,)?) => {
        /// Where each operator is declared (a file, or the `mod.rs` of a folder), and the function that defines it.
        const OPERATORS: &[(&str, fn() -> OpDef)] =
            &[$((concat!(stringify!($folder), "/", stringify!($file)), crate::$folder::$file::define)),*];
    };
}

macro_rules! updates {
    ($(#[$doc:meta])* $list:ident; $($file:ident: $($define:ident)+),* $(,)?) => {
        $(#[$doc])*
        const $list: &[(&str, fn() -> OpDef)] =
            &[$($((concat!("optim/", stringify!($file)), crate::optim::$file::$define)),+),*];
    };
}

operators![
    by_values::bincount,
    by_values::boolean_mask,
    by_values::delete,
    by_values::nonzero,
    by_values::unique,
    control::cond,
    control::foreach,
    control::while_loop,
    custom::operator,
    nn::activation,
    nn::batch_norm,
    nn::batch_norm_relu,
    nn::batch_norm_v1,
    nn::convolution,
    nn::convolution_v1,
    nn::ctc_loss,
    nn::dropout,
    nn::fully_connected,
    nn::log_softmax,
    nn::lrn,
    nn::pooling,
    nn::pooling_v1,
    nn::softmax,
    nn::softmax_output,
    nn::sync_batch_norm,
    norms::group_norm,
    norms::instance_norm,
    norms::l2_normalization,
    norms::layer_norm,
    losses::block_grad,
    losses::identity_attach_kl,
    losses::linear_regression_output,
    losses::logistic_regression_output,
    losses::mae_regression_output,
    losses::make_loss,
    losses::make_loss_layer,
    losses::svm_output,
    products::batch_dot,
    products::dot,
    products::khatri_rao,
    elemwise::add_n,
    elemwise::allclose,
    elemwise::amp_cast,
    elemwise::amp_multicast,
    elemwise::cast,
    elemwise::cast_storage,
    elemwise::clip,
    elemwise::copy,
    elemwise::copyto,
    elemwise::cross_device_copy,
    elemwise::grad_add,
    elemwise::leaky_relu,
    elemwise::ones_like,
    elemwise::zeros_like,
    shape::batch_take,
    shape::broadcast_axis,
    shape::broadcast_like,
    shape::broadcast_to,
    shape::choose,
    shape::concat,
    shape::crop,
    shape::depth_to_space,
    shape::edge_id,
    shape::embedding,
    shape::expand_dims,
    shape::flatten,
    shape::gather_nd,
    shape::index_copy,
    shape::one_hot,
    shape::pad,
    shape::pick,
    shape::repeat,
    shape::reshape,
    shape::reverse,
    shape::scatter_nd,
    shape::scatter_set_nd,
    shape::sequence_last,
    shape::sequence_mask,
    shape::sequence_reverse,
    shape::shape_array,
    shape::size_array,
    shape::slice,
    shape::slice_assign,
    shape::slice_assign_scalar,
    shape::slice_axis,
    shape::slice_channel,
    shape::slice_like,
    shape::space_to_depth,
    shape::sparse_embedding,
    shape::sparse_retain,
    shape::squeeze,
    shape::stack,
    shape::swap_axis,
    shape::take,
    shape::tile,
    shape::transpose,
    init::arange,
    init::eye,
    init::full,
    init::linspace,
    init::ones,
    init::random_exponential,
    init::random_normal,
    init::random_uniform,
    init::set_value,
    init::zeros,
    init::zeros_without_dtype,
    reduce::argmax,
    reduce::argmin,
    reduce::count_sketch,
    reduce::getnnz,
    reduce::histogram,
    reduce::max,
    reduce::mean,
    reduce::min,
    reduce::norm,
    reduce::sum,
    random::hawkes,
    random::multinomial,
    random::randint,
    random::zipfian,
    numpy::average,
    numpy::einsum,
    numpy::norm,
    numpy::pad,
    numpy::percentile,
    numpy::tensordot,
    recurrent::param_concat,
    recurrent::rnn,
    sorting::argsort,
    sorting::shuffle,
    sorting::sort,
    sorting::topk,
    spatial::adaptive_avg_pooling,
    spatial::bilinear_resize,
    spatial::bilinear_sampler,
    spatial::col2im,
    spatial::correlation,
    spatial::cv_border,
    spatial::cv_resize,
    spatial::deconvolution,
    spatial::deformable_psroi_pooling,
    spatial::grid_generator,
    spatial::im2col,
    spatial::image_resize,
    spatial::roi_align,
    spatial::psroi_pooling,
    spatial::roi_pooling,
    spatial::rroi_align,
    spatial::spatial_transformer,
    spatial::up_sampling,
    boxes::detection,
    boxes::iou,
    boxes::matching,
    boxes::nms,
    boxes::prior,
    boxes::target,
    quant::calibrate_entropy,
    quant::dequantize,
    quant::quantize,
    quant::quantize_asym,
    quant::quantize_v2,
    quant::quantized_act,
    quant::quantized_batch_norm,
    quant::quantized_concat,
    quant::quantized_conv,
    quant::quantized_elemwise_add,
    quant::quantized_elemwise_mul,
    quant::quantized_embedding,
    quant::quantized_flatten,
    quant::quantized_fully_connected,
    quant::quantized_pooling,
    quant::requantize,
];

updates![
    /// The update operators of optimizers, in the same form as [`OPERATORS`]. One file declares all operators of a family.
    UPDATES;
    sgd: define define_mom define_mp define_mp_mom,
    multi_sgd: define define_mom define_mp define_mp_mom,
    preloaded_sgd: define define_mom define_mp define_mp_mom,
    nag: define define_mp,
    adam: define,
    adamw: define define_mp,
    multi_adamw: define define_mp,
    lamb: define_phase1 define_phase2 define_mp_phase1 define_mp_phase2,
    multi_lamb: define define_mp,
    lars: define define_sum_sq,
    rmsprop: define define_alex,
    ftrl: define,
    ftml: define,
    signum: define define_mom,
    adagrad: define define_group,
    finite: define define_multi,
    reset_arrays: define,
];

updates![
    /// Updates for which MXNet has no operator, because it composes them of other operators or computes them outside
    /// operators. Each is called only by the optimizer of the same name. So it is a companion: the set of operators can find
    /// it, but does not list it.
    PRIVATE_UPDATES;
    adadelta: define,
    adagrad: define_decayed,
    adamax: define,
    dcasgd: define define_mom,
    multi_adam: define,
    nadam: define,
    nag: define_in_place,
    sgld: define,
    two_bit: define,
];

/// Functions that define operators.
type Definitions = &'static [fn() -> OpDef];

/// The operators of files that declare several, with the file of each.
const TABLES: &[(&str, Definitions)] = &[
    ("tables/unary", tables::unary::DEFINITIONS),
    ("tables/binary", tables::binary::PAIRS),
    ("tables/binary", tables::binary::BROADCASTS),
    ("tables/binary", tables::binary::SCALARS),
    ("attention/interleaved", attention::interleaved::DEFINITIONS),
    ("boxes/coding", boxes::coding::DEFINITIONS),
    ("boxes/proposal", boxes::proposal::DEFINITIONS),
    ("elemwise/formulas", elemwise::formulas::DEFINITIONS),
    ("products/fourier", products::fourier::DEFINITIONS),
    ("reduce/products", reduce::products::DEFINITIONS),
    ("linalg/eigen", linalg::eigen::DEFINITIONS),
    ("linalg/factors", linalg::factors::DEFINITIONS),
    ("linalg/inverses", linalg::inverses::DEFINITIONS),
    ("linalg/products", linalg::products::DEFINITIONS),
    ("linalg/singular", linalg::singular::DEFINITIONS),
    ("linalg/systems", linalg::systems::DEFINITIONS),
    ("linalg/triangles", linalg::triangles::DEFINITIONS),
    ("random/densities", random::densities::DEFINITIONS),
    ("random/laws", random::laws::LIKES),
    ("random/laws", random::laws::PLAIN),
    ("random/laws", random::laws::SAMPLED),
    ("numpy/atleast", numpy::atleast::DEFINITIONS),
    ("numpy/axes", numpy::axes::DEFINITIONS),
    ("numpy/creation", numpy::creation::DEFINITIONS),
    ("numpy/diagonals", numpy::diagonals::DEFINITIONS),
    ("numpy/differences", numpy::differences::DEFINITIONS),
    ("numpy/drawn", numpy::drawn::DEFINITIONS),
    ("numpy/facts", numpy::facts::DEFINITIONS),
    ("numpy/insert", numpy::insert::DEFINITIONS),
    ("numpy/masks", numpy::masks::DEFINITIONS),
    ("numpy/views", numpy::views::DEFINITIONS),
    ("numpy/unary", numpy::unary::DEFINITIONS),
    ("numpy/unary", numpy::unary::PREDICATES),
    ("numpy/unary", &[numpy::unary::define_bitwise_not, numpy::unary::around::define]),
    ("numpy/binary", numpy::binary::PAIRS),
    ("numpy/binary", numpy::binary::SCALARS),
    ("numpy/choices", numpy::choices::DEFINITIONS),
    ("shape/likes", shape::likes::DEFINITIONS),
    ("tables/binary", &[tables::scatter_div]),
    ("numpy/joined", numpy::joined::DEFINITIONS),
    ("numpy/products", numpy::products::DEFINITIONS),
    ("numpy/random", numpy::random::DEFINITIONS),
    ("numpy/random", &[numpy::random::powerd]),
    ("norms/activations", norms::activations::DEFINITIONS),
    ("numpy/sums", numpy::sums::DEFINITIONS),
    ("shape/points", shape::points::DEFINITIONS),
    ("shape/rows_filled", shape::rows_filled::DEFINITIONS),
    ("shape/split_v2", shape::split_v2::DEFINITIONS),
    ("spatial/deformable", spatial::deformable::DEFINITIONS),
    ("spatial/image_colors", spatial::image_colors::DEFINITIONS),
    ("spatial/image_flips", spatial::image_flips::DEFINITIONS),
    ("spatial/image_moves", spatial::image_moves::DEFINITIONS),
    ("spatial/image_tensors", spatial::image_tensors::DEFINITIONS),
    ("numpy/reductions", numpy::reductions::DEFINITIONS),
];

fn all() -> impl Iterator<Item = (&'static str, fn() -> OpDef)> {
    let tables = TABLES.iter().flat_map(|(file, defines)| defines.iter().map(move |define| (*file, *define)));
    OPERATORS.iter().chain(UPDATES).copied().chain(tables)
}

/// Makes the set of all operators that this crate implements. [`crate::not_built`] finds the names of MXNet's other
/// operators.
///
/// # Panics
/// If two operators have the same name, which a test of this crate rules out.
pub fn catalog() -> OpSet {
    // The operators that sum and stretch gradients are companions of all broadcasting operators together, so they are added
    // here.
    let broadcasting = [broadcast_back::sum_like(), broadcast_back::stretch_like()];
    let of_families = broadcasting.into_iter().chain(numpy::random::companions()).chain(control::companions());
    let companions = PRIVATE_UPDATES.iter().map(|(_, define)| define()).chain(of_families);
    OpSet::with_companions(all().map(|(_, define)| define()), companions).expect("operator names are unique")
}

/// Built operators with the module that declares each, as a path relative to this crate's `src`: `nn/lrn` is the file
/// `nn/lrn.rs` or `nn/lrn/mod.rs`.
pub fn declared_in() -> impl Iterator<Item = (&'static str, OpDef)> {
    all().map(|(file, define)| (file, define()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_operator_file_is_listed() {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        // In these folders every file but `mod.rs` declares operators. Other folders also hold code that several operators
        // share.
        let folders = [
            "nn",
            "norms",
            "losses",
            "products",
            "elemwise",
            "shape",
            "init",
            "reduce",
            "quant",
            "optim",
            "spatial",
            "numpy",
            "sorting",
            "random",
            "attention",
            "by_values",
        ];
        let mut files = BTreeSet::new();
        for folder in folders {
            for entry in std::fs::read_dir(src.join(folder)).expect("a folder of operators") {
                let name = entry.expect("an entry").file_name().into_string().expect("a UTF-8 name");
                if name != "mod.rs" {
                    files.insert(format!("{folder}/{}", name.trim_end_matches(".rs")));
                }
            }
        }
        let several = TABLES.iter().map(|(file, _)| *file);
        let single = OPERATORS.iter().chain(UPDATES).chain(PRIVATE_UPDATES).map(|(file, _)| *file);
        let is_tested = |file: &&str| folders.iter().any(|folder| file.starts_with(&format!("{folder}/")));
        let listed: BTreeSet<String> = single.chain(several).filter(is_tested).map(String::from).collect();
        assert_eq!(files, listed, "files of operators, and lines of the catalog");
    }

    /// An operator that multiplies by a weight must set `is_product`. Binding reads this flag: it warns if a product runs on
    /// a reference kernel, and decides by it whether to widen a half-precision graph.
    #[test]
    fn products_with_a_weight_say_so() {
        let ops = catalog();
        let mut n_products = 0;
        for op in ops.iter().chain(ops.companions()) {
            let sums = matches!(op.accuracy, mxrs_op::Accuracy::Product | mxrs_op::Accuracy::Quantum);
            let has_weight = (op.samples)().iter().any(|sample| {
                let params = op.parse(&sample.attrs).expect("readable parameters");
                op.input_names(&params).iter().any(|name| name == "weight")
            });
            assert_eq!(op.is_product, sums && has_weight, "{}", op.name);
            n_products += usize::from(op.is_product);
        }
        assert!(n_products >= 10, "{n_products}");
    }

    #[test]
    fn names_are_unique_and_everything_is_built() {
        let ops = catalog();
        assert_eq!(ops.len(), all().count());
        for op in ops.iter() {
            // An operator without a kernel is replaced by others: control flow by copies of its subgraphs, for example.
            let is_run = op.is_replaced() || (op.is_built() && !(op.samples)().is_empty());
            assert!(is_run && !op.summary.is_empty(), "{}", op.name);
        }
    }
}
