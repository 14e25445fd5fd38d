"""The table's rows in numba, taichi, pocl (through pyopencl): `peers.py NAME WORK` prints milliseconds.

Each is written as its users would write it, warmed up once, and the best of a few runs is taken.
"""
import sys
import time

import numpy as np

N = 1 << 24
SIDE = 1024


def best(run, rounds):
    run()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times) * 1000


def market():
    """Prices, strikes and years of the options."""
    spread = lambda first, last: np.linspace(first, last, 1 << 22).astype(np.float32)
    return spread(10.0, 50.0), spread(90.0, 20.0), spread(0.25, 4.0)


def of_numba(work):
    from numba import njit, prange

    @njit(parallel=True)
    def saxpy(a, x, y):
        for i in prange(x.size):
            y[i] = a * x[i] + y[i]

    @njit(parallel=True, fastmath=True)
    def total(x):
        result = np.float32(0.0)
        for i in prange(x.size):
            result += x[i]
        return result

    @njit(parallel=True)
    def matmul(a, b, c):
        for i in prange(a.shape[0]):
            for j in range(b.shape[1]):
                own = np.float32(0.0)
                for k in range(a.shape[1]):
                    own += a[i, k] * b[k, j]
                c[i, j] = own

    @njit(parallel=True)
    def mandelbrot(counts):
        for row in prange(counts.shape[0]):
            for column in range(counts.shape[1]):
                cx = np.float32(column) * np.float32(0.0029296875) - np.float32(2.0)
                cy = np.float32(row) * np.float32(0.0029296875) - np.float32(1.5)
                x = y = np.float32(0.0)
                n = 0
                while n < 256 and x * x + y * y < np.float32(4.0):
                    x, y = x * x - y * y + cx, np.float32(2.0) * x * y + cy
                    n += 1
                counts[row, column] = n

    @njit(parallel=True, fastmath=True)
    def options(price, strike, years, call):
        for i in prange(price.size):
            spread = np.float32(0.3) * np.sqrt(years[i])
            up = (np.log(price[i] / strike[i]) + np.float32(0.065) * years[i]) / spread
            low = up - spread
            scale, cubed, half = np.float32(0.7978846), np.float32(0.044715), np.float32(0.5)
            first = half + half * np.tanh(scale * (up + cubed * up * up * up))
            second = half + half * np.tanh(scale * (low + cubed * low * low * low))
            discount = np.exp(np.float32(-0.02) * years[i])
            call[i] = price[i] * first - strike[i] * discount * second

    x, y = np.ones(N, np.float32), np.ones(N, np.float32)
    price, strike, years = market()
    call = np.zeros_like(price)
    a, c = np.ones((SIDE, SIDE), np.float32), np.zeros((SIDE, SIDE), np.float32)
    small = np.ones(3, np.float32)
    if work == "first":
        start = time.perf_counter()
        saxpy(np.float32(2.0), small, small)
        return (time.perf_counter() - start) * 1000
    return {
        "saxpy": lambda: best(lambda: saxpy(np.float32(2.0), x, y), 20),
        "total": lambda: best(lambda: total(x), 20),
        "options": lambda: best(lambda: options(price, strike, years, call), 10),
        "matmul": lambda: best(lambda: matmul(a, a, c), 2),
        "mandelbrot": lambda: best(lambda: mandelbrot(np.zeros((SIDE, SIDE), np.int32)), 10),
        "rerun": lambda: best(lambda: saxpy(np.float32(2.0), small, small), 1000),
    }[work]()


def of_taichi(work):
    import taichi as ti

    ti.init(arch=ti.cpu, log_level=ti.ERROR, offline_cache=False)
    f32 = ti.types.ndarray(dtype=ti.f32)

    @ti.kernel
    def saxpy(a: ti.f32, x: f32, y: f32):
        for i in x:
            y[i] = a * x[i] + y[i]

    @ti.kernel
    def total(x: f32) -> ti.f32:
        result = 0.0
        for i in x:
            result += x[i]
        return result

    @ti.kernel
    def matmul(a: f32, b: f32, c: f32):
        for i, j in c:
            own = 0.0
            for k in range(SIDE):
                own += a[i, k] * b[k, j]
            c[i, j] = own

    @ti.kernel
    def mandelbrot(counts: ti.types.ndarray(dtype=ti.i32)):
        for row, column in counts:
            cx = ti.cast(column, ti.f32) * 0.0029296875 - 2.0
            cy = ti.cast(row, ti.f32) * 0.0029296875 - 1.5
            x, y, n = 0.0, 0.0, 0
            while n < 256 and x * x + y * y < 4.0:
                x, y = x * x - y * y + cx, 2.0 * x * y + cy
                n += 1
            counts[row, column] = n

    @ti.func
    def normal(x):
        return 0.5 + 0.5 * ti.tanh(0.7978846 * (x + 0.044715 * x * x * x))

    @ti.kernel
    def options(price: f32, strike: f32, years: f32, call: f32):
        for i in price:
            spread = 0.3 * ti.sqrt(years[i])
            up = (ti.log(price[i] / strike[i]) + 0.065 * years[i]) / spread
            call[i] = price[i] * normal(up) - strike[i] * ti.exp(-0.02 * years[i]) * normal(up - spread)

    def ones(shape):
        array = ti.ndarray(ti.f32, shape=shape)
        array.fill(1.0)
        return array

    if work == "first":
        small = ones(3)
        start = time.perf_counter()
        saxpy(2.0, small, small)
        ti.sync()
        return (time.perf_counter() - start) * 1000
    if work in ("saxpy", "total"):
        x, y = ones(N), ones(N)
        run = (lambda: saxpy(2.0, x, y)) if work == "saxpy" else (lambda: total(x))
    elif work == "matmul":
        a, c = ones((SIDE, SIDE)), ones((SIDE, SIDE))
        run = lambda: matmul(a, a, c)
    elif work == "options":
        arrays = [ones(1 << 22) for _ in range(4)]
        for array, values in zip(arrays, market()):
            array.from_numpy(values)
        run = lambda: options(*arrays)
    elif work == "mandelbrot":
        counts = ti.ndarray(ti.i32, shape=(SIDE, SIDE))
        run = lambda: mandelbrot(counts)
    elif work == "rerun":
        small = ones(3)
        run = lambda: saxpy(2.0, small, small)
    else:
        raise KeyError(work)
    return best(lambda: (run(), ti.sync()), {"matmul": 2, "rerun": 1000}.get(work, 10))


