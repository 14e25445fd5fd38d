//! If all exits of a loop have the same value of a variable, Mesa 22.3 makes no phi for it. After the loop it reads a
//! register that each iteration overwrites for all lanes, also for lanes that have left the loop. So such loops get a
//! second exit with zeros, which no invocation takes: it needs phis, whose registers are per lane.

use std::collections::BTreeSet;

use crate::constant::Constant;
use crate::ir::build::Builder;
use crate::ir::{Block, CallArg, Function, Home, Kernel, LocalId, Loop, NodeKind, Stmt, walk};
use crate::stages::Stage;
use crate::types::Type;

/// The driver keeps larger arrays in memory.
const MAX_IN_REGISTERS: u32 = 64;

pub(super) fn apply(kernel: &mut Kernel) {
    if kernel.stage != Stage::Compute {
        return;
    }
    for function in &mut kernel.functions {
        let mut body = std::mem::take(&mut function.body);
        add_exits(function, &mut body);
        function.body = body;
    }
}

fn add_exits(function: &mut Function, block: &mut Block) {
    let mut endless = None;
    for (at, stmt) in block.iter_mut().enumerate() {
        match stmt {
            Stmt::If { then, orelse, .. } => {
                add_exits(function, then);
                add_exits(function, orelse);
            }
            Stmt::Loop(parts) => {
                let is_left = parts.condition.is_some() || breaks(&parts.body);
                let wants_exit = wants_exit(function, parts);
                for block in [&mut parts.test, &mut parts.body, &mut parts.step] {
                    add_exits(function, block);
                }
                if wants_exit {
                    add_exit(function, parts);
                    endless = endless.or((!is_left).then_some((at, parts.span)));
                }
            }
            _ => {}
        }
    }
    // A loop without an exit has no code after it.
    if let Some((at, span)) = endless {
        block.truncate(at + 1);
        let result = function.result.clone();
        let value = (result != Type::Void).then(|| Builder::at(function, block, span).zero(&result));
        block.push(Stmt::Return(value, span));
    }
}

fn wants_exit(function: &Function, parts: &Loop) -> bool {
    parts.condition.is_none() || !parts.test.iter().all(|stmt| is_plain(function, stmt))
}

fn is_plain(function: &Function, stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Eval(node) => !matches!(function.node(*node).kind, NodeKind::Call { .. }),
        Stmt::Assigned(_) | Stmt::Index(_) => true,
        _ => false,
    }
}

/// Whether a loop's body leaves the loop.
fn breaks(body: &Block) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Break => true,
        Stmt::If { then, orelse, .. } => breaks(then) || breaks(orelse),
        _ => false,
    })
}

/// Leaves the loop with zeros in its variables, where an opaque `False` holds.
fn add_exit(function: &mut Function, parts: &mut Loop) {
    let assigned = assigned_in(function, parts);
    let span = parts.span;
    let mut exit = Block::new();
    let mut builder = Builder::at(function, &mut exit, span);
    let condition = builder.opaque(Constant::bool(false));
    let zeros: Vec<Stmt> = assigned
        .into_iter()
        .map(|local| {
            let ty = builder.function.local(local).ty.clone();
            Stmt::Store { local, value: builder.zero(&ty), span }
        })
        .collect();
    exit.extend(zeros);
    exit.push(Stmt::Break);
    parts.body.insert(0, Stmt::If { condition, then: exit, orelse: Block::new(), span });
}

/// The variables of the invocation that a loop may assign, but for large arrays, which are never in registers.
fn assigned_in(function: &Function, parts: &Loop) -> Vec<LocalId> {
    let mut assigned = BTreeSet::new();
    for block in [&parts.test, &parts.body, &parts.step] {
        walk(block, &mut |stmt| match stmt {
            Stmt::Store { local, .. } | Stmt::StoreElement { local, .. } => drop(assigned.insert(*local)),
            Stmt::Carry(carry) => {
                assigned.extend(function.carries[carry.idx()].iter().map(|(local, _)| *local));
            }
            Stmt::Eval(node) => {
                if let NodeKind::Call { args, .. } = &function.node(*node).kind {
                    assigned.extend(args.iter().filter_map(|arg| match arg {
                        CallArg::Reference(local) => Some(*local),
                        CallArg::Value(_) => None,
                    }));
                }
            }
            _ => {}
        });
    }
    let may_be_in_registers = |local: &LocalId| {
        let local = function.local(*local);
        let is_small = !matches!(&local.ty, Type::Array(array) if array.len > MAX_IN_REGISTERS);
        is_small && !matches!(local.home, Home::Workgroup(_))
    };
    assigned.into_iter().filter(may_be_in_registers).collect()
}
