//! Types of SPIR-V with an explicit layout, as [`Block`]s.
//!
//! The depth of nesting and the number of members are limited, so every size fits in 32 bits.

use kps_scalar::{Scalar, SpirvType};
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Decoration, FPEncoding, Op, StorageClass};

use super::constants::Constants;
use super::ids::{Ids, id_at, literal_at};
use crate::interface::{Block, Member, MemberType};

/// SPIR-V's universal limit for nested structures.
const MAX_DEPTH: u32 = 64;
/// Limit of members of one block, including nested ones.
const MAX_MEMBERS: u32 = 1 << 14;

type Result<T> = std::result::Result<T, String>;

/// The layout of struct `id`, or an error.
pub(super) fn block(ids: &Ids, constants: &Constants, id: u32) -> Result<Block> {
    Layouter { ids, constants, members_left: MAX_MEMBERS, depth: 0 }.block(id)
}

/// The scalar of a scalar type.
pub(super) fn scalar(definition: &Instruction) -> Result<Scalar> {
    let operand = |index| literal_at(definition, index).unwrap_or(0);
    let declared = match (definition.class.opcode, definition.operands.get(1)) {
        (Op::TypeBool, _) => SpirvType::Bool,
        (Op::TypeInt, _) => SpirvType::Int { width: operand(0), signed: operand(1) != 0 },
        (Op::TypeFloat, None) => SpirvType::Float { width: operand(0) },
        (Op::TypeFloat, Some(Operand::FPEncoding(FPEncoding::BFloat16KHR))) if operand(0) == 16 => {
            SpirvType::BFloat16
        }
        (Op::TypeFloat, Some(Operand::FPEncoding(encoding))) => {
            return Err(format!("it holds floats of {} bits as {encoding:?}", operand(0)));
        }
        _ => return Err(format!("it holds an `Op{}`", definition.class.opname)),
    };
    Scalar::of_spirv(declared).ok_or_else(|| match declared {
        SpirvType::Float { width } => format!("it holds floats of {width} bits"),
        _ => format!("it holds an `Op{}`", definition.class.opname),
    })
}

struct Layouter<'a, 'm> {
    ids: &'a Ids<'m>,
    constants: &'a Constants,
    members_left: u32,
    depth: u32,
}

/// The matrix layout in the decorations of a struct's member.
#[derive(Clone, Copy)]
struct MatrixLayout {
    stride: Option<u32>,
    row_major: bool,
}

impl<'m> Layouter<'_, 'm> {
    fn block(&mut self, id: u32) -> Result<Block> {
        let definition = self.definition(id)?;
        if definition.class.opcode != Op::TypeStruct {
            return Err(format!("its type %{id} is not a struct"));
        }
        if self.depth == MAX_DEPTH {
            return Err(format!("its structs nest deeper than {MAX_DEPTH}"));
        }
        self.depth += 1;
        let mut block = Block { size: 0, members: Vec::new() };
        for member in 0..definition.operands.len() as u32 {
            let (member, end) = self.member(id, definition, member)?;
            block.size = block.size.max(end);
            block.members.push(member);
        }
        self.depth -= 1;
        Ok(block)
    }

    /// The member and its end.
    fn member(&mut self, id: u32, definition: &Instruction, index: u32) -> Result<(Member, u32)> {
        self.members_left =
            self.members_left.checked_sub(1).ok_or(format!("it has more than {MAX_MEMBERS} members"))?;
        let ty = id_at(definition, index as usize).ok_or(format!("struct %{id} is broken"))?;
        let offset = self.ids.member_literal(id, index, Decoration::Offset);
        let offset = offset.ok_or(format!("member {index} of struct %{id} has no offset"))?;
        let matrix = MatrixLayout {
            stride: self.ids.member_literal(id, index, Decoration::MatrixStride),
            row_major: self.ids.member_has(id, index, Decoration::RowMajor),
        };
        let ty = self.ty(ty, matrix)?;
        let end = ty.checked_size().and_then(|size| offset.checked_add(size));
        let end = end.ok_or(format!("member {index} of struct %{id} ends beyond 4 GiB"))?;
        let name = self.ids.member_name(id, index).map(str::to_owned);
        Ok((Member { name, offset, ty }, end))
    }

    fn ty(&mut self, id: u32, matrix: MatrixLayout) -> Result<MemberType> {
        let definition = self.definition(id)?;
        match definition.class.opcode {
            Op::TypeVector => self.vector(definition),
            Op::TypeMatrix => self.matrix(definition, matrix),
            Op::TypeArray | Op::TypeRuntimeArray => self.array(id, definition, matrix),
            Op::TypeStruct => Ok(MemberType::Struct(self.block(id)?)),
            // An address of a buffer takes 64 bits.
            Op::TypePointer
                if definition.operands.first()
                    == Some(&Operand::StorageClass(StorageClass::PhysicalStorageBuffer)) =>
            {
                Ok(MemberType::Scalar(Scalar::U64))
            }
            Op::TypeBool => Err("it holds a bool, which has no layout in memory".to_owned()),
            _ => Ok(MemberType::Scalar(scalar(definition)?)),
        }
    }

    fn vector(&self, definition: &Instruction) -> Result<MemberType> {
        let (scalar, n) = self.vector_of(definition)?;
        Ok(MemberType::Vector { n, scalar })
    }

    fn vector_of(&self, definition: &Instruction) -> Result<(Scalar, u32)> {
        let element = id_at(definition, 0).ok_or("a vector type is broken")?;
        let n = literal_at(definition, 1).ok_or("a vector type is broken")?;
        match scalar(self.definition(element)?)? {
            Scalar::Bool => Err("it holds a bool, which has no layout in memory".to_owned()),
            scalar => Ok((scalar, n)),
        }
    }

    fn matrix(&self, definition: &Instruction, layout: MatrixLayout) -> Result<MemberType> {
        let column = self.definition(id_at(definition, 0).ok_or("a matrix type is broken")?)?;
        if column.class.opcode != Op::TypeVector {
            return Err("a matrix of it has columns that are no vectors".to_owned());
        }
        let (scalar, rows) = self.vector_of(column)?;
        let columns = literal_at(definition, 1).ok_or("a matrix type is broken")?;
        let stride = layout.stride.ok_or("a matrix of it has no stride")?;
        Ok(MemberType::Matrix { columns, rows, scalar, stride, row_major: layout.row_major })
    }

    fn array(&mut self, id: u32, definition: &Instruction, matrix: MatrixLayout) -> Result<MemberType> {
        if self.depth == MAX_DEPTH {
            return Err(format!("its arrays nest deeper than {MAX_DEPTH}"));
        }
        let element = id_at(definition, 0).ok_or("an array type is broken")?;
        let stride = self.ids.literal(id, Decoration::ArrayStride);
        let stride = stride.ok_or(format!("array %{id} has no stride"))?;
        let len = match definition.class.opcode {
            Op::TypeRuntimeArray => None,
            _ => {
                let len = id_at(definition, 1).and_then(|len| self.constants.u32(len));
                Some(len.ok_or(format!("the length of array %{id} is not a constant that is known"))?)
            }
        };
        self.depth += 1;
        let element = Box::new(self.ty(element, matrix)?);
        self.depth -= 1;
        Ok(MemberType::Array { len, stride, element })
    }

    fn definition(&self, id: u32) -> Result<&'m Instruction> {
        self.ids.definition(id).ok_or(format!("its type %{id} is not defined"))
    }
}
