//! Names for one of several arrays, selected at run time: `src, dst = dst, src` in a loop, `t = a if c else b`.
//!
//! Vulkan shaders cannot select between pointers without optional features. So such a name is a number, the id
//! of the array, and phis carry it like any number. Reading the name yields a buffer that represents the set of
//! possible arrays. Lowering treats this buffer like a parameter. When a function is complete, each access to
//! it becomes a branch over the arrays. So later passes never see such a buffer.

use std::rc::Rc;

use kps_syntax::Span;
use rustc_hash::FxHashMap;

use super::Ctx;
use super::operand::Operand;
use super::vars::{Binding, Conflict, FlowPath, Var, Whole, binding_span};
use crate::constant::Constant;
use crate::ir::{AtomicPlace, Block, Buffer, BufferId, CompareOp, Flat, NodeId, NodeKind, Stmt};
use crate::signature::Width;
use crate::types::Type;

/// An access becomes a branch for each array, up to this many.
pub(crate) const MAX_ARRAYS: usize = 8;

/// A set of arrays that a name may refer to: its points-to set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ArraySetId(u32);

/// The sets of arrays, and the buffers that represent selected arrays.
#[derive(Default)]
pub(crate) struct SelectedArrays {
    sets: Vec<Rc<[BufferId]>>,
    /// The set of each such buffer, and the node with the id of the array.
    buffers: FxHashMap<BufferId, (ArraySetId, NodeId)>,
}

/// The buffers of one function for its selected arrays.
pub(crate) type FunctionSelections = FxHashMap<(ArraySetId, NodeId), BufferId>;

/// Why no name can refer to all of some arrays.
pub(crate) enum NoArraySet {
    /// Their elements or numbers of axes differ.
    Unlike,
    TooMany,
}

/// The binding of a name at a join of paths with different arrays. Its number is in a variable.
pub(crate) struct JoinedArrays {
    pub binding: Binding,
    pub selector: (Var, Binding),
}

