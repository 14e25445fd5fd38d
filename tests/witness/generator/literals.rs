//! Literals: ordinary numbers, and boundary values.

use kps_kernel::{Kind, Scalar};

use super::Writer;

/// Exact in every float type.
const FLOATS: [&str; 10] = ["0.0", "0.5", "1.0", "2.0", "-1.0", "-0.5", "3.25", "-7.0", "0.125", "96.0"];

impl Writer {
    /// A typed literal, such as `u8(200)`.
    pub fn literal(&mut self, scalar: Scalar) -> String {
        match scalar.kind() {
            Kind::Bool => (*self.random.pick(&["True", "False"])).to_owned(),
            Kind::Float => format!("{scalar}({})", self.weak_float(scalar)),
            _ => format!("{scalar}({})", self.weak_int(scalar)),
        }
    }

    /// A weakly typed literal, which adopts the type of the other operand.
    pub fn weak(&mut self, scalar: Scalar) -> String {
        match scalar.kind() {
            Kind::Float => (*self.random.pick(&FLOATS)).to_owned(),
            Kind::Bool => self.literal(scalar),
            _ => self.weak_int(scalar),
        }
    }

    fn weak_float(&mut self, scalar: Scalar) -> String {
        let wide: &[&str] = match scalar {
            Scalar::F16 => &["65504.0", "-2048.0", "0.1", "1e-3"],
            Scalar::Bf16 => &["1e20", "-3e38", "0.1", "1e-20"],
            Scalar::F64 => &["1e300", "-1e-200", "0.1", "9007199254740993.0"],
            _ => &["1e30", "-3e38", "0.1", "16777217.0", "1e-20"],
        };
        if self.random.one_in(4) { *self.random.pick(wide) } else { *self.random.pick(&FLOATS) }.to_owned()
    }

    fn weak_int(&mut self, scalar: Scalar) -> String {
        let (min, max) = scalar.int_range().expect("an int type");
        let value = match self.random.below(8) {
            0 => min,
            1 => max,
            2 => max / 3,
            3 if scalar.is_signed() => -(1 + self.random.below(9) as i128),
            4 => max - self.random.below(20) as i128,
            _ => self.random.below(12) as i128,
        };
        value.to_string()
    }

    /// A small positive number for any int type.
    pub fn small(&mut self) -> usize {
        1 + self.random.below(7)
    }
}
