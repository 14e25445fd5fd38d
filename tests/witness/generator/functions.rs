//! The kernel itself, the functions that it calls, and the calls.

use kps_kernel::Type;

use super::types::annotation;
use super::{Helper, Result, Variable, Writer};
use crate::data;

impl Writer {
    pub fn helpers(&mut self) {
        for _ in 0..self.random.below(4) {
            self.helper();
        }
        if self.random.one_in(2) {
            self.applier();
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
            // A default is parsed as part of the signature, so it is a plain number, and the annotation gives
            // its type.
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
        // A returned array belongs to the caller.
        let result = if matches!(result, Type::Array(_)) { self.small_type() } else { result };
        let outer = std::mem::replace(&mut self.variables, params.clone());
        self.result = match &result {
            Type::Void => Result::Nothing,
            ty => Result::Value(ty.clone()),
        };
        self.block(&format!("def {name}({}):", head.join(", ")), |writer| {
            if writer.random.one_in(4) {
                writer.inner_function();
            }
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
        self.helpers.push(Helper { name, params, n_defaults, result, is_lambda: false });
    }

    /// An inner function, which may use the variables around it.
    fn inner_function(&mut self) {
        let (name, param) = (self.name("h"), self.name("p"));
        let (given, result) = (self.small_type(), self.small_type());
        let (outer, n_loops) = (self.variables.clone(), std::mem::take(&mut self.n_loops));
        // Outer variables are only read.
        self.variables.iter_mut().for_each(|variable| variable.is_fixed = true);
        self.declare_fixed(&param, &given);
        let outer_result = std::mem::replace(&mut self.result, Result::Value(result.clone()));
        self.block(&format!("def {name}({param}):"), |writer| {
            writer.statements(1);
            let value = writer.value(&result, 2);
            writer.line(&format!("return {value}"));
        });
        (self.variables, self.n_loops, self.result) = (outer, n_loops, outer_result);
        self.helpers.push(Helper { name, params: vec![given], n_defaults: 0, result, is_lambda: true });
    }

    /// A lambda of a few numbers, which may use the variables around it.
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
        self.helpers.push(Helper { name, params, n_defaults: 0, result, is_lambda: true });
    }

    /// Sometimes a call of a function with this result type.
    pub fn call(&mut self, ty: &Type, depth: usize) -> Option<String> {
        match self.random.below(10) {
            0..3 => {}
            3 => return self.applied(ty, depth),
            4 => return self.method_call(ty, depth),
            5 => return self.formed(ty, depth),
            _ => return None,
        }
        let fitting: Vec<usize> =
            (0..self.helpers.len()).filter(|at| self.helpers[*at].result == *ty).collect();
        if fitting.is_empty() {
            return None;
        }
        let at = *self.random.pick(&fitting);
        Some(self.call_of(at, depth))
    }

    /// A call of a function without a result, for its effect on array arguments.
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
        let n_axes = *self.random.pick(&[1, 1, 1, 2, 3]);
        for _ in 0..1 + self.random.below(3) {
            let param = self.output(n_axes);
            params.push(param);
        }
        for _ in 0..self.random.below(3) {
            let (name, ty) = (self.name("s"), self.small_type());
            params.push(format!("{name}: {}", annotation(&ty)));
            self.declare_fixed(&name, &ty);
            self.uniforms.push(Variable { name, ty, is_fixed: true });
        }
        if self.random.one_in(4) {
            let name = self.name("N");
            params.push(format!("{name}: const[i32] = {}", self.small()));
            self.consts.push(name);
        }
        let local_size = match n_axes {
            1 => *self.random.pick(&["", "", ", local_size=(8,)", ", local_size=(6,)", ", local_size=(64,)"]),
            2 => *self.random.pick(&[", local_size=(4, 4)", ", local_size=(8, 2)", ", local_size=(2, 8)"]),
            _ => *self.random.pick(&[", local_size=(2, 2, 2)", ", local_size=(4, 1, 3)"]),
        };
        self.line(&format!("@kernel(precise=True{local_size})"));
        self.block(&format!("def random_kernel({}):", params.join(", ")), |writer| {
            writer.place_of_invocation(n_axes);
            for _ in 0..2 + writer.random.below(3) {
                writer.declaration();
            }
            for _ in 0..2 + writer.random.below(2) {
                writer.statements(3);
            }
            // Stores the final values of the variables.
            for output in writer.outputs.clone() {
                let value = writer.value(&output.ty, 2);
                writer.line(&format!("{} = {value}", output.name));
            }
        });
    }

    /// A parameter: an array with an element for each invocation, with as many axes as the domain or with
    /// one.
    pub fn output(&mut self, n_axes: usize) -> String {
        let (name, ty) = (self.name(data::OWN), self.value_with_layout());
        let is_flat = n_axes == 1 || self.random.one_in(3);
        let axes = if is_flat { String::new() } else { format!(", {n_axes}") };
        let param = format!("{name}: Array[{}{axes}]", annotation(&ty));
        let own = match n_axes {
            _ if is_flat => format!("{name}[i]"),
            2 if self.random.one_in(3) => format!("{name}[y][x]"),
            2 => format!("{name}[y, x]"),
            _ => format!("{name}[z, y, x]"),
        };
        self.outputs.push(Variable { name: own, ty, is_fixed: true });
        param
    }

    /// Names for the coordinates of the invocation, and its index `i`.
    fn place_of_invocation(&mut self, n_axes: usize) {
        let names = &["x", "y", "z"][..n_axes];
        if n_axes == 1 {
            self.line("i = global_id.x");
        } else {
            names.iter().for_each(|name| self.line(&format!("{name} = global_id.{name}")));
            self.line(match n_axes {
                2 => "i = y * global_size.x + x",
                _ => "i = (z * global_size.y + y) * global_size.x + x",
            });
            names.iter().for_each(|name| self.declare_fixed(name, &Type::I32));
        }
        self.declare_fixed("i", &Type::I32);
    }
}
