//! One walk over the statements of a function: what each variable holds at each point.
//!
//! A change of what is known is logged, and undone at the end of the branch that it belongs to. Where paths join, only
//! what one of them changed is joined. So a walk takes time in proportion to the function and the depth of its blocks.

use rustc_hash::FxHashMap;

use super::decisions::Decisions;
use super::interval::Interval;
use super::values::int_of;
use crate::constant::Constant;
use crate::ir::{
    BinaryOp, Block, CallArg, Function, FunctionId, Home, Kernel, Local, LocalId, Loop, NodeId, NodeKind,
    Stmt,
};
use crate::template::Input;
use crate::types::Type;

pub(super) struct Walk<'a> {
    /// Without its functions.
    pub kernel: &'a Kernel,
    pub function: &'a Function,
    pub args: &'a [Interval],
    /// One for each node.
    pub intervals: Vec<Interval>,
    pub locals: Vec<LocalState>,
    /// What conditions say of the components of inputs.
    pub input_parts: FxHashMap<(Input, u32), Interval>,
    /// The variable that each load read, and which value of it.
    pub loaded: FxHashMap<NodeId, (LocalId, u32)>,
    pub changes: Vec<Change>,
    /// What is passed to functions.
    pub calls: Vec<(FunctionId, Vec<Interval>)>,
    pub decisions: Decisions,
    n_versions: u32,
    /// Whether control reaches this point.
    is_live: bool,
    /// The loops around this point.
    open: Vec<OpenLoop>,
    heads: &'a mut Heads,
    next_loop: usize,
}

/// What is known of a variable.
#[derive(Clone, Copy)]
pub(super) struct LocalState {
    pub interval: Interval,
    /// A number for each value that it gets.
    pub version: u32,
    /// The value that was stored, if all paths stored the same.
    pub value: Option<NodeId>,
}

/// To undo a change.
pub(super) enum Change {
    Interval(NodeId, Interval),
    Local(LocalId, LocalState),
    InputPart((Input, u32), Option<Interval>),
}

/// The variables that a path changed, as they are at its end.
type Path = Vec<(LocalId, LocalState)>;

struct OpenLoop {
    /// The number of changes before its head.
    start: usize,
    breaks: Vec<Path>,
    continues: Vec<Path>,
}

/// What is assumed at the heads of the loops of a function, in the order of the source.
pub(super) struct Heads {
    loops: Vec<Head>,
    /// Whether this walk found all assumptions so far to hold.
    is_stable: bool,
}

struct Head {
    /// The variables that the loop changes.
    changed: Vec<Changed>,
    /// One for each, once the loop was reached.
    assumed: Vec<Interval>,
}

/// A variable that a loop changes.
#[derive(Clone, Copy)]
struct Changed {
    local: LocalId,
    counts: Counts,
}

/// How a loop changes a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// By adding a number once, which is not negative.
    Up,
    /// By adding a negative number once.
    Down,
    Otherwise,
}

impl Heads {
    pub fn of(function: &Function) -> Heads {
        let mut loops = Vec::new();
        collect_loops(function, &function.body, &mut loops);
        Heads { loops, is_stable: false }
    }

    /// Assumes nothing of any variable.
    pub fn give_up(&mut self, function: &Function) {
        for head in &mut self.loops {
            let all = |changed: &Changed| unknown(&function.local(changed.local).ty);
            head.assumed = head.changed.iter().map(all).collect();
        }
    }
}

