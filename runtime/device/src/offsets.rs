//! Checks that structures behind physical addresses have an `Offset` on every member. The validator assumes
//! it without a check.

use rspirv::spirv::{Decoration, Op, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::words::{instructions, opcode};

/// Refuses a module with a structure that the validator would measure and that has no offsets. Binaries that
/// are not SPIR-V are left to the validator.
pub fn check(words: &[u32]) -> Result<(), String> {
    let mut offsets: FxHashSet<(u32, u32)> = FxHashSet::default();
    let mut parts: FxHashMap<u32, &[u32]> = FxHashMap::default();
    let mut structs: FxHashSet<u32> = FxHashSet::default();
    let mut open: Vec<u32> = Vec::new();
    for (_, inst) in instructions(words) {
        match (Op::from_u32(opcode(inst)), inst) {
            (Some(Op::MemberDecorate), [_, ty, member, decoration, ..])
                if *decoration == Decoration::Offset as u32 =>
            {
                offsets.insert((*ty, *member));
            }
            // Which of a group's decorations counts does not matter: all members have the same.
            (Some(Op::GroupMemberDecorate), [_, _, members @ ..]) => {
                offsets.extend(members.chunks_exact(2).map(|pair| (pair[0], pair[1])));
            }
            (Some(Op::TypeStruct), [_, ty, members @ ..]) => {
                parts.insert(*ty, members);
                structs.insert(*ty);
            }
            (Some(Op::TypeArray | Op::TypeRuntimeArray), [_, ty, element, ..]) => {
                parts.insert(*ty, std::slice::from_ref(element));
            }
            (Some(Op::TypePointer), [_, _, class, pointee])
                if *class == StorageClass::PhysicalStorageBuffer as u32 =>
            {
                open.push(*pointee);
            }
            // Types come before this.
            (Some(Op::Function), _) => break,
            _ => {}
        }
    }
    let mut seen = FxHashSet::default();
    while let Some(ty) = open.pop() {
        if !seen.insert(ty) {
            continue;
        }
        let members = parts.get(&ty).copied().unwrap_or_default();
        if structs.contains(&ty)
            && let Some(member) = (0..members.len() as u32).find(|member| !offsets.contains(&(ty, *member)))
        {
            return Err(format!(
                "structure %{ty} is reached by address, and its member {member} has no `Offset`"
            ));
        }
        open.extend_from_slice(members);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::tools::{assemble, validate};

    #[test]
    fn structures_that_are_reached_by_address_need_their_offsets() {
        let check = |offsets: &str, expect: Option<&str>| {
            let text = format!(
                "OpCapability Shader\nOpCapability PhysicalStorageBufferAddresses\n\
                 OpMemoryModel PhysicalStorageBuffer64 GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
                 OpExecutionMode %main LocalSize 1 1 1\n{offsets}OpMemberDecorate %outer 0 Offset 0\n\
                 OpDecorate %outer Block\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
                 %uint = OpTypeInt 32 0\n%inner = OpTypeStruct %uint %uint\n%outer = OpTypeStruct %inner\n\
                 %ptr = OpTypePointer PhysicalStorageBuffer %outer\n%main = OpFunction %void None %fn\n\
                 %entry = OpLabel\nOpReturn\nOpFunctionEnd\n"
            );
            let words = assemble(&text).expect("it is assembly");
            let said = validate(&words).err().map(|error| error.to_string());
            assert_eq!(said.is_some(), expect.is_some(), "{said:?}");
            assert!(said.unwrap_or_default().ends_with(expect.unwrap_or_default()), "{offsets}");
        };
        let first = "OpMemberDecorate %inner 0 Offset 0\n";
        check(&format!("{first}OpMemberDecorate %inner 1 Offset 4\n"), None);
        check(first, Some("is reached by address, and its member 1 has no `Offset`"));
        check("", Some("is reached by address, and its member 0 has no `Offset`"));
    }
}
