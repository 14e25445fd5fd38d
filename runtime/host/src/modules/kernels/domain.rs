//! The origin of a launch's domain: whose shape it is, what is written in it, and its unused axes.
//!
//! A kernel with its arguments goes in; the text of a help or a warning comes out. Nothing here changes a
//! launch.

use kps_kernel::{KernelTemplate, ParamKind};
use kps_syntax::Diagnostic;
use kps_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};
use kps_syntax::visit::Part;

/// The invocations of a launch without `groups=`, and the origin of their number.
#[derive(Clone, Debug)]
pub struct Domain {
    pub shape: Vec<usize>,
    /// The first array, which has this shape; `None` if the call gives it.
    pub of: Option<String>,
}

impl Domain {
    /// Invocations along x, y or z: the last axis of a shape is along x.
    pub fn along(&self, axis: usize) -> usize {
        self.shape.iter().rev().nth(axis).copied().unwrap_or(1)
    }

    pub fn n_invocations(&self) -> usize {
        self.shape.iter().product()
    }
}

/// `20 x 13`
pub fn shape_text(shape: &[usize]) -> String {
    let axes: Vec<String> = shape.iter().map(usize::to_string).collect();
    axes.join(" x ")
}

/// A warning for a domain of several axes if the kernel reads only its position along x: all invocations with
/// the same x do the same. Numba's `kernel[blocks, threads]` has this form. `elements` is the default domain.
pub fn idle_axes(template: &KernelTemplate, domain: &[usize], elements: &[usize]) -> Option<Diagnostic> {
    let [others @ .., x] = domain else { return None };
    let n_alike: usize = others.iter().product();
    if n_alike < 2 || *x == 0 || !uses_only_x(template) {
        return None;
    }
    let name = template.name();
    let axes: Vec<String> = domain.iter().map(usize::to_string).collect();
    let message = format!(
        "the domain of `{name}[{}]` has {} axes, and the kernel asks for `global_id.x` alone, which is below {x}: \
         {n_alike} invocations do the same each time",
        axes.join(", "),
        domain.len(),
    );
    let n: usize = elements.iter().product();
    let help = format!(
        "a domain counts invocations along each axis, not blocks and threads: write `{name}[{n}](..)`, or \
         `{name}(..)` for one invocation for each element of the first array"
    );
    Some(Diagnostic::warning("launch/idle-axes", message).help(help))
}

/// Whether the kernel reads only `global_id.x` of its position; functions that it calls may read more.
fn uses_only_x(template: &KernelTemplate) -> bool {
    let mut asked = Asked::default();
    template.def.body.iter().for_each(|stmt| asked.stmt(stmt));
    let has_inputs = template.params.iter().any(|param| matches!(param.kind, ParamKind::Input { .. }));
    asked.x && !asked.more && !has_inputs
}

/// The parts of an invocation's position that a kernel's text reads.
#[derive(Default)]
struct Asked {
    x: bool,
    more: bool,
}

impl Asked {
    fn stmt(&mut self, stmt: &Stmt) {
        self.more |= matches!(stmt.kind, StmtKind::Function(_) | StmtKind::Class(_));
        stmt.each_part(&mut |part| match part {
            Part::Expr(expr) | Part::Place(expr) => self.expr(expr),
            Part::Block(body) => body.iter().for_each(|stmt| self.stmt(stmt)),
            Part::Name(..) => {}
        });
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Attribute { value, attr } if is_name(value, "global_id") && &*attr.name == "x" => {
                self.x = true;
                return;
            }
            ExprKind::Name(name) => self.more |= kps_kernel::is_place(name),
            ExprKind::Call { func, .. } => {
                let is_known = match &func.kind {
                    ExprKind::Name(name) => kps_kernel::is_name(name),
                    _ => true,
                };
                self.more |= !is_known;
            }
            _ => {}
        }
        expr.each_child(&mut |child: &Expr| self.expr(child));
    }
}

fn is_name(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(found) if &**found == name)
}
