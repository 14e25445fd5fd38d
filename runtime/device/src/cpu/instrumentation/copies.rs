//! Finds structs that are copied whole: their members are loaded, and only stored to observed memory, all by
//! one statement. Copying uninitialised memory is no mistake, but the copy is uninitialised, too.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cpu::lane::{Inst, Kernel, Op, Terminator, Value};
use crate::cpu::module::Line;

/// The loads among [`Kernel::structs`] that are only copied to observed addresses.
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
            // Unused values do not count.
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
        // Storing some members only is a selection, not a copy.
        let is_whole = members.iter().all(|member| lines(member) == all);
        open.extend(members.iter().filter(|_| !is_whole));
    }
    let used = reached(open, &flow.choices);
    kernel.structs.iter().flatten().filter(|member| !used.contains(member)).copied().collect()
}

/// The data flow of values.
pub(super) struct Flow {
    /// The alternatives of a select or a block parameter.
    choices: FxHashMap<Value, Vec<Value>>,
    /// The same, and the operands of pure operations.
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

    /// Whether one value depends on another.
    pub fn leads(&self, from: Value, to: Value) -> bool {
        reached([to], &self.all).contains(&from)
    }

    /// The values that an effect depends on.
    fn live(&self, kernel: &Kernel) -> FxHashSet<Value> {
        let mut open: Vec<Value> = kernel.blocks.iter().filter_map(|block| asked_by(&block.end)).collect();
        let insts = kernel.blocks.iter().flat_map(|block| &block.insts);
        for inst in insts.filter(|inst| !only_computes(&inst.op)) {
            inst.op.clone().each_use(&mut |value| open.push(*value));
        }
        reached(open, &self.all)
    }
}

/// The transitive operands of values.
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

/// The value on which a block branches.
fn asked_by(end: &Terminator) -> Option<Value> {
    match *end {
        Terminator::Branch { condition, .. } => Some(condition),
        Terminator::Switch { value, .. } => Some(value),
        Terminator::Jump(_) | Terminator::Barrier(_) | Terminator::Subgroup { .. } | Terminator::Exit => None,
    }
}
