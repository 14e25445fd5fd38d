//! Matrices: construction from columns, elements, products.
//!
//! All operations work on vectors, column by column. So every device adds in the same order: `A @ v` is the sum
//! of A's columns times v's components, from first to last.

use kps_syntax::Span;
use kps_syntax::ast::BinaryOp as AstBinaryOp;

use super::arith::Sides;
use super::operand::Operand;
use crate::builtins::Gives;
use crate::constant::Constant;
use crate::errors::{self, Found};
use crate::infer::Ctx;
use crate::infer::builtin_calls::BuiltinCall;
use crate::ir::{BinaryOp, MathFn, NodeId, NodeKind, Step};
use crate::signature::Form;
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    pub fn is_matrix(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Node(node) if self.ty(*node).is_matrix())
    }

    /// The columns of a matrix, each a vector.
    pub fn columns(&mut self, matrix: NodeId, span: Span) -> Vec<NodeId> {
        let ty = self.ty(matrix).clone();
        let Type::Matrix { columns, .. } = ty else { return Vec::new() };
        let column = ty.column().expect("a matrix has columns");
        (0..u32::from(columns))
            .map(|at| self.node(NodeKind::Extract(matrix, at), column.clone(), span))
            .collect()
    }

    pub fn matrix_of(&mut self, columns: Vec<NodeId>, span: Span) -> NodeId {
        let (rows, scalar) = match self.ty(columns[0]) {
            Type::Vector(rows, scalar) => (*rows, *scalar),
            _ => unreachable!("columns are vectors"),
        };
        let ty = Type::Matrix { columns: columns.len() as u8, rows, scalar };
        self.node(NodeKind::Construct(columns), ty, span)
    }

    /// A matrix from its numbers, row by row.
    pub fn matrix_of_rows(&mut self, numbers: &[NodeId], columns: u8, span: Span) -> NodeId {
        let scalar = self.ty(numbers[0]).scalar().expect("numbers are scalars");
        let columns = usize::from(columns);
        let column = |at: usize| numbers.iter().skip(at).step_by(columns).copied().collect::<Vec<_>>();
        let columns = (0..columns).map(column).map(|parts| {
            let ty = Type::of(parts.len() as u8, scalar);
            self.node(NodeKind::Construct(parts), ty, span)
        });
        let columns = columns.collect();
        self.matrix_of(columns, span)
    }

    fn components(&mut self, vector: NodeId, span: Span) -> Vec<NodeId> {
        let ty = self.ty(vector).clone();
        let scalar = ty.scalar().expect("a vector has one");
        (0..u32::from(ty.n_components()))
            .map(|at| self.node(NodeKind::Extract(vector, at), scalar, span))
            .collect()
    }

    // Construction.

    /// From columns, from numbers column by column, from one number for the diagonal, or from a matrix of
    /// another scalar type.
    pub fn matrix_cast(
        &mut self,
        (columns, rows, scalar): (u8, u8, Scalar),
        args: &[(Operand, Span)],
        span: Span,
    ) -> Operand {
        let ty = Type::Matrix { columns, rows, scalar };
        let n_numbers = usize::from(columns) * usize::from(rows);
        if let [(Operand::Node(node), _)] = args
            && let Type::Matrix { columns: given_columns, rows: given_rows, .. } = *self.ty(*node)
        {
            if (given_columns, given_rows) != (columns, rows) {
                let what = Found::Value(self.ty(*node).clone());
                return self.fail(errors::cast_type(self.at(span), &what, &ty, &ty));
            }
            return Operand::Node(self.matrix_as(*node, scalar, span));
        }
        let columns = match args.len() {
            0 => self.diagonal(&ty, Constant::zero(scalar), span),
            1 => {
                let number = self.cast_scalar(&args[0].0, scalar, (&ty, args[0].1));
                number.map(|number| self.diagonal_of(&ty, number, span))
            }
            n if n == usize::from(columns) => self.given_columns(&ty, args),
            n if n == n_numbers => self.given_numbers(&ty, args, span),
            n => return self.fail(errors::matrix_parts(self.at(span), &ty, n)),
        };
        match columns {
            Some(columns) => Operand::Node(self.matrix_of(columns, span)),
            None => Operand::Error,
        }
    }

    fn diagonal(&mut self, ty: &Type, constant: Constant, span: Span) -> Option<Vec<NodeId>> {
        let number = self.constant(constant, span);
        Some(self.diagonal_of(ty, number, span))
    }

    fn diagonal_of(&mut self, ty: &Type, number: NodeId, span: Span) -> Vec<NodeId> {
        let Type::Matrix { columns, rows, scalar } = *ty else { return Vec::new() };
        let zero = self.constant(Constant::zero(scalar), span);
        (0..columns)
            .map(|column| {
                let parts = (0..rows).map(|row| if row == column { number } else { zero }).collect();
                self.node(NodeKind::Construct(parts), Type::Vector(rows, scalar), span)
            })
            .collect()
    }

    fn given_columns(&mut self, ty: &Type, args: &[(Operand, Span)]) -> Option<Vec<NodeId>> {
        let (column, scalar) = (ty.column()?, ty.number()?);
        let columns = args.iter().map(|(operand, at)| match operand {
            Operand::Node(node) if self.ty(*node).n_components() == column.n_components() => {
                Some(self.convert(*node, scalar, *at))
            }
            operand => {
                let what = self.describe(operand);
                self.error(errors::matrix_column(self.at(*at), &column, &what));
                None
            }
        });
        columns.collect::<Vec<_>>().into_iter().collect()
    }

    fn given_numbers(&mut self, ty: &Type, args: &[(Operand, Span)], span: Span) -> Option<Vec<NodeId>> {
        let (column, scalar) = (ty.column()?, ty.number()?);
        let numbers: Vec<_> =
            args.iter().map(|(operand, at)| self.cast_scalar(operand, scalar, (ty, *at))).collect();
        let numbers: Vec<NodeId> = numbers.into_iter().collect::<Option<_>>()?;
        let columns = numbers.chunks(usize::from(column.n_components()));
        Some(
            columns
                .map(|parts| self.node(NodeKind::Construct(parts.to_vec()), column.clone(), span))
                .collect(),
        )
    }

    /// The matrix with another scalar type.
    pub fn matrix_as(&mut self, matrix: NodeId, scalar: Scalar, span: Span) -> NodeId {
        if self.ty(matrix).number() == Some(scalar) {
            return matrix;
        }
        let columns = self.columns(matrix, span);
        let columns = columns.into_iter().map(|column| self.convert(column, scalar, span)).collect();
        self.matrix_of(columns, span)
    }

    // Operators.

    pub fn matrix_binary(&mut self, op: AstBinaryOp, sides: Sides) -> Operand {
        let Sides { left, right, op_span, spans } = sides;
        let span = spans.0.to(spans.1);
        let n_errors = self.f.diagnostics.len();
        let result = match op {
            AstBinaryOp::MatMul => return self.matrix_product(op, sides),
            AstBinaryOp::Add => self.by_columns(BinaryOp::Add, left, right, span),
            AstBinaryOp::Sub => self.by_columns(BinaryOp::Sub, left, right, span),
            AstBinaryOp::Mul if self.is_scalar(left) => {
                self.scaled(BinaryOp::Mul, (right, spans.1), (left, spans.0), span)
            }
            AstBinaryOp::Mul if self.is_scalar(right) => {
                self.scaled(BinaryOp::Mul, (left, spans.0), (right, spans.1), span)
            }
            AstBinaryOp::Div if self.is_scalar(right) => {
                self.scaled(BinaryOp::Div, (left, spans.0), (right, spans.1), span)
            }
            // In PyShader, `*` is the matrix product.
            AstBinaryOp::Mul if self.template.options.form == Form::Python2Shader => {
                return self.matrix_product(op, sides);
            }
            AstBinaryOp::Mul if self.value_type(left).is_some() && self.value_type(right).is_some() => {
                let (a, b) = (self.describe(left), self.describe(right));
                return self.fail(errors::matrix_times(
                    self.at(op_span),
                    (self.at(spans.0), &a),
                    (self.at(spans.1), &b),
                ));
            }
            _ => None,
        };
        match result {
            Some(node) => Operand::Node(node),
            None => self.mismatch(op.symbol(), sides, n_errors),
        }
    }

    fn is_scalar(&self, operand: &Operand) -> bool {
        matches!(self.value_type(operand), Some(Type::Scalar(scalar)) if scalar != Scalar::Bool)
    }

    /// `+` and `-` of two matrices of one size.
    fn by_columns(&mut self, op: BinaryOp, left: &Operand, right: &Operand, span: Span) -> Option<NodeId> {
        let (Operand::Node(left), Operand::Node(right)) = (left, right) else { return None };
        let (Type::Matrix { columns, rows, .. }, Type::Matrix { columns: columns_b, rows: rows_b, .. }) =
            (self.ty(*left), self.ty(*right))
        else {
            return None;
        };
        if (columns, rows) != (columns_b, rows_b) {
            return None;
        }
        let scalar = self.wider(*left, *right)?;
        let (left, right) = (self.matrix_as(*left, scalar, span), self.matrix_as(*right, scalar, span));
        let ty = self.ty(left).column()?;
        let pairs = self.columns(left, span).into_iter().zip(self.columns(right, span));
        let columns = pairs.map(|(a, b)| self.node(NodeKind::Binary(op, a, b), ty.clone(), span)).collect();
        Some(self.matrix_of(columns, span))
    }

    /// The scalar type to which the numbers of both widen.
    fn wider(&self, left: NodeId, right: NodeId) -> Option<Scalar> {
        let (a, b) = (self.ty(left).number()?, self.ty(right).number()?);
        if a.widens_to(b) { Some(b) } else { b.widens_to(a).then_some(a) }
    }

    /// Every number of a matrix times a scalar, or divided by one.
    fn scaled(
        &mut self,
        op: BinaryOp,
        (matrix, matrix_span): (&Operand, Span),
        (factor, factor_span): (&Operand, Span),
        span: Span,
    ) -> Option<NodeId> {
        let Operand::Node(matrix) = matrix else { return None };
        let columns = self.columns(*matrix, matrix_span);
        let scaled = columns.into_iter().map(|column| {
            let (ty, column, factor) =
                self.common(&Operand::Node(column), factor, (matrix_span, factor_span), false)?;
            Some(self.node(NodeKind::Binary(op, column, factor), ty, span))
        });
        let scaled: Vec<Option<NodeId>> = scaled.collect();
        let scaled: Vec<NodeId> = scaled.into_iter().collect::<Option<_>>()?;
        Some(self.matrix_of(scaled, span))
    }

    /// The product of a matrix with a matrix or a vector.
    fn matrix_product(&mut self, op: AstBinaryOp, sides: Sides) -> Operand {
        let Sides { left, right, op_span, spans } = sides;
        let n_errors = self.f.diagnostics.len();
        let span = spans.0.to(spans.1);
        let (Operand::Node(a), Operand::Node(b)) = (left, right) else {
            return self.mismatch(op.symbol(), sides, n_errors);
        };
        let Some(scalar) = self.wider(*a, *b) else {
            return self.mismatch(op.symbol(), sides, n_errors);
        };
        let size = |ty: &Type| match *ty {
            Type::Matrix { columns, rows, .. } => Some((rows, columns)),
            Type::Vector(n, _) => Some((n, 1)),
            _ => None,
        };
        let (size_a, size_b) = (size(self.ty(*a)), size(self.ty(*b)));
        let inner = if self.ty(*a).is_vector() { size_a.map(|(n, _)| n) } else { size_a.map(|(_, n)| n) };
        let (Some(inner), Some((rows_b, _))) = (inner, size_b) else {
            return self.mismatch(op.symbol(), sides, n_errors);
        };
        if inner != rows_b {
            let (a, b) = (self.describe(left), self.describe(right));
            return self.fail(errors::matrix_sizes(
                self.at(op_span),
                op.symbol(),
                (self.at(spans.0), &a),
                (self.at(spans.1), &b),
            ));
        }
        let (a, b) = (self.numbers_as(*a, scalar, span), self.numbers_as(*b, scalar, span));
        Operand::Node(match (self.ty(a).is_matrix(), self.ty(b).is_matrix()) {
            (true, true) => {
                let columns = self.columns(a, span);
                let vectors = self.columns(b, span);
                let product =
                    vectors.into_iter().map(|vector| self.combine(&columns, vector, span)).collect();
                self.matrix_of(product, span)
            }
            (true, false) => {
                let columns = self.columns(a, span);
                self.combine(&columns, b, span)
            }
            // A row times a matrix: its dot product with each column.
            _ => {
                let rows = self.transposed_columns(b, span);
                self.combine(&rows, a, span)
            }
        })
    }

    fn numbers_as(&mut self, node: NodeId, scalar: Scalar, span: Span) -> NodeId {
        match self.ty(node).is_matrix() {
            true => self.matrix_as(node, scalar, span),
            false => self.convert(node, scalar, span),
        }
    }

    /// The sum of columns, each times a component of `vector`.
    fn combine(&mut self, columns: &[NodeId], vector: NodeId, span: Span) -> NodeId {
        let ty = self.ty(columns[0]).clone();
        let factors = self.components(vector, span);
        let mut sum: Option<NodeId> = None;
        for (column, factor) in columns.iter().zip(factors) {
            let factor = self.splat_to(factor, &ty, span);
            let term = self.node(NodeKind::Binary(BinaryOp::Mul, *column, factor), ty.clone(), span);
            sum = Some(match sum {
                None => term,
                Some(sum) => self.node(NodeKind::Binary(BinaryOp::Add, sum, term), ty.clone(), span),
            });
        }
        sum.expect("a matrix has columns")
    }

    // Functions.

    pub fn transpose_call(&mut self, call: &BuiltinCall) -> Operand {
        let Operand::Node(matrix) = call.args[0].0 else { return Operand::Error };
        Operand::Node(self.transpose(matrix, call.span))
    }

    /// A function of square matrices, with a matrix or a number as its result.
    pub fn square_call(&mut self, call: &BuiltinCall, function: &'static MathFn) -> Operand {
        let (Operand::Node(matrix), at) = call.args[0] else { return Operand::Error };
        let ty = self.ty(matrix).clone();
        match ty {
            Type::Matrix { columns, rows, .. } if columns != rows => {
                self.fail(errors::matrix_not_square(self.at(at), call.name, &ty))
            }
            Type::Matrix { scalar, .. } if call.function.result == Gives::Scalar => {
                Operand::Node(self.node(NodeKind::Math(function, vec![matrix]), scalar, call.span))
            }
            _ => Operand::Node(self.node(NodeKind::Math(function, vec![matrix]), ty, call.span)),
        }
    }

    pub fn transpose(&mut self, matrix: NodeId, span: Span) -> NodeId {
        let rows = self.transposed_columns(matrix, span);
        self.matrix_of(rows, span)
    }

    /// The rows, each a vector.
    fn transposed_columns(&mut self, matrix: NodeId, span: Span) -> Vec<NodeId> {
        let Type::Matrix { rows, .. } = *self.ty(matrix) else { return Vec::new() };
        (0..u32::from(rows)).map(|row| self.row(matrix, &Step::Part(row), span)).collect()
    }
}
