//! Declarations of a module: types, constants with their specialisation, and variables outside functions.

use kps_scalar::{Scalar, SpirvType};
use rspirv::spirv::{Dim, FPEncoding, Op, Scope, StorageClass};

use super::constants::{self, Constant};
use super::reader::Reader;
use super::types::{MAX_SCALARS, MatrixLayout, Member, Type, TypeId};
use super::{Global, Id, Instruction};
use crate::Result;
use crate::cpu::errors;
use crate::interface::{CELL, WRAPPERS};

/// Limit of scalars in all constants together.
const MAX_CONSTANT_SCALARS: usize = 1 << 22;

/// Limit of rows or columns of a cooperative matrix.
const MAX_SIDE: u64 = 64;

impl Reader<'_, '_> {
    pub(super) fn type_declaration(&mut self, inst: &Instruction) -> Result<()> {
        let ty = match inst.op {
            Op::TypeForwardPointer => return self.forward_pointer(inst),
            Op::TypeVoid => Type::Void,
            Op::TypeBool => Type::Scalar(Scalar::Bool),
            Op::TypeInt => {
                let (width, signed) = (self.word(inst, 1)?, self.word(inst, 2)? != 0);
                match Scalar::of_spirv(SpirvType::Int { width, signed }) {
                    Some(scalar) => Type::Scalar(scalar),
                    None => {
                        let message = format!("its width is {width}, 8 to 64 are supported");
                        return Err(self.unsupported(inst, &message));
                    }
                }
            }
            Op::TypeFloat => Type::Scalar(self.float(inst)?),
            Op::TypeVector => {
                let (component, n) = (self.type_at(inst, 1)?, self.word(inst, 2)?);
                match *self.module.types.get(component) {
                    Type::Scalar(scalar) if (2..=4).contains(&n) => Type::Vector { n, scalar },
                    _ => return Err(self.malformed(inst, "a vector has 2 to 4 scalars")),
                }
            }
            Op::TypeMatrix => {
                let (column, columns) = (self.type_at(inst, 1)?, self.word(inst, 2)?);
                match self.module.types.as_scalars(column) {
                    Some((scalar, 2..=4))
                        if scalar.is_float() && scalar != Scalar::Bf16 && (2..=4).contains(&columns) =>
                    {
                        Type::Matrix { columns, column }
                    }
                    _ => return Err(self.malformed(inst, "a matrix has 2 to 4 columns of floats")),
                }
            }
            Op::TypeArray => {
                let len = self.constant_at(inst, 2)?.as_int(&self.module.types);
                let Some(len @ 1..=0x7fff_ffff) = len else {
                    return Err(self.malformed(inst, "the length of an array is an int, at least 1"));
                };
                let stride = self.array_stride(inst)?;
                Type::Array { element: self.type_at(inst, 1)?, len: len as u32, stride }
            }
            Op::TypeRuntimeArray => {
                let stride = self.array_stride(inst)?;
                Type::RuntimeArray { element: self.type_at(inst, 1)?, stride }
            }
            Op::TypeStruct => self.struct_type(inst)?,
            Op::TypePointer => {
                let Some(class) = StorageClass::from_u32(self.word(inst, 1)?) else {
                    return Err(self.malformed(inst, "the storage class is not known"));
                };
                let stride = self.array_stride(inst)?;
                let pointer = Type::Pointer { class, pointee: self.type_at(inst, 2)?, stride };
                let id = self.id(inst, 0)?;
                if self.module.types.is_announced(id) {
                    return self.announced_pointer(inst, id, class, pointer);
                }
                pointer
            }
            Op::TypeImage => self.image_type(inst)?,
            Op::TypeSampler => Type::Sampler,
            Op::TypeSampledImage => Type::SampledImage { image: self.type_at(inst, 1)? },
            Op::TypeCooperativeMatrixKHR => self.cooperative_type(inst)?,
            Op::TypeFunction => {
                let params = (2..inst.n as usize).map(|i| self.type_at(inst, i)).collect::<Result<_>>()?;
                Type::Function { ret: self.type_at(inst, 1)?, params }
            }
            _ => return Err(self.unsupported(inst, "values of this type are not known here")),
        };
        let id = self.define(inst, 0)?;
        self.module.types.add(id, ty).map_err(|message| self.malformed(inst, message))?;
        Ok(())
    }

    /// A pointer type that structures name before its declaration: the address of a buffer.
    fn forward_pointer(&mut self, inst: &Instruction) -> Result<()> {
        let id = self.id(inst, 0)?;
        let is_address = self.word(inst, 1)? == StorageClass::PhysicalStorageBuffer as u32;
        if !is_address || self.defined.contains(&id) || self.module.types.by_id(id).is_some() {
            return Err(self.malformed(inst, "it must forward-declare the address of a buffer"));
        }
        let added = self.module.types.add_forward(id, StorageClass::PhysicalStorageBuffer);
        added.map_err(|message| self.malformed(inst, message))
    }

