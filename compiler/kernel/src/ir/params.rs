//! The parameters of a kernel and its memory of a workgroup, as the IR has them.

use kps_syntax::ast::Name;
use kps_syntax::{Location, Span};

use super::BufferId;
use crate::stages;
use crate::textures::TextureType;
use crate::type_expr::{Reach, Width};
use crate::types::Type;

#[derive(Debug, Clone)]
pub struct Buffer {
    pub name: Name,
    pub param_idx: usize,
    pub set: u32,
    pub binding: u32,
    pub element: Type,
    /// Axes. The shape of one with a single axis is its length, which the device knows.
    pub rank: u8,
    pub reach: Reach,
    /// One value, which kernels only read.
    pub is_uniform: bool,
    /// One struct, which kernels read and write in place.
    pub is_cell: bool,
    /// Of its elements.
    pub counts: Width,
    /// Of its bytes.
    pub bytes: Width,
    /// The parameter whose memory it is, if its elements are of another type there.
    pub view_of: Option<BufferId>,
    pub span: Span,
}

impl Buffer {
    /// Whether `kps.len` has the number of elements: a descriptor has it in 32 bits, an address has none.
    pub fn has_hidden_len(&self) -> bool {
        self.reach == Reach::Address || self.counts == Width::Wide
    }
}

/// Memory of a workgroup. Functions access it through locals.
#[derive(Debug, Clone)]
pub struct Shared {
    pub name: Name,
    pub ty: Type,
    /// Its declaration.
    pub at: Location,
}

#[derive(Debug)]
pub struct ScalarParam {
    pub name: Name,
    pub param_idx: usize,
    pub ty: Type,
    pub span: Span,
}

#[derive(Debug)]
pub struct Texture {
    pub name: Name,
    pub param_idx: usize,
    pub set: u32,
    pub binding: u32,
    pub(crate) ty: TextureType,
    pub span: Span,
    /// Bound as a sampled image; otherwise as a storage image.
    pub is_sampled: bool,
}

#[derive(Debug)]
pub struct SamplerParam {
    pub name: Name,
    pub param_idx: usize,
    pub set: u32,
    pub binding: u32,
    pub span: Span,
}

#[derive(Debug)]
pub struct Port {
    pub name: Name,
    pub port: stages::Port,
    pub span: Span,
}
