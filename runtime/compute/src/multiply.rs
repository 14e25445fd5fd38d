//! The only built-in kernel of the library: elementwise `c = a * b`.
//!
//! Its module is assembled here word by word, so that this crate needs no compiler.

use std::rc::Rc;

use kps_scalar::SpirvType;

use crate::DType;
use crate::algorithm::{self, Algorithm};
use crate::context::Context;
use crate::error::{ComputeError, Result};
use crate::grid::Extent;
use crate::tensor::Tensor;

/// The algorithm that stores the products of the first two tensors in the third.
pub(crate) fn algorithm(context: &Rc<Context>, tensors: &[Tensor]) -> Result<Algorithm> {
    let [a, b, c] = tensors else {
        return Err(ComputeError::OpTensors { operation: "multiply", needed: 3, given: tensors.len() });
    };
    for tensor in [b, c] {
        check_alike(a, tensor)?;
    }
    let words = module(a.dtype()).ok_or(ComputeError::MultiplyDType { dtype: a.dtype() })?;
    let domain = Extent::Domain(vec![c.size()]);
    algorithm::Builder::new(context, tensors, &words).extent(domain).build()
}

fn check_alike(one: &Tensor, other: &Tensor) -> Result<()> {
    let (what, operation) = (other.label().to_owned(), "multiply");
    if one.dtype() != other.dtype() {
        let (expected, given) = (other.dtype(), one.dtype());
        return Err(ComputeError::DTypeMismatch { what, operation, expected, given });
    }
    if one.size() != other.size() {
        let (expected, given, unit) = (other.size(), one.size(), "elements");
        return Err(ComputeError::SizeMismatch { what, operation, expected, given, unit });
    }
    Ok(())
}

const LOCAL_SIZE: u32 = 64;

/// ORDER IDS: the ids of the module, in the order of their definition; `BOUND` is one more than the last.
#[derive(Clone, Copy)]
#[repr(u32)]
enum Id {
    Main = 1,
    Invocation,
    A,
    B,
    C,
    Void,
    MainType,
    Bool,
    U32,
    Vec3,
    Vec3Input,
    Element,
    Elements,
    Block,
    BlockPtr,
    ElementPtr,
    Zero,
    Entry,
    Position,
    Index,
    Len,
    InRange,
    Body,
    Exit,
    PtrA,
    PtrB,
    PtrC,
    ValueA,
    ValueB,
    Product,
    Bound,
}

/// The module for elements of this type; `None` if they cannot be multiplied.
fn module(dtype: DType) -> Option<Vec<u32>> {
    use Id::*;
    let capabilities: &[u32] = match dtype {
        DType::Bool | DType::Bf16 => return None,
        // Int8, StorageBuffer8BitAccess.
        DType::I8 | DType::U8 => &[39, 4448],
        // Int16 or Float16, StorageBuffer16BitAccess.
        DType::I16 | DType::U16 => &[22, 4433],
        DType::F16 => &[9, 4433],
        DType::I32 | DType::U32 | DType::F32 => &[],
        // Int64, Float64.
        DType::I64 | DType::U64 => &[11],
        DType::F64 => &[10],
    };
    // Types are declared once: 32-bit unsigned elements are the index's own type.
    let element_id = if dtype == DType::U32 { U32 } else { Element } as u32;
    let multiply = if dtype.is_float() { OP_F_MUL } else { OP_I_MUL };

    let mut words = Words(vec![0x0723_0203, 0x0001_0500, 0, Bound as u32, 0]);
    words.op(OP_CAPABILITY, &[1]);
    for capability in capabilities {
        words.op(OP_CAPABILITY, &[*capability]);
    }
    words.op(OP_MEMORY_MODEL, &[0, 1]);
    let mut entry_point = vec![5, Main as u32];
    entry_point.extend(text("main"));
    entry_point.extend([Invocation, A, B, C].map(|id| id as u32));
    words.op(OP_ENTRY_POINT, &entry_point);
    words.op(OP_EXECUTION_MODE, &[Main as u32, 17, LOCAL_SIZE, 1, 1]);
    for (id, name) in [(A, "a"), (B, "b"), (C, "c")] {
        words.op(OP_NAME, &[&[id as u32][..], &text(name)].concat());
    }
    for (binding, id) in (0..).zip([A, B, C]) {
        words.op(OP_DECORATE, &[id as u32, DESCRIPTOR_SET, 0]);
        words.op(OP_DECORATE, &[id as u32, BINDING, binding]);
    }
    words.op(OP_DECORATE, &[Invocation as u32, BUILT_IN, 28]);
    words.op(OP_DECORATE, &[Elements as u32, ARRAY_STRIDE, dtype.size() as u32]);
    words.op(OP_DECORATE, &[Block as u32, DECORATION_BLOCK]);
    words.op(OP_MEMBER_DECORATE, &[Block as u32, 0, OFFSET, 0]);

    words.op(OP_TYPE_VOID, &[Void as u32]);
    words.op(OP_TYPE_FUNCTION, &[MainType as u32, Void as u32]);
    words.op(OP_TYPE_BOOL, &[Bool as u32]);
    words.op(OP_TYPE_INT, &[U32 as u32, 32, 0]);
    words.op(OP_TYPE_VECTOR, &[Vec3 as u32, U32 as u32, 3]);
    words.op(OP_TYPE_POINTER, &[Vec3Input as u32, INPUT, Vec3 as u32]);
    match dtype.spirv() {
        SpirvType::Int { width, signed } if element_id == Element as u32 => {
            words.op(OP_TYPE_INT, &[Element as u32, width, signed.into()]);
        }
        SpirvType::Float { width } => words.op(OP_TYPE_FLOAT, &[Element as u32, width]),
        _ => {}
    }
    words.op(OP_TYPE_RUNTIME_ARRAY, &[Elements as u32, element_id]);
    words.op(OP_TYPE_STRUCT, &[Block as u32, Elements as u32]);
    words.op(OP_TYPE_POINTER, &[BlockPtr as u32, STORAGE_BUFFER, Block as u32]);
    words.op(OP_TYPE_POINTER, &[ElementPtr as u32, STORAGE_BUFFER, element_id]);
    words.op(OP_CONSTANT, &[U32 as u32, Zero as u32, 0]);
    words.op(OP_VARIABLE, &[Vec3Input as u32, Invocation as u32, INPUT]);
    for id in [A, B, C] {
        words.op(OP_VARIABLE, &[BlockPtr as u32, id as u32, STORAGE_BUFFER]);
    }

    words.op(OP_FUNCTION, &[Void as u32, Main as u32, 0, MainType as u32]);
    words.op(OP_LABEL, &[Entry as u32]);
    words.op(OP_LOAD, &[Vec3 as u32, Position as u32, Invocation as u32]);
    words.op(OP_COMPOSITE_EXTRACT, &[U32 as u32, Index as u32, Position as u32, 0]);
    words.op(OP_ARRAY_LENGTH, &[U32 as u32, Len as u32, C as u32, 0]);
    words.op(OP_U_LESS_THAN, &[Bool as u32, InRange as u32, Index as u32, Len as u32]);
    words.op(OP_SELECTION_MERGE, &[Exit as u32, 0]);
    words.op(OP_BRANCH_CONDITIONAL, &[InRange as u32, Body as u32, Exit as u32]);
    words.op(OP_LABEL, &[Body as u32]);
    for (array, ptr) in [(A, PtrA), (B, PtrB), (C, PtrC)] {
        let operands = [ElementPtr as u32, ptr as u32, array as u32, Zero as u32, Index as u32];
        words.op(OP_ACCESS_CHAIN, &operands);
    }
    words.op(OP_LOAD, &[element_id, ValueA as u32, PtrA as u32]);
    words.op(OP_LOAD, &[element_id, ValueB as u32, PtrB as u32]);
    words.op(multiply, &[element_id, Product as u32, ValueA as u32, ValueB as u32]);
    words.op(OP_STORE, &[PtrC as u32, Product as u32]);
    words.op(OP_BRANCH, &[Exit as u32]);
    words.op(OP_LABEL, &[Exit as u32]);
    words.op(OP_RETURN, &[]);
    words.op(OP_FUNCTION_END, &[]);
    Some(words.0)
}