    fn announced_pointer(
        &mut self,
        inst: &Instruction,
        id: Id,
        class: StorageClass,
        pointer: Type,
    ) -> Result<()> {
        if class != StorageClass::PhysicalStorageBuffer {
            return Err(self.malformed(inst, "it was forward-declared as the address of a buffer"));
        }
        self.define(inst, 0)?;
        self.module.types.complete(id, pointer);
        Ok(())
    }

    fn image_type(&self, inst: &Instruction) -> Result<Type> {
        let scalar = match *self.module.types.get(self.type_at(inst, 1)?) {
            Type::Scalar(scalar) => scalar,
            _ => return Err(self.malformed(inst, "texels are of a scalar type")),
        };
        let n_axes = match Dim::from_u32(self.word(inst, 2)?) {
            Some(Dim::Dim1D) => 1,
            Some(Dim::Dim2D) => 2,
            Some(Dim::Dim3D) => 3,
            _ => return Err(self.unsupported(inst, "images of one, two and three dimensions are supported")),
        };
        let (arrayed, samples) = (self.word(inst, 4)?, self.word(inst, 5)?);
        if arrayed != 0 || samples != 0 {
            return Err(self.unsupported(inst, "images of one layer and one sample are supported"));
        }
        Ok(Type::Image { scalar, n_axes })
    }

    fn cooperative_type(&self, inst: &Instruction) -> Result<Type> {
        let Type::Scalar(scalar) = *self.module.types.get(self.type_at(inst, 1)?) else {
            return Err(self.malformed(inst, "its components are scalars"));
        };
        let int = |i| self.constant_at(inst, i).map(|constant| constant.as_int(&self.module.types));
        let (Some(scope), Some(rows), Some(columns), Some(role)) = (int(2)?, int(3)?, int(4)?, int(5)?)
        else {
            return Err(self.malformed(inst, "its scope, its sizes and its use are ints"));
        };
        if scope != Scope::Subgroup as u64 {
            return Err(self.unsupported(inst, "matrices of a subgroup are supported"));
        }
        if !(1..=MAX_SIDE).contains(&rows) || !(1..=MAX_SIDE).contains(&columns) || scalar == Scalar::Bool {
            return Err(self.unsupported(inst, &format!("its sides are up to {MAX_SIDE}, of numbers")));
        }
        let (rows, columns) = (rows as u32, columns as u32);
        let n = (rows * columns).div_ceil(self.subgroup_size);
        Ok(Type::Cooperative { scalar, rows, columns, role: role as u32, n })
    }

    fn float(&self, inst: &Instruction) -> Result<Scalar> {
        match (self.word(inst, 1)?, self.module.operands(inst).get(2)) {
            (width, None) => Scalar::of_spirv(SpirvType::Float { width }).ok_or_else(|| {
                self.unsupported(inst, &format!("its width is {width}, 16 to 64 are supported"))
            }),
            (16, Some(&encoding)) if encoding == FPEncoding::BFloat16KHR as u32 => Ok(Scalar::Bf16),
            (_, Some(_)) => Err(self.unsupported(inst, "only the encoding bfloat16 is supported")),
        }
    }

    fn array_stride(&self, inst: &Instruction) -> Result<Option<u32>> {
        let stride = self.decorations.of(self.id(inst, 0)?).array_stride;
        match stride {
            Some(0) | Some(0x8000_0000..) => Err(self.malformed(inst, "an array's stride is 1 to 2^31 - 1")),
            _ => Ok(stride),
        }
    }

    fn struct_type(&self, inst: &Instruction) -> Result<Type> {
        let id = self.id(inst, 0)?;
        let block = self.module.names.get(&id).map_or("", |name| name);
        let (is_wrapper, is_cell) = (WRAPPERS.contains(&block), block == CELL);
        let member = |i: usize| {
            let name = self.decorations.member_names.get(&(id, i as u32 - 1)).filter(|_| !is_wrapper);
            let of = self.decorations.of_member(id, i as u32 - 1);
            let matrix = MatrixLayout { stride: of.matrix_stride, row_major: of.row_major };
            if of.offset.is_some_and(|offset| offset > 0x7fff_ffff) {
                return Err(self.malformed(inst, "an offset is at most 2^31 - 1"));
            }
            Ok(Member { name: name.cloned(), ty: self.type_at(inst, i)?, is_cell, offset: of.offset, matrix })
        };
        Ok(Type::Struct((1..inst.n as usize).map(member).collect::<Result<_>>()?))
    }

