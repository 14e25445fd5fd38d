//! Cooperative matrices: `coop_matrix(f16, 16, 16, "a")`, loaded, multiplied and stored by a subgroup.
//!
//! A matrix is inferred as a list of its rows, of a type that knows what the matrix is for. Each operation has two
//! forms: functions of `library/coop.kps` on the rows of every invocation, and instructions (`tiles.rs`). A pass keeps
//! one form of all (`passes/legalise/matrices.rs`). The rules of the instructions hold for both: the use of a matrix,
//! matching shapes, and that a whole workgroup reaches each operation together. `math.rs` has the operators.

pub(super) mod math;
pub(super) mod tiles;

use std::fmt;

use kps_syntax::Span;
use kps_syntax::ast::{Argument, ArgumentKind, Expr, ExprKind};

use crate::aliases::Writer;
use crate::builtins::{count_in_words, line};
use crate::constant::Constant;
use crate::errors::{self, CallWithoutRow};
use crate::infer::Ctx;
use crate::infer::builtin_calls::{BuiltinCall, TreeCall};
use crate::infer::calls::Arguments;
use crate::infer::expressions::operand::{Operand, Row, Static};
use crate::infer::places::assignments::MATRIX;
use crate::ir::{CoopForms, CoopLines, NodeId, NodeKind, Place, Root, Stmt, Together};
use crate::library;
use crate::matrices::{CoopShape, CoopType, CoopUse};
use crate::types::{Scalar, Type};

/// The maximum number of rows and columns of a matrix.
const MAX_SIDE: i128 = 64;

/// The direction in which a matrix moves between memory and registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CoopMove {
    Load,
    Store,
}

/// A matrix as an argument.
pub(super) struct Coop {
    pub place: Place,
    pub rows: u32,
    pub columns: u32,
    pub scalar: Scalar,
    /// `None` for a list of rows, and in a function to which the matrix was passed.
    pub purpose: Option<CoopUse>,
}

impl Coop {
    /// The type of the matrix. `None` for a plain list of rows.
    pub fn ty(&self) -> Option<CoopType> {
        self.place.ty.coop()
    }

    /// The matrix as a list of rows that is not for any use.
    pub fn plain_rows(&self) -> Operand {
        Operand::Place(Place { ty: self.place.ty.with_plain_rows(), ..self.place.clone() })
    }

    pub fn shape(&self) -> CoopShape {
        let Coop { rows, columns, scalar, purpose, .. } = *self;
        CoopShape { rows, columns, scalar, purpose }
    }
}

impl fmt::Display for Coop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shape().fmt(f)
    }
}

