//! Workgroup memory, barriers and the assertion of uniformity.
//!
//! `shared(f32, 16, 16)` yields a place, like a list: a local in workgroup memory.

use kps_syntax::Span;

use super::index::n_axes;
use super::vars::Var;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::builtin_calls::BuiltinCall;
use crate::infer::control::sequences::Spanned;
use crate::infer::expressions::operand::{Operand, Static};
use crate::ir::{Home, LocalId, NodeKind, Place, Root, Shared, SharedId, Stmt, Together};
use crate::signature::Form;
use crate::types::Type;

/// No device has more, including the built-in one.
const MAX_SHARED_BYTES: u64 = 1 << 20;

/// The name of shared memory that is not assigned to a variable.
const UNNAMED: &str = "shared";

impl Ctx<'_> {
    /// Reports operations on whole workgroups in a kernel that does not declare the local size.
    pub fn requires_local_size(&mut self, name: &str, span: Span) -> bool {
        let options = &self.template.options;
        let says = options.form != Form::Kernel || options.local_size.is_some() || options.sized_later;
        if !says {
            self.error(errors::local_size_needed(self.at(span), name));
        }
        says
    }

    pub fn barrier(&mut self, span: Span) -> Operand {
        if !self.requires_local_size("barrier", span) {
            return Operand::Error;
        }
        self.f.block.push(Stmt::Together(Together::Barrier, span));
        Operand::Static(Static::None)
    }

    pub fn uniform(&mut self, call: &BuiltinCall) -> Operand {
        let (operand, at) = &call.args[0];
        let Some(node) = self.materialize(operand, *at) else { return Operand::Error };
        let (ty, facts) = (self.ty(node).clone(), self.facts(node));
        let node = self.node(NodeKind::Uniform(node), ty, call.span);
        self.set_facts(node, facts);
        Operand::Node(node)
    }

    pub fn shared_array(&mut self, args: &[(Operand, Span)], span: Span) -> Operand {
        if !self.requires_local_size("shared", span) {
            return Operand::Error;
        }
        let Some(((element, at), sizes)) = args.split_first() else {
            return self.fail(errors::shared_without_size(self.at(span), "f32"));
        };
        let Operand::Static(Static::Type(element)) = element else {
            let (text, what) = (self.f.source.slice(*at).to_owned(), self.describe(element));
            let is_type = |(operand, _): &&Spanned| matches!(operand, Operand::Static(Static::Type(_)));
            let ty = sizes.iter().find(is_type).map_or("f32", |(_, at)| self.f.source.slice(*at));
            return self.fail(errors::shared_type(self.at(*at), &text, &what, ty));
        };
        if sizes.is_empty() {
            let element = element.to_string();
            return self.fail(errors::shared_without_size(self.at(span), &element));
        }
        let mut ty = element.clone();
        let mut n_bytes = u64::from(ty.packed_size().max(1));
        for (size, at) in sizes.iter().rev() {
            if let Operand::Tuple(_) = size {
                let text = errors::without_brackets(self.f.source.slice(*at));
                return self.fail(errors::shared_sizes_together(self.at(*at), &element.to_string(), text));
            }
            let Some(size) = self.shared_size(size, *at) else { return Operand::Error };
            n_bytes = n_bytes.saturating_mul(u64::from(size));
            ty = Type::array(size, ty);
        }
        if n_bytes > MAX_SHARED_BYTES {
            return self.fail(errors::shared_too_large(self.at(span), n_bytes, MAX_SHARED_BYTES));
        }
        let local = match self.f.shared.get(&span.start) {
            // A function may be walked more than once. Its arrays are the same each time.
            Some(local) => *local,
            None => self.new_shared(ty.clone(), span),
        };
        Operand::Place(Place::local(local, ty))
    }

    fn new_shared(&mut self, ty: Type, span: Span) -> LocalId {
        let (name, at) = (UNNAMED.into(), self.at(span));
        let id = self.interface.add_shared(Shared { name, ty: ty.clone(), at });
        let local = self.local_for_shared(id, UNNAMED, ty, span);
        self.f.shared.insert(span.start, local);
        local
    }

    pub fn local_for_shared(&mut self, id: SharedId, name: &str, ty: Type, span: Span) -> LocalId {
        let local = self.new_local(name, ty, span);
        self.f.func.locals[local.idx()].home = Home::Workgroup(id);
        local
    }

    fn shared_size(&mut self, size: &Operand, at: Span) -> Option<u32> {
        let error = match self.known_int(size) {
            Some(known) => match u32::try_from(known) {
                Ok(known) if known > 0 => return Some(known),
                _ => errors::shared_empty(self.at(at), known),
            },
            None => errors::shared_size(self.at(at), self.f.source.slice(at), &self.describe(size)),
        };
        self.error(error);
        None
    }

    /// Shared memory is named after the first variable to which it is assigned.
    pub fn name_shared(&mut self, place: &Place, var: Var) {
        let (Some(id), Root::Local(local)) = (self.shared_id(place), &place.root) else { return };
        if &*self.interface[id].name == UNNAMED && place.path.is_empty() {
            let name = self.var_name(var);
            self.f.func.locals[local.idx()].name = name.clone();
            self.interface[id].name = name;
        }
    }

    /// The workgroup memory that contains a place, if any.
    pub fn shared_id(&self, place: &Place) -> Option<SharedId> {
        let Root::Local(local) = place.root else { return None };
        match self.f.func.local(local).home {
            Home::Workgroup(id) => Some(id),
            Home::Own | Home::Caller => None,
        }
    }

    /// `tile[i, j]`: one index after the other.
    pub fn shared_element(&mut self, place: &Place, indices: &[Spanned], span: Span) -> Option<Place> {
        if let [(index @ Operand::Node(node), at)] = indices
            && let Type::Vector(n, scalar) = *self.ty(*node)
            && scalar.is_int()
            && n_axes(&place.ty) == usize::from(n)
            && let Root::Local(local) = place.root
        {
            let (array, text) = (self.f.func.local(local).name.clone(), self.f.source.slice(*at));
            let what = self.describe(index);
            self.error(errors::vector_index(self.at(*at), &array, text, &what));
            return None;
        }
        let mut element = place.clone();
        for (n_before, (index, at)) in indices.iter().enumerate() {
            if indices.len() > 1 && !matches!(element.ty, Type::Array(_)) {
                self.error(errors::shared_index_count(self.at(span), n_before, indices.len()));
                return None;
            }
            let step = self.step_to(&element.ty, index, *at)?;
            element = element.part(step, element.ty.part(0)?);
        }
        Some(element)
    }
}
