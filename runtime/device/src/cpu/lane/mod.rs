//! The lane IR: what one invocation does, in scalars, with every call inlined.
//!
//! A [`Kernel`] is a control-flow graph in SSA form with block parameters. What a well-formed one obeys:
//!
//! - Every [`Value`] is a constant, a block parameter or the result of one instruction, and its
//!   definition dominates its uses. Constants and [`Builtin`]s belong to no block.
//! - Operands have the type that the operation's table says; nothing traps: every operation has a result
//!   for every operand.
//! - Memory is touched through [`Op::Address`] alone, which tests a range of bytes once; loads and stores
//!   that use its result stay within that range.
//! - An edge gives one argument per parameter of its target, of the same types.
//! - There is no [`Op::Get`] and no [`Op::Set`] of a [`Local`] after [`ssa`].
//!
//! Passes work on a whole kernel: [`guard`] finds what every invocation asks first, [`rounds`] counts the rounds of loops round operations of subgroups,
//! [`ssa`] turns locals into values, [`known`] uses what branches found out, [`shortcuts`] takes short ones away, [`regions`] cuts the graph where lanes wait, [`gangs`] finds what
//! neighbouring lanes have in common ([`shapes`], [`order`]), [`advance`] how far addresses go in a round, [`frames`] how their memory lies, and [`meetings`] makes
//! instructions of what subgroups do together, where gangs hold whole ones.

pub mod advance;
pub mod builder;
pub mod fold;
pub mod frames;
pub mod guard;
pub mod ir;
pub mod known;
pub mod opcodes;
pub mod operators;
pub mod order;
pub mod parts;
pub mod regions;
pub mod rounds;
pub mod shapes;
pub mod shortcuts;
pub mod simd;
pub mod sites;
pub mod ssa;
pub mod subgroup_ops;
pub mod terminator;

pub use builder::Builder;
pub use ir::*;
pub use operators::*;
pub use sites::*;
pub use terminator::*;
