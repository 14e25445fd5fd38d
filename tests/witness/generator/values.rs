//! Expressions, each written for a type. Every expression with an operator is in brackets, so that neither
//! readers nor the shrinker need precedence.

use kps_kernel::{Kind, Scalar, Type};

use super::types::parts;
use super::{Variable, Writer};

/// Placeholder for an index.
const AT: &str = "@";
const AT_TWO: &str = "@@";

/// Functions of floats with one correct result.
const ROUNDINGS: [&str; 4] = ["floor", "ceil", "trunc", "round"];

/// Functions of f64, which kps implements on every device.
const DOUBLE: [&str; 8] = ["sin", "cos", "exp", "log", "atan", "tanh", "cbrt", "exp2"];

impl Writer {
    /// An expression of the type, of so many operators one in another.
    pub fn value(&mut self, ty: &Type, depth: usize) -> String {
        if depth == 0 || self.random.one_in(5) {
            return self.leaf(ty);
        }
        if self.random.one_in(9) && !matches!(ty, Type::Tuple(_)) {
            let (a, b) = (self.value(ty, depth - 1), self.value(ty, depth - 1));
            return format!("({a} if {} else {b})", self.condition(depth - 1));
        }
        if let Some(call) = self.call(ty, depth) {
            return call;
        }
        match ty {
            Type::Scalar(Scalar::Bool) => self.condition(depth),
            Type::Scalar(scalar) if scalar.is_int() => self.int_value(*scalar, depth),
            Type::Scalar(scalar) => self.float_value(*scalar, depth),
            Type::Vector(n, scalar) => self.vector_value(*n, *scalar, depth),
            Type::Matrix { columns, rows, scalar } => self.matrix_value([*columns, *rows], *scalar, depth),
            ty => self.made(ty, depth),
        }
    }

    /// Constructs it from its parts.
    pub fn made(&mut self, ty: &Type, depth: usize) -> String {
        let depth = depth.saturating_sub(1);
        let parts: Vec<Type> = (0..ty.n_parts().unwrap_or(0)).filter_map(|at| ty.part(at)).collect();
        let values: Vec<String> = parts.iter().map(|part| self.value(part, depth)).collect();
        let values = values.join(", ");
        match ty {
            Type::Vector(..) | Type::Matrix { .. } => format!("{ty}({values})"),
            Type::Array(_) => format!("[{values}]"),
            Type::Struct(of) => format!("{}({values})", of.name.as_deref().expect("these have names")),
            _ => format!("({values})"),
        }
    }

    fn leaf(&mut self, ty: &Type) -> String {
        if !self.random.one_in(5)
            && let Some(place) = self.place(ty)
        {
            return place;
        }
        let same: Vec<&Variable> = self.uniforms.iter().filter(|variable| variable.ty == *ty).collect();
        if !same.is_empty() && self.random.one_in(3) {
            return format!("uniform({})", self.random.pick(&same).name);
        }
        match ty {
            Type::Scalar(Scalar::I32) if !self.consts.is_empty() && self.random.one_in(4) => {
                self.random.pick(&self.consts).clone()
            }
            Type::Scalar(scalar) => self.literal(*scalar),
            ty => self.made(ty, 0),
        }
    }

    /// A variable, an element of an input, or a part of one of them.
    pub fn place(&mut self, ty: &Type) -> Option<String> {
        let mut places = Vec::new();
        // A list is passed by reference, so another name may change it.
        let is_list = matches!(ty, Type::Array(_));
        for view in self.views.iter().filter(|_| !is_list) {
            find(&view.name, &view.ty, ty, 3, &mut places);
        }
        for variable in &self.variables {
            find(&variable.name, &variable.ty, ty, 3, &mut places);
        }
        if !is_list {
            places.extend(self.places_in_inputs(ty));
            places.extend(self.places_in_rows(ty));
        }
        if !places.is_empty() && !self.random.one_in(6) {
            return Some(self.indexed(&places));
        }
        self.element(ty)
    }

    /// A list of an input.
    pub fn input_array(&mut self, ty: &Type) -> Option<String> {
        let places = self.places_in_inputs(ty);
        (!places.is_empty()).then(|| self.indexed(&places))
    }

    fn places_in_inputs(&self, ty: &Type) -> Vec<String> {
        let mut places = Vec::new();
        for (arrays, at) in [(&self.inputs, AT), (&self.planes, AT_TWO)] {
            for array in arrays {
                let mut within = Vec::new();
                find("", &array.ty, ty, 3, &mut within);
                places.extend(within.into_iter().map(|path| format!("{}[{at}]{path}", array.name)));
            }
        }
        places
    }

