//! Assignments to outputs.

use std::rc::Rc;

use kps_syntax::ast::{Expr, ExprKind, Name, UnaryOp};
use kps_syntax::scope::{Assigns, assigned_names};
use kps_syntax::{Diagnostic, Span};
use num_traits::ToPrimitive;

use super::Output;
use crate::infer::Ctx;
use crate::infer::expressions::operand::{Operand, Static};
use crate::infer::places::index::components_named;
use crate::infer::places::targets::Target;
use crate::infer::places::vars::{Binding, Var};
use crate::ir::{NodeId, Place, PortId, Stmt};
use crate::types::Type;
use crate::{errors, ir};

/// The part of an output to which a path such as `out[1].xy` leads.
struct Part {
    output: Output,
    ty: Type,
    /// The first number of each `ty` that it may be.
    starts: Vec<u32>,
}

impl Ctx<'_> {
    /// An output is unset until it is assigned.
    pub fn declare_output(&mut self, name: &Name, port: PortId) {
        let Some(var) = self.f.vars.named(name) else { return };
        let ir::Port { port: declared, span, .. } = &self.interface[port];
        let (ty, span) = (declared.ty.clone(), *span);
        let mut in_parts = false;
        let body = &self.template.def.body;
        assigned_names(body, &mut |of, assigns| in_parts |= of == name && assigns == Assigns::Part);
        if !in_parts || ty.n_parts().is_none() {
            return self.outputs.push(Output { var, port, marks: Rc::new([]) });
        }
        let marks = (0..n_numbers(&ty)).map(|at| self.new_var(&number_name(name, &ty, at))).collect();
        self.outputs.push(Output { var, port, marks });
        let zero = self.zero(&ty, span);
        let operand = match ty {
            Type::Array(_) => {
                let local = self.new_local(name, ty.clone(), span);
                self.f.block.push(Stmt::Store { local, value: zero, span });
                Operand::Place(Place::local(local, ty))
            }
            _ => Operand::Node(zero),
        };
        self.set(var, Binding::Bound { operand, span });
    }

    /// The output that this variable of the function is.
    fn output_of(&self, var: Var) -> Option<&Output> {
        self.outputs.iter().filter(|_| self.f.is_kernel).find(|output| output.var == var)
    }

    pub fn is_output(&self, var: Var) -> bool {
        self.output_of(var).is_some()
    }

    /// The marks of an output that is assigned in parts.
    pub fn marks_of(&self, var: Var) -> Rc<[Var]> {
        match self.output_of(var) {
            Some(output) => Rc::clone(&output.marks),
            None => Rc::new([]),
        }
    }

    /// A value assigned to an output is converted to its type. Other variables take any type.
    pub fn as_output(&mut self, var: Var, operand: Operand, span: Span) -> Operand {
        let Some(&Output { port, .. }) = self.output_of(var) else { return operand };
        let ir::Port { name, port, .. } = &self.interface[port];
        let (name, ty) = (name.clone(), port.ty.clone());
        match self.converted(&operand, &ty, span) {
            Some(value) => value,
            None if operand.has_error() => Operand::Error,
            None => {
                let found = self.describe(&operand);
                self.fail(errors::output_type(self.at(span), &name, &ty, &found))
            }
        }
    }

    // Parts.

    /// The whole variable has a value now.
    pub fn mark_whole(&mut self, var: Var, span: Span) {
        for mark in &*self.marks_of(var) {
            self.mark(*mark, span);
        }
    }

    /// A part of an output was assigned.
    pub fn mark_part(&mut self, target: &Expr) {
        if let Some(part) = self.part_of_output(target) {
            for mark in part.marks() {
                self.mark(mark, target.span);
            }
        }
    }

    fn mark(&mut self, mark: Var, span: Span) {
        self.set(mark, Binding::Bound { operand: Operand::Static(Static::None), span });
    }

    /// Replaces one part of a variable. Of an output, only this part is assigned.
    pub fn store_replaced(&mut self, inner: Target, changed: NodeId, span: Span) {
        if let Target::Name(name, at) = &inner
            && let Some(var) = self.f.vars.named(name).filter(|var| self.is_output(*var))
        {
            return self.bind_var(var, Operand::Node(changed), *at);
        }
        self.store(inner, Operand::Node(changed), span);
    }

    /// Reports, once, a part that is read and was not assigned on every path to here.
    pub fn report_unwritten(&mut self, expr: &Expr) {
        let Some(part) = self.part_of_output(expr) else { return };
        let Some((missing, binding)) = self.missing_of(&part) else { return };
        let at = self.at(expr.span);
        self.error(match &binding {
            Binding::Maybe { assigned, missing: path, .. } => errors::maybe_unset(
                at,
                &missing,
                self.at(*assigned),
                (self.at(path.span), path.text),
                self.assigned_type(*assigned),
            ),
            _ => errors::output_read_before_written(at, &missing),
        });
        for mark in part.marks() {
            self.mark(mark, expr.span);
        }
    }

    /// The part to which a path leads that starts with an output that is assigned in parts.
    fn part_of_output(&self, expr: &Expr) -> Option<Part> {
        // Compute kernels have no outputs.
        self.outputs.first()?;
        match &expr.kind {
            ExprKind::Name(name) => {
                let output = self.output_of(self.f.vars.named(name)?)?.clone();
                let ty = self.interface[output.port].port.ty.clone();
                let is_bound = !matches!(self.f.vars[output.var], Binding::Error);
                (is_bound && !output.marks.is_empty()).then(|| Part { output, ty, starts: vec![0] })
            }
            ExprKind::Attribute { value, attr } => Some(self.part_of_output(value)?.member(&attr.name)),
            ExprKind::Subscript { value, index } => {
                let part = self.part_of_output(value)?;
                Some(match &index.kind {
                    ExprKind::Tuple(axes) => match &axes[..] {
                        [row, column] => part.element(self.index_known(row), self.index_known(column)),
                        _ => part,
                    },
                    _ => part.item(self.index_known(index)),
                })
            }
            _ => None,
        }
    }

    /// An index that is a literal or the name of a constant.
    fn index_known(&self, index: &Expr) -> Option<i128> {
        match &index.kind {
            ExprKind::Int(value) => value.to_i128(),
            ExprKind::Unary { op: UnaryOp::Minus, operand } => Some(-self.index_known(operand)?),
            ExprKind::Name(name) => self.named_int(name),
            _ => None,
        }
    }

    /// The largest part that some or all paths do not assign: its name, and the binding of its mark.
    fn missing_of(&self, part: &Part) -> Option<(String, Binding)> {
        if part.output.marks.is_empty() {
            return None;
        }
        let ir::Port { name, port, .. } = &self.interface[part.output.port];
        let binding = |at: u32| &self.f.vars[part.output.marks[at as usize]];
        let is_missing = |at: &u32| matches!(binding(*at), Binding::Unset | Binding::Maybe { .. });
        let (start, first) = part.starts.iter().find_map(|start| {
            let first = (*start..*start + n_numbers(&part.ty)).find(is_missing)?;
            Some((*start, first))
        })?;
        let mut name = path_to(name, &port.ty, start, &part.ty);
        let (mut ty, mut start) = (part.ty.clone(), start);
        while !(start..start + n_numbers(&ty)).all(|at| is_missing(&at)) {
            (name, ty, start) = step_to(&name, &ty, start, first);
        }
        Some((name, binding(first).clone()))
    }

    // The end.

    /// Stores the outputs at the end of the function, or at a `return`.
    pub fn store_outputs(&mut self, returned: Option<Span>) {
        let span = returned.unwrap_or(self.template.def.span);
        for output in self.outputs.clone() {
            match self.output_missing(&output, returned) {
                Some(error) => {
                    self.error(error);
                    self.set(output.var, Binding::Error);
                }
                None => {
                    let value = match self.read_var(output.var, span) {
                        Operand::Node(node) => node,
                        Operand::Place(place) => self.load_whole(&place, span),
                        _ => continue,
                    };
                    self.f.block.push(Stmt::PortStore { port: output.port, value, span });
                }
            }
        }
    }

    /// The error for an output without a value at the end of the function.
    fn output_missing(&self, output: &Output, returned: Option<Span>) -> Option<Diagnostic> {
        let ir::Port { name, port, span: at } = &self.interface[output.port];
        let declared = self.at(*at);
        let bound = self.f.vars[output.var].clone();
        let (missing, binding) = match bound {
            Binding::Unset | Binding::Maybe { .. } => (name.to_string(), bound),
            Binding::Error => return None,
            _ => {
                let whole = Part { output: output.clone(), ty: port.ty.clone(), starts: vec![0] };
                self.missing_of(&whole)?
            }
        };
        let value = if *missing == **name { format!("{}(..)", port.ty) } else { "..".to_owned() };
        Some(match (binding, returned) {
            (Binding::Maybe { assigned, missing: path, .. }, _) => errors::output_maybe_unwritten(
                declared,
                &missing,
                self.at(assigned),
                self.at(path.span),
                path.text,
            ),
            (_, Some(at)) => errors::output_unwritten_at(self.at(at), &missing, &value, declared),
            (_, None) => errors::output_never_written(declared, &missing, &value),
        })
    }
}

