//! The modules of the standard library that are written in kps itself, as text.
//!
//! A script that imports `collections` gets the module whose text is [`source`]`("collections")`. The host compiles it
//! at the first import. Modules that need Rust are in `runtime/host/src/modules`.
//!
//! ```
//! assert!(kps_stdlib::names().any(|name| name == "heapq"));
//! assert!(kps_stdlib::source("heapq").expect("it is a module").contains("def heappush"));
//! assert_eq!(kps_stdlib::source("no_such_module"), None);
//! ```

/// The modules and their texts, by dotted name.
static MODULES: &[(&str, &str)] = &[
    ("PyGPU", include_str!("modules/pygpu.kps")),
    ("PyGPU.gpuarray", include_str!("modules/pygpu.kps")),
    ("PybindGPU", include_str!("modules/pygpu.kps")),
    ("PybindGPU.gpuarray", include_str!("modules/pygpu.kps")),
    ("_awaited", include_str!("modules/_awaited.kps")),
    ("_devices", include_str!("modules/_devices.kps")),
    ("_gpu_device", include_str!("modules/_gpu_device.kps")),
    ("_gpu_errors", include_str!("modules/_gpu_errors.kps")),
    ("_gpu_graph", include_str!("modules/_gpu_graph.kps")),
    ("_gpu_launch", include_str!("modules/_gpu_launch.kps")),
    ("_gpu_memory", include_str!("modules/_gpu_memory.kps")),
    ("_gpu_program", include_str!("modules/_gpu_program.kps")),
    ("_tuned", include_str!("modules/_tuned.kps")),
    ("abc", include_str!("modules/abc.kps")),
    ("bisect", include_str!("modules/bisect.kps")),
    ("collections", include_str!("modules/collections.kps")),
    ("collections.abc", include_str!("modules/collections_abc.kps")),
    ("copy", include_str!("modules/copy.kps")),
    ("dataclasses", include_str!("modules/dataclasses.kps")),
    ("enum", include_str!("modules/enum.kps")),
    ("functools", include_str!("modules/functools.kps")),
    ("gpu", include_str!("modules/gpu.kps")),
    ("gpuarray", include_str!("modules/gpuarray.kps")),
    ("heapq", include_str!("modules/heapq.kps")),
    ("itertools", include_str!("modules/itertools.kps")),
    ("json", include_str!("modules/json.kps")),
    ("kp.fft", include_str!("modules/kp_fft.kps")),
    ("kp.kernels", include_str!("kernels/__init__.kps")),
    ("kp.kernels.complex", include_str!("kernels/complex.kps")),
    ("kp.kernels.convolution", include_str!("kernels/convolution.kps")),
    ("kp.kernels.dtypes", include_str!("kernels/dtypes.kps")),
    ("kp.kernels.einsum", include_str!("kernels/einsum.kps")),
    ("kp.kernels.elementwise", include_str!("kernels/elementwise.kps")),
    ("kp.kernels.fourier", include_str!("kernels/fourier.kps")),
    ("kp.kernels.functions", include_str!("kernels/functions.kps")),
    ("kp.kernels.histogram", include_str!("kernels/histogram.kps")),
    ("kp.kernels.linear", include_str!("kernels/linear.kps")),
    ("kp.kernels.jacobi", include_str!("kernels/jacobi.kps")),
    ("kp.kernels.joining", include_str!("kernels/joining.kps")),
    ("kp.kernels.philox", include_str!("kernels/philox.kps")),
    ("kp.kernels.product", include_str!("kernels/product.kps")),
    ("kp.kernels.reduce", include_str!("kernels/reduce.kps")),
    ("kp.kernels.scan", include_str!("kernels/scan.kps")),
    ("kp.kernels.search", include_str!("kernels/search.kps")),
    ("kp.kernels.select", include_str!("kernels/select.kps")),
    ("kp.kernels.sort", include_str!("kernels/sort.kps")),
    ("kp.linalg", include_str!("modules/kp_linalg.kps")),
    ("logging", include_str!("modules/logging.kps")),
    ("operator", include_str!("modules/operator.kps")),
    ("os", include_str!("modules/os.kps")),
    ("os.path", include_str!("modules/os_path.kps")),
    ("pathlib", include_str!("modules/pathlib.kps")),
    ("string", include_str!("modules/string.kps")),
    ("types", include_str!("modules/types.kps")),
    ("typing", include_str!("modules/typing.kps")),
    ("warnings", include_str!("modules/warnings.kps")),
];

/// The text of a module.
pub fn source(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(module, _)| *module == name).map(|(_, text)| *text)
}

/// The dotted names of all modules.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|(module, _)| *module)
}
