//! `&&` and `||`, whose second side naga always evaluates: where that does more than look at variables, it comes to be
//! evaluated where the first side leaves the answer open, and nowhere else.
//!
//! `a && b` becomes `answer = a; if (a) answer = b;`. The expressions of a function stand in the order in which they
//! were made, and an address of `answer` must stand before its use, so a text gets a variable outside of functions: naga
//! begins every function with the address of each, and there it becomes the address of a variable of the function's own.
//!
//! Where naga knows no evaluation of the first side (it is a constant or a parameter), the second begins with the first
//! expression that its value is made of.

use naga::{
    AddressSpace, BinaryOperator, Block, Expression, Function, GlobalVariable, Handle, LocalVariable, Module,
    Range, ScalarKind, Span, Statement,
};
use rustc_hash::FxHashSet;

use crate::statements;

const NAME: &str = "kps_answer";

/// What a text declares for it, if it may need it.
pub(super) fn declaration(text: &str) -> String {
    match text.contains("&&") || text.contains("||") {
        true => format!("bool {NAME}; "),
        false => String::new(),
    }
}

pub(super) fn take(module: &mut Module) {
    let Module { global_variables, functions, entry_points, .. } = module;
    let is_answer = |variable: &GlobalVariable| variable.name.as_deref() == Some(NAME);
    let Some((answer, _)) = global_variables.iter().find(|(_, variable)| is_answer(variable)) else { return };
    let ty = global_variables[answer].ty;
    let is_shared = |variable: &GlobalVariable| {
        matches!(variable.space, AddressSpace::WorkGroup | AddressSpace::Storage { .. })
    };
    let shared =
        global_variables.iter().filter(|(_, one)| is_shared(one)).map(|(handle, _)| handle).collect();
    let functions = functions.iter_mut().map(|(_, function)| function);
    for function in functions.chain(entry_points.iter_mut().map(|entry| &mut entry.function)) {
        let is_address = |one: &Expression| matches!(one, Expression::GlobalVariable(of) if *of == answer);
        let Some((address, _)) = function.expressions.iter().find(|(_, one)| is_address(one)) else {
            continue;
        };
        let mut body = std::mem::take(&mut function.body);
        let mut shortcuts = Shortcuts { function, shared: &shared, answer: address, n_taken: 0 };
        statements::blocks(&mut body, &mut |block| shortcuts.block(block));
        let is_used = shortcuts.n_taken > 0;
        function.body = body;
        if is_used {
            let variable = LocalVariable { name: None, ty, init: None };
            let variable = function.local_variables.append(variable, Span::UNDEFINED);
            function.expressions[address] = Expression::LocalVariable(variable);
        }
    }
}

struct Shortcuts<'f> {
    function: &'f mut Function,
    /// What other invocations see.
    shared: &'f FxHashSet<Handle<GlobalVariable>>,
    answer: Handle<Expression>,
    n_taken: usize,
}

/// `a && b` or `a || b`.
#[derive(Clone, Copy)]
struct Logical {
    handle: Handle<Expression>,
    operator: BinaryOperator,
    left: Handle<Expression>,
    right: Handle<Expression>,
}

type Statements = Vec<(Statement, Span)>;

