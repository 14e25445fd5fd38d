//! Finds the guard at the start of a kernel: the test whether an invocation is inside the domain. Workgroups
//! wholly inside run the kernel without it.

use super::{Address, Binary, Builtin, Compare, Def, Kernel, Op, Space, Terminator, Value};

pub struct Guard {
    bounds: Vec<Bound>,
    local_size: [u32; 3],
    /// The kernel without the test.
    pub inside: Kernel,
}

/// The global id along `axis` must be below the push constant at `offset`.
struct Bound {
    axis: usize,
    offset: usize,
}

impl Guard {
    /// Number of whole workgroups inside, from the first along each axis.
    pub fn groups_inside(&self, push: &[u8]) -> [u32; 3] {
        let mut groups = [u32::MAX; 3];
        for &Bound { axis, offset } in &self.bounds {
            let word = push.get(offset..offset + 4).and_then(|bytes| bytes.try_into().ok());
            let bound = word.map_or(0, u32::from_le_bytes);
            groups[axis] = groups[axis].min(bound / self.local_size[axis]);
        }
        groups
    }
}

/// Finds the guard at the start of a kernel.
pub fn find(kernel: &Kernel) -> Option<Guard> {
    let mut at = kernel.entry;
    // Each step leads to a new block: no edge of these goes back.
    for _ in 0..kernel.blocks.len() {
        match &kernel.blocks[at.0 as usize].end {
            Terminator::Jump(edge) => at = edge.to,
            Terminator::Branch { condition, then, .. } => {
                let mut bounds = Vec::new();
                find_bounds(kernel, *condition, &mut bounds)?;
                let mut inside = kernel.clone();
                inside.blocks[at.0 as usize].end = Terminator::Jump(then.clone());
                return Some(Guard { bounds, local_size: kernel.local_size, inside });
            }
            _ => return None,
        }
    }
    None
}

/// Splits a condition that consists of bounds only.
fn find_bounds(kernel: &Kernel, condition: Value, bounds: &mut Vec<Bound>) -> Option<()> {
    match *definition(kernel, condition)? {
        Op::Binary(Binary::And, a, b) => {
            find_bounds(kernel, a, bounds)?;
            find_bounds(kernel, b, bounds)
        }
        Op::Compare(Compare::LtU, index, len) => {
            let Def::Builtin(Builtin::GlobalId(axis)) = kernel.values[index.0 as usize].def else {
                return None;
            };
            bounds.push(Bound { axis: usize::from(axis), offset: push_constant(kernel, len)? });
            Some(())
        }
        _ => None,
    }
}

/// The offset of the push constant that a value is loaded from.
fn push_constant(kernel: &Kernel, value: Value) -> Option<usize> {
    let Op::Load { address, offset, .. } = *definition(kernel, value)? else { return None };
    match *definition(kernel, address)? {
        Op::Address(Address { space: Space::Push, dynamic: None, constant, .. }) => {
            usize::try_from(constant + u64::from(offset)).ok()
        }
        _ => None,
    }
}

fn definition(kernel: &Kernel, value: Value) -> Option<&Op> {
    let Def::Inst(block) = kernel.values[value.0 as usize].def else { return None };
    let insts = &kernel.blocks[block.0 as usize].insts;
    insts.iter().find(|inst| inst.result == Some(value)).map(|inst| &inst.op)
}
