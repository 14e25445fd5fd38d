//! The options of a kernel, as its decorator says them.

/// How the kernel was decorated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// `@kernel`: scalars and arrays as arguments, an exact domain.
    Kernel,
    /// `@python2shader`: every parameter declares its kind, slot and type; local size 1, 1, 1.
    Python2Shader,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelOptions {
    pub form: Form,
    /// As written in `@kernel(local_size=(16, 16))`, missing axes 1.
    pub local_size: Option<[u32; 3]>,
    /// The decorator's size is known only when the script runs: for a kernel that is checked, not launched.
    pub sized_later: bool,
    /// No contraction of a multiply and an add; signed zeros, infinities and NaNs kept.
    pub precise: bool,
    /// Invocations of a subgroup, where the device is not to choose.
    pub subgroup_size: Option<u32>,
}

impl KernelOptions {
    pub fn kernel() -> KernelOptions {
        KernelOptions {
            form: Form::Kernel,
            local_size: None,
            sized_later: false,
            precise: false,
            subgroup_size: None,
        }
    }

    pub fn python2shader() -> KernelOptions {
        KernelOptions { form: Form::Python2Shader, ..KernelOptions::kernel() }
    }
}
