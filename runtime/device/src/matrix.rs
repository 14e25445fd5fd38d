//! Products of cooperative matrices, as a device lists those that it makes by itself.

use std::fmt;

/// `a * b + c`: an `m` x `k` matrix times a `k` x `n` one, added to an `m` x `n` one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixProduct {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub a: Component,
    pub b: Component,
    pub c: Component,
    pub result: Component,
    pub scope: MatrixScope,
    /// Sums of ints stop at the ends of their type, where that is asked for.
    pub saturates: bool,
}

impl MatrixProduct {
    /// Whether some of its matrices are of these.
    pub fn has(&self, component: Component) -> bool {
        [self.a, self.b, self.c, self.result].contains(&component)
    }
}

impl fmt::Display for MatrixProduct {
    /// `16 x 16 x 16  f16 * f16 + f32 -> f32`, and what is unusual of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MatrixProduct { m, n, k, a, b, c, result, .. } = self;
        write!(f, "{m} x {n} x {k}  {} * {} + {} -> {}", a.name(), b.name(), c.name(), result.name())?;
        if self.scope != MatrixScope::Subgroup {
            write!(f, ", of a {}", self.scope.name())?;
        }
        if self.saturates {
            f.write_str(", saturating")?;
        }
        Ok(())
    }
}

/// What the components of a matrix are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl Component {
    pub fn name(self) -> &'static str {
        match self {
            Component::F16 => "f16",
            Component::Bf16 => "bf16",
            Component::F32 => "f32",
            Component::F64 => "f64",
            Component::I8 => "i8",
            Component::I16 => "i16",
            Component::I32 => "i32",
            Component::I64 => "i64",
            Component::U8 => "u8",
            Component::U16 => "u16",
            Component::U32 => "u32",
            Component::U64 => "u64",
        }
    }
}

/// Whose invocations hold a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixScope {
    Device,
    Workgroup,
    Subgroup,
    QueueFamily,
}

impl MatrixScope {
    fn name(self) -> &'static str {
        match self {
            MatrixScope::Device => "device",
            MatrixScope::Workgroup => "workgroup",
            MatrixScope::Subgroup => "subgroup",
            MatrixScope::QueueFamily => "queue family",
        }
    }
}
