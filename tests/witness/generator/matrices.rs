//! Matrices: built from columns, added, scaled, multiplied, transposed, and read by rows, columns and
//! elements.

use kps_kernel::{Scalar, Type};

use super::Writer;

impl Writer {
    pub fn matrix(&mut self) -> Type {
        let [columns, rows] = [0; 2].map(|_| 2 + self.random.below(3) as u8);
        Type::Matrix { columns, rows, scalar: self.float() }
    }

    pub fn matrix_value(&mut self, [columns, rows]: [u8; 2], scalar: Scalar, depth: usize) -> String {
        let ty = Type::Matrix { columns, rows, scalar };
        let inner = depth - 1;
        match self.random.below(8) {
            0 => format!("(-{})", self.value(&ty, inner)),
            1 | 2 => {
                let op = *self.random.pick(&["+", "-"]);
                format!("({} {op} {})", self.value(&ty, inner), self.value(&ty, inner))
            }
            3 => format!("({} * {})", self.value(&ty, inner), self.value(&scalar.into(), inner)),
            4 | 5 => {
                let between = 2 + self.random.below(3) as u8;
                let a = self.value(&Type::Matrix { columns: between, rows, scalar }, inner);
                let b = self.value(&Type::Matrix { columns, rows: between, scalar }, inner);
                format!("({a} @ {b})")
            }
            6 => {
                let turned = self.value(&Type::Matrix { columns: rows, rows: columns, scalar }, inner);
                if self.random.one_in(2) { format!("transpose({turned})") } else { format!("({turned}).T") }
            }
            _ => self.made(&ty, depth),
        }
    }

    /// A matrix times a vector, or a vector times a matrix.
    pub fn matrix_and_vector(&mut self, n: u8, scalar: Scalar, depth: usize) -> String {
        let other = 2 + self.random.below(3) as u8;
        let vector = self.value(&Type::Vector(other, scalar), depth);
        match self.random.one_in(2) {
            true => {
                let matrix = self.value(&Type::Matrix { columns: other, rows: n, scalar }, depth);
                format!("({matrix} @ {vector})")
            }
            false => {
                let matrix = self.value(&Type::Matrix { columns: n, rows: other, scalar }, depth);
                format!("({vector} @ {matrix})")
            }
        }
    }
}

/// Its elements, rows and columns, each with its expression.
pub fn matrix_parts(columns: u8, rows: u8, scalar: Scalar) -> Vec<(String, Type)> {
    let elements = (0..rows).flat_map(|row| (0..columns).map(move |column| format!("[{row}, {column}]")));
    let all_rows = (0..rows).map(|row| (format!("[{row}]"), Type::Vector(columns, scalar)));
    let all_columns = (0..columns).map(|column| (format!("[:, {column}]"), Type::Vector(rows, scalar)));
    elements.map(|step| (step, scalar.into())).chain(all_rows).chain(all_columns).collect()
}
