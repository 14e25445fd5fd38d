//! Statements: assignments to whole variables and to parts of them, branches, loops of every kind, jumps.

use kps_kernel::{Kind, Scalar, Type};

use super::types::parts;
use super::{Result, Variable, Writer};

impl Writer {
    /// Some statements with blocks up to a depth. A jump ends the block.
    pub fn statements(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(4) {
            match self.random.below(if depth == 0 { 10 } else { 16 }) {
                0..3 => self.declaration(),
                3..6 => self.assignment(),
                6 => self.augmented(),
                7 => self.store(),
                8 if self.random.one_in(3) => self.row(),
                8 => self.swap(),
                9 => self.retype(),
                10 | 11 => self.branch(depth),
                12 => self.for_loop(depth),
                13 => self.while_loop(depth),
                14 => self.guessed(depth),
                _ => self.choose(depth),
            }
        }
        if depth < 2 && self.random.one_in(7) {
            self.jump();
        }
    }

    pub fn declaration(&mut self) {
        if self.random.one_in(12) {
            return self.lambda();
        }
        let ty = self.value_type();
        let name = self.name("v");
        if matches!(ty, Type::Array(_))
            && let Some(place) = self.input_array(&ty)
        {
            self.line(&format!("{name} = {place}"));
            return self.views.push(Variable { name, ty, is_fixed: true });
        }
        let value = self.value(&ty, 3);
        self.line(&format!("{name} = {value}"));
        self.declare(&name, &ty);
    }

    /// A variable, or a part of one, as an assignment target. A list is one object in memory, and only its
    /// elements are assigned to.
    fn target(&mut self) -> Option<(String, Type)> {
        let free: Vec<_> = self.variables.iter().filter(|variable| !variable.is_fixed).cloned().collect();
        if free.is_empty() {
            return None;
        }
        let variable = self.random.pick(&free).clone();
        Some(self.part_of(variable.name, variable.ty))
    }

    fn part_of(&mut self, mut path: String, mut ty: Type) -> (String, Type) {
        // Items of a tuple cannot be assigned to.
        while !matches!(ty, Type::Scalar(_) | Type::Tuple(_))
            && (matches!(ty, Type::Array(_)) || !self.random.one_in(3))
        {
            if let Type::Vector(n @ 3.., scalar) = ty
                && self.random.one_in(3)
            {
                let swizzle = *self.random.pick(&["xy", "zx", "yz"]);
                debug_assert!(n >= 3);
                return (format!("{path}.{swizzle}"), Type::Vector(2, scalar));
            }
            let (step, part) = self.random.pick(&parts(&ty)).clone();
            path = match ty {
                Type::Array(_) | Type::Vector(..) if self.random.one_in(2) => {
                    format!("{path}[{}]", self.index())
                }
                _ => path + &step,
            };
            ty = part;
        }
        (path, ty)
    }

    pub fn assignment(&mut self) {
        if self.random.one_in(8)
            && let Some(call) = self.changing_call()
        {
            return self.line(&call);
        }
        let Some((target, ty)) = self.target() else { return self.declaration() };
        let value = self.value(&ty, 3);
        self.line(&format!("{target} = {value}"));
    }

    fn augmented(&mut self) {
        let Some((target, ty)) = self.target() else { return self.declaration() };
        let ops: &[&str] = match ty.scalar().map(Scalar::kind) {
            Some(Kind::Float) => &["+", "-", "*"],
            Some(Kind::Bool) if !ty.is_vector() => &["&", "|", "^"],
            Some(Kind::Signed | Kind::Unsigned) => &["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"],
            _ => return self.assignment(),
        };
        let op = *self.random.pick(ops);
        let value = match op {
            "<<" | ">>" => self.amount(&ty, 1),
            _ => self.value(&ty, 2),
        };
        self.line(&format!("{target} {op}= {value}"));
    }

    /// Stores to the invocation's own element of an output, or to a part of it.
    fn store(&mut self) {
        if self.outputs.is_empty() {
            return self.declaration();
        }
        if self.random.one_in(3)
            && let Some(call) = self.plain_call()
        {
            return self.line(&call);
        }
        let output = self.random.pick(&self.outputs).clone();
        let (place, ty) = self.part_of(output.name, output.ty);
        let value = self.value(&ty, 3);
        self.line(&format!("{place} = {value}"));
    }

    pub fn swap(&mut self) {
        let Some((a, ty)) = self.target() else { return self.declaration() };
        let others: Vec<String> = self
            .variables
            .iter()
            .filter(|variable| !variable.is_fixed && variable.ty == ty)
            .map(|variable| variable.name.clone())
            .collect();
        if others.is_empty() || matches!(ty, Type::Array(_)) {
            return self.assignment();
        }
        let b = self.random.pick(&others).clone();
        let value = self.value(&ty, 1);
        self.line(&format!("{a}, {b} = {b}, {value}"));
    }

    fn branch(&mut self, depth: usize) {
        let condition = self.condition(2);
        self.block(&format!("if {condition}:"), |writer| writer.statements(depth - 1));
        for _ in 0..self.random.below(3) / 2 {
            let condition = self.condition(2);
            self.block(&format!("elif {condition}:"), |writer| writer.statements(depth - 1));
        }
        if self.random.one_in(2) {
            self.block("else:", |writer| writer.statements(depth - 1));
        }
    }

