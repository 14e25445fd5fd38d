//! The buffers and the push constants among the variables that an entry point uses.

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Decoration, Op, StorageClass};
use rustc_hash::FxHashSet;

use super::access::{Reached, Use};
use super::bad_module;
use super::constants::Constants;
use super::ids::{Ids, id_at};
use super::{images, layout};
use crate::interface::{self, Block, BufferBinding, BufferKind};
use crate::{Access, Result};

/// The buffers, ordered by set and binding.
pub(super) fn buffers(
    module: &Module,
    ids: &Ids,
    constants: &Constants,
    reached: &Reached,
) -> Result<Vec<BufferBinding>> {
    let mut buffers = Vec::new();
    let measured = measured_arrays(module);
    let viewed = aliased_places(module, ids, reached);
    for variable in variables(module) {
        let used = reached.variable(variable.id);
        let is_measured = || ids.name(variable.id).is_some_and(|name| measured.contains(name));
        let is_viewed = || aliased_place(ids, &variable).is_some_and(|place| viewed.contains(&place));
        let is_storage = variable.class == StorageClass::StorageBuffer;
        let is_buffer = is_storage
            || matches!(variable.class, StorageClass::Uniform | StorageClass::UniformConstant)
                && used.is_some();
        if !is_buffer || used.is_none() && !is_measured() && !is_viewed() || images::is_opaque(ids, &variable)
        {
            continue;
        }
        let variable = Variable { used: used.unwrap_or_default(), ..variable };
        buffers.push((buffer(ids, constants, &variable)?, used.is_some()));
    }
    buffers.sort_by_key(|(buffer, _)| (buffer.set, buffer.binding));
    merge_aliases(buffers)
}

/// The names of arrays of kps kernels whose shapes are used. The launch needs their tensors, although no instruction
/// may access them.
fn measured_arrays(module: &Module) -> FxHashSet<&str> {
    let members = module.debug_names.iter().filter(|i| i.class.opcode == Op::MemberName);
    let names = members.filter_map(|member| match member.operands.last() {
        Some(Operand::LiteralString(name)) => interface::shaped_array(name),
        _ => None,
    });
    names.collect()
}

/// The places of aliased variables that are used. A variable there that is not used describes the memory: in kps
/// kernels it is an array of which only views are accessed.
fn aliased_places(module: &Module, ids: &Ids, reached: &Reached) -> FxHashSet<(u32, u32)> {
    reached_variables(module, reached).filter_map(|variable| aliased_place(ids, &variable)).collect()
}

fn aliased_place(ids: &Ids, variable: &Variable) -> Option<(u32, u32)> {
    ids.has(variable.id, Decoration::Aliased).then(|| place(ids, variable).ok()).flatten()
}

/// One more than the last binding of set 0 that a variable of the module has, without hidden ones.
pub(super) fn n_declared(module: &Module, ids: &Ids) -> u32 {
    let variables = module.types_global_values.iter().filter(|i| i.class.opcode == Op::Variable);
    let bindings = variables.filter_map(|variable| {
        let id = variable.result_id?;
        let is_hidden = ids.name(id).is_some_and(|name| name.starts_with("kps."));
        let is_first = ids.literal(id, Decoration::DescriptorSet) == Some(0);
        ids.literal(id, Decoration::Binding).filter(|_| is_first && !is_hidden)
    });
    bindings.max().map_or(0, |last| last.saturating_add(1))
}

/// The block of push constants.
pub(super) fn push_constants(
    module: &Module,
    ids: &Ids,
    constants: &Constants,
    reached: &Reached,
) -> Result<Option<Block>> {
    let variable =
        reached_variables(module, reached).find(|variable| variable.class == StorageClass::PushConstant);
    let Some(variable) = variable else { return Ok(None) };
    let wrong = |what: String| bad_module(format!("the push constants cannot be laid out: {what}"));
    let ty = pointee(ids, &variable).map_err(wrong)?;
    layout::block(ids, constants, ty).map(Some).map_err(wrong)
}

pub(super) struct Variable<'m> {
    pub id: u32,
    pub class: StorageClass,
    definition: &'m Instruction,
    pub used: Use,
}

pub(super) fn reached_variables<'m>(
    module: &'m Module,
    reached: &'m Reached,
) -> impl Iterator<Item = Variable<'m>> {
    variables(module)
        .filter_map(|variable| Some(Variable { used: reached.variable(variable.id)?, ..variable }))
}

/// All declared variables, used or not.
fn variables(module: &Module) -> impl Iterator<Item = Variable<'_>> {
    module.types_global_values.iter().filter(|i| i.class.opcode == Op::Variable).filter_map(|definition| {
        let id = definition.result_id?;
        let Some(Operand::StorageClass(class)) = definition.operands.first() else { return None };
        Some(Variable { id, class: *class, definition, used: Use::default() })
    })
}

