//! Removes branches around a few cheap operations. `a and b` branches around `b` where `a` is false. If `b`
//! is cheap, divergence costs more than `b`. So all lanes compute both, and the join gets `a & b`, or `a |
//! b`.
//!
//! Only booleans are joined in this way. Other values, such as indices, have shapes that the analysis of
//! memory accesses needs.

use super::{Binary, BlockId, Def, Edge, Inst, Kernel, Op, Terminator, Ty, Unary, Value};

/// Limit of operations that run unconditionally.
const MAX_INSTS: usize = 6;

pub fn close(kernel: &mut Kernel) {
    let mut n_edges = vec![0; kernel.blocks.len()];
    for block in &kernel.blocks {
        block.end.successors().iter().for_each(|to| n_edges[to.0 as usize] += 1);
    }
    // Backwards, so that inner branches are removed first.
    for from in (0..kernel.blocks.len()).rev() {
        let from = BlockId(from as u32);
        if let Some(shortcut) = find(kernel, &n_edges, from) {
            n_edges[shortcut.join.0 as usize] -= 1;
            close_one(kernel, from, shortcut);
        }
    }
}

struct Shortcut {
    condition: Value,
    /// The block that runs only if the condition equals `when`.
    bypassed: BlockId,
    when: bool,
    join: BlockId,
}

fn find(kernel: &Kernel, n_edges: &[u32], from: BlockId) -> Option<Shortcut> {
    let Terminator::Branch { condition, then, otherwise } = &kernel.blocks[from.0 as usize].end else {
        return None;
    };
    let candidates = [(then, otherwise, true), (otherwise, then, false)];
    candidates.into_iter().find_map(|(long, short, when)| {
        let block = &kernel.blocks[long.to.0 as usize];
        let Terminator::Jump(end) = &block.end else { return None };
        let is_bypass = end.to == short.to && n_edges[long.to.0 as usize] == 1 && block.params.is_empty();
        let is_cheap =
            block.insts.len() <= MAX_INSTS && block.insts.iter().all(|inst| is_cheap(kernel, inst));
        let is_same = |(&there, &here): (&Value, &Value)| {
            there == here || here == *condition || constant(kernel, here) == Some(u64::from(!when))
        };
        let all_same = end.args.iter().zip(&short.args).all(is_same);
        let shortcut = Shortcut { condition: *condition, bypassed: long.to, when, join: short.to };
        (is_bypass && is_cheap && all_same).then_some(shortcut)
    })
}

/// Whether SIMD code needs an instruction or two.
fn is_cheap(kernel: &Kernel, inst: &Inst) -> bool {
    let ty = |value: Value| kernel.values[value.0 as usize].ty;
    match inst.op {
        Op::Unary(op, _) => matches!(op, Unary::Neg | Unary::Not | Unary::FNeg | Unary::FAbs),
        Op::Binary(Binary::Mul, a, _) => ty(a) == Ty::I32,
        Op::Binary(op, ..) => matches!(
            op,
            Binary::Add
                | Binary::Sub
                | Binary::And
                | Binary::Or
                | Binary::Xor
                | Binary::FAdd
                | Binary::FSub
                | Binary::FMul
        ),
        Op::Compare(..) | Op::Select(..) => true,
        _ => false,
    }
}

fn constant(kernel: &Kernel, value: Value) -> Option<u64> {
    let info = kernel.values[value.0 as usize];
    match info.def {
        Def::Const(bits) if info.ty == Ty::Bool => Some(bits),
        _ => None,
    }
}

fn close_one(kernel: &mut Kernel, from: BlockId, shortcut: Shortcut) {
    let Shortcut { condition, bypassed, when, join } = shortcut;
    let block = std::mem::take(&mut kernel.blocks[bypassed.0 as usize]);
    for value in block.insts.iter().filter_map(|inst| inst.result) {
        kernel.values[value.0 as usize].def = Def::Inst(from);
    }
    let line = block.line;
    kernel.blocks[from.0 as usize].insts.extend(block.insts);
    let Terminator::Jump(there) = block.end else {
        unreachable!("a shortcut bypasses a block that ends with a jump")
    };
    let here = match &kernel.blocks[from.0 as usize].end {
        Terminator::Branch { otherwise, .. } if when => otherwise.args.clone(),
        Terminator::Branch { then, .. } => then.args.clone(),
        _ => unreachable!("a shortcut begins at a branch"),
    };
    let op = if when { Binary::And } else { Binary::Or };
    let mut args = there.args;
    for there in args.iter_mut().zip(here).filter_map(|(there, here)| (*there != here).then_some(there)) {
        let both = kernel.add_value(Ty::Bool, Def::Inst(from));
        let op = Op::Binary(op, condition, *there);
        kernel.blocks[from.0 as usize].insts.push(Inst { op, result: Some(both), line });
        *there = both;
    }
    kernel.blocks[from.0 as usize].end = Terminator::Jump(Edge { to: join, args });
}
