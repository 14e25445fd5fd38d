//! The names of naga's types and operators in WGSL.

use naga::{
    AddressSpace, ArraySize, BinaryOperator, BuiltIn, Function, Handle, Module, Scalar, ScalarKind, Type,
    TypeInner, UnaryOperator, VectorSize,
};

/// The names of a module's types.
#[derive(Clone, Copy)]
pub(crate) struct Names<'m> {
    pub module: &'m Module,
}

impl Names<'_> {
    pub fn ty(self, handle: Handle<Type>) -> String {
        match &self.module.types[handle].name {
            Some(name) => name.clone(),
            None => self.inner(&self.module.types[handle].inner),
        }
    }

    /// A function's parameters and result, as its declaration writes them.
    pub fn head(self, function: &Function) -> String {
        let name = function.name.as_deref().unwrap_or_default();
        let parameters = function.arguments.iter().map(|one| {
            let (name, ty) = (one.name.as_deref().unwrap_or("_"), self.parameter(one.ty));
            format!("{name}: {ty}")
        });
        let parameters = parameters.collect::<Vec<String>>().join(", ");
        let result = function.result.as_ref().map(|result| self.ty(result.ty));
        match result {
            Some(result) => format!("fn {name}({parameters}) -> {result}"),
            None => format!("fn {name}({parameters})"),
        }
    }

    /// The type of a parameter; pointers are written as pointers.
    fn parameter(self, ty: Handle<Type>) -> String {
        match &self.module.types[ty].inner {
            TypeInner::Pointer { space: AddressSpace::Function, base } => {
                format!("ptr<function, {}>", self.ty(*base))
            }
            TypeInner::Pointer { base, .. } => format!("ptr<private, {}>", self.ty(*base)),
            _ => self.ty(ty),
        }
    }

    pub fn inner(self, inner: &TypeInner) -> String {
        match *inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => self.scalar(scalar).to_owned(),
            TypeInner::Vector { size, scalar } => self.vector(size, scalar),
            TypeInner::Matrix { columns, rows, scalar } => self.matrix(columns, rows, scalar),
            TypeInner::Array { base, size, .. } => self.array(base, size),
            TypeInner::Pointer { base, .. } => self.ty(base),
            TypeInner::ValuePointer { size: Some(size), scalar, .. } => self.vector(size, scalar),
            TypeInner::ValuePointer { size: None, scalar, .. } => self.scalar(scalar).to_owned(),
            TypeInner::Image { .. } => "image".to_owned(),
            TypeInner::Sampler { .. } => "sampler".to_owned(),
            _ => self.declared(inner),
        }
    }

    /// The name of a type that the text declares.
    fn declared(self, inner: &TypeInner) -> String {
        let found = self.module.types.iter().find(|(_, ty)| ty.inner == *inner);
        found.and_then(|(_, ty)| ty.name.clone()).unwrap_or_else(|| "struct".to_owned())
    }

    pub fn scalar(self, scalar: Scalar) -> &'static str {
        match (scalar.kind, scalar.width) {
            (ScalarKind::Bool, _) => "bool",
            (ScalarKind::Float, 2) => "f16",
            (ScalarKind::Float, 8) => "f64",
            (ScalarKind::Float, _) => "f32",
            (ScalarKind::Sint, 2) => "i16",
            (ScalarKind::Sint, 8) => "i64",
            (ScalarKind::Sint, _) => "i32",
            (ScalarKind::Uint, 2) => "u16",
            (ScalarKind::Uint, 8) => "u64",
            (ScalarKind::Uint, _) => "u32",
            (ScalarKind::AbstractInt, _) => "i32",
            (ScalarKind::AbstractFloat, _) => "f32",
        }
    }

    fn vector(self, size: VectorSize, scalar: Scalar) -> String {
        format!("vec{}<{}>", size as u8, self.scalar(scalar))
    }

    fn matrix(self, columns: VectorSize, rows: VectorSize, scalar: Scalar) -> String {
        format!("mat{}x{}<{}>", columns as u8, rows as u8, self.scalar(scalar))
    }

    fn array(self, base: Handle<Type>, size: ArraySize) -> String {
        let base = self.ty(base);
        match size {
            ArraySize::Constant(n) => format!("array<{base}, {n}>"),
            _ => format!("array<{base}>"),
        }
    }
}

/// The name of a built-in input or output.
pub(crate) fn built_in(built_in: BuiltIn) -> &'static str {
    match built_in {
        BuiltIn::Position { .. } => "position",
        BuiltIn::VertexIndex => "vertex_index",
        BuiltIn::InstanceIndex => "instance_index",
        BuiltIn::FragDepth => "frag_depth",
        BuiltIn::FrontFacing => "front_facing",
        BuiltIn::SampleIndex => "sample_index",
        BuiltIn::SampleMask => "sample_mask",
        BuiltIn::PointSize => "point_size",
        BuiltIn::PointCoord => "point_coord",
        BuiltIn::PrimitiveIndex => "primitive_index",
        BuiltIn::GlobalInvocationId => "global_invocation_id",
        BuiltIn::LocalInvocationId => "local_invocation_id",
        BuiltIn::LocalInvocationIndex => "local_invocation_index",
        BuiltIn::WorkGroupId => "workgroup_id",
        BuiltIn::WorkGroupSize => "workgroup_size",
        BuiltIn::NumWorkGroups => "num_workgroups",
        BuiltIn::NumSubgroups => "num_subgroups",
        BuiltIn::SubgroupId => "subgroup_id",
        BuiltIn::SubgroupSize => "subgroup_size",
        BuiltIn::SubgroupInvocationId => "subgroup_invocation_id",
        // Others are of stages that kps does not compile.
        _ => "a built-in value",
    }
}

pub(crate) fn binary(operator: BinaryOperator) -> &'static str {
    match operator {
        BinaryOperator::Add => "+",
        BinaryOperator::Subtract => "-",
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::Modulo => "%",
        BinaryOperator::Equal => "==",
        BinaryOperator::NotEqual => "!=",
        BinaryOperator::Less => "<",
        BinaryOperator::LessEqual => "<=",
        BinaryOperator::Greater => ">",
        BinaryOperator::GreaterEqual => ">=",
        BinaryOperator::And => "&",
        BinaryOperator::ExclusiveOr => "^",
        BinaryOperator::InclusiveOr => "|",
        BinaryOperator::LogicalAnd => "&&",
        BinaryOperator::LogicalOr => "||",
        BinaryOperator::ShiftLeft => "<<",
        BinaryOperator::ShiftRight => ">>",
    }
}

pub(crate) fn unary(operator: UnaryOperator) -> &'static str {
    match operator {
        UnaryOperator::Negate => "-",
        UnaryOperator::LogicalNot => "!",
        UnaryOperator::BitwiseNot => "~",
    }
}
