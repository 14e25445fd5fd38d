//! Elements, rows and columns of matrices: reads, and replacement.
//!
//! As in NumPy, `m[row, column]` is an element, `m[row]` a row, `m[:, column]` a column. With an index out of
//! range at run time, a read yields 0 and a write is discarded. No other part of a matrix in memory is touched.

use kps_syntax::Span;
use kps_syntax::ast::{Expr, ExprKind};

use super::operand::Operand;
use crate::constant::Constant;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::places::gather_scatter::{ScatteredVector, TestedIndex};
use crate::ir::{CompareOp, NodeId, NodeKind, Place, Step, Touch};
use crate::types::Type;

/// The part of a matrix that an index selects.
pub(crate) enum MatrixIndex {
    Element { row: Step, column: Step },
    Row(Step),
    Column(Step),
}

impl MatrixIndex {
    pub fn part_type(&self, matrix: &Type) -> Option<Type> {
        let Type::Matrix { columns, rows, scalar } = *matrix else { return None };
        Some(match self {
            MatrixIndex::Element { .. } => scalar.into(),
            MatrixIndex::Row(_) => Type::Vector(columns, scalar),
            MatrixIndex::Column(_) => Type::Vector(rows, scalar),
        })
    }

    /// Index and length of each axis. For a whole row or column, those of its first number.
    pub fn axes(&self, matrix: &Type) -> Vec<(Step, u32)> {
        let Type::Matrix { columns, rows, .. } = *matrix else { return Vec::new() };
        let [row, column] = match *self {
            MatrixIndex::Element { row, column } => [row, column],
            MatrixIndex::Row(row) => [row, Step::Part(0)],
            MatrixIndex::Column(column) => [Step::Part(0), column],
        };
        vec![(row, rows.into()), (column, columns.into())]
    }
}

