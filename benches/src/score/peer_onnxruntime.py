"""ONNX Runtime on its CPU provider."""
import onnxruntime as ort

from serve import named, serve


def load(order):
    if order['mode'] != 'inference':
        raise ValueError('this package does not train')
    # A quantized network is an ONNX file like any other.
    if order['dtype'] not in ('float32', 'int8'):
        raise ValueError('its CPU provider has no kernels for ' + order['dtype'])
    options = ort.SessionOptions()
    options.intra_op_num_threads = order['threads']
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = ort.InferenceSession(order['onnx'], options, providers=['CPUExecutionProvider'])
    name, outputs = session.get_inputs()[0].name, [session.get_outputs()[0].name]
    feed = {}

    def run():
        return session.run(outputs, feed)[0]

    def answer(batch):
        feed[name] = batch
        return run()

    return run, answer


serve(named('ONNX Runtime', ort.__version__, 'onnxruntime'), load)
