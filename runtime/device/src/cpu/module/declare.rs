//! Declarations of a module: types, constants with their specialisation, and variables outside functions.

use rspirv::spirv::{FPEncoding, Op, StorageClass};

use super::constants::{self, Constant};
use super::reader::Reader;
use super::types::{MAX_SCALARS, MatrixLayout, Member, Scalar, Type, TypeId};
use super::{Global, Id, Instruction};
use crate::Result;
use crate::cpu::errors;

/// Scalars in all constants together.
const MAX_CONSTANT_SCALARS: usize = 1 << 22;

impl Reader<'_, '_> {
    pub(super) fn type_declaration(&mut self, inst: &Instruction) -> Result<()> {
        let ty = match inst.op {
            Op::TypeForwardPointer => return Ok(()),
            Op::TypeVoid => Type::Void,
            Op::TypeBool => Type::Scalar(Scalar::Bool),
            Op::TypeInt => {
                let bits = self.int_width(inst)?;
                Type::Scalar(Scalar::Int { bits, signed: self.word(inst, 2)? != 0 })
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
                    Some((Scalar::Float { .. }, 2..=4)) if (2..=4).contains(&columns) => {
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
                Type::Pointer { class, pointee: self.type_at(inst, 2)? }
            }
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

    fn int_width(&self, inst: &Instruction) -> Result<u8> {
        match self.word(inst, 1)? {
            width @ (8 | 16 | 32 | 64) => Ok(width as u8),
            other => Err(self.unsupported(inst, &format!("its width is {other}, 8 to 64 are taken"))),
        }
    }

    fn float(&self, inst: &Instruction) -> Result<Scalar> {
        match (self.word(inst, 1)?, self.module.operands(inst).get(2)) {
            (width @ (16 | 32 | 64), None) => Ok(Scalar::Float { bits: width as u8 }),
            (16, Some(&encoding)) if encoding == FPEncoding::BFloat16KHR as u32 => Ok(Scalar::BFloat16),
            (_, Some(_)) => Err(self.unsupported(inst, "of the encodings only bfloat16 is taken")),
            (other, None) => {
                Err(self.unsupported(inst, &format!("its width is {other}, 16 to 64 are taken")))
            }
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
        let member = |i: usize| {
            let of = self.decorations.of_member(id, i as u32 - 1);
            let matrix = MatrixLayout { stride: of.matrix_stride, row_major: of.row_major };
            if of.offset.is_some_and(|offset| offset > 0x7fff_ffff) {
                return Err(self.malformed(inst, "an offset is at most 2^31 - 1"));
            }
            Ok(Member { ty: self.type_at(inst, i)?, offset: of.offset, matrix })
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
        if n > MAX_SCALARS as usize || self.n_constant_scalars + n > MAX_CONSTANT_SCALARS {
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

    /// What the options say a specialisation constant is.
    fn specialized(&self, inst: &Instruction) -> Result<Option<u64>> {
        let spec_id = self.decorations.of(self.id(inst, 1)?).spec_id;
        let value = |spec_id| {
            let found = self.options.spec_constants.iter().rev().find(|(id, _)| *id == spec_id);
            found.map(|(_, bits)| *bits)
        };
        Ok(spec_id.and_then(value))
    }

    pub(super) fn global(&mut self, inst: &Instruction) -> Result<()> {
        let Type::Pointer { class, pointee } = *self.module.types.get(self.type_at(inst, 0)?) else {
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
