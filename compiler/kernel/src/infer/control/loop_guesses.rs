//! A first guess for an int that starts as a literal and is a float behind each round of a loop: `s = 0`, then
//! `s += x[i]`.
//!
//! The literal alone says `i32`. Another type is found only at the end of a round, and costs a walk over the function.
//! So the body is read before it is inferred: if a round gives the variable a float for certain, whatever it was before,
//! the walk starts with that type. A guess changes no result, since the round gives that type without it, too. So only
//! plain statements and arithmetic of scalars are understood, and nothing is certain where a test may be known before
//! the kernel runs, or where a variable may have another type at the head of the loop than before it.

use kps_syntax::Part;
use kps_syntax::ast::{Argument, ArgumentKind, BinaryOp, Expr, ExprKind, Name, Stmt, StmtKind, UnaryOp};
use kps_syntax::scope::walrus_names;

use super::loops::LoopParts;
use crate::builtins::{self, Builtin, Gives};
use crate::infer::Ctx;
use crate::infer::expressions::operand::Operand;
use crate::infer::expressions::weak_types::WeakSide;
use crate::infer::places::vars::{Binding, Var};
use crate::ir::BufferId;
use crate::types::{Scalar, Type};

/// What is certain of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guess {
    /// An int made of literals. It takes the type of the number beside it.
    Literal,
    /// A float made of literals.
    FloatLiteral,
    /// An int that only a run knows.
    Int,
    Float(Scalar),
    Unknown,
}

use self::Guess::{Float, FloatLiteral, Int, Literal, Unknown};

/// The variables that a round has assigned so far, with their last values.
type Assigned = Vec<(Var, Guess)>;

/// Reads the body of a loop.
struct Reader<'r, 'a> {
    ctx: &'r Ctx<'a>,
    /// The variables that the loop changes.
    changed: &'r [Var],
}

impl Ctx<'_> {
    /// The floats that a round gives to some of the variables that it changes.
    pub(in crate::infer) fn guessed_floats(&self, parts: &LoopParts, changed: &[Var]) -> Vec<(Var, Scalar)> {
        let reader = Reader { ctx: self, changed };
        let is_open = |var: Var| {
            reader.guess_of_binding(var) == Literal && self.f.assumed.is_open((parts.span.start, var))
        };
        if parts.may_be_dead || !changed.iter().any(|var| is_open(*var)) || has_walrus(parts.body) {
            return Vec::new();
        }
        let mut assigned: Assigned = parts.counter.iter().map(|var| (*var, Int)).collect();
        if !reader.block(parts.body, &mut assigned) {
            return Vec::new();
        }
        let floats = assigned.into_iter().filter_map(|(var, guess)| match guess {
            Float(scalar) if is_open(var) => Some((var, scalar)),
            _ => None,
        });
        floats.collect()
    }

    /// Whether only a run knows if the body of a loop with this test runs.
    pub(in crate::infer) fn is_known_at_run_time(&self, test: &Expr) -> bool {
        Reader { ctx: self, changed: &[] }.is_dynamic(test, &Assigned::new())
    }
}

impl Reader<'_, '_> {
    /// Whether control certainly can reach the end of the block, and all of it is understood.
    fn block(&self, block: &[Stmt], assigned: &mut Assigned) -> bool {
        block.iter().all(|stmt| self.stmt(stmt, assigned))
    }

