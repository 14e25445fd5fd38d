//! Forms of functions and names: methods of structs, higher-order functions, and names that change their
//! type.

use kps_kernel::Type;

use super::types::annotation;
use super::{Result, Variable, Writer};

/// A method of a struct.
pub struct Method {
    pub of: Type,
    name: String,
    param: Type,
    /// `None` if it changes the struct.
    result: Option<Type>,
}

/// A function that takes a function from a type to the same, and a value of that type.
pub struct Applier {
    name: String,
    ty: Type,
}

impl Writer {
    /// Inside the class of a struct with these members.
    pub fn methods(&mut self, of: &Type, members: &[(String, Type)]) {
        for _ in 0..self.random.below(3) {
            let (name, param) = (self.name("does"), self.small_type());
            let argument = self.name("p");
            let outer = std::mem::take(&mut self.variables);
            for (member, ty) in members {
                self.declare(&format!("self.{member}"), ty);
            }
            self.declare_fixed(&argument, &param);
            let result = self.random.one_in(2).then(|| self.small_type());
            let given =
                if self.random.one_in(2) { format!("{argument}: {}", annotation(&param)) } else { argument };
            let known = std::mem::take(&mut self.methods);
            self.line("");
            self.block(&format!("def {name}(self, {given}):"), |writer| match &result {
                Some(ty) => {
                    let value = writer.value(ty, 2);
                    writer.line(&format!("return {value}"));
                }
                None => (0..1 + writer.random.below(2)).for_each(|_| writer.assignment()),
            });
            self.methods = known;
            self.variables = outer;
            self.methods.push(Method { of: of.clone(), name, param, result });
        }
    }

    /// A call `x.does3(..)` of a struct in scope.
    pub fn method_call(&mut self, ty: &Type, depth: usize) -> Option<String> {
        let fitting: Vec<usize> =
            (0..self.methods.len()).filter(|at| self.methods[*at].result.as_ref() == Some(ty)).collect();
        let at = (!fitting.is_empty()).then(|| *self.random.pick(&fitting))?;
        let (of, param) = (self.methods[at].of.clone(), self.methods[at].param.clone());
        let receiver = self.place(&of)?;
        let argument = self.value(&param, depth.saturating_sub(2));
        Some(format!("{receiver}.{}({argument})", self.methods[at].name))
    }

    /// A call of a method that changes a variable.
    pub fn changing_call(&mut self) -> Option<String> {
        let changes = |at: &usize| self.methods[*at].result.is_none();
        let fitting: Vec<usize> = (0..self.methods.len()).filter(changes).collect();
        let at = (!fitting.is_empty()).then(|| *self.random.pick(&fitting))?;
        let (of, param) = (self.methods[at].of.clone(), self.methods[at].param.clone());
        let is_free = |variable: &&Variable| !variable.is_fixed && variable.ty == of;
        let variable = self.variables.iter().find(is_free)?.name.clone();
        let argument = self.value(&param, 2);
        Some(format!("{variable}.{}({argument})", self.methods[at].name))
    }

    pub fn applier(&mut self) {
        let (name, ty) = (self.name("each"), self.small_type());
        let outer = std::mem::take(&mut self.variables);
        self.declare("p", &ty);
        let result = std::mem::replace(&mut self.result, Result::Value(ty.clone()));
        self.block(&format!("def {name}(f, p):"), |writer| {
            let condition = writer.condition(1);
            let body = match writer.random.below(4) {
                0 => "return f(f(p))".to_owned(),
                1 => format!("return f(p) if {condition} else p"),
                2 => "for k in range(2):\n        p = f(p)\n    return p".to_owned(),
                _ => "q = f(p)\n    return f(q)".to_owned(),
            };
            writer.line(&body);
        });
        self.line("");
        self.result = result;
        self.variables = outer;
        self.appliers.push(Applier { name, ty });
    }

    /// Applies a lambda that may use variables in scope.
    pub fn applied(&mut self, ty: &Type, depth: usize) -> Option<String> {
        let fitting: Vec<usize> =
            (0..self.appliers.len()).filter(|at| self.appliers[*at].ty == *ty).collect();
        let at = (!fitting.is_empty()).then(|| *self.random.pick(&fitting))?;
        let param = self.name("q");
        let n_variables = self.variables.len();
        self.declare_fixed(&param, ty);
        let body = self.value(ty, depth.saturating_sub(1));
        self.variables.truncate(n_variables);
        let argument = self.value(ty, depth.saturating_sub(2));
        Some(format!("{}(lambda {param}: {body}, {argument})", self.appliers[at].name))
    }

    /// Rebinds a name of this block to another type. No lambda may have captured it.
    pub fn retype(&mut self) {
        let is_free = |at: &usize| !self.variables[*at].is_fixed && !self.variables[*at].name.contains('[');
        let free: Vec<usize> = (self.block_start..self.variables.len()).filter(is_free).collect();
        if free.is_empty() || self.has_lambda() {
            return self.declaration();
        }
        let at = *self.random.pick(&free);
        let ty = self.small_type();
        let value = self.value(&ty, 2);
        let name = self.variables[at].name.clone();
        self.line(&format!("{name} = {value}"));
        self.variables[at].ty = ty;
    }

    fn has_lambda(&self) -> bool {
        self.helpers.iter().any(|helper| helper.is_lambda)
    }
}
