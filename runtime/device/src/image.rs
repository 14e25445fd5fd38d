//! Images: their size, their texel format and their sampling.
//!
//! An image is memory: it has a [`crate::BufferId`], and it is written, read and copied as bytes. These are
//! its texels, packed along x, then y, then z. The internal layout is up to the device.

use kps_scalar::Scalar;
use rspirv::spirv::ImageFormat;

use crate::SamplerBinding;
use crate::interface::ImageBinding;

/// The properties of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageInfo {
    pub dimension: Dimension,
    /// Texels along x, y and z; 1 along the axes that its dimension lacks.
    pub size: [u32; 3],
    pub format: TexelFormat,
}

impl ImageInfo {
    pub fn n_texels(&self) -> u64 {
        self.size.iter().map(|&n| u64::from(n)).product()
    }

    pub fn n_bytes(&self) -> u64 {
        self.n_texels() * u64::from(self.format.size())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    D1,
    D2,
    D3,
}

impl Dimension {
    /// The number of coordinates of a texel.
    pub fn n_axes(self) -> usize {
        match self {
            Dimension::D1 => 1,
            Dimension::D2 => 2,
            Dimension::D3 => 3,
        }
    }

    /// PyShader's name.
    pub fn name(self) -> &'static str {
        match self {
            Dimension::D1 => "1d",
            Dimension::D2 => "2d",
            Dimension::D3 => "3d",
        }
    }
}

/// The format of a texel: one, two or four channels of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TexelFormat {
    pub channel: Channel,
    pub n_channels: u8,
}

/// How a channel is stored. Normalised ones are ints that represent 0 to 1, or -1 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    F32,
    F16,
    I32,
    I16,
    I8,
    U32,
    U16,
    U8,
    Unorm16,
    Unorm8,
    Snorm16,
    Snorm8,
}

use Channel::*;

/// Every format with its names in GLSL and in SPIR-V.
const FORMATS: [(Channel, u8, &str, ImageFormat); 36] = [
    (F32, 1, "r32f", ImageFormat::R32f),
    (F32, 2, "rg32f", ImageFormat::Rg32f),
    (F32, 4, "rgba32f", ImageFormat::Rgba32f),
    (F16, 1, "r16f", ImageFormat::R16f),
    (F16, 2, "rg16f", ImageFormat::Rg16f),
    (F16, 4, "rgba16f", ImageFormat::Rgba16f),
    (I32, 1, "r32i", ImageFormat::R32i),
    (I32, 2, "rg32i", ImageFormat::Rg32i),
    (I32, 4, "rgba32i", ImageFormat::Rgba32i),
    (I16, 1, "r16i", ImageFormat::R16i),
    (I16, 2, "rg16i", ImageFormat::Rg16i),
    (I16, 4, "rgba16i", ImageFormat::Rgba16i),
    (I8, 1, "r8i", ImageFormat::R8i),
    (I8, 2, "rg8i", ImageFormat::Rg8i),
    (I8, 4, "rgba8i", ImageFormat::Rgba8i),
    (U32, 1, "r32ui", ImageFormat::R32ui),
    (U32, 2, "rg32ui", ImageFormat::Rg32ui),
    (U32, 4, "rgba32ui", ImageFormat::Rgba32ui),
    (U16, 1, "r16ui", ImageFormat::R16ui),
    (U16, 2, "rg16ui", ImageFormat::Rg16ui),
    (U16, 4, "rgba16ui", ImageFormat::Rgba16ui),
    (U8, 1, "r8ui", ImageFormat::R8ui),
    (U8, 2, "rg8ui", ImageFormat::Rg8ui),
    (U8, 4, "rgba8ui", ImageFormat::Rgba8ui),
    (Unorm16, 1, "r16", ImageFormat::R16),
    (Unorm16, 2, "rg16", ImageFormat::Rg16),
    (Unorm16, 4, "rgba16", ImageFormat::Rgba16),
    (Unorm8, 1, "r8", ImageFormat::R8),
    (Unorm8, 2, "rg8", ImageFormat::Rg8),
    (Unorm8, 4, "rgba8", ImageFormat::Rgba8),
    (Snorm16, 1, "r16_snorm", ImageFormat::R16Snorm),
    (Snorm16, 2, "rg16_snorm", ImageFormat::Rg16Snorm),
    (Snorm16, 4, "rgba16_snorm", ImageFormat::Rgba16Snorm),
    (Snorm8, 1, "r8_snorm", ImageFormat::R8Snorm),
    (Snorm8, 2, "rg8_snorm", ImageFormat::Rg8Snorm),
    (Snorm8, 4, "rgba8_snorm", ImageFormat::Rgba8Snorm),
];

impl TexelFormat {
    /// Parses a name of GLSL, such as `rgba8ui`.
    pub fn parse(name: &str) -> Option<TexelFormat> {
        FORMATS.iter().find(|row| row.2 == name).map(TexelFormat::of_row)
    }

