//! Loops: `while`, `for` over ranges and arrays, `break`, `continue`, `else`.
//!
//! From the head on, variables that the body assigns are in locals. The type of a literal that the loop carries is a
//! guess: its default type, or the float that the body adds (`loop_guesses.rs`). If the body gives the variable another
//! type, that is a correction for the next walk over the function (`assumptions.rs`). Until then such types are
//! *guessed*: errors that a wider type could fix are not reported. If no type widened, the guesses are confirmed in one
//! more walk.

pub(in crate::infer) mod inference;

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::Stmt as AstStmt;

use crate::infer::places::vars::{FlowPath, Fork, Missing, Var};
use crate::ir::LocalId;

/// A loop being inferred.
#[derive(Clone)]
pub(crate) struct LoopState {
    fork: Fork,
    breaks: Vec<FlowPath>,
    continues: Vec<FlowPath>,
    /// Set to false by `break`, if the loop has an `else`.
    completed: Option<LocalId>,
    /// Variables without a value before the loop, and where a round assigns them.
    set_in_rounds: Rc<[(Var, Span)]>,
    /// The range or the test, which determines the number of rounds.
    header: Span,
}

impl LoopState {
    /// Where a round first assigns the variable, and the header of the loop.
    pub fn sets(&self, var: Var) -> Option<(Span, Span)> {
        let (_, assigned) = self.set_in_rounds.iter().find(|(set, _)| *set == var)?;
        Some((*assigned, self.header))
    }
}

/// The properties in which kinds of loops differ.
pub(crate) struct LoopParts<'e> {
    pub span: Span,
    pub body: &'e [AstStmt],
    pub orelse: &'e [AstStmt],
    /// The variable that counts the numbers of a `range`.
    pub counter: Option<Var>,
    /// The test may be known to be false, so that there is no round.
    pub may_be_dead: bool,
    /// The path on which variables of the body are unset after the loop.
    pub missing: Missing,
    /// The body runs at least once.
    pub runs_once: bool,
    /// The body itself tests whether the loop ends.
    pub tests_itself: bool,
}