    pub(super) fn constant(&mut self, inst: &Instruction) -> Result<()> {
        let ty = self.type_at(inst, 0)?;
        let types = &self.module.types;
        if !types.is_data(ty) {
            return Err(self.malformed(inst, "no constant has this type"));
        }
        let n = types.n_scalars(ty) as usize;
        if n > MAX_SCALARS as usize {
            let what = format!("a value has more than {MAX_SCALARS} scalars");
            return Err(errors::too_large(what, self.module.line(inst.line)));
        }
        if self.n_constant_scalars + n > MAX_CONSTANT_SCALARS {
            return Err(errors::too_large("its constants have too many parts", self.module.line(inst.line)));
        }
        let parts = self.constant_parts(inst, ty)?;
        self.n_constant_scalars += parts.len();
        let id = self.define(inst, 1)?;
        self.module.constants.insert(id, Constant { ty, parts: parts.into() });
        Ok(())
    }

    fn constant_parts(&self, inst: &Instruction, ty: TypeId) -> Result<Vec<u64>> {
        let types = &self.module.types;
        let scalar = match types.get(ty) {
            Type::Scalar(scalar) => Some(*scalar),
            _ => None,
        };
        let wrong = || self.malformed(inst, "its type does not fit");
        Ok(match inst.op {
            Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                let value = matches!(inst.op, Op::ConstantTrue | Op::SpecConstantTrue);
                let value = self.specialized(inst)?.map_or(value, |bits| bits != 0);
                if scalar != Some(Scalar::Bool) {
                    return Err(wrong());
                }
                vec![u64::from(value)]
            }
            Op::Constant | Op::SpecConstant => {
                let scalar = scalar.filter(|&scalar| scalar != Scalar::Bool).ok_or_else(wrong)?;
                let low = u64::from(self.word(inst, 2)?);
                let high = if scalar.bits() == 64 { u64::from(self.word(inst, 3)?) << 32 } else { 0 };
                let bits = self.specialized(inst)?.unwrap_or(high | low);
                vec![constants::lane_bits(scalar, bits)]
            }
            Op::ConstantNull | Op::Undef => vec![0; types.n_scalars(ty) as usize],
            Op::ConstantComposite | Op::SpecConstantComposite => self.composite_parts(inst, ty)?,
            Op::SpecConstantOp => {
                let op = Op::from_u32(self.word(inst, 2)?).ok_or_else(wrong)?;
                let operands = &self.module.operands(inst)[3..];
                let parts = constants::spec_op(types, &self.module.constants, ty, op, operands);
                let message =
                    || self.unsupported(inst, &format!("`Op{op:?}` on these operands is not known here"));
                parts.ok_or_else(message)?.to_vec()
            }
            _ => return Err(wrong()),
        })
    }

    fn composite_parts(&self, inst: &Instruction, ty: TypeId) -> Result<Vec<u64>> {
        let types = &self.module.types;
        let members = (2..inst.n as usize).map(|i| self.constant_at(inst, i)).collect::<Result<Vec<_>>>()?;
        let fits = match types.get(ty) {
            // A single constant stands for all components.
            Type::Cooperative { n, scalar, .. } => {
                return match &members[..] {
                    [member] if types.as_scalars(member.ty) == Some((*scalar, 1)) => {
                        Ok(vec![member.parts[0]; *n as usize])
                    }
                    _ => Err(self.malformed(inst, "its parts do not fit its type")),
                };
            }
            Type::Vector { n, scalar } => {
                members.len() == *n as usize
                    && members.iter().all(|member| types.as_scalars(member.ty) == Some((*scalar, 1)))
            }
            _ => {
                let element = |i: usize| types.element(ty, i as u32).map(|(element, _)| element);
                element(members.len()).is_none()
                    && !members.is_empty()
                    && members
                        .iter()
                        .enumerate()
                        .all(|(i, member)| element(i).is_some_and(|element| types.same(element, member.ty)))
            }
        };
        if !fits {
            return Err(self.malformed(inst, "its parts do not fit its type"));
        }
        Ok(members.iter().flat_map(|member| member.parts.iter().copied()).collect())
    }

    /// The value of a specialisation constant in the options.
    fn specialized(&self, inst: &Instruction) -> Result<Option<u64>> {
        let spec_id = self.decorations.of(self.id(inst, 1)?).spec_id;
        let value = |spec_id| {
            let found = self.options.spec_constants.iter().rev().find(|(id, _)| *id == spec_id);
            found.map(|(_, bits)| *bits)
        };
        Ok(spec_id.and_then(value))
    }

    pub(super) fn global(&mut self, inst: &Instruction) -> Result<()> {
        let Type::Pointer { class, pointee, .. } = *self.module.types.get(self.type_at(inst, 0)?) else {
            return Err(self.malformed(inst, "its type is no pointer"));
        };
        if self.word(inst, 2)? != class as u32 || class == StorageClass::Function {
            return Err(self.malformed(inst, "its storage class is not that of its type"));
        }
        let id = self.define(inst, 1)?;
        let of = self.decorations.of(id);
        self.module.globals.push(Global {
            id,
            class,
            pointee,
            initializer: self.module.operands(inst).get(3).map(|&id| Id(id)),
            set: of.set,
            binding: of.binding,
            builtin: of.builtin,
            line: inst.line,
        });
        Ok(())
    }
}
