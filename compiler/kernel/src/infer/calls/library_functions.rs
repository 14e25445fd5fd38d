//! Functions of the library for lowering and legalisation: the name of a function and its arguments in, a function in
//! typed IR out.
//!
//! A function is inferred once for the types of its arguments, and so are the functions that it calls. They see nothing
//! of the kernel but arrays that are arguments, and their calls are no calls of the script: `called_for` has the place
//! that lowering gives.

use std::rc::Rc;

use kps_syntax::{Diagnostics, Span};

use crate::constant::Literal;
use crate::env::KernelEnv;
use crate::infer::expressions::operand::{Facts, Operand, Static};
use crate::infer::{Collect, Ctx, EnvRef, FunctionState};
use crate::ir::build::Builder;
use crate::ir::{Array, CoopMatrix, Format, Function, FunctionId, Kernel, NodeId, NodeKind};
use crate::launch::LaunchAssumptions;
use crate::template::KernelTemplate;
use crate::types::{Scalar, Type};

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

/// An argument of a call.
pub(crate) enum LibraryArg {
    Type(Scalar),
    Int(u32),
    Node(NodeId),
    Array(Array),
    Matrix(CoopMatrix),
}

impl From<CoopMatrix> for LibraryArg {
    fn from(matrix: CoopMatrix) -> LibraryArg {
        LibraryArg::Matrix(matrix)
    }
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
            let launch = (1, LaunchAssumptions::default());
            let mut ctx = Ctx::new(self.template, self.env, launch, Collect::Nothing);
            ctx.functions.begin_at(FunctionId(self.n_functions as u32));
            Box::new(ctx)
        })
    }

    /// Makes the arrays of a kernel known, so that functions can be called with them.
    pub fn see_arrays(&mut self, kernel: &Kernel) {
        let ctx = self.ctx();
        ctx.interface.see_arrays(kernel);
        for choice in kernel.functions.iter().flat_map(|function| &function.choices) {
            if !ctx.array_sets.iter().any(|known| Rc::ptr_eq(known, &choice.among)) {
                ctx.array_sets.push(Rc::clone(&choice.among));
            }
        }
    }

    /// The state of a function without nodes that calls something at `span`.
    fn ctx_at(&mut self, caller: &Function, span: Span) -> &mut Ctx<'a> {
        let ctx = self.ctx();
        let env = EnvRef::Kernel(ctx.kernel_env);
        ctx.f = FunctionState::bare(&caller.name, &caller.source, env, span);
        ctx
    }

    /// Calls a function that has no result. Parts of lists are passed in locals.
    pub fn call(&mut self, builder: &mut Builder, name: &str, args: impl IntoIterator<Item = LibraryArg>) {
        let span = builder.span;
        let ctx = self.ctx_at(builder.function, span);
        ctx.f.facts = vec![Facts::default(); builder.function.nodes.len()];
        std::mem::swap(&mut ctx.f.func, builder.function);
        let operand = |arg| match arg {
            LibraryArg::Type(scalar) => (Operand::Static(Static::Type(scalar.into())), span),
            LibraryArg::Int(value) => (Operand::int(value.into()), span),
            LibraryArg::Node(node) => (Operand::Node(node), span),
            LibraryArg::Array(Array::Buffer(buffer)) => (Operand::Buffer(buffer), span),
            LibraryArg::Array(Array::Place(place)) => (Operand::Place(place), span),
            LibraryArg::Matrix(CoopMatrix { place, span }) => (Operand::Place(place), span),
        };
        let args = args.into_iter().map(operand).collect();
        let called = ctx.call_library_with(name, args, span);
        std::mem::swap(&mut ctx.f.func, builder.function);
        builder.block.append(&mut ctx.f.block);
        if called.has_error() {
            let mistakes = ctx.all_diagnostics();
            self.mistakes.extend(mistakes);
        }
    }

    /// The function for arguments of these types, and for what describes the first one, as `caller` calls it at `span`.
    /// `None` if it cannot be inferred, which is then among the mistakes.
    pub fn function(
        &mut self,
        name: &str,
        args: &[Type],
        format: Option<Format>,
        caller: &Function,
        span: Span,
    ) -> Option<FunctionId> {
        let ctx = self.ctx_at(caller, span);
        ctx.f.func.called_for = caller.called_for.clone();
        ctx.f.func.is_operator = caller.is_operator;
        let value = |ty: &Type| (Operand::Node(ctx.value_arg(&"value".into(), ty, span)), span);
        let mut operands: Vec<(Operand, Span)> = args.iter().map(value).collect();
        let scalar = args.first().and_then(Type::number);
        if let (Some(format), Some(scalar)) = (format, scalar) {
            operands.extend(format_args(format, scalar).into_iter().map(|operand| (operand, span)));
        }
        ctx.call_library_with(name, operands, span);
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

/// The arguments that tell a library function of a type.
pub(in crate::infer) fn format_args(format: Format, scalar: Scalar) -> Vec<Operand> {
    let type_of = |scalar: Scalar| Operand::Static(Static::Type(scalar.into()));
    let float = |value: f64| Operand::Literal(Literal::Float(value));
    let mut args = vec![type_of(scalar)];
    match format {
        Format::Float | Format::NarrowFloat => {
            let n_digits = match scalar {
                Scalar::F16 => 10,
                Scalar::Bf16 => 7,
                Scalar::F64 => 52,
                _ => 23,
            };
            args.extend([type_of(scalar.as_signed()), Operand::int(n_digits)]);
        }
        Format::Bits => args.push(type_of(scalar.as_signed())),
        Format::Decimals => args.extend(match scalar {
            Scalar::F64 => [134_217_729.0, 4_503_599_627_370_496.0].map(float),
            _ => [4097.0, 8_388_608.0].map(float),
        }),
        Format::WholeDecimals => {
            args.push(Operand::int((1i128 << (scalar.bits() - 1)).ilog10().into()));
        }
        Format::Unsigned => args.push(type_of(scalar.as_unsigned())),
    }
    args
}