impl Ctx<'_> {
    pub fn is_selected(&self, buffer: BufferId) -> bool {
        self.selected.buffers.contains_key(&buffer)
    }

    /// The set of a buffer, and the node with the id of the array.
    pub fn selection_of(&self, buffer: BufferId) -> Option<(ArraySetId, NodeId)> {
        self.selected.buffers.get(&buffer).copied()
    }

    /// The buffer for the array of a set whose id is `selector`.
    pub fn selected_buffer(
        &mut self,
        set_id: ArraySetId,
        selector: NodeId,
        name: &str,
        span: Span,
    ) -> BufferId {
        if let Some(buffer) = self.f.selected.get(&(set_id, selector)) {
            return *buffer;
        }
        let of = Rc::clone(&self.selected.sets[set_id.0 as usize]);
        let first = &self.buffers[of[0].idx()];
        let is_wide = of.iter().any(|buffer| self.buffers[buffer.idx()].counts == Width::Wide);
        let buffer = Buffer {
            name: name.into(),
            param_idx: first.param_idx,
            set: first.set,
            binding: first.binding,
            element: first.element.clone(),
            rank: first.rank,
            reach: first.reach,
            is_uniform: false,
            is_cell: false,
            counts: if is_wide { Width::Wide } else { first.counts },
            span,
        };
        let id = BufferId(self.buffers.len() as u32);
        self.buffers.push(buffer);
        self.selected.buffers.insert(id, (set_id, selector));
        self.f.selected.insert((set_id, selector), id);
        id
    }

    /// The array of a parameter, of which only the id was passed.
    pub fn received_array(&mut self, set_id: ArraySetId, name: &str, span: Span) -> BufferId {
        let selector = self.value_arg(&name.into(), &Type::I32, span);
        self.selected_buffer(set_id, selector, name, span)
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
            let Buffer { element, rank, .. } = &self.buffers[buffer.idx()];
            (element, *rank)
        };
        if among.iter().any(|buffer| kind(buffer) != kind(&among[0])) {
            return Err(NoArraySet::Unlike);
        }
        if among.len() > MAX_ARRAYS {
            return Err(NoArraySet::TooMany);
        }
        let known = self.selected.sets.iter().position(|set_id| **set_id == *among);
        let at = known.unwrap_or_else(|| {
            self.selected.sets.push(among.into());
            self.selected.sets.len() - 1
        });
        Ok(ArraySetId(at as u32))
    }

    /// The arrays that an array operand may be.
    pub fn arrays_of(&self, buffer: BufferId) -> Vec<BufferId> {
        match self.selection_of(buffer) {
            Some((set_id, _)) => self.selected.sets[set_id.0 as usize].to_vec(),
            None => vec![buffer],
        }
    }

    pub fn arrays_in_set(&self, set_id: ArraySetId) -> &[BufferId] {
        &self.selected.sets[set_id.0 as usize]
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
            None => self.constant(Constant::i32(buffer.0 as i32), span),
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
                Operand::Buffer(self.selected_buffer(set_id, selector, &name, span))
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
        let span = binding_span(&self.f.vars[item as usize]);
        let local = self.local_of(item, &Type::I32, span);
        for path in paths {
            let selector = path.changed(var).cloned().and_then(|back| self.bound_selector(&back));
            if let (Some(carry), Some(selector)) = (path.carry, selector) {
                self.carry(carry, local, &selector);
            }
        }
    }

    // Legalisation, when a function is complete.

    /// Turns each access to a selected array into a branch over the arrays.
    pub fn legalise_selected(&mut self, body: Block) -> Block {
        if self.f.selected.is_empty() {
            return body;
        }
        let body = self.legalised(body);
        // The remaining nodes are unused.
        for at in 0..self.f.func.nodes.len() {
            if buffer_of(&self.f.func.nodes[at].kind).is_some_and(|buffer| self.is_selected(buffer)) {
                self.f.func.nodes[at].kind = NodeKind::Constant(Constant::bool(false));
                self.f.func.nodes[at].ty = Type::BOOL;
            }
        }
        let buffers = &self.selected.buffers;
        self.f.func.flats.retain(|_, flat| !buffers.contains_key(&flat.buffer));
        body
    }

    /// Removes all buffers but those of the parameters.
    pub fn drop_selected(&mut self) {
        let n_selected = self.selected.buffers.len();
        self.buffers.truncate(self.buffers.len() - n_selected);
    }

    fn legalised(&mut self, body: Block) -> Block {
        let mut legal = Block::with_capacity(body.len());
        for stmt in body {
            match stmt {
                Stmt::If { condition, then, orelse, span } => {
                    let (then, orelse) = (self.legalised(then), self.legalised(orelse));
                    legal.push(Stmt::If { condition, then, orelse, span });
                }
                Stmt::Loop(mut parts) => {
                    for block in [&mut parts.test, &mut parts.body, &mut parts.step] {
                        *block = self.legalised(std::mem::take(block));
                    }
                    legal.push(Stmt::Loop(parts));
                }
                Stmt::Eval(node) => {
                    let kind = &self.f.func.nodes[node.idx()].kind;
                    match buffer_of(kind).filter(|buffer| self.is_selected(*buffer)) {
                        Some(buffer) => legal.extend(self.legal_eval(node, buffer)),
                        None => legal.push(Stmt::Eval(node)),
                    }
                }
                Stmt::BufferStore { buffer, index, path, value, span } if self.is_selected(buffer) => {
                    let store = |ctx: &mut Self, array: BufferId| {
                        let (index, path) = (ctx.index_into(array, index), path.clone());
                        ctx.f.block.push(Stmt::BufferStore { buffer: array, index, path, value, span });
                    };
                    legal.extend(self.by_array(buffer, span, &store));
                }
                stmt => legal.push(stmt),
            }
        }
        legal
    }

    /// The statements that compute a node with a selected array.
    fn legal_eval(&mut self, node: NodeId, buffer: BufferId) -> Block {
        let (kind, ty, span) = {
            let node = &self.f.func.nodes[node.idx()];
            (node.kind.clone(), node.ty.clone(), node.span)
        };
        let is_of_memory = matches!(kind, NodeKind::BufferLoad { .. } | NodeKind::Atomic(_));
        if !is_of_memory {
            return self.selected_array(node, kind, (buffer, ty), span);
        }
        let result = (ty != Type::Void).then(|| self.new_local("kps.chosen", ty.clone(), span));
        let access = |ctx: &mut Self, array: BufferId| {
            let kind = ctx.of_array(&kind, array);
            let value = ctx.node(kind, ty.clone(), span);
            if let Some(local) = result {
                ctx.f.block.push(Stmt::Store { local, value, span });
            }
        };
        let mut block = self.by_array(buffer, span, &access);
        if let Some(local) = result {
            self.f.func.nodes[node.idx()].kind = NodeKind::Load(local);
            block.push(Stmt::Eval(node));
        }
        block
    }

    /// Sizes use selects, not branches.
    fn selected_array(
        &mut self,
        node: NodeId,
        kind: NodeKind,
        (buffer, ty): (BufferId, Type),
        span: Span,
    ) -> Block {
        let (set_id, selector) = self.selection_of(buffer).expect("checked by the caller");
        let of = self.arrays_in_set(set_id).to_vec();
        let (mut block, selection) = self.sub_block(|ctx| {
            let mut values = of.iter().map(|array| {
                let kind = ctx.of_array(&kind, *array);
                let own = match kind {
                    NodeKind::IsInside { .. } => Type::BOOL,
                    _ => ctx.buffers[array.idx()].counts.signed().into(),
                };
                let value = ctx.node(kind, own, span);
                (*array, ctx.convert(value, ty.scalar().expect("a size is a number"), span))
            });
            let mut values: Vec<(BufferId, NodeId)> = values.by_ref().collect();
            let (_, mut orelse) = values.pop().expect("an array set is not empty");
            let mut selection = None;
            for (array, then) in values.into_iter().rev() {
                let condition = ctx.is_array(selector, array, span);
                let kind = NodeKind::Select { condition, then, orelse };
                orelse = ctx.node(kind.clone(), ty.clone(), span);
                selection = Some(kind);
            }
            selection.expect("an array set has two arrays or more")
        });
        // The last select is the node itself.
        block.pop();
        self.f.func.nodes[node.idx()].kind = selection;
        block.push(Stmt::Eval(node));
        block
    }

    /// The same action for each array, in a branch of its own.
    fn by_array(&mut self, buffer: BufferId, span: Span, act: &dyn Fn(&mut Self, BufferId)) -> Block {
        let (set_id, selector) = self.selection_of(buffer).expect("checked by the caller");
        let of = self.arrays_in_set(set_id).to_vec();
        let branch = |ctx: &mut Self, array: BufferId| ctx.sub_block(|ctx| act(ctx, array)).0;
        let (last, others) = of.split_last().expect("an array set is not empty");
        let mut block = branch(self, *last);
        for array in others.iter().rev() {
            let then = branch(self, *array);
            let (mut test, condition) = self.sub_block(|ctx| ctx.is_array(selector, *array, span));
            test.push(Stmt::If { condition, then, orelse: block, span });
            block = test;
        }
        block
    }

    fn is_array(&mut self, selector: NodeId, array: BufferId, span: Span) -> NodeId {
        let array = self.constant(Constant::i32(array.0 as i32), span);
        self.node(NodeKind::Compare(CompareOp::Equal, selector, array), Type::BOOL, span)
    }

    /// The same access to one array.
    fn of_array(&mut self, kind: &NodeKind, array: BufferId) -> NodeKind {
        match kind.clone() {
            NodeKind::BufferLoad { index, path, bounds, .. } => {
                NodeKind::BufferLoad { buffer: array, index: self.index_into(array, index), path, bounds }
            }
            NodeKind::Atomic(mut atomic) => {
                if let AtomicPlace::Buffer { buffer, index, .. } = &mut atomic.place {
                    (*buffer, *index) = (array, self.index_into(array, *index));
                }
                NodeKind::Atomic(atomic)
            }
            NodeKind::IsInside { index, .. } => {
                NodeKind::IsInside { buffer: array, index: self.index_into(array, index) }
            }
            NodeKind::BufferAxis { axis, .. } => NodeKind::BufferAxis { buffer: array, axis },
            _ => NodeKind::BufferLen(array),
        }
    }

    /// A flat index belongs to one array. This computes it for another.
    fn index_into(&mut self, array: BufferId, index: NodeId) -> NodeId {
        let Some(flat) = self.f.func.flats.get(&index) else { return index };
        let flat = Flat { buffer: array, terms: flat.terms.clone() };
        let node = &self.f.func.nodes[index.idx()];
        let (kind, ty, span) = (node.kind.clone(), node.ty.clone(), node.span);
        let again = self.node(kind, ty, span);
        if let Some(axes) = self.f.func.axes.get(&index).cloned() {
            self.f.func.axes.insert(again, axes);
        }
        if self.f.func.own.contains(&index) {
            self.f.func.own.insert(again);
        }
        self.f.func.flats.insert(again, flat);
        again
    }
}

fn too_many(bindings: &[Binding]) -> Conflict {
    let mut spans: Vec<Span> = bindings.iter().map(binding_span).collect();
    spans.sort_unstable_by_key(|span| span.start);
    Conflict::Arrays { first: spans[0], second: spans[spans.len() - 1] }
}

/// The buffer that a node accesses.
fn buffer_of(kind: &NodeKind) -> Option<BufferId> {
    match kind {
        NodeKind::BufferLoad { buffer, .. }
        | NodeKind::BufferLen(buffer)
        | NodeKind::BufferAxis { buffer, .. }
        | NodeKind::IsInside { buffer, .. } => Some(*buffer),
        NodeKind::Atomic(atomic) => match &atomic.place {
            AtomicPlace::Buffer { buffer, .. } => Some(*buffer),
            AtomicPlace::Shared { .. } => None,
        },
        _ => None,
    }
}
