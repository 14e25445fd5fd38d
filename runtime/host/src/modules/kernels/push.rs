//! Reorders numbers for scalar parameters: from the order of a kernel's parameters to that of its blocks. The
//! blocks are the push constants, and the uniform buffer with the numbers that do not fit there.

use std::rc::Rc;

use kps_compute::{Number, Push};
use kps_kernel::{Binding, BindingPlace, KernelModule, Type};

use super::arguments::narrowed;
use super::object::Kernel;
use crate::value::{Result, Value};

/// Where a number is stored. ORDER: the push constants come before the uniform buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    Push(u32),
    Uniform(u32),
}

/// Where a parameter's numbers are stored, with their type; `None` for other parameters.
pub fn spot(place: &BindingPlace) -> Option<(Spot, &Type)> {
    match place {
        BindingPlace::PushConstant { offset, ty } => Some((Spot::Push(*offset), ty)),
        BindingPlace::Uniform { offset, ty } => Some((Spot::Uniform(*offset), ty)),
        _ => None,
    }
}

/// The numbers of all parameters, in the order in which the blocks list their members.
pub fn in_blocks(mut numbers: Vec<(Spot, &[Number])>) -> Push {
    numbers.sort_by_key(|(spot, _)| *spot);
    of_numbers(numbers.iter().flat_map(|(_, numbers)| numbers.iter().copied()).collect())
}

/// Numbers in that order.
pub fn of_numbers(numbers: Vec<Number>) -> Push {
    if numbers.is_empty() { Push::Default } else { Push::Numbers(numbers) }
}

/// A kernel object whose module an algorithm runs.
pub struct PushedKernel {
    kernel: Value,
    module: Rc<KernelModule>,
}

impl PushedKernel {
    /// `kernel` is a kernel object, from which `module` was compiled.
    pub fn new(kernel: Value, module: Rc<KernelModule>) -> PushedKernel {
        PushedKernel { kernel, module }
    }

    /// Rearranges numbers given in the order of the parameters. An error if a narrow type cannot hold one; a
    /// wrong count is reported by the caller.
    pub fn arranged(&self, push: Push) -> Result<Push> {
        let Push::Numbers(numbers) = &push else { return Ok(push) };
        let template = &self.kernel.downcast::<Kernel>().expect("made of one").template;
        let mut bindings: Vec<(&Binding, Spot, &Type)> = Vec::new();
        for binding in &self.module.bindings {
            bindings.extend(spot(&binding.place).map(|(spot, ty)| (binding, spot, ty)));
        }
        bindings.sort_by_key(|(binding, ..)| binding.param_idx);
        let mut placed = Vec::new();
        let mut rest = &numbers[..];
        for (binding, spot, ty) in bindings {
            let Some((own, others)) = rest.split_at_checked(ty.numbers().len()) else { return Ok(push) };
            rest = others;
            let own = match ty.scalar().filter(|_| !ty.is_aggregate()) {
                Some(scalar) => {
                    let name = &template.params[binding.param_idx].name.name;
                    narrowed(template, name, scalar, own.to_vec())?
                }
                None => own.to_vec(),
            };
            placed.push((spot, own));
        }
        if !rest.is_empty() {
            return Ok(push);
        }
        Ok(in_blocks(placed.iter().map(|(spot, own)| (*spot, &own[..])).collect()))
    }
}
