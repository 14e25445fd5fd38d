"""The rows of `arrays.kps` with PyTorch, by the events of CUDA."""
import torch


def measure(name, run, n_operations=0, rounds=5):
    for _ in range(2):
        run()
    best = float("inf")
    for _ in range(rounds):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        best = min(best, start.elapsed_time(end) / 1e3)
    speed = f", {n_operations / best / 1e12:.1f} TFLOP/s" if n_operations > 0 else ""
    print(f"torch {name}: {best * 1e6:.1f} us{speed}", flush=True)


torch.set_default_device("cuda")
N = 2**28
x, y, z = torch.rand(N), torch.rand(N), torch.rand(N)
measure("2 * x + y * 3 - sin(z), 256M", lambda: 2 * x + y * 3 - torch.sin(z))
measure("copy, 256M", lambda: x.clone())
measure("uniform, 256M", lambda: torch.rand(N))
a = x[: N // 2].clone()
del y, z
measure("sum, 128M", lambda: a.sum())
measure("sum of rows, 128M", lambda: a.reshape(8192, -1).sum(dim=1))
measure("sum of columns, 128M", lambda: a.reshape(8192, -1).sum(dim=0))
measure("max, 128M", lambda: a.max())
measure("argmax, 128M", lambda: a.argmax())
measure("cumsum, 128M", lambda: a.cumsum(0))
measure("x[mask], 128M", lambda: a[a > 0.5])
keys = torch.randint(-(2**31), 2**31 - 1, (N // 2,), dtype=torch.int32)
measure("sort, 128M i32", lambda: keys.sort(), rounds=2)
measure("argsort, 128M i32", lambda: keys.argsort(), rounds=2)
data = (a * 256).to(torch.uint8)
measure("bincount, 128M bytes", lambda: data.bincount())
for n, dtype in [(4096, torch.float32), (4096, torch.float16), (8192, torch.float16), (4096, torch.float64)]:
    m = torch.rand(n, n).to(dtype)
    measure(f"product {str(dtype)[6:]} {n}", lambda: m @ m, n_operations=2 * n**3, rounds=3)
