//! Control flow: branches, loops, `match` and `return`, and what variables are where paths join.
//!
//! In: the statements of a function. Out: structured control flow of the IR. At a join, each variable gets what its
//! paths have in common (`joins.rs`); at the head of a loop, that is assumed first and confirmed by the rounds
//! (`loop_fixpoint.rs`).

pub(super) mod assigning_tests;
pub(super) mod joins;
pub(super) mod loop_fixpoint;
pub(super) mod loop_guesses;
pub(super) mod loops;
pub(super) mod match_stmt;
pub(super) mod ranges;
pub(super) mod reference_phis;
pub(super) mod returns;
pub(super) mod sequences;
pub(super) mod stmts;
