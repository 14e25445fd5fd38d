//! The interface of a SPIR-V module, reflected from its binary. There is no other description of a kernel's
//! interface.
//!
//! The ABI of kps kernels: binding `i` of set 0 is the `i`-th array parameter. One push-constant block of at
//! most 128 bytes has the scalars in order, and then hidden members, whose names begin with `kps.`:
//!
//! | Member | The runtime's value |
//! |---|---|
//! | `kps.domain` | uvec3, the number of invocations; of u64 if it exceeds an i32 |
//! | `kps.base` | uvec3, the first workgroup of a part of a launch |
//! | `kps.shape.NAME.AXIS` | the length of an axis |
//! | `kps.address.NAME.SLOT` | the address of array number SLOT, instead of its binding ([`AddressedArray`]) |
//! | `kps.len.NAME` | the number of its elements, if it exceeds an i32 or the array has an address |
//!
//! Lengths are u32, or u64 for an array whose number of elements exceeds an i32.
//! Structs, matrices and arrays are passed number by number.
//! Members that do not fit are in a uniform buffer with the same layout, binding 0 of [`SPILL_SET`], which the
//! launch fills.
//! External modules may have any interface, and may lack names.

use std::ops::ControlFlow;

use kps_scalar::Scalar;

use crate::{Access, Dimension, TexelFormat};

/// Instructions that describe the source's intent, in kps kernels that are compiled for checks. They are a
/// non-semantic set, which other devices ignore.
pub mod checks {
    pub const CHECKS: &str = "NonSemantic.kps.Checks";

    /// The variable, or a string with the name of a member; 0 for a read, 1 for a write, 2 for both; index
    /// and length of each axis.
    pub const INDEX: u32 = 1;
    /// The dividend and the divisor.
    pub const DIVISION: u32 = 2;
    /// The shifted value and the amount.
    pub const SHIFT: u32 = 3;
    /// The float, the int that results, and the precision of the float's type in bits.
    pub const CONVERSION: u32 = 4;
    /// A value that should be uniform.
    pub const UNIFORM: u32 = 5;
    /// 0 sum, 1 difference, 2 product, 5 quotient, and the two ints; 3 negation, 4 magnitude, 0 and the int.
    pub const ARITHMETIC: u32 = 6;
    /// A float and its operands.
    pub const NON_FINITE: u32 = 7;
}

/// Names that translators of other languages give to their guards, so that checks know the source's intent.
pub mod guards {
    /// Functions that divide their first argument by the second.
    pub const DIVISIONS: [&str; 2] = ["kps.divide", "kps.modulo"];
    /// A float that is clamped to the range of an int.
    pub const CLAMPED: &str = "kps.clamped";
    /// Whether an index is below a length; an access depends on it.
    pub const INSIDE: &str = "kps.inside";
    /// An index that is clamped to the last one.
    pub const NEAREST: &str = "kps.nearest";
}

/// Block names of an array, a struct and a uniform, whose only member does not exist in the source.
pub const WRAPPERS: [&str; 3] = ["kps.array", CELL, "kps.uniform"];
/// Block name of a buffer that is one struct in the source, without an array.
pub const CELL: &str = "kps.cell";

/// The descriptor set of the uniform buffer for members that do not fit the push constants.
pub const SPILL_SET: u32 = 1;
/// The name of that buffer.
pub const SPILL_NAME: &str = "kps.uniforms";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    pub entry_point: String,
    /// The name of the entry point's function; for kps kernels, the kernel's name.
    pub name: Option<String>,
    /// Invocations of a workgroup along x, y and z, with specialisation applied.
    pub local_size: [u32; 3],
    /// Number of bindings of set 0: one more than the last that the module declares, used or not.
    pub n_declared: u32,
    /// The buffers that the module uses, or whose shapes it uses, ordered by set and binding.
    pub buffers: Vec<BufferBinding>,
    /// Ordered by set and binding.
    pub images: Vec<ImageBinding>,
    /// Separate samplers, ordered by set and binding.
    pub samplers: Vec<SamplerSlot>,
    pub push_constants: Option<Block>,
    /// Ordered by their push constants.
    pub addresses: Vec<AddressedArray>,
    pub spec_constants: Vec<SpecConstant>,
    /// Whether it has an input that differs between workgroups, or counts them.
    pub depends_on_group: bool,
    /// Whether the values of specialisation constants are already compiled in ([`SPECIALISED`]). Their
    /// defaults are these values, and other values need another module.
    pub specialised: bool,
    /// The texts of `print` and `assert` in kps kernels, one for each place (`kps.record ..`). They describe
    /// the records in the buffer [`PRINT`].
    pub records: Vec<String>,
}

