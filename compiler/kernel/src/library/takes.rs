//! What the functions of `math` in the library take: the chapters are written without types.

/// What all arguments of a function are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    WholeNumbers,
    Numbers,
    Floats,
    /// Lists, tuples, vectors or arrays of numbers.
    Items,
}

impl Takes {
    /// `None` where another place judges it.
    pub fn of(name: &str) -> Option<Takes> {
        Some(match name {
            "gcd" | "lcm" | "isqrt" | "factorial" | "perm" | "comb" => Takes::WholeNumbers,
            "isclose" => Takes::Numbers,
            "modf" => Takes::Floats,
            "prod" | "fsum" | "sumprod" => Takes::Items,
            _ => return None,
        })
    }

    pub fn words(self) -> &'static str {
        match self {
            Takes::WholeNumbers => "whole numbers",
            Takes::Numbers => "numbers",
            Takes::Floats => "a float",
            Takes::Items => "lists, tuples or arrays",
        }
    }
}
