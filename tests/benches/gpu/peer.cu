// The same work in CUDA C++, timed by events; microseconds a launch, the first of each round left out.
// Built by `tests/benches/gpu/run`.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <algorithm>

static void check(cudaError_t status) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
        std::exit(1);
    }
}

__global__ void saxpy(float a, const float* x, float* y, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void matmul(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float total = 0;
    for (int k = 0; k < n; k++) total += a[row * n + k] * b[k * n + column];
    c[row * n + column] = total;
}

template <typename Launch>
static double best(int launches, Launch launch) {
    cudaEvent_t start, end;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&end));
    double best = 1e30;
    for (int attempt = 0; attempt < 5; attempt++) {
        launch();
        check(cudaEventRecord(start));
        for (int i = 1; i < launches; i++) launch();
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        float ms;
        check(cudaEventElapsedTime(&ms, start, end));
        best = std::min(best, ms * 1000.0 / (launches - 1));
    }
    check(cudaGetLastError());
    return best;
}

static float* filled(size_t n, float value) {
    std::vector<float> host(n, value);
    float* device;
    check(cudaMalloc(&device, n * sizeof(float)));
    check(cudaMemcpy(device, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

static void run_saxpy(const char* name, size_t n) {
    float *x = filled(n, 1), *y = filled(n, 1);
    double us = best(101, [&] { saxpy<<<n / 256, 256>>>(2, x, y, n); });
    float last;
    check(cudaMemcpy(&last, y + n - 1, sizeof last, cudaMemcpyDeviceToHost));
    if (last != 1 + 2 * 101 * 5) std::exit(1);
    std::printf("cuda %-12s %10.2f\n", name, us);
    cudaFree(x);
    cudaFree(y);
}

int main() {
    run_saxpy("saxpy 16M", size_t(1) << 24);
    run_saxpy("saxpy 512M", size_t(1) << 29);
    const int n = 2048;
    float *a = filled(n * n, 1), *b = filled(n * n, 1), *c = filled(n * n, 0);
    double us = best(21, [&] { matmul<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, c, n); });
    std::printf("cuda %-12s %10.2f\n", "matmul", us);
}
