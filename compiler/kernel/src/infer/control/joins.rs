//! Joins of control flow: what each variable is where paths join.
//!
//! In: the paths, with the changes on each. Out: one binding for each variable, and the stores that each path
//! makes for it. If the paths have different values, the variable gets a local, one for each name and type, and
//! each path stores to it. If they have different types, the variable is in conflict. That is an error only
//! where it is read.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::assigning_tests::common_assigned_when;
use super::loop_fixpoint::is_better_guess;
use super::reference_phis::is_fixed;
use crate::aliases::{Event, Join};
use crate::env::EnvModule;
use crate::errors::Found;
use crate::infer::Ctx;
use crate::infer::assumptions::WeakKey;
use crate::infer::calls::closures::Closure;
use crate::infer::expressions::operand::{Facts, Operand, Static};
use crate::infer::expressions::weak_types::{WeakPhi, WeakSide, WeakValues};
use crate::infer::places::lists::{ListJoin, list_of};
use crate::infer::places::selected_arrays::JoinedArrays;
use crate::infer::places::vars::{Binding, Conflict, FlowPath, Var, Whole, binding_span};
use crate::ir::{Block, CarryId, LocalId, Place, Stmt};
use crate::types::Type;

impl Ctx<'_> {
    /// Continues at the join of some paths. Without paths, the code after it is unreachable.
    pub fn merge(&mut self, paths: &[FlowPath]) {
        self.f.live = !paths.is_empty();
        let mut vars: Vec<Var> =
            paths.iter().flat_map(|path| path.changes.iter().map(|(var, _)| *var)).collect();
        vars.sort_unstable();
        vars.dedup();
        let mut joined = Vec::with_capacity(vars.len());
        let mut lists = Vec::new();
        let mut selectors = Vec::new();
        for var in vars {
            match self.join_arrays(var, paths) {
                Some(Ok(JoinedArrays { binding, selector })) => {
                    joined.push((var, binding));
                    selectors.push(selector);
                    continue;
                }
                Some(Err(conflict)) => {
                    joined.push((var, Binding::Conflict(Rc::new(conflict))));
                    continue;
                }
                None => {}
            }
            match self.list_join(var, paths) {
                Some(ListJoin::Copy(ty)) => lists.push((var, ty)),
                Some(ListJoin::Conflict) => joined.push((var, self.conflict_of(var, paths))),
                None => joined.push((var, self.join(var, paths))),
            }
        }
        let lists = self.copy_joined_lists(lists, paths);
        joined.extend(lists.iter().map(|list| (list.var, list.binding())));
        // After those of names that were no selected arrays on some paths.
        joined.extend(selectors);
        let names = joined.iter().map(|(var, binding)| (*var, self.named_by(*var, binding))).collect();
        let copied = lists.iter().map(|list| list.var).collect();
        let join = Join { paths: paths.iter().map(|path| path.end).collect(), names, copied };
        self.f.lists.record.push(Event::Join(Box::new(join)));
        joined.into_iter().for_each(|(var, binding)| self.rebind(var, binding));
    }

    fn conflict_of(&self, var: Var, paths: &[FlowPath]) -> Binding {
        let mut bindings = paths.iter().map(|path| path.binding(var, &self.f.vars));
        let first = bindings.next().expect("a join has paths");
        let other = bindings.find(|other| binding_span(other) != binding_span(first)).unwrap_or(first);
        Binding::Conflict(Rc::new(self.conflict(first, other)))
    }

    /// The binding of a variable at a join.
    pub fn join(&mut self, var: Var, paths: &[FlowPath]) -> Binding {
        let bindings: Vec<Binding> =
            paths.iter().map(|path| path.binding(var, &self.f.vars).clone()).collect();
        if bindings.iter().any(|binding| matches!(binding, Binding::Error)) {
            return Binding::Error;
        }
        let unset = |binding: &Binding| matches!(binding, Binding::Unset | Binding::Maybe { .. });
        if bindings.iter().all(|binding| matches!(binding, Binding::Unset)) {
            return Binding::Unset;
        }
        if let Some(at) = bindings.iter().position(unset) {
            return maybe(&bindings, &paths[at], &bindings[at]);
        }
        if let Some(conflict) = bindings.iter().find(|binding| matches!(binding, Binding::Conflict(_))) {
            return conflict.clone();
        }
        if let Some(same) = self.all_alike(var, &bindings) {
            return same;
        }
        if let Some(reference) = self.join_references(var, &bindings, paths) {
            return reference;
        }
        match self.joined_type(var, &bindings) {
            Ok(ty) => self.store_joined(var, ty, &bindings, paths),
            Err(conflict) => Binding::Conflict(Rc::new(conflict)),
        }
    }

    /// The binding that needs no store: unchanged since the fork, an equal literal, or the same static operand
    /// on all paths.
    fn all_alike(&self, var: Var, bindings: &[Binding]) -> Option<Binding> {
        let first = &bindings[0];
        // A value computed before the paths diverged dominates the join.
        let is_unchanged = |operand: &Operand| match &self.f.vars[var] {
            Binding::Bound { operand: base, .. } => same_static(base, operand),
            _ => false,
        };
        let is_alike = |binding: &Binding| match (first, binding) {
            (Binding::Stored { local: a, .. }, Binding::Stored { local: b, .. }) => a == b,
            (Binding::Bound { operand: a, .. }, Binding::Bound { operand: b, .. }) => {
                same_static(a, b) && (is_fixed(a) || is_unchanged(a))
            }
            // Each item has a binding of its own.
            (Binding::Items { items: a, of: in_a, .. }, Binding::Items { items: b, of: in_b, .. }) => {
                (a, in_a) == (b, in_b)
            }
            _ => false,
        };
        let is_base = |binding: &Binding| match (&self.f.vars[var], binding) {
            (
                Binding::Bound { operand: Operand::Node(a), .. },
                Binding::Bound { operand: Operand::Node(b), .. },
            ) => a == b,
            _ => false,
        };
        if bindings.iter().all(is_base) {
            return Some(self.f.vars[var].clone());
        }
        if !bindings.iter().all(is_alike) {
            return None;
        }
        Some(match first {
            Binding::Stored { local, span, .. } => {
                let weak = self.joined_weak(var, *local, bindings);
                Binding::Stored { local: *local, facts: self.joined_facts(bindings), span: *span, weak }
            }
            same => same.clone(),
        })
    }

    /// The common type, or the type to which the weak ones widen.
    fn joined_type(&mut self, var: Var, bindings: &[Binding]) -> Result<Type, Conflict> {
        let mut joined: Option<(Type, bool, usize)> = None;
        for (at, binding) in bindings.iter().enumerate() {
            let Some((ty, guessed)) = self.stored_type(binding) else { continue };
            match &joined {
                None => joined = Some((ty, guessed, at)),
                Some((known, ..)) if *known == ty => {}
                // A guess yields to a known type, and to a better guess. This pass will be repeated.
                Some((known, true, _)) => {
                    self.f.assumed.used_guess = true;
                    if !guessed || is_better_guess(&ty, known) {
                        joined = Some((ty, guessed, at));
                    }
                }
                Some(_) if guessed => self.f.assumed.used_guess = true,
                Some((_, _, first)) => return Err(self.conflict(&bindings[*first], binding)),
            }
        }
        let weak: Vec<WeakSide> = bindings.iter().filter_map(|binding| self.weak_binding(binding)).collect();
        let ty = match &joined {
            Some((ty, true, _)) => self.guess_beside(ty, &weak),
            Some((ty, ..)) => ty.clone(),
            None => self.weak_type(&weak, Some(WeakKey::Var(var))),
        };
        for binding in bindings {
            let fits = match self.weak_binding(binding) {
                Some(weak) => self.fits(&weak, &ty),
                None => self.stored_type(binding).is_some(),
            };
            if !fits {
                let other = joined.as_ref().map_or(0, |(_, _, at)| *at);
                let other = if std::ptr::eq(&bindings[other], binding) {
                    bindings.iter().find(|other| !std::ptr::eq(*other, binding)).unwrap_or(binding)
                } else {
                    &bindings[other]
                };
                return Err(self.conflict(other, binding));
            }
        }
        Ok(ty)
    }

    /// A guessed type beside weak numbers. A guessed int beside a float is a float.
    pub fn guess_beside(&mut self, guess: &Type, weak: &[WeakSide]) -> Type {
        match guess {
            Type::Scalar(int) if int.is_int() && weak.iter().any(|side| self.own_scalar(side).is_float()) => {
                self.f.assumed.used_guess = true;
                int.as_float().into()
            }
            guess => guess.clone(),
        }
    }

    /// The type of a value, and whether it is a guess. `None` for weak and static operands.
    pub fn stored_type(&self, binding: &Binding) -> Option<(Type, bool)> {
        match binding {
            binding if self.weak_binding(binding).is_some() => None,
            Binding::Bound { operand: Operand::Node(node), .. } => {
                Some((self.ty(*node).clone(), self.facts(*node).guessed))
            }
            Binding::Stored { local, facts, .. } => {
                Some((self.f.func.local(*local).ty.clone(), facts.guessed))
            }
            _ => None,
        }
    }

    pub fn conflict(&self, a: &Binding, b: &Binding) -> Conflict {
        let is_in_order = binding_span(a).start <= binding_span(b).start;
        let (a, b) = if is_in_order { (a, b) } else { (b, a) };
        let (first, second) = (binding_span(a), binding_span(b));
        if let (
            Binding::Items { of: Whole::Row { buffer, index }, .. },
            Binding::Items { of: Whole::Row { buffer: same, index: other }, .. },
        ) = (a, b)
            && buffer == same
            && index != other
        {
            return Conflict::Rows { first: (first, *index), second: (second, *other) };
        }
        if let (Some(a), Some(b)) = (list_of(a), list_of(b))
            && a.ty == b.ty
            && !self.is_coop_type(&a.ty)
        {
            let are_shared = [a, b].into_iter().any(|list| self.shared_id(list).is_some());
            return Conflict::Lists { first, second, are_shared };
        }
        Conflict::Types {
            first: (first, self.describe_binding(a)),
            second: (second, self.describe_binding(b)),
        }
    }

    fn describe_binding(&self, binding: &Binding) -> Found {
        match binding {
            Binding::Bound { operand, .. } => self.describe(operand),
            Binding::Stored { local, .. } => Found::Value(self.f.func.local(*local).ty.clone()),
            Binding::Items { items, of, .. } => match of {
                Whole::Tuple => Found::Tuple(items.len()),
                Whole::Row { buffer, .. } => Found::Array(self.rows_array(*buffer, items.len() as u8)),
                Whole::Selected(choice) => Found::Array(self.buffer_array(self.arrays_in_set(*choice)[0])),
            },
            _ => Found::Value(Type::Error),
        }
    }

    pub fn store_joined(&mut self, var: Var, ty: Type, bindings: &[Binding], paths: &[FlowPath]) -> Binding {
        let span = binding_span(&bindings[0]);
        let local = self.local_of(var, &ty, span);
        for (binding, path) in bindings.iter().zip(paths) {
            if let Some(carry) = path.carry {
                self.carry(carry, local, binding);
            }
        }
        let weak = self.joined_weak(var, local, bindings);
        Binding::Stored { local, facts: self.joined_facts(bindings), span, weak }
    }

    /// The weak number of a variable in `local`. `None` if a path brings anything else.
    fn joined_weak(&self, var: Var, local: LocalId, bindings: &[Binding]) -> Option<WeakPhi> {
        let own = self.f.func.local(local).ty.scalar()?;
        let values = |binding: &Binding| Some(self.weak_values(&self.weak_binding(binding)?));
        let sides: Vec<WeakValues> = bindings.iter().map(values).collect::<Option<_>>()?;
        Some(WeakPhi { key: WeakKey::Var(var), values: WeakValues::any_of(&sides, own) })
    }

    /// Stores the value of a binding to `local` on one path into a join.
    pub fn carry(&mut self, carry: CarryId, local: LocalId, binding: &Binding) {
        let ty = self.f.func.local(local).ty.clone();
        let value = match (binding, self.weak_binding(binding)) {
            (Binding::Bound { operand: Operand::Node(node), .. }, _) if *self.ty(*node) == ty => *node,
            (Binding::Stored { local: stored, .. }, _) if *stored == local => return,
            (_, Some(weak)) => {
                let Some(scalar) = ty.scalar().filter(|_| self.fits(&weak, &ty)) else {
                    return self.does_not_fit(weak, binding);
                };
                self.at_path_end(carry, |ctx| ctx.side_as(&weak, scalar, binding_span(binding)))
            }
            // A guess was wrong. The function is walked again.
            (_, None) => return self.f.assumed.used_guess = true,
        };
        let stores = &mut self.f.func.carries[carry.idx()];
        if !stores.iter().any(|(stored, _)| *stored == local) {
            stores.push((local, value));
        }
    }

    /// A guess was wrong, or no type fits.
    fn does_not_fit(&mut self, weak: WeakSide, binding: &Binding) {
        self.f.assumed.used_guess = true;
        if let WeakSide::Literal(literal) = weak {
            let (operand, at) = (Operand::Literal(literal), binding_span(binding));
            if let Some(error) = self.ints_of_no_type(&[(&operand, at)]) {
                self.error(error);
            }
        }
    }

    /// Adds statements at the end of a path, whose block is closed.
    pub fn at_path_end<R>(&mut self, carry: CarryId, compute: impl FnOnce(&mut Self) -> R) -> R {
        let (block, result) = self.sub_block(compute);
        self.f.at_path_ends.extend(block.into_iter().map(|stmt| (carry, stmt)));
        result
    }

    /// Inserts these statements, when the function is complete.
    pub fn place_at_path_ends(&mut self, body: &mut Block) {
        if self.f.at_path_ends.is_empty() {
            return;
        }
        let mut by_carry: FxHashMap<CarryId, Block> = FxHashMap::default();
        for (carry, stmt) in std::mem::take(&mut self.f.at_path_ends) {
            by_carry.entry(carry).or_default().push(stmt);
        }
        place(body, &mut by_carry);
    }

    pub fn joined_facts(&self, bindings: &[Binding]) -> Facts {
        let mut joined = Facts::default();
        for binding in bindings {
            let facts = match binding {
                Binding::Bound { operand: Operand::Node(node), .. } => self.facts(*node),
                Binding::Stored { facts, .. } => *facts,
                _ => Facts::default(),
            };
            joined.guessed |= facts.guessed;
        }
        joined
    }
}