    fn places_in_rows(&self, ty: &Type) -> Vec<String> {
        let mut places = Vec::new();
        for (_, row) in &self.rows {
            let mut within = Vec::new();
            find("", &row.ty, ty, 3, &mut within);
            places.extend(within.into_iter().map(|path| format!("{}[{AT}]{path}", row.name)));
        }
        places
    }

    /// Selects one of these places, and fills in missing indices.
    fn indexed(&mut self, places: &[String]) -> String {
        let place = self.random.pick(places).clone();
        let [first, second] = [0; 2].map(|_| self.element_index());
        place.replace(AT_TWO, &format!("{first}, {second}")).replace(AT, &first)
    }

    /// An element of an array or a component of a vector, at a dynamic index.
    fn element(&mut self, ty: &Type) -> Option<String> {
        let holds = |whole: &Type| match whole {
            Type::Array(array) => array.element == *ty,
            Type::Vector(_, scalar) => Type::from(*scalar) == *ty,
            _ => false,
        };
        let wholes: Vec<String> = self
            .variables
            .iter()
            .filter(|variable| holds(&variable.ty))
            .map(|variable| variable.name.clone())
            .collect();
        if wholes.is_empty() {
            return None;
        }
        let whole = self.random.pick(&wholes).clone();
        Some(format!("{whole}[{}]", self.index()))
    }

    /// Mostly small, sometimes past the end or negative.
    pub fn index(&mut self) -> String {
        let int = self.plain_int();
        match self.random.below(4) {
            0 => int,
            1 => format!("({int} & 7)"),
            _ => format!("({int} % {})", self.small()),
        }
    }

    /// An i32 variable, or 0. It is often one that is certainly not constant: a constant index out of range
    /// would be rejected.
    pub fn plain_int(&mut self) -> String {
        if self.random.one_in(2) && self.variables.iter().any(|variable| variable.name == "i") {
            return "i".to_owned();
        }
        let ints: Vec<&str> = self
            .variables
            .iter()
            .filter(|variable| variable.ty == Type::I32)
            .map(|variable| &*variable.name)
            .collect();
        if ints.is_empty() { "0".to_owned() } else { (*self.random.pick(&ints)).to_owned() }
    }

    fn element_index(&mut self) -> String {
        match self.random.below(5) {
            0 => self.index(),
            1 => format!("(i + {})", self.small()),
            2 => format!("(i * {})", self.small()),
            _ => "i".to_owned(),
        }
    }

    fn pair(&mut self, ty: &Type, depth: usize) -> (String, String) {
        let a = self.value(ty, depth - 1);
        let b = match ty {
            // Next to a typed literal, another literal adopts its type.
            Type::Scalar(scalar) if self.random.one_in(6) => self.weak(*scalar),
            ty => self.value(ty, depth - 1),
        };
        (a, b)
    }

    /// Bit operations on an int.
    fn of_bits(&mut self, scalar: Scalar, depth: usize) -> String {
        if self.random.one_in(3) {
            return format!("reverse_bits({})", self.value(&scalar.into(), depth));
        }
        let ints: Vec<Scalar> = Scalar::ALL.into_iter().filter(|one| one.is_int()).collect();
        let of = Type::from(*self.random.pick(&ints));
        let value = self.value(&of, depth);
        let form = *self.random.pick(&["popcount(@)", "clz(@)", "ctz(@)", "@.bit_count()", "@.bit_length()"]);
        format!("{scalar}({})", form.replace('@', &value))
    }

