//! Ids of an invocation: `global_id`, `local_id`, `group_id` and similar names.
//!
//! The device counts along each axis in 32 bits. In a domain with more invocations than an i32 counts,
//! `global_id` is an error, and `global_id64` is computed from the workgroup.

use kps_syntax::Span;
use kps_syntax::ast::BinaryOp as AstBinaryOp;

use crate::builtins::PlaceName;
use crate::constant::Constant;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::operand::Operand;
use crate::ir::{BinaryOp, NodeId, NodeKind};
use crate::signature::{Form, Width};
use crate::template::Input;
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    /// `global_id` and similar names. Names that depend on the local size require the kernel to declare one.
    pub fn place_name(&mut self, place: PlaceName, span: Span) -> Operand {
        let is_everywhere = matches!(place, PlaceName::SubgroupLane | PlaceName::SubgroupSize);
        if !is_everywhere && !self.belongs_to_compute(place.name(), span) {
            return Operand::Error;
        }
        let needs_size = matches!(place, PlaceName::LocalId | PlaceName::GroupId | PlaceName::NumGroups);
        if needs_size && !self.requires_local_size(place.name(), span) {
            return Operand::Error;
        }
        let options = &self.template.options;
        let ivec3 = Type::Vector(3, Scalar::I32);
        match place {
            PlaceName::GlobalId if self.assumptions.ids == Width::Wide => {
                self.fail(errors::too_many_invocations(self.at(span)))
            }
            PlaceName::GlobalId => self.input(Input::GlobalInvocationId, &ivec3, span),
            PlaceName::LocalId => self.input(Input::LocalInvocationId, &ivec3, span),
            PlaceName::GroupId => self.input(Input::WorkgroupId, &ivec3, span),
            PlaceName::NumGroups => self.input(Input::NumWorkgroups, &ivec3, span),
            PlaceName::LocalSize => self.input(Input::WorkgroupSize, &ivec3, span),
            PlaceName::GlobalSize if options.form == Form::Kernel => {
                let domain =
                    self.node(NodeKind::Domain, Type::Vector(3, self.assumptions.ids.unsigned()), span);
                let sizes = ivec3.with_scalar(self.assumptions.ids.signed());
                Operand::Node(self.node(NodeKind::Bitcast(domain), sizes, span))
            }
            PlaceName::GlobalSize => {
                let groups = self.input(Input::NumWorkgroups, &ivec3, span);
                let size = self.input(Input::WorkgroupSize, &ivec3, span);
                self.binary(AstBinaryOp::Mul, &groups, &size, span, (span, span))
            }
            PlaceName::GlobalId64 if self.assumptions.ids == Width::Wide => self.wide_global_id(span),
            PlaceName::GlobalId64 => {
                let id = self.input(Input::GlobalInvocationId, &ivec3.with_scalar(Scalar::U32), span);
                let Operand::Node(id) = id else { return Operand::Error };
                Operand::Node(self.convert(id, Scalar::I64, span))
            }
            PlaceName::SubgroupId => self.input(Input::SubgroupId, &Type::I32, span),
            PlaceName::SubgroupLane => self.input(Input::SubgroupLocalInvocationId, &Type::I32, span),
            PlaceName::SubgroupSize => self.input(Input::SubgroupSize, &Type::I32, span),
        }
    }

    /// From the workgroup, since the device counts invocations in 32 bits.
    fn wide_global_id(&mut self, span: Span) -> Operand {
        let uvec3 = Type::Vector(3, Scalar::U32);
        let mut wide = |input| {
            let counted = self.node(NodeKind::Input(input), uvec3.clone(), span);
            self.convert(counted, Scalar::I64, span)
        };
        let (group, local) = (wide(Input::WorkgroupId), wide(Input::LocalInvocationId));
        let sizes = self.local_size.map(|n| self.constant(Constant::int(Scalar::I64, n.into()), span));
        let ids = uvec3.with_scalar(Scalar::I64);
        let sizes = self.node(NodeKind::Construct(sizes.to_vec()), ids.clone(), span);
        let first = self.node(NodeKind::Binary(BinaryOp::Mul, group, sizes), ids.clone(), span);
        Operand::Node(self.node(NodeKind::Binary(BinaryOp::Add, first, local), ids, span))
    }

    /// An input, converted to the type that kernels see.
    pub fn input(&mut self, input: Input, ty: &Type, span: Span) -> Operand {
        if input == Input::WorkgroupSize && self.template.options.sized_later {
            return Operand::Error;
        }
        if input == Input::WorkgroupSize {
            let parts = self.local_size.map(|size| self.constant(Constant::i32(size as i32), span));
            let size = self.node(NodeKind::Construct(parts.to_vec()), Type::Vector(3, Scalar::I32), span);
            return Operand::Node(self.bitcast(size, ty, span));
        }
        let raw = self.node(NodeKind::Input(input), ty.with_scalar(Scalar::U32), span);
        Operand::Node(self.bitcast(raw, ty, span))
    }

    fn bitcast(&mut self, node: NodeId, ty: &Type, span: Span) -> NodeId {
        if self.ty(node) == ty { node } else { self.node(NodeKind::Bitcast(node), ty.clone(), span) }
    }
}
