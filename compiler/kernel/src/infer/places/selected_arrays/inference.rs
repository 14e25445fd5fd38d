//! Names for one of several arrays.

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::Name;

use super::{ArraySetId, JoinedArrays, MAX_ARRAYS, NoArraySet};
use crate::constant::Constant;
use crate::infer::Ctx;
use crate::infer::expressions::operand::Operand;
use crate::infer::places::vars::{Binding, Conflict, FlowPath, Var, Whole, binding_span};
use crate::ir::{Buffer, BufferId, Choice, NodeId};
use crate::signature::Width;
use crate::types::Type;

impl Ctx<'_> {
    pub fn is_selected(&self, buffer: BufferId) -> bool {
        matches!(buffer, BufferId::Choice(_))
    }

    /// The set of a selected array, and the node with the id of the array.
    pub fn selection_of(&self, buffer: BufferId) -> Option<(ArraySetId, NodeId)> {
        let BufferId::Choice(choice) = buffer else { return None };
        let Choice { among, selector, .. } = &self.f.func.choices[choice as usize];
        let set_id = self.array_sets.iter().position(|set| Rc::ptr_eq(set, among));
        set_id.map(|at| (ArraySetId(at as u32), *selector))
    }

    /// The array of a set whose id is `selector`.
    pub fn selected_buffer(&mut self, set_id: ArraySetId, selector: NodeId, name: &str) -> BufferId {
        if let Some(buffer) = self.f.choices.get(&(set_id, selector)) {
            return *buffer;
        }
        let among = Rc::clone(&self.array_sets[set_id.0 as usize]);
        let is_wide = among.iter().any(|buffer| self.interface[*buffer].counts == Width::Wide);
        let counts = if is_wide { Width::Wide } else { self.interface[among[0]].counts };
        let id = BufferId::Choice(self.f.func.choices.len() as u32);
        self.f.func.choices.push(Choice { name: name.into(), among, selector, counts });
        self.f.choices.insert((set_id, selector), id);
        id
    }

    // Arrays of both kinds.

    /// A parameter that has the elements and axes of an array.
    pub fn array(&self, buffer: BufferId) -> &Buffer {
        match buffer {
            BufferId::Param(_) => &self.interface[buffer],
            BufferId::Choice(at) => &self.interface[self.f.func.choices[at as usize].among[0]],
        }
    }

    pub fn array_name(&self, buffer: BufferId) -> &Name {
        match buffer {
            BufferId::Param(_) => &self.interface[buffer].name,
            BufferId::Choice(at) => &self.f.func.choices[at as usize].name,
        }
    }

    /// The width of the counts of elements of an array.
    pub fn counts_of(&self, buffer: BufferId) -> Width {
        match buffer {
            BufferId::Param(_) => self.interface[buffer].counts,
            BufferId::Choice(at) => self.f.func.choices[at as usize].counts,
        }
    }

    /// The array of a parameter, of which only the id was passed.
    pub fn received_array(&mut self, set_id: ArraySetId, name: &str, span: Span) -> BufferId {
        let selector = self.value_arg(&name.into(), &Type::I32, span);
        self.selected_buffer(set_id, selector, name)
    }

    /// The set of some arrays, without duplicates.
    pub fn array_set(
        &mut self,
        arrays: impl IntoIterator<Item = BufferId>,
    ) -> Result<ArraySetId, NoArraySet> {
        let mut among: Vec<BufferId> = Vec::new();
        for array in arrays {
            if !among.contains(&array) {
                among.push(array);
            }
        }
        let kind = |buffer: &BufferId| {
            let Buffer { element, rank, .. } = self.array(*buffer);
            (element, *rank)
        };
        if among.iter().any(|buffer| kind(buffer) != kind(&among[0])) {
            return Err(NoArraySet::Unlike);
        }
        if among.len() > MAX_ARRAYS {
            return Err(NoArraySet::TooMany);
        }
        let known = self.array_sets.iter().position(|set_id| **set_id == *among);
        let at = known.unwrap_or_else(|| {
            self.array_sets.push(among.into());
            self.array_sets.len() - 1
        });
        Ok(ArraySetId(at as u32))
    }

    /// The arrays that an array operand may be.
    pub fn arrays_of(&self, buffer: BufferId) -> Vec<BufferId> {
        match self.selection_of(buffer) {
            Some((set_id, _)) => self.array_sets[set_id.0 as usize].to_vec(),
            None => vec![buffer],
        }
    }

    pub fn arrays_in_set(&self, set_id: ArraySetId) -> &[BufferId] {
        &self.array_sets[set_id.0 as usize]
    }

    /// The arrays that a name may refer to. `None` if it is not an array.
    fn bound_arrays(&self, binding: &Binding) -> Option<Vec<BufferId>> {
        match binding {
            Binding::Bound { operand: Operand::Buffer(buffer), .. } => Some(self.arrays_of(*buffer)),
            Binding::Items { of: Whole::Selected(set_id), .. } => Some(self.arrays_in_set(*set_id).to_vec()),
            _ => None,
        }
    }

    /// The id of the array that an operand is.
    pub fn selector_of(&mut self, buffer: BufferId, span: Span) -> NodeId {
        match self.selection_of(buffer) {
            Some((_, selector)) => selector,
            None => self.constant(Constant::i32(buffer.idx() as i32), span),
        }
    }

    /// Binds a name to a selected array. Its id is a variable of its own.
    pub fn assign_selected(
        &mut self,
        var: Var,
        (set_id, selector): (ArraySetId, NodeId),
        span: Span,
    ) -> Binding {
        let item = self.item_var(var, 0);
        self.set(item, Binding::Bound { operand: Operand::Node(selector), span });
        Binding::Items { items: Rc::new([item]), of: Whole::Selected(set_id), span }
    }

    /// The array that the name refers to now.
    pub fn read_selected(&mut self, var: Var, set_id: ArraySetId, item: Var, span: Span) -> Operand {
        match self.read_var(item, span) {
            Operand::Node(selector) => {
                let name = self.var_name(var);
                Operand::Buffer(self.selected_buffer(set_id, selector, &name))
            }
            _ => Operand::Error,
        }
    }

    // Joins.

    /// `None` if the paths do not have several arrays.
    pub fn join_arrays(&mut self, var: Var, paths: &[FlowPath]) -> Option<Result<JoinedArrays, Conflict>> {
        let bindings: Vec<Binding> =
            paths.iter().map(|path| path.binding(var, &self.f.vars).clone()).collect();
        let arrays: Vec<Vec<BufferId>> =
            bindings.iter().map(|binding| self.bound_arrays(binding)).collect::<Option<_>>()?;
        let whole = |binding: &Binding| match binding {
            Binding::Items { of, .. } => Some(*of),
            _ => None,
        };
        let is_like_first =
            |at: usize| arrays[at] == arrays[0] && whole(&bindings[at]) == whole(&bindings[0]);
        if (1..arrays.len()).all(is_like_first) {
            return None;
        }
        let set_id = match self.array_set(arrays.into_iter().flatten()) {
            Ok(set_id) => set_id,
            Err(NoArraySet::Unlike) => return None,
            Err(NoArraySet::TooMany) => return Some(Err(too_many(&bindings))),
        };
        // Nothing can be stored on an exit at the head of a loop.
        let is_stored =
            |(binding, path): (&Binding, &FlowPath)| path.carry.is_some() || whole(binding).is_some();
        if !bindings.iter().zip(paths).all(is_stored) {
            return None;
        }
        let item = self.item_var(var, 0);
        let selectors: Vec<Binding> = bindings
            .iter()
            .zip(paths)
            .map(|(binding, path)| match self.bound_selector(binding) {
                Some(selector) => selector,
                None => path.binding(item, &self.f.vars).clone(),
            })
            .collect();
        let span = binding_span(&bindings[0]);
        let binding = Binding::Items { items: Rc::new([item]), of: Whole::Selected(set_id), span };
        let selector = self.store_joined(item, Type::I32, &selectors, paths);
        Some(Ok(JoinedArrays { binding, selector: (item, selector) }))
    }

    /// The id of a known array, as the binding of a variable.
    fn bound_selector(&mut self, binding: &Binding) -> Option<Binding> {
        let Binding::Bound { operand: Operand::Buffer(buffer), span } = binding else { return None };
        let selector = self.selector_of(*buffer, *span);
        Some(Binding::Bound { operand: Operand::Node(selector), span: *span })
    }

    // Loops.

    /// The binding of a name at the head of a loop whose rounds assign it other arrays. An outer loop may have
    /// added arrays since the pass that found `set_id`.
    pub fn arrays_at_head(&mut self, var: Var, entry: &Binding, set_id: ArraySetId) -> Option<Binding> {
        let before = self.bound_arrays(entry)?;
        let of_rounds = self.arrays_in_set(set_id).to_vec();
        let set_id = match self.array_set(of_rounds.into_iter().chain(before)) {
            Ok(set_id) => set_id,
            Err(NoArraySet::Unlike) => return None,
            Err(NoArraySet::TooMany) => {
                return Some(Binding::Conflict(Rc::new(too_many(std::slice::from_ref(entry)))));
            }
        };
        let (item, span) = (self.item_var(var, 0), binding_span(entry));
        // An id that is in a variable is carried like any variable.
        if let Some(selector) = self.bound_selector(entry) {
            let local = self.local_of(item, &Type::I32, span);
            let carry = self.new_carry();
            self.carry(carry, local, &selector);
            let facts = self.joined_facts(&[selector]);
            self.set(item, Binding::Stored { local, facts, span, weak: None });
        }
        Some(Binding::Items { items: Rc::new([item]), of: Whole::Selected(set_id), span })
    }

    /// Whether the rounds assign a name only arrays of its set at the head. Otherwise returns the set that it
    /// needs. `None` if it is not an array.
    pub fn arrays_fixpoint(
        &mut self,
        (var, head): (Var, &Binding),
        (paths, leaving): (&[FlowPath], &[FlowPath]),
    ) -> Option<Result<(), Result<ArraySetId, Conflict>>> {
        let known = self.bound_arrays(head)?;
        let mut all = known.clone();
        let mut last = head;
        for back in paths.iter().chain(leaving).filter_map(|path| path.changed(var)) {
            let arrays = self.bound_arrays(back)?;
            if arrays.iter().any(|array| !all.contains(array)) {
                last = back;
            }
            all.extend(arrays);
        }
        if all.iter().all(|array| known.contains(array)) {
            if let Binding::Items { items, .. } = head {
                self.carry_arrays_back(var, items[0], paths);
            }
            return Some(Ok(()));
        }
        match self.array_set(all) {
            Ok(set_id) => Some(Err(Ok(set_id))),
            Err(NoArraySet::Unlike) => None,
            Err(NoArraySet::TooMany) => Some(Err(Err(too_many(&[head.clone(), last.clone()])))),
        }
    }

    /// Stores the ids of arrays that rounds assign directly.
    fn carry_arrays_back(&mut self, var: Var, item: Var, paths: &[FlowPath]) {
        let span = binding_span(&self.f.vars[item]);
        let local = self.local_of(item, &Type::I32, span);
        for path in paths {
            let selector = path.changed(var).cloned().and_then(|back| self.bound_selector(&back));
            if let (Some(carry), Some(selector)) = (path.carry, selector) {
                self.carry(carry, local, &selector);
            }
        }
    }
}

fn too_many(bindings: &[Binding]) -> Conflict {
    let mut spans: Vec<Span> = bindings.iter().map(binding_span).collect();
    spans.sort_unstable_by_key(|span| span.start);
    Conflict::Arrays { first: spans[0], second: spans[spans.len() - 1] }
}
