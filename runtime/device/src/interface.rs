//! What a SPIR-V module binds, reflected from its words: the only description of a kernel's interface.
//!
//! The kernel ABI of our own compiler: set 0 binding `i` is the `i`-th array parameter; one
//! push-constant block of at most 128 bytes holds the scalars in order and then the hidden members,
//! whose names begin with `kps.`:
//!
//! | Member | What the runtime puts there |
//! |---|---|
//! | `kps.domain` | uvec3, the invocations asked for; of u64 where an i32 does not count them |
//! | `kps.base` | uvec3, the workgroup with which a part of a launch begins |
//! | `kps.shape.NAME.AXIS` | the length of an axis |
//! | `kps.address.NAME.SLOT` | where array number SLOT lies, in place of its binding ([`AddressedArray`]) |
//! | `kps.len.NAME` | its elements, or those of an array that has more than an i32 counts |
//!
//! Lengths are u32, or u64 for an array that has more elements than an i32 counts.
//! Structs, matrices and arrays are there number by number. Whatever does not fit lies the same way in a
//! uniform buffer, binding 0 of [`SPILL_SET`], which the launch fills.
//! Foreign modules may have any interface, and may lack names.

use std::ops::ControlFlow;

use kps_scalar::Scalar;

use crate::{Access, Dimension, TexelFormat};

/// What our own kernels tell of what their source asked for, where they are compiled for a device that checks:
/// the instructions of a set that means nothing to any other device.
pub mod checks {
    pub const CHECKS: &str = "NonSemantic.kps.Checks";

    /// The variable, or a string that is the name of a part; 0 where it is read, 1 written, 2 both; index and length of each axis.
    pub const INDEX: u32 = 1;
    /// The dividend and the divisor.
    pub const DIVISION: u32 = 2;
    /// What is shifted, and the amount.
    pub const SHIFT: u32 = 3;
    /// The float, the int that it became, and how many binary digits the float's type has.
    pub const CONVERSION: u32 = 4;
    /// A value that is said to be uniform.
    pub const UNIFORM: u32 = 5;
    /// 0 sum, 1 difference, 2 product, 5 quotient, and the two ints; 3 negation, 4 magnitude, 0 and the int.
    pub const ARITHMETIC: u32 = 6;
    /// A float, and those that it was made of.
    pub const NON_FINITE: u32 = 7;
}

/// How translators of other languages name what they guard, so that checks know what was asked for.
pub mod guards {
    /// Functions that divide their first argument by the second.
    pub const DIVISIONS: [&str; 2] = ["kps.divide", "kps.modulo"];
    /// A float that is cut to what an int holds.
    pub const CLAMPED: &str = "kps.clamped";
    /// Whether an index is below a length, on which an access depends.
    pub const INSIDE: &str = "kps.inside";
    /// An index that is cut to the last one.
    pub const NEAREST: &str = "kps.nearest";
}

/// The names of the blocks of an array, of one struct and of a uniform, whose one member the source does not know of.
pub const WRAPPERS: [&str; 3] = ["kps.array", CELL, "kps.uniform"];
/// The name of the block of a buffer that is one struct in the source, which knows of no array either.
pub const CELL: &str = "kps.cell";

/// The set of the uniform buffer that takes what the push constants do not.
pub const SPILL_SET: u32 = 1;
/// The name of that buffer.
pub const SPILL_NAME: &str = "kps.uniforms";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    pub entry_point: String,
    /// What the entry point's function is called; ours has the kernel's name.
    pub name: Option<String>,
    /// Invocations of a workgroup along x, y and z, specialisation applied.
    pub local_size: [u32; 3],
    /// Bindings of set 0 that the module declares: one more than the last of them, used or not.
    pub n_declared: u32,
    /// Those that are used, or whose shapes are, in the order of set and binding.
    pub buffers: Vec<BufferBinding>,
    /// In the order of set and binding.
    pub images: Vec<ImageBinding>,
    /// Samplers that stand alone, in the order of set and binding.
    pub samplers: Vec<SamplerSlot>,
    pub push_constants: Option<Block>,
    /// In the order of their push constants.
    pub addresses: Vec<AddressedArray>,
    pub spec_constants: Vec<SpecConstant>,
    /// Whether an input tells its workgroups apart: the place of one, or how many there are.
    pub depends_on_group: bool,
    /// Whether the values of the specialisation constants are in the words already ([`SETTLED`]): their defaults are
    /// what they have here, and other values take other words.
    pub specialised: bool,
    /// What `print` and `assert` of our own kernels say of the records in the buffer [`PRINT`]: one text
    /// for each place (`kps.record ..`).
    pub records: Vec<String>,
}

/// What `OpModuleProcessed` begins with where the constants of a shader's text were given before it was translated.
pub const SPECIALISED: &str = "kps.settled ";

