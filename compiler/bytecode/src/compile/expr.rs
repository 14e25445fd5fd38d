//! Expressions: each stores its value in one register.

use kps_syntax::Span;
use kps_syntax::ast::*;

use super::Compiler;
use crate::emit::{Operand, Register};
use crate::errors;
use crate::op::{IN_PLACE, NO_SPEC, Op};
use crate::program::Constant;

/// Displays longer than this are built in parts, so that they need few registers.
const ROW: usize = 32;

/// The destination of an operation's result.
#[derive(Clone, Copy)]
pub(super) enum Dest {
    Given(Register),
    /// The first register that is free now; the operands may use it before.
    Next(Register),
}

impl Dest {
    fn register(self) -> Register {
        let (Dest::Given(register) | Dest::Next(register)) = self;
        register
    }
}

/// In which way an operator assigns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    InPlace,
}

pub(super) fn binary_opcode(op: BinaryOp) -> Op {
    match op {
        BinaryOp::Add => Op::Add,
        BinaryOp::Sub => Op::Sub,
        BinaryOp::Mul => Op::Mul,
        BinaryOp::MatMul => Op::MatMul,
        BinaryOp::Div => Op::Div,
        BinaryOp::FloorDiv => Op::FloorDiv,
        BinaryOp::Mod => Op::Mod,
        BinaryOp::Pow => Op::Pow,
        BinaryOp::LeftShift => Op::LeftShift,
        BinaryOp::RightShift => Op::RightShift,
        BinaryOp::BitAnd => Op::BitAnd,
        BinaryOp::BitOr => Op::BitOr,
        BinaryOp::BitXor => Op::BitXor,
    }
}

fn compare_opcode(op: CompareOp) -> Op {
    match op {
        CompareOp::Eq => Op::Eq,
        CompareOp::NotEq => Op::NotEq,
        CompareOp::Less => Op::Less,
        CompareOp::LessEq => Op::LessEq,
        CompareOp::Greater => Op::Greater,
        CompareOp::GreaterEq => Op::GreaterEq,
        CompareOp::Is => Op::Is,
        CompareOp::IsNot => Op::IsNot,
        CompareOp::In => Op::In,
        CompareOp::NotIn => Op::NotIn,
    }
}

