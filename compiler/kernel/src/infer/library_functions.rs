//! Functions of the library for lowering: the name of a function and its arguments in, a function in typed IR out.
//!
//! A function is inferred once for the types of its arguments, and so are the functions that it calls. They see nothing
//! of the kernel, and their calls are no calls of the script: `called_for` has the place that lowering gives.

use kps_syntax::{Diagnostics, Span};

use super::operand::Operand;
use super::{Collect, Ctx, EnvRef, FunctionState};
use crate::env::KernelEnv;
use crate::ir::{Function, FunctionId, NodeKind};
use crate::signature::Signature;
use crate::template::KernelTemplate;
use crate::types::Type;

/// Functions of the library that are added to those of a kernel.
pub(crate) struct LibraryFunctions<'a> {
    template: &'a KernelTemplate,
    env: &'a dyn KernelEnv,
    /// `None` until a function is wanted.
    ctx: Option<Box<Ctx<'a>>>,
    /// Functions of the kernel, to which these are added.
    n_functions: usize,
    /// How many were taken.
    n_taken: usize,
    mistakes: Diagnostics,
}

impl<'a> LibraryFunctions<'a> {
    pub fn new(
        template: &'a KernelTemplate,
        env: &'a dyn KernelEnv,
        n_functions: usize,
    ) -> LibraryFunctions<'a> {
        LibraryFunctions { template, env, ctx: None, n_functions, n_taken: 0, mistakes: Diagnostics::new() }
    }

    fn ctx(&mut self) -> &mut Ctx<'a> {
        self.ctx.get_or_insert_with(|| {
            let signature = Signature::new(self.template, self.env, Vec::new());
            let mut ctx = Ctx::new(self.template, self.env, &signature, Collect::Nothing);
            ctx.functions.begin_at(FunctionId(self.n_functions as u32));
            Box::new(ctx)
        })
    }

    /// The function for arguments of these types, as `caller` calls it at `span`. `None` if it cannot be inferred,
    /// which is then among the mistakes.
    pub fn function(
        &mut self,
        name: &str,
        args: &[Type],
        caller: &Function,
        span: Span,
    ) -> Option<FunctionId> {
        let ctx = self.ctx();
        let env = EnvRef::Kernel(ctx.kernel_env);
        let mut state = FunctionState::bare(&caller.name, &caller.source, env, span);
        state.func.called_for = caller.called_for.clone();
        state.func.is_operator = caller.is_operator;
        ctx.f = state;
        let value = |ty: &Type| (Operand::Node(ctx.value_arg(&"value".into(), ty, span)), span);
        let args = args.iter().map(value).collect();
        ctx.call_library_with(name, args, span);
        let callee = ctx.f.func.nodes.iter().find_map(|node| match node.kind {
            NodeKind::Call { function, .. } => Some(function),
            _ => None,
        });
        if callee.is_none() {
            let mistakes = ctx.all_diagnostics();
            self.mistakes.extend(mistakes);
        }
        callee
    }

    /// Adds a function that is no function of the library.
    pub fn add(&mut self, function: Function) -> FunctionId {
        self.ctx().functions.add(function)
    }

    /// Takes the next function that was added, in the order of their ids.
    pub fn take_next(&mut self) -> Option<Function> {
        let function = self.ctx.as_mut()?.functions.take(self.n_taken)?;
        self.n_taken += 1;
        Some(function)
    }

    /// Why functions could not be inferred.
    pub fn into_mistakes(self) -> Diagnostics {
        self.mistakes
    }
}