/// The name of the hidden buffer that `print` and `assert` write to. Four words count the words asked for
/// and the records lost, of prints and then of assertions; [`RECORD_ASSERT_WORDS`] words for assertions
/// follow, and the rest is for prints. A record is its place's number, the invocation's x, y and z, and
/// the values; a 0 ends the list.
///
/// A traced kernel prints nothing. The words for prints are places of [`RECORD_STEP_WORDS`], one for a step,
/// and the first counter counts steps: [`RECORD_STEPS_STORED`] first ones, then as many places in which the
/// last ones go round.
pub const PRINT: &str = "kps.print";

/// How the text of such a place begins.
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
    /// What the module's instructions do with it; never narrower than the truth. `Write` does not mean that
    /// all of it is written.
    pub access: Access,
    pub layout: Block,
}

impl BufferBinding {
    /// Filled by the launch, not bound to an array.
    pub fn is_spill(&self) -> bool {
        self.set == SPILL_SET && self.name.as_deref() == Some(SPILL_NAME)
    }
}

/// How the names of push constants begin that are the addresses of arrays.
pub const ADDRESS: &str = "kps.address.";

/// How the names of values begin that are the lengths of arrays' axes.
pub const SHAPE: &str = "kps.shape.";

/// The array of which `kps.shape.NAME.AXIS` is a length, or `kps.shape.NAME` all of them.
pub fn shaped_array(name: &str) -> Option<&str> {
    let name = name.strip_prefix(SHAPE)?;
    Some(name.rsplit_once('.').map_or(name, |(array, _)| array))
}

/// An array that is reached by its address, which is one of the push constants.
#[derive(Clone, Debug, PartialEq)]
pub struct AddressedArray {
    /// Where in the push constants its address goes: 8 bytes.
    pub offset: u32,
    pub name: String,
    /// The binding of set 0 that it would have.
    pub slot: u32,
    /// As with buffers.
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
    /// What reading gives: f32, i32 or u32.
    pub scalar: Scalar,
    /// What a storage image's texels have to be; `None` where any will do.
    pub format: Option<TexelFormat>,
    /// Where the samplers are bound with which the module shows it to be sampled: sets and bindings.
    pub samplers: Vec<(u32, u32)>,
    /// As with buffers.
    pub access: Access,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// Read and written texel by texel.
    Storage,
    /// Sampled with a sampler that is bound elsewhere, or fetched.
    Sampled,
    /// Sampled with the sampler that is bound together with it.
    WithSampler,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SamplerSlot {
    pub set: u32,
    pub binding: u32,
    pub name: Option<String>,
}

/// The members of a block with their places.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Bytes up to the end of the last member; a run-time array counts as empty.
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
        /// Bytes from one column to the next, or from one row to the next.
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

/// A step of the way from a block to one of its numbers.
#[derive(Clone, Copy, Debug)]
pub enum Step<'b> {
    /// To a member, and the bytes before it.
    Member(&'b Member, usize),
    /// To an element or a component. Those of a matrix are counted line by line.
    Part(u32),
}

/// Is shown each number of a block: the way to it, the bytes before it, and what it is.
pub type Visit<'v, 'b, T> = dyn FnMut(&[Step<'b>], usize, Scalar) -> ControlFlow<T> + 'v;

impl Block {
    /// Shows the numbers in the order of the members, until `visit` breaks. A run-time array shows its first element.
    pub fn each_number<'b, T>(&'b self, visit: &mut Visit<'_, 'b, T>) -> ControlFlow<T> {
        Walk { way: Vec::new(), visit }.block(self, 0)
    }
}

/// The way to where a walk over the numbers of a block is.
struct Walk<'w, 'v, 'b, T> {
    way: Vec<Step<'b>>,
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
            MemberType::Scalar(scalar) => (self.visit)(&self.way, base, *scalar),
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

    /// Numbers side by side, of which the first is part `first`.
    fn line(&mut self, n: u32, scalar: Scalar, base: usize, first: u32) -> ControlFlow<T> {
        (0..n).try_for_each(|at| {
            let offset = base + (at * scalar.bytes()) as usize;
            self.step(Step::Part(first + at), |walk| (walk.visit)(&walk.way, offset, scalar))
        })
    }

    fn step(&mut self, step: Step<'b>, go: impl FnOnce(&mut Self) -> ControlFlow<T>) -> ControlFlow<T> {
        self.way.push(step);
        go(self)?;
        self.way.pop();
        ControlFlow::Continue(())
    }
}

impl MemberType {
    /// The numbers of one value, as [`Block::each_number`] shows those of a block.
    pub fn each_number<'b, T>(&'b self, visit: &mut Visit<'_, 'b, T>) -> ControlFlow<T> {
        Walk { way: Vec::new(), visit }.value(self, 0)
    }

    /// Bytes of one value; a run-time array has 0.
    pub fn size(&self) -> u32 {
        self.checked_size().unwrap_or(u32::MAX)
    }

    /// The same; `None` where it does not fit 32 bits, which no reflected type has.
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
