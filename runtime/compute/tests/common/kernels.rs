//! The SPIR-V modules of the tests, built with rspirv.

use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    MemoryModel, StorageClass, Word,
};

/// A kernel whose invocation `i` works on element `i` of each of its arrays of one scalar type.
pub struct Kernel {
    pub b: Builder,
    pub element: Word,
    pub u32: Word,
    element_ptr: Word,
    zero: Word,
    arrays: Vec<Word>,
    index: Word,
    main: Word,
    interface: Vec<Word>,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Of {
    F32,
    I32,
}

impl Kernel {
    /// Arrays of the given names; the body follows, `finish` ends it.
    pub fn over(names: &[&str], of: Of) -> Kernel {
        Kernel::begin(names, of, |_| ())
    }

    /// The same; `declare` adds declarations before the function.
    fn begin(names: &[&str], of: Of, declare: impl FnOnce(&mut Kernel)) -> Kernel {
        let mut b = Builder::new();
        b.set_version(1, 5);
        b.capability(Capability::Shader);
        b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
        let void = b.type_void();
        let main_type = b.type_function(void, vec![]);
        let u32 = b.type_int(32, 0);
        let element = if of == Of::F32 { b.type_float(32, None) } else { b.type_int(32, 1) };
        let vec3 = b.type_vector(u32, 3);
        let input = b.type_pointer(None, StorageClass::Input, vec3);
        let global_id = b.variable(input, None, StorageClass::Input, None);
        b.decorate(global_id, Decoration::BuiltIn, [Operand::BuiltIn(BuiltIn::GlobalInvocationId)]);
        let array = b.type_runtime_array(element);
        b.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(4)]);
        let block = b.type_struct([array]);
        b.decorate(block, Decoration::Block, []);
        b.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        let block_ptr = b.type_pointer(None, StorageClass::StorageBuffer, block);
        let element_ptr = b.type_pointer(None, StorageClass::StorageBuffer, element);
        let zero = b.constant_bit32(u32, 0);
        let mut arrays = Vec::new();
        for (binding, name) in (0..).zip(names) {
            let variable = b.variable(block_ptr, None, StorageClass::StorageBuffer, None);
            b.name(variable, *name);
            b.decorate(variable, Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
            b.decorate(variable, Decoration::Binding, [Operand::LiteralBit32(binding)]);
            arrays.push(variable);
        }
        let interface = [&[global_id][..], &arrays].concat();
        let mut kernel = Kernel { b, element, u32, element_ptr, zero, arrays, index: 0, main: 0, interface };
        declare(&mut kernel);
        let b = &mut kernel.b;
        kernel.main =
            b.begin_function(void, None, FunctionControl::NONE, main_type).expect("at module level");
        b.begin_block(None).expect("in a function");
        let position = b.load(vec3, None, global_id, None, []).expect("in a block");
        kernel.index = b.composite_extract(u32, None, position, [0]).expect("in a block");
        kernel
    }

    fn place(&mut self, array: usize) -> Word {
        let indices = [self.zero, self.index];
        self.b.access_chain(self.element_ptr, None, self.arrays[array], indices).expect("in a block")
    }

    pub fn load(&mut self, array: usize) -> Word {
        let place = self.place(array);
        self.b.load(self.element, None, place, None, []).expect("in a block")
    }

    pub fn store(&mut self, array: usize, value: Word) {
        let place = self.place(array);
        self.b.store(place, value, None, []).expect("in a block");
    }

    pub fn finish(mut self) -> Vec<u32> {
        self.b.ret().expect("in a block");
        self.b.end_function().expect("in a function");
        self.b.entry_point(ExecutionModel::GLCompute, self.main, "main", self.interface);
        self.b.execution_mode(self.main, ExecutionMode::LocalSize, [1, 1, 1]);
        self.b.module().assemble()
    }
}

/// `out = a * b`.
pub fn multiply() -> Vec<u32> {
    let mut kernel = Kernel::over(&["a", "b", "out"], Of::F32);
    let (a, b) = (kernel.load(0), kernel.load(1));
    let product = kernel.b.f_mul(kernel.element, None, a, b).expect("in a block");
    kernel.store(2, product);
    kernel.finish()
}

