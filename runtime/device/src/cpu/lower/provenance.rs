//! Pointer provenance: the spaces of buffers and shared memory into which a pointer selected at run time may
//! point. It follows the pointer back to variables and parameters, through phis, selects and function
//! returns. Nothing is emitted here.

use std::rc::Rc;

use rspirv::spirv::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::pointers::{Place, Pointer};
use super::{Lowerer, Operand};
use crate::Result;
use crate::cpu::errors;
use crate::cpu::lane::Space;
use crate::cpu::module::{Function, Id, Instruction, Module};

/// Limit of calls through which one pointer is followed.
const MAX_CALLS: usize = 1000;

/// The pointer-valued instructions of a function by their result ids.
pub(super) type Definitions<'m> = FxHashMap<Id, &'m Instruction>;

/// A function in which a pointer is followed, and the call that leads there.
struct Scope<'m> {
    function: &'m Function,
    definitions: Rc<Definitions<'m>>,
    call: Option<(usize, &'m Instruction)>,
}

/// The known values of a function, each with its defining block.
pub(super) type Values = FxHashMap<Id, (Operand, usize)>;

impl<'m> Lowerer<'m> {
    /// The spaces that ids of a function may point into.
    pub(super) fn spaces(
        &mut self,
        at: &Instruction,
        function: &'m Function,
        values: &Values,
        ids: Vec<Id>,
    ) -> Result<Vec<Space>> {
        let mut spaces = Vec::new();
        let mut seen = FxHashSet::default();
        let mut scopes = vec![Scope { function, definitions: self.definitions(function), call: None }];
        let mut open: Vec<(usize, Id)> = ids.into_iter().map(|id| (0, id)).collect();
        while let Some((scope, id)) = open.pop() {
            if !seen.insert((scope, id)) {
                continue;
            }
            if let Some((caller, call)) = scopes[scope].call
                && let Some(i) = scopes[scope].function.params.iter().position(|(param, _)| *param == id)
            {
                open.push((caller, self.id(call, 3 + i)?));
                continue;
            }
            let known = match values.get(&id) {
                Some((Operand::Pointer(pointer), _)) if scope == 0 => Some(pointer.clone()),
                _ => self.global(at, id)?,
            };
            if let Some(Pointer { place: Place::Memory(place), .. }) = known {
                for space in place.others.iter().map(|(_, space)| *space).chain([place.space]) {
                    if !spaces.contains(&space) {
                        spaces.push(space);
                    }
                }
                continue;
            }
            let Some(&inst) = scopes[scope].definitions.get(&id) else {
                return Err(self.unsupported(at, "it is unknown what a pointer points into"));
            };
            if inst.op == Op::FunctionCall {
                let callee = self.callee(inst)?;
                if scopes.len() > MAX_CALLS {
                    let what = format!("a pointer comes out of more than {MAX_CALLS} calls");
                    return Err(errors::too_large(what, self.module.line(at.line)));
                }
                open.extend(returns(self.module, callee).map(|id| (scopes.len(), id)));
                let definitions = self.definitions(callee);
                scopes.push(Scope { function: callee, definitions, call: Some((scope, inst)) });
                continue;
            }
            open.extend(sources(self.module, inst).into_iter().map(|id| (scope, id)));
        }
        // Following pointers costs time, as values cost memory.
        self.n_parts += seen.len();
        Ok(spaces)
    }

    /// The spaces that a function's result may point into.
    pub(super) fn returned_spaces(
        &mut self,
        call: &Instruction,
        callee: &'m Function,
        values: &Values,
    ) -> Result<Vec<Space>> {
        let ids = returns(self.module, callee).collect();
        self.spaces(call, callee, values, ids)
    }

    /// The callee of a call.
    pub(super) fn callee(&self, call: &Instruction) -> Result<&'m Function> {
        let module = self.module;
        let callee = module.function_by_id.get(&self.id(call, 2)?);
        Ok(&module.functions[*callee.expect("calls were linked when the module was read")])
    }

    /// Computed once for each function.
    fn definitions(&mut self, function: &'m Function) -> Rc<Definitions<'m>> {
        let module = self.module;
        let made =
            self.definitions.entry(function.id).or_insert_with(|| Rc::new(definitions(module, function)));
        made.clone()
    }
}

fn definitions<'m>(module: &Module<'_>, function: &'m Function) -> Definitions<'m> {
    let insts = function.blocks.iter().flat_map(|block| block.phis.iter().chain(&block.body));
    let known = insts.filter(|inst| is_followed(inst.op));
    known.filter_map(|inst| Some((Id(*module.operands(inst).get(1)?), inst))).collect()
}

/// The ids that a function returns.
fn returns<'m>(module: &'m Module<'m>, function: &'m Function) -> impl Iterator<Item = Id> + 'm {
    let ends = function.blocks.iter().map(|block| &block.end).filter(|end| end.op == Op::ReturnValue);
    ends.filter_map(|end| Some(Id(*module.operands(end).first()?)))
}

/// The pointers from which an instruction computes its result.
fn sources(module: &Module<'_>, inst: &Instruction) -> Vec<Id> {
    let operands = module.operands(inst);
    let words: Vec<u32> = match inst.op {
        Op::Select => operands.get(3..5).unwrap_or_default().to_vec(),
        Op::Phi => operands.get(2..).unwrap_or_default().iter().step_by(2).copied().collect(),
        _ => operands.get(2).copied().into_iter().collect(),
    };
    words.into_iter().map(Id).collect()
}

fn is_followed(op: Op) -> bool {
    matches!(
        op,
        Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
            | Op::CopyObject
            | Op::FunctionCall
            | Op::Select
            | Op::Phi
    )
}