impl Ctx<'_> {
    pub fn coop_load(&mut self, call: &BuiltinCall) -> Operand {
        self.coop_move(CoopMove::Load, call).unwrap_or(Operand::Error)
    }

    pub fn coop_store(&mut self, call: &BuiltinCall) -> Operand {
        self.coop_move(CoopMove::Store, call).unwrap_or(Operand::Error)
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

    pub(super) fn call_coop(&mut self, name: &str, args: Vec<(Operand, Span)>, span: Span) -> Operand {
        let function = library::function(name).expect("library functions exist");
        self.call_helper(&function, Arguments { positional: args, keywords: Vec::new() }, span)
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
        self.coop_forms(span, |ctx| ctx.tile_zero(&matrix, span), |ctx| ctx.coop_zero(&matrix, span));
        Operand::Place(matrix)
    }

    /// An operation in its two forms. `native` is `None` where no instruction does it.
    pub(super) fn coop_forms<R>(
        &mut self,
        span: Span,
        native: impl FnOnce(&mut Self) -> Option<()>,
        emulated: impl FnOnce(&mut Self) -> R,
    ) -> R {
        self.uses_matrices = true;
        let (n_nodes, n_calls) = (self.f.func.nodes.len(), self.f.calls.len());
        let n_diagnostics = self.f.diagnostics.len();
        let (block, done) = self.sub_block(native);
        let is_done = done.is_some() && self.f.diagnostics.len() == n_diagnostics;
        if !is_done {
            // The other form reports the mistakes of the script.
            self.f.diagnostics.truncate(n_diagnostics);
            self.f.calls.truncate(n_calls);
            let unused = n_nodes..self.f.func.nodes.len();
            self.f.func.forget_nodes(unused.map(|at| NodeId(at as u32)));
        }
        let native = is_done.then_some(block);
        let (emulated, result) = self.sub_block(emulated);
        self.f.block.push(Stmt::Coop(Box::new(CoopForms { native, emulated, span })));
        result
    }

    /// Notes a use of a part of a matrix, which no instruction accesses.
    pub fn note_matrix_part(&mut self, place: &Place, span: Span) {
        if place.ty.coop().is_some() {
            self.coop_forms(span, |_| None, |_| ());
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

    /// Stores zeros in all rows of a matrix.
    pub(super) fn coop_zero(&mut self, matrix: &Place, span: Span) {
        let Type::Array(rows) = matrix.ty.with_plain_rows() else { return };
        let Type::Array(row) = &rows.element else { return };
        let zero = self.zero(&row.element, span);
        let row = self.array_local(vec![zero; row.len as usize], row.element.clone(), span);
        let Operand::Place(row) = row else { return };
        let row = self.load_whole(&row, span);
        let kind = NodeKind::Construct(vec![row; rows.len as usize]);
        let value = self.node(kind, Type::Array(rows), span);
        self.store_whole(matrix, value, span);
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
    pub(super) fn coop(&mut self, name: &str, (operand, at): &(Operand, Span)) -> Option<Coop> {
        let coop = self.coop_of(operand);
        if coop.is_none() {
            let what = self.describe(operand);
            self.error(errors::coop_wanted(self.at(*at), name, &what));
        }
        coop
    }

    /// Whether this is the type of a matrix, or of a list of rows like those of one.
    pub fn is_coop_type(&self, ty: &Type) -> bool {
        ty.coop().is_some() || self.coop_types.contains(ty)
    }

    /// Whether a list may be a row of a matrix.
    pub fn is_coop_row(&self, ty: &Type) -> bool {
        matches!(ty, Type::Array(_)) && self.coop_types.iter().any(|of| of.part(0).as_ref() == Some(ty))
    }

    /// A matrix, or a list of rows in the invocation's own memory.
    pub(super) fn coop_of(&self, operand: &Operand) -> Option<Coop> {
        let Operand::Place(place) = operand else { return None };
        let Root::Local(local) = place.root else { return None };
        let (Type::Array(rows), None) = (&place.ty, self.shared_id(place)) else { return None };
        let Type::Array(columns) = &rows.element else { return None };
        let Type::Scalar(scalar) = columns.element else { return None };
        let purpose = self.f.coops.get(&local).copied();
        Some(Coop { place: place.clone(), rows: rows.len, columns: columns.len, scalar, purpose })
    }

    pub fn coop_multiply_add(&mut self, call: &BuiltinCall) -> Operand {
        self.require_convergence(call.span);
        self.added_product(call).unwrap_or(Operand::Error)
    }

    fn added_product(&mut self, call: &BuiltinCall) -> Option<Operand> {
        let BuiltinCall { name, args, span, .. } = *call;
        let [c, a, b] = self.coop_factors(name, args)?;
        self.record_written(&c.place, args[0].1, Writer::MatrixOperation);
        let number = Operand::Static(Static::Type(c.scalar.into()));
        let rows = [c.plain_rows(), a.plain_rows(), b.plain_rows(), number];
        let spans = [0, 1, 2, 0].map(|at: usize| args[at].1);
        Some(self.coop_forms(
            span,
            |ctx| ctx.tile_multiply_add([&c, &a, &b], span),
            |ctx| ctx.call_coop("coop_multiply_add", rows.into_iter().zip(spans).collect(), span),
        ))
    }

    fn coop_factors(&mut self, name: &str, args: &[(Operand, Span)]) -> Option<[Coop; 3]> {
        let [c, a, b] = [self.coop(name, &args[0])?, self.coop(name, &args[1])?, self.coop(name, &args[2])?];
        let wanted = [
            (&c, c.rows, c.columns, CoopUse::Accumulator),
            (&a, c.rows, a.columns, CoopUse::A),
            (&b, a.columns, c.columns, CoopUse::B),
        ];
        for ((coop, rows, columns, purpose), (_, at)) in wanted.into_iter().zip(args) {
            let fits = (coop.rows, coop.columns) == (rows, columns)
                && coop.purpose.is_none_or(|found| found == purpose);
            if !fits {
                let wanted = format!("{rows} x {columns} for {purpose}");
                self.error(errors::coop_mismatch(self.at(*at), name, &wanted, &coop.to_string()));
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
        Some([c, a, b])
    }

    pub fn coop_fill(&mut self, call: &BuiltinCall) -> Operand {
        self.require_convergence(call.span);
        self.coop_filled(call).unwrap_or(Operand::Error)
    }

    fn coop_filled(&mut self, call: &BuiltinCall) -> Option<Operand> {
        let BuiltinCall { name, args, span, .. } = *call;
        let coop = self.coop(name, &args[0])?;
        let value = self.stored_value(&args[1].0, &coop.scalar.into(), args[0].1, args[1].1)?;
        self.record_written(&coop.place, args[0].1, Writer::MatrixOperation);
        let args = vec![(coop.plain_rows(), args[0].1), (Operand::Node(value), args[1].1)];
        Some(self.coop_forms(
            span,
            |ctx| ctx.tile_fill(&coop, value, span),
            |ctx| ctx.call_coop("coop_fill", args, span),
        ))
    }

    fn coop_move(&mut self, function: CoopMove, call: &BuiltinCall) -> Option<Operand> {
        let BuiltinCall { name, args, span, .. } = *call;
        let lines = self.coop_lines(call.keyword)?;
        self.require_convergence(span);
        let coop = self.coop(name, &args[0])?;
        self.coop_memory(name, &coop, args)?;
        if function == CoopMove::Load {
            self.record_written(&coop.place, args[0].1, Writer::MatrixOperation);
        }
        let library = match (function, lines) {
            (CoopMove::Store, CoopLines::Rows) => "coop_store",
            (CoopMove::Store, CoopLines::Columns) => "coop_store_columns",
            (CoopMove::Load, CoopLines::Rows) => "coop_load",
            (CoopMove::Load, CoopLines::Columns) => "coop_load_columns",
        };
        let mut of_rows = args.to_vec();
        of_rows[0].0 = coop.plain_rows();
        Some(self.coop_forms(
            span,
            |ctx| ctx.tile_move(function, lines, &coop, args, span),
            |ctx| ctx.call_coop(library, of_rows, span),
        ))
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

    fn coop_memory(&mut self, name: &str, coop: &Coop, args: &[(Operand, Span)]) -> Option<()> {
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
        let element = match memory {
            Operand::Buffer(buffer) => Some(self.array(*buffer).element.clone()),
            Operand::Place(place) => match &place.ty {
                Type::Array(array) => Some(array.element.clone()),
                _ => None,
            },
            _ => None,
        };
        match element {
            Some(Type::Scalar(scalar)) if scalar == coop.scalar => Some(()),
            Some(Type::Scalar(scalar)) => {
                self.error(errors::coop_memory_type(self.at(*at), name, coop.scalar, scalar));
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
