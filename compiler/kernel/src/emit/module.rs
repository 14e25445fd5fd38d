//! The shared parts of a SPIR-V module: types, constants, names, decorations, capabilities. Each is made once, at its
//! first use.

mod finish;
mod words;

use std::collections::BTreeMap;
use std::rc::Rc;

use kps_syntax::{Location, Source, Span};
use rspirv::spirv::{self, MemoryModel, Op, StorageClass, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use super::debug::Debug;
use super::layout::Packing;
use crate::constant::Constant;
use crate::matrices::CoopType;
use crate::signature::{Capability, CapabilityUse};
use crate::structs::StructType;
use crate::types::{Kind, Scalar, Type};

pub(super) use rspirv::dr::Operand;

pub(crate) use self::finish::EntryPoint;
pub(super) use self::words::{begin, end, write, write_operands};
use self::words::{write_string, write_text};

/// The name of a bounds test, for a device that checks a module without check instructions.
/// ORDER: as the device reads it.
pub const INSIDE: &str = "kps.inside";

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum TypeKey {
    Void,
    Bool,
    Int(u32, bool),
    Float(u32),
    BFloat16,
    Vector(Word, u32),
    Matrix(Word, u32),
    /// With a stride in memory that the host sees.
    RuntimeArray(Word, u32),
    Array(Word, u32),
    /// The same with its stride in memory that the host sees.
    LaidArray(Word, u32, u32),
    Struct(Rc<StructType>),
    /// The same with the offsets of its members there.
    LaidStruct(Rc<StructType>, Packing),
    Tuple(Vec<Word>),
    Pointer(StorageClass, Word),
    Function(Word, Vec<Word>),
    /// The type of texels, the number of axes, and the format.
    Image(Word, u8, spirv::ImageFormat, ImageUse),
    Sampler,
    SampledImage(Word),
    Coop(CoopType),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ImageUse {
    Sampled,
    Storage,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum ConstantKey {
    Scalar(Constant),
    Composite(Word, Vec<Word>),
    Null(Word),
}

pub(crate) struct Module {
    next_id: Word,
    types: FxHashMap<TypeKey, Word>,
    constants: FxHashMap<ConstantKey, Word>,
    /// Ids that name constants.
    constant_ids: FxHashSet<Word>,
    names: Vec<Word>,
    annotations: Vec<Word>,
    globals: Vec<Word>,
    pub functions: Vec<Word>,
    files: Vec<(Source, Word)>,
    strings: Vec<Word>,
    check_names: FxHashMap<String, Word>,
    /// Global variables, all of which the entry point lists.
    interface: Vec<Word>,
    /// Every place that needs a capability, in the order of the module.
    capabilities: BTreeMap<Capability, Vec<Location>>,
    /// The current place, for the capabilities that it needs.
    place: Location,
    glsl: Word,
    pub model: MemoryModel,
    /// The set of check instructions, if the target checks.
    checks: Option<Word>,
    /// The debug information, if the target has it.
    pub debug: Option<Debug>,
}

impl Module {
    pub fn new(place: Location, model: MemoryModel) -> Module {
        Module {
            next_id: 2,
            types: FxHashMap::default(),
            constants: FxHashMap::default(),
            constant_ids: FxHashSet::default(),
            names: Vec::new(),
            annotations: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            files: Vec::new(),
            strings: Vec::new(),
            check_names: FxHashMap::default(),
            interface: Vec::new(),
            capabilities: BTreeMap::new(),
            place,
            glsl: 1,
            model,
            checks: None,
            debug: None,
        }
    }

    pub fn id(&mut self) -> Word {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// The instruction set GLSL.std.450.
    pub fn glsl(&self) -> Word {
        self.glsl
    }

    /// The instruction set of `checks.rs`.
    pub fn checks(&mut self) -> Word {
        let known = self.checks.unwrap_or_else(|| self.id());
        *self.checks.insert(known)
    }

    pub fn set_span(&mut self, span: Span) {
        self.place.span = span;
    }

    pub fn set_place(&mut self, place: &Location) {
        self.place = place.clone();
    }

    pub fn set_source(&mut self, source: &Source) {
        self.place.source = source.clone();
    }

    pub fn name(&mut self, id: Word, name: &str) {
        let start = begin(&mut self.names, Op::Name);
        self.names.push(id);
        write_text(&mut self.names, name);
        end(&mut self.names, start);
    }

    pub fn member_name(&mut self, id: Word, member: u32, name: &str) {
        let start = begin(&mut self.names, Op::MemberName);
        self.names.extend([id, member]);
        write_text(&mut self.names, name);
        end(&mut self.names, start);
    }

    pub fn decorate(&mut self, id: Word, decoration: spirv::Decoration, values: &[Word]) {
        let start = begin(&mut self.annotations, Op::Decorate);
        self.annotations.extend([id, decoration as Word]);
        self.annotations.extend(values);
        end(&mut self.annotations, start);
    }

    pub fn decorate_builtin(&mut self, id: Word, builtin: spirv::BuiltIn) {
        self.decorate(id, spirv::Decoration::BuiltIn, &[builtin as Word]);
    }

    pub fn decorate_member(&mut self, id: Word, member: u32, decoration: spirv::Decoration, values: &[Word]) {
        let start = begin(&mut self.annotations, Op::MemberDecorate);
        self.annotations.extend([id, member, decoration as Word]);
        self.annotations.extend(values);
        end(&mut self.annotations, start);
    }

    pub fn global(&mut self, op: Op, result_type: Option<Word>, operands: &[Operand]) -> Word {
        let id = self.id();
        write(&mut self.globals, op, result_type, Some(id), operands);
        id
    }

    pub fn type_of(&mut self, key: TypeKey, make: impl FnOnce(&mut Self) -> Word) -> Word {
        if let Some(id) = self.types.get(&key) {
            return *id;
        }
        let id = make(self);
        self.types.insert(key, id);
        id
    }

    pub fn void(&mut self) -> Word {
        self.type_of(TypeKey::Void, |module| module.global(Op::TypeVoid, None, &[]))
    }

    /// The type of a value that is computed with. A `bf16` is an f32 that was rounded.
    pub fn scalar(&mut self, scalar: Scalar) -> Word {
        let capability = match scalar {
            Scalar::I8 | Scalar::U8 => Some(Capability::Int8),
            Scalar::I16 | Scalar::U16 => Some(Capability::Int16),
            Scalar::I64 | Scalar::U64 => Some(Capability::Int64),
            Scalar::F16 => Some(Capability::Float16),
            Scalar::F64 => Some(Capability::Float64),
            Scalar::Bool | Scalar::I32 | Scalar::U32 | Scalar::F32 | Scalar::Bf16 => None,
        };
        if let Some(capability) = capability {
            self.need(capability);
        }
        self.bare_scalar(if scalar == Scalar::Bf16 { Scalar::F32 } else { scalar })
    }

    /// A type that is only loaded, stored and widened: it needs the capability for storage, but not for arithmetic.
    pub fn stored_scalar(&mut self, scalar: Scalar) -> Word {
        match scalar {
            Scalar::Bool | Scalar::Bf16 => self.bare_scalar(scalar.in_buffers()),
            scalar => self.scalar(scalar),
        }
    }

    fn bare_scalar(&mut self, scalar: Scalar) -> Word {
        let bits = scalar.bits();
        match scalar.kind() {
            Kind::Bool => self.type_of(TypeKey::Bool, |module| module.global(Op::TypeBool, None, &[])),
            Kind::Float => self.type_of(TypeKey::Float(bits), |module| {
                module.global(Op::TypeFloat, None, &[Operand::LiteralBit32(bits)])
            }),
            kind => self.type_of(TypeKey::Int(bits, kind == Kind::Signed), |module| {
                let signed = u32::from(kind == Kind::Signed);
                let operands = [Operand::LiteralBit32(bits), Operand::LiteralBit32(signed)];
                module.global(Op::TypeInt, None, &operands)
            }),
        }
    }

    /// The type of an element in memory that the host shares.
    pub fn stored(&mut self, ty: &Type) -> Word {
        match (ty, ty.scalar()) {
            (Type::Vector(n, _), Some(scalar)) => {
                let component = self.stored_scalar(scalar);
                self.vector(component, u32::from(*n))
            }
            (_, Some(scalar)) => self.stored_scalar(scalar),
            _ => self.ty(ty),
        }
    }

    /// A buffer has elements of this width.
    pub fn need_storage(&mut self, scalar: Scalar) {
        match scalar.in_buffers().bits() {
            8 => self.need(Capability::StorageBuffer8BitAccess),
            16 => self.need(Capability::StorageBuffer16BitAccess),
            _ => {}
        }
    }

    fn vector(&mut self, component: Word, n: u32) -> Word {
        self.type_of(TypeKey::Vector(component, n), |module| {
            let operands = [Operand::IdRef(component), Operand::LiteralBit32(n)];
            module.global(Op::TypeVector, None, &operands)
        })
    }

    /// Records a capability for the current place.
    pub fn need(&mut self, capability: Capability) {
        let places = self.capabilities.entry(capability).or_default();
        if places.last() != Some(&self.place) {
            places.push(self.place.clone());
        }
    }

    pub fn ty(&mut self, ty: &Type) -> Word {
        match ty {
            Type::Void | Type::Error => self.void(),
            Type::Scalar(scalar) => self.scalar(*scalar),
            Type::Vector(n, scalar) => {
                let component = self.scalar(*scalar);
                self.vector(component, u32::from(*n))
            }
            Type::Matrix { columns, rows, scalar } => {
                let column = self.ty(&Type::Vector(*rows, *scalar));
                let n = u32::from(*columns);
                self.type_of(TypeKey::Matrix(column, n), |module| {
                    let operands = [Operand::IdRef(column), Operand::LiteralBit32(n)];
                    module.global(Op::TypeMatrix, None, &operands)
                })
            }
            Type::Array(array) => {
                let element = self.ty(&array.element);
                let len = self.constant(Constant::u32(array.len));
                self.type_of(TypeKey::Array(element, array.len), |module| {
                    let operands = [Operand::IdRef(element), Operand::IdRef(len)];
                    module.global(Op::TypeArray, None, &operands)
                })
            }
            Type::Coop(coop) => self.coop_matrix(coop),
            Type::Struct(of) => {
                let members: Vec<Word> = of.members.iter().map(|member| self.ty(&member.ty)).collect();
                self.type_of(TypeKey::Struct(Rc::clone(of)), |module| module.named_struct(of, &members))
            }
            Type::Tuple(items) => {
                let mut items: Vec<Word> = items.iter().map(|item| self.ty(item)).collect();
                // Not every device takes structures without members.
                if items.is_empty() {
                    items.push(self.ty(&Type::U32));
                }
                self.type_of(TypeKey::Tuple(items.clone()), |module| module.struct_type(&items))
            }
        }
    }

    /// The block of a buffer with elements of this type and stride. Blocks are never shared. NVIDIA's compiler
    /// applies the decorations of one variable, such as `NonWritable`, to all variables of its type, and then moves
    /// loads before stores.
    pub fn buffer_block(&mut self, element: Word, stride: u32) -> Word {
        self.array_block(element, stride, "kps.array")
    }

    /// The block of a buffer that the kernel knows as one element.
    pub fn cell_block(&mut self, element: Word, stride: u32) -> Word {
        self.array_block(element, stride, "kps.cell")
    }

    /// The block of a uniform buffer that holds one value.
    pub fn value_block(&mut self, value: Word) -> Word {
        let block = self.struct_type(&[value]);
        self.decorate(block, spirv::Decoration::Block, &[]);
        self.decorate_member(block, 0, spirv::Decoration::Offset, &[0]);
        self.name(block, "kps.uniform");
        self.member_name(block, 0, "value");
        block
    }

    fn array_block(&mut self, element: Word, stride: u32, name: &str) -> Word {
        let array = self.runtime_array(element, stride);
        let block = self.struct_type(&[array]);
        self.decorate(block, spirv::Decoration::Block, &[]);
        self.decorate_member(block, 0, spirv::Decoration::Offset, &[0]);
        self.name(block, name);
        self.member_name(block, 0, "data");
        block
    }

    pub fn runtime_array(&mut self, element: Word, stride: u32) -> Word {
        self.type_of(TypeKey::RuntimeArray(element, stride), |module| {
            let id = module.global(Op::TypeRuntimeArray, None, &[Operand::IdRef(element)]);
            module.decorate(id, spirv::Decoration::ArrayStride, &[stride]);
            id
        })
    }

    /// A struct type that is never shared.
    pub fn struct_type(&mut self, members: &[Word]) -> Word {
        let operands: Vec<_> = members.iter().map(|member| Operand::IdRef(*member)).collect();
        self.global(Op::TypeStruct, None, &operands)
    }

    /// The layout of an array in memory that the host sees.
    pub fn laid_array(&mut self, element: Word, len: u32, stride: u32) -> Word {
        let n = self.constant(Constant::u32(len));
        self.type_of(TypeKey::LaidArray(element, len, stride), |module| {
            let operands = [Operand::IdRef(element), Operand::IdRef(n)];
            let id = module.global(Op::TypeArray, None, &operands);
            module.decorate(id, spirv::Decoration::ArrayStride, &[stride]);
            id
        })
    }

    /// The layout of a struct with these members, in memory that the host sees.
    pub fn laid_struct(&mut self, of: &Rc<StructType>, packing: Packing, members: &[Word]) -> Word {
        self.type_of(TypeKey::LaidStruct(Rc::clone(of), packing), |module| {
            let id = module.named_struct(of, members);
            for (at, offset) in (0..).zip(of.offsets()) {
                module.decorate_member(id, at, spirv::Decoration::Offset, &[offset]);
            }
            id
        })
    }

    fn named_struct(&mut self, of: &StructType, members: &[Word]) -> Word {
        let id = self.struct_type(members);
        self.name(id, of.name.as_deref().unwrap_or("Struct"));
        for (at, member) in (0..).zip(&of.members) {
            self.member_name(id, at, &member.name);
        }
        id
    }

    pub fn pointer(&mut self, class: StorageClass, pointee: Word) -> Word {
        self.type_of(TypeKey::Pointer(class, pointee), |module| {
            let operands = [Operand::StorageClass(class), Operand::IdRef(pointee)];
            module.global(Op::TypePointer, None, &operands)
        })
    }

    pub fn function_type(&mut self, result: Word, args: &[Word]) -> Word {
        self.type_of(TypeKey::Function(result, args.to_vec()), |module| {
            let operands: Vec<_> = [result].iter().chain(args).map(|ty| Operand::IdRef(*ty)).collect();
            module.global(Op::TypeFunction, None, &operands)
        })
    }

    pub fn variable(&mut self, class: StorageClass, pointee: Word) -> Word {
        let pointer = self.pointer(class, pointee);
        let id = self.global(Op::Variable, Some(pointer), &[Operand::StorageClass(class)]);
        self.interface.push(id);
        id
    }

    /// A variable of each invocation's own that begins with a constant.
    pub fn initialized_variable(&mut self, pointee: Word, constant: Word) -> Word {
        let class = StorageClass::Private;
        let pointer = self.pointer(class, pointee);
        let operands = [Operand::StorageClass(class), Operand::IdRef(constant)];
        let id = self.global(Op::Variable, Some(pointer), &operands);
        self.interface.push(id);
        id
    }

    pub fn constant(&mut self, constant: Constant) -> Word {
        let constant = match constant.scalar() {
            Scalar::Bf16 => constant.cast(Scalar::F32),
            _ => constant,
        };
        let key = ConstantKey::Scalar(constant);
        if let Some(id) = self.constants.get(&key) {
            return *id;
        }
        let ty = self.scalar(constant.scalar());
        let bits = constant.bits();
        let id = match constant.scalar() {
            Scalar::Bool if bits == 0 => self.global(Op::ConstantFalse, Some(ty), &[]),
            Scalar::Bool => self.global(Op::ConstantTrue, Some(ty), &[]),
            scalar if scalar.bits() == 64 => {
                self.global(Op::Constant, Some(ty), &[Operand::LiteralBit64(bits)])
            }
            _ => self.global(Op::Constant, Some(ty), &[Operand::LiteralBit32(bits as u32)]),
        };
        self.constant_ids.insert(id);
        self.constants.insert(key, id);
        id
    }

    pub fn is_constant(&self, id: Word) -> bool {
        self.constant_ids.contains(&id)
    }

    pub fn composite(&mut self, ty: Word, parts: &[Word]) -> Word {
        let key = ConstantKey::Composite(ty, parts.to_vec());
        if let Some(id) = self.constants.get(&key) {
            return *id;
        }
        let operands: Vec<_> = parts.iter().map(|part| Operand::IdRef(*part)).collect();
        let id = self.global(Op::ConstantComposite, Some(ty), &operands);
        self.constant_ids.insert(id);
        self.constants.insert(key, id);
        id
    }

    /// The same constant in every component of `ty`.
    pub fn constant_of(&mut self, ty: &Type, constant: Constant) -> Word {
        let scalar = self.constant(constant);
        match ty {
            Type::Vector(n, _) => {
                let vector = self.ty(ty);
                self.composite(vector, &vec![scalar; usize::from(*n)])
            }
            _ => scalar,
        }
    }

    pub fn null(&mut self, ty: Word) -> Word {
        let key = ConstantKey::Null(ty);
        if let Some(id) = self.constants.get(&key) {
            return *id;
        }
        let id = self.global(Op::ConstantNull, Some(ty), &[]);
        self.constants.insert(key, id);
        id
    }

    /// The id of a source file's name.
    pub fn file(&mut self, source: &Source) -> Word {
        if let Some((_, id)) = self.files.iter().find(|(known, _)| known == source) {
            return *id;
        }
        let id = self.id();
        self.files.push((source.clone(), id));
        id
    }

    /// The name of a part in check instructions; equal names share a string.
    pub fn check_name(&mut self, name: &str) -> Word {
        if let Some(known) = self.check_names.get(name) {
            return *known;
        }
        let id = self.string(name);
        self.check_names.insert(name.to_owned(), id);
        id
    }

    /// A string of the module.
    pub fn string(&mut self, text: &str) -> Word {
        let id = self.id();
        write_string(&mut self.strings, id, text);
        id
    }

    pub fn capabilities(&self) -> Vec<CapabilityUse> {
        let uses = self
            .capabilities
            .iter()
            .map(|(capability, places)| CapabilityUse { capability: *capability, places: places.clone() });
        uses.collect()
    }
}