impl Shortcuts<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut statements: Statements = std::mem::take(block).span_into_iter().collect();
        let mut last = None;
        while let Some((at, logical)) = self.next(&statements, last) {
            self.part(&mut statements, at, logical);
            last = Some(logical.handle);
        }
        for (statement, span) in statements {
            block.push(statement, span);
        }
    }

    /// The next one behind the last, and the statement that evaluates it.
    fn next(&self, statements: &Statements, last: Option<Handle<Expression>>) -> Option<(usize, Logical)> {
        statements.iter().enumerate().find_map(|(at, (statement, _))| {
            let Statement::Emit(range) = statement else { return None };
            let mut behind = range.clone().filter(|handle| Some(*handle) > last);
            behind.find_map(|handle| Some((at, self.logical(handle)?)))
        })
    }

    fn logical(&self, handle: Handle<Expression>) -> Option<Logical> {
        match self.function.expressions[handle] {
            Expression::Binary {
                op: operator @ (BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr),
                left,
                right,
            } => Some(Logical { handle, operator, left, right }),
            _ => None,
        }
    }

    fn part(&mut self, statements: &mut Statements, at: usize, logical: Logical) {
        let end = split(statements, at, logical.handle);
        let n_before = statements.len();
        let start = self.start(statements, end, logical);
        let end = end + statements.len() - n_before;
        if statements[start..end].iter().all(|(statement, _)| self.is_cheap(statement)) {
            return;
        }
        self.n_taken += 1;
        let Logical { handle, operator, left, right } = logical;
        let span = self.function.expressions.get_span(handle);
        let mut second = Block::new();
        for (statement, span) in statements.drain(start..end) {
            second.push(statement, span);
        }
        second.push(Statement::Store { pointer: self.answer, value: right }, span);
        let (accept, reject) = match operator {
            BinaryOperator::LogicalAnd => (second, Block::new()),
            _ => (Block::new(), second),
        };
        let first = Statement::Store { pointer: self.answer, value: left };
        let choice = Statement::If { condition: left, accept, reject };
        statements.splice(start..start, [(first, span), (choice, span)]);
        self.function.expressions[handle] = Expression::Load { pointer: self.answer };
    }

    /// Where the second side begins.
    fn start(&self, statements: &mut Statements, end: usize, logical: Logical) -> usize {
        for at in 0..end {
            match &statements[at].0 {
                Statement::Emit(range) if contains(range, logical.left) => {
                    return match range.clone().find(|handle| *handle > logical.left) {
                        Some(next) => split(statements, at, next),
                        None => at + 1,
                    };
                }
                Statement::Call { result, arguments, .. } if *result == Some(logical.left) => {
                    return self.behind_call(statements, at, arguments);
                }
                _ => {}
            }
        }
        let first = self.first_of(statements, logical.right);
        let mut start = end;
        while start > 0 && self.is_behind(&statements[start - 1].0, first) {
            start -= 1;
            if let Statement::Emit(range) = &statements[start].0
                && contains(range, first)
            {
                return split(statements, start, first);
            }
        }
        start
    }

    /// Behind a call, and behind what copies its results to where they belong.
    fn behind_call(&self, statements: &Statements, call: usize, arguments: &[Handle<Expression>]) -> usize {
        let mut behind = call + 1;
        for (at, (statement, _)) in statements.iter().enumerate().skip(call + 1) {
            match statement {
                Statement::Emit(_) => {}
                Statement::Store { value, .. } if self.is_made_of(*value, arguments) => behind = at + 1,
                _ => break,
            }
        }
        behind
    }

    /// Whether a value is what lies at one of some addresses, converted or not.
    fn is_made_of(&self, value: Handle<Expression>, addresses: &[Handle<Expression>]) -> bool {
        match self.function.expressions[value] {
            _ if addresses.contains(&value) => true,
            Expression::As { expr: inner, .. }
            | Expression::Load { pointer: inner }
            | Expression::AccessIndex { base: inner, .. } => self.is_made_of(inner, addresses),
            _ => false,
        }
    }

    /// The first expression that was made for a value. The addresses of variables and their members are not: naga makes
    /// those of blocks where a function begins.
    fn first_of(&self, statements: &Statements, value: Handle<Expression>) -> Handle<Expression> {
        let is_evaluated = |handle| {
            let is_there = statements.iter().any(|(statement, _)| match statement {
                Statement::Emit(range) => contains(range, handle),
                Statement::Call { result, .. } => *result == Some(handle),
                _ => false,
            });
            is_there && !self.is_address_of_variable(handle)
        };
        let mut first = value;
        let mut waiting = vec![value];
        while let Some(handle) = waiting.pop() {
            if is_evaluated(handle) {
                first = first.min(handle);
                waiting.extend(self.operands(statements, handle));
            }
        }
        first
    }

    /// What an expression of a condition is made of, as far as a side of it can begin there.
    fn operands(&self, statements: &Statements, handle: Handle<Expression>) -> Vec<Handle<Expression>> {
        match self.function.expressions[handle] {
            Expression::Binary { left, right, .. } => vec![left, right],
            Expression::Access { base, index } => vec![base, index],
            Expression::Unary { expr: one, .. }
            | Expression::As { expr: one, .. }
            | Expression::Load { pointer: one }
            | Expression::Relational { argument: one, .. }
            | Expression::Splat { value: one, .. }
            | Expression::Swizzle { vector: one, .. }
            | Expression::AccessIndex { base: one, .. } => vec![one],
            Expression::Math { arg, arg1, arg2, arg3, .. } => {
                [Some(arg), arg1, arg2, arg3].into_iter().flatten().collect()
            }
            Expression::Compose { ref components, .. } => components.clone(),
            Expression::CallResult(_) => {
                let is_call = |statement: &Statement| matches!(statement, Statement::Call { result, .. } if *result == Some(handle));
                let call = statements.iter().find(|(statement, _)| is_call(statement));
                match call {
                    Some((Statement::Call { arguments, .. }, _)) => arguments.clone(),
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    /// Whether a statement has to do with an expression, or with one made behind it.
    fn is_behind(&self, statement: &Statement, first: Handle<Expression>) -> bool {
        match statement {
            Statement::Emit(range) => range.clone().last().is_some_and(|last| last >= first),
            Statement::Call { arguments, result, .. } => {
                arguments.iter().chain(result).any(|one| *one >= first)
            }
            Statement::Store { pointer, value } => pointer.max(value) >= &first,
            Statement::If { condition, .. } => *condition >= first,
            _ => false,
        }
    }

    /// Whether a statement may as well be done where it is not wanted: it changes nothing, looks at nothing that
    /// others see, and has no results that are not defined.
    fn is_cheap(&self, statement: &Statement) -> bool {
        match statement {
            Statement::Emit(range) => range.clone().all(|handle| self.is_cheap_value(handle)),
            _ => false,
        }
    }

    fn is_cheap_value(&self, handle: Handle<Expression>) -> bool {
        use BinaryOperator::{Divide, Modulo, ShiftLeft, ShiftRight};
        match self.function.expressions[handle] {
            Expression::Binary { op, .. } => !matches!(op, Divide | Modulo | ShiftLeft | ShiftRight),
            Expression::As { kind, convert, .. } => {
                convert.is_none() || matches!(kind, ScalarKind::Float | ScalarKind::Bool)
            }
            Expression::Load { pointer } => self.is_of_variable(pointer),
            Expression::AccessIndex { .. }
            | Expression::Compose { .. }
            | Expression::Relational { .. }
            | Expression::Select { .. }
            | Expression::Splat { .. }
            | Expression::Swizzle { .. }
            | Expression::Unary { .. } => true,
            _ => false,
        }
    }

    fn is_address_of_variable(&self, handle: Handle<Expression>) -> bool {
        match self.function.expressions[handle] {
            Expression::AccessIndex { base, .. } => self.is_address_of_variable(base),
            Expression::LocalVariable(_) | Expression::GlobalVariable(_) => true,
            _ => false,
        }
    }

    /// Whether an address is that of a variable of the invocation's own, or of a member of one.
    fn is_of_variable(&self, pointer: Handle<Expression>) -> bool {
        match self.function.expressions[pointer] {
            Expression::AccessIndex { base, .. } => self.is_of_variable(base),
            Expression::LocalVariable(_) | Expression::FunctionArgument(_) => true,
            Expression::GlobalVariable(variable) => !self.shared.contains(&variable),
            _ => false,
        }
    }
}

fn contains(range: &Range<Expression>, handle: Handle<Expression>) -> bool {
    range.clone().any(|one| one == handle)
}

/// Splits the statement that evaluates an expression, so that it begins with that one; gives its new place.
fn split(statements: &mut Statements, at: usize, handle: Handle<Expression>) -> usize {
    let (Statement::Emit(range), span) = &statements[at] else { return at };
    let span = *span;
    let (Some(first), Some(last)) = (range.clone().next(), range.clone().last()) else { return at };
    let Some(before) = range.clone().take_while(|one| *one < handle).last() else { return at };
    let parts = [(first, before), (handle, last)];
    let parts = parts.map(|(first, last)| (Statement::Emit(Range::new_from_bounds(first, last)), span));
    statements.splice(at..=at, parts);
    at + 1
}
