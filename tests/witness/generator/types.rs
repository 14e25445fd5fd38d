//! Selects types for a random kernel.

use kps_kernel::{Member, Scalar, StructType, Type};

use super::Writer;
use super::matrices::matrix_parts;

impl Writer {
    pub fn scalar(&mut self) -> Scalar {
        match self.random.below(8) {
            0 => *self.random.pick(&Scalar::ALL),
            1 => Scalar::F32,
            _ => *self.random.pick(&self.palette),
        }
    }

    pub fn int(&mut self) -> Scalar {
        let ints: Vec<Scalar> = self.palette.iter().copied().filter(|scalar| scalar.is_int()).collect();
        if self.random.one_in(3) { Scalar::I32 } else { *self.random.pick(&ints) }
    }

    pub fn float(&mut self) -> Scalar {
        *self.random.pick(&[Scalar::F32, Scalar::F32, Scalar::F64, Scalar::F16, Scalar::Bf16])
    }

    fn vector(&mut self) -> Type {
        Type::Vector(2 + self.random.below(3) as u8, self.scalar())
    }

    /// The type of a variable.
    pub fn value_type(&mut self) -> Type {
        match self.random.below(13) {
            12 => self.matrix(),
            0..6 => self.scalar().into(),
            6 | 7 => self.vector(),
            8 | 9 => self.array(),
            10 if !self.structs.is_empty() => self.random.pick(&self.structs).clone(),
            10 => self.vector(),
            _ => {
                let items: Vec<Type> = (0..2 + self.random.below(2)).map(|_| self.small_type()).collect();
                Type::tuple(items)
            }
        }
    }

    pub fn array(&mut self) -> Type {
        let len = 1 + self.random.below(5) as u32;
        let element = if self.random.one_in(5) { self.value_with_layout() } else { self.small_type() };
        Type::array(len, element)
    }

    pub fn small_type(&mut self) -> Type {
        if self.random.one_in(4) { self.vector() } else { self.scalar().into() }
    }

    /// The type of an element in an array of the host.
    pub fn value_with_layout(&mut self) -> Type {
        match self.random.below(8) {
            0..4 => self.scalar().into(),
            4 | 5 => self.vector(),
            6 if !self.structs.is_empty() => self.random.pick(&self.structs).clone(),
            6 => self.matrix(),
            _ => Type::array(1 + self.random.below(4) as u32, self.small_type()),
        }
    }

    pub fn structs(&mut self) {
        for _ in 0..self.random.below(3) {
            let name = self.name("S");
            let mut members = Vec::new();
            for _ in 0..1 + self.random.below(4) {
                let member = self.name("m");
                let ty = self.value_with_layout();
                members.push(Member::new(&*member, ty));
            }
            self.line("@struct");
            self.block(&format!("class {name}:"), |writer| {
                for member in &members {
                    writer.line(&format!("{}: {}", member.name, annotation(&member.ty)));
                }
                let named = members.iter().map(|member| (member.name.to_string(), member.ty.clone()));
                let of = StructType { name: Some((&*name).into()), ..StructType::new(members.clone()) };
                let (of, named): (Type, Vec<_>) = (Type::Struct(of.into()), named.collect());
                writer.methods(&of, &named);
                writer.operators(&of, &named);
                writer.structs.push(of);
            });
            self.line("");
        }
    }
}

/// The annotation of a type.
pub fn annotation(ty: &Type) -> String {
    match ty {
        Type::Array(array) => format!("Array({}, {})", array.len, annotation(&array.element)),
        Type::Struct(of) => of.name.as_deref().expect("these have names").to_owned(),
        ty => ty.to_string(),
    }
}

/// The accesses to the parts of a value, with their types: `.x`, `[1]`, `.m3`.
pub fn parts(ty: &Type) -> Vec<(String, Type)> {
    if let Type::Matrix { columns, rows, scalar } = *ty {
        return matrix_parts(columns, rows, scalar);
    }
    let n = ty.n_parts().unwrap_or(0);
    let part = |at: u32| {
        let step = match ty {
            Type::Vector(..) => format!(".{}", ["x", "y", "z", "w"][at as usize]),
            Type::Struct(of) => format!(".{}", of.members[at as usize].name),
            _ => format!("[{at}]"),
        };
        (step, ty.part(at).expect("a part in range"))
    };
    (0..n).map(part).collect()
}
