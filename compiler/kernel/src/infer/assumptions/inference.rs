//! Walks over a function until its assumptions hold.

use kps_syntax::Diagnostic;

use super::Revision;
use crate::errors;
use crate::infer::{Ctx, FunctionState};

impl<'a> Ctx<'a> {
    /// Walks a function until all that it assumes is right. Returns the result of the last walk.
    pub fn walk_until_right<R>(&mut self, mut walk: impl FnMut(&mut Self) -> R) -> R {
        let start = self.f.clone();
        let mut mistakes: (Vec<Diagnostic>, Vec<usize>) = Default::default();
        loop {
            let result = walk(self);
            let span = self.f.assumed.corrections.span;
            let gave_up = self.f.assumed.gives_up();
            match self.f.assumed.revise() {
                Revision::Again if gave_up => {
                    self.error(errors::unsettled_loop(self.at(span)));
                    return result;
                }
                Revision::Again if !self.budget.is_spent() => {}
                Revision::AgainWithMistakes if !self.budget.is_spent() => {
                    mistakes.0.append(&mut self.f.diagnostics);
                    mistakes.1.append(&mut self.f.calls);
                }
                _ => {
                    self.f.diagnostics.append(&mut mistakes.0);
                    self.f.calls.append(&mut mistakes.1);
                    return result;
                }
            }
            self.restart(start.clone());
        }
    }

    /// Goes back to the beginning of the function. Variables, locals and shared arrays keep their numbers, and the
    /// buffers their memory.
    fn restart(&mut self, start: FunctionState<'a>) {
        let walked = std::mem::replace(&mut self.f, start);
        let f = &mut self.f;
        reuse(&mut f.func.nodes, walked.func.nodes);
        reuse(&mut f.func.carries, walked.func.carries);
        reuse(&mut f.facts, walked.facts);
        reuse(&mut f.block, walked.block);
        f.assumed = walked.assumed;
        f.func.locals = walked.func.locals;
        f.lists.keep_memory(walked.lists);
        f.vars.keep_numbers(walked.vars);
        f.shared = walked.shared;
    }
}

/// Moves the items into the memory of another list.
fn reuse<T>(items: &mut Vec<T>, mut memory: Vec<T>) {
    memory.clear();
    memory.append(items);
    *items = memory;
}
