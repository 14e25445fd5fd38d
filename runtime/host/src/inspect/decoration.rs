//! What the decorator of a kernel says, read off the tree.

use kps_kernel::{EnvValue, KernelEnv, KernelOptions};
use kps_syntax::ast::*;
use num_traits::ToPrimitive;

use super::names::StaticEnv;

/// The options of a kernel. What is wrong in one is told when the script runs.
pub(super) struct Decoration {
    pub options: KernelOptions,
    /// It gives a local size that only running the script can tell.
    pub has_unknown_size: bool,
}

/// What `@kernel`, `@kernel(..)`, `@kp.kernel` or `@python2shader` says; `None` for other decorators.
pub(super) fn decoration(decorator: &Expr, env: &StaticEnv) -> Option<Decoration> {
    match &decorator.kind {
        ExprKind::Call { func, args } => {
            let mut decoration = decoration(func, env)?;
            args.iter().for_each(|argument| decoration.set(argument, env));
            Some(decoration)
        }
        ExprKind::Attribute { attr, .. } => by_name(&attr.name),
        ExprKind::Name(name) => match env.get(name) {
            // A function of the user's own by that name hides ours.
            Some(EnvValue::Function(_)) => None,
            _ => by_name(name),
        },
        _ => None,
    }
}

fn by_name(name: &str) -> Option<Decoration> {
    let options = match name {
        "kernel" => KernelOptions::kernel(),
        "python2shader" => KernelOptions::python2shader(),
        _ => return None,
    };
    Some(Decoration { options, has_unknown_size: false })
}

impl Decoration {
    fn set(&mut self, argument: &Argument, env: &StaticEnv) {
        let ArgumentKind::Keyword(name, value) = &argument.kind else { return };
        match &*name.name {
            "precise" => self.options.precise = matches!(value.kind, ExprKind::True),
            "subgroup_size" => {
                self.options.subgroup_size = int(value, env).and_then(|size| u32::try_from(size).ok());
            }
            "local_size" => {
                self.options.local_size = local_size(value, env);
                self.has_unknown_size = self.options.local_size.is_none();
            }
            _ => {}
        }
    }
}

/// A number, or up to three of them; missing axes are 1.
fn local_size(value: &Expr, env: &StaticEnv) -> Option<[u32; 3]> {
    let sizes = match &value.kind {
        ExprKind::Tuple(sizes) | ExprKind::List(sizes) => &sizes[..],
        _ => std::slice::from_ref(value),
    };
    let mut local_size = [1; 3];
    if sizes.len() > local_size.len() {
        return None;
    }
    for (axis, size) in local_size.iter_mut().zip(sizes) {
        *axis = u32::try_from(int(size, env)?).ok()?;
    }
    Some(local_size)
}

/// An int that is written out, or computed from such.
fn int(expr: &Expr, env: &StaticEnv) -> Option<i128> {
    match &expr.kind {
        ExprKind::Int(value) => value.to_i128(),
        ExprKind::Name(name) => match env.get(name)? {
            EnvValue::Int(value) => Some(value),
            _ => None,
        },
        ExprKind::Binary { op, left, right, .. } => {
            let (left, right) = (int(left, env)?, int(right, env)?);
            match op {
                BinaryOp::Add => left.checked_add(right),
                BinaryOp::Sub => left.checked_sub(right),
                BinaryOp::Mul => left.checked_mul(right),
                BinaryOp::FloorDiv if right > 0 => Some(left.div_euclid(right)),
                _ => None,
            }
        }
        _ => None,
    }
}
