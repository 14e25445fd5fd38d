//! Cooperative matrices: `coop_matrix(f16, 16, 16, "a")`, loaded, multiplied and stored by a subgroup.
//!
//! A matrix is inferred as a list of its rows, of a type that knows what the matrix is for. Each operation is one
//! statement ([`CoopOp`]), which a pass expands into instructions or into functions on the rows of every invocation
//! (`passes/legalise/matrices`). The rules of the instructions hold for both: the use of a matrix, matching shapes, and
//! that a whole workgroup reaches each operation together. `math.rs` has the operators.

mod instructions;
pub(super) mod math;

use kps_syntax::Span;
use kps_syntax::ast::{Argument, ArgumentKind, Expr, ExprKind};

use crate::aliases::Writer;
use crate::builtins::{count_in_words, line};
use crate::constant::Constant;
use crate::errors::{self, CallWithoutRow};
use crate::infer::Ctx;
use crate::infer::builtin_calls::{BuiltinCall, TreeCall};
use crate::infer::calls::argument_passing::ListArg;
use crate::infer::control::sequences::Spanned;
use crate::infer::expressions::operand::{Operand, Row, Static};
use crate::infer::places::assignments::MATRIX;
use crate::ir::{
    Array, CoopArray, CoopKind, CoopLines, CoopMatrix, CoopOp, NodeId, Place, Root, Stmt, Together,
};
use crate::matrices::{CoopShape, CoopType, CoopUse};
use crate::types::{Scalar, Type};

/// The maximum number of rows and columns of a matrix.
const MAX_SIDE: i128 = 64;

/// A matrix as an argument.
pub(super) struct Coop {
    pub matrix: CoopMatrix,
    pub shape: CoopShape,
}

impl Coop {
    fn as_list(&self, is_written: bool) -> ListArg {
        let CoopMatrix { place, span } = self.matrix.clone();
        ListArg { place, is_written, at: span }
    }
}

