//! Products of vectors and matrices, determinants and inverses. A matrix is its scalars in column-major
//! order.

use kps_scalar::Scalar;
use rspirv::spirv::Op;

use super::{Data, Lowerer};
use crate::Result;
use crate::cpu::lane::{self, Binary, Unary};
use crate::cpu::module::Instruction;
use crate::cpu::module::constants::lane_ty;
use crate::cpu::module::types::{Type, TypeId};

impl Lowerer<'_> {
    /// `None` for instructions of other families.
    pub(super) fn matrices(&mut self, inst: &Instruction) -> Option<Result<Data>> {
        Some(match inst.op {
            Op::VectorTimesScalar | Op::MatrixTimesScalar => self.times_scalar(inst),
            Op::Dot => self.dot_product(inst),
            Op::MatrixTimesVector | Op::VectorTimesMatrix | Op::MatrixTimesMatrix | Op::OuterProduct => {
                self.matrix_product(inst)
            }
            Op::Transpose => self.transpose(inst),
            _ => return None,
        })
    }

    fn times_scalar(&mut self, inst: &Instruction) -> Result<Data> {
        let (composite, (scalar, factor)) = (self.data(inst, 2)?, self.scalars(inst, 3)?);
        let fits = self.module.types.scalars(composite.ty).iter().all(|part| *part == scalar);
        // Int matrices exist only as cooperative ones.
        let is_cooperative = matches!(self.module.types.get(composite.ty), Type::Cooperative { .. });
        let takes = scalar.is_float() || (scalar.is_int() && is_cooperative);
        if !takes || factor.parts.len() != 1 || !fits {
            return Err(self.wrong_operands(inst));
        }
        let multiply = if scalar.is_float() { Binary::FMul } else { Binary::Mul };
        let times = |&part: &lane::Value| {
            let product = self.builder.binary(multiply, part, factor.parts[0]);
            self.fit(scalar, product)
        };
        Ok(Data { ty: composite.ty, parts: composite.parts.iter().map(times).collect() })
    }

    fn dot_product(&mut self, inst: &Instruction) -> Result<Data> {
        let ((scalar, a), (scalar_b, b)) = (self.scalars(inst, 2)?, self.scalars(inst, 3)?);
        if !scalar.is_float() || scalar != scalar_b || a.parts.len() != b.parts.len() {
            return Err(self.wrong_operands(inst));
        }
        let part = self.sum_of_products(scalar, &a.parts, &b.parts);
        Ok(Data { ty: self.module.types.scalar(scalar), parts: [part].into() })
    }

    pub(super) fn sum_of_products(
        &mut self,
        scalar: Scalar,
        a: &[lane::Value],
        b: &[lane::Value],
    ) -> lane::Value {
        let mut sum = None;
        for (&a, &b) in a.iter().zip(b) {
            let product = self.product(scalar, a, b);
            sum = Some(match sum {
                Some(sum) => self.sum(scalar, sum, product),
                None => product,
            });
        }
        sum.expect("a vector has components")
    }

    fn product(&mut self, scalar: Scalar, a: lane::Value, b: lane::Value) -> lane::Value {
        let product = self.builder.binary(Binary::FMul, a, b);
        self.fit(scalar, product)
    }

    fn sum(&mut self, scalar: Scalar, a: lane::Value, b: lane::Value) -> lane::Value {
        let sum = self.builder.binary(Binary::FAdd, a, b);
        self.fit(scalar, sum)
    }

    fn difference(&mut self, scalar: Scalar, a: lane::Value, b: lane::Value) -> lane::Value {
        let difference = self.builder.binary(Binary::FSub, a, b);
        self.fit(scalar, difference)
    }

    /// Columns, rows and scalar of a matrix type.
    pub(super) fn matrix_shape(&self, ty: TypeId) -> Option<(usize, usize, Scalar)> {
        let Type::Matrix { columns, column } = *self.module.types.get(ty) else { return None };
        let (scalar, rows) = self.module.types.as_scalars(column)?;
        Some((columns as usize, rows as usize, scalar))
    }

    pub(super) fn matrix_scalar(&self, matrix: &Data) -> Option<Scalar> {
        self.matrix_shape(matrix.ty).map(|(_, _, scalar)| scalar)
    }

    /// A matrix operand: columns, rows, and its scalars in column-major order.
    pub(super) fn matrix(&mut self, inst: &Instruction, i: usize) -> Result<(usize, usize, Data)> {
        let data = self.data(inst, i)?;
        match self.matrix_shape(data.ty) {
            Some((columns, rows, _)) => Ok((columns, rows, data)),
            None => Err(self.malformed(inst, "an operand is no matrix")),
        }
    }

    /// Products of matrices and vectors. A vector is a one-column matrix on the right, and a one-row matrix
    /// on the left.
    fn matrix_product(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, a, b) = (self.result_type(inst)?, self.data(inst, 2)?, self.data(inst, 3)?);
        let shape = |data: &Data, as_column: bool| {
            let vector = self.module.types.as_scalars(data.ty).map(|(scalar, n)| {
                let n = n as usize;
                if as_column { (1, n, scalar) } else { (n, 1, scalar) }
            });
            self.matrix_shape(data.ty).or(vector)
        };
        let outer = inst.op == Op::OuterProduct;
        let (Some(shape_a), Some(shape_b)) = (shape(&a, outer), shape(&b, !outer)) else {
            return Err(self.wrong_operands(inst));
        };
        let ((inner, rows, scalar), (columns, inner_b, scalar_b)) = (shape_a, shape_b);
        let wanted = shape(&Data { ty, parts: [].into() }, inst.op == Op::MatrixTimesVector);
        if inner != inner_b
            || scalar != scalar_b
            || !scalar.is_float()
            || wanted != Some((columns, rows, scalar))
        {
            return Err(self.wrong_operands(inst));
        }
        let mut parts = Vec::new();
        for column in 0..columns {
            for row in 0..rows {
                let left: Vec<_> = (0..inner).map(|k| a.parts[k * rows + row]).collect();
                let right = &b.parts[column * inner..(column + 1) * inner];
                parts.push(self.sum_of_products(scalar, &left, right));
            }
        }
        Ok(Data { ty, parts: parts.into() })
    }

    fn transpose(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, (columns, rows, matrix)) = (self.result_type(inst)?, self.matrix(inst, 2)?);
        let order = (0..rows).flat_map(|row| (0..columns).map(move |column| column * rows + row));
        let parts = order.map(|i| matrix.parts[i]).collect();
        match self.matrix_shape(ty) {
            Some((c, r, scalar))
                if (c, r) == (rows, columns) && Some(scalar) == self.matrix_scalar(&matrix) =>
            {
                Ok(Data { ty, parts })
            }
            _ => Err(self.malformed(inst, "the result has another type")),
        }
    }

    /// Determinant of a square matrix, by expansion along the first column.
    pub(super) fn determinant(&mut self, inst: &Instruction) -> Result<Data> {
        let (n, rows, matrix) = self.matrix(inst, 4)?;
        let (ty, scalar, n_result) = self.result_scalars(inst)?;
        if n != rows || n_result != 1 || self.matrix_scalar(&matrix) != Some(scalar) {
            return Err(self.wrong_operands(inst));
        }
        let part = self.minor(scalar, &matrix.parts, n, &all(n), &all(n));
        Ok(Data { ty, parts: [part].into() })
    }

    /// The adjugate divided by the determinant.
    pub(super) fn inverse(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, (n, rows, matrix)) = (self.result_type(inst)?, self.matrix(inst, 4)?);
        let scalar = self.matrix_scalar(&matrix).expect("a matrix has a scalar");
        if n != rows || !self.module.types.same(ty, matrix.ty) {
            return Err(self.wrong_operands(inst));
        }
        let mut cofactors = Vec::new();
        for column in 0..n {
            for row in 0..n {
                // Each element of the adjugate omits one row and one column.
                let (columns, rows) = (without(n, row), without(n, column));
                let minor = self.minor(scalar, &matrix.parts, n, &columns, &rows);
                let negated = (column + row) % 2 == 1;
                cofactors.push(if negated { self.builder.unary(Unary::FNeg, minor) } else { minor });
            }
        }
        let first_row: Vec<_> = (0..n).map(|column| matrix.parts[column * n]).collect();
        let determinant = self.sum_of_products(scalar, &first_row, &cofactors[..n]);
        let divide = |&cofactor: &lane::Value| {
            let quotient = self.builder.binary(Binary::FDiv, cofactor, determinant);
            self.fit(scalar, quotient)
        };
        Ok(Data { ty, parts: cofactors.iter().map(divide).collect() })
    }

    /// The determinant of some columns and as many rows of a matrix with `n` rows.
    fn minor(
        &mut self,
        scalar: Scalar,
        matrix: &[lane::Value],
        n: usize,
        columns: &[usize],
        rows: &[usize],
    ) -> lane::Value {
        let at = |column: usize, row: usize| matrix[column * n + row];
        match (columns, rows) {
            ([], _) | (_, []) => self.builder.float(lane_ty(scalar), 1.0),
            (&[column], &[row]) => at(column, row),
            (&[a, b], &[c, d]) => {
                let left = self.product(scalar, at(a, c), at(b, d));
                let right = self.product(scalar, at(b, c), at(a, d));
                self.difference(scalar, left, right)
            }
            (&[first, ref others @ ..], rows) => {
                let mut sum: Option<lane::Value> = None;
                for (i, &row) in rows.iter().enumerate() {
                    let rest: Vec<usize> = rows.iter().copied().filter(|&other| other != row).collect();
                    let minor = self.minor(scalar, matrix, n, others, &rest);
                    let term = self.product(scalar, at(first, row), minor);
                    sum = Some(match sum {
                        None => term,
                        Some(sum) if i % 2 == 1 => self.difference(scalar, sum, term),
                        Some(sum) => self.sum(scalar, sum, term),
                    });
                }
                sum.expect("there are rows")
            }
        }
    }
}

fn all(n: usize) -> Vec<usize> {
    (0..n).collect()
}

fn without(n: usize, left_out: usize) -> Vec<usize> {
    (0..n).filter(|&i| i != left_out).collect()
}
