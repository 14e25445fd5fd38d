//! Texture types, from PyShader's `("texture", slot, "2d r32f")` and from `Image["2d r32f"]`.

use std::str::FromStr;

use kps_scalar::Scalar;
use rspirv::spirv::ImageFormat;

/// The axes and the texels of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureType {
    pub n_axes: u8,
    /// The type of the four components of a read: f32, i32 or u32.
    pub scalar: Scalar,
    /// Only images of this format; `None` where any will do that is read as `scalar`.
    pub format: Option<ImageFormat>,
}

/// A mistake in a texture's description.
#[derive(Clone, Debug, PartialEq)]
pub enum TextureMistake {
    NoDimension,
    NoTexels,
    /// Neither a dimension nor a format.
    UnknownWord(String),
    /// Cubes, layers and samples, which images here do not have.
    Unsupported(String),
}

impl TextureType {
    /// Words in any order: a dimension, and a format or a type of texels.
    pub fn parse(text: &str) -> Result<TextureType, TextureMistake> {
        let (mut n_axes, mut texels) = (None, None);
        for word in text.to_lowercase().split_whitespace() {
            match word {
                "1d" => n_axes = Some(1),
                "2d" => n_axes = Some(2),
                "3d" => n_axes = Some(3),
                "cube" | "ms" => return Err(TextureMistake::Unsupported(word.to_owned())),
                word if word.ends_with("-array") => {
                    return Err(TextureMistake::Unsupported(word.to_owned()));
                }
                "f32" => texels = Some((Scalar::F32, None)),
                "i32" => texels = Some((Scalar::I32, None)),
                "u32" => texels = Some((Scalar::U32, None)),
                word => {
                    let known = format(word);
                    texels = Some(known.ok_or_else(|| TextureMistake::UnknownWord(word.to_owned()))?);
                }
            }
        }
        let n_axes = n_axes.ok_or(TextureMistake::NoDimension)?;
        let (scalar, format) = texels.ok_or(TextureMistake::NoTexels)?;
        Ok(TextureType { n_axes, scalar, format })
    }

    /// Whether storage images of the format need more than every device has.
    pub(crate) fn is_extended(self) -> bool {
        use ImageFormat as F;
        !matches!(
            self.format,
            None | Some(
                F::Rgba32f
                    | F::Rgba16f
                    | F::R32f
                    | F::Rgba8
                    | F::Rgba8Snorm
                    | F::Rgba32i
                    | F::Rgba16i
                    | F::Rgba8i
                    | F::R32i
                    | F::Rgba32ui
                    | F::Rgba16ui
                    | F::Rgba8ui
                    | F::R32ui
            )
        )
    }
}

/// A format by its name in GLSL, with the type of its components.
fn format(name: &str) -> Option<(Scalar, Option<ImageFormat>)> {
    let digits = name.trim_start_matches(|letter: char| letter.is_alphabetic());
    let channels = &name[..name.len() - digits.len()];
    let kind = digits.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let bits = &digits[..digits.len() - kind.len()];
    let scalar = match kind {
        "" | "f" | "_snorm" => Scalar::F32,
        "i" => Scalar::I32,
        "ui" => Scalar::U32,
        _ => return None,
    };
    let channels = match channels {
        "r" => "R",
        "rg" => "Rg",
        "rgba" => "Rgba",
        _ => return None,
    };
    let kind = if kind == "_snorm" { "Snorm" } else { kind };
    // Texels of 64-bit ints need another capability, and `Image` has none.
    let format = ImageFormat::from_str(&format!("{channels}{bits}{kind}")).ok().filter(|_| bits != "64")?;
    Some((scalar, Some(format)))
}

impl std::fmt::Display for TextureType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}d ", self.n_axes)?;
        match self.format {
            Some(format) => f.write_str(&format!("{format:?}").to_lowercase().replace("snorm", "_snorm")),
            None => f.write_str(self.scalar.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_shown() {
        for text in ["2d r32f", "1d i32", "3d r16i", "2d rgba8ui", "2d rgba8", "2d rg16_snorm"] {
            assert_eq!(TextureType::parse(text).expect("a texture").to_string(), text);
        }
        assert_eq!(TextureType::parse("f32"), Err(TextureMistake::NoDimension));
        assert_eq!(TextureType::parse("2d"), Err(TextureMistake::NoTexels));
        assert_eq!(TextureType::parse("2d r64ui"), Err(TextureMistake::UnknownWord("r64ui".to_owned())));
        assert_eq!(TextureType::parse("2d rgb8"), Err(TextureMistake::UnknownWord("rgb8".to_owned())));
        assert_eq!(TextureType::parse("cube f32"), Err(TextureMistake::Unsupported("cube".to_owned())));
    }
}
