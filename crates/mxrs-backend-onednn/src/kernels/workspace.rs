//! Gradients that need the workspace of the forward primitive. The forward primitive runs again, into scratch memory,
//! which costs less than keeping the workspace.

use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{MemDesc, PrimDesc};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use crate::scratch::ScratchPlan;
use crate::sequence::{Sequence, Step};
use mxrs_onednn_sys::sys;
use mxrs_types::{Layout, Result};
use std::sync::Arc;

/// A gradient, `(ograd, data, …) -> gradient of data`, and its forward primitive.
pub struct Gradient<'a> {
    /// Description of the gradient.
    pub backward: &'a PrimDesc,
    /// Description of the forward primitive.
    pub forward: &'a PrimDesc,
    /// Arrangement of data.
    pub data: Arc<MemDesc>,
    /// Arguments of the gradient's primitive, except the workspace.
    pub arguments: Vec<Argument>,
}

impl Gradient<'_> {
    /// Prepares the kernel, which runs the forward primitive first if the gradient needs a workspace.
    ///
    /// # Errors
    /// The error that oneDNN reports.
    pub fn prepare(
        mut self,
        library: &Arc<Library>,
        input_layouts: Vec<Layout>,
        output_layouts: Vec<Layout>,
    ) -> Result<Prepared> {
        let mut scratch = ScratchPlan::default();
        let mut steps = Vec::new();
        if let Some(workspace) = self.backward.md(sys::dnnl_query_workspace_md, 0)? {
            let workspace = Arc::new(workspace);
            let dst = Arc::new(self.forward.required_md(sys::dnnl_query_dst_md, 0)?);
            let (out_at, workspace_at) = (scratch.add(dst.size_bytes()), scratch.add(workspace.size_bytes()));
            let again = vec![
                Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(1), md: self.data },
                Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Scratch(out_at), md: dst },
                Argument { arg: sys::DNNL_ARG_WORKSPACE, slot: Slot::Scratch(workspace_at), md: workspace.clone() },
            ];
            steps.push(Step::Primitive(PrimitiveKernel::in_scratch(library, self.forward, again, &mut scratch)?));
            let slot = Slot::Scratch(workspace_at);
            self.arguments.push(Argument { arg: sys::DNNL_ARG_WORKSPACE, slot, md: workspace });
        }
        steps.push(Step::Primitive(PrimitiveKernel::in_scratch(library, self.backward, self.arguments, &mut scratch)?));
        Ok(Prepared {
            input_layouts,
            output_layouts,
            scratch_bytes: scratch.n_bytes(),
            can_run_inplace: false,
            kernel: Arc::new(Sequence::new(steps, Vec::new())),
        })
    }
}
