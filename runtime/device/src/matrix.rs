//! The products of cooperative matrices that a device supports.

use std::fmt;

use kps_scalar::Scalar;

/// `a * b + c`: an `m` x `k` matrix times a `k` x `n` one, plus an `m` x `n` one. Components are numbers,
/// never bools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixProduct {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub a: Scalar,
    pub b: Scalar,
    pub c: Scalar,
    pub result: Scalar,
    pub scope: MatrixScope,
    /// Whether sums of ints can saturate.
    pub saturates: bool,
}

impl MatrixProduct {
    /// Whether one of its matrices has this component type.
    pub fn has(&self, component: Scalar) -> bool {
        [self.a, self.b, self.c, self.result].contains(&component)
    }
}

impl fmt::Display for MatrixProduct {
    /// `16 x 16 x 16  f16 * f16 + f32 -> f32`, with its special properties.
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

/// The invocations that share a matrix.
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
