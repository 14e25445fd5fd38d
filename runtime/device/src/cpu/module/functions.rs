//! Functions: instructions split into blocks, and their control flow.

use rspirv::spirv::Op;
use rustc_hash::FxHashMap;

use super::flow::Flow;
use super::types::TypeId;
use super::{Id, Instruction, Module};
use crate::Result;
use crate::cpu::errors;

/// Limit of blocks in one function, because control flow analysis is not linear in them.
const MAX_BLOCKS: usize = 10_000;
/// Limit of calls that an error about recursion lists.
const MAX_SHOWN: usize = 8;

pub struct Function {
    pub id: Id,
    pub ret: TypeId,
    pub params: Vec<(Id, TypeId)>,
    pub blocks: Vec<Block>,
    pub block_by_label: FxHashMap<Id, usize>,
    /// Computed for functions that the entry point reaches.
    pub flow: Flow,
}

/// Merge instructions are dropped: the graph has the same information.
pub struct Block {
    pub label: Id,
    pub phis: Vec<Instruction>,
    /// All instructions except phis, merges and the terminator.
    pub body: Vec<Instruction>,
    pub end: Instruction,
    /// The targets of the terminator; the default of a switch comes first.
    pub targets: Vec<Id>,
    /// Whether the literals of a switch have two words.
    pub wide: bool,
}

/// Checks the functions that the entry point reaches, and analyses their control flow.
pub fn link(module: &mut Module<'_>) -> Result<()> {
    module.call_order = call_order(module)?;
    for i in 0..module.call_order.len() {
        let function = module.call_order[i];
        module.functions[function].flow = flow(module, &module.functions[function])?;
    }
    Ok(())
}

fn flow(module: &Module<'_>, function: &Function) -> Result<Flow> {
    if function.blocks.is_empty() {
        return Err(errors::malformed("a function that is called has no body", None));
    }
    if function.blocks.len() > MAX_BLOCKS {
        return Err(errors::too_large(format!("a function has {} blocks", function.blocks.len()), None));
    }
    let successors: Result<Vec<Vec<usize>>> =
        function.blocks.iter().map(|block| successors(module, function, block)).collect();
    Ok(Flow::new(&successors?))
}

fn successors(module: &Module<'_>, function: &Function, block: &Block) -> Result<Vec<usize>> {
    let wrong =
        |message: String| Err(errors::malformed_at(block.end.op, message, module.line(block.end.line)));
    let find = |label: &Id| match function.block_by_label.get(label) {
        Some(0) => wrong("goes to the first block of its function".to_owned()),
        Some(&block) => Ok(block),
        None => wrong(format!("%{} is no block of this function", label.0)),
    };
    block.targets.iter().map(find).collect()
}

/// The functions that the entry point reaches, callees first. Recursion is an error.
fn call_order(module: &Module<'_>) -> Result<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; module.functions.len()];
    let mut order = Vec::new();
    let mut stack = vec![(module.entry, calls(module, module.entry)?, 0)];
    state[module.entry] = State::Open;
    while let Some((function, callees, next)) = stack.last_mut() {
        let Some(&(callee, call)) = callees.get(*next) else {
            state[*function] = State::Done;
            order.push(*function);
            stack.pop();
            continue;
        };
        *next += 1;
        match state[callee] {
            State::New => {
                state[callee] = State::Open;
                stack.push((callee, calls(module, callee)?, 0));
            }
            State::Open => {
                let path: Vec<usize> = stack.iter().map(|(function, ..)| *function).collect();
                return Err(errors::malformed_at(
                    call.op,
                    cycle(module, &path, callee),
                    module.line(call.line),
                ));
            }
            State::Done => {}
        }
    }
    Ok(order)
}

/// Describes a cycle of calls to a function; `path` ends with the last of them.
fn cycle(module: &Module<'_>, path: &[usize], back_to: usize) -> String {
    let name = |&function: &usize| {
        let id = module.functions[function].id;
        module.names.get(&id).map_or(format!("`%{}`", id.0), |name| format!("`{name}`"))
    };
    let first = path.iter().position(|&function| function == back_to).unwrap_or(0);
    let names: Vec<String> = path[first..].iter().chain([&back_to]).map(name).collect();
    let shown = match &names[..] {
        [first @ .., _, _] if first.len() > MAX_SHOWN => {
            [&names[..MAX_SHOWN], &["..".to_owned()], &names[names.len() - 1..]].concat()
        }
        _ => names,
    };
    format!("functions may not call themselves, and {}", shown.join(" calls "))
}

fn calls(module: &Module<'_>, function: usize) -> Result<Vec<(usize, Instruction)>> {
    let blocks = &module.functions[function].blocks;
    let calls = blocks.iter().flat_map(|block| &block.body).filter(|inst| inst.op == Op::FunctionCall);
    let find = |inst: &Instruction| {
        let callee = module.operands(inst).get(2).and_then(|&id| module.function_by_id.get(&Id(id)));
        let missing = || errors::malformed_at(inst.op, "calls no function", module.line(inst.line));
        callee.map(|&callee| (callee, *inst)).ok_or_else(missing)
    };
    calls.map(find).collect()
}
