//! Textures and samplers: parameters, and reading, writing and sampling texels.
//!
//! What a kernel does with a texture decides what is bound. A texture that is sampled, or that is read and has
//! no format, is a sampled image. Any other is a storage image.

mod inference;

use kps_syntax::Span;

/// The first place of each use of a texture.
#[derive(Clone, Copy, Default)]
pub(crate) struct TextureUses {
    read: Option<Span>,
    write: Option<Span>,
    sample: Option<Span>,
}
