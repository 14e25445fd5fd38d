//! Subgroup operations, in workgroups that are one complete subgroup on every device.

use kps_kernel::{Scalar, Type};

use super::Writer;

/// Workgroups up to this size are one subgroup on every device.
pub const MAX_INVOCATIONS: usize = 8;

const COMBINES: [&str; 7] = ["add", "mul", "min", "max", "and", "or", "xor"];

impl Writer {
    /// A variable for the result. Floats are only moved, because their sums depend on the order.
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

    /// The value of another lane, or the lane's own if there is no such lane.
    fn moved(&mut self, ty: &Type) -> String {
        let value = self.value(ty, 2);
        let function =
            *self.random.pick(&["broadcast", "shuffle", "shuffle_xor", "shuffle_up", "shuffle_down"]);
        let lane = match self.random.below(5) {
            0 => self.random.below(self.group_size + 4).to_string(),
            1 => (*self.random.pick(&["63", "200", "u32(0xFFFFFFFF)"])).to_owned(),
            2 => self.plain_int(),
            3 => format!("{} - l", self.group_size - 1),
            _ => format!("({} % {})", self.plain_int(), self.group_size),
        };
        format!("subgroup_{function}({value}, {lane})")
    }

    fn in_vector(&mut self, scalar: Scalar) -> Type {
        match self.random.one_in(4) {
            true => Type::Vector(2 + self.random.below(3) as u8, scalar),
            false => scalar.into(),
        }
    }
}
