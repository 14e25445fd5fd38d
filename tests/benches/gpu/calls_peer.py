# The peers of calls.kps: cupy for calls, torch for copies.
import time

import cupy
import torch

N = 1000
step = cupy.RawKernel(
    'extern "C" __global__ void step(float *x) { x[threadIdx.x] += 1.0f; }', "step"
)


def best(work, attempts=7):
    times = []
    for _ in range(attempts):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


def tell(name, value, unit):
    print(f"peer {name:<44} {value:10.2f} {unit}")


x = cupy.zeros(64, dtype=cupy.float32)
others = [cupy.zeros(64, dtype=cupy.float32) for _ in range(8)]


def launch_and_read():
    for _ in range(100):
        step((1,), (64,), (x,))
        x[0].get()


def dependent():
    for _ in range(N):
        step((1,), (64,), (x,))
    x[0].get()


launch_and_read()
tell("launch and read", best(launch_and_read) / 100, "us")
tell("dependent calls, each", best(dependent) / N, "us")
stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    stream.begin_capture()
    for _ in range(N):
        step((1,), (64,), (x,))
    graph = stream.end_capture()
graph.launch(stream)
stream.synchronize()
tell("replay of 1000 dependent ones, each", best(lambda: (graph.launch(stream), stream.synchronize())) / N, "us")

n = 1 << 28
host = torch.ones(n)
pinned = torch.ones(n).pin_memory()
there = torch.empty(n, device="cuda")
other = torch.empty_like(there)


def rate(moved, microseconds):
    return moved / microseconds / 1e3


def sync(work):
    def run():
        work()
        torch.cuda.synchronize()

    return run


tell("upload, pageable", rate(4 * n, best(sync(lambda: there.copy_(host)), 4)), "GB/s")
tell("upload, pinned", rate(4 * n, best(sync(lambda: there.copy_(pinned)), 4)), "GB/s")
start = time.perf_counter()
back = there.cpu()
tell("download, into a fresh array", rate(4 * n, (time.perf_counter() - start) * 1e6), "GB/s")
tell("download, pageable", rate(4 * n, best(sync(lambda: host.copy_(there)), 4)), "GB/s")
tell("download, pinned", rate(4 * n, best(sync(lambda: pinned.copy_(there)), 4)), "GB/s")


def copies():
    for _ in range(10):
        other.copy_(there)


tell("copy between buffers, read and written", rate(2 * 4 * n * 10, best(sync(copies), 4)), "GB/s")
