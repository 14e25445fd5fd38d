//! Images: tensors that kernels access as images.
//!
//! On the host, an image is an ordinary tensor with an axis for each axis of the image, y before x, and one
//! more for several channels. Bindings are checked against the kernel's interface.

use std::rc::Rc;

use kps_device::{Channel, Dimension, ImageInfo, TexelFormat};

use crate::DType;
use crate::error::{ComputeError, Result};
use crate::storage::{MemoryType, Storage};
use crate::tensor::Tensor;

/// The format with `n_channels` channels of this type, which kernels access without conversion.
///
/// ```
/// use kps_compute::{DType, image};
/// assert_eq!(image::format(DType::U8, 4)?.name(), "rgba8ui");
/// # Ok::<(), kps_compute::ComputeError>(())
/// ```
pub fn format(dtype: DType, n_channels: usize) -> Result<TexelFormat> {
    let channel = match dtype {
        DType::F32 => Channel::F32,
        DType::F16 => Channel::F16,
        DType::I32 => Channel::I32,
        DType::I16 => Channel::I16,
        DType::I8 => Channel::I8,
        DType::U32 => Channel::U32,
        DType::U16 => Channel::U16,
        DType::U8 => Channel::U8,
        DType::Bool | DType::I64 | DType::U64 | DType::Bf16 | DType::F64 => {
            return Err(ComputeError::ImageDType { dtype });
        }
    };
    match n_channels {
        1 | 2 | 4 => Ok(TexelFormat { channel, n_channels: n_channels as u8 }),
        _ => Err(ComputeError::ImageChannels { n_channels }),
    }
}

/// The properties of an image in this format. `size` has its texels along x, y and z, and so determines the
/// dimension.
pub fn info(format: TexelFormat, size: &[usize]) -> Result<ImageInfo> {
    let dimension = match size.len() {
        1 => Dimension::D1,
        2 => Dimension::D2,
        3 => Dimension::D3,
        _ => return Err(ComputeError::ImageAxes { n_axes: size.len() }),
    };
    let mut sides = [1; 3];
    for (side, &n) in sides.iter_mut().zip(size) {
        let shape = size.to_vec();
        match u32::try_from(n) {
            Ok(0) => return Err(ComputeError::ZeroSized { shape }),
            Ok(n) => *side = n,
            Err(_) => return Err(ComputeError::TooLarge { shape }),
        }
    }
    Ok(ImageInfo { dimension, size: sides, format })
}

impl Tensor {
    /// An image with these texels.
    pub fn image(info: ImageInfo, memory: MemoryType, bytes: impl Into<Rc<Vec<u8>>>) -> Result<Tensor> {
        let bytes = bytes.into();
        let dtype = info.format.channel.stored();
        let shape = shape(&info);
        let label = label(&info);
        let n = Tensor::count_bytes(dtype, &shape)?;
        if bytes.len() != n {
            let (expected, given) = (n / dtype.size(), bytes.len() / dtype.size());
            let unit = "elements";
            return Err(ComputeError::SizeMismatch { what: label, operation: "make", expected, given, unit });
        }
        Ok(Tensor::over(Storage::image(info, bytes, memory, label), dtype, &shape))
    }

    /// The image's properties, if it is an image for kernels.
    pub fn as_image(&self) -> Option<&ImageInfo> {
        self.storage().as_image()
    }
}

fn shape(info: &ImageInfo) -> Vec<usize> {
    let axes = info.size[..info.dimension.n_axes()].iter().rev().map(|&n| n as usize);
    let channels = (info.format.n_channels > 1).then_some(info.format.n_channels.into());
    axes.chain(channels).collect()
}

fn label(info: &ImageInfo) -> String {
    let sides: Vec<String> = info.size[..info.dimension.n_axes()].iter().map(u32::to_string).collect();
    format!("image {} of {} texels", info.format.name(), sides.join(" x "))
}
