//! The types of a module. A type refers only to earlier types, except through buffer addresses, which no
//! recursion follows. So there are no cycles. The depth of nesting is limited, so recursion over types is
//! safe.

use kps_scalar::Scalar;
pub use rspirv::spirv::StorageClass;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Id;

/// Limit of nested arrays and structures.
pub const MAX_DEPTH: u32 = 32;
/// Limit of scalars in one value.
pub const MAX_SCALARS: u32 = 1 << 14;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeId(u32);

/// The scalar type of a buffer address.
pub const ADDRESS: Scalar = Scalar::U64;

#[derive(Clone, Debug)]
pub enum Type {
    Void,
    Scalar(Scalar),
    Vector {
        n: u32,
        scalar: Scalar,
    },
    Matrix {
        columns: u32,
        column: TypeId,
    },
    Array {
        element: TypeId,
        len: u32,
        stride: Option<u32>,
    },
    RuntimeArray {
        element: TypeId,
        stride: Option<u32>,
    },
    Struct(Vec<Member>),
    /// Addresses of buffers are 64-bit ints; lowering resolves all other pointers. `stride` is that of the
    /// array that it points into.
    Pointer {
        class: StorageClass,
        pointee: TypeId,
        stride: Option<u32>,
    },
    Image {
        scalar: Scalar,
        n_axes: u32,
    },
    Sampler,
    /// A matrix that the lanes of a subgroup share; each has `n` components.
    Cooperative {
        scalar: Scalar,
        rows: u32,
        columns: u32,
        role: u32,
        n: u32,
    },
    SampledImage {
        image: TypeId,
    },
    Function {
        ret: TypeId,
        params: Vec<TypeId>,
    },
}

#[derive(Clone, Debug)]
pub struct Member {
    /// The name in the source.
    pub name: Option<String>,
    pub ty: TypeId,
    /// An array of which the source sees the first element only.
    pub is_cell: bool,
    pub offset: Option<u32>,
    pub matrix: MatrixLayout,
}

/// The layout of the matrices in a member.
#[derive(Clone, Copy, Debug, Default)]
pub struct MatrixLayout {
    pub stride: Option<u32>,
    pub row_major: bool,
}

/// The rule for the bytes of a value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As decorated: buffers and push constants.
    Explicit,
    /// Packed; for memory that only this device accesses.
    Natural,
}

#[derive(Default)]
pub struct Types {
    all: Vec<Info>,
    by_id: FxHashMap<Id, TypeId>,
    /// Address types by their pointee.
    addresses: FxHashMap<TypeId, TypeId>,
    /// Pointer types that were named, but not yet declared.
    forward: FxHashSet<Id>,
    /// The declared type of each scalar.
    scalar_ids: FxHashMap<Scalar, TypeId>,
}

struct Info {
    ty: Type,
    depth: u32,
    /// Scalars in a value, saturating. Run-time arrays and pointers have none.
    n_scalars: u32,
    /// Consists of scalars, with a known size: can be loaded, stored and passed.
    is_data: bool,
    /// Bytes in the natural layout, saturating.
    natural_size: u64,
    /// The widest scalar's size.
    natural_align: u64,
    /// Bytes of a structure as decorated; `None` where a decoration is missing, and for other types.
    explicit_size: Option<u64>,
}

impl Types {
    pub fn get(&self, id: TypeId) -> &Type {
        &self.all[id.0 as usize].ty
    }

    pub fn by_id(&self, id: Id) -> Option<TypeId> {
        self.by_id.get(&id).copied()
    }