    fn int_value(&mut self, scalar: Scalar, depth: usize) -> String {
        let ty = Type::from(scalar);
        let inner = depth - 1;
        match self.random.below(20) {
            0 => format!("(~{})", self.value(&ty, inner)),
            1 if scalar.is_signed() => format!("(-{})", self.value(&ty, inner)),
            2 => format!("abs({})", self.value(&ty, inner)),
            3 => {
                let function = *self.random.pick(&["min", "max", "tdiv", "trem"]);
                let (a, b) = (self.value(&ty, inner), self.value(&ty, inner));
                format!("{function}({a}, {b})")
            }
            4 => format!("({} ** {})", self.value(&ty, inner), self.random.below(5)),
            5 if self.random.one_in(2) => {
                let (a, b) = (self.value(&ty, inner), self.value(&ty, inner));
                format!("({a} ** ({b} & {scalar}(7)))")
            }
            6 => {
                let (a, b) = (self.value(&ty, inner), self.value(&ty, inner));
                format!("divmod({a}, {b})[{}]", self.random.below(2))
            }
            7..10 => self.cast(&ty, inner),
            10 => {
                let narrow: Vec<Scalar> = Scalar::ALL
                    .into_iter()
                    .filter(|narrow| *narrow != scalar && narrow.is_int() && narrow.widens_to(scalar))
                    .collect();
                let Some(narrow) = (!narrow.is_empty()).then(|| *self.random.pick(&narrow)) else {
                    return self.cast(&ty, inner);
                };
                format!("({} + {})", self.value(&ty, inner), self.value(&narrow.into(), inner))
            }
            13 => self.bits(scalar, inner),
            14 => self.of_bits(scalar, inner),
            11 if scalar == Scalar::I32 && !self.inputs.is_empty() => {
                format!("len({})", self.random.pick(&self.inputs).name)
            }
            12 if scalar == Scalar::I32 && self.shared.is_empty() && !self.planes.is_empty() => {
                format!("{}.shape[{}]", self.planes[0].name, self.random.below(2))
            }
            _ => {
                let op = *self.random.pick(&["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"]);
                let (a, b) = self.pair(&ty, depth);
                let b = if op == "<<" || op == ">>" { self.amount(&ty, inner) } else { b };
                format!("({a} {op} {b})")
            }
        }
    }

    /// A shift amount: a negative constant would be rejected.
    pub fn amount(&mut self, ty: &Type, depth: usize) -> String {
        let mask = *self.random.pick(&[7, 15, 31, 127]);
        let scalar = ty.scalar().expect("ints are shifted");
        format!("({} & {scalar}({mask}))", self.value(ty, depth))
    }

    fn float_value(&mut self, scalar: Scalar, depth: usize) -> String {
        let ty = Type::from(scalar);
        let inner = depth - 1;
        match self.random.below(16) {
            0 => format!("(-{})", self.value(&ty, inner)),
            1 => format!("abs({})", self.value(&ty, inner)),
            2 => format!("{}({})", self.random.pick(&ROUNDINGS), self.value(&ty, inner)),
            3 => {
                let function = *self.random.pick(&["min", "max"]);
                let (a, b) = (self.value(&ty, inner), self.value(&ty, inner));
                format!("{function}({a}, {b})")
            }
            4 => format!("({} ** 2)", self.value(&ty, inner)),
            5..8 => self.cast(&ty, inner),
            8 if scalar == Scalar::F32 => {
                let int = *self.random.pick(&[Scalar::I32, Scalar::I8, Scalar::U16]);
                format!("({} + {})", self.value(&ty, inner), self.value(&int.into(), inner))
            }
            9 => format!("sqrt(abs({}))", self.value(&ty, inner)),
            12 if scalar == Scalar::F64 => {
                format!("{}({})", self.random.pick(&DOUBLE), self.value(&ty, inner))
            }
            10 => format!("({} / {})", self.value(&ty, inner), self.value(&ty, inner)),
            11 => self.bits(scalar, inner),
            _ => {
                let op = *self.random.pick(&["+", "-", "*"]);
                let (a, b) = self.pair(&ty, depth);
                format!("({a} {op} {b})")
            }
        }
    }

    /// The bits of another int type with the same width.
    fn bits(&mut self, scalar: Scalar, depth: usize) -> String {
        let of: Vec<Scalar> = Scalar::ALL
            .into_iter()
            .filter(|other| *other != scalar && other.is_int() && other.bits() == scalar.bits())
            .collect();
        let from = *self.random.pick(&of);
        format!("bitcast({scalar}, {})", self.value(&from.into(), depth))
    }

    /// From another type with as many components.
    fn cast(&mut self, ty: &Type, depth: usize) -> String {
        let from = self.scalar();
        let from = ty.with_scalar(from);
        let value = self.value(&from, depth);
        match (&from, ty) {
            (from, to) if from == to => value,
            (_, to) => format!("{to}({value})"),
        }
    }

