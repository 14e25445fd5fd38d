//! Structs with operators, comparisons and properties.

use kps_kernel::Type;

use super::Writer;

/// An expression form of a struct: its type, and its result type.
pub struct Form {
    of: Type,
    result: Type,
    written: Written,
}

#[derive(Clone)]
enum Written {
    Between(&'static str),
    Before(&'static str),
    Property(String),
}

const BETWEEN: [(&str, &str); 5] =
    [("+", "__add__"), ("*", "__mul__"), ("@", "__matmul__"), ("//", "__floordiv__"), ("|", "__or__")];
const COMPARED: [(&str, &str); 2] = [("<", "__lt__"), (">=", "__ge__")];
const BEFORE: [(&str, &str); 2] = [("-", "__neg__"), ("~", "__invert__")];

impl Writer {
    /// Inside the class of a struct with these members. None of them changes it.
    pub fn operators(&mut self, of: &Type, members: &[(String, Type)]) {
        if self.random.one_in(2) {
            let (symbol, name) = *self.random.pick(&BETWEEN);
            self.form(of, members, (name, of.clone()), Written::Between(symbol));
        }
        if self.random.one_in(3) {
            let (symbol, name) = *self.random.pick(&COMPARED);
            self.form(of, members, (name, Type::BOOL), Written::Between(symbol));
        }
        if self.random.one_in(3) {
            let (symbol, name) = *self.random.pick(&BEFORE);
            self.form(of, members, (name, of.clone()), Written::Before(symbol));
        }
        if self.random.one_in(2) {
            let (name, result) = (self.name("at"), self.small_type());
            self.form(of, members, (&name, result), Written::Property(name.clone()));
        }
    }

    fn form(
        &mut self,
        of: &Type,
        members: &[(String, Type)],
        (name, result): (&str, Type),
        written: Written,
    ) {
        let outer = std::mem::take(&mut self.variables);
        let (methods, forms) = (std::mem::take(&mut self.methods), std::mem::take(&mut self.forms));
        for (member, ty) in members {
            self.declare_fixed(&format!("self.{member}"), ty);
        }
        self.line("");
        if let Written::Property(_) = written {
            self.line("@property");
        }
        let other = if let Written::Between(_) = written { ", other" } else { "" };
        if !other.is_empty() {
            for (member, ty) in members {
                self.declare_fixed(&format!("other.{member}"), ty);
            }
        }
        self.block(&format!("def {name}(self{other}):"), |writer| {
            if writer.random.one_in(3) {
                let (condition, value) = (writer.condition(1), writer.value(&result, 1));
                writer.block(&format!("if {condition}:"), |writer| writer.line(&format!("return {value}")));
            }
            // A struct is built from its members here, because its name is not defined yet.
            let value = if result == *of { writer.made(&result, 2) } else { writer.value(&result, 2) };
            writer.line(&format!("return {value}"));
        });
        (self.variables, self.methods, self.forms) = (outer, methods, forms);
        self.forms.push(Form { of: of.clone(), result, written });
    }

    /// `a + b`, `-a` or `a.at3` of structs in scope.
    pub fn formed(&mut self, ty: &Type, depth: usize) -> Option<String> {
        let fitting: Vec<usize> = (0..self.forms.len()).filter(|at| self.forms[*at].result == *ty).collect();
        let at = (!fitting.is_empty()).then(|| *self.random.pick(&fitting))?;
        let (of, written) = (self.forms[at].of.clone(), self.forms[at].written.clone());
        let inner = depth.saturating_sub(2);
        Some(match written {
            Written::Between(symbol) => {
                format!("({} {symbol} {})", self.value(&of, inner), self.value(&of, inner))
            }
            Written::Before(symbol) => format!("({symbol}{})", self.value(&of, inner)),
            Written::Property(name) => format!("{}.{name}", self.value(&of, inner)),
        })
    }
}
