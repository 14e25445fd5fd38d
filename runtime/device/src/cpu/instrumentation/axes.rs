//! The lengths of array axes, which launches of kps kernels pass in memory. It splits a flat index into an
//! index for each axis.

use rspirv::spirv::StorageClass;

use super::Extent;
use crate::cpu::lane::Kernel;
use crate::cpu::module::types::Type;
use crate::cpu::module::{Global, Module};
use crate::findings::{ArrayName, Part};
use crate::interface::{SHAPE, SPILL_NAME};

/// The place of a length in memory.
#[derive(Clone, Copy, Debug)]
pub struct AxisLen {
    place: Place,
    offset: usize,
    n_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Push,
    /// Its index in the kernel.
    Buffer(usize),
}

/// For each named array, the places of its axes' lengths after the first; empty for one axis.
pub fn find(kernel: &Kernel, module: &Module<'_>) -> Vec<Vec<AxisLen>> {
    let of = |name: &Option<ArrayName>| match name {
        Some(ArrayName::Name(name)) => axes(kernel, module, name),
        _ => Vec::new(),
    };
    kernel.arrays.iter().map(|array| of(&array.name)).collect()
}

fn axes(kernel: &Kernel, module: &Module<'_>, array: &str) -> Vec<AxisLen> {
    let prefix = format!("{SHAPE}{array}.");
    let mut axes: Vec<(u32, AxisLen)> = Vec::new();
    for global in &module.globals {
        let (Some(place), Type::Struct(members)) =
            (place(kernel, module, global), module.types.get(global.pointee))
        else {
            continue;
        };
        axes.extend(members.iter().filter_map(|member| {
            let axis = member.name.as_ref()?.strip_prefix(&prefix)?.parse().ok()?;
            let (scalar, _) = module.types.as_scalars(member.ty)?;
            Some((axis, AxisLen { place, offset: member.offset? as usize, n_bytes: scalar.size() }))
        }));
    }
    axes.retain(|(axis, _)| *axis > 0);
    axes.sort_by_key(|(axis, _)| *axis);
    let is_complete = axes.iter().zip(1..).all(|((axis, _), expected)| *axis == expected);
    if is_complete { axes.into_iter().map(|(_, len)| len).collect() } else { Vec::new() }
}

/// The place of a block that may contain lengths.
fn place(kernel: &Kernel, module: &Module<'_>, global: &Global) -> Option<Place> {
    if global.class == StorageClass::PushConstant {
        return Some(Place::Push);
    }
    let is_spill = module.names.get(&global.id).is_some_and(|name| name == SPILL_NAME);
    let slot = (global.set?, global.binding?);
    let buffer = kernel.buffers.iter().position(|known| *known == slot).filter(|_| is_spill);
    buffer.map(Place::Buffer)
}

/// Splits the first index of a path into its axes.
pub fn unflatten(path: &mut [Part], axes: &[AxisLen], extent: &Extent) {
    let (Some(Part::Index(index)), false) = (path.first_mut(), axes.is_empty()) else { return };
    let lens: Option<Vec<u64>> = axes.iter().map(|axis| axis.read(extent)).collect();
    let Some(lens) = lens else { return };
    let mut flat = index[0];
    let mut unflattened = Vec::new();
    for len in lens.iter().rev() {
        unflattened.push(flat % len.max(&1));
        flat /= len.max(&1);
    }
    unflattened.push(flat);
    index.splice(..1, unflattened.into_iter().rev());
}

impl AxisLen {
    fn read(self, extent: &Extent) -> Option<u64> {
        let mut bytes = [0; 8];
        let to = bytes.get_mut(..self.n_bytes)?;
        match self.place {
            Place::Push => to.copy_from_slice(extent.push.get(self.offset..self.offset + self.n_bytes)?),
            Place::Buffer(buffer) => {
                let buffer = extent.buffers.get(buffer)?;
                let address = buffer.start + self.offset as u64;
                if !buffer.has(address, self.n_bytes as u64) {
                    return None;
                }
                // SAFETY: the bytes are inside a buffer that is bound while the dispatch runs, and that no
                // kernel writes.
                unsafe { std::ptr::copy_nonoverlapping(address as *const u8, to.as_mut_ptr(), self.n_bytes) };
            }
        }
        Some(u64::from_le_bytes(bytes))
    }
}
