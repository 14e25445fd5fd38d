//! How many indices a function applies to each of its lists.
//!
//! A list of which a function reads only numbers cannot be changed or aliased by it.

use kps_syntax::Part;
use kps_syntax::ast::{Expr, ExprKind, Name, Stmt, StmtKind};
use kps_syntax::scope::root_name;
use rustc_hash::FxHashMap;

use super::free::free_paths;
use crate::builtins::{self, Builtin, Lists};

/// For each name, the smallest number of indices in all its uses: 1 for `a[i]`, 2 for `a[i][j]`, also through `row =
/// a[i]` and `for row in a`. Any other use counts as 0. `is_free` says whether the script does not define a name.
pub(crate) fn reading_depths(body: &[Stmt], is_free: &dyn Fn(&str) -> bool) -> FxHashMap<Name, usize> {
    let mut depths = Depths { found: FxHashMap::default(), named: Vec::new(), is_free };
    depths.block(body);
    while depths.read_by_names() {}
    depths.found
}

struct Depths<'d> {
    found: FxHashMap<Name, usize>,
    named: Vec<Named<'d>>,
    is_free: &'d dyn Fn(&str) -> bool,
}

/// Names for parts at one depth of a value.
struct Named<'d> {
    names: Vec<&'d Name>,
    value: &'d Expr,
    depth: usize,
}

impl<'d> Depths<'d> {
    fn block(&mut self, body: &'d [Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'d Stmt) {
        let named = match &stmt.kind {
            StmtKind::For { target, iter, .. } => named(target, iter, 1),
            StmtKind::Assign { targets, value } => match &targets[..] {
                [target] if matches!(target.kind, ExprKind::Name(_)) => named(target, value, 0),
                _ => None,
            },
            StmtKind::Function(def) => {
                for (path, _) in free_paths(def) {
                    self.mention(path.split('.').next().unwrap_or(&path), 0);
                }
                None
            }
            _ => None,
        };
        let value = named.as_ref().map(|named| named.value);
        self.named.extend(named);
        stmt.each_part(&mut |part| match part {
            Part::Expr(expr) if value.is_some_and(|value| std::ptr::eq(value, expr)) => {}
            Part::Expr(expr) => self.reads(expr, 0),
            Part::Place(place) => {
                root_name(place).iter().for_each(|name| self.mention(name, 0));
                self.reads(place, 0);
            }
            Part::Name(..) => {}
            Part::Block(body) => self.block(body),
        });
    }

    /// Follows reads through other names; false if that changes nothing.
    fn read_by_names(&mut self) -> bool {
        let before = self.found.clone();
        for Named { names, value, depth } in std::mem::take(&mut self.named) {
            let further = names.iter().map(|name| self.found.get(*name).copied().unwrap_or(usize::MAX)).min();
            self.reads(value, depth.saturating_add(further.unwrap_or(usize::MAX)));
            self.named.push(Named { names, value, depth });
        }
        self.found != before
    }

    /// An expression of whose value elements of elements are read, so many deep.
    fn reads(&mut self, expr: &Expr, depth: usize) {
        match &expr.kind {
            ExprKind::Name(name) => self.mention(name, depth),
            ExprKind::Subscript { value, index } => {
                self.reads(index, 0);
                let is_slice = matches!(index.kind, ExprKind::Slice { .. });
                self.reads(value, if is_slice { 0 } else { depth.saturating_add(1) });
            }
            ExprKind::Call { func, args } => {
                let depth = match &func.kind {
                    ExprKind::Name(name) if (self.is_free)(name) => depth_in_call(name, depth),
                    _ => 0,
                };
                self.reads(func, 0);
                args.iter().for_each(|arg| self.reads(arg.value(), depth));
            }
            ExprKind::Walrus { target, value } => {
                self.mention(&target.name, 0);
                self.reads(value, 0);
            }
            _ => expr.each_child(&mut |child| self.reads(child, 0)),
        }
    }

    fn mention(&mut self, name: &str, depth: usize) {
        let least = self.found.entry(name.into()).or_insert(depth);
        *least = depth.min(*least);
    }
}

fn depth_in_call(function: &str, depth: usize) -> usize {
    let Some(Builtin::Function(function)) = builtins::lookup(function) else { return 0 };
    match function.lists {
        Lists::Consumes => usize::MAX,
        Lists::Walks => depth,
        Lists::Counts | Lists::Other => 0,
    }
}

/// `None` where a target is not made of names alone.
fn named<'d>(target: &'d Expr, value: &'d Expr, depth: usize) -> Option<Named<'d>> {
    let (mut names, mut is_other) = (Vec::new(), false);
    target.each_target(&mut |part| match part {
        Part::Name(name, _) => names.push(name),
        _ => is_other = true,
    });
    (!is_other).then_some(Named { names, value, depth })
}
