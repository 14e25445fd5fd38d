//! Expressions: names, literals, lists, conditions that are values.

use std::rc::Rc;

use kps_syntax::ast::{BinaryOp as AstBinaryOp, BoolOp, CompareOp, Expr, ExprKind, Ident, Name};
use kps_syntax::{Diagnostic, Location, Span};
use num_traits::ToPrimitive;

use super::operand::{Operand, Static};
use super::weak_types::WeakSide;
use crate::aliases::{Event, Join, Point};
use crate::builtins::{self, Builtin};
use crate::constant::Literal;
use crate::env::EnvValue;
use crate::errors;
use crate::infer::assumptions::WeakKey;
use crate::infer::control::loop_fixpoint::is_better_guess;
use crate::infer::control::stmts::Condition;
use crate::infer::places::vars::{FlowPath, Fork, Missing};
use crate::infer::{Ctx, MAX_ARRAY_LEN};
use crate::ir::{Block, NodeId, NodeKind, Place, Stmt};
use crate::types::Type;

/// If the elements of a list have no common type, up to this many are compared pairwise.
const MAX_PAIRED: usize = 64;

/// The end of one side of a conditional expression, or of the side of `and` or `or` that may be skipped.
pub(crate) struct SideEnd {
    /// Set if the side assigns a variable, with `:=`.
    path: Option<FlowPath>,
    /// Its end in the record of lists.
    end: Point,
}

