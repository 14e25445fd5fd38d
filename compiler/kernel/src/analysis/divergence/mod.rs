//! Divergence analysis: a barrier is legal only in uniform control flow, where all invocations of a workgroup reach
//! it or none does.
//!
//! The analysis walks the statements in the order of execution. For each value, each local and the control flow it
//! records why that diverges, if it does. Loops are walked to a fixpoint: divergence only grows, so this ends. A
//! function is walked again for each set of divergent arguments.
//!
//! Divergent are: ids of invocations, memory that other invocations may have written (shared memory, arrays that the
//! kernel writes), values computed from these, and assignments under a divergent condition.

mod values;

use kps_syntax::{Diagnostics, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::reasons::{ReasonId, Reasons, Why};
use crate::errors;
use crate::ir::{
    Arg, AtomicPlace, Block, BufferId, CoopMemory, Function, FunctionId, Home, Kernel, LocalId, Loop, NodeId,
    NodeKind, Stmt, steps, walk,
};
use crate::launch::Memory;
use crate::stack::with_room;

pub(super) fn check(kernel: &Kernel) -> Result<(), Diagnostics> {
    let analysis = walked(kernel);
    if analysis.diagnostics.is_empty() { Ok(()) } else { Err(analysis.diagnostics) }
}

/// For each function that is called, whether each of its nodes may differ between the invocations of a
/// workgroup.
pub(crate) type Differing = FxHashMap<FunctionId, Vec<bool>>;

pub(crate) fn differing(kernel: &Kernel) -> Differing {
    walked(kernel).differing
}

fn walked(kernel: &Kernel) -> Analysis<'_> {
    let mut analysis = Analysis {
        kernel,
        written: written_buffers(kernel),
        reasons: Reasons::default(),
        summaries: FxHashMap::default(),
        differing: Differing::default(),
        level: 0,
        reported: FxHashSet::default(),
        diagnostics: Diagnostics::new(),
    };
    let main = kernel.functions.len() - 1;
    analysis.function(FunctionId(main as u32), &[], &[], None);
    analysis
}

/// Buffers that the kernel writes anywhere.
pub(crate) fn written_buffers(kernel: &Kernel) -> FxHashSet<BufferId> {
    let mut written = FxHashSet::default();
    let reached = kernel.reached();
    for (function, _) in kernel.functions.iter().zip(reached).filter(|(_, reached)| *reached) {
        walk(&function.body, &mut |stmt| {
            if let Some(buffer) = written_buffer(function, stmt) {
                written.insert(buffer);
            }
        });
    }
    // Arrays of one memory alias: a load from one sees a store to another.
    let memory: FxHashSet<BufferId> = written.iter().map(|buffer| kernel.memory_of(*buffer)).collect();
    let all_alias = kernel.assumptions.memory == Memory::Shared && !written.is_empty();
    let all = (0..kernel.buffers.len()).map(|at| BufferId::Param(at as u32));
    written.extend(all.filter(|buffer| all_alias || memory.contains(&kernel.memory_of(*buffer))));
    written
}

fn written_buffer(function: &Function, stmt: &Stmt) -> Option<BufferId> {
    match stmt {
        Stmt::BufferStore { buffer, .. } => Some(*buffer),
        Stmt::CoopStore { place, .. } => match place.memory {
            CoopMemory::Buffer(buffer) => Some(buffer),
            CoopMemory::Shared(_) => None,
        },
        Stmt::Eval(node) => match &function.node(*node).kind {
            NodeKind::Atomic(atomic) => match atomic.place {
                AtomicPlace::Buffer { buffer, .. } => Some(buffer),
                AtomicPlace::Shared { .. } => None,
            },
            _ => None,
        },
        _ => None,
    }
}

struct Analysis<'k> {
    kernel: &'k Kernel,
    /// Buffers that the kernel writes anywhere.
    written: FxHashSet<BufferId>,
    reasons: Reasons,
    summaries: FxHashMap<Inputs, Summary>,
    differing: Differing,
    /// Blocks and calls that are being walked.
    level: u32,
    /// The places that were reported.
    reported: FxHashSet<(FunctionId, u32)>,
    diagnostics: Diagnostics,
}