/// What each loop changes. Returns what the block changes: each store to a variable.
fn collect_loops(function: &Function, block: &Block, loops: &mut Vec<Head>) -> Vec<(LocalId, Counts)> {
    let mut changed = Vec::new();
    for stmt in block {
        match stmt {
            Stmt::Store { local, value, .. } if is_tracked(function, *local) => {
                changed.push((*local, counts(function, *local, *value)));
            }
            Stmt::StoreElement { local, .. } => changed.push((*local, Counts::Otherwise)),
            Stmt::Carry(carry) => {
                let stores = function.carries.get(carry.idx()).into_iter().flatten();
                let tracked = stores.filter(|(local, _)| is_tracked(function, *local));
                changed.extend(tracked.map(|(local, value)| (*local, counts(function, *local, *value))));
            }
            Stmt::Eval(node) => {
                if let NodeKind::Call { args, .. } = &function.node(*node).kind {
                    changed.extend(args.iter().filter_map(|arg| match arg {
                        CallArg::Reference(local) => Some((*local, Counts::Otherwise)),
                        CallArg::Value(_) => None,
                    }));
                }
            }
            Stmt::If { then, orelse, .. } => {
                changed.extend(collect_loops(function, then, loops));
                changed.extend(collect_loops(function, orelse, loops));
            }
            Stmt::Loop(parts) => {
                let at = loops.len();
                loops.push(Head { changed: Vec::new(), assumed: Vec::new() });
                let mut inside = Vec::new();
                for block in [&parts.test, &parts.body, &parts.step] {
                    inside.extend(collect_loops(function, block, loops));
                }
                inside.sort_unstable_by_key(|(local, _)| *local);
                let each = inside.chunk_by(|(a, _), (b, _)| a == b);
                loops[at].changed = each
                    .map(|stores| match stores {
                        [(local, counts)] => Changed { local: *local, counts: *counts },
                        stores => Changed { local: stores[0].0, counts: Counts::Otherwise },
                    })
                    .collect();
                // A store in an inner loop may be made several times in a round of the outer one.
                changed.extend(loops[at].changed.iter().map(|changed| (changed.local, Counts::Otherwise)));
            }
            _ => {}
        }
    }
    changed
}

/// Whether anything is known of the values of a variable: of ints, and of bools, which hold conditions. Others may change
/// an array of the caller's or the workgroup's.
fn is_tracked(function: &Function, local: LocalId) -> bool {
    let Local { ty, home, .. } = function.local(local);
    *home == Home::Own && (*ty == Type::BOOL || int_of(ty).is_some())
}

/// Whether a store adds a number to the variable.
fn counts(function: &Function, local: LocalId, value: NodeId) -> Counts {
    let NodeKind::Binary(BinaryOp::Add, from, number) = function.node(value).kind else {
        return Counts::Otherwise;
    };
    let is_own = matches!(function.node(from).kind, NodeKind::Load(loaded) if loaded == local);
    match function.constant(number).and_then(Constant::as_int) {
        Some(0..) if is_own => Counts::Up,
        Some(_) if is_own => Counts::Down,
        _ => Counts::Otherwise,
    }
}

fn unknown(ty: &Type) -> Interval {
    int_of(ty).map_or(Interval::ANY, Interval::of_type)
}

