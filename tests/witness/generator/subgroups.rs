//! What the invocations of a subgroup compute together, where the workgroup is one subgroup on every device and
//! all of it is there.

use kps_kernel::{Scalar, Type};

use super::Writer;

/// Workgroups up to this size are one subgroup everywhere.
pub const MAX_INVOCATIONS: usize = 8;

const COMBINES: [&str; 7] = ["add", "mul", "min", "max", "and", "or", "xor"];

impl Writer {
    /// A variable for what comes out. Floats only move, for their sums depend on an order.
    pub fn subgroup_variable(&mut self) {
        let name = self.name("v");
        let scalar = self.scalar();
        let ty = self.in_vector(scalar);
        let (value, ty) = match self.random.below(6) {
            0 if scalar.is_int() => {
                let spread = *self.random.pick(&["", "inclusive_", "exclusive_"]);
                let combine = *self.random.pick(&COMBINES);
                (format!("subgroup_{spread}{combine}({})", self.value(&ty, 2)), ty)
            }
            1 => {
                let vote = *self.random.pick(&["any", "all", "and", "or", "xor"]);
                (format!("subgroup_{vote}({})", self.condition(2)), Type::BOOL)
            }
            2 => (format!("subgroup_ballot({})", self.condition(2)), Type::Vector(4, Scalar::U32)),
            3 => ("i32(subgroup_lane)".to_owned(), Type::I32),
            4 => ("subgroup_elect()".to_owned(), Type::BOOL),
            _ => (self.moved(&ty), ty),
        };
        self.line(&format!("{name} = {value}"));
        self.declare(&name, &ty);
    }

    /// A value of another lane, which is there.
    fn moved(&mut self, ty: &Type) -> String {
        let value = self.value(ty, 2);
        let n = self.group_size;
        match self.random.below(3) {
            0 => format!("subgroup_broadcast({value}, {})", self.random.below(n)),
            1 => format!("subgroup_shuffle({value}, {} % {n})", self.plain_int()),
            _ if n.is_power_of_two() => {
                format!("subgroup_shuffle_xor({value}, {})", 1 + self.random.below(n - 1))
            }
            _ => format!("subgroup_shuffle({value}, {} - l)", n - 1),
        }
    }

    fn in_vector(&mut self, scalar: Scalar) -> Type {
        match self.random.one_in(4) {
            true => Type::Vector(2 + self.random.below(3) as u8, scalar),
            false => scalar.into(),
        }
    }
}