impl Ctx<'_> {
    pub fn expr(&mut self, expr: &Expr) -> Operand {
        let operand = self.nested(expr.span, Operand::Error, |ctx| ctx.expr_inner(expr));
        self.remark_value(expr.span, &operand);
        operand
    }

    fn expr_inner(&mut self, expr: &Expr) -> Operand {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int(value) => match value.to_i128() {
                Some(value) => Operand::int(value),
                None => self.fail(errors::int_too_large(self.at(span))),
            },
            ExprKind::Float(value) => Operand::Literal(Literal::Float(*value)),
            ExprKind::True => self.bool_constant(true, span),
            ExprKind::False => self.bool_constant(false, span),
            // `check` reported it.
            ExprKind::None => Operand::Error,
            ExprKind::Name(name) => {
                self.report_unwritten(expr);
                self.name_value(name, span)
            }
            ExprKind::Attribute { .. } | ExprKind::Subscript { .. } => {
                let part = self.part(expr);
                self.loaded(part, span)
            }
            ExprKind::Call { func, args } => self.call(expr, func, args),
            ExprKind::Binary { .. } => self.binary_chain(expr),
            ExprKind::Unary { op, operand } => {
                let value = self.expr(operand);
                self.unary(*op, &value, span, operand.span)
            }
            ExprKind::Bool { op, values } => self.bool_chain(*op, values),
            ExprKind::Compare { left, comparisons } => self.comparison(left, comparisons, span),
            ExprKind::IfElse { test, then, orelse } => self.ternary(test, then, orelse, span),
            ExprKind::List(items) => self.list(items, span),
            ExprKind::Tuple(items) => self.tuple(items, span),
            ExprKind::Lambda(lambda) => self.lambda(lambda, span),
            ExprKind::Walrus { target, value } => self.walrus(target, value),
            // `check` refused it, or the subscript of which it is the key.
            ExprKind::Str(_) => Operand::Error,
            ExprKind::Slice { .. } => self.fail(errors::whole_axis(self.at(span))),
            ExprKind::Error => Operand::Error,
            _ => {
                let text = self.f.source.slice(span).to_owned();
                self.fail(errors::unsupported(self.at(span), &format!("`{text}`"), "use numbers and arrays"))
            }
        }
    }

    pub fn tuple(&mut self, items: &[Expr], span: Span) -> Operand {
        let operands: Rc<[Operand]> = self.items(items).into_iter().map(|(operand, _)| operand).collect();
        let is_spread = |item: &Expr| matches!(item.kind, ExprKind::Starred(_));
        // The number of items is unknown after a mistake.
        match items.iter().any(is_spread) && operands.iter().any(Operand::is_error) {
            true => Operand::Error,
            false => self.of_bounded_size(Operand::Tuple(operands), span),
        }
    }

    /// `name := value`.
    fn walrus(&mut self, target: &Ident, value: &Expr) -> Operand {
        let operand = self.expr(value);
        if let Some(error) = self.unassignable(&operand, value) {
            self.error(error);
            return Operand::Error;
        }
        let var = self.f.vars.named(&target.name).expect("a name that is assigned is a variable");
        self.assign_var(var, operand.clone(), target.span);
        operand
    }

    /// Reports a mistake. Returns the operand for it.
    pub fn fail(&mut self, diagnostic: Diagnostic) -> Operand {
        self.error(diagnostic);
        Operand::Error
    }

    /// `a + b + c` is left-associative. A long sum is a list here, not a recursion.
    fn binary_chain(&mut self, expr: &Expr) -> Operand {
        let mut steps: Vec<(AstBinaryOp, Span, &Expr, Span)> = Vec::new();
        let mut first = expr;
        while let ExprKind::Binary { op, op_span, left, right } = &first.kind {
            steps.push((*op, *op_span, right, left.span));
            first = left;
        }
        let mut result = self.operand_value(first);
        for (op, op_span, right, left_span) in steps.into_iter().rev() {
            let right_operand = self.operand_value(right);
            result = self.binary(op, &result, &right_operand, op_span, (left_span, right.span));
            self.remark_value(left_span.to(right.span), &result);
        }
        result
    }

    /// The value of a name, loaded if it is one value in memory.
    pub fn name_value(&mut self, name: &Name, span: Span) -> Operand {
        match self.name_operand(name, span) {
            Operand::Place(place) => self.load_place(&place, span),
            operand => operand,
        }
    }

    pub fn name_operand(&mut self, name: &Name, span: Span) -> Operand {
        if let Some(var) = self.f.vars.named(name) {
            return self.read_var(var, span);
        }
        let value = self.f.env.get().get(name);
        match value {
            Some(EnvValue::List(_)) if let Some(table) = self.f.lists.captured(name) => table.clone(),
            Some(value) => self.captured(name, value, span),
            None => self.builtin_name(name, span),
        }
    }

    fn builtin_name(&mut self, name: &Name, span: Span) -> Operand {
        match builtins::lookup(name) {
            Some(Builtin::Module) => Operand::Static(Static::Module(name.clone(), None)),
            Some(builtin) => self.builtin(&builtin, span),
            None if &**name == "Array" => Operand::Static(Static::Generic("Array")),
            None if self.is_partial => Operand::Error,
            // The environment lost the name after the kernel was checked.
            None => self.fail(errors::unknown_name(self.at(span), name, None)),
        }
    }

    pub fn builtin(&mut self, builtin: &Builtin, span: Span) -> Operand {
        match builtin {
            Builtin::Type(ty) => Operand::Static(Static::Type(ty.clone())),
            Builtin::VectorType => Operand::Static(Static::Generic("Vector")),
            Builtin::StructType => Operand::Static(Static::Generic("Struct")),
            Builtin::MatrixType => Operand::Static(Static::Generic("Matrix")),
            Builtin::Place(place) => self.place_name(*place, span),
            Builtin::Function(function) => Operand::Static(Static::Builtin(*function)),
            Builtin::Constant(value) => Operand::Literal(Literal::Float(*value)),
            Builtin::Module => Operand::Static(Static::Module("math".into(), None)),
        }
    }

    /// A value of the host as a constant of the kernel.
    pub fn captured(&mut self, name: &str, value: EnvValue, span: Span) -> Operand {
        match value {
            EnvValue::Int(value) => Operand::int(value),
            EnvValue::Float(value) => Operand::Literal(Literal::Float(value)),
            EnvValue::Bool(value) => self.bool_constant(value, span),
            EnvValue::Range(bounds) => Operand::known_range(bounds, span),
            EnvValue::Constant(constant) => Operand::Node(self.constant(constant, span)),
            EnvValue::Type(ty) => Operand::Static(Static::Type(ty)),
            EnvValue::Function(function) => Operand::Static(Static::Function(function)),
            EnvValue::Builtin(builtin) => match builtins::member(&builtin) {
                Some(builtin) => self.builtin(&builtin, span),
                None if &*builtin == "Array" => Operand::Static(Static::Generic("Array")),
                None => self.fail(errors::captured_value(self.at(span), name, &EnvValue::Builtin(builtin))),
            },
            EnvValue::Tuple(items) | EnvValue::Named(_, items) | EnvValue::List(items)
                if items.iter().any(is_of_the_host) =>
            {
                let item = items.iter().find(|item| is_of_the_host(item)).expect("there is one");
                self.fail(errors::captured_item(self.at(span), name, item))
            }
            EnvValue::Tuple(items) | EnvValue::Named(_, items) => {
                let items = items.iter().map(|item| self.captured(name, item.clone(), span));
                Operand::Tuple(items.collect())
            }
            EnvValue::List(items) if items.iter().any(|item| matches!(item, EnvValue::Range(_))) => {
                self.fail(errors::captured_ranges(self.at(span)))
            }
            EnvValue::List(items) => self.table(name, items, span),
            EnvValue::Numbers(ty, numbers) => Operand::Node(self.filled(&ty, &mut numbers.iter(), span)),
            EnvValue::Module(module) => Operand::Static(Static::Module(module.name.clone(), Some(module))),
            EnvValue::Unknown if self.is_partial => Operand::Error,
            value @ (EnvValue::Unknown
            | EnvValue::Declared(_)
            | EnvValue::Str(_)
            | EnvValue::Other { .. }) => self.fail(errors::captured_value(self.at(span), name, &value)),
        }
    }

    fn bool_chain(&mut self, op: BoolOp, values: &[Expr]) -> Operand {
        let [first, rest @ ..] = values else { return Operand::Error };
        let n_diagnostics = self.f.diagnostics.len();
        let chain = self.chain_of_bools(op, first, rest);
        if let ExprKind::Compare { left, comparisons } = &first.kind
            && let [comparison] = &comparisons[..]
        {
            self.help_to_compare(left, comparison.op, rest, n_diagnostics);
        }
        if let [second] = rest
            && !(is_comparison(first) && is_number(second))
        {
            self.help_to_choose(op, first, second, n_diagnostics);
        }
        chain
    }

    /// `x == 1 or 2`: sets the help of new diagnostics to compare each number with the left side of the first
    /// comparison.
    fn help_to_compare(&mut self, left: &Expr, op: CompareOp, rest: &[Expr], n_diagnostics: usize) {
        let source = self.f.source.clone();
        for diagnostic in self.f.diagnostics.iter_mut().skip(n_diagnostics) {
            let Some(place) = diagnostic.location().map(|place| place.span) else { continue };
            let mut numbers = rest.iter().filter(|value| is_number(value));
            if diagnostic.code == "kernel/condition" && numbers.any(|number| number.span == place) {
                let [left, value] = [left.span, place].map(|span| source.slice(span));
                diagnostic.help = Some(errors::compare_again(left, op.symbol(), value));
            }
        }
    }

    /// In Python, `or` and `and` of numbers select one of them. Sets the help of new diagnostics to a
    /// conditional expression.
    fn help_to_choose(&mut self, op: BoolOp, first: &Expr, second: &Expr, n_diagnostics: usize) {
        let source = self.f.source.clone();
        let text = |side: &Expr| source.slice(side.span);
        let is_reported = |side: &Expr| {
            let mut places = self.f.diagnostics[n_diagnostics..].iter().filter_map(Diagnostic::location);
            places.any(|place| place.span == side.span)
        };
        let (sides, help) = match (op, &first.kind) {
            // The idiom from before Python had conditional expressions.
            (BoolOp::Or, ExprKind::Bool { op: BoolOp::And, values }) => match &values[..] {
                [test, value] if is_reported(value) && !is_reported(test) => {
                    ([value, second], errors::choice_by_test(text(test), text(value), text(second)))
                }
                _ => return,
            },
            (BoolOp::Or, _) if is_reported(first) => {
                ([first, second], errors::choice_by_or(text(first), text(second)))
            }
            (BoolOp::And, _) if is_reported(first) && is_number(second) => {
                ([first, second], errors::choice_by_and(text(first), text(second)))
            }
            (BoolOp::And, _) if !is_reported(first) => {
                ([second, second], errors::choice_by_test(text(first), text(second), ".."))
            }
            _ => return,
        };
        for diagnostic in self.f.diagnostics.iter_mut().skip(n_diagnostics) {
            let is_side = |place: &Location| sides.iter().any(|side| side.span == place.span);
            let is_array = |place: &Location| self.f.array_conditions.contains(&place.span);
            let is_meant = |place: &Location| is_side(place) && !is_array(place);
            if diagnostic.code == "kernel/condition" && diagnostic.location().is_some_and(is_meant) {
                diagnostic.help = Some(help.clone());
            }
        }
    }

    fn chain_of_bools(&mut self, op: BoolOp, first: &Expr, rest: &[Expr]) -> Operand {
        let mut left = self.truth(first);
        let mut span = first.span;
        for value in rest {
            left = self.short_circuit(op, &left, span, value);
            span = span.to(value.span);
        }
        left
    }

    /// `left and right`, `left or right`: the right side runs only if the left one does not decide.
    pub fn short_circuit(&mut self, op: BoolOp, left: &Operand, left_span: Span, right: &Expr) -> Operand {
        self.short_circuit_with(op, left, left_span, right.span, |ctx| ctx.truth(right))
    }

    /// The same, with any right side.
    pub fn short_circuit_with(
        &mut self,
        op: BoolOp,
        left: &Operand,
        left_span: Span,
        right_span: Span,
        right: impl FnOnce(&mut Self) -> Operand,
    ) -> Operand {
        let span = left_span.to(right_span);
        let condition = self.condition_of(left, left_span);
        let decided = op == BoolOp::Or;
        let right = |ctx: &mut Self| {
            let value = right(ctx);
            ctx.bool_operand(value, right_span)
        };
        let left = match condition {
            Condition::Known(value) if value == decided => return self.bool_constant(value, span),
            Condition::Known(_) => return right(self),
            Condition::Error if self.is_partial => {
                self.walk_maybe_skipped(|ctx| drop(right(ctx)));
                return Operand::Error;
            }
            Condition::Error | Condition::Unknown => {
                right(self);
                return Operand::Error;
            }
            Condition::Node(node) => node,
        };
        let skipped = Missing {
            span: left_span,
            text: if decided { "not when this is true" } else { "not when this is false" },
        };
        let fork = self.fork();
        let (mut block, (value, end)) = self.sub_block(|ctx| {
            ctx.learn_assigned(left, !decided);
            let value = right(ctx);
            if let (Operand::Node(value), true) = (&value, ctx.has_changed(fork)) {
                // If the whole has this result, the right side was evaluated, and has the same result.
                ctx.learn_assigned(*value, !decided);
            }
            (value, ctx.end_side(fork, skipped))
        });
        let Operand::Node(value) = value else { return Operand::Error };
        let result = self.new_local("kps.test", Type::BOOL, span);
        self.f.block.push(Stmt::Store { local: result, value: left, span });
        block.push(Stmt::Store { local: result, value, span });
        let assigns = end.path.is_some();
        let not_run = SideEnd { path: None, end: self.f.lists.record.push(Event::PathEnd) };
        let (runs, skips) = ((block, end), (Vec::new(), not_run));
        let (then, orelse) = if decided { (skips, runs) } else { (runs, skips) };
        let paths = self.join_arms(left, then, orelse, (fork, skipped), span);
        let test = self.node(NodeKind::Load(result), Type::BOOL, span);
        if !assigns {
            self.f.tests.note(test, op, [left, value]);
        }
        if let [then, orelse] = &paths[..] {
            self.remember_assigned(test, !decided, if decided { orelse } else { then });
        }
        Operand::Node(test)
    }

    /// The end of one side of a conditional expression. Its changes are undone.
    pub fn end_side(&mut self, fork: Fork, missing: Missing) -> SideEnd {
        let path = self.has_changed(fork).then(|| self.end_path(fork, missing));
        let end = self.f.lists.record.push(Event::PathEnd);
        self.rewind(fork);
        SideEnd { path, end }
    }

    /// Joins the two sides of a conditional expression. If one assigns a variable, they join as after `if`, and
    /// are returned.
    pub fn join_arms(
        &mut self,
        condition: NodeId,
        (mut then, then_end): (Block, SideEnd),
        (mut orelse, else_end): (Block, SideEnd),
        (fork, missing): (Fork, Missing),
        span: Span,
    ) -> Vec<FlowPath> {
        let ends = vec![then_end.end, else_end.end];
        let mut paths = Vec::new();
        if then_end.path.is_some() || else_end.path.is_some() {
            for (block, SideEnd { path, end }) in [(&mut then, then_end), (&mut orelse, else_end)] {
                paths.push(path.unwrap_or_else(|| {
                    let (tail, path) = self.sub_block(|ctx| ctx.end_path(fork, missing));
                    block.extend(tail);
                    FlowPath { end, ..path }
                }));
            }
        }
        self.f.block.push(Stmt::If { condition, then, orelse, span });
        match paths.is_empty() {
            true => drop(self.f.lists.record.push(Event::Join(Box::new(Join::of_lists(ends))))),
            false => self.merge(&paths),
        }
        paths
    }

    fn bool_operand(&mut self, operand: Operand, span: Span) -> Operand {
        match self.condition_of(&operand, span) {
            Condition::Error | Condition::Unknown => Operand::Error,
            Condition::Known(value) => self.bool_constant(value, span),
            Condition::Node(node) => Operand::Node(node),
        }
    }

    /// The common type of operands after weak types and guesses are widened, and whether it is a guess. `None`
    /// if there is none. Weak numbers alone get the type of `key`.
    pub fn join_types(
        &mut self,
        operands: &[(&Operand, Span)],
        key: Option<WeakKey>,
    ) -> Option<(Type, bool)> {
        let mut joined: Option<(Type, bool)> = None;
        for (operand, _) in operands {
            let (Operand::Node(node), None) = (operand, self.weak_side(operand)) else { continue };
            let (ty, guessed) = (self.ty(*node).clone(), self.facts(*node).guessed);
            joined = Some(match joined {
                None => (ty, guessed),
                Some(known) if known.0 == ty => (ty, known.1 && guessed),
                Some((known, true)) if guessed && !is_better_guess(&ty, &known) => (known, true),
                Some((_, true)) => (ty, guessed),
                Some(known) if guessed => known,
                Some(known) => match (known.0.scalar(), ty.scalar()) {
                    (Some(a), Some(b)) if known.0.n_components() == ty.n_components() => {
                        if a.widens_to(b) {
                            (ty, false)
                        } else if b.widens_to(a) {
                            known
                        } else {
                            return None;
                        }
                    }
                    _ => return None,
                },
            });
        }
        let weak: Vec<WeakSide> =
            operands.iter().filter_map(|(operand, _)| self.weak_side(operand)).collect();
        let (ty, guessed) = match joined {
            Some((guess, true)) => (self.guess_beside(&guess, &weak), true),
            Some(known) => known,
            None => (self.weak_type(&weak, key), false),
        };
        let numbers =
            operands.iter().all(|(operand, _)| matches!(operand, Operand::Node(_) | Operand::Literal(_)));
        let fits = weak.iter().all(|weak| self.fits(weak, &ty));
        (numbers && fits).then_some((ty, guessed))
    }

    /// A list literal is a fixed array of its own.
    fn list(&mut self, items: &[Expr], span: Span) -> Operand {
        let operands = self.items(items);
        self.list_of_items(&operands, span)
    }

    pub fn array_of(&mut self, operands: &[(Operand, Span)], span: Span) -> Operand {
        if operands.iter().any(|(operand, _)| operand.has_error()) {
            return Operand::Error;
        }
        if operands.is_empty() {
            return self.fail(errors::empty_list(self.at(span)));
        }
        if operands.len() > MAX_ARRAY_LEN as usize {
            return self.fail(errors::list_too_long(self.at(span), operands.len(), MAX_ARRAY_LEN));
        }
        let refs: Vec<(&Operand, Span)> = operands.iter().map(|(operand, at)| (operand, *at)).collect();
        let Some(element) = self.join_values(&refs) else { return self.unlike_elements(operands) };
        let mut parts = Vec::with_capacity(operands.len());
        for (operand, at) in operands {
            match self.try_convert(operand, &element, *at) {
                Some(node) => parts.push(node),
                None => return Operand::Error,
            }
        }
        let list = self.array_local(parts, element, span);
        self.record_copied_of_shared(&list, span, operands.iter().map(|(operand, _)| operand));
        list
    }

    /// The first two without a common type, or at least with different descriptions.
    fn unlike_pair<'o>(
        &mut self,
        operands: &'o [(Operand, Span)],
    ) -> (&'o (Operand, Span), &'o (Operand, Span)) {
        let shown_operands = &operands[..operands.len().min(MAX_PAIRED)];
        let mut pairs = shown_operands
            .iter()
            .enumerate()
            .flat_map(|(at, a)| shown_operands[at + 1..].iter().map(move |b| (a, b)));
        if let Some(pair) = pairs.find(|(a, b)| self.join_types(&[(&a.0, a.1), (&b.0, b.1)], None).is_none())
        {
            return pair;
        }
        let first = &operands[0];
        let what = self.describe(&first.0);
        let other = operands.iter().find(|(operand, _)| self.describe(operand) != what);
        (first, other.or(operands.get(1)).unwrap_or(first))
    }

    fn unlike_elements(&mut self, operands: &[(Operand, Span)]) -> Operand {
        let refs: Vec<(&Operand, Span)> = operands.iter().map(|(operand, at)| (operand, *at)).collect();
        if let Some(mistake) = self.ints_of_no_type(&refs) {
            return self.fail(mistake);
        }
        let (first, _) = &operands[0];
        if let Some(ty) = self.value_type(first)
            && let Some(beyond) =
                operands.iter().find_map(|(list, at)| self.out_of_range_error(list, &ty, *at))
        {
            return self.fail(beyond);
        }
        let ((first, first_span), (other, other_span)) = self.unlike_pair(operands);
        let what = self.describe(first);
        let cast = self.alike_hint((first, *first_span), (other, *other_span));
        let (first_span, other_span) = (*first_span, *other_span);
        let other = self.describe(other);
        self.fail(errors::list_types((self.at(first_span), &what), (self.at(other_span), &other), cast))
    }

    /// A local that contains these elements.
    pub fn array_local(&mut self, parts: Vec<NodeId>, element: Type, span: Span) -> Operand {
        let ty = Type::array(parts.len() as u32, element);
        if ty.packed_size() > 4 * MAX_ARRAY_LEN {
            return self.fail(errors::list_too_large(self.at(span), &ty, 4 * MAX_ARRAY_LEN));
        }
        let value = self.node(NodeKind::Construct(parts), ty.clone(), span);
        let local = self.new_local("list", ty.clone(), span);
        self.f.block.push(Stmt::Store { local, value, span });
        Operand::Place(Place::local(local, ty))
    }
}

/// Whether kernels have no such value.
fn is_of_the_host(value: &EnvValue) -> bool {
    matches!(value, EnvValue::Str(_) | EnvValue::Other { .. })
}

fn is_comparison(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Compare { comparisons, .. } if comparisons.len() == 1)
}

fn is_number(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Int(_) | ExprKind::Float(_))
}
