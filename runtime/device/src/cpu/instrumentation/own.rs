//! Finds buffers and images of which each invocation accesses only one element, its own. They cannot race in
//! a dispatch whose invocations differ only along these axes.

use rustc_hash::FxHashMap;

use crate::cpu::lane::{Address, Binary, Builtin, Convert, Def, Kernel, Op, Space, Value};

/// Axes of a dispatch, x first.
pub type Axes = [bool; 3];

/// For each buffer, then for each image, the axes along which invocations must differ so that their elements
/// do.
pub fn find(kernel: &Kernel) -> Vec<Option<Axes>> {
    let mut own = buffers(kernel);
    own.extend(images(kernel));
    own
}

/// Buffers that are accessed only at the element of the invocation's id along x.
fn buffers(kernel: &Kernel) -> Vec<Option<Axes>> {
    let insts = || kernel.blocks.iter().flat_map(|block| &block.insts);
    let defs: FxHashMap<Value, &Op> = insts().filter_map(|inst| Some((inst.result?, &inst.op))).collect();
    let mut own = vec![true; kernel.buffers.len()];
    // The stride between elements, and the offset of the first access in one.
    let mut elements: Vec<Option<u64>> = vec![None; kernel.buffers.len()];
    for inst in insts() {
        let Op::Address(Address { space, dynamic, constant, size, .. }) = inst.op else { continue };
        let Space::Buffer(buffer) = space else { continue };
        let stride = dynamic.and_then(|dynamic| stride(kernel, &defs, dynamic));
        let known = elements[buffer as usize].or(stride);
        own[buffer as usize] &= stride.is_some()
            && stride == known
            && stride.is_some_and(|stride| constant + u64::from(size) <= stride);
        elements[buffer as usize] = known;
    }
    own.into_iter().map(|own| own.then_some([true, false, false])).collect()
}

/// Images that are accessed only at one texel, whose coordinates are ids of the invocation.
fn images(kernel: &Kernel) -> Vec<Option<Axes>> {
    let mut places: Vec<Option<[Value; 3]>> = vec![None; kernel.images.len()];
    let mut is_one = vec![true; kernel.images.len()];
    for inst in kernel.blocks.iter().flat_map(|block| &block.insts) {
        if let Op::Image { image, place, .. } | Op::Texel { image, place } = inst.op {
            let known = *places[image as usize].get_or_insert(place);
            is_one[image as usize] &= same(kernel, known, place);
        }
    }
    let axes = |(place, is_one): (Option<[Value; 3]>, bool)| axes(kernel, place.filter(|_| is_one)?);
    places.into_iter().zip(is_one).map(axes).collect()
}

fn same(kernel: &Kernel, a: [Value; 3], b: [Value; 3]) -> bool {
    let def = |value: Value| &kernel.values[value.0 as usize].def;
    a.iter().zip(b).all(|(&a, b)| a == b || !matches!(def(a), Def::Inst(_)) && def(a) == def(b))
}

/// The axes of the ids in the coordinates; other coordinates are constant.
fn axes(kernel: &Kernel, place: [Value; 3]) -> Option<Axes> {
    let mut axes = [false; 3];
    for at in place {
        match kernel.values[at.0 as usize].def {
            Def::Builtin(Builtin::GlobalId(axis)) => axes[axis as usize] = true,
            Def::Const(_) => {}
            _ => return None,
        }
    }
    Some(axes)
}

/// The factor of a value that is the invocation's id along x times a constant.
fn stride(kernel: &Kernel, defs: &FxHashMap<Value, &Op>, value: Value) -> Option<u64> {
    let Op::Binary(Binary::Mul, id, factor) = **defs.get(&value)? else { return None };
    let Def::Const(factor) = kernel.values[factor.0 as usize].def else { return None };
    let Op::Convert(Convert::SignExtend | Convert::ZeroExtend, id) = **defs.get(&id)? else { return None };
    let is_id = kernel.values[id.0 as usize].def == Def::Builtin(Builtin::GlobalId(0));
    (is_id && factor < 1 << 16).then_some(factor)
}