/// Prefix of an `OpModuleProcessed` of shaders whose constants were given before the translation.
pub const SPECIALISED: &str = "kps.specialised ";

/// The name of the hidden buffer to which `print` and `assert` write. It starts with four counters: words
/// requested and records lost, of prints and then of assertions. Then come [`RECORD_ASSERT_WORDS`] words for
/// assertions, and the rest is for prints. A record is the number of its place, the invocation's x, y and z,
/// and the values. A 0 ends the list.
///
/// A traced kernel does not print. Its words for prints are slots of [`RECORD_STEP_WORDS`] words, one for
/// each step, and the first counter counts steps. The first [`RECORD_STEPS_STORED`] slots store the first
/// steps. As many further slots are a ring buffer of the last steps.
pub const PRINT: &str = "kps.print";

/// Prefix of the text of such a place.
pub const RECORD: &str = "kps.record ";

pub const RECORD_ASSERT_WORDS: u32 = 16 * 1024;

pub const RECORD_STEP_WORDS: u32 = 72;

pub const RECORD_STEPS_STORED: u32 = 512;

#[derive(Clone, Debug, PartialEq)]
pub struct BufferBinding {
    pub set: u32,
    pub binding: u32,
    pub name: Option<String>,
    pub kind: BufferKind,
    /// How the module's instructions access it, conservatively. `Write` does not mean that all of it is
    /// written.
    pub access: Access,
    pub layout: Block,
}

impl BufferBinding {
    /// Whether the launch fills it, and no array is bound.
    pub fn is_spill(&self) -> bool {
        self.set == SPILL_SET && self.name.as_deref() == Some(SPILL_NAME)
    }
}

/// Prefix of push constants that are addresses of arrays.
pub const ADDRESS: &str = "kps.address.";

/// Prefix of values that are lengths of array axes.
pub const SHAPE: &str = "kps.shape.";

/// The array of a length `kps.shape.NAME.AXIS`, or of all its lengths `kps.shape.NAME`.
pub fn shaped_array(name: &str) -> Option<&str> {
    let name = name.strip_prefix(SHAPE)?;
    Some(name.rsplit_once('.').map_or(name, |(array, _)| array))
}

