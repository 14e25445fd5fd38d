//! The variables of a function: what each is bound to now, and what becomes of it where paths meet.
//!
//! In straight-line code a variable is simply bound to what was last assigned, of whatever type. Every
//! change goes through a log, so that a branch can be undone and its changes taken along as a [`Way`]
//! into the merge. A merge whose ways disagree on a value gives the variable a local (one for each
//! name and type) and has each way store to it; where they disagree on the type, the variable is in
//! conflict, which is an error only if someone reads it.

use std::rc::Rc;

use kps_syntax::ast::Name;
use kps_syntax::{Diagnostic, Span};

use super::Ctx;
use super::closures::Closure;
use super::held::is_fixed;
use super::operand::{Facts, Operand, Place, Static};
use super::outcomes::{Outcome, kept_outcome};
use super::twins::MergeId;
use super::weak::WeakSide;
use crate::constant::Literal;
use crate::env::EnvModule;
use crate::errors;
use crate::ir::{CarryId, Home, Local, LocalId, NodeKind, Stmt};
use crate::types::Type;

/// A variable of the function, by its number in the scope; beyond those are the items of tuples and the marks of
/// outputs.
pub(crate) type Var = u32;

#[derive(Clone)]
pub(crate) enum Binding {
    Unset,
    /// Assigned on some of the paths that lead here, not on all.
    Maybe {
        assigned: Span,
        missing: Missing,
        /// The test that tells the paths apart, if one does.
        outcome: Option<Rc<Outcome>>,
    },
    Conflict(Rc<Conflict>),
    Bound {
        operand: Operand,
        span: Span,
    },
    /// In a local that the ways here stored to.
    Stored {
        local: LocalId,
        facts: Facts,
        span: Span,
        /// The merge, where all that was stored is weak.
        weak: Option<MergeId>,
    },
    /// A tuple: each item is a variable of its own, so that paths meet item by item.
    Items {
        items: Rc<[Var]>,
        span: Span,
    },
    /// A mistake about it was reported.
    Error,
}

/// On which path a variable has no value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    pub span: Span,
    pub text: &'static str,
}

/// Why a variable cannot be read, though it was assigned.
#[derive(Debug)]
pub(crate) enum Conflict {
    /// Two places give it different types.
    Types { first: (Span, String), second: (Span, String) },
    /// It was given a part of a list, in words of the source where it has such, that was replaced since.
    Replaced { named: Span, part: Option<Span>, by: Span },
    /// It was given a copy of a list that was written to since.
    Outdated { copied: Span, by: Span },
}

/// One of the paths that meet: what it changed since the fork, and where its stores go.
pub(crate) struct Way {
    pub changes: Vec<(Var, Binding)>,
    /// `None` where nothing needs to be stored.
    pub carry: Option<CarryId>,
    pub missing: Missing,
}

impl Way {
    /// What the variable became on this way, if it did.
    pub fn changed(&self, var: Var) -> Option<&Binding> {
        let at = self.changes.binary_search_by_key(&var, |(changed, _)| *changed).ok()?;
        Some(&self.changes[at].1)
    }

    fn binding<'a>(&'a self, var: Var, base: &'a [Binding]) -> &'a Binding {
        self.changed(var).unwrap_or(&base[var as usize])
    }
}

/// A point to go back to.
#[derive(Clone, Copy)]
pub(crate) struct Fork(usize);

