"""Records with MXNet 1.9.1 what its profiler writes: the records of a small program, and the table and the JSON made of them.

    python make_profile.py ../golden

`events.json` has the events of the trace; `table_<column>_<order>.txt` is the table in every order; `stats.json` is the
same as JSON.
"""
import json
import os
import sys
import tempfile

import mxnet as mx
from mxnet import profiler

FOLDER = sys.argv[1]


def program():
    domain = profiler.Domain("Training")
    early = profiler.Domain("Batches, of images")
    task, other = domain.new_task("decode"), early.new_task("a name that is longer than the column")
    frame, event = domain.new_frame("batch"), profiler.Event("epoch")
    counter = domain.new_counter("images", 3)
    for repeat in range(3):
        for thing in (task, other, frame, event):
            thing.start()
            mx.nd.waitall()
            thing.stop()
        counter += 50 * repeat
        # MXNet's counters are unsigned and wrap around below 0.
        counter -= 1
    marker = domain.new_marker("mark")
    for scope in ("global", "process", "thread", "task", "marker"):
        marker.mark(scope)
    a = mx.nd.ones((100, 100))
    for _ in range(4):
        a = mx.nd.dot(a, a) * 1e-3 + 1
    a.wait_to_read()
    x = mx.sym.var("x")
    y = mx.sym.relu(mx.sym.FullyConnected(x, num_hidden=4, name="fc"), name="r")
    executor = y.simple_bind(mx.cpu(), x=(2, 3))
    executor.forward()
    executor.outputs[0].asnumpy()


def main():
    trace = os.path.join(tempfile.mkdtemp(), "trace.json")
    profiler.set_config(profile_all=True, aggregate_stats=True, filename=trace, continuous_dump=False)
    profiler.set_state("run")
    program()
    mx.nd.waitall()
    # Reading statistics is not recorded, so all tables are made of the same records. The first call also writes the trace.
    for column in ("total", "avg", "min", "max", "count"):
        for ascending in (False, True):
            order = "ascending" if ascending else "descending"
            with open(os.path.join(FOLDER, f"table_{column}_{order}.txt"), "w") as file:
                file.write(profiler.dumps(sort_by=column, ascending=ascending))
    with open(os.path.join(FOLDER, "stats.json"), "w") as file:
        file.write(profiler.dumps(format="json"))
    with open(os.path.join(FOLDER, "table_empty.txt"), "w") as file:
        profiler.dumps(reset=True)
        file.write(profiler.dumps())
    with open(trace) as file:
        events = json.load(file)["traceEvents"]
    with open(os.path.join(FOLDER, "events.json"), "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(event) for event in events) + "\n]\n")


main()
# MXNet's own threads may crash at exit.
sys.stdout.flush()
os._exit(0)