impl Ctx<'_> {
    /// `[row, column]`, `[row]`, `[:, column]`.
    pub fn matrix_index(&mut self, matrix: &Type, index: &Expr, name: Span) -> Option<MatrixIndex> {
        let Type::Matrix { columns, rows, .. } = *matrix else { return None };
        let is_whole =
            |expr: &Expr| matches!(expr.kind, ExprKind::Slice { lower: None, upper: None, step: None });
        let mut at = |expr: &Expr, len: u8, what: &str| {
            let operand = self.expr(expr);
            self.fixed_index(&operand, u32::from(len), expr.span, what)
        };
        const ROWS: &str = "matrix axis";
        const COLUMNS: &str = "matrix axis";
        match &index.kind {
            ExprKind::Tuple(items) => match &items[..] {
                [row, column] if is_whole(row) && !is_whole(column) => {
                    Some(MatrixIndex::Column(at(column, columns, COLUMNS)?))
                }
                [row, column] if is_whole(column) => Some(MatrixIndex::Row(at(row, rows, ROWS)?)),
                [row, column] => {
                    let row = at(row, rows, ROWS)?;
                    Some(MatrixIndex::Element { row, column: at(column, columns, COLUMNS)? })
                }
                items => {
                    let text = self.f.source.slice(name).to_owned();
                    self.error(errors::matrix_index_count(self.at(index.span), &text, items.len()));
                    None
                }
            },
            _ => Some(MatrixIndex::Row(at(index, rows, ROWS)?)),
        }
    }

    /// Reads `matrix[index]`. `name` is the span before the bracket.
    pub fn matrix_item(&mut self, matrix: NodeId, index: &Expr, (name, span): (Span, Span)) -> Operand {
        let ty = self.ty(matrix).clone();
        match self.matrix_index(&ty, index, name) {
            Some(at) => {
                self.report_matrix_part(&ty, &at, Touch::Read, (name, span));
                Operand::Node(self.matrix_part(matrix, &at, span))
            }
            None => Operand::Error,
        }
    }

    /// A part of a matrix in memory. `name` is the span before the bracket.
    pub fn matrix_place(&mut self, matrix: &Place, at: &MatrixIndex, spans: (Span, Span)) -> Operand {
        let (Some(column), Some(number)) = (matrix.ty.column(), matrix.ty.number()) else {
            return Operand::Error;
        };
        match *at {
            MatrixIndex::Element { row, column: at } => {
                Operand::Place(matrix.part(at, column).part(row, number.into()))
            }
            MatrixIndex::Column(at) => Operand::Place(matrix.part(at, column)),
            MatrixIndex::Row(row) => {
                let (row, inside) = self.tested_step(row, u32::from(column.n_components()), spans.1);
                let number_of = |at| matrix.part(Step::Part(at), column.clone()).part(row, number.into());
                let places = (0..matrix.ty.n_parts().unwrap_or(0)).map(number_of).collect();
                let tested = inside.map(|_| TestedIndex { axes: at.axes(&matrix.ty), places: spans });
                ScatteredVector { places, inside, tested: tested.into_iter().collect() }.into_operand()
            }
        }
    }

    pub fn matrix_part(&mut self, matrix: NodeId, at: &MatrixIndex, span: Span) -> NodeId {
        match at {
            MatrixIndex::Row(row) => self.row(matrix, row, span),
            MatrixIndex::Column(column) => self.column(matrix, column, span),
            MatrixIndex::Element { row, column } => {
                let column = self.column(matrix, column, span);
                self.component(column, row, span)
            }
        }
    }

    fn component(&mut self, vector: NodeId, at: &Step, span: Span) -> NodeId {
        let scalar = self.ty(vector).scalar().expect("columns are vectors");
        let kind = match *at {
            Step::Part(at) => NodeKind::Extract(vector, at),
            Step::At(index) => NodeKind::ExtractAt { whole: vector, index },
        };
        self.node(kind, scalar, span)
    }

    pub fn row(&mut self, matrix: NodeId, at: &Step, span: Span) -> NodeId {
        let columns = self.columns(matrix, span);
        let parts: Vec<NodeId> = columns.into_iter().map(|column| self.component(column, at, span)).collect();
        let scalar = self.ty(parts[0]).scalar().expect("components are scalars");
        let ty = Type::Vector(parts.len() as u8, scalar);
        self.node(NodeKind::Construct(parts), ty, span)
    }

    /// A column. With a run-time index out of range, it is 0.
    fn column(&mut self, matrix: NodeId, at: &Step, span: Span) -> NodeId {
        let columns = self.columns(matrix, span);
        match *at {
            Step::Part(at) => columns[at as usize],
            Step::At(index) => {
                let ty = self.ty(columns[0]).clone();
                let zero = self.constant(Constant::zero(ty.scalar().expect("columns are vectors")), span);
                let mut selected = self.splat_to(zero, &ty, span);
                for (at, column) in columns.into_iter().enumerate() {
                    selected = self.where_index(index, at, (column, selected), span);
                }
                selected
            }
        }
    }

    /// The first of two if `index` is `at`, else the second.
    pub fn where_index(
        &mut self,
        index: NodeId,
        at: usize,
        (then, orelse): (NodeId, NodeId),
        span: Span,
    ) -> NodeId {
        let scalar = self.ty(index).scalar().expect("indices are ints");
        let at = self.constant(Constant::int(scalar, at as i128), span);
        let condition = self.node(NodeKind::Compare(CompareOp::Equal, index, at), Type::BOOL, span);
        let ty = self.ty(then).clone();
        self.node(NodeKind::Select { condition, then, orelse }, ty, span)
    }

    /// The matrix with one part replaced. An index out of range changes nothing.
    pub fn with_matrix_part(
        &mut self,
        matrix: NodeId,
        at: &MatrixIndex,
        value: NodeId,
        span: Span,
    ) -> NodeId {
        let columns = self.columns(matrix, span);
        let replaced = columns.into_iter().enumerate().map(|(n, column)| match at {
            MatrixIndex::Row(row) => {
                let scalar = self.ty(value).scalar().expect("rows are vectors");
                let part = self.node(NodeKind::Extract(value, n as u32), scalar, span);
                self.with_component(column, row, part, span)
            }
            MatrixIndex::Column(at) => self.where_column(at, n, (value, column), span),
            MatrixIndex::Element { row, column: at } => {
                let changed = match at {
                    Step::Part(known) if *known as usize != n => column,
                    _ => self.with_component(column, row, value, span),
                };
                self.where_column(at, n, (changed, column), span)
            }
        });
        let replaced = replaced.collect();
        self.matrix_of(replaced, span)
    }

    fn where_column(&mut self, at: &Step, n: usize, (then, orelse): (NodeId, NodeId), span: Span) -> NodeId {
        match *at {
            Step::Part(at) if at as usize == n => then,
            Step::Part(_) => orelse,
            Step::At(index) => self.where_index(index, n, (then, orelse), span),
        }
    }

    fn with_component(&mut self, vector: NodeId, at: &Step, value: NodeId, span: Span) -> NodeId {
        let ty = self.ty(vector).clone();
        let kind = match *at {
            Step::Part(component) => NodeKind::Insert { whole: vector, value, part: component },
            Step::At(index) => NodeKind::InsertAt { whole: vector, value, index },
        };
        self.node(kind, ty, span)
    }
}
