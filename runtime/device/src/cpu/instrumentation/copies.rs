//! Structs that are copied whole: their numbers are loaded, and go nowhere but into memory that is watched, all of them by
//! one statement. To copy what nobody has written is no mistake; the copy has not been written either.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cpu::lane::{Inst, Kernel, Op, Terminator, Value};
use crate::cpu::module::Line;

/// The loads among [`Kernel::structs`] that are merely copied to watched addresses.
pub fn find(kernel: &Kernel, is_watched: impl Fn(Value) -> bool) -> FxHashSet<Value> {
    if kernel.structs.is_empty() {
        return FxHashSet::default();
    }
    let stored = |inst: &Inst| match inst.op {
        Op::Store { address, value, .. } | Op::StoreNarrow { address, value, .. } if is_watched(address) => {
            Some((address, value))
        }
        _ => None,
    };
    let flow = Flow::of(kernel);
    let live = flow.live(kernel);
    let mut open = Vec::new();
    let mut copies: FxHashMap<Value, FxHashSet<Option<Line>>> = FxHashMap::default();
    for inst in kernel.blocks.iter().flat_map(|block| &block.insts) {
        match (stored(inst), inst.result) {
            (Some((address, value)), _) => {
                open.push(address);
                for value in reached([value], &flow.choices) {
                    copies.entry(value).or_default().insert(inst.line);
                }
            }
            // What nothing comes of is no use.
            (None, Some(result)) if only_computes(&inst.op) && !live.contains(&result) => {}
            (None, _) => match inst.op {
                Op::Select(condition, ..) => open.push(condition),
                ref op => op.clone().each_use(&mut |value| open.push(*value)),
            },
        }
    }
    open.extend(kernel.blocks.iter().filter_map(|block| asked_by(&block.end)));
    for members in &kernel.structs {
        let lines = |member: &Value| copies.get(member).cloned().unwrap_or_default();
        let all = members.iter().flat_map(lines).collect::<FxHashSet<_>>();
        // Who stores some of them has picked these.
        let is_whole = members.iter().all(|member| lines(member) == all);
        open.extend(members.iter().filter(|_| !is_whole));
    }
    let used = reached(open, &flow.choices);
    kernel.structs.iter().flatten().filter(|member| !used.contains(member)).copied().collect()
}

/// What values are made of.
pub(super) struct Flow {
    /// What a selection, or a parameter of a block, may be.
    choices: FxHashMap<Value, Vec<Value>>,
    /// The same, and the operands of what only computes.
    all: FxHashMap<Value, Vec<Value>>,
}

impl Flow {
    pub fn of(kernel: &Kernel) -> Flow {
        let mut choices: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
        let mut computed = Vec::new();
        for block in &kernel.blocks {
            for inst in &block.insts {
                match (&inst.op, inst.result) {
                    (&Op::Select(condition, a, b), Some(result)) => {
                        choices.entry(result).or_default().extend([a, b]);
                        computed.push((result, condition));
                    }
                    (op, Some(result)) if only_computes(op) => {
                        op.clone().each_use(&mut |value| computed.push((result, *value)));
                    }
                    _ => {}
                }
            }
            for edge in block.end.edges() {
                for (param, arg) in kernel.blocks[edge.to.0 as usize].params.iter().zip(&edge.args) {
                    choices.entry(*param).or_default().push(*arg);
                }
            }
        }
        let mut all = choices.clone();
        computed.into_iter().for_each(|(result, value)| all.entry(result).or_default().push(value));
        Flow { choices, all }
    }

    /// Whether a value is computed of another one.
    pub fn leads(&self, from: Value, to: Value) -> bool {
        reached([to], &self.all).contains(&from)
    }

    /// The values that something comes of.
    fn live(&self, kernel: &Kernel) -> FxHashSet<Value> {
        let mut open: Vec<Value> = kernel.blocks.iter().filter_map(|block| asked_by(&block.end)).collect();
        let insts = kernel.blocks.iter().flat_map(|block| &block.insts);
        for inst in insts.filter(|inst| !only_computes(&inst.op)) {
            inst.op.clone().each_use(&mut |value| open.push(*value));
        }
        reached(open, &self.all)
    }
}

/// Values, and all that they are made of.
fn reached(
    values: impl IntoIterator<Item = Value>,
    made_of: &FxHashMap<Value, Vec<Value>>,
) -> FxHashSet<Value> {
    let mut open: Vec<Value> = values.into_iter().collect();
    let mut reached = FxHashSet::default();
    while let Some(value) = open.pop() {
        if reached.insert(value) {
            open.extend(made_of.get(&value).into_iter().flatten());
        }
    }
    reached
}

fn only_computes(op: &Op) -> bool {
    matches!(
        op,
        Op::Unary(..) | Op::Binary(..) | Op::Compare(..) | Op::Convert(..) | Op::Select(..) | Op::Address(_)
    )
}

/// What decides where a block goes on.
fn asked_by(end: &Terminator) -> Option<Value> {
    match *end {
        Terminator::Branch { condition, .. } => Some(condition),
        Terminator::Switch { value, .. } => Some(value),
        Terminator::Jump(_) | Terminator::Barrier(_) | Terminator::Subgroup { .. } | Terminator::Exit => None,
    }
}