    fn vector_value(&mut self, n: u8, scalar: Scalar, depth: usize) -> String {
        let ty = Type::Vector(n, scalar);
        let inner = depth - 1;
        match self.random.below(11) {
            0 => self.made(&ty, depth),
            10 if scalar.is_float() => self.matrix_and_vector(n, scalar, inner),
            1 => {
                let from = Type::Vector(2 + self.random.below(3) as u8, scalar);
                let names: &[char] = &['x', 'y', 'z', 'w'][..usize::from(from.n_components())];
                let swizzle: String = (0..n).map(|_| *self.random.pick(names)).collect();
                match self.place(&from) {
                    Some(whole) => format!("{whole}.{swizzle}"),
                    None => self.made(&ty, depth),
                }
            }
            2 => self.cast(&ty, inner),
            3 => format!("{ty}({})", self.value(&scalar.into(), inner)),
            4 if scalar != Scalar::Bool => {
                let function = *self.random.pick(&["min", "max"]);
                let (a, b) = (self.value(&ty, inner), self.value(&ty, inner));
                format!("{function}({a}, {b})")
            }
            5 if scalar != Scalar::Bool => {
                let op = *self.random.pick(&["+", "-", "*"]);
                format!("({} {op} {})", self.value(&ty, inner), self.value(&scalar.into(), inner))
            }
            _ => match scalar.kind() {
                Kind::Bool => self.vector_comparison(n, inner),
                kind => {
                    let ops: &[&str] = match kind {
                        Kind::Float => &["+", "-", "*"],
                        _ => &["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"],
                    };
                    let op = *self.random.pick(ops);
                    let b = match op {
                        "<<" | ">>" => self.amount(&ty, inner),
                        _ => self.value(&ty, inner),
                    };
                    format!("({} {op} {b})", self.value(&ty, inner))
                }
            },
        }
    }

    fn vector_comparison(&mut self, n: u8, depth: usize) -> String {
        let ty = Type::Vector(n, self.number());
        let op = *self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        format!("({} {op} {})", self.value(&ty, depth), self.value(&ty, depth))
    }

    fn number(&mut self) -> Scalar {
        let scalar = self.scalar();
        if scalar == Scalar::Bool { Scalar::I32 } else { scalar }
    }

    /// A bool.
    pub fn condition(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf(&Type::BOOL);
        }
        let inner = depth - 1;
        match self.random.below(12) {
            0 => format!("({} and {})", self.condition(inner), self.condition(inner)),
            1 => format!("({} or {})", self.condition(inner), self.condition(inner)),
            2 => format!("(not {})", self.condition(inner)),
            3 => {
                let n = 2 + self.random.below(3) as u8;
                let bools = self.value(&Type::Vector(n, Scalar::Bool), inner);
                format!("{}({bools})", self.random.pick(&["any", "all"]))
            }
            4 => {
                let ty = self.number().into();
                let first = *self.random.pick(&["<", "<=", ">", "=="]);
                let second = *self.random.pick(&["<", "<=", ">=", "!="]);
                let [a, b, c] = [0; 3].map(|_| self.value(&ty, inner));
                format!("({a} {first} {b} {second} {c})")
            }
            5 => {
                let float = self.float();
                let function = *self.random.pick(&["isnan", "isinf", "isfinite"]);
                format!("{function}({})", self.value(&float.into(), inner))
            }
            6 => {
                let op = *self.random.pick(&["==", "!=", "&", "|", "^"]);
                format!("({} {op} {})", self.condition(inner), self.condition(inner))
            }
            7 if !self.structs.is_empty() => {
                let ty = self.random.pick(&self.structs).clone();
                let op = *self.random.pick(&["==", "!="]);
                format!("({} {op} {})", self.value(&ty, 0), self.value(&ty, 0))
            }
            8 => {
                let ty = self.number().into();
                let among: Vec<String> = (0..2 + self.random.below(2)).map(|_| self.value(&ty, 0)).collect();
                let how = *self.random.pick(&["in", "not in"]);
                format!("({} {how} ({}))", self.value(&ty, inner), among.join(", "))
            }
            _ => {
                let ty = self.number().into();
                let op = *self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
                let (a, b) = self.pair(&ty, depth);
                format!("({a} {op} {b})")
            }
        }
    }
}

/// Every part with the requested type in a value, up to a depth.
fn find(path: &str, ty: &Type, wanted: &Type, depth: usize, places: &mut Vec<String>) {
    if ty == wanted {
        places.push(path.to_owned());
    }
    if depth > 0 {
        for (step, part) in parts(ty) {
            find(&format!("{path}{step}"), &part, wanted, depth - 1, places);
        }
    }
}
