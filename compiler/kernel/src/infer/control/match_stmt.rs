//! `match` on constants, and on tuples of values that are compared with constants: a chain of comparisons. The
//! number of parts of a subject is known, so a pattern of another length is skipped.

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::{BoolOp, CompareOp, Expr, ExprKind, Ident, MatchCase, Pattern, PatternKind};
use kps_syntax::scope::pattern_names;
use num_traits::Zero;

use super::stmts::Condition;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::operand::Operand;
use crate::ir::{BinaryOp, NodeId, NodeKind};
use crate::types::Type;

/// Up to this many bools, all combinations are tried to find out whether the patterns are exhaustive.
const MAX_BOOLS: usize = 8;

impl Ctx<'_> {
    pub fn match_stmt(&mut self, subject: &Expr, cases: &[MatchCase]) {
        let n_diagnostics = self.n_diagnostics();
        let operand = self.expr(subject);
        let operand = self.match_subject(&operand, subject.span);
        self.match_cases(&operand, cases, 0, n_diagnostics);
    }

    /// The subject is evaluated once, and has one type.
    fn match_subject(&mut self, operand: &Operand, span: Span) -> Operand {
        if let Operand::Tuple(items) = operand {
            return Operand::Tuple(items.iter().map(|item| self.match_subject(item, span)).collect());
        }
        match self.materialize(operand, span) {
            Some(node) if matches!(self.ty(node), Type::Scalar(_)) => Operand::Node(node),
            Some(_) => {
                let what = self.describe(operand);
                self.fail(errors::match_subject(self.at(span), &what))
            }
            None => Operand::Error,
        }
    }

    /// The cases from `at` on. `n_diagnostics` is the number of diagnostics before the statement.
    fn match_cases(&mut self, subject: &Operand, cases: &[MatchCase], at: usize, n_diagnostics: usize) {
        let Some(case) = cases.get(at) else { return };
        self.nested(case.span, (), |ctx| {
            let matches = match ctx.is_rest_of_bools(subject, &cases[..at], &case.pattern) {
                true => ctx.bool_constant(true, case.pattern.span),
                false => ctx.pattern(subject, &case.pattern).unwrap_or(Operand::Error),
            };
            let matches = match &case.guard {
                None => matches,
                Some(guard) => ctx.guarded(subject, &case.pattern, &matches, guard),
            };
            let condition = match ctx.is_unknown(&matches, n_diagnostics) {
                true => Condition::Unknown,
                false => ctx.condition_of(&matches, case.pattern.span),
            };
            ctx.branch(
                &condition,
                case.pattern.span,
                |ctx| {
                    ctx.capture(subject, &case.pattern);
                    ctx.block(&case.body);
                },
                |ctx| ctx.match_cases(subject, cases, at + 1, n_diagnostics),
            );
        });
    }

    /// Whether the subject consists of bools, and this pattern and the cases before cover all its values.
    fn is_rest_of_bools(&self, subject: &Operand, before: &[MatchCase], pattern: &Pattern) -> bool {
        let Some(n_bools) = self.n_bools(subject).filter(|n| *n <= MAX_BOOLS) else { return false };
        let sure = before.iter().filter(|case| case.guard.is_none()).map(|case| &case.pattern);
        let patterns: Vec<&Pattern> = sure.chain([pattern]).collect();
        (0..1 << n_bools).all(|bits| {
            let bools: Vec<bool> = (0..n_bools).map(|at| bits >> at & 1 == 1).collect();
            patterns.iter().any(|pattern| takes_bools(pattern, subject, &bools).is_some())
        })
    }

    /// The number of bools in a subject. `None` if it contains anything else.
    fn n_bools(&self, subject: &Operand) -> Option<usize> {
        match subject {
            Operand::Node(node) => (*self.ty(*node) == Type::BOOL).then_some(1),
            Operand::Tuple(parts) => parts.iter().map(|part| self.n_bools(part)).sum(),
            _ => None,
        }
    }

    /// `case pattern if guard`: names are bound before the guard reads them.
    fn guarded(&mut self, subject: &Operand, pattern: &Pattern, matches: &Operand, guard: &Expr) -> Operand {
        self.short_circuit_with(BoolOp::And, matches, pattern.span, guard.span, |ctx| {
            ctx.capture(subject, pattern);
            ctx.expr(guard)
        })
    }

    /// Whether the subject matches, as a bool operand. `None` after a mistake.
    fn pattern(&mut self, subject: &Operand, pattern: &Pattern) -> Option<Operand> {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Capture(_) => Some(self.bool_constant(true, pattern.span)),
            PatternKind::As { pattern, .. } => self.pattern(subject, pattern),
            PatternKind::Value(value) | PatternKind::Singleton(value) => {
                // A tuple never equals a number.
                if matches!(subject, Operand::Tuple(_)) {
                    return Some(self.bool_constant(false, pattern.span));
                }
                if let Operand::Node(node) = subject
                    && *self.ty(*node) == Type::BOOL
                    && let ExprKind::Int(number) = &value.kind
                {
                    self.error(errors::bool_case(self.at(pattern.span), !number.is_zero()));
                    return None;
                }
                let right = self.expr(value);
                let spans = (value.span, value.span);
                let operand = self.compare(CompareOp::Eq, subject, &right, pattern.span, spans);
                (!operand.has_error()).then_some(operand)
            }
            PatternKind::Or(patterns) => {
                let matches = patterns.iter().map(|alternative| (subject.clone(), alternative));
                self.pattern_row(BinaryOp::Or, matches.collect(), pattern.span)
            }
            PatternKind::Sequence(patterns) => match parts_of(subject, patterns) {
                Some(parts) => {
                    let matches = parts.iter().cloned().zip(patterns);
                    self.pattern_row(BinaryOp::And, matches.collect(), pattern.span)
                }
                None if matches!(subject, Operand::Tuple(_)) => Some(self.bool_constant(false, pattern.span)),
                None => {
                    if !subject.has_error() {
                        let what = self.describe(subject);
                        self.error(errors::match_parts(self.at(pattern.span), &what));
                    }
                    None
                }
            },
            _ => None,
        }
    }

    /// Whether all of some patterns match, or any of them.
    fn pattern_row(&mut self, op: BinaryOp, row: Vec<(Operand, &Pattern)>, span: Span) -> Option<Operand> {
        let mut joined: Option<NodeId> = None;
        for (subject, pattern) in row {
            let operand = self.pattern(&subject, pattern)?;
            if op == BinaryOp::And && matches!(pattern.kind, PatternKind::Wildcard | PatternKind::Capture(_))
            {
                continue;
            }
            let node = self.materialize(&operand, pattern.span)?;
            joined = Some(match joined {
                None => node,
                Some(joined) => self.node(NodeKind::Binary(op, joined, node), Type::BOOL, span),
            });
        }
        Some(match joined {
            Some(node) => Operand::Node(node),
            None => self.bool_constant(op == BinaryOp::And, span),
        })
    }

    fn capture(&mut self, subject: &Operand, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Capture(ident) => self.capture_name(subject, ident),
            PatternKind::As { pattern, name } => {
                self.capture(subject, pattern);
                self.capture_name(subject, name);
            }
            PatternKind::Sequence(patterns) if parts_of(subject, patterns).is_some() => {
                let parts = parts_of(subject, patterns).expect("checked above");
                parts.iter().zip(patterns).for_each(|(part, pattern)| self.capture(part, pattern));
            }
            _ => {
                let mut names = Vec::new();
                pattern_names(pattern, &mut |name| names.push(name.clone()));
                names.iter().for_each(|name| self.poison(name, pattern.span));
            }
        }
    }

    fn capture_name(&mut self, subject: &Operand, ident: &Ident) {
        if let Some(var) = self.f.vars.named(&ident.name) {
            self.assign_var(var, subject.clone(), ident.span);
        }
    }
}

