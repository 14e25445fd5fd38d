//! The lane IR: the code of one invocation, in scalars, with every call inlined.
//!
//! A [`Kernel`] is a control-flow graph in SSA form with block parameters. The invariants:
//!
//! - Every [`Value`] is a constant, a block parameter or the result of one instruction, and its definition
//!   dominates its uses. Constants and [`Builtin`]s belong to no block.
//! - Operands have the types in the operation's table. Nothing traps: every operation has a result for all
//!   operands.
//! - Only [`Op::Address`] addresses memory. It tests a range of bytes once; loads and stores that use its
//!   result stay within that range.
//! - An edge has one argument for each parameter of its target, of the same types.
//! - No [`Op::Get`] and no [`Op::Set`] of a [`Local`] remains after [`ssa`].
//!
//! Each pass works on a whole kernel:
//! - [`guard`] finds the test of the domain.
//! - [`rounds`] counts the iterations of loops around subgroup operations.
//! - [`ssa`] turns locals into values.
//! - [`known`] uses the conditions of branches.
//! - [`shortcuts`] removes short branches.
//! - [`regions`] splits the graph where lanes wait.
//! - [`simd`] plans vector code, with [`shapes`] and [`order`].
//! - [`advance`] finds how far addresses advance in an iteration.
//! - [`frames`] lays out the lanes' memory.
//! - [`subgroup_ops`] makes subgroup operations instructions, for SIMD groups of whole subgroups.

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