/// The inputs of a call that the walk of a function depends on.
#[derive(PartialEq, Eq, Hash)]
struct Inputs {
    function: FunctionId,
    args: Vec<bool>,
    /// With the first reference that is to the same array.
    references: Vec<(usize, bool)>,
    is_divergent: bool,
}

/// An array that is passed by reference.
struct Given {
    /// Of the caller's.
    local: LocalId,
    why: Why,
}

/// The effects of a call.
#[derive(Clone)]
struct Summary {
    result: Why,
    /// Of the arrays passed by reference, in their order.
    references: Vec<Why>,
}

impl<'k> Analysis<'k> {
    fn function(&mut self, id: FunctionId, args: &[Why], references: &[Given], context: Why) -> Summary {
        let first_of = |given: &Given| references.iter().position(|other| other.local == given.local);
        let firsts: Vec<usize> = references.iter().filter_map(first_of).collect();
        let differs = references.iter().map(|given| given.why.is_some());
        let inputs = Inputs {
            function: id,
            args: args.iter().map(Option::is_some).collect(),
            references: firsts.iter().copied().zip(differs).collect(),
            is_divergent: context.is_some(),
        };
        if let Some(known) = self.summaries.get(&inputs) {
            return known.clone();
        }
        let function = &self.kernel.functions[id.idx()];
        let mut locals = vec![None; function.locals.len()];
        let reference_locals = function.args.iter().filter_map(|arg| match arg {
            Arg::Reference(local) => Some(*local),
            Arg::Value { .. } => None,
        });
        let reference_locals: Vec<LocalId> = reference_locals.collect();
        let mut arrays: Vec<LocalId> = (0..function.locals.len() as u32).map(LocalId).collect();
        for ((local, given), first) in reference_locals.iter().zip(references).zip(firsts) {
            arrays[local.idx()] = reference_locals[first];
            locals[local.idx()] = given.why;
        }
        let mut walker = Walker {
            analysis: self,
            id,
            function,
            args: args.to_vec(),
            arrays,
            nodes: vec![None; function.nodes.len()],
            state: State { locals, is_live: true },
            under: context,
            returned: None,
            rounds: Vec::new(),
            exit: None,
            result: None,
        };
        with_room(walker.analysis.level, || walker.block(&function.body));
        let end = walker.state.clone();
        walker.leave(end);
        let exit = walker.exit.take().unwrap_or(walker.state);
        let left = |local: &LocalId| exit.locals[walker.arrays[local.idx()].idx()];
        let summary =
            Summary { result: walker.result, references: reference_locals.iter().map(left).collect() };
        let nodes = walker.nodes;
        let differing = self.differing.entry(id).or_insert_with(|| vec![false; nodes.len()]);
        for (differs, why) in differing.iter_mut().zip(nodes) {
            *differs |= why.is_some();
        }
        self.summaries.insert(inputs, summary.clone());
        summary
    }

    fn report(&mut self, (id, function): (FunctionId, &Function), span: Span, name: &str, why: ReasonId) {
        if self.reported.insert((id, span.start)) {
            let chain = self.reasons.chain(why);
            self.diagnostics.push(errors::divergent(function.source.at(span), name, chain));
        }
    }
}

/// The state at one point of a function.
#[derive(Clone, PartialEq)]
struct State {
    locals: Vec<Why>,
    /// Whether control gets here.
    is_live: bool,
}

impl State {
    /// The join of two paths.
    fn join(self, other: State) -> State {
        match (self.is_live, other.is_live) {
            (false, _) => other,
            (_, false) => self,
            _ => {
                let locals = self.locals.into_iter().zip(other.locals).map(|(a, b)| a.or(b)).collect();
                State { locals, is_live: true }
            }
        }
    }
}

fn join_into(place: &mut Option<State>, state: State) {
    *place = Some(match place.take() {
        Some(known) => known.join(state),
        None => state,
    });
}

/// A loop that is being walked.
#[derive(Default)]
struct Round {
    /// Some invocations left the loop, or this round, and others did not.
    left: Why,
    skipped: Why,
    exit: Option<State>,
    next: Option<State>,
}

