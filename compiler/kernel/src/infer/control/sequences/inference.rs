//! Ranges and other sequences as values.

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::{
    BinaryOp as AstBinaryOp, CompareOp as AstCompareOp, Expr, Stmt as AstStmt, StmtKind, UnaryOp,
};

use super::{Sequence, Spanned};
use crate::aliases::Event;
use crate::constant::{Constant, Literal};
use crate::errors;
use crate::errors::Found;
use crate::infer::Ctx;
use crate::infer::builtin_calls::BuiltinCall;
use crate::infer::control::loops::LoopParts;
use crate::infer::control::loops::inference::target_vars;
use crate::infer::expressions::operand::{Operand, Static};
use crate::infer::places::vars::Missing;
use crate::ir::{BinaryOp, CompareOp, Loop, NodeId, NodeKind, Place, Step, Stmt};
use crate::resolve::has_exit;
use crate::types::{Scalar, Type};

/// A sequence with everything computed that its rounds share.
enum Walk {
    Range {
        ty: Scalar,
        first: NodeId,
        step: NodeId,
        count: NodeId,
    },
    Array(Place, u32),
    Vector(NodeId),
    /// The rows of a matrix, and their number.
    Rows(NodeId, u32),
    /// The first axis of an array parameter or of a row, with its length.
    Axis(Operand, NodeId),
    Enumerate(Box<Walk>, NodeId),
    Zip(Vec<Walk>),
    Reversed(Box<Walk>),
}

fn sequence(sequence: Sequence) -> Operand {
    Operand::Static(Static::Sequence(Rc::new(sequence)))
}

