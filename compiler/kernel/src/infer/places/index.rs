//! Elements, components, swizzles and members: reads, and the steps that assignments share.
//!
//! A constant index is checked here. A negative one counts from the end. The emitter tests an index that is
//! known only at run time: out of range, a read yields 0 and a write is discarded.

use std::rc::Rc;

use kps_syntax::ast::{Expr, ExprKind, Ident, Name, Stmt as AstStmt, StmtKind};
use kps_syntax::{Span, suggest};

use super::gather_scatter::ScatteredVector;
use super::shape::{Indexed, fixed_attribute, is_array_attribute};
use super::vars::Binding;
use crate::aliases::Copied;
use crate::builtins::{self, Builtin};
use crate::constant::{Constant, Literal};
use crate::env::{EnvModule, EnvValue, Holder};
use crate::errors::{self, Found};
use crate::infer::Ctx;
use crate::infer::expressions::operand::{Operand, Static};
use crate::ir::{BufferId, ElementIndex, NodeId, NodeKind, Place, Step, Touch};
use crate::structs::{MethodKind, StructType};
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    /// An element, a component or a member. A place in memory is loaded only after the whole expression is
    /// read, so `a[i].pos.x` loads one number.
    pub fn part(&mut self, expr: &Expr) -> Operand {
        self.report_unwritten(expr);
        self.part_within(expr)
    }

    fn part_within(&mut self, expr: &Expr) -> Operand {
        match &expr.kind {
            // A member of an `IntEnum` is an int.
            ExprKind::Attribute { value, attr }
                if &*attr.name == "value" && self.is_member_of_class(value) =>
            {
                self.part_within(value)
            }
            ExprKind::Attribute { value, attr } => {
                let container = match self.named_tuple(value) {
                    Some(named) => Operand::Static(Static::Module(named.name.clone(), Some(named))),
                    None => self.nested(expr.span, Operand::Error, |ctx| ctx.part_within(value)),
                };
                self.attribute(container, attr, expr.span)
            }
            ExprKind::Subscript { value, index } => {
                let container = self.nested(expr.span, Operand::Error, |ctx| ctx.part_within(value));
                self.subscript(container, expr, value, index)
            }
            // A struct in a buffer stays in memory.
            ExprKind::Name(name) => match self.cell_named(name) {
                Some(place) => Operand::Place(place),
                None => {
                    let value = self.name_value(name, expr.span);
                    self.remark_value(expr.span, &value);
                    value
                }
            },
            _ => self.expr(expr),
        }
    }

    /// The names of a captured named tuple. As a value it is a plain tuple.
    fn named_tuple(&self, expr: &Expr) -> Option<EnvModule> {
        match self.script_value(expr)? {
            EnvValue::Named(named, _) => Some(named),
            _ => None,
        }
    }

    /// The value in the script of a name or dotted name that the kernel does not shadow.
    pub(in crate::infer) fn script_value(&self, expr: &Expr) -> Option<EnvValue> {
        match &expr.kind {
            ExprKind::Name(name) if self.f.vars.named(name).is_none() => self.f.env.get().get(name),
            ExprKind::Attribute { value, attr } => self.script_value(value)?.member(&attr.name),
            _ => None,
        }
    }

    /// Whether it is a numeric attribute of a class of the script.
    fn is_member_of_class(&self, expr: &Expr) -> bool {
        let ExprKind::Attribute { value, .. } = &expr.kind else { return false };
        let of_class =
            matches!(self.script_value(value), Some(EnvValue::Module(EnvModule { kind: Holder::Class, .. })));
        of_class && matches!(self.script_value(expr), Some(EnvValue::Int(_)))
    }

    /// A part as a value. An array stays in memory.
    pub fn loaded(&mut self, operand: Operand, span: Span) -> Operand {
        match operand {
            Operand::Place(place) => self.load_place(&place, span),
            Operand::Scattered(vector) => {
                for tested in &vector.tested {
                    self.report_axes(&tested.axes, Touch::Read, tested.places);
                }
                match self.swizzled(&vector) {
                    // One load of the whole vector is cheaper than one for each component.
                    Some((whole, components)) => {
                        let whole = self.load_whole(&whole, span);
                        self.load_components(whole, &components, span)
                    }
                    None => Operand::Node(self.gather(&vector, span)),
                }
            }
            Operand::Node(node) => {
                let value = self.value(node, span);
                if self.is_part_of_a_value(node) {
                    self.record_copied(&value, span, Copied::Of(Vec::new()));
                }
                value
            }
            operand => operand,
        }
    }

    fn subscript(&mut self, container: Operand, expr: &Expr, value: &Expr, index: &Expr) -> Operand {
        let span = expr.span;
        match container {
            Operand::Error => {
                self.index_of_unknown(index);
                Operand::Error
            }
            // `check` refused it.
            _ if matches!(&index.kind, ExprKind::Slice { lower, upper, .. } if lower.is_some() || upper.is_some()) => {
                Operand::Error
            }
            Operand::Buffer(_) | Operand::Row(_) => match self.array_element(&container, index) {
                Some(Indexed::Element(buffer, index)) => Operand::Place(self.buffer_place(buffer, index)),
                Some(Indexed::Row(row)) => Operand::Row(row),
                None => Operand::Error,
            },
            Operand::Place(place) if place.ty.is_matrix() => {
                match self.matrix_index(&place.ty, index, value.span) {
                    Some(at) => self.matrix_place(&place, &at, (value.span, span)),
                    None => Operand::Error,
                }
            }
            Operand::Scattered(vector) => match self.step_into(&vector.ty(), index) {
                Some(step) => self.scattered_element(&vector, step, (value.span, span)),
                None => Operand::Error,
            },
            Operand::Node(node) if self.ty(node).is_matrix() => {
                self.matrix_item(node, index, (value.span, span))
            }
            Operand::Place(place) if is_indexable(&place.ty) => {
                self.note_matrix_part(&place, span);
                self.element_place(&place, index).map_or(Operand::Error, Operand::Place)
            }
            Operand::Node(node) if is_indexable(self.ty(node)) => {
                self.node_element(node, index, (value.span, span))
            }
            Operand::Tuple(items) => self.tuple_item(&items, index, span),
            // A tuple in a list.
            Operand::Place(ref place) if matches!(place.ty, Type::Tuple(_)) => {
                match self.loaded(container, span) {
                    Operand::Tuple(items) => self.tuple_item(&items, index, span),
                    _ => Operand::Error,
                }
            }
            Operand::Static(Static::Generic(_) | Static::Type(_)) => self.type_operand(expr),
            Operand::Static(Static::Sequence(sequence)) if sequence.range().is_some() => {
                self.range_item(&sequence, value.span, index, span)
            }
            operand if self.struct_method(&operand, "__getitem__") => {
                let at = self.expr(index);
                let item = self.call_special("__getitem__", (&operand, value.span), &[(&at, index.span)]);
                item.unwrap_or(Operand::Error)
            }
            operand => {
                let what = self.describe(&operand);
                self.fail(errors::not_indexable(self.at(span), (value, index), &what))
            }
        }
    }

    /// An element of an array or a vector that is a value.
    fn node_element(&mut self, node: NodeId, index: &Expr, (name, span): (Span, Span)) -> Operand {
        let ty = self.ty(node).clone();
        let Some(step) = self.step_into(&ty, index) else { return Operand::Error };
        self.report_element(&ty, step, Touch::Read, (name, span));
        let part = ty.part(0).expect("indexable types have parts");
        let kind = match step {
            Step::Part(at) => NodeKind::Extract(node, at),
            Step::At(index) => NodeKind::ExtractAt { whole: node, index },
        };
        Operand::Node(self.node(kind, part, span))
    }

    pub fn tuple_item(&mut self, items: &Rc<[Operand]>, index: &Expr, span: Span) -> Operand {
        let operand = self.expr(index);
        match self.known_int(&operand) {
            Some(at) => {
                let from_start = if at < 0 { at + items.len() as i128 } else { at };
                match usize::try_from(from_start).ok().and_then(|at| items.get(at)) {
                    Some(item) => item.clone(),
                    None => {
                        self.fail(errors::index_out_of_range(self.at(index.span), at, items.len(), "tuple"))
                    }
                }
            }
            None if operand.has_error() => Operand::Error,
            None => self.item_at(items, &operand, index.span, span),
        }
    }

    /// An item of a tuple at a run-time index. If the items are numbers of one type, the tuple is indexed as a
    /// list.
    fn item_at(&mut self, items: &[Operand], index: &Operand, index_span: Span, span: Span) -> Operand {
        let operands: Vec<(Operand, Span)> = items.iter().map(|item| (item.clone(), span)).collect();
        let borrowed: Vec<(&Operand, Span)> = operands.iter().map(|(item, at)| (item, *at)).collect();
        let ty = self.join_values(&borrowed);
        if !ty.is_some_and(|ty| ty.scalar().is_some() && !ty.is_matrix()) {
            return self.fail(errors::tuple_index(self.at(span)));
        }
        let list = self.list_of_items(&operands, span);
        let Operand::Place(place) = list else { return Operand::Error };
        match self.step_to(&place.ty, index, index_span) {
            Some(step) => self.element_of(&place, step, span),
            None => Operand::Error,
        }
    }

    /// The value of a constant int.
    pub fn known_int(&self, operand: &Operand) -> Option<i128> {
        match operand {
            Operand::Literal(Literal::Int(value)) => Some(*value),
            Operand::Node(node) => match self.ty(*node) {
                Type::Scalar(scalar) if scalar.is_int() => {
                    self.f.func.constant(*node).and_then(Constant::as_int)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Reports mistakes in an index of an unknown value. A matrix may have an axis as a whole.
    fn index_of_unknown(&mut self, index: &Expr) {
        match &index.kind {
            ExprKind::Slice { .. } => {}
            ExprKind::Tuple(items) => items.iter().for_each(|item| self.index_of_unknown(item)),
            _ => drop(self.expr(index)),
        }
    }

    /// An index operand: an int of any type.
    pub fn index_node(&mut self, operand: &Operand, span: Span) -> Option<NodeId> {
        match operand {
            // The element has the same type at every index.
            Operand::Error if self.is_partial => Some(self.constant(Constant::i32(0), span)),
            Operand::Error => None,
            Operand::Node(node) if matches!(self.ty(*node), Type::Scalar(scalar) if scalar.is_int()) => {
                let is_narrow = self.ty(*node).scalar().is_some_and(|scalar| scalar.bits() < 32);
                // A length need not fit a narrow type.
                Some(if is_narrow { self.convert(*node, Scalar::I32, span) } else { *node })
            }
            Operand::Literal(Literal::Int(_)) => self.materialize(operand, span),
            operand => {
                let (text, what) = (self.f.source.slice(span).to_owned(), self.describe(operand));
                self.error(match self.array_looped_over(&text) {
                    Some(array) => errors::element_as_index(self.at(span), &text, &what, &array),
                    None => errors::index_type(self.at(span), &text, &what),
                });
                None
            }
        }
    }

    /// The array from which a loop of this function takes the values of a variable.
    fn array_looped_over(&self, variable: &str) -> Option<Name> {
        fn in_block(body: &[AstStmt], variable: &str) -> Option<Name> {
            body.iter().find_map(|stmt| match &stmt.kind {
                StmtKind::For { target, iter, .. } if is_name(target, variable) => match &iter.kind {
                    ExprKind::Name(array) => Some(array.clone()),
                    _ => None,
                },
                _ => stmt.blocks().into_iter().find_map(|block| in_block(block, variable)),
            })
        }
        let is_array = |name: &Name| {
            let binding = self.f.vars.named(name).map(|var| &self.f.vars[var]);
            let is_list = |operand: &Operand| matches!(operand, Operand::Buffer(_) | Operand::Place(_));
            matches!(binding, Some(Binding::Bound { operand, .. }) if is_list(operand))
        };
        in_block(&self.f.def.as_ref()?.body, variable).filter(is_array)
    }

    /// An index into something of a known length.
    pub fn fixed_index(&mut self, operand: &Operand, len: u32, span: Span, what: &str) -> Option<Step> {
        let Some(value) = self.known_int(operand) else {
            let index = self.index_node(operand, span)?;
            return Some(Step::At(index));
        };
        let from_start = if value < 0 { value + i128::from(len) } else { value };
        match u32::try_from(from_start) {
            Ok(at) if at < len => Some(Step::Part(at)),
            _ => {
                self.error(errors::index_out_of_range(self.at(span), value, len as usize, what));
                None
            }
        }
    }

    /// The step of an index into an array or a vector.
    pub fn step_into(&mut self, ty: &Type, index: &Expr) -> Option<Step> {
        if let ExprKind::Tuple(items) = &index.kind {
            let at = self.at(index.span);
            self.error(match items.len() {
                0 => errors::no_index(at),
                n_indices => errors::list_index_tuple(at, n_indices),
            });
            return None;
        }
        let operand = self.expr(index);
        self.step_to(ty, &operand, index.span)
    }

    /// The step of an index. Messages call the indexed value a list or a vector.
    pub fn step_to(&mut self, ty: &Type, index: &Operand, span: Span) -> Option<Step> {
        let what = if ty.is_vector() { "vector" } else { "list" };
        self.fixed_index(index, ty.n_parts()?, span, what)
    }

    /// The place of one element. In lists of lists, `a[i, j]` is accepted as well, since a kernel may capture
    /// NumPy arrays.
    pub fn element_place(&mut self, place: &Place, index: &Expr) -> Option<Place> {
        let n_indices = if let ExprKind::Tuple(items) = &index.kind { items.len() } else { 1 };
        let is_nested = (2..=n_axes(&place.ty)).contains(&n_indices);
        if is_nested || (self.shared_id(place).is_some() && n_indices > 0) {
            let indices = self.indices_of(index);
            return self.shared_element(place, &indices, index.span);
        }
        let step = self.step_into(&place.ty, index)?;
        Some(place.part(step, place.ty.part(0)?))
    }

    pub fn buffer_place(&self, buffer: BufferId, index: ElementIndex) -> Place {
        Place::element(buffer, index, self.array(buffer).element.clone())
    }

    /// An element as an operand: a value, or an array within the array.
    pub fn element_of(&mut self, place: &Place, step: Step, span: Span) -> Operand {
        match place.ty.part(0) {
            Some(element) => self.load_place(&place.part(step, element), span),
            None => Operand::Error,
        }
    }

    pub fn load_place(&mut self, place: &Place, span: Span) -> Operand {
        match place.ty {
            Type::Array(_) | Type::Coop(_) => Operand::Place(place.clone()),
            _ => {
                let node = self.load_whole(place, span);
                self.value(node, span)
            }
        }
    }

    /// Loads a whole place as one value.
    pub fn load_whole(&mut self, place: &Place, span: Span) -> NodeId {
        self.node(place.load(), place.ty.clone(), span)
    }

    pub fn store_whole(&mut self, place: &Place, value: NodeId, span: Span) {
        self.f.block.push(place.store(value, span));
    }

    pub fn load_components(&mut self, vector: NodeId, components: &[u32], span: Span) -> Operand {
        let scalar = self.ty(vector).scalar().expect("components are of vectors");
        let node = match components {
            [component] => self.node(NodeKind::Extract(vector, *component), scalar, span),
            _ => {
                let ty = Type::of(components.len() as u8, scalar);
                self.node(NodeKind::Swizzle(vector, components.to_vec()), ty, span)
            }
        };
        Operand::Node(node)
    }

    pub fn attribute(&mut self, container: Operand, attr: &Ident, span: Span) -> Operand {
        let ty = match &container {
            Operand::Node(node) => self.ty(*node).clone(),
            Operand::Place(place) => place.ty.clone(),
            Operand::Scattered(vector) => vector.ty(),
            _ => Type::Void,
        };
        match (container, &ty) {
            (Operand::Error, _) => Operand::Error,
            (container, Type::Vector(n, _)) => match self.swizzle(&attr.name, *n, attr.span, &ty) {
                Some(components) => self.components_of(container, &components, span),
                None => Operand::Error,
            },
            (container, Type::Struct(of)) if is_property(of, &attr.name) => {
                let value = self.call_special(&attr.name, (&container, span), &[]);
                value.unwrap_or(Operand::Error)
            }
            (container, Type::Struct(of)) => match of.constant(&attr.name) {
                Some(constant) => self.captured(&attr.name, constant, span),
                None => match self.member_of(of, attr) {
                    Some(at) => self.part_of(container, at, span),
                    None => Operand::Error,
                },
            },
            (_, Type::Array(_)) if is_array_attribute(&attr.name) => fixed_attribute(&ty, &attr.name),
            (_, Type::Matrix { columns, rows, .. }) if &*attr.name == "shape" => {
                let sizes = [*rows, *columns].map(|n| Operand::int(i128::from(n)));
                Operand::Tuple(Rc::new(sizes))
            }
            (container, Type::Matrix { .. }) if &*attr.name == "T" => match self.loaded(container, span) {
                Operand::Node(matrix) => Operand::Node(self.transpose(matrix, span)),
                _ => Operand::Error,
            },
            (array @ (Operand::Buffer(_) | Operand::Row(_)), _) => self.array_attribute(&array, attr, span),
            (Operand::Static(Static::Texture(texture)), _) => self.texture_attribute(texture, attr, span),
            (Operand::Static(Static::Type(Type::Struct(of))), _) => match of.method(&attr.name) {
                Some(method) => Operand::Static(Static::Function(method.function.clone())),
                None => match of.constant(&attr.name) {
                    Some(constant) => self.captured(&attr.name, constant, span),
                    None => self.fail(errors::not_of_the_struct(self.at(attr.span), &of, &attr.name)),
                },
            },
            (Operand::Static(Static::Sequence(sequence)), _) if sequence.bound(&attr.name).is_some() => {
                sequence.bound(&attr.name).expect("checked above").clone()
            }
            (Operand::Static(Static::Module(name, module)), _) => self.member(&name, module, attr, span),
            (operand, _) => {
                let what = self.describe(&operand);
                self.fail(errors::no_attribute(self.at(attr.span), &attr.name, &what))
            }
        }
    }

    /// One part of a composite operand.
    pub fn part_of(&mut self, container: Operand, at: u32, span: Span) -> Operand {
        match container {
            Operand::Place(place) => match place.ty.part(at) {
                Some(ty) => Operand::Place(place.part(Step::Part(at), ty)),
                None => Operand::Error,
            },
            Operand::Node(node) => match (self.known_member(node, at), self.ty(node).part(at)) {
                (Some(known), _) => Operand::Node(known),
                (None, Some(ty)) => Operand::Node(self.node(NodeKind::Extract(node, at), ty, span)),
                (None, None) => Operand::Error,
            },
            _ => Operand::Error,
        }
    }

    /// A constant member of a struct that was constructed here.
    fn known_member(&self, whole: NodeId, at: u32) -> Option<NodeId> {
        let (Type::Struct(_), NodeKind::Construct(parts)) = (self.ty(whole), &self.f.func.node(whole).kind)
        else {
            return None;
        };
        parts.get(at as usize).copied().filter(|part| self.f.func.constant(*part).is_some())
    }

    fn components_of(&mut self, container: Operand, components: &[u32], span: Span) -> Operand {
        match (components, container) {
            (components, Operand::Scattered(vector)) => vector.components(components).into_operand(),
            ([component], container) => self.part_of(container, *component, span),
            (_, Operand::Place(place)) => ScatteredVector::of_vector(&place, components).into_operand(),
            (_, Operand::Node(vector)) => self.load_components(vector, components, span),
            _ => Operand::Error,
        }
    }

    fn member(&mut self, module: &Name, env: Option<EnvModule>, attr: &Ident, span: Span) -> Operand {
        if builtins::is_kernel_module(module) {
            match builtins::member(&attr.name) {
                Some(Builtin::Module) => return Operand::Static(Static::Module(attr.name.clone(), None)),
                Some(builtin) => return self.builtin(&builtin, span),
                None if &*attr.name == "Array" => return Operand::Static(Static::Generic("Array")),
                None => {}
            }
        }
        let holder = env.as_ref().map_or_else(|| Found::Module(module.clone()), EnvModule::describe);
        let value: Option<EnvValue> = env.and_then(|env| env.members.get(&attr.name));
        match value {
            Some(value) => self.captured(&attr.name, value, span),
            None => {
                let nearest = suggest::nearest(&attr.name, builtins::member_names());
                self.fail(errors::unknown_member(self.at(attr.span), &holder, &attr.name, nearest))
            }
        }
    }

    /// The components that `xyzw`, `rgba` or `stpq` letters select. All letters are of one set.
    pub fn swizzle(&mut self, letters: &str, n: u8, span: Span, ty: &Type) -> Option<Vec<u32>> {
        match components_named(letters) {
            Some(components) if (1..=4).contains(&components.len()) => {
                if components.iter().all(|component| *component < u32::from(n)) {
                    return Some(components);
                }
                self.error(errors::swizzle_too_wide(self.at(span), letters, ty));
                None
            }
            _ => {
                self.error(errors::unknown_swizzle(self.at(span), letters, ty));
                None
            }
        }
    }
}

fn is_name(expr: &Expr, wanted: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(name) if &**name == wanted)
}

/// The components that the letters of a swizzle select.
pub(crate) fn components_named(letters: &str) -> Option<Vec<u32>> {
    ["xyzw", "rgba", "stpq"].into_iter().find_map(|set| {
        letters.chars().map(|letter| set.find(letter).map(|at| at as u32)).collect::<Option<Vec<_>>>()
    })
}

/// Whether `[i]` selects one of its parts.
pub(crate) fn is_indexable(ty: &Type) -> bool {
    matches!(ty, Type::Array(_) | Type::Vector(..))
}

fn is_property(of: &StructType, name: &str) -> bool {
    of.method(name).is_some_and(|method| method.kind == MethodKind::Property)
}

/// The number of indices to an element of nested lists.
pub(in crate::infer) fn n_axes(ty: &Type) -> usize {
    match ty {
        Type::Array(array) => 1 + n_axes(&array.element),
        _ => 0,
    }
}
