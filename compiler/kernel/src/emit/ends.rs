//! The end of an invocation inside a called function. The function sets a flag and returns an unused value; its caller
//! tests the flag and returns, too.

use rspirv::spirv::{FunctionControl, Op, Word};

use super::function::FunctionEmitter;
use super::module::{Module, Operand, write};
use crate::constant::Constant;
use crate::stages::Stage;
use crate::types::Type;

/// A function that only calls the kernel: `Entry::Wrapper`.
pub(super) fn wrapper(module: &mut Module, kernel: Word) -> Word {
    let nothing = module.ty(&Type::Void);
    let function_type = module.function_type(nothing, &[]);
    let [id, label, result] = [(); 3].map(|()| module.id());
    module.name(id, "kps.entry");
    let words = &mut module.functions;
    let control = [Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(function_type)];
    write(words, Op::Function, Some(nothing), Some(id), &control);
    write(words, Op::Label, None, Some(label), &[]);
    write(words, Op::FunctionCall, Some(nothing), Some(result), &[Operand::IdRef(kernel)]);
    write(words, Op::Return, None, None, &[]);
    write(words, Op::FunctionEnd, None, None, &[]);
    id
}

impl FunctionEmitter<'_> {
    pub fn end_invocation(&mut self) {
        if self.kernel.stage == Stage::Fragment {
            return self.terminate(Op::Kill, &[]);
        }
        if !self.is_kernel() {
            self.note_failure();
        }
        self.leave();
    }

    /// Continues after a call only if the invocation has not ended in it.
    pub fn end_behind_call(&mut self, callee: Word) {
        if !self.interface.ending.contains(&callee) {
            return;
        }
        let has_failed = self.has_failed();
        let (end, merge) = (self.module.id(), self.module.id());
        self.selection_merge(merge);
        self.branch_if(has_failed, end, merge);
        self.open(end);
        self.leave();
        self.open(merge);
    }

    fn leave(&mut self) {
        self.may_end = true;
        self.return_nothing();
    }

    pub fn return_nothing(&mut self) {
        match &self.function.result {
            Type::Void => self.terminate(Op::Return, &[]),
            result => {
                let result = self.module.ty(result);
                let nothing = self.module.null(result);
                self.terminate(Op::ReturnValue, &[Operand::IdRef(nothing)]);
            }
        }
    }

    pub fn has_failed(&mut self) -> Word {
        let flag = self.interface.failed(self.module);
        self.ids(Op::Load, &Type::BOOL, &[flag])
    }

    pub fn note_failure(&mut self) {
        let flag = self.interface.failed(self.module);
        let yes = self.module.constant(Constant::bool(true));
        self.effect(Op::Store, &[Operand::IdRef(flag), Operand::IdRef(yes)]);
    }
}
