//! The divergence of a node: why its value differs between the invocations of a workgroup, if it does.

use kps_syntax::{Location, Span};

use super::super::reasons::{ReasonId, Why};
use super::{Given, Walker};
use crate::ir::{Arg, CallArg, FunctionId, Home, LocalId, NodeId, NodeKind};
use crate::launch::Memory;
use crate::template::Input;
use crate::types::Type;

impl Walker<'_, '_> {
    pub(super) fn why(&self, node: NodeId) -> Why {
        self.nodes[node.idx()]
    }

    pub(super) fn node(&mut self, id: NodeId) -> Why {
        let function = self.function;
        let node = function.node(id);
        // A loop is walked again, and the reason that was found first stays.
        if let Some(known) = self.nodes[id.idx()] {
            return Some(known);
        }
        let why = self.computed(id)?;
        match &node.name {
            Some(name) if !name.starts_with("kps.") => {
                Some(self.analysis.reasons.named(&function.source, node.span, name, why))
            }
            _ => Some(why),
        }
    }

    fn computed(&mut self, id: NodeId) -> Why {
        let function = self.function;
        let node = function.node(id);
        match &node.kind {
            NodeKind::Input(input) => self.input(*input, node.span),
            NodeKind::Extract(a, axis) if self.is_flat(*a, *axis) => None,
            NodeKind::Arg(at) => self.args[self.value_args_before(*at)],
            NodeKind::Load(local) | NodeKind::LoadElement { local, .. } => self.loaded(id, *local, node.span),
            NodeKind::BufferLoad { buffer, .. } => {
                let name = &self.analysis.kernel.buffers[buffer.idx()].name;
                if self.analysis.written.contains(buffer) {
                    let why = match self.analysis.kernel.assumptions.memory {
                        Memory::Apart => format!("the kernel writes `{name}`"),
                        Memory::Shared => {
                            "one tensor is given for two arrays, and the kernel writes it".to_owned()
                        }
                    };
                    let text = format!("{why}, so invocations may read different values");
                    let subject = format!("`{name}`");
                    return Some(self.source(node.span, &subject, &text));
                }
                self.first_operand(&node.kind)
            }
            NodeKind::Subgroup { .. } => {
                let text = "each subgroup of the workgroup has its own result";
                Some(self.source(node.span, "a subgroup operation", text))
            }
            NodeKind::Atomic(_) => {
                let text = "each invocation finds the element as others left it";
                Some(self.source(node.span, "an atomic operation", text))
            }
            // A sampled texture is never written in the same kernel.
            NodeKind::TextureRead { texture, .. }
                if !self.analysis.kernel.textures[texture.idx()].is_sampled =>
            {
                let name = &self.analysis.kernel.textures[texture.idx()].name;
                let text = format!("kernels may write `{name}`, so invocations may read different values");
                let subject = format!("`{name}`");
                Some(self.source(node.span, &subject, &text))
            }
            NodeKind::Uniform(_) => None,
            NodeKind::Call { function, args } => self.call(*function, args, node.span),
            kind => self.first_operand(kind),
        }
    }

    fn first_operand(&self, kind: &NodeKind) -> Why {
        let mut why = None;
        kind.operands(&mut |operand| why = why.or(self.why(operand)));
        why
    }

    fn source(&mut self, span: Span, subject: &str, text: &str) -> ReasonId {
        self.analysis.reasons.source(&self.function.source, span, subject, text)
    }

    fn input(&mut self, input: Input, span: Span) -> Why {
        match input {
            Input::WorkgroupId
            | Input::NumWorkgroups
            | Input::WorkgroupSize
            | Input::NumSubgroups
            | Input::SubgroupSize => None,
            Input::GlobalInvocationId
            | Input::LocalInvocationId
            | Input::LocalInvocationIndex
            | Input::SubgroupId
            | Input::SubgroupLocalInvocationId => {
                let subject = format!("`{}`", self.function.source.slice(span));
                Some(self.analysis.reasons.plain_source(&self.function.source, span, &subject))
            }
        }
    }

    /// An axis along which a workgroup is one invocation wide: its ids are the group's own.
    fn is_flat(&self, vector: NodeId, axis: u32) -> bool {
        match self.function.node(vector).kind {
            NodeKind::Bitcast(inner) | NodeKind::Convert(inner) => self.is_flat(inner, axis),
            NodeKind::Input(Input::GlobalInvocationId | Input::LocalInvocationId) => {
                self.analysis.kernel.local_size.get(axis as usize) == Some(&1)
            }
            _ => false,
        }
    }

    fn value_args_before(&self, at: u32) -> usize {
        let args = self.function.args[..at as usize].iter();
        args.filter(|arg| matches!(arg, Arg::Value { .. })).count()
    }

    fn loaded(&mut self, id: NodeId, local: LocalId, span: Span) -> Why {
        let index = self.first_operand(&self.function.node(id).kind);
        if let Home::Workgroup(_) = self.function.local(local).home {
            let subject = format!("`{}`", self.function.local(local).name);
            let text = format!("{subject} is shared, so invocations may read different values");
            return Some(self.source(span, &subject, &text));
        }
        if let Type::Coop(_) = self.function.local(local).ty {
            let text = "each invocation holds other components of a matrix";
            return Some(self.source(span, "a cooperative matrix", text));
        }
        if index.is_some() {
            return index;
        }
        let why = self.local(local)?;
        let name = &self.function.local(local).name;
        if name.starts_with("kps.") {
            return Some(why);
        }
        Some(self.analysis.reasons.named(&self.function.source, span, name, why))
    }

    fn call(&mut self, callee: FunctionId, args: &[CallArg], span: Span) -> Why {
        let function = &self.analysis.kernel.functions[callee.idx()];
        let at = self.function.source.at(span);
        let (mut values, mut references) = (Vec::new(), Vec::new());
        for (arg, given) in function.args.iter().zip(args) {
            match (arg, given) {
                (Arg::Value { name, .. }, CallArg::Value(value)) => {
                    let why = self.why(*value);
                    values.push(why.map(|why| self.passed(&at, name, &function.name, why)));
                }
                (_, CallArg::Reference(local)) => {
                    references.push(Given { local: self.arrays[local.idx()], why: self.local(*local) });
                }
                _ => {}
            }
        }
        let context = self.control().map(|why| {
            let text = format!("only some invocations call `{}` here", function.name);
            self.analysis.reasons.step(at, "this call", why, |_| text)
        });
        let summary = self.analysis.function(callee, &values, &references, context);
        for (given, why) in references.iter().zip(&summary.references) {
            *self.local_mut(given.local) = *why;
        }
        // The condition around a call does not make its result diverge.
        summary.result
    }

    fn passed(&mut self, at: &Location, param: &str, function: &str, why: ReasonId) -> ReasonId {
        self.analysis.reasons.step(at.clone(), &format!("`{param}`"), why, |subject| {
            format!("`{param}` of `{function}` is given {subject}")
        })
    }
}