fn place(block: &mut Block, by_carry: &mut FxHashMap<CarryId, Block>) {
    for stmt in std::mem::take(block) {
        if let Stmt::Carry(carry) = stmt {
            block.extend(by_carry.remove(&carry).unwrap_or_default());
        }
        block.push(stmt);
        match block.last_mut() {
            Some(Stmt::If { then, orelse, .. }) => {
                [then, orelse].into_iter().for_each(|block| place(block, by_carry))
            }
            Some(Stmt::Loop(parts)) => {
                let parts = &mut **parts;
                [&mut parts.test, &mut parts.body, &mut parts.step]
                    .into_iter()
                    .for_each(|block| place(block, by_carry));
            }
            _ => {}
        }
    }
}

fn maybe(bindings: &[Binding], path: &FlowPath, unset: &Binding) -> Binding {
    if let Binding::Maybe { assigned, missing, assigned_when } = unset {
        let assigned_when =
            assigned_when.as_ref().and_then(|assigned_when| common_assigned_when(assigned_when, bindings));
        return Binding::Maybe { assigned: *assigned, missing: *missing, assigned_when };
    }
    let assigned = bindings.iter().map(|binding| match binding {
        Binding::Maybe { assigned, .. } => *assigned,
        binding => binding_span(binding),
    });
    let assigned = assigned.filter(|span| !span.is_empty()).min().unwrap_or_default();
    Binding::Maybe { assigned, missing: path.missing, assigned_when: None }
}

