//! Operator precedence.
//!
//! The grammar delivers operands and operators as a flat list, in source order. Two stacks turn them into a
//! tree (the shunting-yard algorithm), without recursion however long the chain is.
//!
//! ```text
//! or  <  and  <  not  <  == != < <= > >= in is  <  |  <  ^  <  &  <  << >>  <  + -  <  * @ / // %  <  -x +x ~x  <  **  <  await
//! ```

use crate::ast::{BinaryOp, BoolOp, CompareOp, Comparison, Expr, ExprKind, UnaryOp};
use crate::errors;
use crate::source::Span;
use crate::token::{InfixOp, PrefixOp};

use super::Builder;

pub(crate) enum Piece {
    Operand(Expr),
    Prefix(PrefixOp, Span),
    Infix(InfixOp, Span),
}

impl Piece {
    pub fn prefix(op: PrefixOp, start: u32, end: u32) -> Piece {
        Piece::Prefix(op, Span::new(start, end))
    }

    pub fn sign_prefix(op: BinaryOp, start: u32, end: u32) -> Piece {
        Piece::prefix(PrefixOp::Unary(sign(op)), start, end)
    }

    pub fn infix(op: InfixOp, start: u32, end: u32) -> Piece {
        Piece::Infix(op, Span::new(start, end))
    }
}

/// The unary operator that is written like `op`.
pub(super) fn sign(op: BinaryOp) -> UnaryOp {
    if op == BinaryOp::Sub { UnaryOp::Minus } else { UnaryOp::Plus }
}

pub(crate) struct Pieces(Vec<Piece>);

impl Pieces {
    pub fn new(first: Piece) -> Pieces {
        let mut pieces = Vec::with_capacity(4);
        pieces.push(first);
        Pieces(pieces)
    }

    pub fn binary(left: Expr, op: Piece) -> Pieces {
        let mut pieces = Pieces::new(Piece::Operand(left));
        pieces.push(op);
        pieces
    }

    pub fn push(&mut self, piece: Piece) {
        self.0.push(piece);
    }
}

/// How tight an operator binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
    Compare,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Product,
    Unary,
    Power,
    Await,
}

fn prefix_level(op: PrefixOp) -> Level {
    match op {
        PrefixOp::Unary(UnaryOp::Not) => Level::Not,
        PrefixOp::Unary(_) => Level::Unary,
        PrefixOp::Await => Level::Await,
    }
}

fn infix_level(op: InfixOp) -> Level {
    match op {
        InfixOp::Bool(BoolOp::Or) => Level::Or,
        InfixOp::Bool(BoolOp::And) => Level::And,
        InfixOp::Compare(_) => Level::Compare,
        InfixOp::Binary(op) => match op {
            BinaryOp::BitOr => Level::BitOr,
            BinaryOp::BitXor => Level::BitXor,
            BinaryOp::BitAnd => Level::BitAnd,
            BinaryOp::LeftShift | BinaryOp::RightShift => Level::Shift,
            BinaryOp::Add | BinaryOp::Sub => Level::Sum,
            BinaryOp::Mul | BinaryOp::MatMul | BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Mod => {
                Level::Product
            }
            BinaryOp::Pow => Level::Power,
        },
    }
}

/// An operand of the chain, and whether the chain itself created it: `a < b < c` continues a comparison,
/// while `(a < b) < c` does not.
struct Operand {
    expr: Expr,
    made_here: bool,
}

#[derive(Clone, Copy)]
enum Pending {
    Prefix(PrefixOp, Span),
    Infix(InfixOp, Span),
}

impl Pending {
    fn level(self) -> Level {
        match self {
            Pending::Prefix(op, _) => prefix_level(op),
            Pending::Infix(op, _) => infix_level(op),
        }
    }
}