impl Part {
    fn marks(&self) -> Vec<Var> {
        let n = n_numbers(&self.ty);
        let numbers = self.starts.iter().flat_map(|start| *start..*start + n);
        numbers.map(|at| self.output.marks[at as usize]).collect()
    }

    /// `.xyz`, or a member of a struct. Wrong names are reported elsewhere.
    fn member(self, name: &str) -> Part {
        match &self.ty {
            Type::Vector(n, scalar) => {
                let components = components_named(name).unwrap_or_default();
                let starts = self.starts.iter().flat_map(|start| {
                    components.iter().filter(|at| **at < u32::from(*n)).map(move |at| start + at)
                });
                Part { starts: starts.collect(), ty: Type::Scalar(*scalar), output: self.output }
            }
            Type::Struct(of) => match of.members.iter().position(|member| *member.name == *name) {
                Some(at) => self.parts(at as u32..at as u32 + 1),
                None => self,
            },
            _ => self,
        }
    }

    /// `[i]`. In a matrix it is a row, a part of each column.
    fn item(self, index: Option<i128>) -> Part {
        match (&self.ty, self.ty.n_parts()) {
            (Type::Matrix { .. }, _) => self.element(index, None),
            (_, Some(n)) => match index.map(|at| if at < 0 { at + i128::from(n) } else { at }) {
                Some(at) if (0..i128::from(n)).contains(&at) => self.parts(at as u32..at as u32 + 1),
                _ => self.parts(0..n),
            },
            (_, None) => self,
        }
    }

