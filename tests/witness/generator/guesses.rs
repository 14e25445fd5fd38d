//! Types that a loop has to infer: variables that begin as untyped literals and get a type on some paths of
//! an iteration, and names for rows of an array that branches and iterations rebind.

use kps_kernel::{Scalar, Type};

use super::types::annotation;
use super::{Variable, Writer};

impl Writer {
    /// A variable that starts with a literal, and gets its type in a loop.
    pub fn guessed(&mut self, depth: usize) {
        let (begin, scalars): (_, &[Scalar]) = match self.random.one_in(2) {
            true => ("0", &[Scalar::F32, Scalar::F64, Scalar::I64, Scalar::U32, Scalar::U64, Scalar::F16]),
            false => ("0.5", &[Scalar::F32, Scalar::F64]),
        };
        let ty = Type::from(*self.random.pick(scalars));
        let name = self.name("w");
        self.line(&format!("{name} = {begin}"));
        let n_rounds = self.small();
        let counter = self.name("k");
        self.block(&format!("for {counter} in range({n_rounds}):"), |writer| {
            writer.declare_fixed(&counter, &Type::I32);
            let test = writer.condition(1);
            let is_first = writer.random.one_in(2);
            let [first, second] =
                [is_first, !is_first].map(|typed| writer.guess_step(&name, &ty, typed, depth));
            match writer.random.below(3) {
                0 => writer.line(&format!("{name} = {first} if {test} else {second}")),
                1 => {
                    let alone = if is_first { first } else { second };
                    writer.block(&format!("if {test}:"), |writer| writer.line(&format!("{name} = {alone}")));
                }
                _ => {
                    writer.block(&format!("if {test}:"), |writer| writer.line(&format!("{name} = {first}")));
                    writer.block("else:", |writer| writer.line(&format!("{name} = {second}")));
                }
            }
        });
        // No path with a type may be left early.
        self.line(&format!("{name} = {}({name})", annotation(&ty)));
        self.declare(&name, &ty);
    }

    /// What one path assigns to the variable: a value of its type, or only itself and literals.
    fn guess_step(&mut self, name: &str, ty: &Type, is_typed: bool, depth: usize) -> String {
        match (is_typed, self.random.below(3)) {
            (true, 0) => self.value(ty, depth.min(2)),
            (true, _) => format!("{name} + {}", self.value(ty, 1)),
            (false, 0) => "1".to_owned(),
            (false, 1) => name.to_owned(),
            (false, _) => format!("{name} + 1"),
        }
    }

    /// A name for a row, or another row for an existing name.
    pub fn row(&mut self) {
        if self.planes.is_empty() {
            return self.swap();
        }
        let plane = self.random.pick(&self.planes).clone();
        let known: Vec<String> =
            self.rows.iter().filter(|(of, _)| *of == plane.name).map(|(_, row)| row.name.clone()).collect();
        let [mut first, second] = [0; 2].map(|_| format!("{}[{}]", plane.name, self.index()));
        if !known.is_empty() && self.random.one_in(2) {
            first = self.random.pick(&known).clone();
        }
        let value = match self.random.one_in(2) {
            true => format!("{first} if {} else {second}", self.condition(1)),
            false => second,
        };
        if !known.is_empty() && !self.random.one_in(3) {
            let name = self.random.pick(&known).clone();
            return self.line(&format!("{name} = {value}"));
        }
        let name = self.name("row");
        self.line(&format!("{name} = {value}"));
        self.rows.push((plane.name, Variable { name, ty: plane.ty, is_fixed: true }));
    }
}
