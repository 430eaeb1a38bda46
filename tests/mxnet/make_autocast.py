"""Records MXNet 1.9.1's mixed precision: its lists of operators, and the types that the calls of two networks read.

    python make_autocast.py <folder with symbols> bfloat16|float16 <file to write>

Each line is `list <operator> <list>` or `<network> <call> <type of its first input>`. Types are propagated through the converted
symbol: a cast has its own type, and any other call has the type of its first input.
"""
import json
import sys

import mxnet as mx
from mxnet.contrib import amp
from mxnet.contrib.amp.lists import symbol_bf16, symbol_fp16

checkpoints, dtype, target = sys.argv[1:]
lists = {'bfloat16': symbol_bf16, 'float16': symbol_fp16}[dtype]
prefix = {'bfloat16': 'BF16', 'float16': 'FP16'}[dtype]
lines = []
for what, names in (
        ('short', getattr(lists, f'{prefix}_FUNCS')),
        ('follows', getattr(lists, f'{prefix}_FP32_FUNCS')),
        ('float32', lists.FP32_FUNCS),
        ('conditional', [name for name, _, _ in lists.CONDITIONAL_FP32_FUNCS]),
        # Loss heads are in two lists; MXNet's pass looks in the float32 list first.
        ('widest', [name for name in lists.WIDEST_TYPE_CASTS if name not in lists.FP32_FUNCS])):
    lines += [f'list {name} {what}' for name in sorted(set(names))]
for network in ('lenet', 'resnet8'):
    symbol = amp.convert_symbol(mx.sym.load(f'{checkpoints}/{network}-symbol.json'), target_dtype=dtype)
    types = []
    for node in json.loads(symbol.tojson(remove_amp_cast=False))['nodes']:
        read = types[node['inputs'][0][0]] if node['inputs'] else 'float32'
        types.append(node['attrs']['dtype'] if node['op'] == 'amp_cast' else read)
        if node['op'] not in ('null', 'amp_cast'):
            lines.append(f'{network} {node["name"]} {read}')
with open(target, 'w') as out:
    out.write('\n'.join(lines) + '\n')