    /// `[row, column]` of a matrix. `None` stands for any index.
    fn element(self, row: Option<i128>, column: Option<i128>) -> Part {
        let Type::Matrix { columns, rows, scalar } = self.ty else { return self };
        let axis = |index: Option<i128>, n: u8| {
            let n = u32::from(n);
            let at = index.map(|at| if at < 0 { at + i128::from(n) } else { at });
            match at.and_then(|at| u32::try_from(at).ok()).filter(|at| *at < n) {
                Some(at) => at..at + 1,
                None => 0..n,
            }
        };
        let (row, column) = (axis(row, rows), axis(column, columns));
        let starts = self.starts.iter().flat_map(|start| {
            let row = row.clone();
            column.clone().flat_map(move |at| row.clone().map(move |row| start + at * u32::from(rows) + row))
        });
        Part { starts: starts.collect(), ty: Type::Scalar(scalar), output: self.output }
    }

    /// Some of its parts, which have the same type.
    fn parts(self, which: std::ops::Range<u32>) -> Part {
        let Some(ty) = self.ty.part(which.start) else { return self };
        let offsets: Vec<u32> = which.map(|at| numbers_before(&self.ty, at)).collect();
        let starts = self.starts.iter().flat_map(|start| offsets.iter().map(move |offset| start + offset));
        Part { starts: starts.collect(), ty, output: self.output }
    }
}

/// Numbers of a value are counted part by part, and in a matrix column by column.
fn n_numbers(ty: &Type) -> u32 {
    match ty.n_parts() {
        Some(n) => numbers_before(ty, n),
        None => 1,
    }
}

/// The numbers before a part.
fn numbers_before(ty: &Type, part: u32) -> u32 {
    match ty {
        Type::Struct(_) => (0..part).filter_map(|at| ty.part(at)).map(|part| n_numbers(&part)).sum(),
        _ => ty.part(0).map_or(0, |element| part * n_numbers(&element)),
    }
}

/// One step towards the number `to` in a value called `name` that starts at the number `start`.
fn step_to(name: &str, ty: &Type, start: u32, to: u32) -> (String, Type, u32) {
    let n = ty.n_parts().expect("a value of several numbers has parts");
    let is_before = |at: &u32| start + numbers_before(ty, *at) <= to;
    let at = (0..n).take_while(is_before).last().expect("a number is in the first part or after it");
    let offset = start + numbers_before(ty, at);
    if let Type::Matrix { scalar, .. } = ty {
        return (format!("{name}[{}, {at}]", to - offset), Type::Scalar(*scalar), to);
    }
    let name = match ty {
        Type::Vector(..) => format!("{name}.{}", ["x", "y", "z", "w"][at as usize]),
        Type::Struct(of) => format!("{name}.{}", of.members[at as usize].name),
        _ => format!("{name}[{at}]"),
    };
    (name, ty.part(at).expect("it is one of its parts"), offset)
}

/// The name of the part of type `part` that starts at the number `to`.
fn path_to(name: &str, ty: &Type, to: u32, part: &Type) -> String {
    let (mut name, mut ty, mut start) = (name.to_owned(), ty.clone(), 0);
    while start != to || ty != *part {
        if ty.n_parts().is_none() {
            break;
        }
        (name, ty, start) = step_to(&name, &ty, start, to);
    }
    name
}

fn number_name(name: &str, ty: &Type, at: u32) -> String {
    let (mut name, mut ty, mut start) = (name.to_owned(), ty.clone(), 0);
    while ty.n_parts().is_some() {
        (name, ty, start) = step_to(&name, &ty, start, at);
    }
    name
}