pub(super) fn pointee(ids: &Ids, variable: &Variable) -> std::result::Result<u32, String> {
    let pointer = variable.definition.result_type.and_then(|ty| ids.definition(ty));
    match pointer {
        Some(pointer) if pointer.class.opcode == Op::TypePointer => {
            id_at(pointer, 1).ok_or("its pointer type is broken".to_owned())
        }
        _ => Err("its type is no pointer".to_owned()),
    }
}

/// The descriptor set and binding.
pub(super) fn place(ids: &Ids, variable: &Variable) -> Result<(u32, u32)> {
    let literal = |decoration| ids.literal(variable.id, decoration);
    match (literal(Decoration::DescriptorSet), literal(Decoration::Binding)) {
        (Some(set), Some(binding)) => Ok((set, binding)),
        _ => Err(bad_module(format!("{} has no descriptor set and binding", shown(ids, variable, None)))),
    }
}

fn buffer(ids: &Ids, constants: &Constants, variable: &Variable) -> Result<BufferBinding> {
    let id = variable.id;
    let (set, binding) = place(ids, variable)?;
    let wrong = |what: String| bad_module(format!("{} {what}", shown(ids, variable, Some((set, binding)))));
    let ty = pointee(ids, variable).map_err(|what| wrong(format!("cannot be bound: {what}")))?;
    let struct_type =
        ids.definition(ty).ok_or_else(|| wrong("cannot be bound: it has no type".to_owned()))?;
    if struct_type.class.opcode != Op::TypeStruct {
        return Err(wrong(format!(
            "is {}, which is not supported yet: buffers are",
            resource_words(struct_type)
        )));
    }
    let kind = match variable.class {
        StorageClass::Uniform if !ids.has(ty, Decoration::BufferBlock) => BufferKind::Uniform,
        _ => BufferKind::Storage,
    };
    let layout =
        layout::block(ids, constants, ty).map_err(|what| wrong(format!("cannot be laid out: {what}")))?;
    let access = access(ids, variable, ty, layout.members.len() as u32, kind);
    // Often only the block has a name.
    let name = ids.name(id).or(ids.name(ty)).map(str::to_owned);
    Ok(BufferBinding { set, binding, name, kind, access, layout })
}

/// The access from the instructions. If a pointer could not be followed, decorations decide.
fn access(ids: &Ids, variable: &Variable, ty: u32, n_members: u32, kind: BufferKind) -> Access {
    if kind == BufferKind::Uniform {
        return Access::Read;
    }
    promised(ids, variable.used, &[variable.id], ty, n_members).access()
}

/// The access of a block, as far as decorations of its members, or of one of these ids, do not exclude it.
pub(super) fn promised(ids: &Ids, mut used: Use, variables: &[u32], ty: u32, n_members: u32) -> Use {
    if used.escapes {
        let promised = |decoration| {
            variables.iter().any(|variable| ids.has(*variable, decoration))
                || (n_members > 0 && (0..n_members).all(|member| ids.member_has(ty, member, decoration)))
        };
        used.writes &= !promised(Decoration::NonWritable);
        used.reads &= !promised(Decoration::NonReadable);
    }
    used
}

/// Several variables may alias one buffer with different types. The result has the first one's layout, and
/// the accesses of all that are used.
fn merge_aliases(buffers: Vec<(BufferBinding, bool)>) -> Result<Vec<BufferBinding>> {
    let mut merged: Vec<(BufferBinding, bool)> = Vec::with_capacity(buffers.len());
    for (buffer, is_used) in buffers {
        match merged.last_mut() {
            Some((last, is_last_used)) if (last.set, last.binding) == (buffer.set, buffer.binding) => {
                if last.kind != buffer.kind {
                    return Err(bad_module(format!(
                        "set {} binding {} is both a uniform and a storage buffer",
                        buffer.set, buffer.binding
                    )));
                }
                if is_used && !*is_last_used {
                    last.access = buffer.access;
                } else if is_used && last.access != buffer.access {
                    last.access = Access::ReadWrite;
                }
                *is_last_used |= is_used;
            }
            _ => merged.push((buffer, is_used)),
        }
    }
    Ok(merged.into_iter().map(|(buffer, _)| buffer).collect())
}

pub(super) fn shown(ids: &Ids, variable: &Variable, place: Option<(u32, u32)>) -> String {
    let name = ids.name(variable.id).map_or(format!("%{}", variable.id), |name| format!("`{name}`"));
    match place {
        Some((set, binding)) => format!("{name} at set {set} binding {binding}"),
        None => name,
    }
}

fn resource_words(ty: &Instruction) -> String {
    match ty.class.opcode {
        Op::TypeArray | Op::TypeRuntimeArray => "an array of resources".to_owned(),
        _ => format!("an `Op{}`", ty.class.opname),
    }
}