    /// Adds a pointer type whose pointee is not declared yet.
    pub fn add_forward(&mut self, id: Id, class: StorageClass) -> Result<(), &'static str> {
        let nothing = self.push(Type::Void)?;
        self.add(id, Type::Pointer { class, pointee: nothing, stride: None })?;
        self.forward.insert(id);
        Ok(())
    }

    /// Whether a pointer type is named and not yet declared.
    pub fn is_announced(&self, id: Id) -> bool {
        self.forward.contains(&id)
    }

    /// Completes a pointer type that was added before.
    pub fn complete(&mut self, id: Id, pointer: Type) {
        let known = self.by_id[&id];
        self.forward.remove(&id);
        self.note_address(known, &pointer);
        self.all[known.0 as usize].ty = pointer;
    }

    /// Adds a type under its id. Types that are nested too deeply are an error.
    pub fn add(&mut self, id: Id, ty: Type) -> Result<TypeId, &'static str> {
        let type_id = self.push(ty)?;
        self.by_id.insert(id, type_id);
        Ok(type_id)
    }

    fn push(&mut self, ty: Type) -> Result<TypeId, &'static str> {
        let info = self.describe(ty)?;
        if info.depth > MAX_DEPTH {
            return Err("types are nested too deeply");
        }
        let id = TypeId(self.all.len() as u32);
        self.note_address(id, &info.ty);
        if let Type::Scalar(scalar) = info.ty {
            self.scalar_ids.entry(scalar).or_insert(id);
        }
        self.all.push(info);
        Ok(id)
    }

    fn note_address(&mut self, id: TypeId, ty: &Type) {
        if let Type::Pointer { class: StorageClass::PhysicalStorageBuffer, pointee, .. } = *ty {
            self.addresses.entry(pointee).or_insert(id);
        }
    }

    fn describe(&self, ty: Type) -> Result<Info, &'static str> {
        let none = Info {
            ty: Type::Void,
            depth: 0,
            n_scalars: 0,
            is_data: false,
            natural_size: 0,
            natural_align: 1,
            explicit_size: None,
        };
        let info = match &ty {
            Type::Pointer { class: StorageClass::PhysicalStorageBuffer, .. } => {
                Info { n_scalars: 1, is_data: true, natural_size: 8, natural_align: 8, ..none }
            }
            Type::Void
            | Type::Pointer { .. }
            | Type::Image { .. }
            | Type::Sampler
            | Type::SampledImage { .. }
            | Type::Function { .. } => none,
            Type::Scalar(scalar) | Type::Vector { scalar, .. } | Type::Cooperative { scalar, .. } => {
                let n = match ty {
                    Type::Vector { n, .. } | Type::Cooperative { n, .. } => n,
                    _ => 1,
                };
                let align = u64::from(scalar.bytes());
                let size = u64::from(n) * align;
                Info { n_scalars: n, is_data: true, natural_size: size, natural_align: align, ..none }
            }
            Type::Matrix { columns: n, column: element } | Type::Array { element, len: n, .. } => {
                let inner = &self.all[element.0 as usize];
                if !inner.is_data {
                    return Err("array elements are scalars, vectors, matrices, arrays or structures");
                }
                Info {
                    depth: inner.depth + 1,
                    n_scalars: inner.n_scalars.saturating_mul(*n),
                    is_data: true,
                    natural_size: inner.natural_size.saturating_mul(u64::from(*n)),
                    natural_align: inner.natural_align,
                    ..none
                }
            }
            Type::RuntimeArray { element, .. } => {
                let inner = &self.all[element.0 as usize];
                if !inner.is_data {
                    return Err("array elements are scalars, vectors, matrices, arrays or structures");
                }
                Info { depth: inner.depth + 1, natural_align: inner.natural_align, ..none }
            }
            Type::Struct(members) => self.describe_struct(members, none)?,
        };
        Ok(Info { ty, ..info })
    }

    fn describe_struct(&self, members: &[Member], none: Info) -> Result<Info, &'static str> {
        let Some((last, others)) = members.split_last() else {
            return Err("empty structures are not taken");
        };
        let ends_open = matches!(self.get(last.ty), Type::RuntimeArray { .. });
        if others.iter().any(|member| !self.is_data(member.ty)) || !(ends_open || self.is_data(last.ty)) {
            return Err("structure members are scalars, vectors, matrices, arrays or structures");
        }
        let infos = || members.iter().map(|member| &self.all[member.ty.0 as usize]);
        let align = infos().map(|info| info.natural_align).max().unwrap_or(1);
        Ok(Info {
            depth: infos().map(|info| info.depth).max().unwrap_or(0) + 1,
            n_scalars: infos().fold(0u32, |sum, info| sum.saturating_add(info.n_scalars)),
            is_data: !ends_open,
            natural_size: align_up(self.natural_end(members), align),
            natural_align: align,
            explicit_size: members.iter().try_fold(0, |end, member| {
                let size = self.size(member.ty, Layout::Explicit, member.matrix)?;
                Some(size.saturating_add(u64::from(member.offset?)).max(end))
            }),
            ..none
        })
    }

    /// The end of the last member in the natural layout.
    fn natural_end(&self, members: &[Member]) -> u64 {
        members.iter().fold(0u64, |end, member| {
            let info = &self.all[member.ty.0 as usize];
            align_up(end, info.natural_align).saturating_add(info.natural_size)
        })
    }

    pub fn n_scalars(&self, id: TypeId) -> u32 {
        self.all[id.0 as usize].n_scalars
    }

    fn natural_size(&self, id: TypeId) -> u64 {
        self.all[id.0 as usize].natural_size
    }

    fn natural_align(&self, id: TypeId) -> u64 {
        self.all[id.0 as usize].natural_align
    }

    /// Whether a value can be loaded, stored and passed: it consists of scalars, and its size is known.
    pub fn is_data(&self, id: TypeId) -> bool {
        self.all[id.0 as usize].is_data
    }

    /// The scalar and the number of components of a scalar, a vector, or a lane's part of a cooperative
    /// matrix.
    pub fn as_scalars(&self, id: TypeId) -> Option<(Scalar, u32)> {
        match *self.get(id) {
            Type::Scalar(scalar) => Some((scalar, 1)),
            Type::Vector { n, scalar } | Type::Cooperative { n, scalar, .. } => Some((scalar, n)),
            _ => None,
        }
    }

    /// Whether values of it are addresses of buffers.
    pub fn is_address(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Pointer { class: StorageClass::PhysicalStorageBuffer, .. })
    }

    /// The type of addresses of a pointee.
    pub fn address_of(&self, pointee: TypeId) -> Option<TypeId> {
        self.addresses.get(&pointee).copied()
    }

    /// The type of a scalar. Vectors and their components share it with the declared one.
    pub fn scalar(&self, scalar: Scalar) -> TypeId {
        self.scalar_ids[&scalar]
    }

    /// The scalars of a value in order, as [`super::super::lower`] represents it.
    pub fn scalars(&self, id: TypeId) -> Vec<Scalar> {
        debug_assert!(self.n_scalars(id) <= MAX_SCALARS);
        let mut scalars = Vec::with_capacity(self.n_scalars(id) as usize);
        self.push_scalars(id, &mut scalars);
        scalars
    }

    fn push_scalars(&self, id: TypeId, scalars: &mut Vec<Scalar>) {
        match self.get(id) {
            Type::Scalar(scalar) => scalars.push(*scalar),
            Type::Pointer { class: StorageClass::PhysicalStorageBuffer, .. } => scalars.push(ADDRESS),
            Type::Vector { n, scalar } | Type::Cooperative { n, scalar, .. } => {
                scalars.extend((0..*n).map(|_| *scalar));
            }
            Type::Matrix { columns: n, column: element } | Type::Array { element, len: n, .. } => {
                for _ in 0..*n {
                    self.push_scalars(*element, scalars);
                }
            }
            Type::Struct(members) => {
                for member in members {
                    self.push_scalars(member.ty, scalars);
                }
            }
            // Other types have no scalars.
            _ => {}
        }
    }

    /// The type of a composite's element at a constant index, and the number of scalars before it.
    pub fn element(&self, id: TypeId, idx: u32) -> Option<(TypeId, u32)> {
        match self.get(id) {
            Type::Matrix { columns: n, column: element } | Type::Array { element, len: n, .. } => {
                (idx < *n).then(|| (*element, idx * self.n_scalars(*element)))
            }
            Type::Struct(members) => {
                let ty = members.get(idx as usize)?.ty;
                let before = members[..idx as usize].iter().map(|member| self.n_scalars(member.ty)).sum();
                Some((ty, before))
            }
            _ => None,
        }
    }

    /// Size of a value in memory; a run-time array has none. `None` if a decoration is missing.
    pub fn size(&self, id: TypeId, layout: Layout, matrix: MatrixLayout) -> Option<u64> {
        if layout == Layout::Natural {
            return Some(self.natural_size(id));
        }
        match self.get(id) {
            Type::Array { len, stride, .. } => Some(u64::from(*len) * u64::from((*stride)?)),
            Type::RuntimeArray { .. } => Some(0),
            Type::Matrix { columns, column } => {
                let (_, rows) = self.as_scalars(*column)?;
                let vectors = if matrix.row_major { rows } else { *columns };
                Some(u64::from(vectors) * u64::from(matrix.stride?))
            }
            Type::Struct(_) => self.all[id.0 as usize].explicit_size,
            _ => Some(self.natural_size(id)),
        }
    }

    /// Offset of a member in a structure.
    pub fn member_offset(&self, members: &[Member], idx: usize, layout: Layout) -> Option<u64> {
        if layout == Layout::Explicit {
            return members[idx].offset.map(u64::from);
        }
        let end = self.natural_end(&members[..idx]);
        Some(align_up(end, self.natural_align(members[idx].ty)))
    }

    /// Stride of an array.
    pub fn stride(&self, element: TypeId, stride: Option<u32>, layout: Layout) -> Option<u64> {
        match layout {
            Layout::Explicit => stride.map(u64::from),
            Layout::Natural => Some(self.natural_size(element)),
        }
    }

    /// Type equality. Scalars, vectors and pointers are compared structurally, others by identity, as SPIR-V
    /// requires.
    pub fn same(&self, a: TypeId, b: TypeId) -> bool {
        if a == b {
            return true;
        }
        match (self.get(a), self.get(b)) {
            (Type::Pointer { class: ca, pointee: a, .. }, Type::Pointer { class: cb, pointee: b, .. }) => {
                ca == cb && a == b
            }
            (
                Type::Cooperative { scalar: sa, rows: ra, columns: ca, role: ua, .. },
                Type::Cooperative { scalar: sb, rows: rb, columns: cb, role: ub, .. },
            ) => (sa, ra, ca, ua) == (sb, rb, cb, ub),
            (Type::Cooperative { .. }, _) | (_, Type::Cooperative { .. }) => false,
            _ => self.as_scalars(a).is_some() && self.as_scalars(a) == self.as_scalars(b),
        }
    }
}

fn align_up(offset: u64, align: u64) -> u64 {
    offset.checked_next_multiple_of(align).unwrap_or(u64::MAX)
}