struct Walker<'a, 'k> {
    analysis: &'a mut Analysis<'k>,
    id: FunctionId,
    function: &'k Function,
    args: Vec<Why>,
    /// For each local the one that is known of: of references to the same array, the first.
    arrays: Vec<LocalId>,
    nodes: Vec<Why>,
    state: State,
    /// The branches and loops around this point, and the call of this function.
    under: Why,
    /// Some invocations returned, and others did not.
    returned: Why,
    rounds: Vec<Round>,
    exit: Option<State>,
    result: Why,
}

impl Walker<'_, '_> {
    fn block(&mut self, block: &Block) {
        self.analysis.level += 1;
        for stmt in block {
            if !self.state.is_live {
                break;
            }
            self.stmt(stmt);
        }
        self.analysis.level -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Eval(node) => self.nodes[node.idx()] = self.node(*node),
            Stmt::Store { local, value, span } => {
                let why = self.why(*value).or_else(|| self.stored_for_caller(*local, *span));
                *self.local_mut(*local) = why;
            }
            Stmt::StoreElement { local, path, value, span } => {
                let index = steps(path).find_map(|index| self.why(index));
                let known = self.local(*local).or(self.why(*value)).or(index);
                let why = known.or_else(|| self.stored_for_caller(*local, *span));
                *self.local_mut(*local) = why;
            }
            Stmt::BufferStore { .. }
            | Stmt::CoopStore { .. }
            | Stmt::Coop(_)
            | Stmt::TextureWrite { .. }
            | Stmt::PortStore { .. }
            | Stmt::Index(_)
            | Stmt::Check(_)
            | Stmt::Assigned(_)
            | Stmt::Message(_)
            | Stmt::Record(_) => {}
            Stmt::Carry(carry) => {
                let function = self.function;
                for (local, value) in &function.carries[carry.idx()] {
                    *self.local_mut(*local) = self.why(*value);
                }
            }
            Stmt::Together(what, span) => {
                if let Some(why) = self.control() {
                    self.analysis.report((self.id, self.function), *span, what.name(), why);
                }
            }
            Stmt::If { condition, then, orelse, span } => self.branch(*condition, then, orelse, *span),
            Stmt::Loop(parts) => self.loop_(parts),
            Stmt::Break => {
                let control = self.control();
                let state = self.end();
                if let Some(round) = self.rounds.last_mut() {
                    round.left = round.left.or(control);
                    join_into(&mut round.exit, state);
                }
            }
            Stmt::Continue => {
                let control = self.control();
                let state = self.end();
                if let Some(round) = self.rounds.last_mut() {
                    round.skipped = round.skipped.or(control);
                    join_into(&mut round.next, state);
                }
            }
            // Nobody waits for an invocation that ends so.
            Stmt::End(_) => drop(self.end()),
            Stmt::Return(value, span) => {
                let control = self.control();
                let value = value.and_then(|value| self.why(value));
                self.result = self.result.or(value).or(control);
                if let Some(control) = control {
                    let at = self.function.source.at(*span);
                    let step = self.analysis.reasons.step(at, "this `return`", control, |_| {
                        "some invocations have returned here".to_owned()
                    });
                    self.returned = self.returned.or(Some(step));
                }
                let state = self.end();
                self.leave(state);
            }
        }
    }

    fn local(&self, local: LocalId) -> Why {
        self.state.locals[self.arrays[local.idx()].idx()]
    }

    fn local_mut(&mut self, local: LocalId) -> &mut Why {
        &mut self.state.locals[self.arrays[local.idx()].idx()]
    }

    fn leave(&mut self, state: State) {
        if state.is_live {
            join_into(&mut self.exit, state);
        }
    }

    /// Control does not go on here.
    fn end(&mut self) -> State {
        let state = self.state.clone();
        self.state.is_live = false;
        state
    }

    /// Why only some of the invocations are here, if that is so.
    fn control(&self) -> Why {
        let rounds = || self.rounds.iter().find_map(|round| round.left.or(round.skipped));
        self.under.or(self.returned).or_else(rounds)
    }

    fn branch(&mut self, condition: NodeId, then: &Block, orelse: &Block, span: Span) {
        let under = self.under;
        let divides = self.why(condition).map(|why| self.decides(span, why, "invocations part here"));
        self.under = under.or(divides);
        let before = self.state.clone();
        self.block(then);
        let after_then = std::mem::replace(&mut self.state, before);
        self.block(orelse);
        self.under = under;
        let after_else = self.state.clone();
        self.state = after_then.join(after_else);
        if let Some(why) = divides {
            self.part(&[then, orelse], span, why);
        }
    }

    /// A branch on a value.
    fn decides(&mut self, span: Span, why: ReasonId, what: &str) -> ReasonId {
        let at = self.function.source.at(span);
        self.analysis.reasons.step(at, "this condition", why, |subject| {
            format!("{what}, because the condition depends on {subject}")
        })
    }

    /// Stores in these blocks diverge after them: only some invocations ran them.
    /// Arrays of the caller's differ from the store on.
    fn part(&mut self, blocks: &[&Block], span: Span, why: ReasonId) {
        for local in stored_locals(self.function, blocks) {
            if self.local(local).is_none() && self.function.local(local).home == Home::Own {
                *self.local_mut(local) = Some(self.assigned(local, span, why));
            }
        }
    }

    /// An array of the caller diverges after a call if only some invocations stored to it: the others may have
    /// returned, or not made the call.
    fn stored_for_caller(&mut self, local: LocalId, span: Span) -> Why {
        let control = self.control().filter(|_| self.function.local(local).home == Home::Caller)?;
        Some(self.assigned(local, span, control))
    }

    fn assigned(&mut self, local: LocalId, span: Span, why: ReasonId) -> ReasonId {
        let name = &self.function.local(local).name;
        if name.starts_with("kps.") {
            return why;
        }
        let at = self.function.source.at(span);
        let text = format!("`{name}` is assigned by some invocations and not by others");
        self.analysis.reasons.step(at, &format!("`{name}`"), why, |_| text)
    }

    fn loop_(&mut self, parts: &Loop) {
        let under = self.under;
        let entry = self.state.clone();
        let mut head = entry.clone();
        let mut divides: Why = None;
        let exit = loop {
            self.state = head.clone();
            self.under = under.or(divides);
            let divided_before = divides;
            self.rounds.push(Round::default());
            self.block(&parts.test);
            if let Some(condition) = parts.condition {
                let why = self.why(condition).filter(|_| divides.is_none());
                if let Some(why) = why {
                    let span = self.function.node(condition).span;
                    divides = Some(self.decides(span, why, "invocations leave this loop at different times"));
                    self.under = under.or(divides);
                }
                let state = self.state.clone();
                self.round().exit = Some(state);
            }
            self.block(&parts.body);
            let end = self.end();
            if end.is_live {
                join_into(&mut self.round().next, end);
            }
            let round = self.round();
            let (left, skipped) = (round.left, round.skipped.take());
            if let Some(next) = round.next.take() {
                self.state = next;
                if let Some(why) = skipped {
                    self.part(&[&parts.body], parts.span, why);
                }
                self.block(&parts.step);
            }
            let exit = self.rounds.pop().and_then(|round| round.exit);
            let next_head = head.clone().join(self.state.clone());
            let next_divides = divides.or(left).or(self.returned);
            if next_head == head && next_divides == divided_before {
                break exit;
            }
            head = next_head;
            divides = next_divides;
        };
        self.under = under;
        self.state = exit.unwrap_or(State { is_live: false, ..entry });
        if let Some(why) = divides {
            self.part(&[&parts.test, &parts.body, &parts.step], parts.span, why);
        }
    }

    fn round(&mut self) -> &mut Round {
        self.rounds.last_mut().expect("a loop is being walked")
    }
}

/// The locals that statements of these blocks store to.
fn stored_locals(function: &Function, blocks: &[&Block]) -> Vec<LocalId> {
    let mut stored = Vec::new();
    for block in blocks {
        walk(block, &mut |stmt| match stmt {
            Stmt::Store { local, .. } | Stmt::StoreElement { local, .. } => stored.push(*local),
            Stmt::Carry(carry) => {
                stored.extend(function.carries[carry.idx()].iter().map(|(local, _)| *local))
            }
            _ => {}
        });
    }
    stored.sort_unstable();
    stored.dedup();
    stored
}
