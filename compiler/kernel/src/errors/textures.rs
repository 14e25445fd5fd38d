//! Mistakes with textures and samplers.

use kps_syntax::{Diagnostic, Location};

use super::parts::error;
use super::remedies::first_components;
use crate::found::Found;
use crate::textures::{TextureMistake, TextureType};
use crate::types::{Scalar, Type};

pub(crate) fn texture_type(at: Location, mistake: TextureMistake) -> Diagnostic {
    let (message, help) = match mistake {
        TextureMistake::NoDimension => (
            "a texture says its dimension: 1d, 2d or 3d".to_owned(),
            "such as `Image[\"2d r32f\"]`, or \"2d r32f\" in a tuple",
        ),
        TextureMistake::NoTexels => (
            "a texture says the format or the type of its texels".to_owned(),
            "such as \"2d rgba8ui\" for a format, or \"2d f32\" for any image that is read as f32",
        ),
        TextureMistake::UnknownWord(word) => (
            format!("`{word}` is neither a dimension of textures nor a format of texels"),
            "dimensions are 1d, 2d and 3d; a format has channels, bits and kind: r32f, rgba8, rgba16f, rgba32i",
        ),
        TextureMistake::Unsupported(word) => {
            (format!("`{word}` textures cannot be bound"), "use \"1d\", \"2d\" or \"3d\" without layers")
        }
    };
    error("kernel/texture-type", at, message, "").help(help)
}

pub(crate) fn sampler_in_brackets(at: Location) -> Diagnostic {
    error("kernel/texture-type", at, "`Sampler` takes nothing in brackets", "")
        .help("write `Sampler`: how it samples is up to the sampler that the launch is given")
}

pub(crate) fn texture_method(at: Location, name: &str) -> Diagnostic {
    let help = match name {
        "load" | "get" | "fetch" | "texelFetch" => "write `img.read(ivec2(x, y))`",
        "store" | "set" | "put" => "write `img.write(ivec2(x, y), value)`",
        "texture" | "sampled" | "tex" | "lookup" => {
            "write `img.sample(sampler, vec2(x, y))`, with a `Sampler` parameter"
        }
        "width" | "height" | "size" | "dimensions" | "GetDimensions" | "len" => {
            "`img.shape` has the length of each axis, `height, width = img.shape`; `img.size` counts the texels"
        }
        _ => "they have read(at), write(at, value), sample(sampler, at), .shape, .size and .ndim",
    };
    error("kernel/texture-method", at, format!("textures have no `{name}`"), "").help(help)
}

pub(crate) fn texture_arguments(at: Location, name: &str, given: usize) -> Diagnostic {
    let (takes, example) = match name {
        "read" => ("a place", "img.read(ivec2(x, y))"),
        "write" => ("a place and a value", "img.write(ivec2(x, y), value)"),
        _ => ("a sampler and a place", "img.sample(sampler, vec2(x, y))"),
    };
    error("kernel/call", at, format!("`{name}` of a texture takes {takes}, not {given}"), "")
        .help(format!("write `{example}`"))
}

pub(crate) fn not_a_texture(at: Location, what: &Found) -> Diagnostic {
    error("kernel/not-a-texture", at, format!("expected a texture, got {what}"), "")
        .help("declare it as a parameter: `t: Image[\"2d r32f\"]`, or (\"texture\", 0, \"2d r32f\") for python2shader")
}

pub(crate) fn not_a_sampler(at: Location, what: &Found) -> Diagnostic {
    error("kernel/not-a-sampler", at, format!("expected a sampler, got {what}"), "")
        .help("declare it as a parameter: `s: Sampler`, or (\"sampler\", 1, \"\") for python2shader")
}

pub(crate) fn texture_coordinate(
    at: Location,
    texture: &TextureType,
    wanted: &Type,
    what: &Found,
) -> Diagnostic {
    let message = format!("a place in a {texture} texture is `{wanted}`, not {what}");
    let text = at.source.slice(at.span).to_owned();
    let diagnostic = error("kernel/texture-coordinate", at, message, "");
    match (wanted.scalar().is_some_and(Scalar::is_float), what.vector()) {
        (true, _) => diagnostic.help("sample takes 0.0 to 1.0 along each axis"),
        (false, Some((n, _))) if n > wanted.n_components() => {
            let first = first_components(&text, wanted.n_components().max(1));
            diagnostic.help(format!("take as many components as the image has axes: `{first}`"))
        }
        (false, Some((n, _))) if n == wanted.n_components() => {
            diagnostic.help(format!("count texels: `{wanted}({text})`"))
        }
        (false, _) => diagnostic.help(format!("count texels, in ints: `{wanted}(..)`")),
    }
}

pub(crate) fn texture_value(at: Location, texture: &TextureType, what: &Found) -> Diagnostic {
    let scalar = texture.scalar;
    let message = format!("a {texture} texture holds `{scalar}`, not {what}");
    error("kernel/texture-value", at, message, "")
        .help(format!("write one to four components of {scalar}: {scalar}(value)"))
}

pub(crate) fn texture_written_and_sampled(write: Location, sample: Location, name: &str) -> Diagnostic {
    let message = format!("texture `{name}` is written and sampled in one kernel");
    error("kernel/texture-written-and-sampled", write, message, "written here")
        .label(sample, "sampled here")
        .help("read its texels with read(at), or write to another texture")
}

pub(crate) fn texture_without_format(at: Location, texture: &TextureType) -> Diagnostic {
    let message = format!("a {texture} texture cannot be written: it does not say its format");
    let example = match texture.scalar {
        Scalar::I32 => "r32i",
        Scalar::U32 => "r32ui",
        _ => "r32f",
    };
    error("kernel/texture-without-format", at, message, "")
        .help(format!("name the format in the parameter: \"{}d {example}\"", texture.n_axes))
}