    pub(crate) fn of_spirv(format: ImageFormat) -> Option<TexelFormat> {
        FORMATS.iter().find(|row| row.3 == format).map(TexelFormat::of_row)
    }

    fn of_row(row: &(Channel, u8, &str, ImageFormat)) -> TexelFormat {
        TexelFormat { channel: row.0, n_channels: row.1 }
    }

    pub fn name(self) -> &'static str {
        let row = FORMATS.iter().find(|row| TexelFormat::of_row(row) == self);
        row.expect("a format has one, two or four channels").2
    }

    /// Every format there is.
    pub fn all() -> impl Iterator<Item = TexelFormat> {
        FORMATS.iter().map(TexelFormat::of_row)
    }

    /// Bytes of one texel.
    pub fn size(self) -> u32 {
        u32::from(self.n_channels) * self.channel.stored().bytes()
    }
}

impl Channel {
    /// The type of a stored channel.
    pub fn stored(self) -> Scalar {
        match self {
            F32 => Scalar::F32,
            F16 => Scalar::F16,
            I32 => Scalar::I32,
            I16 | Snorm16 => Scalar::I16,
            I8 | Snorm8 => Scalar::I8,
            U32 => Scalar::U32,
            U16 | Unorm16 => Scalar::U16,
            U8 | Unorm8 => Scalar::U8,
        }
    }

    /// Converts a float to the nearest int of a normalised channel, as Vulkan does. `None` for other
    /// channels.
    pub fn normalised(self, float: f32) -> Option<i32> {
        let (least, most) = match self {
            Unorm16 => (0.0, 65535.0),
            Unorm8 => (0.0, 255.0),
            Snorm16 => (-1.0, 32767.0),
            Snorm8 => (-1.0, 127.0),
            _ => return None,
        };
        Some((float.clamp(least, 1.0) * most).round_ties_even() as i32)
    }

    /// The type of a channel in kernels.
    pub fn seen(self) -> Scalar {
        match self {
            F32 | F16 | Unorm16 | Unorm8 | Snorm16 | Snorm8 => Scalar::F32,
            I32 | I16 | I8 => Scalar::I32,
            U32 | U16 | U8 => Scalar::U32,
        }
    }
}

/// Why an image cannot have this binding, to follow the binding's name; `None` if it can.
pub(crate) fn misfit(wanted: &ImageBinding, image: &ImageInfo) -> Option<String> {
    let (dimension, format) = (image.dimension.name(), image.format.name());
    if wanted.dimension != image.dimension {
        return Some(format!("needs a {} image, not a {dimension} one", wanted.dimension.name()));
    }
    match wanted.format {
        Some(needed) if needed != image.format => {
            Some(format!("needs texels of {}, the image has {format}", needed.name()))
        }
        None if wanted.scalar != image.format.channel.seen() => {
            Some(format!("is read as {}, the image's texels are {format}", wanted.scalar.name()))
        }
        _ => None,
    }
}

/// Why an image cannot be sampled with this sampler, to follow the binding's name: ints cannot be
/// interpolated.
pub(crate) fn unfilterable(
    wanted: &ImageBinding,
    image: &ImageInfo,
    samplers: &[SamplerBinding],
) -> Option<String> {
    let is_linear = |at: &(u32, u32)| {
        let bound = samplers.iter().find(|bound| (bound.set, bound.binding) == *at);
        bound.is_some_and(|bound| bound.sampler.filter == Filter::Linear)
    };
    let is_wrong = wanted.scalar != Scalar::F32 && wanted.samplers.iter().any(is_linear);
    is_wrong.then(|| {
        let format = image.format.name();
        format!(
            "has texels of {format}, ints, between which nothing is linear: sample it with filter=\"nearest\""
        )
    })
}

/// How an image is sampled between and beyond its texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Sampler {
    pub filter: Filter,
    pub address: AddressMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Filter {
    /// The texel that contains the coordinate.
    #[default]
    Nearest,
    /// The weighted mean of the texels around.
    Linear,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum AddressMode {
    /// Coordinates beyond the edge use the texel at the edge.
    #[default]
    ClampToEdge,
    Repeat,
    MirroredRepeat,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_both_of_its_names() {
        for (channel, n_channels, name, spirv) in FORMATS {
            let format = TexelFormat { channel, n_channels };
            assert_eq!(TexelFormat::parse(name), Some(format));
            assert_eq!(TexelFormat::of_spirv(spirv), Some(format));
            assert_eq!(format.name(), name);
        }
        assert_eq!(TexelFormat::parse("rgb8"), None);
    }

    #[test]
    fn bytes_are_counted_by_texels() {
        let format = TexelFormat::parse("rgba8ui").expect("a format");
        let image = ImageInfo { dimension: Dimension::D2, size: [3, 5, 1], format };
        assert_eq!((format.size(), image.n_texels(), image.n_bytes()), (4, 15, 60));
    }
}