    fn stmt(&self, stmt: &Stmt, assigned: &mut Assigned) -> bool {
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                for target in targets {
                    match &target.kind {
                        ExprKind::Name(name) => {
                            let guess = self.value(value, self.ctx.f.vars.named(name), assigned);
                            self.assign(name, guess, assigned);
                        }
                        ExprKind::Subscript { .. } => {}
                        _ => return false,
                    }
                }
            }
            StmtKind::AugAssign { target, op, value, .. } => {
                if let ExprKind::Name(name) = &target.kind {
                    let own = self.ctx.f.vars.named(name);
                    let sides = [target, value].map(|side| self.value(side, own, assigned));
                    self.assign(name, arithmetic(*op, sides), assigned);
                }
            }
            StmtKind::If { branches, orelse } => {
                if !branches.iter().all(|branch| self.is_dynamic(&branch.test, assigned)) {
                    return false;
                }
                let mut ends = Vec::with_capacity(branches.len() + 1);
                for block in branches.iter().map(|branch| &branch.body).chain([orelse]) {
                    let mut end = assigned.clone();
                    match block.last().map(|stmt| &stmt.kind) {
                        // Another path goes on.
                        Some(StmtKind::Break | StmtKind::Continue | StmtKind::Return(_)) => {}
                        _ if self.block(block, &mut end) => ends.push(end),
                        _ => return false,
                    }
                }
                let Some(first) = ends.pop() else { return false };
                *assigned = ends.into_iter().fold(first, |a, b| self.joined(&a, &b, either));
            }
            StmtKind::For { target, iter, body, orelse, .. } if is_range(iter) && orelse.is_empty() => {
                let ExprKind::Name(counter) = &target.kind else { return false };
                self.assign(counter, Int, assigned);
                let mut round = assigned.clone();
                if !self.block(body, &mut round) {
                    return false;
                }
                *assigned = self.joined(assigned, &round, after_rounds);
            }
            StmtKind::Expr(_) | StmtKind::Pass => {}
            _ => return false,
        }
        true
    }

    fn assign(&self, name: &str, guess: Guess, assigned: &mut Assigned) {
        let Some(var) = self.ctx.f.vars.named(name) else { return };
        match assigned.iter_mut().find(|(known, _)| *known == var) {
            Some((_, known)) => *known = guess,
            None => assigned.push((var, guess)),
        }
    }

    /// What is certain where two paths meet.
    fn joined(&self, a: &Assigned, b: &Assigned, join: fn(Guess, Guess) -> Guess) -> Assigned {
        let on = |path: &Assigned, var: Var| {
            let last = path.iter().find(|(known, _)| *known == var).map(|(_, guess)| *guess);
            last.unwrap_or_else(|| self.guess_of_binding(var))
        };
        let only_in_b = b.iter().filter(|(var, _)| !a.iter().any(|(known, _)| known == var));
        a.iter().chain(only_in_b).map(|(var, _)| (*var, join(on(a, *var), on(b, *var)))).collect()
    }

    /// What a variable is before the loop.
    fn guess_of_binding(&self, var: Var) -> Guess {
        let binding = &self.ctx.f.vars[var];
        if let Some(weak) = self.ctx.weak_binding(binding) {
            return match weak {
                WeakSide::Literal(_) | WeakSide::Stored(..) if self.ctx.own_scalar(&weak).is_int() => Literal,
                WeakSide::Literal(_) | WeakSide::Stored(..) => FloatLiteral,
                WeakSide::Node(_) => Unknown,
            };
        }
        match binding {
            Binding::Bound { operand: Operand::Node(node), .. } => of_type(self.ctx.ty(*node)),
            Binding::Stored { local, facts, .. } if !facts.guessed => {
                of_type(&self.ctx.f.func.local(*local).ty)
            }
            _ => Unknown,
        }
    }

    /// What a name stands for in a value that is assigned to `own`. At the head of the loop, a number made of literals
    /// may have any type. What `own` itself had does not matter.
    fn name(&self, name: &str, own: Option<Var>, assigned: &Assigned) -> Guess {
        let Some(var) = self.ctx.f.vars.named(name) else { return Unknown };
        if let Some((_, guess)) = assigned.iter().find(|(known, _)| *known == var) {
            return *guess;
        }
        match self.guess_of_binding(var) {
            Literal | FloatLiteral if self.changed.contains(&var) && own != Some(var) => Unknown,
            guess => guess,
        }
    }

    fn value(&self, expr: &Expr, own: Option<Var>, assigned: &Assigned) -> Guess {
        let value = |part: &Expr| self.value(part, own, assigned);
        match &expr.kind {
            ExprKind::Int(_) => Literal,
            ExprKind::Float(_) => FloatLiteral,
            ExprKind::Name(name) => self.name(name, own, assigned),
            ExprKind::Subscript { value, index } => {
                let Some(buffer) = self.buffer_named(value) else { return Unknown };
                let array = self.ctx.array(buffer);
                let n_indices = match &index.kind {
                    ExprKind::Tuple(items) => items.len(),
                    _ => 1,
                };
                match n_indices == usize::from(array.rank) && !has_slice(index) {
                    true => of_type(&array.element),
                    false => Unknown,
                }
            }
            ExprKind::Unary { op: UnaryOp::Minus | UnaryOp::Plus, operand } => value(operand),
            ExprKind::Binary { op, left, right, .. } => arithmetic(*op, [value(left), value(right)]),
            ExprKind::Call { func, args } => match &func.kind {
                ExprKind::Name(name) => self.call(name, args, own, assigned),
                _ => Unknown,
            },
            _ => Unknown,
        }
    }

    /// The result of `f32(..)`, or of a function such as `sqrt`.
    fn call(&self, name: &Name, args: &[Argument], own: Option<Var>, assigned: &Assigned) -> Guess {
        if self.ctx.f.vars.named(name).is_some() || self.ctx.f.env.get().get(name).is_some() {
            return Unknown;
        }
        match builtins::lookup(name) {
            Some(Builtin::Type(ty)) => of_type(&ty),
            Some(Builtin::Function(function)) if function.result == Gives::Same => {
                let of_args = args.iter().map(|arg| match &arg.kind {
                    ArgumentKind::Positional(arg) => self.value(arg, own, assigned),
                    _ => Unknown,
                });
                of_args.reduce(|a, b| arithmetic(BinaryOp::Add, [a, b])).unwrap_or(Unknown)
            }
            _ => Unknown,
        }
    }

    /// Whether only a run knows the value of an expression.
    fn is_dynamic(&self, expr: &Expr, assigned: &Assigned) -> bool {
        let is_dynamic = |part: &Expr| self.is_dynamic(part, assigned);
        match &expr.kind {
            ExprKind::Name(name) => {
                let Some(var) = self.ctx.f.vars.named(name) else { return false };
                let last = assigned.iter().find(|(known, _)| *known == var);
                match (last, &self.ctx.f.vars[var]) {
                    (Some((_, guess)), _) => matches!(guess, Int | Float(_)),
                    (None, Binding::Bound { operand: Operand::Node(node), .. }) => {
                        self.ctx.f.func.constant(*node).is_none()
                    }
                    (None, binding) => matches!(binding, Binding::Stored { .. }),
                }
            }
            ExprKind::Subscript { value, .. } => self.buffer_named(value).is_some(),
            ExprKind::Bool { values, .. } => values.iter().all(is_dynamic),
            ExprKind::Compare { left, comparisons } => {
                is_dynamic(left) || comparisons.iter().all(|comparison| is_dynamic(&comparison.right))
            }
            ExprKind::Unary { operand, .. } => is_dynamic(operand),
            ExprKind::Binary { left, right, .. } => is_dynamic(left) || is_dynamic(right),
            _ => false,
        }
    }

    /// The array that a name stands for in all of the loop.
    fn buffer_named(&self, expr: &Expr) -> Option<BufferId> {
        let ExprKind::Name(name) = &expr.kind else { return None };
        let var = self.ctx.f.vars.named(name).filter(|var| !self.changed.contains(var))?;
        match &self.ctx.f.vars[var] {
            Binding::Bound { operand: Operand::Buffer(buffer), .. } => Some(*buffer),
            _ => None,
        }
    }
}

