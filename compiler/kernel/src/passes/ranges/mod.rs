//! Range analysis: what is known of each int, and what follows for indices and divisions.
//!
//! In goes a kernel whose accesses are all unproven. Out comes the same kernel:
//! - an index that is in range is marked (`NodeKind::Proven`), so that the emitter adds no test for it;
//! - a test of such an index is gone, with the branch or the choice that it decided, and so is a comparison of ints that
//!   always holds;
//! - an index whose byte offset does not overflow is marked, too (`overflow.rs`);
//! - an access with several indices states what is proven of the number of its element (`NumberFact`): each index is in
//!   range along its axis, or the number does not overflow;
//! - `//` and `%` of ints that are not negative are plain divisions, and `abs` of such an int is the int.
//!
//! An int has an interval, a divisor, and bounds by sizes that only a launch knows (`interval.rs`). A forward walk computes them
//! from operands (`values.rs`) and from the conditions that dominate a statement (`conditions.rs`). At the head of a
//! loop, a variable has an assumed interval. If a round breaks the assumption, it is widened, and the function is walked
//! again (`walk.rs`). Widening is bounded, and so is the number of walks.
//!
//! Callers are analysed before their callees. An argument is what all calls pass together.
//!
//! The algorithm is that of P. and R. Cousot, *Static determination of dynamic properties of programs* (1976).

mod conditions;
mod counted;
mod decisions;
mod interval;
mod limits;
mod overflow;
mod rewrite;
mod rounds;
mod values;
mod walk;

use self::decisions::Decisions;
use self::interval::Interval;
use self::rewrite::rewrite;
use self::walk::{Heads, Walk};
use crate::ir::{BinaryOp, Function, FunctionId, Kernel, Node, NodeKind, Stmt, steps, walk};

/// After so many walks, nothing is assumed of the variables that loops change.
const MAX_WALKS: usize = 8;

/// What is passed to a function, by all calls together.
#[derive(Default)]
struct Passed {
    /// `None` before the first call.
    intervals: Option<Vec<Interval>>,
    indices: overflow::Args,
}

pub(crate) fn apply(kernel: &mut Kernel) {
    let reached = kernel.reached();
    let mut functions = std::mem::take(&mut kernel.functions);
    let mut index_limits = std::mem::take(&mut kernel.index_limits);
    let mut passed: Vec<Passed> = functions.iter().map(|_| Passed::default()).collect();
    // Callees come before their callers.
    for at in (0..functions.len()).rev().filter(|at| reached[*at]) {
        let (callees, own) = passed.split_at_mut(at);
        let function = &mut functions[at];
        if !has_questions(function) {
            continue;
        }
        let args = own[0].intervals.take().unwrap_or_default();
        let (calls, mut decisions) = analyse(kernel, function, &args);
        for (callee, args) in calls {
            join_args(&mut callees[callee.idx()].intervals, args);
        }
        let indices = overflow::decide(kernel, function, &own[0].indices, &mut decisions, &mut index_limits);
        for (callee, args) in indices {
            callees[callee.idx()].indices.join(args);
        }
        rewrite(function, &decisions);
    }
    kernel.functions = functions;
    kernel.index_limits = index_limits;
}

/// What a function passes to others, and what is decided about it.
fn analyse(
    kernel: &Kernel,
    function: &Function,
    args: &[Interval],
) -> (Vec<(FunctionId, Vec<Interval>)>, Decisions) {
    let mut heads = Heads::of(function);
    let mut n_walks = 0;
    loop {
        let mut walk = Walk::new(kernel, function, args, &mut heads);
        n_walks += 1;
        if walk.body() {
            return (walk.calls, walk.decisions);
        }
        if n_walks == MAX_WALKS {
            heads.give_up(function);
        }
    }
}

/// Whether there is anything to decide about a function or the arguments of its calls. Most library functions on floats
/// have nothing.
fn has_questions(function: &Function) -> bool {
    let is_question = |node: &Node| match &node.kind {
        NodeKind::Call { .. }
        | NodeKind::BufferLoad { .. }
        | NodeKind::IsInside { .. }
        | NodeKind::Atomic(_)
        | NodeKind::ExtractAt { .. }
        | NodeKind::InsertAt { .. } => true,
        NodeKind::LoadElement { path, .. } => steps(path).next().is_some(),
        NodeKind::Binary(BinaryOp::FloorDiv | BinaryOp::FloorMod, ..) | NodeKind::Abs(_) => {
            values::int_of(&node.ty).is_some()
        }
        _ => false,
    };
    if function.nodes.iter().any(is_question) {
        return true;
    }
    let mut is_stored = false;
    walk(&function.body, &mut |stmt| match stmt {
        Stmt::BufferStore { .. } | Stmt::Index(_) => is_stored = true,
        Stmt::StoreElement { path, .. } => is_stored |= steps(path).next().is_some(),
        _ => {}
    });
    is_stored
}

fn join_args(known: &mut Option<Vec<Interval>>, args: Vec<Interval>) {
    match known {
        None => *known = Some(args),
        Some(known) => {
            for (known, arg) in known.iter_mut().zip(&args) {
                *known = known.join(arg);
            }
        }
    }
}
