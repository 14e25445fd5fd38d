//! The arrays that are accessed by addresses in the push constants.
//!
//! Only members that are named as in the kernel ABI, and from which a pointer is made, count. Other uses of
//! addresses in external modules are ignored.

use rspirv::dr::Module;
use rspirv::spirv::{Decoration, StorageClass};

use super::access::Reached;
use super::constants::Constants;
use super::ids::Ids;
use super::resources::{pointee, promised, reached_variables};
use super::{bad_module, layout};
use crate::Result;
use crate::interface::{ADDRESS, AddressedArray};

pub(super) fn addresses(
    module: &Module,
    ids: &Ids,
    constants: &Constants,
    reached: &Reached,
) -> Result<Vec<AddressedArray>> {
    let push = reached_variables(module, reached).find(|one| one.class == StorageClass::PushConstant);
    let Some(Ok(ty)) = push.map(|push| pointee(ids, &push)) else { return Ok(Vec::new()) };
    let mut addresses = Vec::new();
    for (member, address) in reached.addresses() {
        let Some(name) = ids.member_name(ty, member).and_then(|name| name.strip_prefix(ADDRESS)) else {
            continue;
        };
        let wrong = |what: &str| bad_module(format!("the address `{name}` cannot be given: {what}"));
        let (name, slot) = name.rsplit_once('.').unwrap_or((name, ""));
        let slot = slot.parse().map_err(|_| wrong("its name does not end in the number of an array"))?;
        let offset = ids.member_literal(ty, member, Decoration::Offset);
        let offset = offset.ok_or_else(|| wrong("it has no offset"))?;
        let layout = layout::block(ids, constants, address.block).map_err(|what| wrong(&what))?;
        let used = promised(ids, address.used, &[], address.block, layout.members.len() as u32);
        let (name, access) = (name.to_owned(), used.access());
        addresses.push(AddressedArray { offset, name, slot, access, layout });
    }
    addresses.sort_by_key(|array| array.offset);
    Ok(addresses)
}