/// Whether two operands are statically known to be the same. Two nodes never are.
pub(crate) fn same_static(a: &Operand, b: &Operand) -> bool {
    match (a, b) {
        (Operand::Literal(a), Operand::Literal(b)) => a == b,
        (Operand::Buffer(a), Operand::Buffer(b)) => a == b,
        (Operand::Row(a), Operand::Row(b)) => a == b,
        (Operand::Place(a), Operand::Place(b)) => same_place(a, b),
        (Operand::Tuple(a), Operand::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same_static(a, b))
        }
        (Operand::Static(a), Operand::Static(b)) => match (a, b) {
            (Static::Type(a), Static::Type(b)) => a == b,
            (Static::Generic(a), Static::Generic(b)) => a == b,
            (Static::Builtin(a), Static::Builtin(b)) => a == b,
            (Static::Function(a), Static::Function(b)) => {
                std::sync::Arc::ptr_eq(&a.def, &b.def) && a.env.identity() == b.env.identity()
            }
            (Static::Closure(a), Static::Closure(b)) => same_closure(a, b),
            (Static::Module(a, in_a), Static::Module(b, in_b)) => {
                let identity = |module: &Option<EnvModule>| module.as_ref().map(|it| it.members.identity());
                a == b && identity(in_a) == identity(in_b)
            }
            (Static::None, Static::None) => true,
            (Static::Texture(a), Static::Texture(b)) => a == b,
            (Static::Sampler(a), Static::Sampler(b)) => a == b,
            _ => false,
        },
        _ => false,
    }
}

/// The same definition without defaults. Its captures are read where it is called.
fn same_closure(a: &Rc<Closure>, b: &Rc<Closure>) -> bool {
    let no_defaults = |closure: &Closure| closure.defaults.iter().all(Option::is_none);
    let is_open = |closure: &Closure| closure.values.is_none() && no_defaults(closure);
    Rc::ptr_eq(a, b) || (a.is_same_function(b) && is_open(a) && is_open(b))
}

/// Whether two places are the same. Indices that are computed again are different nodes, so those places
/// differ.
pub(crate) fn same_place(a: &Place, b: &Place) -> bool {
    a.root == b.root && a.path.is_empty() && b.path.is_empty()
}
