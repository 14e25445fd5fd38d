//! `kp.write_png(path, pixels)`: a picture from numbers.

use std::fs::File;
use std::io::BufWriter;

use kps_compute::DType;

use super::values;
use crate::errors::value_error;
use crate::value::{Args, ExceptionKind, Raise, Result, Value};
use crate::vm::Vm;

/// Pixels are 0 to 255, of shape `(height, width)` for grey, `(height, width, 3)` or `(.., 4)` for colours.
pub fn write(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("write_png");
    let path = parser.required("path")?;
    let pixels = parser.required("pixels")?;
    parser.finish()?;
    let path = vm.str(path)?;
    let elements = values::elements(vm, pixels, DType::F32)?;
    let shape = elements.shape.clone();
    let (height, width, color) = match *shape.as_slice() {
        [height, width] => (height, width, png::ColorType::Grayscale),
        [height, width, 3] => (height, width, png::ColorType::Rgb),
        [height, width, 4] => (height, width, png::ColorType::Rgba),
        _ => return Err(bad_shape(&shape)),
    };
    let side = |n: usize| u32::try_from(n).ok().filter(|n| *n > 0).ok_or_else(|| bad_shape(&shape));
    let (height, width) = (side(height)?, side(width)?);
    let bytes = clamp_to_bytes(&elements.cast(DType::F64).bytes);
    encode(&path, width, height, color, &bytes)
        .map_err(|error| Raise::new(ExceptionKind::OSError, format!("cannot write {path:?}: {error}")))?;
    Ok(Value::None)
}

fn clamp_to_bytes(bytes: &[u8]) -> Vec<u8> {
    let pixels: Vec<f64> = kps_compute::element::from_bytes(bytes);
    // A cast saturates, and turns what is no number into 0.
    pixels.into_iter().map(|pixel| pixel as u8).collect()
}

fn encode(
    path: &str,
    width: u32,
    height: u32,
    color: png::ColorType,
    bytes: &[u8],
) -> std::result::Result<(), png::EncodingError> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width, height);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(bytes)?;
    writer.finish()
}

fn bad_shape(shape: &[usize]) -> Raise {
    let message = format!("{shape:?} is no shape of a picture");
    value_error(message)
        .help("(height, width) is grey, (height, width, 3) has colours, (height, width, 4) transparency")
}