/// An int literal that fits into a 16-bit operand.
pub(super) fn small_int(expr: &Expr) -> Option<i16> {
    match &expr.kind {
        ExprKind::Int(int) => i16::try_from(int).ok(),
        ExprKind::Unary { op: UnaryOp::Minus, operand } => match &operand.kind {
            ExprKind::Int(int) => i16::try_from(-int).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// The value of a constant expression; tuples are shared, so they contain only constants.
pub(super) fn constant(expr: &Expr) -> Option<Constant> {
    Some(match &expr.kind {
        ExprKind::None => Constant::None,
        ExprKind::True => Constant::Bool(true),
        ExprKind::False => Constant::Bool(false),
        ExprKind::Ellipsis => Constant::Ellipsis,
        ExprKind::Int(int) => match i64::try_from(int) {
            Ok(small) => Constant::Int(small),
            Err(_) => Constant::BigInt(int.clone()),
        },
        ExprKind::Float(float) => Constant::Float(*float),
        ExprKind::Imaginary(im) => Constant::Imaginary(*im),
        ExprKind::Str(text) => Constant::Str(text.clone()),
        ExprKind::Bytes(bytes) => Constant::Bytes(bytes.clone()),
        ExprKind::Unary { op: UnaryOp::Minus, operand } => match constant(operand)? {
            Constant::Int(int) => match int.checked_neg() {
                Some(negative) => Constant::Int(negative),
                None => Constant::BigInt(-num_bigint::BigInt::from(int)),
            },
            Constant::Float(float) => Constant::Float(-float),
            Constant::BigInt(int) => match i64::try_from(-&int) {
                Ok(small) => Constant::Int(small),
                Err(_) => Constant::BigInt(-int),
            },
            _ => return None,
        },
        ExprKind::Tuple(items) => Constant::Tuple(items.iter().map(constant).collect::<Option<_>>()?),
        _ => return None,
    })
}

impl<'a> Compiler<'a> {
    /// The value of an expression, in a variable's register or in a fresh temporary.
    pub(super) fn expr(&mut self, expr: &'a Expr) -> Operand {
        if let ExprKind::Name(name) = &expr.kind {
            self.emitter().span = expr.span;
            return self.name(name);
        }
        Operand::temporary(self.push(expr))
    }

    /// The value of an expression in a fresh temporary, the next one.
    pub(super) fn push(&mut self, expr: &'a Expr) -> Register {
        let is_late = matches!(
            expr.kind,
            ExprKind::Binary { .. }
                | ExprKind::Compare { .. }
                | ExprKind::Call { .. }
                | ExprKind::Attribute { .. }
                | ExprKind::Subscript { .. }
        );
        if is_late && constant(expr).is_none() {
            self.emitter().span = expr.span;
            let dest = self.emitter().mark() as Register;
            self.operation(expr, Dest::Next(dest));
            self.frame.emitter.release(dest as usize);
            return self.emitter().alloc();
        }
        let dest = self.emitter().alloc();
        self.expr_to(expr, dest);
        dest
    }

    /// As [`Compiler::expr`], but in a register that nothing else changes before it is read: later code may
    /// assign names inside of expressions.
    pub(super) fn stable(&mut self, expr: &'a Expr) -> Operand {
        let value = self.expr(expr);
        let ExprKind::Name(name) = &expr.kind else { return value };
        if value.ends || !self.scopes[self.frame.scope].walrus.contains(&self.mangled(name)) {
            return value;
        }
        let copy = self.emitter().alloc();
        self.emitter().abc(Op::Move, copy, value.register, 0);
        Operand::temporary(copy)
    }

    /// Operations whose operands precede their result: the result may reuse the first one's register.
    fn operation(&mut self, expr: &'a Expr, dest: Dest) {
        match &expr.kind {
            ExprKind::Binary { op, left, right, .. } => {
                let left = self.stable(left);
                self.binary_with(*op, left, right, dest.register(), expr.span, Mode::Plain);
            }
            ExprKind::Compare { left, comparisons } => self.compare(left, comparisons, dest, expr.span),
            ExprKind::Call { func, args } => {
                let at = self.call(func, args, expr.span);
                if at != dest.register() {
                    let flags = Operand::temporary(at).first();
                    self.emitter().abcx(Op::Move, dest.register(), at, 0, flags);
                }
            }
            ExprKind::Attribute { value, attr } => {
                let value = self.expr(value);
                let site = self.site(&attr.name);
                self.emitter().span = expr.span;
                self.emitter().abcx(Op::LoadAttr, dest.register(), value.register, site, value.first());
            }
            ExprKind::Subscript { value, index } => {
                let value = self.stable(value);
                let index = self.index(index);
                self.emitter().span = expr.span;
                let flags = value.first() | index.second();
                self.emitter().abcx(Op::LoadItem, dest.register(), value.register, index.register, flags);
            }
            _ => unreachable!("only operations come here"),
        }
    }

    fn is_temporary(&self, register: Register) -> bool {
        !self.frame.emitter.is_variable(register)
    }

    /// Evaluates into a given register. If that is a variable, it is written last.
    pub(super) fn expr_to(&mut self, expr: &'a Expr, dest: Register) {
        self.emitter().span = expr.span;
        let mark = self.frame.emitter.mark();
        self.expr_kind(expr, dest);
        self.frame.emitter.release(mark);
    }

    fn expr_kind(&mut self, expr: &'a Expr, dest: Register) {
        if let Some(constant) = constant(expr) {
            return self.emitter().load_constant(dest, constant);
        }
        match &expr.kind {
            ExprKind::Name(name) => self.name_to(name, dest),
            ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Call { .. }
            | ExprKind::Attribute { .. }
            | ExprKind::Subscript { .. } => self.operation(expr, Dest::Given(dest)),
            ExprKind::Unary { op, operand } => self.unary(*op, operand, dest, expr.span),
            ExprKind::Bool { op, values } => {
                self.in_temporary(dest, |this, dest| this.bool(*op, values, dest))
            }
            ExprKind::IfElse { test, then, orelse } => {
                self.in_temporary(dest, |this, dest| this.if_else(test, then, orelse, dest));
            }
            ExprKind::Walrus { target, value } => {
                let value = self.expr(value);
                self.emitter().abc(Op::Move, dest, value.register, 0);
                self.store_name(&target.name, value);
            }
            ExprKind::Slice { .. } => {
                let slice = self.index(expr);
                self.emitter().abcx(Op::Move, dest, slice.register, 0, slice.first());
            }
            ExprKind::List(items) => self.row(items, Op::BuildList, dest),
            ExprKind::Tuple(items) => self.row(items, Op::BuildTuple, dest),
            ExprKind::Set(items) => self.row(items, Op::BuildSet, dest),
            ExprKind::Dict(items) => self.in_temporary(dest, |this, dest| this.dict(items, dest)),
            ExprKind::FString(parts) => self.fstring(parts, dest),
            ExprKind::Lambda(lambda) => self.lambda(lambda, dest),
            ExprKind::ListComp { .. } | ExprKind::SetComp { .. } | ExprKind::DictComp { .. } => {
                self.in_temporary(dest, |this, dest| this.comprehension(expr, dest));
            }
            ExprKind::Generator { element, clauses } => self.generator(element, clauses, dest),
            ExprKind::Yield(value) => self.yield_value(value.as_deref(), dest),
            ExprKind::YieldFrom(value) => self.yield_from(value, dest),
            ExprKind::Await(_) => self.report(errors::async_code(self.location(expr.span))),
            ExprKind::Starred(_) => self.report(errors::lone_star(self.location(expr.span))),
            // A syntax error was reported for it.
            ExprKind::Error => {}
            ExprKind::None
            | ExprKind::True
            | ExprKind::False
            | ExprKind::Ellipsis
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Imaginary(_)
            | ExprKind::Str(_)
            | ExprKind::Bytes(_) => unreachable!("constants were handled first"),
        }
    }

    /// For code that builds its result in several steps: a variable must not change before the last one.
    fn in_temporary(&mut self, dest: Register, build: impl FnOnce(&mut Self, Register)) {
        if self.is_temporary(dest) {
            return build(self, dest);
        }
        let temporary = self.emitter().alloc();
        build(self, temporary);
        self.emitter().abcx(Op::Move, dest, temporary, 0, Operand::temporary(temporary).first());
    }

    /// `dest := left op right`.
    pub(super) fn binary_with(
        &mut self,
        op: BinaryOp,
        left: Operand,
        right: &'a Expr,
        dest: Register,
        span: Span,
        mode: Mode,
    ) {
        let in_place = if mode == Mode::InPlace { IN_PLACE } else { 0 };
        let short = match op {
            BinaryOp::Add => Some(Op::AddInt),
            BinaryOp::Sub => Some(Op::SubInt),
            BinaryOp::Mul => Some(Op::MulInt),
            _ => None,
        };
        if let (Some(short), Some(int)) = (short, small_int(right)) {
            self.emitter().span = span;
            self.emitter().abcx(short, dest, left.register, int as u16, left.first() | in_place);
            return;
        }
        let right = self.expr(right);
        self.emitter().span = span;
        let flags = left.first() | right.second() | in_place;
        self.emitter().abcx(binary_opcode(op), dest, left.register, right.register, flags);
    }

    fn unary(&mut self, op: UnaryOp, operand: &'a Expr, dest: Register, span: Span) {
        let value = self.expr(operand);
        let op = match op {
            UnaryOp::Minus => Op::Neg,
            UnaryOp::Plus => Op::Pos,
            UnaryOp::Invert => Op::Invert,
            UnaryOp::Not => Op::Not,
        };
        self.emitter().span = span;
        self.emitter().abcx(op, dest, value.register, 0, value.first());
    }

    fn compare(&mut self, left: &'a Expr, comparisons: &'a [Comparison], dest: Dest, span: Span) {
        let [comparison] = comparisons else {
            if let Dest::Next(_) = dest {
                self.emitter().alloc();
            }
            return self
                .in_temporary(dest.register(), |this, dest| this.compare_chain(left, comparisons, dest));
        };
        let dest = dest.register();
        let left = self.stable(left);
        let right = self.expr(&comparison.right);
        self.emitter().span = span;
        let flags = left.first() | right.second();
        self.emitter().abcx(compare_opcode(comparison.op), dest, left.register, right.register, flags);
    }

    /// `a < b < c`: each operand is evaluated once, and the first false result ends it.
    fn compare_chain(&mut self, left: &'a Expr, comparisons: &'a [Comparison], dest: Register) {
        let end = self.emitter().label();
        let mut left_operand = self.stable(left);
        let mut left_span = left.span;
        for (at, comparison) in comparisons.iter().enumerate() {
            let right = self.stable(&comparison.right);
            let is_last = at + 1 == comparisons.len();
            // The right operand is the next left one.
            let flags = left_operand.first() | if is_last { right.second() } else { 0 };
            self.emitter().span = left_span.to(comparison.right.span);
            let op = compare_opcode(comparison.op);
            self.emitter().abcx(op, dest, left_operand.register, right.register, flags);
            if !is_last {
                self.emitter().jump_with(Op::JumpIfFalse, dest, 0, end);
            }
            left_operand = right;
            left_span = comparison.right.span;
        }
        self.emitter().place(end);
    }

    /// `and`, `or`: the value that decides.
    fn bool(&mut self, op: BoolOp, values: &'a [Expr], dest: Register) {
        let end = self.emitter().label();
        let jump = if op == BoolOp::And { Op::JumpIfFalse } else { Op::JumpIfTrue };
        let mut after_first = None;
        for (at, value) in values.iter().enumerate() {
            self.expr_to(value, dest);
            if at == 0 {
                after_first = Some(self.frame.emitter.flow.clone());
            }
            if at + 1 < values.len() {
                self.emitter().jump_with(jump, dest, 0, end);
            }
        }
        self.emitter().place(end);
        self.frame.emitter.flow = after_first.expect("there are two values at least");
    }

    fn if_else(&mut self, test: &'a Expr, then: &'a Expr, orelse: &'a Expr, dest: Register) {
        let (other, end) = (self.emitter().label(), self.emitter().label());
        self.branch(test, other, false);
        let before = self.frame.emitter.flow.clone();
        self.expr_to(then, dest);
        self.emitter().jump(end);
        let after_then = std::mem::replace(&mut self.frame.emitter.flow, before);
        self.emitter().place(other);
        self.expr_to(orelse, dest);
        self.emitter().place(end);
        self.frame.emitter.flow.join(&after_then);
    }

    /// The expression between the brackets of a subscript.
    pub(super) fn index(&mut self, index: &'a Expr) -> Operand {
        match &index.kind {
            ExprKind::Slice { lower, upper, step } => {
                let first = self.emitter().alloc_row(3);
                for (at, part) in [lower, upper, step].into_iter().enumerate() {
                    match part {
                        Some(part) => self.expr_to(part, first + at as u16),
                        None => self.emitter().load_constant(first + at as u16, Constant::None),
                    }
                }
                self.emitter().span = index.span;
                self.emitter().abc(Op::BuildSlice, first, first, 0);
                Operand::temporary(first)
            }
            _ => self.expr(index),
        }
    }

    /// A list, tuple or set of expressions, stars among them or not.
    fn row(&mut self, items: &'a [Expr], op: Op, dest: Register) {
        let has_star = items.iter().any(|item| matches!(item.kind, ExprKind::Starred(_)));
        if !has_star && items.len() <= ROW {
            let first = self.emitter().mark() as Register;
            for item in items {
                self.push(item);
            }
            self.emitter().abc(op, dest, first, items.len() as u16);
            return;
        }
        let is_set = op == Op::BuildSet;
        let into = self.emitter().alloc();
        self.emitter().abc(if is_set { Op::BuildSet } else { Op::BuildList }, into, into, 0);
        self.append_all(items, into, is_set);
        if op == Op::BuildTuple {
            self.emitter().abc(Op::ListToTuple, into, 0, 0);
        }
        self.emitter().abcx(Op::Move, dest, into, 0, Operand::temporary(into).first());
    }

    fn append_all(&mut self, items: &'a [Expr], into: Register, is_set: bool) {
        let (add, extend) =
            if is_set { (Op::SetAdd, Op::SetUpdate) } else { (Op::ListAppend, Op::ListExtend) };
        for item in items {
            let mark = self.frame.emitter.mark();
            let (value, op) = match &item.kind {
                ExprKind::Starred(inner) => (self.expr(inner), extend),
                _ => (self.expr(item), add),
            };
            self.emitter().span = item.span;
            self.emitter().abcx(op, into, value.register, 0, value.first());
            self.frame.emitter.release(mark);
        }
    }

    fn dict(&mut self, items: &'a [DictItem], dest: Register) {
        let pairs: Option<Vec<_>> = items
            .iter()
            .map(|item| match item {
                DictItem::Pair(key, value) => Some((key, value)),
                DictItem::Spread(_) => None,
            })
            .collect();
        if let Some(pairs) = pairs.filter(|pairs| pairs.len() <= ROW) {
            let span = self.frame.emitter.span;
            let first = self.emitter().mark() as Register;
            for (key, value) in &pairs {
                self.push(key);
                self.push(value);
            }
            self.emitter().span = span;
            self.emitter().abc(Op::BuildDict, dest, first, pairs.len() as u16);
            return;
        }
        self.emitter().abc(Op::BuildDict, dest, dest, 0);
        for item in items {
            let mark = self.frame.emitter.mark();
            match item {
                DictItem::Pair(key, value) => {
                    let (key, value) = (self.stable(key), self.expr(value));
                    let flags = key.first() | value.second();
                    self.emitter().abcx(Op::DictInsert, dest, key.register, value.register, flags);
                }
                DictItem::Spread(mapping) => {
                    let mapping = self.expr(mapping);
                    self.emitter().abcx(Op::DictUpdate, dest, mapping.register, 0, mapping.first());
                }
            }
            self.frame.emitter.release(mark);
        }
    }

    fn fstring(&mut self, parts: &'a [FStringPart], dest: Register) {
        let span = self.frame.emitter.span;
        let first = self.frame.emitter.mark() as Register;
        let mut n_parts = 0;
        for part in parts {
            match part {
                FStringPart::Literal(text) => {
                    let register = self.emitter().alloc();
                    self.emitter().load_constant(register, Constant::Str(text.clone()));
                    n_parts += 1;
                }
                FStringPart::Value(value) => n_parts += self.fstring_value(value),
            }
        }
        self.emitter().span = span;
        self.emitter().abc(Op::BuildString, dest, first, n_parts);
    }

    /// The text of one replacement field, in one register, or in two with its `=` text before it.
    fn fstring_value(&mut self, value: &'a FStringValue) -> u16 {
        let mut n_registers = 1;
        if let Some(text) = &value.debug_text {
            let register = self.emitter().alloc();
            self.emitter().load_constant(register, Constant::Str(text.clone()));
            n_registers += 1;
        }
        let register = self.push(&value.expr);
        let mark = self.frame.emitter.mark();
        let spec = match value.spec.as_deref() {
            None | Some([]) => NO_SPEC,
            Some(parts) => {
                let spec = self.emitter().alloc();
                let inner = self.frame.emitter.mark();
                self.fstring(parts, spec);
                self.frame.emitter.release(inner);
                spec
            }
        };
        let conversion = match value.conversion {
            Some(Conversion::Str) => 1,
            Some(Conversion::Repr) => 2,
            Some(Conversion::Ascii) => 3,
            // `{x=}` shows the repr, unless it is formatted in another way.
            None if value.debug_text.is_some() && value.spec.is_none() => 2,
            None => 0,
        };
        self.emitter().span = value.span;
        self.emitter().abcx(Op::Format, register, register, spec, conversion);
        self.frame.emitter.release(mark);
        n_registers
    }

    fn yield_value(&mut self, value: Option<&'a Expr>, dest: Register) {
        let span = self.frame.emitter.span;
        let register = self.emitter().alloc();
        match value {
            Some(value) => self.expr_to(value, register),
            None => self.emitter().load_constant(register, Constant::None),
        }
        self.emitter().span = span;
        self.emitter().abc(Op::Yield, dest, register, 0);
    }

    fn yield_from(&mut self, value: &'a Expr, dest: Register) {
        let span = self.frame.emitter.span;
        let (iter, item) = (self.emitter().alloc(), self.emitter().alloc());
        let value = self.expr(value);
        self.emitter().span = span;
        self.emitter().abcx(Op::Iter, iter, value.register, 0, value.first());
        self.emitter().load_constant(item, Constant::None);
        let step = self.emitter().here();
        let end = self.emitter().label();
        // ORDER: an exception thrown into the suspended generator finds the iterator by the instructions
        // before.
        self.emitter().abc(Op::Delegate, item, iter, 0);
        self.emitter().jump(end);
        self.emitter().abc(Op::Yield, item, item, 0);
        self.emitter().jump(step);
        self.emitter().place(end);
        self.emitter().abc(Op::Clear, iter, 1, 0);
        self.emitter().abcx(Op::Move, dest, item, 0, Operand::temporary(item).first());
    }
}
