//! Arrays with several axes: elements by one index for each axis, rows, lengths of axes.
//!
//! The last axis is contiguous. An access has an index for each axis, of any int type, and `passes/flatten.rs` computes
//! the number of the element from them. That number is tested, not the index along each axis. So an index that is out
//! of range only along its axis reaches a neighbouring row. A negative constant counts from the end.

use std::rc::Rc;

use kps_syntax::ast::{Expr, ExprKind, Ident};
use kps_syntax::{Span, suggest};

use crate::builtins::VIEW;
use crate::constant::Literal;
use crate::errors::{self, Found};
use crate::infer::Ctx;
use crate::infer::control::sequences::Spanned;
use crate::infer::expressions::operand::{Operand, Row};
use crate::ir::{BinaryOp, Buffer, BufferId, ElementIndex, NodeId, NodeKind};
use crate::signature::{ArrayParam, Width};
use crate::types::{Scalar, Type};

/// The result of a subscript.
pub(crate) enum Indexed {
    Element(BufferId, ElementIndex),
    Row(Row),
}

impl Ctx<'_> {
    pub fn buffer_array(&self, buffer: BufferId) -> ArrayParam {
        let Buffer { element, rank, reach, bytes, .. } = self.array(buffer).clone();
        ArrayParam { element, rank, reach, counts: self.counts_of(buffer), bytes }
    }

    pub fn row_array(&self, row: &Row) -> ArrayParam {
        self.rows_array(row.buffer, row.axis())
    }

    /// The type of the rest of an array after this many axes are indexed.
    pub fn rows_array(&self, buffer: BufferId, axis: u8) -> ArrayParam {
        let array = self.buffer_array(buffer);
        ArrayParam { rank: array.rank - axis, ..array }
    }

    /// The buffer of an array operand, and its number of indexed axes.
    pub fn array_place(&self, array: &Operand) -> (BufferId, u8) {
        match array {
            Operand::Buffer(buffer) => (*buffer, 0),
            Operand::Row(row) => (row.buffer, row.axis()),
            _ => unreachable!("the caller matched a buffer or a row"),
        }
    }

    /// `A[i]`, `A[i, j]`. `None` after a mistake.
    pub fn array_element(&mut self, array: &Operand, index: &Expr) -> Option<Indexed> {
        let (buffer, first) = self.array_place(array);
        let rank = self.array(buffer).rank;
        let indices = self.indices_of(index);
        if indices.is_empty() {
            self.error(errors::no_index(self.at(index.span)));
            return None;
        }
        let nodes: Vec<Option<NodeId>> = indices
            .iter()
            .zip(first..rank)
            .map(|((index, at), axis)| self.axis_index(buffer, axis, index, *at))
            .collect();
        if indices.len() > usize::from(rank - first) {
            let name = self.array_name(buffer).clone();
            let array = ArrayParam { rank: rank - first, ..self.buffer_array(buffer) };
            self.error(errors::too_many_indices(self.at(index.span), &name, &array, indices.len()));
            return None;
        }
        let nodes: Vec<NodeId> = nodes.into_iter().collect::<Option<_>>()?;
        Some(self.indexed(array, &nodes))
    }

    /// The element or the row of an array at these indices along its first axes.
    fn indexed(&self, array: &Operand, indices: &[NodeId]) -> Indexed {
        let (buffer, _) = self.array_place(array);
        let rank = usize::from(self.array(buffer).rank);
        if let ([index], 1) = (indices, rank) {
            return Indexed::Element(buffer, (*index).into());
        }
        let before = match array {
            Operand::Row(row) => &row.indices[..],
            _ => &[],
        };
        let all: Rc<[NodeId]> = before.iter().chain(indices).copied().collect();
        match all.len() == rank {
            true => Indexed::Element(buffer, ElementIndex::new(&*all)),
            false => Indexed::Row(Row { buffer, indices: all }),
        }
    }

    /// An index for each axis: the items between the brackets, or the items of a tuple there.
    pub fn indices_of(&mut self, index: &Expr) -> Vec<Spanned> {
        if let ExprKind::Tuple(items) = &index.kind {
            return items.iter().map(|item| (self.expr(item), item.span)).collect();
        }
        match self.expr(index) {
            Operand::Tuple(items) => {
                let wrong = self.no_indices_of(&items);
                if wrong.is_empty() {
                    return items.iter().map(|item| (item.clone(), index.span)).collect();
                }
                let text = self.f.source.slice(index.span);
                self.error(errors::index_item(self.at(index.span), text, items.len(), &wrong));
                items.iter().map(|_| (Operand::Error, index.span)).collect()
            }
            operand => vec![(operand, index.span)],
        }
    }

    /// The items that are not ints, with their positions and descriptions.
    fn no_indices_of(&self, items: &[Operand]) -> Vec<(usize, Found)> {
        let is_index = |item: &Operand| match item {
            Operand::Node(node) => matches!(self.ty(*node), Type::Scalar(scalar) if scalar.is_int()),
            Operand::Literal(Literal::Int(_)) | Operand::Error => true,
            _ => false,
        };
        let wrong = items.iter().enumerate().filter(|(_, item)| !is_index(item));
        wrong.map(|(at, item)| (at, self.describe(item))).collect()
    }

    /// The same where only an element is valid.
    pub fn one_element(
        &mut self,
        array: &Operand,
        at: Span,
        index: &Expr,
    ) -> Option<(BufferId, ElementIndex)> {
        match self.array_element(array, index)? {
            Indexed::Element(buffer, index) => Some((buffer, index)),
            Indexed::Row(row) => {
                let n_missing = self.row_array(&row).rank;
                let text = self.f.source.slice(at).to_owned();
                self.error(errors::element_wanted(self.at(index.span), &text, n_missing));
                None
            }
        }
    }

    /// One index of an array. A negative constant counts from the end of its axis.
    fn axis_index(&mut self, buffer: BufferId, axis: u8, operand: &Operand, span: Span) -> Option<NodeId> {
        if let Operand::Node(node) = *operand
            && let Type::Vector(n @ 2..=3, scalar) = *self.ty(node)
            && scalar.is_int()
            && self.array(buffer).rank == n
        {
            let (array, text) = (self.array_name(buffer), self.f.source.slice(span));
            let what = self.describe(operand);
            self.error(errors::vector_index(self.at(span), array, text, &what));
            return None;
        }
        let counts = self.counts_of(buffer);
        match self.known_int(operand) {
            Some(value) if value < 0 || counts == Width::Wide => {
                let Some(constant) = Literal::Int(value).fit(counts.signed()) else {
                    let error =
                        errors::literal_does_not_fit(self.at(span), Literal::Int(value), counts.signed());
                    self.error(error);
                    return None;
                };
                let offset = self.constant(constant, span);
                if value >= 0 {
                    return Some(offset);
                }
                let len = self.axis_len(buffer, axis, span);
                Some(self.index_math(BinaryOp::Add, len, offset, span))
            }
            _ => self.index_node(operand, span),
        }
    }

    /// The element, loaded, or the row at index `at` of an array's first axis.
    pub fn first_axis_at(&mut self, array: &Operand, at: NodeId, span: Span) -> Operand {
        let (buffer, _) = self.array_place(array);
        let at = match self.array(buffer).rank {
            1 => at,
            // The number of an element is signed, and its test may omit a signed last index (`passes/flatten.rs`).
            _ => self.convert(at, self.counts_of(buffer).signed(), span),
        };
        match self.indexed(array, &[at]) {
            Indexed::Row(row) => Operand::Row(row),
            Indexed::Element(buffer, index) => self.load_place(&self.buffer_place(buffer, index), span),
        }
    }

    /// A row whose indices all have one type, so that rows with indices of different types can join in one variable.
    pub fn row_to_join(&mut self, row: &Row, span: Span) -> Row {
        let is_wide = self.counts_of(row.buffer) == Width::Wide
            || row.indices.iter().any(|index| self.f.func.is_wide(*index));
        let scalar = if is_wide { Scalar::I64 } else { Scalar::I32 };
        let indices = row.indices.iter().map(|index| self.convert(*index, scalar, span)).collect();
        Row { indices, ..*row }
    }

    pub fn axis_len(&mut self, buffer: BufferId, axis: u8, span: Span) -> NodeId {
        let kind = match self.array(buffer).rank {
            1 => NodeKind::BufferLen(buffer),
            _ => NodeKind::BufferAxis { buffer, axis },
        };
        self.node(kind, self.counts_of(buffer).signed(), span)
    }

    /// Arithmetic of sizes and of indices of any int types. Nothing reports that it wraps.
    fn index_math(&mut self, op: BinaryOp, a: NodeId, b: NodeId, span: Span) -> NodeId {
        let bits = |node: NodeId| self.ty(node).scalar().map_or(0, Scalar::bits);
        let scalar = if bits(a).max(bits(b)) > 32 { Scalar::I64 } else { Scalar::I32 };
        let (a, b) = (self.convert(a, scalar, span), self.convert(b, scalar, span));
        self.walk_unreported(|ctx| ctx.node(NodeKind::Binary(op, a, b), scalar, span))
    }

    pub fn array_len(&mut self, array: &Operand, span: Span) -> Operand {
        let (buffer, axis) = self.array_place(array);
        Operand::Node(self.axis_len(buffer, axis, span))
    }

    /// `.shape`, a tuple. `.size`, the number of elements. `.ndim`, a constant.
    pub fn array_attribute(&mut self, array: &Operand, attr: &Ident, span: Span) -> Operand {
        let (buffer, first) = self.array_place(array);
        let rank = self.array(buffer).rank;
        match &*attr.name {
            "shape" => {
                let axes = (first..rank).map(|axis| Operand::Node(self.axis_len(buffer, axis, span)));
                Operand::Tuple(axes.collect::<Rc<[Operand]>>())
            }
            "size" if first == 0 => {
                let counts = self.counts_of(buffer);
                Operand::Node(self.node(NodeKind::BufferLen(buffer), counts.signed(), span))
            }
            "size" => {
                let mut size = self.axis_len(buffer, first, span);
                for axis in first + 1..rank {
                    let len = self.axis_len(buffer, axis, span);
                    size = self.index_math(BinaryOp::Mul, size, len, span);
                }
                Operand::Node(size)
            }
            "ndim" => Operand::int(i128::from(rank - first)),
            name => {
                let what = self.describe(array);
                let known = ArrayParam::ATTRIBUTES.into_iter().chain([VIEW]);
                let nearest = suggest::nearest(name, known);
                let error = errors::no_array_attribute(self.at(attr.span), name, &what, nearest);
                self.fail(error)
            }
        }
    }
}

pub(in crate::infer) fn is_array_attribute(name: &str) -> bool {
    ArrayParam::ATTRIBUTES.contains(&name)
}

/// [`Ctx::array_attribute`] for an array whose axes are known from its type.
pub(in crate::infer) fn fixed_attribute(ty: &Type, name: &str) -> Operand {
    let mut lens = Vec::new();
    let mut inner = ty;
    while let Type::Array(array) = inner {
        lens.push(i128::from(array.len));
        inner = &array.element;
    }
    match name {
        "shape" => Operand::Tuple(lens.into_iter().map(Operand::int).collect()),
        "size" => Operand::int(lens.iter().product()),
        _ => Operand::int(lens.len() as i128),
    }
}
