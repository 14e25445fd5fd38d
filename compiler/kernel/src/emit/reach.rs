//! How a module accesses an array parameter: through the variable of a descriptor, or through an address in the push
//! constants (`Reach`). Either leads to a block of elements. A uniform is a block with one value.
//!
//! An access through an address states its alignment and has a bounds test, for no device tests it. The number of
//! elements comes from the descriptor, or from the push constants.

use rspirv::spirv::{Decoration, MemoryAccess, MemoryModel, Op, StorageClass, Word};

use super::function::FunctionEmitter;
use super::layout::Packing;
use super::module::{INSIDE, Module, Operand, write};
use crate::ir::{Buffer, BufferId, ElementIndex, Kernel};
use crate::launch::Memory;
use crate::push::{Member, UNIFORM_BYTES};
use crate::signature::{Capability, Reach, Target, Width};
use crate::types::{Scalar, Type};

pub(crate) struct BufferVariable {
    home: Home,
    pub element: Type,
    pub reads: bool,
    pub writes: bool,
}

/// The accesses to the memory of a parameter, through its variable and those of its views.
pub(super) struct Accesses {
    pub n_variables: u32,
    pub reads: bool,
    pub writes: bool,
}

enum Home {
    /// The variable, and the one that sees its elements as ints.
    Binding { id: Word, bits: Option<Word> },
    /// The block that the address leads to.
    Address { block: Word },
    /// The variable of a block that holds one value.
    Uniform { id: Word },
}

impl BufferVariable {
    /// `element` is the type of an element in memory.
    pub fn new(buffer: &Buffer, element: Word, module: &mut Module) -> BufferVariable {
        let stride = buffer.element.packed_size();
        let home = match buffer.reach {
            Reach::Binding => {
                let block = block_of(buffer, element, stride, module);
                Home::Binding {
                    id: bound(buffer, StorageClass::StorageBuffer, block, &buffer.name, module),
                    bits: None,
                }
            }
            Reach::Address => {
                module.need(Capability::PhysicalStorageBufferAddresses);
                Home::Address { block: module.buffer_block(element, stride) }
            }
        };
        BufferVariable { home, element: buffer.element.clone(), reads: false, writes: false }
    }

    /// In a uniform buffer, its value as scalar layout has it.
    pub fn uniform(buffer: &Buffer, module: &mut Module) -> BufferVariable {
        let value = module.laid_type(&buffer.element, Packing::Vectors);
        let block = module.value_block(value);
        let home = Home::Uniform { id: bound(buffer, StorageClass::Uniform, block, &buffer.name, module) };
        BufferVariable { home, element: buffer.element.clone(), reads: false, writes: false }
    }

    /// Its variable, where it has one.
    pub fn id(&self) -> Option<Word> {
        match self.home {
            Home::Binding { id, .. } | Home::Uniform { id } => Some(id),
            Home::Address { .. } => None,
        }
    }

    pub fn class(&self) -> StorageClass {
        match self.home {
            Home::Uniform { .. } => StorageClass::Uniform,
            Home::Binding { .. } => StorageClass::StorageBuffer,
            Home::Address { .. } => StorageClass::PhysicalStorageBuffer,
        }
    }

    /// Decorates the buffer by the accesses to its memory, when the whole kernel is emitted.
    pub fn decorate_access(&self, accesses: Accesses, kernel: &Kernel, module: &mut Module) {
        let Accesses { n_variables, reads, writes } = accesses;
        let is_shared = kernel.assumptions.memory == Memory::Shared;
        // A buffer with a variable of ints has this decoration already.
        if let (true, Home::Binding { id, bits: None }) = (is_shared || n_variables > 1, &self.home) {
            module.decorate(*id, Decoration::Aliased, &[]);
        }
        let is_seen = kernel.whole_groups && module.model == MemoryModel::GLSL450;
        let mut decorate = |decoration| match self.home {
            Home::Binding { id, .. } => module.decorate(id, decoration, &[]),
            Home::Address { block } => module.decorate_member(block, 0, decoration, &[]),
            // Nobody writes there anyway.
            Home::Uniform { .. } => {}
        };
        // After a barrier an invocation sees writes of its workgroup.
        if is_seen && (is_shared || reads && writes) {
            decorate(Decoration::Coherent);
        }
        if !writes {
            decorate(Decoration::NonWritable);
        }
        if !reads && writes {
            decorate(Decoration::NonReadable);
        }
    }

