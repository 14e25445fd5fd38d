//! What naga's types and operators are called in the language of a text.

use naga::{
    AddressSpace, ArraySize, BinaryOperator, BuiltIn, Function, Handle, Module, Scalar, ScalarKind, Type,
    TypeInner, UnaryOperator, VectorSize,
};

use crate::Language;

/// The names of a module's types.
#[derive(Clone, Copy)]
pub(crate) struct Names<'m> {
    pub module: &'m Module,
    pub language: Language,
}

impl Names<'_> {
    pub fn ty(self, handle: Handle<Type>) -> String {
        match &self.module.types[handle].name {
            Some(name) => name.clone(),
            None => self.inner(&self.module.types[handle].inner),
        }
    }

    /// What a function takes and gives, as it is written at its start.
    pub fn head(self, function: &Function) -> String {
        let name = function.name.as_deref().unwrap_or_default();
        let parameters = function.arguments.iter().map(|one| {
            let (name, ty) = (one.name.as_deref().unwrap_or("_"), self.parameter(one.ty));
            match self.language {
                Language::Glsl => format!("{ty} {name}"),
                Language::Wgsl => format!("{name}: {ty}"),
            }
        });
        let parameters = parameters.collect::<Vec<String>>().join(", ");
        let result = function.result.as_ref().map(|result| self.ty(result.ty));
        match (self.language, result) {
            (Language::Glsl, result) => {
                format!("{} {name}({parameters})", result.unwrap_or_else(|| "void".to_owned()))
            }
            (Language::Wgsl, Some(result)) => format!("fn {name}({parameters}) -> {result}"),
            (Language::Wgsl, None) => format!("fn {name}({parameters})"),
        }
    }

    /// The type of a parameter, pointers as such.
    fn parameter(self, ty: Handle<Type>) -> String {
        match (self.language, &self.module.types[ty].inner) {
            (Language::Wgsl, TypeInner::Pointer { space: AddressSpace::Function, base }) => {
                format!("ptr<function, {}>", self.ty(*base))
            }
            (Language::Wgsl, TypeInner::Pointer { base, .. }) => format!("ptr<private, {}>", self.ty(*base)),
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
        let (glsl, wgsl) = match (scalar.kind, scalar.width) {
            (ScalarKind::Bool, _) => ("bool", "bool"),
            (ScalarKind::Float, 2) => ("float16_t", "f16"),
            (ScalarKind::Float, 8) => ("double", "f64"),
            (ScalarKind::Float, _) => ("float", "f32"),
            (ScalarKind::Sint, 2) => ("int16_t", "i16"),
            (ScalarKind::Sint, 8) => ("int64_t", "i64"),
            (ScalarKind::Sint, _) => ("int", "i32"),
            (ScalarKind::Uint, 2) => ("uint16_t", "u16"),
            (ScalarKind::Uint, 8) => ("uint64_t", "u64"),
            (ScalarKind::Uint, _) => ("uint", "u32"),
            (ScalarKind::AbstractInt, _) => ("int", "i32"),
            (ScalarKind::AbstractFloat, _) => ("float", "f32"),
        };
        if self.language == Language::Glsl { glsl } else { wgsl }
    }

    fn vector(self, size: VectorSize, scalar: Scalar) -> String {
        let n = size as u8;
        match (self.language, self.scalar(scalar)) {
            (Language::Wgsl, scalar) => format!("vec{n}<{scalar}>"),
            (Language::Glsl, "float") => format!("vec{n}"),
            (Language::Glsl, scalar) => format!("{}vec{n}", &scalar[..1]),
        }
    }

    fn matrix(self, columns: VectorSize, rows: VectorSize, scalar: Scalar) -> String {
        let (c, r) = (columns as u8, rows as u8);
        match (self.language, self.scalar(scalar)) {
            (Language::Wgsl, scalar) => format!("mat{c}x{r}<{scalar}>"),
            (Language::Glsl, "double") => format!("dmat{c}x{r}"),
            (Language::Glsl, _) if c == r => format!("mat{c}"),
            (Language::Glsl, _) => format!("mat{c}x{r}"),
        }
    }

    fn array(self, base: Handle<Type>, size: ArraySize) -> String {
        let base = self.ty(base);
        let n = match size {
            ArraySize::Constant(n) => n.to_string(),
            _ => String::new(),
        };
        match self.language {
            Language::Glsl => format!("{base}[{n}]"),
            Language::Wgsl if n.is_empty() => format!("array<{base}>"),
            Language::Wgsl => format!("array<{base}, {n}>"),
        }
    }

    /// GLSL's name of a position depends on whether it is given or taken.
    fn gives_position(self) -> bool {
        self.module.global_variables.iter().any(|(_, one)| one.name.as_deref() == Some("gl_Position"))
    }

    /// What a built-in input or output is called.
    pub fn built_in(self, built_in: BuiltIn) -> String {
        let (glsl, wgsl) = match built_in {
            BuiltIn::Position { .. } if self.gives_position() => ("gl_Position", "position"),
            BuiltIn::Position { .. } => ("gl_FragCoord", "position"),
            BuiltIn::VertexIndex => ("gl_VertexIndex", "vertex_index"),
            BuiltIn::InstanceIndex => ("gl_InstanceIndex", "instance_index"),
            BuiltIn::FragDepth => ("gl_FragDepth", "frag_depth"),
            BuiltIn::FrontFacing => ("gl_FrontFacing", "front_facing"),
            BuiltIn::SampleIndex => ("gl_SampleID", "sample_index"),
            BuiltIn::SampleMask => ("gl_SampleMask", "sample_mask"),
            BuiltIn::PointSize => ("gl_PointSize", "point_size"),
            BuiltIn::PointCoord => ("gl_PointCoord", "point_coord"),
            BuiltIn::PrimitiveIndex => ("gl_PrimitiveID", "primitive_index"),
            BuiltIn::GlobalInvocationId => ("gl_GlobalInvocationID", "global_invocation_id"),
            BuiltIn::LocalInvocationId => ("gl_LocalInvocationID", "local_invocation_id"),
            BuiltIn::LocalInvocationIndex => ("gl_LocalInvocationIndex", "local_invocation_index"),
            BuiltIn::WorkGroupId => ("gl_WorkGroupID", "workgroup_id"),
            BuiltIn::WorkGroupSize => ("gl_WorkGroupSize", "workgroup_size"),
            BuiltIn::NumWorkGroups => ("gl_NumWorkGroups", "num_workgroups"),
            BuiltIn::NumSubgroups => ("gl_NumSubgroups", "num_subgroups"),
            BuiltIn::SubgroupId => ("gl_SubgroupID", "subgroup_id"),
            BuiltIn::SubgroupSize => ("gl_SubgroupSize", "subgroup_size"),
            BuiltIn::SubgroupInvocationId => ("gl_SubgroupInvocationID", "subgroup_invocation_id"),
            // Others are of stages that no text here can have.
            _ => ("a built-in value", "a built-in value"),
        };
        if self.language == Language::Glsl { glsl.to_owned() } else { wgsl.to_owned() }
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