/// The rest of the bools of a subject, after those of this part, if the pattern certainly matches those.
fn takes_bools<'b>(pattern: &Pattern, part: &Operand, bools: &'b [bool]) -> Option<&'b [bool]> {
    match (&pattern.kind, part) {
        (PatternKind::Wildcard | PatternKind::Capture(_), Operand::Tuple(parts)) => {
            parts.iter().try_fold(bools, |bools, part| takes_bools(pattern, part, bools))
        }
        (PatternKind::Wildcard | PatternKind::Capture(_), _) => bools.get(1..),
        (PatternKind::Singleton(value), Operand::Node(_)) => {
            let (first, rest) = bools.split_first()?;
            let wanted = matches!(value.kind, ExprKind::True);
            (*first == wanted && matches!(value.kind, ExprKind::True | ExprKind::False)).then_some(rest)
        }
        (PatternKind::Or(patterns), _) => {
            patterns.iter().find_map(|pattern| takes_bools(pattern, part, bools))
        }
        (PatternKind::As { pattern, .. }, _) => takes_bools(pattern, part, bools),
        (PatternKind::Sequence(patterns), _) => {
            let parts = parts_of(part, patterns)?;
            parts
                .iter()
                .zip(patterns)
                .try_fold(bools, |bools, (part, pattern)| takes_bools(pattern, part, bools))
        }
        _ => None,
    }
}

/// The parts of a subject with as many parts as the pattern.
fn parts_of(subject: &Operand, patterns: &[Pattern]) -> Option<Rc<[Operand]>> {
    match subject {
        Operand::Tuple(parts) if parts.len() == patterns.len() => Some(Rc::clone(parts)),
        _ => None,
    }
}
