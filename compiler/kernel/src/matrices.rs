//! The types of cooperative matrices, and the products that a device supports.
//!
//! A device lists its products by sizes and element types. [`Matrices`] is the part of the list that kernels can use,
//! in a form small enough for a `Target`. Sizes and types that are not in the tables below are omitted, and emulated.

use std::fmt;

use kps_scalar::Scalar;

/// A matrix that a subgroup holds, each invocation some components of it. Which, only the device knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CoopType {
    pub scalar: Scalar,
    pub rows: u32,
    pub columns: u32,
    pub purpose: CoopUse,
}

impl fmt::Display for CoopType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CoopType { scalar, rows, columns, purpose } = self;
        write!(f, "coop_matrix({scalar}, {rows}, {columns}, {purpose})")
    }
}

/// The shape of a matrix in a message. A list of rows in place of a matrix may have no purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CoopShape {
    pub rows: u32,
    pub columns: u32,
    pub scalar: Scalar,
    pub purpose: Option<CoopUse>,
}

impl fmt::Display for CoopShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CoopShape { rows, columns, scalar, .. } = self;
        match self.purpose {
            Some(purpose) => write!(f, "{rows} x {columns} of `{scalar}` for {purpose}"),
            None => write!(f, "{rows} x {columns} of `{scalar}`"),
        }
    }
}

/// The purpose of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoopUse {
    A,
    B,
    Accumulator,
}

impl CoopUse {
    pub(crate) fn named(name: &str) -> Option<CoopUse> {
        match name {
            "a" => Some(CoopUse::A),
            "b" => Some(CoopUse::B),
            "accumulator" => Some(CoopUse::Accumulator),
            _ => None,
        }
    }
}

impl fmt::Display for CoopUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CoopUse::A => "\"a\"",
            CoopUse::B => "\"b\"",
            CoopUse::Accumulator => "\"accumulator\"",
        })
    }
}

/// A product with its sum: an `m` x `k` matrix times a `k` x `n` one, of `factor`s, added to `sum`s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub factor: Scalar,
    pub sum: Scalar,
}

/// Factors and sums, and `m`, `n` and `k`, of the products that devices have.
const NUMBERS: [(Scalar, Scalar); 6] = [
    (Scalar::F16, Scalar::F16),
    (Scalar::F16, Scalar::F32),
    (Scalar::Bf16, Scalar::F32),
    (Scalar::I8, Scalar::I32),
    (Scalar::U8, Scalar::U32),
    (Scalar::F32, Scalar::F32),
];
const SIZES: [(u32, u32, u32); 12] = [
    (16, 16, 16),
    (16, 8, 16),
    (16, 8, 8),
    (16, 16, 8),
    (8, 8, 16),
    (8, 16, 16),
    (8, 8, 8),
    (16, 16, 32),
    (16, 8, 32),
    (8, 8, 32),
    (8, 16, 32),
    (32, 32, 16),
];

/// Rows or columns of a matrix that a device holds, at most.
pub(crate) const MAX_SIDE: u32 = 32;

/// The products of a device, and the limits of their use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matrices {
    /// A bit for each of `NUMBERS` with each of `SIZES`.
    products: u128,
    /// Invocations of a subgroup: a row of a workgroup is whole subgroups.
    pub subgroup_size: u32,
    /// Bytes of shared memory of a workgroup.
    pub max_shared: u32,
}

impl Matrices {
    /// All products are emulated.
    pub const NONE: Matrices = Matrices { products: 0, subgroup_size: 1, max_shared: 0 };

    /// All that kernels can use.
    pub const fn of_all(subgroup_size: u32, max_shared: u32) -> Matrices {
        let n_products = NUMBERS.len() * SIZES.len();
        Matrices { products: (1 << n_products) - 1, subgroup_size, max_shared }
    }

    pub fn new(products: impl IntoIterator<Item = Product>, subgroup_size: u32, max_shared: u32) -> Matrices {
        let bits = products.into_iter().filter_map(bit).fold(0, |bits, bit| bits | 1u128 << bit);
        Matrices { products: bits, subgroup_size, max_shared }
    }

    pub fn has_none(&self) -> bool {
        self.products == 0
    }

    pub fn has(&self, product: Product) -> bool {
        bit(product).is_some_and(|bit| self.products >> bit & 1 == 1)
    }

    /// Whether a matrix takes part in some product.
    pub fn take(&self, matrix: &CoopType) -> bool {
        let CoopType { scalar, rows, columns, purpose } = *matrix;
        all().any(|product| {
            let Product { m, n, k, factor, sum } = product;
            let part = match purpose {
                CoopUse::A => (factor, m, k),
                CoopUse::B => (factor, k, n),
                CoopUse::Accumulator => (sum, m, n),
            };
            part == (scalar, rows, columns) && self.has(product)
        })
    }
}

fn all() -> impl Iterator<Item = Product> {
    NUMBERS
        .into_iter()
        .flat_map(|(factor, sum)| SIZES.into_iter().map(move |(m, n, k)| Product { m, n, k, factor, sum }))
}

fn bit(product: Product) -> Option<usize> {
    all().position(|known| known == product)
}
