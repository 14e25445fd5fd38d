//! The options of `@kernel(..)`, as a running script gives them, and as the tree of a script that was only
//! read shows them.
//!
//! Values, or what is known of them, go in; parts of [`KernelOptions`], or an error, come out. Options that
//! depend on the device, such as the size of workgroups, are checked at the launch.

use kps_kernel::{EnvValue, KernelOptions};

use super::errors;
use crate::modules::kp;
use crate::value::{Parser, Result, Value};
use crate::vm::Vm;

/// Options of `@kernel`, in the order in which errors list them.
pub const NAMES: [&str; 5] = ["local_size", "subgroup_size", "precise", "tune", "key"];

/// Options of kernels whose constants are chosen by measurement: see `stdlib/src/modules/_tuned.kps`.
pub const OF_TUNED: [&str; 2] = ["tune", "key"];

/// The keywords of a call without further arguments.
pub fn read(vm: &mut Vm, mut parser: Parser) -> Result<KernelOptions> {
    let [local_size, subgroup_size, precise] =
        ["local_size", "subgroup_size", "precise"].map(|name| parser.keyword_only(name));
    let other = parser.left_over().map(str::to_owned);
    parser.finish().map_err(|raise| errors::not_an_option(raise, other.as_deref()))?;
    let is_given = |given: &&Value| !given.is_none();
    let local_size = local_size.filter(is_given).map(|given| read_local_size(vm, given)).transpose()?;
    let subgroup_size =
        subgroup_size.filter(is_given).map(|given| read_subgroup_size(vm, given)).transpose()?;
    let precise = match precise {
        Some(Value::Bool(precise)) => *precise,
        Some(_) => return Err(errors::bad_option("precise")),
        None => false,
    };
    Ok(KernelOptions { local_size, precise, subgroup_size, ..KernelOptions::kernel() })
}

fn read_local_size(vm: &mut Vm, given: &Value) -> Result<[u32; 3]> {
    let wrong = || errors::bad_option("local_size");
    let axes = kp::axes(vm, given)?.ok_or_else(wrong)?;
    let mut sizes = Vec::with_capacity(axes.len());
    for axis in &axes {
        sizes.push(kp::count(vm, axis)?.ok_or_else(wrong)?.into());
    }
    local_size(&sizes).ok_or_else(wrong)
}

/// Invocations of a subgroup, also for `mgr.algorithm`.
pub fn read_subgroup_size(vm: &mut Vm, given: &Value) -> Result<u32> {
    let size = kp::count(vm, given)?.map(i128::from).and_then(subgroup_size);
    size.ok_or_else(|| errors::bad_option("subgroup_size"))
}

/// One to three axes; missing ones are 1.
fn local_size(axes: &[i128]) -> Option<[u32; 3]> {
    let mut local_size = [1; 3];
    if axes.is_empty() || axes.len() > local_size.len() {
        return None;
    }
    for (place, axis) in local_size.iter_mut().zip(axes) {
        *place = u32::try_from(*axis).ok().filter(|n| *n > 0)?;
    }
    Some(local_size)
}

/// A size that Vulkan's subgroups may have.
fn subgroup_size(size: i128) -> Option<u32> {
    u32::try_from(size).ok().filter(|size| size.is_power_of_two() && *size <= 128)
}

/// What is known of an option's value without running the script.
pub enum Known<T> {
    Value(T),
    /// Only known at run time.
    Later,
    Wrong,
}

impl<T> Known<T> {
    fn read<U>(self, read: impl FnOnce(T) -> Option<U>) -> Known<U> {
        match self {
            Known::Value(value) => read(value).map_or(Known::Wrong, Known::Value),
            Known::Later => Known::Later,
            Known::Wrong => Known::Wrong,
        }
    }
}

pub fn known_local_size(value: &EnvValue) -> Known<[u32; 3]> {
    let axes = match value {
        EnvValue::Tuple(axes) | EnvValue::List(axes) => &axes[..],
        axis => std::slice::from_ref(axis),
    };
    let known = axes.iter().try_fold(Vec::new(), |mut sizes, axis| match known_count(axis) {
        Known::Value(size) => {
            sizes.push(size);
            Ok(sizes)
        }
        Known::Later => Err(Known::Later),
        Known::Wrong => Err(Known::Wrong),
    });
    match known {
        Ok(sizes) => Known::Value(sizes).read(|sizes| local_size(&sizes)),
        Err(unknown) => unknown,
    }
}

pub fn known_subgroup_size(value: &EnvValue) -> Known<u32> {
    known_count(value).read(subgroup_size)
}

pub fn known_precise(value: &EnvValue) -> Known<bool> {
    match value {
        EnvValue::Bool(precise) => Known::Value(*precise),
        EnvValue::Unknown => Known::Later,
        _ => Known::Wrong,
    }
}

fn known_count(value: &EnvValue) -> Known<i128> {
    match value {
        EnvValue::Int(value) => Known::Value(*value),
        EnvValue::Constant(constant) => Known::Value(constant).read(|constant| constant.as_int()),
        // A tuned kernel computes its sizes.
        EnvValue::Unknown | EnvValue::Function(_) => Known::Later,
        _ => Known::Wrong,
    }
}
