//! Suggestions for names of other packages that kps does not have. `kps run` and `kps check` share one table;
//! every help is a line that works.

use crate::value::Value;

/// The help for an attribute that an object or a module lacks.
pub fn attribute(owner: &Value, name: &str) -> Option<&'static str> {
    match owner {
        Value::Module(module) => member(&module.name, name),
        other => find(&other.type_name(), name),
    }
}

/// The same for a member of a module.
pub fn member(module: &str, name: &str) -> Option<&'static str> {
    find(module, name)
}

fn find(owner: &str, name: &str) -> Option<&'static str> {
    let of_owner = |(known, names, _): &&(&str, &[&str], &str)| *known == owner && names.contains(&name);
    ATTRIBUTES.iter().find(of_owner).map(|(_, _, help)| *help)
}

/// The help for a keyword that a function does not take.
pub fn keyword(function: &str, name: &str) -> Option<&'static str> {
    let is_meant = |(functions, names, _): &&(&[&str], &[&str], &str)| {
        functions.contains(&function) && names.contains(&name)
    };
    KEYWORDS.iter().find(is_meant).map(|(_, _, help)| *help)
}

/// Owner, names, help.
static ATTRIBUTES: &[(&str, &[&str], &str)] = &[
    ("Tensor", &["clone", "__copy__"], "a copy is made by `x.copy()`"),
    ("Tensor", &["fill_", "zero_"], "assign to all elements: `x[:] = 0`"),
    ("Tensor", &["float", "int", "half", "to_dtype"], "convert it: `x.astype(\"int32\")`"),
    ("Tensor", &["permute"], "write `x.transpose(1, 0)`"),
    ("Tensor", &["view", "unsqueeze"], "write `x.reshape(..)`, or `x[:, None]` for a new axis"),
    (
        "Tensor",
        &["get", "cpu", "asnumpy", "to_numpy", "copy_to_host", "detach"],
        "read it: `x.numpy()`, which waits for the kernels that write it",
    ),
    (
        "Tensor",
        &["to", "cuda", "gpu", "to_device"],
        "it is on the device when a kernel needs it: leave this out",
    ),
    (
        "Tensor",
        &["synchronize", "wait", "block_until_ready"],
        "leave it out: reading a tensor waits for the kernels that write it",
    ),
    (
        "Kernel",
        &["wait", "synchronize", "sync", "join", "block_until_ready"],
        "leave it out: reading a tensor waits for the kernels that write it",
    ),
    (
        "Kernel",
        &["run", "dispatch", "forall", "call"],
        "a kernel is called: `k(x)`, or `k[n](x)` for `n` invocations",
    ),
    (
        "kp",
        &["array", "tensor", "from_numpy", "to_device", "to_gpu", "device_array", "field"],
        "write `Tensor(values)`",
    ),
    (
        "kp",
        &["synchronize", "sync", "wait", "barrier"],
        "leave it out: reading a tensor waits for the kernels that write it",
    ),
    ("kp", &["imread", "read_image", "load_png", "imload"], "write `kp.read_png(path)`"),
    ("kp", &["imwrite", "save_png", "imsave", "write_image"], "write `kp.write_png(path, picture)`"),
    (
        "kp",
        &["device", "set_device", "init"],
        "the device is chosen by `kps --device`, the variable KPS_DEVICE or `Manager(i)`",
    ),
    (
        "numpy",
        &["histogram2d", "histogramdd"],
        "there is `np.histogram` for one axis, and `np.bincount` for ints",
    ),
    ("numpy", &["matrix", "mat"], "write `np.array`, and `@` for products of matrices"),
    ("numpy", &["vectorize", "frompyfunc"], "write a loop, or a kernel"),
    ("numpy", &["fft"], "there are no Fourier transforms"),
    ("numpy", &["einsum", "tensordot"], "products of matrices are `a @ b`, sums along axes `a.sum(axis=0)`"),
    (
        "numpy",
        &["nansum", "nanmean", "nanmax", "nanmin", "nanstd", "nanvar"],
        "leave NaN out by a mask: `a[~np.isnan(a)].sum()`",
    ),
    (
        "numpy",
        &["loadtxt", "genfromtxt", "savetxt"],
        "read lines with `open`, or use `np.load` and `np.save`",
    ),
    ("numpy", &["savez", "savez_compressed"], "save each array separately: `np.save(path, a)`"),
    (
        "numpy",
        &["percentile", "quantile"],
        "sort and pick: `np.sort(a)[len(a) * 9 // 10]`; `np.median` is there",
    ),
    ("numpy", &["interp"], "`np.searchsorted` finds the neighbours to interpolate between"),
    ("numpy", &["polyfit", "polyval", "poly1d"], "there are no polynomials"),
    ("numpy", &["cross"], "in a kernel `cross(a, b)` of two vec3 is there"),
    ("numpy", &["object_", "str_", "datetime64"], "arrays hold bools, ints, floats and complex numbers"),
];

/// Functions, names of keywords, help.
static KEYWORDS: &[(&[&str], &[&str], &str)] = &[
    (
        &["Tensor", "zeros", "tensor"],
        &["device", "dev"],
        "the device is chosen by `kps --device`, the variable KPS_DEVICE or `Manager(i)`",
    ),
    (&["Tensor"], &["requires_grad"], "there are no gradients"),
    (
        &["Tensor"],
        &["shape"],
        "the data has the shape: `Tensor(np.reshape(values, (2, 3)))`, or `Tensor.zeros((2, 3))`",
    ),
];