CL = """
kernel void saxpy(float a, global const float *x, global float *y) {
    int i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}
kernel void total(global const float *x, global float *sums) {
    local float parts[256];
    int i = get_local_id(0);
    float own = 0;
    for (int k = 0; k < 1024; k++) own += x[get_group_id(0) * 256 * 1024 + i + k * 256];
    parts[i] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 128; step > 0; step /= 2) {
        if (i < step) parts[i] += parts[i + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0) sums[get_group_id(0)] = parts[0];
}
kernel void tree(global const float *x, global float *sums) {
    local float parts[256];
    int i = get_local_id(0);
    parts[i] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 128; step > 0; step /= 2) {
        if (i < step) parts[i] += parts[i + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0) sums[get_group_id(0)] = parts[0];
}
kernel void matmul(global const float *a, global const float *b, global float *c) {
    int row = get_global_id(1), column = get_global_id(0);
    float own = 0;
    for (int k = 0; k < 1024; k++) own += a[row * 1024 + k] * b[k * 1024 + column];
    c[row * 1024 + column] = own;
}
kernel void tiled(global const float *a, global const float *b, global float *c) {
    local float tile_a[16][16], tile_b[16][16];
    int row = get_global_id(1), column = get_global_id(0), i = get_local_id(1), j = get_local_id(0);
    float own = 0;
    for (int start = 0; start < 1024; start += 16) {
        tile_a[i][j] = a[row * 1024 + start + j];
        tile_b[i][j] = b[(start + i) * 1024 + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++) own += tile_a[i][k] * tile_b[k][j];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * 1024 + column] = own;
}
float normal(float x) { return 0.5f + 0.5f * tanh(0.7978846f * (x + 0.044715f * x * x * x)); }
kernel void options(global const float *price, global const float *strike, global const float *years,
                    global float *call) {
    int i = get_global_id(0);
    float spread = 0.3f * sqrt(years[i]);
    float up = (log(price[i] / strike[i]) + 0.065f * years[i]) / spread;
    call[i] = price[i] * normal(up) - strike[i] * exp(-0.02f * years[i]) * normal(up - spread);
}
kernel void mandelbrot(global int *counts) {
    float cx = get_global_id(0) * 0.0029296875f - 2.0f, cy = get_global_id(1) * 0.0029296875f - 1.5f;
    float x = 0, y = 0;
    int n = 0;
    while (n < 256 && x * x + y * y < 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        n++;
    }
    counts[get_global_id(1) * 1024 + get_global_id(0)] = n;
}
"""


def of_pocl(work):
    import pyopencl as cl

    platform = next(p for p in cl.get_platforms() if "Portable" in p.name)
    context = cl.Context(platform.get_devices())
    queue = cl.CommandQueue(context)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffer = lambda n: cl.Buffer(context, flags, hostbuf=np.ones(n, np.float32))
    start = time.perf_counter()
    program = cl.Program(context, CL).build()
    if work == "first":
        small = buffer(3)
        program.saxpy(queue, (3,), None, np.float32(2.0), small, small)
        queue.finish()
        return (time.perf_counter() - start) * 1000
    if work in ("saxpy", "rerun"):
        n = N if work == "saxpy" else 3
        x, y = buffer(n), buffer(n)
        kernel, size, local, args = program.saxpy, (n,), None, (np.float32(2.0), x, y)
    elif work == "total":
        kernel, size, local, args = program.total, (N // 1024,), (256,), (buffer(N), buffer(64))
    elif work == "tree":
        n = 1 << 22
        kernel, size, local, args = program.tree, (n,), (256,), (buffer(n), buffer(n // 256))
    elif work == "options":
        arrays = [cl.Buffer(context, flags, hostbuf=values) for values in market()] + [buffer(1 << 22)]
        kernel, size, local, args = program.options, (1 << 22,), None, arrays
    elif work in ("matmul", "tiled"):
        m = [buffer(SIDE * SIDE) for _ in range(3)]
        kernel, size, local, args = cl.Kernel(program, work), (SIDE, SIDE), (16, 16), m
    elif work != "mandelbrot":
        raise KeyError(work)
    else:
        kernel, size, local, args = program.mandelbrot, (SIDE, SIDE), (16, 16), (buffer(SIDE * SIDE),)
    kernel = cl.Kernel(program, kernel.function_name)
    kernel.set_args(*args)

    def run():
        cl.enqueue_nd_range_kernel(queue, kernel, size, local)
        queue.finish()

    return best(run, {"matmul": 2, "rerun": 1000}.get(work, 10))


def of_numpy(work):
    x = np.ones(N, np.float32)
    return {"total": lambda: best(lambda: x.sum(), 20)}[work]()


if __name__ == "__main__":
    name, work = sys.argv[1:]
    try:
        print({"numba": of_numba, "taichi": of_taichi, "pocl": of_pocl, "numpy": of_numpy}[name](work))
    except KeyError:
        print("-")
