"""OpenVINO on its CPU plug-in, tuned for latency: one stream with all threads."""
import openvino as ov

from serve import named, serve


def load(order):
    if order['mode'] != 'inference':
        raise ValueError('it does not train')
    core = ov.Core()
    model = core.compile_model(order['onnx'], 'CPU', {
        'PERFORMANCE_HINT': 'LATENCY',
        'INFERENCE_NUM_THREADS': order['threads'],
        'INFERENCE_PRECISION_HINT': 'bf16' if order['dtype'] == 'bfloat16' else 'f32',
    })
    request = model.create_infer_request()
    state = {}

    def answer(batch):
        state['batch'] = ov.Tensor(batch)
        request.set_input_tensor(0, state['batch'])
        request.infer()
        return request.get_output_tensor(0).data.copy()

    return request.infer, answer


serve(named('OpenVINO', ov.__version__, 'openvino'), load)
