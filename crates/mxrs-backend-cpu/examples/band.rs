//! Scratch.
#![allow(unsafe_code)]
use mxrs_backend_cpu::CpuBackend;
use mxrs_op::{Backend, KernelArgs, OpCall, RandomCall, RawTensor, TensorDesc};
use mxrs_types::{DType, PartialShape, WriteReq};
unsafe extern "C" { fn madvise(a: *mut u8, l: usize, x: i32) -> i32; }
fn alloc(bytes: usize) -> *mut u8 {
    let l = std::alloc::Layout::from_size_align((bytes + 8192).next_multiple_of(2 << 20), 2 << 20).unwrap();
    unsafe { let p = std::alloc::alloc(l); madvise(p, l.size(), 14); p.write_bytes(0, l.size()); p }
}
fn main() {
    let team = mxrs_testkit::conformance::team(2);
    let backend = CpuBackend::new(&team);
    let ops = mxrs_ops::catalog();
    let only: Vec<String> = std::env::args().skip(1).collect();
    let arena = alloc(1000 << 20);
    for i in 0..(250usize << 20) { unsafe { *arena.cast::<f32>().add(i) = 0.5 + ((i * 7919) % 1009) as f32 / 1009.0; } }
    let lines = r#"
softmax|axis=0|D
softmax|axis=1|D
softmax|axis=2|D
log_softmax|axis=0|D
log_softmax|axis=1|D
log_softmax|axis=2|D
_backward_softmax|axis=0|D D D
_backward_softmax|axis=1|D D D
_backward_softmax|axis=2|D D D
_backward_log_softmax|axis=0|D D D
_backward_log_softmax|axis=1|D D D
_backward_log_softmax|axis=2|D D D
softmax|axis=2|D|bf16
softmax|axis=2|D|f16
softmax||4,6250000
_backward_softmax||4,6250000 4,6250000 4,6250000
SoftmaxOutput||25000,1000 25000
_backward_SoftmaxOutput||25000,1000 25000
argmax|axis=0|D
argmax|axis=1|D
argmax|axis=2|D
BatchNorm|axis=1;fix_gamma=False|I 64 64 64 64
BatchNorm|axis=3;fix_gamma=False|L 64 64 64 64
_backward_BatchNorm|axis=1;fix_gamma=False|I I 64 64 64
_backward_BatchNorm|axis=3;fix_gamma=False|L L 64 64 64
LayerNorm||32768,768 768 768
_backward_LayerNorm||32768,768 32768,768 768
InstanceNorm||I 64 64
_backward_InstanceNorm||I I 64
GroupNorm|num_groups=8|I 8 8
_backward_GroupNorm|num_groups=8|I I 8
LRN|nsize=5|I
_backward_LRN|nsize=5|I I
_sgld_update|lr=0.1|25000000 25000000
all_finite||25000000
sum|axis=()|D
sum|axis=(0,)|D
sum|axis=(1,)|D
sum|axis=(2,)|D
sum|axis=(0,2)|D
max|axis=()|D
max|axis=(0,)|D
max|axis=(1,)|D
max|axis=(2,)|D
max|axis=(0,2)|D
_backward_sum|axis=()|1 D
_backward_sum|axis=(0,)|100,256 D
_backward_sum|axis=(1,)|976,256 D
_backward_sum|axis=(2,)|976,100 D
_backward_sum|axis=(0,2)|100 D
_backward_max|axis=()|1 D 1
_backward_max|axis=(0,)|100,256 D 100,256
_backward_max|axis=(1,)|976,256 D 976,256
_backward_max|axis=(2,)|976,100 D 976,100
_backward_max|axis=(0,2)|100 D 100
"#;
    for line in lines.lines().filter(|l| !l.is_empty()) {
        if !only.is_empty() && !only.iter().any(|o| line.contains(o.as_str())) { continue; }
        let f: Vec<&str> = line.split('|').collect();
        let dtype = match f.get(3) { Some(&"bf16") => DType::BF16, Some(&"f16") => DType::F16, _ => DType::F32 };
        let is_train = f[0].contains("Norm") || f[0].contains("Output");
        let shapes: Vec<Vec<usize>> = f[2].split(' ').map(|s| match s { "D" => vec![976, 100, 256], "I" => vec![124, 64, 56, 56], "L" => vec![124, 56, 56, 64], s => s.split(',').map(|x| x.parse().unwrap()).collect() }).collect();
        let Ok(op) = ops.get(f[0]) else { println!("{line}: absent"); continue };
        let params = op.parse(&f[1].split(';').filter_map(|kv| kv.split_once('=')).collect()).unwrap();
        let n_out = op.n_outputs.get(&params);
        let mut si: Vec<PartialShape> = shapes.iter().map(|s| PartialShape::new(s.iter().map(|x| Some(*x)))).collect();
        let mut so = vec![PartialShape::unknown(); n_out];
        op.infer_shapes(&params, &mut si, &mut so).unwrap();
        let mut di: Vec<Option<DType>> = vec![Some(dtype); si.len()];
        let mut dd = vec![None; n_out];
        op.infer_dtypes(&params, &mut di, &mut dd).unwrap();
        let inputs: Vec<TensorDesc> = si.iter().zip(&di).map(|(s, d)| TensorDesc::dense(s.known().unwrap(), d.unwrap())).collect();
        let mut outputs: Vec<TensorDesc> = so.iter().zip(&dd).map(|(s, d)| TensorDesc::dense(s.known().unwrap(), d.unwrap())).collect();
        let rewrites = (op.rewrites)(&params, is_train);
        outputs.extend(rewrites.iter().map(|i| inputs[*i].clone()));
        let cst = vec![false; inputs.len()];
        let call = OpCall { op, params: &params, inputs: &inputs, outputs: &outputs, is_constant: &cst, is_train };
        let planned = match backend.offer(&call) { Ok(o) => o.build().unwrap(), Err(e) => { println!("{line}: {e}"); continue } };
        let mut at = 0usize;
        let mut place = |b: usize| { let a = at; at += (b + 4352).next_multiple_of(64); unsafe { RawTensor::new(arena.add(a), b) } };
        let ins: Vec<_> = inputs.iter().map(|d| place(d.size_bytes())).collect();
        let unread: Vec<usize> = op.unread_inputs(is_train).collect();
        let mut bytes: usize = inputs.iter().enumerate().filter(|(i, _)| !unread.contains(i)).map(|(_, d)| d.size_bytes()).sum();
        bytes += outputs.iter().map(|d| d.size_bytes()).sum::<usize>();
        let mut reqs = vec![WriteReq::Write; n_out];
        let up = f[0].contains("update");
        let mut outs: Vec<_> = outputs[..n_out].iter().enumerate().map(|(i, d)| if up && i == 0 { unsafe { RawTensor::new(ins[0].as_ptr(), d.size_bytes()) } } else { place(d.size_bytes()) }).collect();
        if up { reqs[0] = WriteReq::Inplace; }
        for i in rewrites { outs.push(unsafe { RawTensor::new(ins[*i].as_ptr(), inputs[*i].size_bytes()) }); reqs.push(WriteReq::Inplace); }
        let scratch = place(planned.scratch_bytes);
        let args = KernelArgs { inputs: &ins, outputs: &outs, reqs: &reqs, scratch, team: &team, random: Some(RandomCall { seed: 1, number: 2 }), stream: None };
        let mut best = f64::MAX;
        let t0 = std::time::Instant::now();
        let mut k = 0;
        while k < 4 || t0.elapsed().as_secs_f64() < 0.12 { let t = std::time::Instant::now(); unsafe { planned.kernel.run(&args).unwrap(); } best = best.min(t.elapsed().as_secs_f64()); k += 1; }
        println!("{line:60} {:7.1} MB {:7.2} ms {:6.1} GB/s", bytes as f64 / 1e6, best * 1e3, bytes as f64 / best / 1e9);
    }
}