impl Ctx<'_> {
    pub fn range_call(&mut self, call: &BuiltinCall) -> Operand {
        let bound = |value: i128| (Operand::int(value), call.span);
        let bounds = match call.args {
            [stop] => [bound(0), stop.clone(), bound(1)],
            [start, stop] => [start.clone(), stop.clone(), bound(1)],
            [start, stop, step, ..] => [start.clone(), stop.clone(), step.clone()],
            [] => return Operand::Error,
        };
        sequence(Sequence::Range(bounds, call.span))
    }

    pub fn enumerate(&mut self, call: &BuiltinCall) -> Operand {
        let start = call.args.get(1).cloned().unwrap_or((Operand::int(0), call.span));
        sequence(Sequence::Enumerate(call.args[0].clone(), start))
    }

    pub fn zip(&mut self, call: &BuiltinCall) -> Operand {
        sequence(Sequence::Zip(call.args.to_vec()))
    }

    pub fn reversed(&mut self, call: &BuiltinCall) -> Operand {
        sequence(Sequence::Reversed(call.args[0].clone()))
    }

    pub fn unroll(&mut self, call: &BuiltinCall) -> Operand {
        sequence(Sequence::Unroll(call.args[0].clone()))
    }

    // Loops.

    /// `for` over any sequence.
    pub fn for_elements(
        &mut self,
        target: &Expr,
        iterable: &Spanned,
        body: &[AstStmt],
        orelse: &[AstStmt],
        span: Span,
    ) {
        let at = iterable.1;
        if matches!(&iterable.0, Operand::Tuple(items) if items.is_empty()) {
            return self.block(orelse);
        }
        let n_diagnostics = self.n_diagnostics();
        let Some(walk) = self.walk(iterable) else {
            // An empty sequence has no round to compile.
            return match self.is_unknown(&Operand::Error, n_diagnostics) {
                true => self.walk_maybe_skipped(|ctx| ctx.for_unknown(target, body, orelse, span)),
                false => self.for_unknown(target, body, orelse, span),
            };
        };
        let ty = self.counter_type(&walk);
        let Some(count) = self.count(&walk, ty, at) else {
            return self.for_unknown(target, body, orelse, span);
        };
        let n_rounds = self.f.func.constant(count).and_then(Constant::as_int);
        let missing = Missing { span: at, text: "not when this is empty" };
        let parts = LoopParts {
            span,
            body,
            orelse,
            counter: None,
            may_be_dead: false,
            missing,
            runs_once: n_rounds.is_some_and(|n| n > 0),
            tests_itself: false,
        };
        let counter = self.new_local("kps.round", ty.into(), at);
        let zero = self.constant(Constant::zero(ty), at);
        self.f.block.push(Stmt::Store { local: counter, value: zero, span: at });
        let targets = target_vars(self, target);
        let n_iterated = self.record_iterated(iterable);
        self.walk_loop(
            &parts,
            &targets,
            |ctx| {
                let now = ctx.node(NodeKind::Load(counter), ty, at);
                Some(ctx.node(NodeKind::Compare(CompareOp::Less, now, count), Type::BOOL, at))
            },
            |ctx| {
                let now = ctx.node(NodeKind::Load(counter), ty, at);
                let value = ctx.value_at(&walk, now, at);
                ctx.assign_target(target, value, target.span);
            },
            |ctx| {
                let now = ctx.node(NodeKind::Load(counter), ty, at);
                let one = ctx.constant(Constant::int(ty, 1), at);
                let next = ctx.node(NodeKind::Binary(BinaryOp::Add, now, one), ty, at);
                ctx.f.block.push(Stmt::Store { local: counter, value: next, span: at });
            },
        );
        self.f.lists.record.push(Event::IterationsEnd(n_iterated));
    }

    /// `for` over `unroll(..)`: the body once for each round.
    pub fn for_unrolled(
        &mut self,
        target: &Expr,
        iterable: &Spanned,
        body: &[AstStmt],
        orelse: &[AstStmt],
        span: Span,
    ) {
        let at = iterable.1;
        if has_exit(body, |exit| matches!(exit, StmtKind::Break | StmtKind::Continue)) {
            return self.error(errors::exit_of_unrolled(self.at(at)));
        }
        let walk = self.walk(iterable);
        let count = walk.as_ref().and_then(|walk| self.count(walk, self.counter_type(walk), at));
        let (Some(walk), Some(count)) = (walk, count) else {
            return self.for_unknown(target, body, orelse, span);
        };
        let Some(n_rounds) = self.f.func.constant(count).and_then(Constant::as_int) else {
            self.error(errors::unknown_rounds(self.at(at)));
            return self.for_unknown(target, body, orelse, span);
        };
        let n_iterated = self.record_iterated(iterable);
        for round in 0..n_rounds {
            if !self.f.live || self.budget.is_spent() {
                break;
            }
            let item = self.known_item(&walk, round, at);
            self.assign_target(target, item, target.span);
            self.block(body);
        }
        self.f.lists.record.push(Event::IterationsEnd(n_iterated));
        if self.f.live {
            self.block(orelse);
        }
    }

    /// Records over which lists a loop goes. Returns their number.
    fn record_iterated(&mut self, (operand, span): &Spanned) -> usize {
        match operand {
            Operand::Place(place) => {
                self.f.lists.record.push(Event::Iterates(place.clone(), *span));
                1
            }
            Operand::Static(Static::Sequence(sequence)) => match &**sequence {
                Sequence::Enumerate(of, _) | Sequence::Reversed(of) | Sequence::Unroll(of) => {
                    self.record_iterated(of)
                }
                Sequence::Zip(of) => of.iter().map(|of| self.record_iterated(of)).sum(),
                Sequence::Range(..) => 0,
            },
            _ => 0,
        }
    }

    fn walk(&mut self, (operand, span): &Spanned) -> Option<Walk> {
        match operand {
            Operand::Place(place) => match place.ty.clone() {
                Type::Array(array) => Some(Walk::Array(place.clone(), array.len)),
                Type::Matrix { rows, .. } => Some(Walk::Rows(self.load_whole(place, *span), rows.into())),
                ty => self.no_walk(&Found::Value(ty), *span),
            },
            Operand::Tuple(items) => {
                let items: Vec<Spanned> = items.iter().map(|item| (item.clone(), *span)).collect();
                let first = self.describe(&items[0].0);
                if let Some((other, _)) = items.iter().find(|(item, _)| !self.are_alike(&items[0].0, item)) {
                    let other = self.describe(other);
                    self.error(errors::mixed_tuple(self.at(*span), &first, &other));
                    return None;
                }
                let list = self.list_of_items(&items, *span);
                self.walk(&(list, *span))
            }
            Operand::Node(node) => match *self.ty(*node) {
                Type::Vector(..) => Some(Walk::Vector(*node)),
                Type::Matrix { rows, .. } => Some(Walk::Rows(*node, rows.into())),
                _ => {
                    let what = self.describe(operand);
                    self.no_walk(&what, *span)
                }
            },
            Operand::Buffer(_) | Operand::Row(_) => {
                let (buffer, axis) = self.array_place(operand);
                let len = self.axis_len(buffer, axis, *span);
                Some(Walk::Axis(operand.clone(), len))
            }
            Operand::Static(Static::Sequence(sequence)) => self.walk_sequence(&sequence.clone()),
            Operand::Error => None,
            operand => {
                let what = self.describe(operand);
                self.no_walk(&what, *span)
            }
        }
    }

    /// Whether two items of a tuple can be elements of one list.
    fn are_alike(&mut self, a: &Operand, b: &Operand) -> bool {
        let at = Span::default();
        a.has_error() || b.has_error() || self.join_values(&[(a, at), (b, at)]).is_some()
    }

    fn no_walk(&mut self, what: &Found, span: Span) -> Option<Walk> {
        let text = self.f.source.slice(span).to_owned();
        self.error(errors::not_iterable(self.at(span), what, &text));
        None
    }

    fn walk_sequence(&mut self, sequence: &Sequence) -> Option<Walk> {
        Some(match sequence {
            Sequence::Range(bounds, span) => {
                let (ty, [first, stop, step]) = self.range_bounds(bounds)?;
                let count = self.round_count(ty, first, stop, step, *span);
                Walk::Range { ty, first, step, count }
            }
            Sequence::Enumerate(of, (start, at)) => {
                let walk = self.walk(of)?;
                let Some(start) = self.try_convert(start, &Type::I32, *at) else {
                    let (text, what) = (self.f.source.slice(*at).to_owned(), self.describe(start));
                    self.error(errors::range_bound(self.at(*at), &text, &what));
                    return None;
                };
                Walk::Enumerate(Box::new(walk), start)
            }
            Sequence::Zip(parts) => {
                Walk::Zip(parts.iter().map(|part| self.walk(part)).collect::<Option<_>>()?)
            }
            Sequence::Reversed(of) => Walk::Reversed(Box::new(self.walk(of)?)),
            Sequence::Unroll(of) => self.walk(of)?,
        })
    }

    /// Unsigned, and as wide as the widest range in it.
    fn counter_type(&self, walk: &Walk) -> Scalar {
        match walk {
            Walk::Range { ty, .. } if ty.bits() == 64 => Scalar::U64,
            Walk::Axis(_, len) if self.ty(*len).scalar() == Some(Scalar::I64) => Scalar::U64,
            Walk::Enumerate(of, _) | Walk::Reversed(of) => self.counter_type(of),
            Walk::Zip(parts) => {
                let is_wide = parts.iter().any(|part| self.counter_type(part) == Scalar::U64);
                if is_wide { Scalar::U64 } else { Scalar::U32 }
            }
            _ => Scalar::U32,
        }
    }

    /// The number of rounds, as `ty`.
    fn count(&mut self, walk: &Walk, ty: Scalar, span: Span) -> Option<NodeId> {
        let known = |ctx: &mut Self, n: u32| ctx.constant(Constant::int(ty, n.into()), span);
        Some(match walk {
            Walk::Range { count, .. } | Walk::Axis(_, count) => self.convert(*count, ty, span),
            Walk::Array(_, len) | Walk::Rows(_, len) => known(self, *len),
            Walk::Vector(vector) => {
                let n = u32::from(self.ty(*vector).n_components());
                known(self, n)
            }
            Walk::Enumerate(of, _) | Walk::Reversed(of) => self.count(of, ty, span)?,
            Walk::Zip(parts) => {
                let mut least: Option<NodeId> = None;
                for part in parts {
                    let count = self.count(part, ty, span)?;
                    least = Some(match least {
                        None => count,
                        Some(least) => self.least(least, count, ty, span),
                    });
                }
                least?
            }
        })
    }

    fn least(&mut self, a: NodeId, b: NodeId, ty: Scalar, span: Span) -> NodeId {
        let value = |node: NodeId| self.f.func.constant(node).and_then(Constant::as_int);
        if let (Some(x), Some(y)) = (value(a), value(b)) {
            return if y < x { b } else { a };
        }
        let condition = self.node(NodeKind::Compare(CompareOp::Less, b, a), Type::BOOL, span);
        self.node(NodeKind::Select { condition, then: b, orelse: a }, ty, span)
    }

    /// The item of round `at`.
    fn value_at(&mut self, walk: &Walk, at: NodeId, span: Span) -> Operand {
        match walk {
            Walk::Range { ty, first, step, .. } => {
                let round = self.as_int(at, *ty, span);
                Operand::Node(self.value_of_round(*ty, (*first, *step), round, span))
            }
            Walk::Array(place, _) => self.element_of(place, Step::At(at), span),
            Walk::Vector(vector) => {
                let scalar = self.ty(*vector).scalar().expect("vectors have one");
                Operand::Node(self.node(NodeKind::ExtractAt { whole: *vector, index: at }, scalar, span))
            }
            Walk::Rows(matrix, _) => Operand::Node(self.row(*matrix, &Step::At(at), span)),
            Walk::Axis(array, _) => self.first_axis_at(array, at, span),
            Walk::Enumerate(of, start) => {
                let round = self.as_int(at, Scalar::I32, span);
                let is_zero = self.f.func.constant(*start) == Some(Constant::i32(0));
                let number = match is_zero {
                    true => round,
                    false => self.node(NodeKind::Binary(BinaryOp::Add, *start, round), Type::I32, span),
                };
                let value = self.value_at(of, at, span);
                Operand::Tuple(Rc::new([Operand::Node(number), value]))
            }
            Walk::Zip(parts) => {
                Operand::Tuple(parts.iter().map(|part| self.value_at(part, at, span)).collect())
            }
            Walk::Reversed(of) => {
                let Type::Scalar(ty) = *self.ty(at) else { return Operand::Error };
                let Some(count) = self.count(of, ty, span) else { return Operand::Error };
                let one = self.constant(Constant::int(ty, 1), span);
                let last = self.node(NodeKind::Binary(BinaryOp::Sub, count, one), ty, span);
                let mirrored = self.node(NodeKind::Binary(BinaryOp::Sub, last, at), ty, span);
                self.value_at(of, mirrored, span)
            }
        }
    }

    /// The item of a round that is known.
    fn known_item(&mut self, walk: &Walk, round: i128, span: Span) -> Operand {
        let known = |ctx: &Self, node: NodeId| ctx.f.func.constant(node).and_then(Constant::as_int);
        let part = || Step::Part(u32::try_from(round).expect("a round is below the number of parts"));
        match walk {
            Walk::Range { ty, first, step, .. } => match (known(self, *first), known(self, *step)) {
                (Some(first), Some(step)) => {
                    Operand::Node(self.constant(Constant::int(*ty, first + round * step), span))
                }
                _ => {
                    let round = self.constant(Constant::int(*ty, round), span);
                    Operand::Node(self.value_of_round(*ty, (*first, *step), round, span))
                }
            },
            Walk::Array(place, _) => self.element_of(place, part(), span),
            Walk::Vector(vector) => self.load_components(*vector, &[part().part()], span),
            Walk::Rows(matrix, _) => Operand::Node(self.row(*matrix, &part(), span)),
            Walk::Axis(array, _) => {
                let at = self.constant(Constant::int(Scalar::I32, round), span);
                self.first_axis_at(array, at, span)
            }
            Walk::Enumerate(of, start) => {
                let number = match known(self, *start) {
                    Some(start) => self.constant(Constant::int(Scalar::I32, start + round), span),
                    None => {
                        let round = self.constant(Constant::int(Scalar::I32, round), span);
                        self.node(NodeKind::Binary(BinaryOp::Add, *start, round), Type::I32, span)
                    }
                };
                let value = self.known_item(of, round, span);
                Operand::Tuple(Rc::new([Operand::Node(number), value]))
            }
            Walk::Zip(parts) => {
                Operand::Tuple(parts.iter().map(|part| self.known_item(part, round, span)).collect())
            }
            Walk::Reversed(of) => {
                let count = self.count(of, Scalar::U32, span).and_then(|count| known(self, count));
                let Some(count) = count else { return Operand::Error };
                self.known_item(of, count - 1 - round, span)
            }
        }
    }

    /// A counter as an int of the script: the same bits if the width is the same.
    fn as_int(&mut self, counter: NodeId, ty: Scalar, span: Span) -> NodeId {
        let from = self.ty(counter).scalar().expect("counters are ints");
        match () {
            () if from == ty => counter,
            () if from.bits() == ty.bits() => self.node(NodeKind::Bitcast(counter), ty, span),
            () => self.convert(counter, ty, span),
        }
    }

    // Membership.

    /// `x in xs`, `x not in xs`.
    pub fn membership(
        &mut self,
        op: AstCompareOp,
        left: &Operand,
        right: &Operand,
        op_span: Span,
        spans: (Span, Span),
    ) -> Operand {
        if left.has_error() || right.has_error() {
            return Operand::Error;
        }
        let span = spans.0.to(spans.1);
        let contained = self.struct_contains((right, spans.1), (left, spans.0));
        let found = match right {
            _ if let Some(contained) = contained => contained,
            Operand::Tuple(items) => self.is_any_of(left, items, op_span, spans),
            Operand::Node(node) if self.ty(*node).is_vector() => {
                let n = u32::from(self.ty(*node).n_components());
                let parts: Vec<Operand> =
                    (0..n).map(|at| self.load_components(*node, &[at], spans.1)).collect();
                self.is_any_of(left, &parts, op_span, spans)
            }
            Operand::Place(place) if matches!(place.ty, Type::Array(_)) => {
                self.is_in_list(left, place, op_span, spans)
            }
            Operand::Static(Static::Sequence(sequence)) => match &**sequence {
                Sequence::Range(bounds, _) => self.is_in_range(left, &bounds.clone(), op_span, spans),
                other => self.fail(errors::not_a_container(self.at(spans.1), &Found::Sequence(other.kind()))),
            },
            operand => {
                let what = self.describe(operand);
                self.fail(errors::not_a_container(self.at(spans.1), &what))
            }
        };
        match op {
            AstCompareOp::NotIn => self.unary(UnaryOp::Not, &found, span, span),
            _ => found,
        }
    }

    fn is_any_of(
        &mut self,
        left: &Operand,
        items: &[Operand],
        op_span: Span,
        spans: (Span, Span),
    ) -> Operand {
        let span = spans.0.to(spans.1);
        let mut any: Option<Operand> = None;
        for item in items {
            let shapes = [left, item].map(|side| self.value_type(side).map(|ty| ty.n_components()));
            if shapes[0] != shapes[1] {
                let (what, item) = (self.describe(left), self.describe(item));
                let (left, right) = ((self.at(spans.0), &what), (self.at(spans.1), &item));
                return self.fail(errors::operand_types(self.at(op_span), "in", left, right, None));
            }
            let Some(equal) = self.equal(left, item, op_span, spans) else { return Operand::Error };
            any = Some(match any {
                None => equal,
                Some(any) => self.binary(AstBinaryOp::BitOr, &any, &equal, op_span, (spans.0, spans.1)),
            });
        }
        any.unwrap_or_else(|| self.bool_constant(false, span))
    }

    /// A single bool, for vectors as well. `None` after a mistake.
    pub fn equal(&mut self, a: &Operand, b: &Operand, op_span: Span, spans: (Span, Span)) -> Option<Operand> {
        match self.compare(AstCompareOp::Eq, a, b, op_span, spans) {
            Operand::Node(node) if self.ty(node).is_vector() => {
                Some(Operand::Node(self.node(NodeKind::All(node), Type::BOOL, spans.0.to(spans.1))))
            }
            Operand::Error => None,
            equal => Some(equal),
        }
    }

    /// A loop that exits at the first equal element.
    fn is_in_list(&mut self, left: &Operand, place: &Place, op_span: Span, spans: (Span, Span)) -> Operand {
        let Type::Array(array) = place.ty.clone() else { return Operand::Error };
        let span = spans.0.to(spans.1);
        let (found, counter) =
            (self.new_local("kps.found", Type::BOOL, span), self.new_local("kps.round", Type::I32, span));
        let (no, zero) = (self.constant(Constant::bool(false), span), self.constant(Constant::i32(0), span));
        self.f.block.push(Stmt::Store { local: found, value: no, span });
        self.f.block.push(Stmt::Store { local: counter, value: zero, span });
        let (test, condition) = self.sub_block(|ctx| {
            let now = ctx.node(NodeKind::Load(counter), Type::I32, span);
            let len = ctx.constant(Constant::i32(array.len as i32), span);
            ctx.node(NodeKind::Compare(CompareOp::Less, now, len), Type::BOOL, span)
        });
        let (body, equal) = self.sub_block(|ctx| {
            let now = ctx.node(NodeKind::Load(counter), Type::I32, span);
            let element = ctx.element_of(place, Step::At(now), span);
            let equal = ctx.equal(left, &element, op_span, spans)?;
            let condition = ctx.materialize(&equal, span)?;
            let value = ctx.constant(Constant::bool(true), span);
            let then = vec![Stmt::Store { local: found, value, span }, Stmt::Break];
            ctx.f.block.push(Stmt::If { condition, then, orelse: Vec::new(), span });
            Some(())
        });
        if equal.is_none() {
            return Operand::Error;
        }
        let (step, ()) = self.sub_block(|ctx| {
            let now = ctx.node(NodeKind::Load(counter), Type::I32, span);
            let one = ctx.constant(Constant::i32(1), span);
            let next = ctx.node(NodeKind::Binary(BinaryOp::Add, now, one), Type::I32, span);
            ctx.f.block.push(Stmt::Store { local: counter, value: next, span });
        });
        let parts = Loop { test, condition: Some(condition), body, step, span };
        self.f.block.push(Stmt::Loop(Box::new(parts)));
        Operand::Node(self.node(NodeKind::Load(found), Type::BOOL, span))
    }

    /// Between the bounds, and a whole number of steps from the start.
    fn is_in_range(
        &mut self,
        left: &Operand,
        bounds: &[Spanned; 3],
        op_span: Span,
        spans: (Span, Span),
    ) -> Operand {
        let [(start, start_span), (stop, stop_span), (step, step_span)] = bounds;
        if self.range_bounds(bounds).is_none() || left.has_error() {
            return Operand::Error;
        }
        let is_int = self.value_type(left).is_some_and(|ty| matches!(ty, Type::Scalar(ty) if ty.is_int()));
        if !is_int {
            let what = self.describe(left);
            return self.fail(errors::not_in_range(self.at(spans.0), &what));
        }
        let known_step = self.known_int(step).filter(|step| *step != 0);
        let Some(step) = known_step else { return self.fail(errors::range_step(self.at(*step_span))) };
        let (low, high) = match step > 0 {
            true => (AstCompareOp::GreaterEq, AstCompareOp::Less),
            false => (AstCompareOp::LessEq, AstCompareOp::Greater),
        };
        let a = self.compare(low, left, start, op_span, (spans.0, *start_span));
        let b = self.compare(high, left, stop, op_span, (spans.0, *stop_span));
        let inside = self.binary(AstBinaryOp::BitAnd, &a, &b, op_span, spans);
        if step.abs() == 1 {
            return inside;
        }
        let step = Operand::Literal(Literal::Int(step));
        let x = self.binary(AstBinaryOp::Mod, left, &step, op_span, spans);
        let first = self.binary(AstBinaryOp::Mod, start, &step, op_span, (*start_span, spans.1));
        let on_step = self.compare(AstCompareOp::Eq, &x, &first, op_span, spans);
        self.binary(AstBinaryOp::BitAnd, &inside, &on_step, op_span, spans)
    }
}