impl Ctx<'_> {
    pub fn coop_load(&mut self, call: &BuiltinCall) -> Operand {
        self.coop_loaded(call).unwrap_or(Operand::Error)
    }

    pub fn coop_store(&mut self, call: &BuiltinCall) -> Operand {
        self.coop_stored(call).unwrap_or(Operand::Error)
    }

    /// Every operation must be reached by the whole workgroup.
    fn require_convergence(&mut self, span: Span) {
        self.f.block.push(Stmt::Together(Together::CoopMatrix, span));
    }

    /// Whether a matrix is stored by row or by column, from `column_major`. `None` after a mistake.
    fn coop_lines(&mut self, column_major: Option<&(Operand, Span)>) -> Option<CoopLines> {
        let Some((value, span)) = column_major else { return Some(CoopLines::Rows) };
        let span = *span;
        let known = match value {
            Operand::Node(node) => self.f.func.constant(*node),
            _ => None,
        };
        match known.filter(|known| known.scalar() == Scalar::Bool) {
            Some(known) if known == Constant::bool(true) => Some(CoopLines::Columns),
            Some(_) => Some(CoopLines::Rows),
            None => {
                if !value.has_error() {
                    let text = self.f.source.slice(span);
                    self.error(errors::coop_lines(self.at(span), text));
                }
                None
            }
        }
    }

    fn coop_op(&mut self, kind: CoopKind, matrix: CoopMatrix, span: Span) {
        self.f.block.push(Stmt::Coop(Box::new(CoopOp { kind, matrix, span })));
    }

    /// An operation on a matrix that it makes, or that it is all about.
    fn coop_op_on(&mut self, place: &Place, kind: CoopKind, span: Span) {
        self.coop_op(kind, CoopMatrix { place: place.clone(), span }, span);
    }

    /// An operation that takes these lists, in the order of its arguments. It reads and writes them as a function does.
    fn coop_call(&mut self, kind: CoopKind, coop: &Coop, lists: &[ListArg], span: Span) -> Operand {
        self.overlapping_list_args(lists);
        self.coop_op(kind, coop.matrix.clone(), span);
        for list in lists.iter().filter(|list| list.is_written) {
            self.record_written(&list.place, list.at, Writer::Call(span));
        }
        Operand::Static(Static::None)
    }

    /// A matrix of zeros.
    pub fn coop_matrix(&mut self, call: &TreeCall) -> Operand {
        let TreeCall { function, name, args, span } = *call;
        let exprs: Vec<&Expr> = args.iter().filter_map(positional).collect();
        let [element, rows, columns, purpose] = exprs[..] else {
            let given: Vec<&str> = exprs.iter().map(|expr| self.f.source.slice(expr.span)).collect();
            let line = line(function.params, name, &given);
            let wanted = count_in_words(function.params);
            let error = errors::argument_count_range(self.at(span), name, &wanted, args.len(), &line);
            return self.fail(error);
        };
        let scalar = match self.expr(element) {
            Operand::Error => return Operand::Error,
            Operand::Static(Static::Type(Type::Scalar(scalar))) if scalar != Scalar::Bool => scalar,
            _ => {
                let text = self.f.source.slice(element.span);
                return self.fail(errors::coop_element(self.at(element.span), text));
            }
        };
        let (Some(rows), Some(columns)) = (self.coop_side(rows), self.coop_side(columns)) else {
            return Operand::Error;
        };
        let named = match &purpose.kind {
            ExprKind::Str(name) => CoopUse::named(name),
            _ => None,
        };
        let Some(named) = named else {
            let text = self.f.source.slice(purpose.span);
            return self.fail(errors::coop_use(self.at(purpose.span), text));
        };
        let coop = CoopType { scalar, rows, columns, purpose: named };
        let matrix = self.new_matrix(Type::coop_rows(coop), Some(named), span);
        self.coop_op_on(&matrix, CoopKind::Zero, span);
        Operand::Place(matrix)
    }

    /// Notes a use of a part of a matrix, which no instruction accesses.
    pub fn note_matrix_part(&mut self, place: &Place, span: Span) {
        if place.ty.coop().is_some() {
            self.coop_op_on(place, CoopKind::Part, span);
        }
    }

    /// A place for a matrix.
    pub(super) fn new_matrix(&mut self, ty: Type, purpose: Option<CoopUse>, span: Span) -> Place {
        let local = self.new_local(MATRIX, ty.clone(), span);
        if let Some(purpose) = purpose {
            self.f.coops.insert(local, purpose);
            self.coop_types.insert(ty.with_plain_rows());
        }
        Place::local(local, ty)
    }

    fn coop_side(&mut self, side: &Expr) -> Option<u32> {
        let operand = self.expr(side);
        let known = self.known_int(&operand).filter(|side| (1..=MAX_SIDE).contains(side));
        if known.is_none() && !operand.has_error() {
            self.error(errors::coop_shape(self.at(side.span), self.f.source.slice(side.span)));
        }
        known.map(|side| side as u32)
    }

    /// A matrix as an argument. `None` after a mistake.
    pub(super) fn coop(&mut self, name: &str, (operand, at): &Spanned) -> Option<Coop> {
        if let Operand::Place(place) = operand
            && let Some(shape) = self.coop_shape(place)
        {
            return Some(Coop { matrix: CoopMatrix { place: place.clone(), span: *at }, shape });
        }
        let what = self.describe(operand);
        self.error(errors::coop_wanted(self.at(*at), name, &what));
        None
    }

    /// Whether this is the type of a matrix, or of a list of rows like those of one.
    pub fn is_coop_type(&self, ty: &Type) -> bool {
        ty.coop().is_some() || self.coop_types.contains(ty)
    }

    /// Whether a list may be a row of a matrix.
    pub fn is_coop_row(&self, ty: &Type) -> bool {
        matches!(ty, Type::Array(_)) && self.coop_types.iter().any(|of| of.part(0).as_ref() == Some(ty))
    }

    /// The shape of a matrix, or of a list of rows in the invocation's own memory.
    pub(super) fn coop_shape(&self, place: &Place) -> Option<CoopShape> {
        let Root::Local(local) = place.root else { return None };
        let (Type::Array(rows), None) = (&place.ty, self.shared_id(place)) else { return None };
        let Type::Array(columns) = &rows.element else { return None };
        let Type::Scalar(scalar) = columns.element else { return None };
        let purpose = self.f.coops.get(&local).copied();
        Some(CoopShape { rows: rows.len, columns: columns.len, scalar, purpose })
    }

    pub fn coop_multiply_add(&mut self, call: &BuiltinCall) -> Operand {
        self.require_convergence(call.span);
        self.added_product(call).unwrap_or(Operand::Error)
    }

    fn added_product(&mut self, call: &BuiltinCall) -> Option<Operand> {
        let BuiltinCall { name, args, span, .. } = *call;
        let [c, a, b] = self.coop_factors(name, args)?;
        let lists = [c.as_list(true), a.as_list(false), b.as_list(false)];
        let kind = CoopKind::MultiplyAdd(a.matrix, b.matrix);
        Some(self.coop_call(kind, &c, &lists, span))
    }

    fn coop_factors(&mut self, name: &str, args: &[Spanned]) -> Option<[Coop; 3]> {
        let matrices = [self.coop(name, &args[0])?, self.coop(name, &args[1])?, self.coop(name, &args[2])?];
        let [c, a, b] = [0, 1, 2].map(|at: usize| matrices[at].shape);
        let wanted = [
            (c, c.rows, c.columns, CoopUse::Accumulator),
            (a, c.rows, a.columns, CoopUse::A),
            (b, a.columns, c.columns, CoopUse::B),
        ];
        for ((shape, rows, columns, purpose), (_, at)) in wanted.into_iter().zip(args) {
            let fits = (shape.rows, shape.columns) == (rows, columns)
                && shape.purpose.is_none_or(|found| found == purpose);
            if !fits {
                let wanted = format!("{rows} x {columns} for {purpose}");
                self.error(errors::coop_mismatch(self.at(*at), name, &wanted, &shape.to_string()));
                return None;
            }
        }
        if a.scalar != b.scalar {
            let wanted = format!("{} x {} of `{}`", b.rows, b.columns, a.scalar);
            self.error(errors::coop_mismatch(self.at(args[2].1), name, &wanted, &b.to_string()));
            return None;
        }
        if !a.scalar.widens_to(c.scalar) {
            let wanted = format!("numbers that hold {}", errors::one(a.scalar));
            self.error(errors::coop_mismatch(self.at(args[0].1), name, &wanted, &c.to_string()));
            return None;
        }
        Some(matrices)
    }

    pub fn coop_fill(&mut self, call: &BuiltinCall) -> Operand {
        self.require_convergence(call.span);
        self.coop_filled(call).unwrap_or(Operand::Error)
    }

    fn coop_filled(&mut self, call: &BuiltinCall) -> Option<Operand> {
        let BuiltinCall { name, args, span, .. } = *call;
        let coop = self.coop(name, &args[0])?;
        let value = self.stored_value(&args[1].0, &coop.shape.scalar.into(), args[0].1, args[1].1)?;
        Some(self.coop_call(CoopKind::Fill(value), &coop, &[coop.as_list(true)], span))
    }

    fn coop_loaded(&mut self, call: &BuiltinCall) -> Option<Operand> {
        let (coop, from) = self.moved(call)?;
        let mut lists = vec![coop.as_list(true)];
        lists.extend(self.own_list(&from, false, call.args[1].1));
        Some(self.coop_call(CoopKind::Load(from), &coop, &lists, call.span))
    }

    fn coop_stored(&mut self, call: &BuiltinCall) -> Option<Operand> {
        let (coop, to) = self.moved(call)?;
        let mut lists = vec![coop.as_list(false)];
        lists.extend(self.own_list(&to, true, call.args[1].1));
        Some(self.coop_call(CoopKind::Store(to), &coop, &lists, call.span))
    }

    /// The matrix of a load or a store, and the elements of the array.
    fn moved(&mut self, call: &BuiltinCall) -> Option<(Coop, CoopArray)> {
        let BuiltinCall { name, args, span, .. } = *call;
        let lines = self.coop_lines(call.keyword)?;
        self.require_convergence(span);
        let coop = self.coop(name, &args[0])?;
        let (array, width) = self.coop_memory(name, &coop, args)?;
        let n_each = lines.choose(coop.shape.columns, coop.shape.rows);
        if !n_each.is_multiple_of(width) {
            self.error(errors::coop_memory_width(self.at(args[1].1), name, n_each, width));
            return None;
        }
        let (start, stride) = (self.coop_index(&args[2], span)?, self.coop_index(&args[3], span)?);
        Some((coop, CoopArray { array, width, start, stride, lines }))
    }

    /// An index or a stride, as a signed int of 32 or 64 bits.
    fn coop_index(&mut self, (operand, at): &Spanned, call: Span) -> Option<NodeId> {
        let operand = self.bool_as_int(operand, *at);
        let wide = Type::from(Scalar::I64);
        let ty = if self.value_type(&operand) == Some(wide.clone()) { wide } else { Type::I32 };
        let index = self.try_convert(&operand, &ty, *at);
        if index.is_none() {
            self.error(errors::not_for(self.at(call)));
        }
        index
    }

    /// An array in memory of the invocation, as an argument.
    fn own_list(&self, of: &CoopArray, is_written: bool, at: Span) -> Option<ListArg> {
        match &of.array {
            Array::Place(place) if self.access_path(place).is_none() => {
                Some(ListArg { place: place.clone(), is_written, at })
            }
            _ => None,
        }
    }

    /// A call that loads or stores a matrix in a row, rewritten with the array of that row.
    fn without_row(&self, name: &str, row: &Row, args: &[(Operand, Span)]) -> CallWithoutRow {
        let [matrix, text, start, stride] = [0, 1, 2, 3].map(|at| self.f.source.slice(args[at].1));
        let array = &**self.array_name(row.buffer);
        let index = errors::index_behind(text, array).unwrap_or("i");
        let begin = match (index, start) {
            ("0", start) => start.to_owned(),
            (index, "0") => format!("{index} * n"),
            (index, start) => format!("{index} * n + {start}"),
        };
        let call = format!("{name}({matrix}, {array}, {begin}, {stride})");
        CallWithoutRow { call, has_length: index != "0" }
    }

    /// The array of a load or a store, and how many numbers each of its elements has.
    fn coop_memory(&mut self, name: &str, coop: &Coop, args: &[Spanned]) -> Option<(Array, u32)> {
        let (memory, at) = &args[1];
        if let Operand::Buffer(buffer) = memory
            && self.array(*buffer).rank > 1
        {
            let array = self.buffer_array(*buffer);
            self.error(errors::coop_memory_axes(self.at(*at), name, &array));
            return None;
        }
        if let Operand::Row(row) = memory {
            let call = self.without_row(name, row, args);
            let (array, element) = (self.array_name(row.buffer), &self.array(row.buffer).element);
            self.error(errors::coop_memory_row(self.at(*at), name, array, element, &call));
            return None;
        }
        if let Operand::Place(place) = memory
            && matches!(place.ty.part(0), Some(Type::Array(_)))
        {
            let text = self.f.source.slice(*at);
            self.error(errors::coop_memory_nested(self.at(*at), name, text, &place.ty));
            return None;
        }
        let found = match memory {
            Operand::Buffer(buffer) => Some((Array::Buffer(*buffer), self.array(*buffer).element.clone())),
            Operand::Place(place) => match &place.ty {
                Type::Array(array) => Some((Array::Place(place.clone()), array.element.clone())),
                _ => None,
            },
            _ => None,
        };
        match found {
            Some((array, element @ (Type::Scalar(scalar) | Type::Vector(2 | 4, scalar))))
                if scalar == coop.shape.scalar =>
            {
                Some((array, element.n_components().into()))
            }
            Some((_, Type::Scalar(scalar) | Type::Vector(2 | 4, scalar))) => {
                self.error(errors::coop_memory_type(self.at(*at), name, coop.shape.scalar, scalar));
                None
            }
            _ => {
                let what = self.describe(memory);
                self.error(errors::coop_memory(self.at(*at), name, &what));
                None
            }
        }
    }
}

fn positional(arg: &Argument) -> Option<&Expr> {
    match &arg.kind {
        ArgumentKind::Positional(expr) => Some(expr),
        _ => None,
    }
}