    fn choose(&mut self, depth: usize) {
        let int = self.int();
        let value = self.value(&int.into(), 2);
        let value = if self.random.one_in(2) { format!("({value} & {int}(3))") } else { value };
        self.block(&format!("match {value}:"), |writer| {
            for at in 0..1 + writer.random.below(3) {
                let also = if writer.random.one_in(3) { format!(" | {}", at + 10) } else { String::new() };
                let guard = match writer.random.one_in(5) {
                    true => format!(" if {}", writer.condition(1)),
                    false => String::new(),
                };
                writer.block(&format!("case {at}{also}{guard}:"), |writer| writer.statements(depth - 1));
            }
            if writer.random.one_in(2) {
                writer.block("case _:", |writer| writer.statements(depth - 1));
            }
        });
    }

    fn range(&mut self) -> String {
        let n = 1 + self.random.below(4);
        if !self.consts.is_empty() && self.random.one_in(3) {
            return format!("range({})", self.consts[0]);
        }
        match self.random.below(7) {
            0 => format!("range({})", self.random.below(4)),
            1 => format!("range({n}, {}, -1)", self.random.below(2)),
            2 => format!("range({} % {n})", self.plain_int()),
            3 => format!("range({n}, {n} + {} % 4)", self.plain_int()),
            4 => format!("range({} % 4, -{n}, -2)", self.plain_int()),
            5 => format!("range(0, {}, {} % 3 - 1)", self.random.below(4), self.plain_int()),
            _ => format!("range(2, 9, {})", 2 + self.random.below(3)),
        }
    }

    fn for_loop(&mut self, depth: usize) {
        let name = self.name("k");
        let arrays: Vec<_> =
            self.variables.iter().filter(|variable| matches!(variable.ty, Type::Array(_))).cloned().collect();
        let (head, declared) = match self.random.below(5) {
            0 if !arrays.is_empty() => {
                let array = self.random.pick(&arrays).clone();
                let element = array.ty.part(0).expect("arrays have elements");
                (format!("for {name} in {}:", array.name), vec![(name, element)])
            }
            1 if !arrays.is_empty() => {
                let array = self.random.pick(&arrays).clone();
                let element = array.ty.part(0).expect("arrays have elements");
                let at = self.name("k");
                let head = format!("for {at}, {name} in enumerate({}):", array.name);
                (head, vec![(at, Type::I32), (name, element)])
            }
            2 => self.over_several(name),
            _ => (format!("for {name} in {}:", self.range()), vec![(name, Type::I32)]),
        };
        self.repeated(&head, depth, |writer| {
            declared.iter().for_each(|(name, ty)| writer.declare_fixed(name, ty));
        });
    }

    /// A loop over a literal sequence, over two sequences at once, or backwards.
    fn over_several(&mut self, name: String) -> (String, Vec<(String, Type)>) {
        let ty = self.small_type();
        let n = 2 + self.random.below(2);
        let items: Vec<String> = (0..n).map(|_| self.value(&ty, 1)).collect();
        let items = format!("({})", items.join(", "));
        match self.random.below(3) {
            0 => (format!("for {name} in {items}:"), vec![(name, ty)]),
            1 => {
                let other = self.name("k");
                let head = format!("for {name}, {other} in zip({items}, range(3, 9)):");
                (head, vec![(name, ty), (other, Type::I32)])
            }
            _ => (format!("for {name} in reversed({items}):"), vec![(name, ty)]),
        }
    }

    fn while_loop(&mut self, depth: usize) {
        let counter = self.name("w");
        let n = 1 + self.random.below(4);
        self.line(&format!("{counter} = i32(0)"));
        self.declare_fixed(&counter, &Type::I32);
        let step = format!("{counter} += 1");
        if self.random.one_in(3) {
            self.repeated("while True:", depth, |writer| {
                writer.line(&step);
                writer.line(&format!("if {counter} > {n}:"));
                writer.line("    break");
            });
        } else {
            let also =
                if self.random.one_in(2) { format!(" and {}", self.condition(1)) } else { String::new() };
            self.repeated(&format!("while {counter} < {n}{also}:"), depth, |writer| writer.line(&step));
        }
    }

    fn repeated(&mut self, head: &str, depth: usize, begin: impl FnOnce(&mut Writer)) {
        self.n_loops += 1;
        self.block(head, |writer| {
            begin(writer);
            writer.statements(depth - 1);
        });
        self.n_loops -= 1;
        if self.random.one_in(5) {
            self.block("else:", |writer| writer.statements(depth - 1));
        }
    }

    /// Under a condition, so that the following code is reachable.
    fn jump(&mut self) {
        if !self.may_return && self.n_loops == 0 {
            return;
        }
        let condition = self.condition(2);
        let jump = match self.random.below(if self.n_loops > 0 { 5 } else { 1 }) {
            0 if self.may_return => match self.result.clone() {
                Result::Nothing => "return".to_owned(),
                Result::Value(ty) => format!("return {}", self.value(&ty, 2)),
            },
            0..3 => "break".to_owned(),
            _ => "continue".to_owned(),
        };
        self.block(&format!("if {condition}:"), |writer| writer.line(&jump));
    }
}
