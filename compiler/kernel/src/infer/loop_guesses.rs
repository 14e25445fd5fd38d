//! A first guess for a number that starts as a literal and is changed by a loop: `s = 0`, then `s += x[i]`.
//!
//! The literal alone says `i32`. Another type is found only at the end of a round, and costs a walk over the function.
//! So the body is read before it is inferred: if a round gives the variable a float for certain, whatever it was before,
//! the walk starts with that type. Only plain statements and arithmetic of scalars are understood. Where a test may be
//! known before the kernel runs, so that a branch is no part of it, nothing is certain.

use kps_syntax::Part;
use kps_syntax::ast::{Argument, ArgumentKind, BinaryOp, Expr, ExprKind, Name, Stmt, StmtKind, UnaryOp};
use kps_syntax::scope::{assigned_names, walrus_names};

use super::Ctx;
use super::loops::LoopParts;
use super::operand::Operand;
use super::vars::{Binding, Var};
use crate::builtins::{self, Builtin, Gives};
use crate::ir::BufferId;
use crate::types::{Scalar, Type};

/// What is certain of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Guess {
    /// A number that takes the type of a float beside it.
    Number,
    /// Such a number that only a run knows: the counter of a loop.
    Counter,
    Float(Scalar),
    Unknown,
}

/// The variables that were assigned so far, with their last values.
type Assigned = Vec<(Var, Guess)>;