    /// The variable that accesses elements as ints, made at its first use; `None` for an array by address.
    fn bits_variable(&mut self, buffer: &Buffer, bits: &Type, module: &mut Module) -> Option<Word> {
        let Home::Binding { id, bits: known } = &mut self.home else { return None };
        Some(*known.get_or_insert_with(|| {
            let element = module.ty(bits);
            let block = block_of(buffer, element, bits.packed_size(), module);
            let alias =
                bound(buffer, StorageClass::StorageBuffer, block, &format!("{}.bits", buffer.name), module);
            for variable in [*id, alias] {
                module.decorate(variable, Decoration::Aliased, &[]);
            }
            alias
        }))
    }
}

/// The block around elements of this type and stride.
fn block_of(buffer: &Buffer, element: Word, stride: u32, module: &mut Module) -> Word {
    match buffer.is_cell {
        true => module.cell_block(element, stride),
        false => module.buffer_block(element, stride),
    }
}

fn bound(buffer: &Buffer, class: StorageClass, block: Word, name: &str, module: &mut Module) -> Word {
    let id = module.variable(class, block);
    module.name(id, name);
    module.decorate(id, Decoration::DescriptorSet, &[buffer.set]);
    module.decorate(id, Decoration::Binding, &[buffer.binding]);
    id
}

/// Whether a uniform buffer can have a value in the packed layout. Without scalar layout that is one scalar or vector.
/// Narrow numbers would need a feature that storage buffers do not need.
pub(super) fn fits_uniform(ty: &Type, target: &Target) -> bool {
    let is_narrow = |(_, scalar): &(u32, Scalar)| scalar.in_buffers().bits() < 32;
    let is_plain = matches!(ty, Type::Scalar(_) | Type::Vector(..));
    ty.packed_size() <= UNIFORM_BYTES
        && (is_plain || target.scalar_layout)
        && !ty.numbers().iter().any(is_narrow)
}

/// The memory operands of accesses through a pointer of this class, to memory that is not written meanwhile.
pub(super) fn alignment(class: StorageClass, ty: &Type) -> Vec<Operand> {
    if class != StorageClass::PhysicalStorageBuffer {
        return Vec::new();
    }
    let size = ty.scalar().map_or(1, |scalar| scalar.in_buffers().bytes());
    vec![Operand::MemoryAccess(MemoryAccess::ALIGNED), Operand::LiteralBit32(size)]
}