impl Builder<'_> {
    pub fn operation(&mut self, Pieces(pieces): Pieces) -> Expr {
        let mut operands: Vec<Operand> = Vec::with_capacity(pieces.len() / 2 + 1);
        let mut pending: Vec<Pending> = Vec::with_capacity(4);
        let mut after_operator = false;
        for piece in pieces {
            match piece {
                Piece::Operand(expr) => {
                    operands.push(Operand { expr, made_here: false });
                    after_operator = false;
                }
                Piece::Prefix(op, span) => {
                    if after_operator {
                        self.check_prefix(op, span, pending.last());
                    }
                    pending.push(Pending::Prefix(op, span));
                    after_operator = true;
                }
                Piece::Infix(op, span) => {
                    let level = infix_level(op);
                    while pending.last().is_some_and(|before| binds_before(before.level(), level)) {
                        self.apply(pending.pop(), &mut operands);
                    }
                    pending.push(Pending::Infix(op, span));
                    after_operator = true;
                }
            }
        }
        while !pending.is_empty() {
            self.apply(pending.pop(), &mut operands);
        }
        operands.pop().expect("the grammar ends a chain with an operand").expr
    }

    /// Reports a prefix operator that binds looser than the operator right before it.
    fn check_prefix(&mut self, op: PrefixOp, span: Span, before: Option<&Pending>) {
        let Some(before) = before else { return };
        let level = prefix_level(op);
        let fits = level >= before.level() || (level == Level::Unary && before.level() == Level::Power);
        if !fits {
            let at = self.at(span);
            self.report(errors::prefix_needs_parens(at, self.source.slice(span)));
        }
    }

    fn apply(&mut self, op: Option<Pending>, operands: &mut Vec<Operand>) {
        const WHOLE: &str = "the grammar gives every operator its operands";
        let Operand { expr: right, .. } = operands.pop().expect(WHOLE);
        let expr = match op.expect("called while an operator is pending") {
            Pending::Prefix(op, span) => self.prefixed(op, span, right),
            Pending::Infix(op, span) => {
                let left = operands.pop().expect(WHOLE);
                self.joined(left, op, span, right)
            }
        };
        operands.push(Operand { expr, made_here: true });
    }

    fn prefixed(&mut self, op: PrefixOp, op_span: Span, operand: Expr) -> Expr {
        let span = op_span.to(operand.span);
        let operand = Box::new(operand);
        let kind = match op {
            PrefixOp::Unary(op) => ExprKind::Unary { op, operand },
            PrefixOp::Await => ExprKind::Await(operand),
        };
        self.expr(span, kind)
    }

    fn joined(&mut self, left: Operand, op: InfixOp, op_span: Span, right: Expr) -> Expr {
        match op {
            InfixOp::Binary(op) => self.binary(left.expr, op, op_span, right),
            InfixOp::Compare(op) => self.comparison(left, op, op_span, right),
            InfixOp::Bool(op) => self.bool_chain(left, op, right),
        }
    }

    fn binary(&mut self, left: Expr, op: BinaryOp, op_span: Span, right: Expr) -> Expr {
        let span = left.span.to(right.span);
        let (left, right) = (Box::new(left), Box::new(right));
        self.expr(span, ExprKind::Binary { op, op_span, left, right })
    }

    fn comparison(&mut self, left: Operand, op: CompareOp, op_span: Span, right: Expr) -> Expr {
        let span = left.expr.span.to(right.span);
        match left {
            Operand {
                expr: Expr { kind: ExprKind::Compare { left, mut comparisons }, depth, .. },
                made_here: true,
            } => {
                let below = (depth - 1).max(right.depth);
                comparisons.push(Comparison { op, op_span, right });
                self.expr_above(span, ExprKind::Compare { left, comparisons }, below)
            }
            Operand { expr, .. } => {
                let comparisons = vec![Comparison { op, op_span, right }];
                self.expr(span, ExprKind::Compare { left: Box::new(expr), comparisons })
            }
        }
    }

    fn bool_chain(&mut self, left: Operand, op: BoolOp, right: Expr) -> Expr {
        let span = left.expr.span.to(right.span);
        match left {
            Operand {
                expr: Expr { kind: ExprKind::Bool { op: same, mut values }, depth, .. },
                made_here: true,
            } if same == op => {
                let below = (depth - 1).max(right.depth);
                values.push(right);
                self.expr_above(span, ExprKind::Bool { op, values }, below)
            }
            Operand { expr, .. } => self.expr(span, ExprKind::Bool { op, values: vec![expr, right] }),
        }
    }
}

/// Whether an operator of level `before` takes its operands before a following one of level `next`.
fn binds_before(before: Level, next: Level) -> bool {
    // Powers are right-associative, all others left-associative.
    before > next || (before == next && next != Level::Power)
}