fn of_type(ty: &Type) -> Guess {
    match ty {
        Type::Scalar(scalar) if scalar.is_float() => Float(*scalar),
        Type::Scalar(scalar) if scalar.is_int() => Int,
        _ => Unknown,
    }
}

/// A float and a number give that float; narrow floats take no ints but literals.
fn arithmetic(op: BinaryOp, sides: [Guess; 2]) -> Guess {
    if !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div) {
        return Unknown;
    }
    match sides {
        [Float(a), Float(b)] if a == b => Float(a),
        [Float(float), Literal | FloatLiteral] | [Literal | FloatLiteral, Float(float)] => Float(float),
        // An int beside it is a float from there on.
        [Literal | Int, FloatLiteral] | [FloatLiteral, Literal | Int] => Float(Scalar::F32),
        [Float(float), Int] | [Int, Float(float)] if float.bits() >= 32 => Float(float),
        [Literal | Int, Literal | Int] if op != BinaryOp::Div => match sides {
            [Literal, Literal] => Literal,
            _ => Int,
        },
        _ => Unknown,
    }
}

/// After one of two paths that both may be taken.
fn either(a: Guess, b: Guess) -> Guess {
    match (a, b) {
        (a, b) if a == b => a,
        (Literal, Float(float)) | (Float(float), Literal) => Float(float),
        _ => Unknown,
    }
}

/// After a loop that has no round, or some, or certainly some.
fn after_rounds(before: Guess, round: Guess) -> Guess {
    match (before, round) {
        (before, round) if before == round => round,
        (Literal, Float(float)) => Float(float),
        _ => Unknown,
    }
}

fn is_range(iter: &Expr) -> bool {
    let ExprKind::Call { func, .. } = &iter.kind else { return false };
    matches!(&func.kind, ExprKind::Name(name) if &**name == "range")
}

fn has_slice(index: &Expr) -> bool {
    match &index.kind {
        ExprKind::Tuple(items) => items.iter().any(has_slice),
        kind => matches!(kind, ExprKind::Slice { .. } | ExprKind::Starred(_)),
    }
}

fn has_walrus(body: &[Stmt]) -> bool {
    let mut found = false;
    for stmt in body {
        stmt.each_part(&mut |part| match part {
            Part::Expr(expr) | Part::Place(expr) => walrus_names(expr, &mut |_| found = true),
            Part::Block(block) => found |= has_walrus(block),
            Part::Name(..) => {}
        });
    }
    found
}