impl Ctx<'_> {
    /// The floats that a round gives to some of these variables.
    pub(super) fn guessed_floats(&self, parts: &LoopParts, weak: &[Var]) -> Vec<(Var, Scalar)> {
        if weak.is_empty() || parts.may_be_dead || has_walrus(parts.body) {
            return Vec::new();
        }
        let mut assigned: Assigned = parts.counter.iter().map(|var| (*var, Guess::Counter)).collect();
        if !self.guess_block(parts.body, &mut assigned) {
            return Vec::new();
        }
        let floats = assigned.into_iter().filter_map(|(var, guess)| match guess {
            Guess::Float(scalar) if weak.contains(&var) => Some((var, scalar)),
            _ => None,
        });
        floats.collect()
    }

    /// Whether control reaches the end of the block.
    fn guess_block(&self, block: &[Stmt], assigned: &mut Assigned) -> bool {
        block.iter().all(|stmt| self.guess_stmt(stmt, assigned))
    }

    fn guess_stmt(&self, stmt: &Stmt, assigned: &mut Assigned) -> bool {
        match &stmt.kind {
            StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) => return false,
            StmtKind::Assign { targets, value } => {
                let guess = self.guess_of(value, assigned);
                for target in targets {
                    match &target.kind {
                        ExprKind::Name(name) => self.guess_name(name, guess, assigned),
                        _ => self.guess_nothing(stmt, assigned),
                    }
                }
            }
            StmtKind::AugAssign { target, op, value, .. } => {
                if let ExprKind::Name(name) = &target.kind {
                    let sides = (self.guess_of(target, assigned), self.guess_of(value, assigned));
                    self.guess_name(name, arithmetic(*op, sides), assigned);
                }
            }
            StmtKind::If { branches, orelse } => {
                if !branches.iter().all(|branch| self.is_dynamic(&branch.test, assigned)) {
                    return false;
                }
                let before = assigned.clone();
                let mut ends = Vec::with_capacity(branches.len() + 1);
                for block in branches.iter().map(|branch| &branch.body).chain([orelse]) {
                    let mut end = before.clone();
                    if self.guess_block(block, &mut end) {
                        ends.push(end);
                    }
                }
                let Some(first) = ends.pop() else { return false };
                *assigned = ends.into_iter().fold(first, |a, b| self.either(a, b));
            }
            StmtKind::For { target, iter, body, orelse, .. } if is_range(iter) => {
                let ExprKind::Name(counter) = &target.kind else { return false };
                self.guess_name(counter, Guess::Counter, assigned);
                let mut round = assigned.clone();
                if self.guess_block(body, &mut round) {
                    *assigned = self.either(std::mem::take(assigned), round);
                }
                return self.guess_block(orelse, assigned);
            }
            StmtKind::Expr(_) | StmtKind::Pass => {}
            _ => return false,
        }
        true
    }

    /// Whether only a run knows the value of an expression.
    pub(super) fn is_dynamic(&self, expr: &Expr, assigned: &[(Var, Guess)]) -> bool {
        let is_dynamic = |part: &Expr| self.is_dynamic(part, assigned);
        match &expr.kind {
            ExprKind::Name(name) => {
                let Some(var) = self.f.vars.named(name) else { return false };
                let last = assigned.iter().find(|(known, _)| *known == var);
                match (last, &self.f.vars[var]) {
                    (Some((_, guess)), _) => matches!(guess, Guess::Counter | Guess::Float(_)),
                    (None, Binding::Bound { operand: Operand::Node(node), .. }) => {
                        self.f.func.constant(*node).is_none()
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

    fn buffer_named(&self, expr: &Expr) -> Option<BufferId> {
        let ExprKind::Name(name) = &expr.kind else { return None };
        match &self.f.vars[self.f.vars.named(name)?] {
            Binding::Bound { operand: Operand::Buffer(buffer), .. } => Some(*buffer),
            _ => None,
        }
    }

    fn guess_name(&self, name: &str, guess: Guess, assigned: &mut Assigned) {
        let Some(var) = self.f.vars.named(name) else { return };
        match assigned.iter_mut().find(|(known, _)| *known == var) {
            Some((_, known)) => *known = guess,
            None => assigned.push((var, guess)),
        }
    }

    fn guess_nothing(&self, stmt: &Stmt, assigned: &mut Assigned) {
        assigned_names(std::slice::from_ref(stmt), &mut |name, _| {
            self.guess_name(name, Guess::Unknown, assigned);
        });
    }

    /// At the end of one of two paths.
    fn either(&self, a: Assigned, b: Assigned) -> Assigned {
        let on = |path: &Assigned, var: Var| {
            let last = path.iter().find(|(known, _)| *known == var).map(|(_, guess)| *guess);
            last.unwrap_or_else(|| self.guess_of_var(var))
        };
        let join = |var: Var| match (on(&a, var), on(&b, var)) {
            (a, b) if a == b => a,
            (Guess::Float(float), Guess::Number | Guess::Counter)
            | (Guess::Number | Guess::Counter, Guess::Float(float)) => Guess::Float(float),
            (Guess::Number | Guess::Counter, Guess::Number | Guess::Counter) => Guess::Number,
            _ => Guess::Unknown,
        };
        let only_in_b = b.iter().filter(|(var, _)| !a.iter().any(|(known, _)| known == var));
        a.iter().chain(only_in_b).map(|(var, _)| (*var, join(*var))).collect()
    }

    fn guess_of_var(&self, var: Var) -> Guess {
        let binding = &self.f.vars[var];
        match binding {
            binding if self.weak_binding(binding).is_some() => Guess::Number,
            Binding::Bound { operand: Operand::Node(node), .. } => of_type(self.ty(*node)),
            Binding::Stored { local, facts, .. } if !facts.guessed => of_type(&self.f.func.local(*local).ty),
            _ => Guess::Unknown,
        }
    }

    fn guess_of(&self, expr: &Expr, assigned: &Assigned) -> Guess {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) => Guess::Number,
            ExprKind::Name(name) => match self.f.vars.named(name) {
                Some(var) => match assigned.iter().find(|(known, _)| *known == var) {
                    Some((_, guess)) => *guess,
                    None => self.guess_of_var(var),
                },
                None => Guess::Unknown,
            },
            ExprKind::Subscript { value, index } => {
                let Some(buffer) = self.buffer_named(value) else { return Guess::Unknown };
                let array = self.array(buffer);
                let n_indices = match &index.kind {
                    ExprKind::Tuple(items) => items.len(),
                    _ => 1,
                };
                match n_indices == usize::from(array.rank) && !has_slice(index) {
                    true => of_type(&array.element),
                    false => Guess::Unknown,
                }
            }
            ExprKind::Unary { op: UnaryOp::Minus | UnaryOp::Plus, operand } => {
                self.guess_of(operand, assigned)
            }
            ExprKind::Binary { op, left, right, .. } => {
                arithmetic(*op, (self.guess_of(left, assigned), self.guess_of(right, assigned)))
            }
            ExprKind::Call { func, args } => match &func.kind {
                ExprKind::Name(name) => self.guess_of_call(name, args, assigned),
                _ => Guess::Unknown,
            },
            _ => Guess::Unknown,
        }
    }

    /// The result of `f32(..)`, or of a function such as `sqrt`.
    fn guess_of_call(&self, name: &Name, args: &[Argument], assigned: &Assigned) -> Guess {
        if self.f.vars.named(name).is_some() || self.f.env.get().get(name).is_some() {
            return Guess::Unknown;
        }
        match builtins::lookup(name) {
            Some(Builtin::Type(ty)) => of_type(&ty),
            Some(Builtin::Function(function)) if function.result == Gives::Same => {
                let of_args = args.iter().map(|arg| match &arg.kind {
                    ArgumentKind::Positional(arg) => self.guess_of(arg, assigned),
                    _ => Guess::Unknown,
                });
                of_args.reduce(|a, b| arithmetic(BinaryOp::Add, (a, b))).unwrap_or(Guess::Unknown)
            }
            _ => Guess::Unknown,
        }
    }
}

fn of_type(ty: &Type) -> Guess {
    match ty {
        Type::Scalar(scalar) if scalar.is_float() => Guess::Float(*scalar),
        Type::Scalar(scalar) if scalar.is_int() => Guess::Number,
        _ => Guess::Unknown,
    }
}

/// A float and a number give that float.
fn arithmetic(op: BinaryOp, sides: (Guess, Guess)) -> Guess {
    use Guess::{Counter, Float, Number};
    match (op, sides) {
        (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div, sides) => match sides {
            (Float(a), Float(b)) if a == b => Float(a),
            (Float(float), Number | Counter) | (Number | Counter, Float(float)) => Float(float),
            (Number | Counter, Number | Counter) if op != BinaryOp::Div => Number,
            _ => Guess::Unknown,
        },
        _ => Guess::Unknown,
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
