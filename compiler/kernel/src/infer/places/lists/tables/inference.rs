//! Tables: lists of literals that nothing changes.

use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::ast::FunctionDef;
use kps_syntax::{Diagnostic, Span};

use super::{Table, scalar_of_large};
use crate::aliases::Copied;
use crate::constant::Literal;
use crate::env::EnvValue;
use crate::infer::Ctx;
use crate::infer::assumptions::WeakKey;
use crate::infer::expressions::operand::Operand;
use crate::infer::places::vars::Var;
use crate::ir::{NodeId, NodeKind, Place, Root, Stmt};
use crate::types::{Scalar, Type};
use crate::{errors, resolve};

impl Ctx<'_> {
    /// Makes the tables that a function captures, once, before anything of it runs.
    pub fn make_tables(&mut self, def: &Arc<FunctionDef>) {
        for (name, span) in self.template.free_paths(def).iter() {
            if let Some(value @ EnvValue::List(_)) = self.f.env.get().get(name) {
                let table = self.captured(name, value, *span);
                self.name_list(&table, name);
                self.f.lists.captured.insert(name.clone(), table);
            }
        }
    }

    /// A list of the script that contains only values that kernels know.
    pub fn table(&mut self, name: &str, items: Rc<[EnvValue]>, span: Span) -> Operand {
        let mut numbers = Vec::new();
        let is_weak = weak_numbers(&items, &mut numbers);
        let large = if is_weak { scalar_of_large(numbers.iter().copied()) } else { None };
        let key = WeakKey::At(span, 0);
        let wide = large.or(self.f.assumed.weak(key)).filter(|_| is_weak);
        let operands: Vec<(Operand, Span)> = items
            .iter()
            .map(|item| match wide {
                Some(scalar) => (Operand::Node(self.table_value(item, scalar, span)), span),
                None => (self.captured(name, item.clone(), span), span),
            })
            .collect();
        let table = self.array_of(&operands, span);
        if is_weak {
            self.note_table(&table, items, numbers, key, Some(span));
        }
        self.record_copied(&table, span, Copied::Captured);
        table
    }

    fn note_table(
        &mut self,
        table: &Operand,
        items: Rc<[EnvValue]>,
        numbers: Vec<Literal>,
        key: WeakKey,
        captured_at: Option<Span>,
    ) {
        if let Operand::Place(Place { root: Root::Local(local), .. }) = table {
            let table = Table { items, numbers: numbers.into(), key, is_constant: true, captured_at };
            self.f.lists.tables.insert(*local, table);
        }
    }

    /// A list that the function makes of these items.
    pub fn list_of_items(&mut self, items: &[(Operand, Span)], span: Span) -> Operand {
        let Some((table, numbers)) = self.table_of_items(items) else { return self.array_of(items, span) };
        let key = WeakKey::At(span, 0);
        let list = match self.f.assumed.weak(key) {
            Some(scalar) => {
                let items: Vec<(Operand, Span)> = table
                    .iter()
                    .map(|item| (Operand::Node(self.table_value(item, scalar, span)), span))
                    .collect();
                self.array_of(&items, span)
            }
            None => self.array_of(items, span),
        };
        self.note_table(&list, table, numbers, key, None);
        list
    }

    /// The items of a list as a table, if they are literals or lists of literals. Also all numbers in it.
    fn table_of_items(&self, items: &[(Operand, Span)]) -> Option<(Rc<[EnvValue]>, Vec<Literal>)> {
        let literal = |(operand, _): &(Operand, Span)| match operand {
            Operand::Literal(Literal::Int(value)) => Some(EnvValue::Int(*value)),
            Operand::Literal(Literal::Float(value)) => Some(EnvValue::Float(*value)),
            Operand::Place(Place { root: Root::Local(local), path, .. }) if path.is_empty() => {
                let table = self.f.lists.tables.get(local).filter(|table| table.is_constant)?;
                Some(EnvValue::List(Rc::clone(&table.items)))
            }
            _ => None,
        };
        let items: Rc<[EnvValue]> = items.iter().map(literal).collect::<Option<_>>()?;
        let mut numbers = Vec::new();
        weak_numbers(&items, &mut numbers).then_some((items, numbers))
    }

    /// The table of which a node is a number.
    pub fn table_of_element(&self, node: NodeId) -> Option<&Table> {
        match &self.f.func.node(node).kind {
            NodeKind::LoadElement { local, .. } if matches!(self.ty(node), Type::Scalar(_)) => {
                self.f.lists.tables.get(local).filter(|table| table.is_constant)
            }
            _ => None,
        }
    }

    /// A list gets a name, by which it may be changed.
    pub fn name_table(&mut self, var: Var, operand: &Operand) {
        if let Operand::Place(Place { root: Root::Local(local), path, .. }) = operand
            && self.f.lists.tables.contains_key(local)
        {
            let depth = self.reading_depth(var);
            let table = self.f.lists.tables.get_mut(local).expect("it was found above");
            table.is_constant &= depth.saturating_add(path.len()) >= table.depth();
        }
    }

    /// The least number of subscripts with which the function mentions a variable.
    fn reading_depth(&self, var: Var) -> usize {
        let (Some(name), Some(def)) = (self.f.vars.name_in_source(var), &self.f.def) else { return 0 };
        let is_predefined =
            |name: &str| self.f.vars.named(name).is_none() && self.f.env.get().get(name).is_none();
        let depths =
            self.f.lists.reading_depths.get_or_init(|| resolve::reading_depths(&def.body, &is_predefined));
        depths.get(name).copied().unwrap_or(usize::MAX)
    }

    /// A table, or a row of one, as a list of another type that all its numbers fit.
    pub fn table_adopted_as(&mut self, place: &Place, to: &Type, span: Span) -> Option<NodeId> {
        let Root::Local(local) = place.root else { return None };
        let (numbers, scalar) = self.table_and_scalar(place, to)?;
        if numbers.iter().any(|number| number.fit(scalar).is_none()) {
            return None;
        }
        let table = &self.f.lists.tables[&local];
        if place.path.is_empty() {
            let items = EnvValue::List(Rc::clone(&table.items));
            return Some(self.table_value(&items, scalar, span));
        }
        if scalar == Scalar::F64 {
            let key = table.key;
            self.f.assumed.demand(key, scalar);
        }
        let row = self.load_whole(place, span);
        Some(self.list_in(row, scalar, span))
    }

    /// The numbers of a list, or of lists in it, converted one by one.
    fn list_in(&mut self, list: NodeId, scalar: Scalar, span: Span) -> NodeId {
        let Type::Array(array) = self.ty(list).clone() else { return self.convert(list, scalar, span) };
        let parts: Vec<NodeId> = (0..array.len)
            .map(|at| {
                let part = self.node(NodeKind::Extract(list, at), array.element.clone(), span);
                self.list_in(part, scalar, span)
            })
            .collect();
        self.construct_list(parts, span)
    }

    fn construct_list(&mut self, parts: Vec<NodeId>, span: Span) -> NodeId {
        let ty = Type::array(parts.len() as u32, self.ty(parts[0]).clone());
        self.node(NodeKind::Construct(parts), ty, span)
    }

    /// A copy of a table as a list of another type that all its numbers fit. `None` if it has that type.
    pub fn table_copied_as(&mut self, place: &Place, to: &Type, span: Span) -> Option<Operand> {
        let Root::Local(table) = place.root else { return None };
        if place.ty == *to {
            return None;
        }
        let value = self.table_adopted_as(place, to, span)?;
        let local = self.new_local("list", to.clone(), span);
        self.f.block.push(Stmt::Store { local, value, span });
        let list = Operand::Place(Place::local(local, to.clone()));
        if let Some(at) = self.f.lists.tables[&table].captured_at {
            self.record_copied(&list, at, Copied::Captured);
        }
        Some(list)
    }

    /// The common type of lists and structs in memory, where tables adopt the type of the others. If there are
    /// only tables, it is the type that holds all numbers.
    pub fn join_lists(&self, places: &[&Place]) -> Option<Type> {
        let first = &places.first()?.ty;
        if places.iter().all(|place| place.ty == *first) {
            return Some(first.clone());
        }
        if places.iter().all(|place| place.ty.has_rows_of(first)) {
            return Some(first.with_plain_rows());
        }
        let mut typed = places.iter().filter(|place| !self.is_table(place));
        let ty = match typed.next() {
            Some(one) => typed.all(|place| place.ty == one.ty).then(|| one.ty.clone())?,
            None => {
                let scalars: Vec<Scalar> =
                    places.iter().map(|place| item_scalar(&place.ty)).collect::<Option<_>>()?;
                let holding = scalars.iter().find(|scalar| scalar.is_float());
                let widest = scalars.iter().max_by_key(|scalar| scalar.bits());
                in_scalar(first, *holding.or(widest)?)
            }
        };
        places.iter().all(|place| place.ty == ty || self.table_fits(place, &ty)).then_some(ty)
    }

    /// Whether a table could be a list of type `to`.
    pub fn table_fits(&self, place: &Place, to: &Type) -> bool {
        let numbers = self.table_and_scalar(place, to);
        numbers.is_some_and(|(numbers, scalar)| numbers.iter().all(|number| number.fit(scalar).is_some()))
    }

    /// The error for a table that could be a list of another type, except for a number that does not fit.
    pub fn out_of_range_error(&self, operand: &Operand, to: &Type, span: Span) -> Option<Diagnostic> {
        let Operand::Place(place) = operand else { return None };
        let (numbers, scalar) = self.table_and_scalar(place, to)?;
        let beyond = numbers.iter().find(|number| number.fit(scalar).is_none())?;
        Some(errors::literal_does_not_fit(self.at(span), *beyond, scalar))
    }

    /// The numbers of a table, and their type in a list of type `to` with as many.
    fn table_and_scalar(&self, place: &Place, to: &Type) -> Option<(&Rc<[Literal]>, Scalar)> {
        let Root::Local(local) = place.root else { return None };
        let scalar = item_scalar(to)?;
        let numbers = &self.f.lists.tables.get(&local).filter(|table| table.is_constant)?.numbers;
        (in_scalar(&place.ty, scalar) == *to).then_some((numbers, scalar))
    }

    /// Whether a list is a constant table.
    pub fn is_table(&self, place: &Place) -> bool {
        matches!(place.root, Root::Local(local) if self.f.lists.tables.get(&local).is_some_and(|table| table.is_constant))
    }

    /// A number, or nested lists of numbers, that all fit `scalar`.
    fn table_value(&mut self, value: &EnvValue, scalar: Scalar, span: Span) -> NodeId {
        let number = |literal: Literal| literal.fit(scalar).expect("all of the table fits");
        match value {
            EnvValue::List(items) => {
                let parts: Vec<NodeId> =
                    items.iter().map(|item| self.table_value(item, scalar, span)).collect();
                self.construct_list(parts, span)
            }
            EnvValue::Float(value) => self.constant(number(Literal::Float(*value)), span),
            EnvValue::Int(value) => self.constant(number(Literal::Int(*value)), span),
            _ => unreachable!("tables of weak numbers have nothing else"),
        }
    }
}

/// Collects the numbers of nested lists. Returns whether there are only weak ints and floats.
fn weak_numbers(items: &[EnvValue], numbers: &mut Vec<Literal>) -> bool {
    items.iter().all(|item| match item {
        EnvValue::Int(value) => {
            numbers.push(Literal::Int(*value));
            true
        }
        EnvValue::Float(value) => {
            numbers.push(Literal::Float(*value));
            true
        }
        EnvValue::List(items) => weak_numbers(items, numbers),
        _ => false,
    })
}

/// The scalar type of nested lists.
fn item_scalar(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Array(array) => item_scalar(&array.element),
        Type::Scalar(scalar) => Some(*scalar),
        _ => None,
    }
}

fn in_scalar(ty: &Type, scalar: Scalar) -> Type {
    match (ty, ty.part(0), ty.n_parts()) {
        (Type::Array(_), Some(part), Some(len)) => Type::array(len, in_scalar(&part, scalar)),
        _ => scalar.into(),
    }
}
