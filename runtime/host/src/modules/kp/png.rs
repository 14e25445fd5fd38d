//! `kp.write_png(path, pixels)` and `kp.read_png(path)`: converts numbers to pictures and back.

use std::io::Cursor;

use kps_compute::DType;

use super::{errors, values};
use crate::blocking;
use crate::builtins::file::{os_error, path_text};
use crate::errors::value_error;
use crate::memory;
use crate::modules::numpy::NdArray;
use crate::value::{Args, ExceptionKind, Raise, Result, Value};
use crate::vm::Vm;

/// Pixels are 0 to 255, or floats of 0 to 1 as `Image` takes them, or bools. The shape is `(height, width)`
/// for grey, `(height, width, 3)` or `(.., 4)` for colours.
pub fn write(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("write_png");
    let path = parser.required("path")?;
    let pixels = parser.required("pixels")?;
    parser.finish()?;
    if values::is_array(path) || matches!(path.base_value(), Value::List(_)) {
        return Err(errors::swapped_png(pixels));
    }
    let path = path_text(vm, path)?;
    // Numbers without a type are floats if any of them is a float.
    let untyped = if values::has_floats(vm, pixels)? { DType::F32 } else { DType::I64 };
    let elements = values::elements(vm, pixels, untyped)?;
    let shape = elements.shape.clone();
    let (height, width, color) = match *shape.as_slice() {
        [height, width] => (height, width, png::ColorType::Grayscale),
        [height, width, 3] => (height, width, png::ColorType::Rgb),
        [height, width, 4] => (height, width, png::ColorType::Rgba),
        _ => return Err(bad_shape(&shape)),
    };
    let side = |n: usize| u32::try_from(n).ok().filter(|n| *n > 0).ok_or_else(|| bad_shape(&shape));
    let (height, width) = (side(height)?, side(width)?);
    let dtype = elements.dtype;
    let bytes = to_bytes(dtype, &elements.cast(DType::F64).bytes);
    let file = encode(width, height, color, &bytes)
        .map_err(|error| Raise::new(ExceptionKind::OSError, format!("cannot write {path:?}: {error}")))?;
    let written = blocking::write_file(&vm.path_of(&path), &file)?;
    written.map_err(|error| os_error(&error, Some(&path))).map(|()| Value::None)
}

/// Pixels as bytes. Floats of at most 1 are parts of the whole; larger ones count to 255, as ints do.
fn to_bytes(dtype: DType, bytes: &[u8]) -> Vec<u8> {
    let pixels: Vec<f64> = kps_compute::element::from_bytes(bytes);
    let are_parts = dtype == DType::Bool
        || dtype.is_float() && pixels.iter().all(|pixel| *pixel <= 1.0 || pixel.is_nan());
    let scaled = |pixel: f64| if are_parts { (pixel * 255.0).round() } else { pixel };
    // A cast saturates, and converts NaN to 0.
    pixels.into_iter().map(|pixel| scaled(pixel) as u8).collect()
}

/// `read_png(path)`: an array of bytes of shape `(height, width, channels)`: grey has one, colours three, and one
/// more is transparency.
pub fn read(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("read_png");
    let path = path_text(vm, parser.required("path")?)?;
    parser.finish()?;
    let file = blocking::read_file(&vm.path_of(&path))?.map_err(|error| os_error(&error, Some(&path)))?;
    let (shape, bytes) = decode(&file).map_err(|error| match error {
        png::DecodingError::LimitsExceeded => {
            crate::errors::memory_error(format!("{path:?} is too large a picture"))
        }
        error => value_error(format!("{path:?} is no picture in PNG format: {error}")),
    })?;
    Ok(Value::native(NdArray::from_row(DType::U8, &shape, bytes)))
}

fn decode(file: &[u8]) -> std::result::Result<([usize; 3], Vec<u8>), png::DecodingError> {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    // Palettes become colours, fewer bits and more of them become eight.
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    let n_bytes = reader.output_buffer_size().ok_or(png::DecodingError::LimitsExceeded)?;
    memory::grant(n_bytes).map_err(|_| png::DecodingError::LimitsExceeded)?;
    let mut bytes = vec![0; n_bytes];
    let frame = reader.next_frame(&mut bytes)?;
    bytes.truncate(frame.buffer_size());
    let shape = [frame.height as usize, frame.width as usize, frame.color_type.samples()];
    Ok((shape, bytes))
}

/// The file of a picture.
fn encode(
    width: u32,
    height: u32,
    color: png::ColorType,
    bytes: &[u8],
) -> std::result::Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(bytes)?;
    writer.finish()?;
    Ok(file)
}

fn bad_shape(shape: &[usize]) -> Raise {
    let message = format!("{shape:?} is no shape of a picture");
    value_error(message)
        .help("(height, width) is grey, (height, width, 3) has colours, (height, width, 4) transparency")
}
