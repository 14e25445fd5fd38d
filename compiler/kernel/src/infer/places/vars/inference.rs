//! Reads and assignments of variables, and the paths that change them.

use std::rc::Rc;

use kps_syntax::ast::Name;
use kps_syntax::{Diagnostic, Span};

use super::{Binding, Conflict, FlowPath, Fork, Missing, Var, Whole};
use crate::aliases::Event;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::operand::{Operand, Row};
use crate::infer::places::selected_arrays::MAX_ARRAYS;
use crate::ir::{BufferId, CarryId, Home, Local, LocalId, NodeId, NodeKind, Place, Stmt};
use crate::types::Type;

impl Ctx<'_> {
    pub fn set(&mut self, var: Var, binding: Binding) {
        self.record_binding(var, &binding);
        self.rebind(var, binding);
    }

    /// Gives a variable a binding that is part of a join, which is recorded as a whole.
    pub fn rebind(&mut self, var: Var, binding: Binding) {
        let vars = &mut self.f.vars;
        let before = std::mem::replace(&mut vars.bindings[var as usize], binding);
        vars.log.push((var, before));
    }

    /// An assignment in the source.
    pub fn assign_var(&mut self, var: Var, operand: Operand, span: Span) {
        let name = self.var_name(var);
        self.name_list(&operand, &name);
        self.mark_name(&name, &operand, span);
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
        if let Some(ty) = self.value_type(&operand) {
            self.f.vars.assigned_types.push((span, ty));
        }
        let binding = match operand {
            Operand::Error => Binding::Error,
            Operand::Tuple(items) => {
                for (at, item) in items.iter().enumerate() {
                    let item_var = self.item_var(var, at);
                    self.bind_var(item_var, item.clone(), span);
                }
                self.bound_items(var, items.len(), Whole::Tuple, span)
            }
            Operand::Row(row) => self.assign_row(var, &row, span),
            Operand::Buffer(buffer) if self.is_selected(buffer) => {
                let selected = self.selection_of(buffer).expect("checked above");
                self.assign_selected(var, selected, span)
            }
            operand => Binding::Bound { operand, span },
        };
        self.set(var, binding);
    }

    /// A struct with arrays is in memory if the function changes parts of it, or gives an array in it a name:
    /// changes must be visible through both.
    fn in_memory(&mut self, var: Var, operand: Operand, span: Span) -> Operand {
        let Operand::Node(value) = operand else { return operand };
        let ty = self.ty(value).clone();
        let Type::Struct(of) = &ty else { return operand };
        let is_aliased = || {
            let arrays = of.members.iter().filter(|member| member.ty.holds_array());
            arrays.into_iter().any(|member| self.f.is_aliased_member(var, &member.name))
        };
        if var >= self.f.vars.n_own || !ty.holds_array() {
            return operand;
        }
        if !self.f.is_changed_in_part(var) && !is_aliased() {
            return operand;
        }
        let place = Place::local(self.local_of(var, &ty, span), ty);
        self.store_whole(&place, value, span);
        self.record_replaced(&place, span);
        Operand::Place(place)
    }

    fn bound_items(&mut self, var: Var, n_items: usize, of: Whole, span: Span) -> Binding {
        let items = (0..n_items).map(|at| self.item_var(var, at)).collect();
        Binding::Items { items, of, span }
    }

    fn assign_row(&mut self, var: Var, row: &Row, span: Span) -> Binding {
        let row = self.row_to_join(row, span);
        for (at, index) in row.indices.iter().enumerate() {
            let item = self.item_var(var, at);
            self.set(item, Binding::Bound { operand: Operand::Node(*index), span });
        }
        let index = self.ty(row.indices[0]).scalar().expect("indices are ints");
        self.bound_items(var, row.indices.len(), Whole::Row { buffer: row.buffer, index }, span)
    }

    /// The row that has these indices.
    fn row_of(&mut self, buffer: BufferId, indices: &[Var], span: Span) -> Operand {
        let indices = indices.iter().map(|index| match self.read_var(*index, span) {
            Operand::Node(node) => Some(node),
            _ => None,
        });
        match indices.collect::<Option<Rc<[NodeId]>>>() {
            Some(indices) => Operand::Row(Row { buffer, indices }),
            None => Operand::Error,
        }
    }

    /// The variable of one item of a tuple: always the same one.
    pub fn item_var(&mut self, var: Var, at: usize) -> Var {
        if let Some(item) = self.f.vars.items.get(&(var, at)) {
            return *item;
        }
        let name = format!("{}[{at}]", self.var_name(var));
        let item = self.new_var(&name);
        self.f.vars.items.insert((var, at), item);
        item
    }

    /// A variable without a name in the source.
    pub fn new_var(&mut self, name: &str) -> Var {
        self.f.vars.add(name)
    }

    /// The variables and the variables of their items and parts, for tuples and outputs.
    pub fn with_items(&self, vars: &[Var]) -> Vec<Var> {
        let mut all = vars.to_vec();
        all.extend(vars.iter().flat_map(|var| self.marks_of(*var).to_vec()));
        let mut at = 0;
        while at < all.len() {
            if let Binding::Items { items, .. } = &self.f.vars[all[at]] {
                all.extend(items.iter());
            }
            at += 1;
        }
        all
    }

    pub fn var_name(&self, var: Var) -> Name {
        let vars = &self.f.vars;
        match vars.name_in_source(var) {
            Some(name) => name.clone(),
            None => vars.item_names[var as usize - vars.scope.names().len()].clone(),
        }
    }

    /// The operand to which a variable is bound. An error is reported once.
    pub fn read_var(&mut self, var: Var, span: Span) -> Operand {
        if let Binding::Items { items, of, .. } = self.f.vars[var].clone() {
            return match of {
                Whole::Tuple => Operand::Tuple(items.iter().map(|item| self.read_var(*item, span)).collect()),
                Whole::Row { buffer, .. } => self.row_of(buffer, &items, span),
                Whole::Selected(array_set) => self.read_selected(var, array_set, items[0], span),
            };
        }
        let name = self.var_name(var);
        let diagnostic = match &self.f.vars[var] {
            Binding::Bound { operand, .. } => {
                let operand = operand.clone();
                if let Operand::Place(_) = operand {
                    self.f.lists.record.push(Event::Read(var, span));
                }
                return operand;
            }
            Binding::Stored { local, facts, weak, .. } => {
                let (local, facts, weak) = (*local, *facts, weak.clone());
                let node = match weak {
                    Some(phi) => self.load_weak(local, &phi, span),
                    None => {
                        let ty = self.f.func.local(local).ty.clone();
                        self.node(NodeKind::Load(local), ty, span)
                    }
                };
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
                (self.at(missing.span), missing.text),
                self.assigned_type(*assigned),
            ),
            Binding::Conflict(conflict) => match &**conflict {
                Conflict::Types { first, second } => errors::conflicting_types(
                    self.at(span),
                    &name,
                    (self.at(first.0), &first.1),
                    (self.at(second.0), &second.1),
                ),
                Conflict::Rows { first, second } => errors::conflicting_rows(
                    self.at(span),
                    &name,
                    (self.at(first.0), first.1),
                    (self.at(second.0), second.1),
                ),
                Conflict::Lists { first, second, are_shared } => errors::conflicting_lists(
                    self.at(span),
                    &name,
                    self.at(*first),
                    self.at(*second),
                    *are_shared,
                ),
                Conflict::Arrays { first, second } => errors::too_many_arrays_chosen(
                    self.at(span),
                    &name,
                    self.at(*first),
                    self.at(*second),
                    MAX_ARRAYS,
                ),
            },
        };
        if !self.is_known_conflict(&diagnostic) {
            self.error(diagnostic);
        }
        self.set(var, Binding::Error);
        Operand::Error
    }

    /// Whether a conflict of the same assignments was reported, for another item of a tuple or at another use.
    fn is_known_conflict(&self, diagnostic: &Diagnostic) -> bool {
        let is_same = |known: &Diagnostic| {
            // The first label is the use.
            let mut assignments = known.labels.iter().zip(&diagnostic.labels).skip(1);
            known.code == diagnostic.code && assignments.all(|(a, b)| a.location == b.location)
        };
        diagnostic.code == "kernel/conflicting-types" && self.f.diagnostics.iter().any(is_same)
    }

    /// The type of the value that was assigned at a place, if it has one.
    pub fn assigned_type(&self, assigned: Span) -> Option<&Type> {
        self.f.vars.assigned_types.iter().rev().find_map(|(at, ty)| (*at == assigned).then_some(ty))
    }

    /// The error for a variable without a value here. A round of a loop may have assigned it.
    fn unset(&self, var: Var, span: Span) -> Diagnostic {
        let (at, name) = (self.at(span), self.var_name(var));
        let is_outside = self.f.env.get().get(&name).is_some();
        let in_round = self.f.loops.iter().rev().find_map(|state| state.sets(var));
        match in_round.filter(|_| !is_outside) {
            Some((assigned, header)) => errors::maybe_unset(
                at,
                &name,
                self.at(assigned),
                (self.at(header), "not in the first round of this loop"),
                self.assigned_type(assigned),
            ),
            None => errors::used_before_assignment(at, &name, is_outside),
        }
    }

    pub fn fork(&mut self) -> Fork {
        Fork { n_changes: self.f.vars.log.len(), lists: self.f.lists.record.push(Event::Fork) }
    }

    pub fn has_changed(&self, fork: Fork) -> bool {
        self.f.vars.log.len() > fork.n_changes
    }

    /// The bindings that changed since the fork, sorted by variable. Nothing is undone.
    pub fn changes_since(&self, fork: Fork) -> Vec<(Var, Binding)> {
        let mut vars: Vec<Var> = self.f.vars.log[fork.n_changes..].iter().map(|(var, _)| *var).collect();
        vars.sort_unstable();
        vars.dedup();
        vars.into_iter().map(|var| (var, self.f.vars[var].clone())).collect()
    }

    /// Undoes every change since the fork.
    pub fn rewind(&mut self, fork: Fork) {
        self.f.lists.record.push(Event::Rewind(fork.lists));
        let vars = &mut self.f.vars;
        for (var, before) in vars.log.drain(fork.n_changes..).rev() {
            vars.bindings[var as usize] = before;
        }
    }

    /// Ends a path here. Its stores are inserted at the end of the current block.
    pub fn end_path(&mut self, fork: Fork, missing: Missing) -> FlowPath {
        let changes = self.changes_since(fork);
        let carry = self.new_carry();
        FlowPath { changes, carry: Some(carry), missing, end: self.f.lists.record.push(Event::PathEnd) }
    }

    /// A place for stores that are determined later.
    pub fn new_carry(&mut self) -> CarryId {
        let carry = CarryId(self.f.func.carries.len() as u32);
        self.f.func.carries.push(Vec::new());
        self.f.block.push(Stmt::Carry(carry));
        carry
    }

    /// The local of a variable for one type: always the same one.
    pub fn local_of(&mut self, var: Var, ty: &Type, span: Span) -> LocalId {
        if let Some(local) = self.f.vars.locals.get(&(var, ty.clone())) {
            return *local;
        }
        let name = self.var_name(var);
        let local = self.new_local(&name, ty.clone(), span);
        self.f.vars.locals.insert((var, ty.clone()), local);
        local
    }

    pub fn new_local(&mut self, name: &str, ty: Type, span: Span) -> LocalId {
        if ty.holds_array() {
            return self.f.list_local(name, ty, span);
        }
        let local = LocalId(self.f.func.locals.len() as u32);
        self.f.func.locals.push(Local { name: name.into(), ty, span, home: Home::Own });
        local
    }
}