struct Words(Vec<u32>);

impl Words {
    fn op(&mut self, opcode: u32, operands: &[u32]) {
        self.0.push((operands.len() as u32 + 1) << 16 | opcode);
        self.0.extend(operands);
    }
}

/// A string literal: UTF-8 and at least one zero byte, padded to whole words.
fn text(literal: &str) -> Vec<u32> {
    let mut bytes = literal.as_bytes().to_vec();
    bytes.resize(bytes.len() / 4 * 4 + 4, 0);
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(*word.first_chunk().expect("four bytes"))).collect()
}

// Opcodes, decorations and storage classes, with the numbers of the SPIR-V specification.
const OP_NAME: u32 = 5;
const OP_MEMORY_MODEL: u32 = 14;
const OP_ENTRY_POINT: u32 = 15;
const OP_EXECUTION_MODE: u32 = 16;
const OP_CAPABILITY: u32 = 17;
const OP_TYPE_VOID: u32 = 19;
const OP_TYPE_BOOL: u32 = 20;
const OP_TYPE_INT: u32 = 21;
const OP_TYPE_FLOAT: u32 = 22;
const OP_TYPE_VECTOR: u32 = 23;
const OP_TYPE_RUNTIME_ARRAY: u32 = 29;
const OP_TYPE_STRUCT: u32 = 30;
const OP_TYPE_POINTER: u32 = 32;
const OP_TYPE_FUNCTION: u32 = 33;
const OP_CONSTANT: u32 = 43;
const OP_FUNCTION: u32 = 54;
const OP_FUNCTION_END: u32 = 56;
const OP_VARIABLE: u32 = 59;
const OP_LOAD: u32 = 61;
const OP_STORE: u32 = 62;
const OP_ACCESS_CHAIN: u32 = 65;
const OP_ARRAY_LENGTH: u32 = 68;
const OP_DECORATE: u32 = 71;
const OP_MEMBER_DECORATE: u32 = 72;
const OP_COMPOSITE_EXTRACT: u32 = 81;
const OP_I_MUL: u32 = 132;
const OP_F_MUL: u32 = 133;
const OP_U_LESS_THAN: u32 = 176;
const OP_SELECTION_MERGE: u32 = 247;
const OP_LABEL: u32 = 248;
const OP_BRANCH: u32 = 249;
const OP_BRANCH_CONDITIONAL: u32 = 250;
const OP_RETURN: u32 = 253;

const DECORATION_BLOCK: u32 = 2;
const ARRAY_STRIDE: u32 = 6;
const BUILT_IN: u32 = 11;
const BINDING: u32 = 33;
const DESCRIPTOR_SET: u32 = 34;
const OFFSET: u32 = 35;

const INPUT: u32 = 1;
const STORAGE_BUFFER: u32 = 12;

#[cfg(test)]
mod tests {
    use kps_spirv_tools::{Options, TargetEnv, validate};

    use super::*;

    #[test]
    fn every_module_is_valid() {
        let options = Options { scalar_block_layout: true, ..Options::default() };
        for dtype in DType::ALL {
            let Some(words) = module(dtype) else { continue };
            assert_eq!(validate(&words, TargetEnv::Vulkan_1_2, options), Ok(()), "{dtype}");
        }
    }
}