impl Ctx<'_> {
    pub fn set(&mut self, var: Var, binding: Binding) {
        let before = std::mem::replace(&mut self.f.vars[var as usize], binding);
        self.f.log.push((var, before));
    }

    /// An assignment that the source writes.
    pub fn assign_var(&mut self, var: Var, operand: Operand, span: Span) {
        let name = self.var_name(var);
        self.name_list(&operand, &name);
        self.trace_name(&name, &operand, span);
        self.bind_var(var, operand, span);
        self.mark_whole(var, span);
    }

    pub fn bind_var(&mut self, var: Var, operand: Operand, span: Span) {
        let operand = self.as_output(var, operand, span);
        if let Operand::Node(node) = &operand
            && !matches!(self.f.func.nodes[node.idx()].kind, NodeKind::Constant(_))
            && self.f.func.nodes[node.idx()].name.is_none()
        {
            let name = self.var_name(var);
            self.f.func.nodes[node.idx()].name = Some(name);
        }
        self.remark_assigned(var, &operand, span);
        if let Operand::Place(place) = &operand {
            self.name_shared(place, var);
        }
        let operand = self.in_memory(var, operand, span);
        self.name_table(var, &operand);
        let binding = match operand {
            Operand::Error => Binding::Error,
            Operand::Tuple(items) => self.assign_items(var, &items, span),
            operand => Binding::Bound { operand, span },
        };
        self.set(var, binding);
    }

    /// A struct with arrays in it lies in memory where the function changes parts of it, or gives an array in it a name of
    /// its own, by which changes are seen and made.
    fn in_memory(&mut self, var: Var, operand: Operand, span: Span) -> Operand {
        let Operand::Node(value) = operand else { return operand };
        let ty = self.ty(value).clone();
        let Type::Struct(of) = &ty else { return operand };
        let is_handed_on = || {
            let arrays = of.members.iter().filter(|member| member.ty.holds_array());
            arrays.into_iter().any(|member| self.f.handed_on.contains(&(var, member.name.clone())))
        };
        if var >= self.f.n_own || !ty.holds_array() {
            return operand;
        }
        if !self.f.changed_in_part.contains(&var) && !is_handed_on() {
            return operand;
        }
        let place = Place::local(self.local_of(var, &ty, span), ty);
        self.store_whole(&place, value, span);
        self.part_replaced(&place, span);
        Operand::Place(place)
    }

    fn assign_items(&mut self, var: Var, operands: &[Operand], span: Span) -> Binding {
        let items: Rc<[Var]> = (0..operands.len()).map(|at| self.item_var(var, at)).collect();
        for (item, operand) in items.iter().zip(operands) {
            self.bind_var(*item, operand.clone(), span);
        }
        Binding::Items { items, span }
    }

    /// The variable of one item of a tuple: always the same one.
    fn item_var(&mut self, var: Var, at: usize) -> Var {
        if let Some(item) = self.f.items.get(&(var, at)) {
            return *item;
        }
        let name = format!("{}[{at}]", self.var_name(var));
        let item = self.new_var(&name);
        self.f.items.insert((var, at), item);
        item
    }

    /// A variable that the source has no name for.
    pub fn new_var(&mut self, name: &str) -> Var {
        let var = self.f.vars.len() as Var;
        self.f.vars.push(Binding::Unset);
        self.f.item_names.push(name.into());
        var
    }

    /// The variables themselves and, where they are tuples or outputs, those of their items and parts.
    pub fn with_items(&self, vars: &[Var]) -> Vec<Var> {
        let mut all = vars.to_vec();
        all.extend(vars.iter().flat_map(|var| self.marks_of(*var).to_vec()));
        let mut at = 0;
        while at < all.len() {
            if let Binding::Items { items, .. } = &self.f.vars[all[at] as usize] {
                all.extend(items.iter());
            }
            at += 1;
        }
        all
    }

    pub fn var_name(&self, var: Var) -> Name {
        let names = self.f.scope.names();
        match names.get(var as usize) {
            Some(name) => name.clone(),
            None => self.f.item_names[var as usize - names.len()].clone(),
        }
    }

    /// What a variable stands for here; what cannot be told is reported once.
    pub fn read_var(&mut self, var: Var, span: Span) -> Operand {
        if let Binding::Items { items, .. } = self.f.vars[var as usize].clone() {
            return Operand::Tuple(items.iter().map(|item| self.read_var(*item, span)).collect());
        }
        let name = self.var_name(var);
        let diagnostic = match &self.f.vars[var as usize] {
            Binding::Bound { operand, .. } => return operand.clone(),
            Binding::Stored { weak: Some(merge), facts, .. } => {
                let (merge, facts) = (*merge, *facts);
                let node = self.load_merged(merge, span);
                self.set_facts(node, facts);
                return Operand::Node(node);
            }
            Binding::Stored { local, facts, .. } => {
                let (local, facts) = (*local, *facts);
                let ty = self.f.func.local(local).ty.clone();
                let node = self.node(NodeKind::Load(local), ty, span);
                self.set_facts(node, facts);
                return Operand::Node(node);
            }
            Binding::Items { .. } | Binding::Error => return Operand::Error,
            Binding::Unset if self.is_output(var) => errors::output_read_before_written(self.at(span), &name),
            Binding::Unset => self.unset(var, span),
            Binding::Maybe { assigned, missing, .. } => errors::maybe_unset(
                self.at(span),
                &name,
                self.at(*assigned),
                self.at(missing.span),
                missing.text,
            ),
            Binding::Conflict(conflict) => match &**conflict {
                Conflict::Types { first, second } => errors::conflicting_types(
                    self.at(span),
                    &name,
                    (self.at(first.0), &first.1),
                    (self.at(second.0), &second.1),
                ),
                Conflict::Replaced { named, part, by } => {
                    let part = part.map(|part| self.f.source.slice(part));
                    let replaced = self.f.source.slice(*by);
                    let (named, by) = ((self.at(*named), part), (self.at(*by), replaced));
                    errors::part_replaced(self.at(span), &name, named, by)
                }
                Conflict::Outdated { copied, by } => {
                    let text = self.f.source.slice(*copied);
                    errors::copy_outdated(self.at(span), &name, (self.at(*copied), text), self.at(*by))
                }
            },
        };
        self.error(diagnostic);
        self.set(var, Binding::Error);
        Operand::Error
    }

    /// A variable without a value here; a round of a loop may have given it one.
    fn unset(&self, var: Var, span: Span) -> Diagnostic {
        let (at, name) = (self.at(span), self.var_name(var));
        let is_outside = self.f.env.get().get(&name).is_some();
        let in_round = self.f.loops.iter().rev().find_map(|state| state.sets(var));
        match in_round.filter(|_| !is_outside) {
            Some((assigned, header)) => errors::maybe_unset(
                at,
                &name,
                self.at(assigned),
                self.at(header),
                "not in the first round of this loop",
            ),
            None => errors::used_before_assignment(at, &name, is_outside),
        }
    }

    pub fn fork(&self) -> Fork {
        Fork(self.f.log.len())
    }

    pub fn has_changed(&self, fork: Fork) -> bool {
        self.f.log.len() > fork.0
    }

    /// What changed since the fork, sorted by variable; the changes stay.
    pub fn changes_since(&self, fork: Fork) -> Vec<(Var, Binding)> {
        let mut vars: Vec<Var> = self.f.log[fork.0..].iter().map(|(var, _)| *var).collect();
        vars.sort_unstable();
        vars.dedup();
        vars.into_iter().map(|var| (var, self.f.vars[var as usize].clone())).collect()
    }

    /// Undoes every change since the fork.
    pub fn rewind(&mut self, fork: Fork) {
        for (var, before) in self.f.log.drain(fork.0..).rev() {
            self.f.vars[var as usize] = before;
        }
    }

    /// Ends the path here: its changes, with a place for its stores at the end of the block.
    pub fn way(&mut self, fork: Fork, missing: Missing) -> Way {
        let changes = self.changes_since(fork);
        let carry = self.new_carry();
        Way { changes, carry: Some(carry), missing }
    }

    /// A place for stores that are known later.
    pub fn new_carry(&mut self) -> CarryId {
        let carry = CarryId(self.f.func.carries.len() as u32);
        self.f.func.carries.push(Vec::new());
        self.f.block.push(Stmt::Carry(carry));
        carry
    }

    /// Goes on where the ways meet; none means that nothing gets here.
    pub fn merge(&mut self, ways: &[Way]) {
        self.f.live = !ways.is_empty();
        let mut vars: Vec<Var> =
            ways.iter().flat_map(|way| way.changes.iter().map(|(var, _)| *var)).collect();
        vars.sort_unstable();
        vars.dedup();
        for var in vars {
            let binding = self.join(var, ways);
            self.set(var, binding);
        }
    }

    /// What a variable is where the ways meet.
    pub fn join(&mut self, var: Var, ways: &[Way]) -> Binding {
        let base = std::mem::take(&mut self.f.vars);
        let bindings: Vec<Binding> = ways.iter().map(|way| way.binding(var, &base).clone()).collect();
        self.f.vars = base;
        if bindings.iter().any(|binding| matches!(binding, Binding::Error)) {
            return Binding::Error;
        }
        let unset = |binding: &Binding| matches!(binding, Binding::Unset | Binding::Maybe { .. });
        if bindings.iter().all(|binding| matches!(binding, Binding::Unset)) {
            return Binding::Unset;
        }
        if let Some(at) = bindings.iter().position(unset) {
            return maybe(&bindings, &ways[at], &bindings[at]);
        }
        if let Some(conflict) = bindings.iter().find(|binding| matches!(binding, Binding::Conflict(_))) {
            return conflict.clone();
        }
        if let Some(same) = self.all_alike(var, &bindings) {
            return same;
        }
        if let Some(held) = self.join_held(var, &bindings, ways) {
            return held;
        }
        match self.joined_type(&bindings) {
            Ok(ty) => self.store_joined(var, ty, &bindings, ways),
            Err(conflict) => Binding::Conflict(Rc::new(conflict)),
        }
    }

    /// The one binding that needs no store: unchanged since the fork, an equal literal, or the same
    /// static thing on every way.
    fn all_alike(&self, var: Var, bindings: &[Binding]) -> Option<Binding> {
        let first = &bindings[0];
        // What was computed before the paths parted is known behind them.
        let is_unchanged = |operand: &Operand| match &self.f.vars[var as usize] {
            Binding::Bound { operand: base, .. } => same_static(base, operand),
            _ => false,
        };
        let is_alike = |binding: &Binding| match (first, binding) {
            (Binding::Stored { local: a, weak: in_a, .. }, Binding::Stored { local: b, weak: in_b, .. }) => {
                a == b && (in_a == in_b || in_a.is_none() || in_b.is_none())
            }
            (Binding::Bound { operand: a, .. }, Binding::Bound { operand: b, .. }) => {
                same_static(a, b) && (is_fixed(a) || is_unchanged(a))
            }
            // What the items are is settled one by one.
            (Binding::Items { items: a, .. }, Binding::Items { items: b, .. }) => a == b,
            _ => false,
        };
        let is_base = |binding: &Binding| match (&self.f.vars[var as usize], binding) {
            (
                Binding::Bound { operand: Operand::Node(a), .. },
                Binding::Bound { operand: Operand::Node(b), .. },
            ) => a == b,
            _ => false,
        };
        if bindings.iter().all(is_base) {
            return Some(self.f.vars[var as usize].clone());
        }
        if !bindings.iter().all(is_alike) {
            return None;
        }
        Some(match first {
            Binding::Stored { local, span, weak, .. } => {
                let is_one_merge = |binding: &Binding| matches!(binding, Binding::Stored { weak: other, .. } if other == weak);
                let weak = weak.filter(|_| bindings.iter().all(is_one_merge));
                Binding::Stored { local: *local, facts: self.joined_facts(bindings), span: *span, weak }
            }
            same => same.clone(),
        })
    }

    /// The type that all of them have, or that what is weak among them widens to.
    fn joined_type(&mut self, bindings: &[Binding]) -> Result<Type, Conflict> {
        let mut joined: Option<(Type, bool, usize)> = None;
        for (at, binding) in bindings.iter().enumerate() {
            let Some((ty, soft)) = self.stored_type(binding) else { continue };
            match &joined {
                None => joined = Some((ty, soft, at)),
                Some((known, ..)) if *known == ty => {}
                // A guess gives way to what is known; this pass will be repeated.
                Some((_, true, _)) => {
                    self.f.lenient = true;
                    joined = Some((ty, soft, at));
                }
                Some(_) if soft => self.f.lenient = true,
                Some((_, _, first)) => return Err(self.conflict(&bindings[*first], binding)),
            }
        }
        let ty = match &joined {
            Some((ty, ..)) => ty.clone(),
            None => {
                let weak: Vec<WeakSide> =
                    bindings.iter().filter_map(|binding| self.weak_binding(binding)).collect();
                self.weak_type(&weak)
            }
        };
        for binding in bindings {
            let fits = match self.weak_binding(binding) {
                Some(weak) => self.fits(weak, &ty),
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

    /// The type of a value, and whether it is a guess; `None` for what is weak and static things.
    pub fn stored_type(&self, binding: &Binding) -> Option<(Type, bool)> {
        match binding {
            binding if self.weak_binding(binding).is_some() => None,
            Binding::Bound { operand: Operand::Node(node), .. } => {
                Some((self.ty(*node).clone(), self.facts(*node).soft))
            }
            Binding::Stored { local, facts, .. } => Some((self.f.func.local(*local).ty.clone(), facts.soft)),
            _ => None,
        }
    }

    pub fn conflict(&self, a: &Binding, b: &Binding) -> Conflict {
        let side = |binding: &Binding| match binding {
            Binding::Bound { operand, span } => (*span, self.describe(operand)),
            Binding::Stored { local, span, .. } => (*span, format!("`{}`", self.f.func.local(*local).ty)),
            Binding::Items { items, span } => (*span, format!("a tuple of {}", items.len())),
            _ => (Span::default(), "`?`".to_owned()),
        };
        let (mut first, mut second) = (side(a), side(b));
        if first.0.start > second.0.start {
            std::mem::swap(&mut first, &mut second);
        }
        Conflict::Types { first, second }
    }

    fn store_joined(&mut self, var: Var, ty: Type, bindings: &[Binding], ways: &[Way]) -> Binding {
        let span = binding_span(&bindings[0]);
        let local = self.local_of(var, &ty, span);
        for (binding, way) in bindings.iter().zip(ways) {
            if let Some(carry) = way.carry {
                self.carry(carry, local, binding);
            }
        }
        let weak = self.weak_ways(bindings, ways).map(|ways| self.note_merge(local, ways, span));
        Binding::Stored { local, facts: self.joined_facts(bindings), span, weak }
    }

    /// The ways with what is weak on each; `None` where one brings anything else.
    fn weak_ways(&self, bindings: &[Binding], ways: &[Way]) -> Option<Vec<(CarryId, WeakSide)>> {
        let mut all = Vec::with_capacity(ways.len());
        for (binding, way) in bindings.iter().zip(ways) {
            match (way.carry, self.weak_binding(binding)?) {
                (Some(carry), side) => all.push((carry, side)),
                // Out of a loop at its head: what led there leads here.
                (None, WeakSide::Merge(head)) => all.extend(self.ways_to(head)),
                _ => return None,
            }
        }
        Some(all)
    }

    /// Stores a binding's value to `local` on one way into a merge.
    pub fn carry(&mut self, carry: CarryId, local: LocalId, binding: &Binding) {
        let ty = self.f.func.local(local).ty.clone();
        let value = match (binding, self.weak_binding(binding)) {
            (Binding::Bound { operand: Operand::Node(node), .. }, _) if *self.ty(*node) == ty => *node,
            (Binding::Stored { local: stored, .. }, _) if *stored == local => return,
            (_, Some(weak)) => {
                let Some(scalar) = ty.scalar().filter(|_| self.fits(weak, &ty)) else { return };
                self.late(carry, |ctx| ctx.side_as(weak, scalar, binding_span(binding)))
            }
            // A guess was wrong: the loop that made it is lowered again.
            (_, None) => return self.f.lenient = true,
        };
        let stores = &mut self.f.func.carries[carry.idx()];
        if !stores.iter().any(|(stored, _)| *stored == local) {
            stores.push((local, value));
        }
    }

    pub fn joined_facts(&self, bindings: &[Binding]) -> Facts {
        let mut joined = Facts { nonneg: true, soft: false };
        for binding in bindings {
            let facts = match binding {
                Binding::Bound { operand: Operand::Node(node), .. } => self.facts(*node),
                Binding::Stored { facts, .. } => *facts,
                Binding::Bound { operand: Operand::Literal(Literal::Int(value)), .. } => {
                    Facts { nonneg: *value >= 0, soft: false }
                }
                _ => Facts::default(),
            };
            joined = Facts { nonneg: joined.nonneg && facts.nonneg, soft: joined.soft || facts.soft };
        }
        joined
    }

    /// The local of a variable for one type: always the same one.
    pub fn local_of(&mut self, var: Var, ty: &Type, span: Span) -> LocalId {
        if let Some(local) = self.f.locals.get(&(var, ty.clone())) {
            return *local;
        }
        let name = self.var_name(var);
        let local = self.new_local(&name, ty.clone(), span);
        self.f.locals.insert((var, ty.clone()), local);
        local
    }

    pub fn new_local(&mut self, name: &str, ty: Type, span: Span) -> LocalId {
        let local = LocalId(self.f.func.locals.len() as u32);
        self.f.func.locals.push(Local { name: name.into(), ty, span, home: Home::Own });
        local
    }
}

fn maybe(bindings: &[Binding], way: &Way, unset: &Binding) -> Binding {
    if let Binding::Maybe { assigned, missing, outcome } = unset {
        let outcome = outcome.as_ref().and_then(|outcome| kept_outcome(outcome, bindings));
        return Binding::Maybe { assigned: *assigned, missing: *missing, outcome };
    }
    let assigned = bindings.iter().map(|binding| match binding {
        Binding::Maybe { assigned, .. } => *assigned,
        binding => binding_span(binding),
    });
    let assigned = assigned.filter(|span| !span.is_empty()).min().unwrap_or_default();
    Binding::Maybe { assigned, missing: way.missing, outcome: None }
}

pub(crate) fn binding_span(binding: &Binding) -> Span {
    match binding {
        Binding::Bound { span, .. } | Binding::Stored { span, .. } | Binding::Items { span, .. } => *span,
        Binding::Maybe { assigned, .. } => *assigned,
        Binding::Conflict(conflict) => match **conflict {
            Conflict::Types { first: (span, _), .. }
            | Conflict::Replaced { named: span, .. }
            | Conflict::Outdated { copied: span, .. } => span,
        },
        Binding::Unset | Binding::Error => Span::default(),
    }
}

/// Whether two operands are the same thing known statically; two nodes never are.
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

/// One definition without defaults: what it captures is read where it is called.
fn same_closure(a: &Rc<Closure>, b: &Rc<Closure>) -> bool {
    let no_defaults = |closure: &Closure| closure.defaults.iter().all(Option::is_none);
    let is_open = |closure: &Closure| closure.values.is_none() && no_defaults(closure);
    Rc::ptr_eq(a, b) || (std::sync::Arc::ptr_eq(&a.def, &b.def) && is_open(a) && is_open(b))
}

/// A part of an array is another place wherever its indices are computed anew.
fn same_place(a: &Place, b: &Place) -> bool {
    a.root == b.root && a.path.is_empty() && b.path.is_empty()
}
