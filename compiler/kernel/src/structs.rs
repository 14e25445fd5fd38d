//! Struct types: members, memory layout and methods.
//!
//! The layout is that of C, and of NumPy with `align=True`: each member is at the next multiple of its alignment, and
//! the size is a multiple of the largest alignment. Structs without a name are equal if their members are; a struct
//! with a name comes from a class, and equals only itself.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::ast::Name;

use crate::constant::Constant;
use crate::env::{EnvValue, HelperFunction, KernelEnv};
use crate::types::Type;

/// The largest struct: more does not fit the values of a device.
pub const MAX_STRUCT_BYTES: u32 = 1 << 16;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructType {
    /// `None` for `Struct(a=f32)`.
    pub name: Option<Name>,
    pub members: Vec<Member>,
    pub methods: Vec<Method>,
    pub constants: ClassConstants,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    pub name: Name,
    pub ty: Type,
    /// Every number of it, in order.
    pub default: Option<Vec<Constant>>,
}

/// A function of the class that the struct comes from.
#[derive(Clone)]
pub struct Method {
    pub name: Name,
    pub function: HelperFunction,
    pub kind: MethodKind,
}

/// The other attributes of a struct's class: constants to kernels, by their current values. They are not part of the
/// type's identity.
#[derive(Clone, Default)]
pub struct ClassConstants(Option<Rc<dyn KernelEnv>>);

/// How a method is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodKind {
    /// Called on a struct, its `self`.
    Plain,
    /// `@staticmethod`: it takes no `self`.
    Static,
    /// `@property`: read like a member.
    Property,
    /// `@x.setter`: called by an assignment to the property `x`, whose name it has.
    Setter,
}

impl Member {
    pub fn new(name: impl Into<Name>, ty: Type) -> Member {
        Member { name: name.into(), ty, default: None }
    }
}

impl StructType {
    /// A struct without a name.
    pub fn new(members: Vec<Member>) -> StructType {
        StructType { name: None, members, methods: Vec::new(), constants: ClassConstants::default() }
    }

    /// A member by its name, with its place in the list.
    pub fn member(&self, name: &str) -> Option<(u32, &Member)> {
        let at = self.members.iter().position(|member| &*member.name == name)?;
        Some((at as u32, &self.members[at]))
    }

    pub fn method(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|method| &*method.name == name && method.kind != MethodKind::Setter)
    }

    /// The setter of a property.
    pub fn setter(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|method| &*method.name == name && method.kind == MethodKind::Setter)
    }

    /// The value of a class attribute that is neither a member nor a method: `P.K`, `self.K`.
    pub fn constant(&self, name: &str) -> Option<EnvValue> {
        if self.member(name).is_some() || self.method(name).is_some() {
            return None;
        }
        self.constants.0.as_ref()?.get(name)
    }

    /// The names that [`StructType::constant`] knows.
    pub fn constant_names(&self) -> Vec<Name> {
        let mut names = self.constants.0.as_ref().map_or(Vec::new(), |class| class.names());
        names.retain(|name| self.member(name).is_none() && self.method(name).is_none());
        names
    }

    /// Bytes from the start to each member.
    pub fn offsets(&self) -> Vec<u32> {
        let mut end = 0u32;
        let place = |member: &Member| {
            let offset = end.next_multiple_of(member.ty.align());
            end = offset.saturating_add(member.ty.packed_size());
            offset
        };
        self.members.iter().map(place).collect()
    }

    pub fn align(&self) -> u32 {
        self.members.iter().map(|member| member.ty.align()).max().unwrap_or(1)
    }

    pub fn size(&self) -> u32 {
        let (Some(last), Some(offset)) = (self.members.last(), self.offsets().pop()) else { return 0 };
        offset.saturating_add(last.ty.packed_size()).next_multiple_of(self.align())
    }
}

impl ClassConstants {
    /// Everything that a class holds, by its names.
    pub fn of_class(class: Rc<dyn KernelEnv>) -> ClassConstants {
        ClassConstants(Some(class))
    }
}

impl fmt::Display for StructType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            return f.write_str(name);
        }
        f.write_str("Struct(")?;
        for (at, member) in self.members.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{}={}", member.name, member.ty)?;
        }
        f.write_str(")")
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for ClassConstants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl PartialEq for ClassConstants {
    fn eq(&self, _: &ClassConstants) -> bool {
        true
    }
}

impl Eq for ClassConstants {}

impl Hash for ClassConstants {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// Two methods are the same where their definition is.
impl PartialEq for Method {
    fn eq(&self, other: &Method) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.function.def, &other.function.def)
    }
}

impl Eq for Method {}

impl Hash for Method {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        Arc::as_ptr(&self.function.def).hash(state);
    }
}
