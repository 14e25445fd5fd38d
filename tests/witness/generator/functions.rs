//! The kernel itself, the functions that it calls, and the calls.

use kps_kernel::Type;

use super::types::annotation;
use super::{Helper, Result, Variable, Writer};

impl Writer {
    pub fn helpers(&mut self) {
        for _ in 0..self.random.below(4) {
            self.helper();
        }
    }

    fn helper(&mut self) {
        let name = self.name("h");
        let mut params = Vec::new();
        let mut head = Vec::new();
        let n_defaults = self.random.below(2);
        let mut default_at = usize::MAX;
        let n_params = 1 + self.random.below(3);
        for at in 0..n_params {
            let param = self.name("p");
            let is_default = n_defaults > 0 && at + 1 == n_params;
            let ty = match is_default {
                true => self.scalar().into(),
                false => self.value_type(),
            };
            // A default is read from the text, so it is a plain number, and the annotation gives its type.
            head.push(match (is_default, &ty) {
                (true, Type::Scalar(scalar)) => {
                    default_at = at;
                    format!("{param}: {ty}={}", self.weak(*scalar))
                }
                _ if self.random.one_in(3) && !matches!(ty, Type::Tuple(_)) => {
                    format!("{param}: {}", annotation(&ty))
                }
                _ => param.clone(),
            });
            params.push(Variable { name: param, ty, is_fixed: false });
        }
        let result = if self.random.one_in(8) { Type::Void } else { self.value_type() };
        // An array that is returned is the caller's own.
        let result = if matches!(result, Type::Array(_)) { self.small_type() } else { result };
        let outer = std::mem::replace(&mut self.variables, params.clone());
        self.result = match &result {
            Type::Void => Result::Nothing,
            ty => Result::Value(ty.clone()),
        };
        self.block(&format!("def {name}({}):", head.join(", ")), |writer| {
            writer.statements(2);
            if let Result::Value(ty) = writer.result.clone() {
                let value = writer.value(&ty, 2);
                writer.line(&format!("return {value}"));
            }
        });
        self.line("");
        self.variables = outer;
        self.result = Result::Nothing;
        let params = params.into_iter().map(|param| param.ty).collect();
        let n_defaults = usize::from(default_at != usize::MAX);
        self.helpers.push(Helper { name, params, n_defaults, result });
    }

    /// A function of a few numbers, which may use the variables around it.
    pub fn lambda(&mut self) {
        let name = self.name("fn");
        let n_variables = self.variables.len();
        let mut params = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let (param, ty) = (self.name("p"), self.small_type());
            self.declare_fixed(&param, &ty);
            params.push((param, ty));
        }
        let result = self.small_type();
        let value = self.value(&result, 2);
        self.variables.truncate(n_variables);
        let (names, params): (Vec<String>, Vec<Type>) = params.into_iter().unzip();
        self.line(&format!("{name} = lambda {}: {value}", names.join(", ")));
        self.helpers.push(Helper { name, params, n_defaults: 0, result });
    }

    /// Of a function that gives the type, now and then.
    pub fn call(&mut self, ty: &Type, depth: usize) -> Option<String> {
        if !self.random.one_in(3) {
            return None;
        }
        let fitting: Vec<usize> =
            (0..self.helpers.len()).filter(|at| self.helpers[*at].result == *ty).collect();
        if fitting.is_empty() {
            return None;
        }
        let at = *self.random.pick(&fitting);
        Some(self.call_of(at, depth))
    }

    /// Of a function without a result, for what it does to the arrays given.
    pub fn plain_call(&mut self) -> Option<String> {
        let at = self.helpers.iter().position(|helper| helper.result == Type::Void)?;
        Some(self.call_of(at, 3))
    }

    fn call_of(&mut self, at: usize, depth: usize) -> String {
        let helper = &self.helpers[at];
        let (name, mut params) = (helper.name.clone(), helper.params.clone());
        if helper.n_defaults > 0 && self.random.one_in(2) {
            params.pop();
        }
        let args: Vec<String> =
            params.iter().map(|param| self.value(param, depth.saturating_sub(2))).collect();
        format!("{name}({})", args.join(", "))
    }

    pub fn kernel(&mut self) {
        let mut params = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let (name, ty) = (self.name("in"), self.value_with_layout());
            params.push(format!("{name}: Array[{}]", annotation(&ty)));
            self.inputs.push(Variable { name, ty, is_fixed: true });
        }
        if self.random.one_in(3) {
            let (name, ty) = (self.name("plane"), self.small_type());
            params.push(format!("{name}: Array[{}, 2]", annotation(&ty)));
            self.planes.push(Variable { name, ty, is_fixed: true });
        }
        for _ in 0..1 + self.random.below(3) {
            let (name, ty) = (self.name("out"), self.value_with_layout());
            params.push(format!("{name}: Array[{}]", annotation(&ty)));
            self.outputs.push(Variable { name, ty, is_fixed: true });
        }
        for _ in 0..self.random.below(3) {
            let (name, ty) = (self.name("s"), self.small_type());
            params.push(format!("{name}: {}", annotation(&ty)));
            self.declare_fixed(&name, &ty);
        }
        let local_size =
            *self.random.pick(&["", "", ", local_size=(8,)", ", local_size=(6,)", ", local_size=(64,)"]);
        self.line(&format!("@kernel(precise=True{local_size})"));
        self.block(&format!("def random_kernel({}):", params.join(", ")), |writer| {
            writer.line("i = global_id.x");
            writer.declare_fixed("i", &Type::I32);
            for _ in 0..2 + writer.random.below(3) {
                writer.declaration();
            }
            for _ in 0..2 + writer.random.below(2) {
                writer.statements(3);
            }
            // What the variables came to.
            for output in writer.outputs.clone() {
                let value = writer.value(&output.ty, 2);
                writer.line(&format!("{}[i] = {value}", output.name));
            }
        });
    }
}