/// An array that is accessed by its address, which is a push constant.
#[derive(Clone, Debug, PartialEq)]
pub struct AddressedArray {
    /// Offset of the address in the push constants: 8 bytes.
    pub offset: u32,
    pub name: String,
    /// Its binding in set 0, if it had one.
    pub slot: u32,
    /// As for buffers.
    pub access: Access,
    pub layout: Block,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferKind {
    Storage,
    Uniform,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ImageBinding {
    pub set: u32,
    pub binding: u32,
    pub name: Option<String>,
    pub kind: ImageKind,
    pub dimension: Dimension,
    /// The type of loaded texels: f32, i32 or u32.
    pub scalar: Scalar,
    /// Required texel format of a storage image; `None` if any is allowed.
    pub format: Option<TexelFormat>,
    /// Sets and bindings of the samplers with which the module samples it.
    pub samplers: Vec<(u32, u32)>,
    /// As for buffers.
    pub access: Access,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// Texels are loaded and stored.
    Storage,
    /// Sampled with a separate sampler, or fetched.
    Sampled,
    /// Sampled with the sampler of the same binding.
    WithSampler,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SamplerSlot {
    pub set: u32,
    pub binding: u32,
    pub name: Option<String>,
}

/// The members of a block with their offsets.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Bytes to the end of the last member; a run-time array counts as empty.
    pub size: u32,
    pub members: Vec<Member>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    pub name: Option<String>,
    pub offset: u32,
    pub ty: MemberType,
}

/// Blocks hold no bools, which have no layout: the scalar of a member is never [`Scalar::Bool`].
#[derive(Clone, Debug, PartialEq)]
pub enum MemberType {
    Scalar(Scalar),
    Vector {
        n: u32,
        scalar: Scalar,
    },
    Matrix {
        columns: u32,
        rows: u32,
        scalar: Scalar,
        /// Bytes between columns, or between rows.
        stride: u32,
        row_major: bool,
    },
    /// `len` is `None` for a run-time array; `stride` in bytes.
    Array {
        len: Option<u32>,
        stride: u32,
        element: Box<MemberType>,
    },
    Struct(Block),
}

/// A step on the path from a block to one of its numbers.
#[derive(Clone, Copy, Debug)]
pub enum Step<'b> {
    /// To a member at this offset.
    Member(&'b Member, usize),
    /// To an element or a component. Those of a matrix are counted in storage order.
    Part(u32),
}

/// Called for each number of a block with its path, offset and type.
pub type Visit<'v, 'b, T> = dyn FnMut(&[Step<'b>], usize, Scalar) -> ControlFlow<T> + 'v;

impl Block {
    /// Visits the numbers in the order of the members, until `visit` breaks. A run-time array has one visited
    /// element.
    pub fn each_number<'b, T>(&'b self, visit: &mut Visit<'_, 'b, T>) -> ControlFlow<T> {
        Walk { path: Vec::new(), visit }.block(self, 0)
    }
}

/// The path to the current position of the walk.
struct Walk<'w, 'v, 'b, T> {
    path: Vec<Step<'b>>,
    visit: &'w mut Visit<'v, 'b, T>,
}

impl<'b, T> Walk<'_, '_, 'b, T> {
    fn block(&mut self, block: &'b Block, base: usize) -> ControlFlow<T> {
        block.members.iter().try_for_each(|member| {
            let offset = base + member.offset as usize;
            self.step(Step::Member(member, offset), |walk| walk.value(&member.ty, offset))
        })
    }

    fn value(&mut self, ty: &'b MemberType, base: usize) -> ControlFlow<T> {
        match ty {
            MemberType::Scalar(scalar) => (self.visit)(&self.path, base, *scalar),
            MemberType::Vector { n, scalar } => self.line(*n, *scalar, base, 0),
            MemberType::Matrix { columns, rows, scalar, stride, row_major } => {
                let (n_lines, n) = if *row_major { (*rows, *columns) } else { (*columns, *rows) };
                (0..n_lines).try_for_each(|at| self.line(n, *scalar, base + (at * stride) as usize, at * n))
            }
            MemberType::Array { len, stride, element } => (0..len.unwrap_or(1)).try_for_each(|at| {
                let start = base + at as usize * *stride as usize;
                self.step(Step::Part(at), |walk| walk.value(element, start))
            }),
            MemberType::Struct(block) => self.block(block, base),
        }
    }

    /// Adjacent numbers, the first of which is part `first`.
    fn line(&mut self, n: u32, scalar: Scalar, base: usize, first: u32) -> ControlFlow<T> {
        (0..n).try_for_each(|at| {
            let offset = base + (at * scalar.bytes()) as usize;
            self.step(Step::Part(first + at), |walk| (walk.visit)(&walk.path, offset, scalar))
        })
    }

    fn step(&mut self, step: Step<'b>, go: impl FnOnce(&mut Self) -> ControlFlow<T>) -> ControlFlow<T> {
        self.path.push(step);
        go(self)?;
        self.path.pop();
        ControlFlow::Continue(())
    }
}

impl MemberType {
    /// Visits the numbers of one value, as [`Block::each_number`].
    pub fn each_number<'b, T>(&'b self, visit: &mut Visit<'_, 'b, T>) -> ControlFlow<T> {
        Walk { path: Vec::new(), visit }.value(self, 0)
    }

    /// Size of a value in bytes; 0 for a run-time array.
    pub fn size(&self) -> u32 {
        self.checked_size().unwrap_or(u32::MAX)
    }

    /// The same; `None` if it does not fit in 32 bits, which no reflected type does.
    pub(crate) fn checked_size(&self) -> Option<u32> {
        match self {
            MemberType::Scalar(scalar) => Some(scalar.bytes()),
            MemberType::Vector { n, scalar } => n.checked_mul(scalar.bytes()),
            MemberType::Matrix { rows, stride, row_major: true, .. } => rows.checked_mul(*stride),
            MemberType::Matrix { columns, stride, .. } => columns.checked_mul(*stride),
            MemberType::Array { len, stride, .. } => len.unwrap_or(0).checked_mul(*stride),
            MemberType::Struct(block) => Some(block.size),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct SpecConstant {
    pub id: u32,
    pub name: Option<String>,
    pub scalar: Scalar,
    /// The bits of its default value.
    pub default: u64,
}