impl<'a> Walk<'a> {
    pub fn new(
        kernel: &'a Kernel,
        function: &'a Function,
        args: &'a [Interval],
        heads: &'a mut Heads,
    ) -> Walk<'a> {
        let intervals = function.nodes.iter().map(|node| match node.kind {
            NodeKind::Constant(constant) => Interval::constant(constant),
            _ => unknown(&node.ty),
        });
        let state = |ty: &Type| LocalState { interval: unknown(ty), version: 0, value: None };
        let (intervals, locals) =
            (intervals.collect(), function.locals.iter().map(|local| state(&local.ty)).collect());
        Walk {
            kernel,
            function,
            args,
            intervals,
            locals,
            input_parts: FxHashMap::default(),
            loaded: FxHashMap::default(),
            changes: Vec::new(),
            calls: Vec::new(),
            decisions: Decisions::of(function),
            n_versions: 0,
            is_live: true,
            open: Vec::new(),
            heads,
            next_loop: 0,
        }
    }

    /// Walks the function, and says whether the assumptions at the heads of its loops hold.
    pub fn body(&mut self) -> bool {
        self.heads.is_stable = true;
        self.block(&self.function.body);
        self.heads.is_stable
    }

    fn block(&mut self, block: &'a Block) {
        block.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Eval(node) => self.eval(*node),
            Stmt::Store { local, value, .. } => self.store(*local, *value),
            Stmt::StoreElement { local, path, .. } => {
                self.decide_element_store(*local, path);
                self.forget(*local);
            }
            Stmt::BufferStore { buffer, index, path, .. } => self.decide_buffer_store(*buffer, index, path),
            Stmt::Index(index) => self.decide_report(index),
            Stmt::Carry(carry) => {
                let stores = self.function.carries.get(carry.idx()).into_iter().flatten();
                stores.for_each(|(local, value)| self.store(*local, *value));
            }
            Stmt::If { condition, then, orelse, .. } => self.if_else(*condition, then, orelse),
            Stmt::Loop(parts) => self.loop_(parts),
            Stmt::Break | Stmt::Continue => {
                if let Some(open) = self.open.last() {
                    let path = self.path_since(open.start);
                    let open = self.open.last_mut().expect("looked up above");
                    let paths =
                        if matches!(stmt, Stmt::Break) { &mut open.breaks } else { &mut open.continues };
                    if self.is_live {
                        paths.push(path);
                    }
                }
                self.is_live = false;
            }
            Stmt::Return(..) | Stmt::End(_) => self.is_live = false,
            _ => {}
        }
    }

    fn eval(&mut self, node: NodeId) {
        self.intervals[node.idx()] = self.interval_of(node);
        self.decide_node(node);
        let function = self.function;
        let NodeKind::Call { function: callee, args } = &function.node(node).kind else { return };
        let passed = args.iter().map(|arg| match arg {
            CallArg::Value(value) => self.intervals[value.idx()].across_functions(),
            CallArg::Reference(_) => Interval::ANY,
        });
        self.calls.push((*callee, passed.collect()));
        for arg in args {
            if let CallArg::Reference(local) = arg {
                self.forget(*local);
            }
        }
    }

    // Variables.

    /// What is known of the value of a variable.
    pub fn current(&self, local: LocalId) -> Interval {
        let state = &self.locals[local.idx()];
        match state.value {
            Some(value) => state.interval.meet(&self.intervals[value.idx()]),
            None => state.interval,
        }
    }

    pub fn set_local(&mut self, local: LocalId, state: LocalState) {
        let before = std::mem::replace(&mut self.locals[local.idx()], state);
        self.changes.push(Change::Local(local, before));
    }

    fn store(&mut self, local: LocalId, value: NodeId) {
        if is_tracked(self.function, local) {
            let interval = self.intervals[value.idx()];
            self.set_new(local, interval, Some(value));
        }
    }

    fn set_new(&mut self, local: LocalId, interval: Interval, value: Option<NodeId>) {
        self.n_versions += 1;
        self.set_local(local, LocalState { interval, version: self.n_versions, value });
    }

    fn forget(&mut self, local: LocalId) {
        let interval = unknown(&self.function.local(local).ty);
        self.set_new(local, interval, None);
    }

    pub fn undo(&mut self, start: usize) {
        for change in self.changes.drain(start..).rev() {
            match change {
                Change::Interval(node, before) => self.intervals[node.idx()] = before,
                Change::Local(local, before) => self.locals[local.idx()] = before,
                Change::InputPart(part, Some(before)) => {
                    self.input_parts.insert(part, before);
                }
                Change::InputPart(part, None) => {
                    self.input_parts.remove(&part);
                }
            }
        }
    }

    /// The variables that changed since, with what is known of them now.
    fn path_since(&self, start: usize) -> Path {
        let locals = self.changes[start..].iter().filter_map(|change| match change {
            Change::Local(local, _) => Some(*local),
            _ => None,
        });
        let mut locals: Vec<LocalId> = locals.collect();
        locals.sort_unstable();
        locals.dedup();
        let state = |local: LocalId| {
            (local, LocalState { interval: self.current(local), ..self.locals[local.idx()] })
        };
        locals.into_iter().map(state).collect()
    }

    /// Paths that started here meet.
    fn join(&mut self, paths: &[Path]) {
        match paths {
            [] => {}
            [path] => path.iter().for_each(|(local, state)| self.set_local(*local, *state)),
            [first, others @ ..] => {
                let mut all: Path = Path::with_capacity(first.len());
                paths.iter().for_each(|path| all.extend(path));
                if !others.is_empty() {
                    all.sort_unstable_by_key(|(local, _)| *local);
                }
                for states in all.chunk_by(|(a, _), (b, _)| a == b) {
                    // On the other paths it is as it was.
                    let kept = (states.len() < paths.len()).then(|| self.locals[states[0].0.idx()]);
                    self.join_local(states, kept);
                }
            }
        }
    }

    fn join_local(&mut self, states: &[(LocalId, LocalState)], kept: Option<LocalState>) {
        let (local, mut joined) = states[0];
        let mut is_same = true;
        for state in states[1..].iter().map(|(_, state)| *state).chain(kept) {
            is_same &= state.version == joined.version;
            joined.value = joined.value.filter(|value| state.value == Some(*value));
            joined.interval = joined.interval.join(&state.interval);
        }
        if !is_same {
            self.n_versions += 1;
            joined.version = self.n_versions;
        }
        self.set_local(local, joined);
    }

    // Control flow.

    fn if_else(&mut self, condition: NodeId, then: &'a Block, orelse: &'a Block) {
        let (start, was_live) = (self.changes.len(), self.is_live);
        let mut side = |holds: bool, block: &'a Block| {
            self.is_live = was_live;
            self.learn(condition, holds);
            self.block(block);
            let path = self.is_live.then(|| self.path_since(start));
            self.undo(start);
            path
        };
        let (then, orelse) = (side(true, then), side(false, orelse));
        self.is_live = then.is_some() || orelse.is_some();
        // After `if i >= len(a): return`, the opposite holds.
        let decided = match (&then, &orelse) {
            (Some(_), None) => Some(true),
            (None, Some(_)) => Some(false),
            _ => None,
        };
        let paths: Vec<Path> = [then, orelse].into_iter().flatten().collect();
        self.join(&paths);
        if let Some(holds) = decided {
            self.learn(condition, holds);
        }
    }

    fn loop_(&mut self, parts: &'a Loop) {
        let at = self.next_loop;
        self.next_loop += 1;
        let start = self.changes.len();
        self.enter(at);
        self.open.push(OpenLoop { start, breaks: Vec::new(), continues: Vec::new() });
        self.block(&parts.test);
        // The condition of the test, where the loop ends.
        let tested = self.changes.len();
        let mut exits = Vec::new();
        if let Some(condition) = parts.condition {
            self.learn(condition, false);
            exits.extend(self.is_live.then(|| self.path_since(start)));
            self.undo(tested);
            self.learn(condition, true);
        }
        self.block(&parts.body);
        let last = self.is_live.then(|| self.path_since(start));
        self.undo(tested);
        let open = self.open.pop().expect("pushed above");
        let continues: Vec<Path> = open.continues.into_iter().chain(last).collect();
        self.is_live = !continues.is_empty();
        self.join(&continues);
        if let Some(condition) = parts.condition {
            self.learn(condition, true);
        }
        self.block(&parts.step);
        if self.is_live {
            self.go_round(at);
        }
        self.undo(start);
        exits.extend(open.breaks);
        self.is_live = !exits.is_empty();
        self.join(&exits);
    }

    /// At the head of a loop, the assumptions hold of the first round.
    fn enter(&mut self, at: usize) {
        let is_first = self.heads.loops[at].assumed.is_empty();
        for nth in 0..self.heads.loops[at].changed.len() {
            let changed = self.heads.loops[at].changed[nth];
            let entry = self.current(changed.local);
            if is_first {
                let first = self.first_assumed(entry, changed);
                self.heads.loops[at].assumed.push(first);
            } else {
                self.widen(at, nth, &entry);
            }
            self.set_new(changed.local, self.heads.loops[at].assumed[nth], None);
        }
    }

    /// The first assumption of a variable. A counter is assumed to count, which saves a walk.
    fn first_assumed(&self, entry: Interval, changed: Changed) -> Interval {
        let Some(ty) = int_of(&self.function.local(changed.local).ty) else { return entry };
        let all = Interval::of_type(ty);
        match changed.counts {
            Counts::Up => entry.widen(&Interval::new(entry.least, all.largest), ty),
            // It stays below what it started below.
            Counts::Down => Interval { least: entry.least.min(-1), ..entry }.in_type(ty),
            Counts::Otherwise => entry,
        }
        .with_divisor(1)
    }

    /// At the end of a round, they must hold of the next one.
    fn go_round(&mut self, at: usize) {
        for nth in 0..self.heads.loops[at].changed.len() {
            let now = self.current(self.heads.loops[at].changed[nth].local);
            if self.widen(at, nth, &now) {
                self.heads.is_stable = false;
            }
        }
    }

    /// Widens an assumption to contain this interval, and says whether it did not.
    fn widen(&mut self, at: usize, nth: usize, interval: &Interval) -> bool {
        let head = &mut self.heads.loops[at];
        let assumed = &mut head.assumed[nth];
        let ty = int_of(&self.function.local(head.changed[nth].local).ty);
        match ty.filter(|_| !assumed.contains(interval)) {
            Some(ty) => {
                *assumed = assumed.widen(interval, ty);
                true
            }
            None => false,
        }
    }
}