impl FunctionEmitter<'_> {
    /// The memory operands of accesses through a pointer of this class.
    pub fn memory_access(&self, class: StorageClass, ty: &Type) -> Vec<Operand> {
        let mut access = alignment(class, ty);
        if self.module.model == MemoryModel::Vulkan && class != StorageClass::Function {
            match access.first_mut() {
                Some(Operand::MemoryAccess(flags)) => *flags |= MemoryAccess::NON_PRIVATE_POINTER,
                _ => access.push(Operand::MemoryAccess(MemoryAccess::NON_PRIVATE_POINTER)),
            }
        }
        access
    }

    /// The pointer to an array's block.
    pub fn buffer_base(&mut self, buffer: BufferId) -> Word {
        let block = match self.interface.buffer(buffer).home {
            Home::Binding { id, .. } | Home::Uniform { id } => return id,
            Home::Address { block } => block,
        };
        if let Some(base) = self.bases.get(&buffer) {
            return *base;
        }
        let address = self.address_of(buffer);
        let base = self.in_prologue(|emitter| emitter.block_at(address, buffer, block));
        self.bases.insert(buffer, base);
        base
    }

    /// The address of an array, which is that of its parameter.
    fn address_of(&mut self, buffer: BufferId) -> Word {
        self.hidden_once(Member::Address(self.kernel.memory_of(buffer)), &Scalar::U64.into())
    }

    /// A pointer to a block at an address. That of a view is a block of its parameter, seen as another type.
    fn block_at(&mut self, address: Word, buffer: BufferId, block: Word) -> Word {
        let memory = self.kernel.memory_of(buffer);
        let of = match self.interface.buffer(memory).home {
            Home::Address { block } => block,
            _ => unreachable!("a view is reached as its parameter is"),
        };
        let class = StorageClass::PhysicalStorageBuffer;
        let (of, seen) = (self.module.pointer(class, of), self.module.pointer(class, block));
        let pointer = self.op(Op::ConvertUToPtr, of, &[Operand::IdRef(address)]);
        if of == seen { pointer } else { self.op(Op::Bitcast, seen, &[Operand::IdRef(pointer)]) }
    }

    /// A pointer to an element seen as an int of this type.
    pub fn element_bits(&mut self, buffer: BufferId, index: Word, bits: &Type) -> Word {
        let def = &self.kernel.buffers[buffer.idx()];
        let pointee = self.module.ty(bits);
        let member = self.int(&Type::I32, 0);
        match self.interface.buffer(buffer).bits_variable(def, bits, self.module) {
            Some(variable) => {
                self.pointer_to(StorageClass::StorageBuffer, pointee, &[variable, member, index])
            }
            None => {
                let element = self.element_pointer(buffer, index);
                self.seen_through(element, bits)
            }
        }
    }

    /// A pointer to a number by address, as a pointer to an int of this type.
    pub fn seen_through(&mut self, pointer: Word, bits: &Type) -> Word {
        let pointee = self.module.ty(bits);
        let seen = self.module.pointer(StorageClass::PhysicalStorageBuffer, pointee);
        self.op(Op::Bitcast, seen, &[Operand::IdRef(pointer)])
    }

    /// A pointer to an element that is a number. `index` is as [`Self::inside_buffer`] gives it.
    pub fn element_pointer(&mut self, buffer: BufferId, index: Word) -> Word {
        let chain = self.element_chain(buffer, index);
        let variable = self.interface.buffer(buffer);
        let (class, ty) = (variable.class(), variable.element.clone());
        let pointee = self.module.stored(&ty);
        self.pointer_to(class, pointee, &chain)
    }

    /// The access chain to an element: a base and its indices. For an array by address, drivers may compute offsets
    /// in 32 bits, so there the base is the element itself.
    pub fn element_chain(&mut self, buffer: BufferId, index: Word) -> Vec<Word> {
        let base = self.buffer_base(buffer);
        let first = self.int(&Type::I32, 0);
        let Home::Address { block } = self.interface.buffer(buffer).home else {
            return vec![base, first, index];
        };
        let wide = Type::Scalar(Scalar::U64);
        let stride = i128::from(self.interface.buffer(buffer).element.packed_size());
        let stride = self.int(&wide, stride);
        let offset = self.ids(Op::IMul, &wide, &[index, stride]);
        let address = self.address_of(buffer);
        let address = self.ids(Op::IAdd, &wide, &[address, offset]);
        let element = self.block_at(address, buffer, block);
        vec![element, first, first]
    }

    /// The number of an element. One that overflowed becomes -1, which is outside of every array.
    pub fn element_number(&mut self, index: &ElementIndex) -> Word {
        match index {
            ElementIndex::Tested { flat, fits } => {
                let ty = self.function.ty(*flat).clone();
                let (fits, flat) = (self.value(*fits), self.value(*flat));
                let outside = self.int(&ty, -1);
                self.select(&ty, fits, flat, outside)
            }
            index => self.value(index.number()),
        }
    }

    /// The number of an element that is inside, of the type that [`Self::element_chain`] takes.
    pub fn proven_index(&mut self, buffer: BufferId, index: &ElementIndex) -> Word {
        let ty = self.function.ty(index.number()).clone();
        let index = self.element_number(index);
        self.fit_for_reach(buffer, index, &ty)
    }

    fn fit_for_reach(&mut self, buffer: BufferId, index: Word, ty: &Type) -> Word {
        match self.interface.buffer(buffer).home {
            Home::Address { .. } => self.convert(index, ty, &Scalar::U64.into()),
            Home::Binding { .. } | Home::Uniform { .. } => index,
        }
    }

    /// The number of elements, unsigned and as wide as the array's counts. The function loads it once, at its
    /// start.
    pub fn buffer_len(&mut self, buffer: BufferId) -> Word {
        let def = &self.kernel.buffers[buffer.idx()];
        let counts = Type::Scalar(def.counts.unsigned());
        if def.has_hidden_len() && def.view_of.is_none() {
            return self.hidden_once(Member::Len(buffer), &counts);
        }
        if let Some(len) = self.lens.get(&buffer) {
            return *len;
        }
        if let Some(memory) = def.view_of.filter(|_| def.has_hidden_len()) {
            let len = self.view_len(buffer, memory, &counts);
            self.lens.insert(buffer, len);
            return len;
        }
        let variable = self.buffer_base(buffer);
        let operands = [Operand::IdRef(variable), Operand::LiteralBit32(0)];
        let (counts, id) = (self.module.ty(&counts), self.module.id());
        write(&mut self.prologue, Op::ArrayLength, Some(counts), Some(id), &operands);
        self.lens.insert(buffer, id);
        id
    }

    /// The elements of a view, from those of its parameter. It is computed at the start of the function.
    fn view_len(&mut self, view: BufferId, memory: BufferId, counts: &Type) -> Word {
        let len = self.buffer_len(memory);
        let own = Type::Scalar(self.kernel.buffers[memory.idx()].counts.unsigned());
        let size = |buffer: BufferId| self.kernel.buffers[buffer.idx()].element.packed_size();
        let (from, to) = (size(memory), size(view));
        let (op, factor) = if to > from { (Op::UDiv, to / from) } else { (Op::IMul, from / to) };
        let wider = if to > from { &own } else { counts };
        self.in_prologue(|emitter| {
            let factor = emitter.int(wider, factor.into());
            let len = emitter.convert(len, &own, wider);
            let len = emitter.ids(op, wider, &[len, factor]);
            emitter.convert(len, wider, counts)
        })
    }

    /// The length of one axis.
    pub fn buffer_axis(&mut self, buffer: BufferId, axis: u8) -> Word {
        let counts = self.kernel.buffers[buffer.idx()].counts;
        let len = self.load_hidden(Member::Axis(buffer, axis), &counts.unsigned().into());
        self.ids(Op::Bitcast, &counts.signed().into(), &[len])
    }

    /// Whether an index is inside the buffer, and the index, or 0 where it is not: 64 bits wide where the
    /// array is reached by its address.
    pub fn inside_buffer(&mut self, buffer: BufferId, index: &ElementIndex) -> (Word, Word) {
        let counts = self.kernel.buffers[buffer.idx()].counts;
        let number = index.number();
        let mut ty = self.function.ty(number).clone();
        let mut len = self.buffer_len(buffer);
        // A length that neighbours have in common, where they have the outer indices.
        if let ElementIndex::Tested { fits, .. } = index {
            let fits = self.value(*fits);
            let counts = Type::Scalar(counts.unsigned());
            let none = self.int(&counts, 0);
            len = self.select(&counts, fits, len, none);
        }
        let mut index = self.value(number);
        match (ty.scalar().map(Scalar::bits), counts) {
            (Some(64), Width::Narrow) => len = self.ids(Op::UConvert, &Scalar::U64.into(), &[len]),
            (Some(32), Width::Wide) => {
                let wide = Type::Scalar(Scalar::I64);
                index = self.convert(index, &ty, &wide);
                ty = wide;
            }
            _ => {}
        }
        // As unsigned numbers, so that negative ones are outside too.
        let is_inside = self.ids(Op::ULessThan, &Type::BOOL, &[index, len]);
        self.module.name(is_inside, INSIDE);
        let zero = self.int(&ty, 0);
        let index = self.select(&ty, is_inside, index, zero);
        (is_inside, self.fit_for_reach(buffer, index, &ty))
    }
}