/// `out = a + b`.
pub fn add() -> Vec<u32> {
    let mut kernel = Kernel::over(&["a", "b", "out"], Of::F32);
    let (a, b) = (kernel.load(0), kernel.load(1));
    let sum = kernel.b.f_add(kernel.element, None, a, b).expect("in a block");
    kernel.store(2, sum);
    kernel.finish()
}

/// `a += 1`.
pub fn increment() -> Vec<u32> {
    let mut one = 0;
    let mut kernel = Kernel::begin(&["a"], Of::F32, |kernel| {
        one = kernel.b.constant_bit32(kernel.element, 1f32.to_bits())
    });
    let a = kernel.load(0);
    let sum = kernel.b.f_add(kernel.element, None, a, one).expect("in a block");
    kernel.store(0, sum);
    kernel.finish()
}

/// `a += push[i]`, where the push constants are three named members.
pub fn add_push(of: Of) -> Vec<u32> {
    let (mut push, mut member_ptr, mut members) = (0, 0, Vec::new());
    let mut kernel = Kernel::begin(&["a"], of, |kernel| {
        let (b, element) = (&mut kernel.b, kernel.element);
        let block = b.type_struct([element; 3]);
        b.name(block, "Push");
        b.decorate(block, Decoration::Block, []);
        for (idx, name) in (0..).zip(["x", "y", "z"]) {
            b.member_decorate(block, idx, Decoration::Offset, [Operand::LiteralBit32(4 * idx)]);
            b.member_name(block, idx, name);
        }
        let block_ptr = b.type_pointer(None, StorageClass::PushConstant, block);
        member_ptr = b.type_pointer(None, StorageClass::PushConstant, element);
        push = b.variable(block_ptr, None, StorageClass::PushConstant, None);
        members = (0..3).map(|idx| b.constant_bit32(kernel.u32, idx)).collect();
        kernel.interface.push(push);
    });
    let mut loaded = Vec::new();
    for member in members.clone() {
        let place = kernel.b.access_chain(member_ptr, None, push, [member]).expect("in a block");
        loaded.push(kernel.b.load(kernel.element, None, place, None, []).expect("in a block"));
    }
    let bool = kernel.b.type_bool();
    let is_second = kernel.b.i_equal(bool, None, kernel.index, members[1]).expect("in a block");
    let is_third = kernel.b.i_equal(bool, None, kernel.index, members[2]).expect("in a block");
    let value = kernel.b.select(kernel.element, None, is_second, loaded[1], loaded[0]).expect("in a block");
    let value = kernel.b.select(kernel.element, None, is_third, loaded[2], value).expect("in a block");
    let a = kernel.load(0);
    let sum = match of {
        Of::F32 => kernel.b.f_add(kernel.element, None, a, value),
        Of::I32 => kernel.b.i_add(kernel.element, None, a, value),
    };
    kernel.store(0, sum.expect("in a block"));
    kernel.finish()
}

/// `a = factor * a + offset`, both specialisation constants with 1 and 0 as defaults.
pub fn scale() -> Vec<u32> {
    let (mut factor, mut offset) = (0, 0);
    let mut kernel = Kernel::begin(&["a"], Of::F32, |kernel| {
        let (b, element) = (&mut kernel.b, kernel.element);
        factor = b.spec_constant_bit32(element, 1f32.to_bits());
        offset = b.spec_constant_bit32(element, 0f32.to_bits());
        for (id, (constant, name)) in (0..).zip([(factor, "factor"), (offset, "offset")]) {
            b.decorate(constant, Decoration::SpecId, [Operand::LiteralBit32(id)]);
            b.name(constant, name);
        }
    });
    let a = kernel.load(0);
    let product = kernel.b.f_mul(kernel.element, None, a, factor).expect("in a block");
    let sum = kernel.b.f_add(kernel.element, None, product, offset).expect("in a block");
    kernel.store(0, sum);
    kernel.finish()
}
