//! `kp.Image` and `kp.Sampler`: kernels read, write and sample them texel by texel.
//!
//! To the host, an image is a tensor with another name and a format.

use std::convert::Infallible;
use std::rc::Rc;

use kps_compute::{DType, ImageInfo, Tensor, image};
use kps_device::{AddressMode, Channel, Filter, Sampler, TexelFormat};

use super::enums;
use super::errors::{self, compute};
use super::tensor::{ScriptTensor, TENSOR};
use super::values::{self, Elements};
use crate::errors::{type_error, value_error};
use crate::value::{Args, Native, NativeDef, NativeType, Parser, Raise, Result, Value};
use crate::vm::Vm;

/// The parameters of `Image`, which are those of `Manager.image` too.
pub const PARAMS: &str = "(data, width=None, height=None, num_channels=1, memory_type=device, *, \
                          depth=None, dtype=None, format=None)";

pub static IMAGE: NativeType = NativeType {
    base: Some(&TENSOR),
    new: Some(new),
    methods: &[
        NativeDef::getter("width", width).doc("", "The number of texels in a row."),
        NativeDef::getter("height", height).doc("", "The number of rows."),
        NativeDef::getter("depth", depth).doc("", "The number of layers: 1 unless the image is a volume."),
        NativeDef::getter("num_channels", num_channels).doc("", "The number of channels of a texel."),
        NativeDef::getter("format", format).doc("", "The name of the texel format, such as `rgba8`."),
        NativeDef::method("create_sampler", create_sampler).doc(
            "(filter=\"linear\", address=\"clamp\")",
            "Lets shaders that algorithms of it run sample it so, where they declare an image with its sampler.",
        ),
    ],
    ..NativeType::new("Image", "kp")
        .doc(PARAMS, "Texels in the memory of a device: of `format`, of `dtype`, or of the type of the data.")
};

pub static SAMPLER: NativeType = NativeType {
    new: Some(new_sampler),
    methods: &[
        NativeDef::getter("filter", filter)
            .doc("", "How neighbouring texels are combined: `nearest` or `linear`."),
        NativeDef::getter("address", address)
            .doc("", "How coordinates outside of the image are read: `clamp`, `repeat` or `mirror`."),
    ],
    ..NativeType::new("Sampler", "kp").doc(
        "(filter=\"nearest\", address=\"clamp\")",
        "How kernels read an image between its texels and outside of them.",
    )
};

/// `Image(data, width=None, height=None, num_channels=1, memory_type=device)`: the type is that of the data.
/// `dtype=` requests another type, `format="rgba8"` determines everything, `depth=` creates a volume.
///
/// Ints are texels as stored in memory. Floats for a normalised format are values as kernels see them, 0.0 to
/// 1.0, or -1.0 to 1.0: each becomes the nearest representable int. Reading returns texels.
fn new(vm: &mut Vm, args: &Args) -> Result {
    Ok(ScriptTensor::value(make(vm, args.parser("Image"), None, Surplus::Refused)?))
}

/// What becomes of more values than the texels have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Surplus {
    Refused,
    /// As in Kompute.
    Ignored,
}

/// An image with the properties in the arguments; `default` is the default type.
pub fn make(vm: &mut Vm, mut parser: Parser, default: Option<DType>, surplus: Surplus) -> Result<Tensor> {
    let data = parser.required("data")?;
    let width = parser.optional("width")?;
    let height = parser.optional("height")?;
    let n_channels = parser.optional("num_channels")?;
    let memory = parser.optional("memory_type")?;
    let depth = parser.keyword_only("depth");
    let dtype = parser.keyword_only("dtype");
    let format = parser.keyword_only("format");
    parser.finish()?;
    let format = format.map(|given| read_format(vm, given)).transpose()?;
    let asked = dtype.filter(|dtype| !dtype.is_none());
    let dtype = match asked {
        Some(given) => Some(values::dtype(vm, given)?),
        None => format.map(|format| format.channel.stored()).or(default),
    };
    let mut elements = match format.filter(|format| asked.is_none() && is_normalised(format.channel)) {
        Some(format) => normalised(vm, data, format.channel)?,
        None => values::elements(vm, data, dtype.unwrap_or(DType::F32))?,
    };
    if let Some(dtype) = dtype {
        elements = elements.cast(dtype);
    }
    let mut sides = Vec::new();
    for (name, side) in [("width", width), ("height", height), ("depth", depth)] {
        let Some(side) = side.filter(|side| !side.is_none()) else { continue };
        let n = vm.index(side)?;
        let positive = usize::try_from(n).ok().filter(|n| *n > 0);
        let wrong = || value_error(format!("the {name} of an image is 1 or more, not {n}"));
        sides.push(positive.ok_or_else(wrong)?);
    }
    let n_channels = n_channels.map(|given| vm.index(given)).transpose()?;
    let wrong = |n| value_error(format!("images have 1, 2 or 4 channels, not {n}"));
    let n_channels = n_channels.map(|n| usize::try_from(n).map_err(|_| wrong(n))).transpose()?;
    // Kompute has no formats by name.
    let surplus = if format.is_some() { Surplus::Refused } else { surplus };
    let info = info(&elements, sides, n_channels, format)?;
    texels(info, enums::memory_type(memory)?, elements, surplus)
}

fn is_normalised(channel: Channel) -> bool {
    channel.normalised(0.0).is_some()
}

/// Ints unchanged, and floats converted to normalised ints.
fn normalised(vm: &mut Vm, data: &Value, channel: Channel) -> Result<Elements> {
    // An iterator can be gone through once.
    let data = match data.base_value() {
        Value::Iter(_) | Value::Generator(_) => &Value::list(vm.collect(data)?),
        _ => data,
    };
    let stored = channel.stored();
    if !values::has_floats(vm, data)? {
        return values::elements(vm, data, stored);
    }
    let elements = values::elements(vm, data, DType::F32)?.cast(DType::F32);
    let floats = kps_compute::element::from_bytes::<f32>(&elements.bytes).into_iter();
    let ints = floats.map(|float| channel.normalised(float).expect("the channel is normalised"));
    let bytes = kps_compute::element::to_bytes(&ints.collect::<Vec<i32>>());
    Ok(Elements { bytes: bytes.into(), dtype: DType::I32, ..elements }.cast(stored))
}

fn read_format(vm: &mut Vm, given: &Value) -> Result<TexelFormat> {
    let name = vm.str(given)?;
    TexelFormat::parse(&name).ok_or_else(|| {
        value_error(format!("`{name}` is no format of texels"))
            .help("such as \"r32f\", \"rgba8\" or \"rg16ui\"")
    })
}

/// The data's shape may determine width and height: rows of texels, whose last axis may be channels.
fn info(
    elements: &Elements,
    sides: Vec<usize>,
    n_channels: Option<usize>,
    format: Option<TexelFormat>,
) -> Result<ImageInfo> {
    let of_format = format.map(|format| usize::from(format.n_channels));
    let asked = match (n_channels, of_format) {
        (Some(given), Some(of_format)) if given != of_format => {
            return Err(value_error(format!("the format has {}, not {given}", counted(of_format)))
                .help("leave `num_channels` out: the format says it"));
        }
        (given, of_format) => given.or(of_format),
    };
    let (sides, n_channels) = match (sides.is_empty(), elements.shape.as_slice()) {
        (false, _) => (sides, asked.unwrap_or(1)),
        (true, [height, width]) => (vec![*width, *height], asked.unwrap_or(1)),
        (true, [height, width, channels]) => match asked.filter(|asked| asked != channels) {
            Some(asked) => return Err(other_channels(*channels, asked, format)),
            None => (vec![*width, *height], *channels),
        },
        (true, _) => {
            return Err(type_error("an image needs its width and height")
                .help("say them, Image(data, width, height), or give rows of texels"));
        }
    };
    let format = match format {
        Some(format) => format,
        None => image::format(elements.dtype, n_channels).map_err(compute)?,
    };
    image::info(format, &sides).map_err(compute)
}

/// Rows of texels that have more channels than the image, or fewer.
fn other_channels(channels: usize, asked: usize, format: Option<TexelFormat>) -> Raise {
    let asked = match format {
        Some(format) => format!("`{}` has {asked}", format.name()),
        None => format!("`num_channels` is {asked}"),
    };
    value_error(format!("the last axis has {}, {asked}", counted(channels)))
        .help("ask for as many, or say all sides, as in Image(data, width, height, depth=2)")
}

fn counted(channels: usize) -> String {
    if channels == 1 { "1 channel".to_owned() } else { format!("{channels} channels") }
}

/// As many elements as the texels have, of whichever type.
fn texels(
    info: ImageInfo,
    memory: kps_compute::MemoryType,
    elements: Elements,
    surplus: Surplus,
) -> Result<Tensor> {
    let mut elements = elements.cast(info.format.channel.stored());
    if surplus == Surplus::Ignored {
        let n_bytes = usize::try_from(info.n_bytes()).unwrap_or(usize::MAX).min(elements.bytes.len());
        Rc::make_mut(&mut elements.bytes).truncate(n_bytes);
        let Ok(written) = elements.written.gathered(|marks| Ok::<_, Infallible>(marks[..n_bytes].to_vec()));
        elements.written = written;
    }
    let image = Tensor::image(info, memory, elements.bytes).map_err(compute)?;
    image.storage().forget_but(elements.written);
    Ok(image)
}

fn info_of(args: &Args) -> Result<ImageInfo> {
    let info = args.this::<ScriptTensor>()?.tensor()?.as_image().copied();
    info.ok_or_else(|| type_error("a tensor is no image"))
}

fn width(_: &mut Vm, args: &Args) -> Result {
    Ok(info_of(args)?.size[0].into())
}

fn height(_: &mut Vm, args: &Args) -> Result {
    Ok(info_of(args)?.size[1].into())
}

fn depth(_: &mut Vm, args: &Args) -> Result {
    Ok(info_of(args)?.size[2].into())
}

fn num_channels(_: &mut Vm, args: &Args) -> Result {
    Ok(u32::from(info_of(args)?.format.n_channels).into())
}

fn format(_: &mut Vm, args: &Args) -> Result {
    Ok(info_of(args)?.format.name().into())
}

/// How an image is shown.
pub fn repr(info: &ImageInfo) -> String {
    let sides: Vec<String> = info.size[..info.dimension.n_axes()].iter().map(u32::to_string).collect();
    format!("Image({}, {})", info.format.name(), sides.join(" x "))
}

/// A sampler as scripts hold it.
pub struct ScriptSampler(Sampler);

impl Native for ScriptSampler {
    fn native_type(&self) -> &'static NativeType {
        &SAMPLER
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(format!("Sampler({:?}, {:?})", filter_name(self.0), address_name(self.0)))
    }
}

const FILTERS: [(&str, Filter); 2] = [("nearest", Filter::Nearest), ("linear", Filter::Linear)];
const ADDRESSES: [(&str, AddressMode); 3] = [
    ("clamp", AddressMode::ClampToEdge),
    ("repeat", AddressMode::Repeat),
    ("mirror", AddressMode::MirroredRepeat),
];

fn filter_name(sampler: Sampler) -> &'static str {
    FILTERS.iter().find(|(_, filter)| *filter == sampler.filter).map_or("", |(name, _)| name)
}

fn address_name(sampler: Sampler) -> &'static str {
    ADDRESSES.iter().find(|(_, address)| *address == sampler.address).map_or("", |(name, _)| name)
}

/// `Sampler(filter="nearest", address="clamp")`
fn new_sampler(vm: &mut Vm, args: &Args) -> Result {
    let sampler = read_sampler(vm, args.parser("Sampler"), Sampler::default())?;
    Ok(Value::native(ScriptSampler(sampler)))
}

/// `image.create_sampler(filter="linear", address="clamp")`, as in Kompute.
fn create_sampler(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptTensor = args.this()?;
    let linear = Sampler { filter: Filter::Linear, ..Sampler::default() };
    this.sample_by(read_sampler(vm, args.method_parser("create_sampler"), linear)?);
    Ok(Value::None)
}

/// The arguments of a sampler; `default` has what they leave out.
fn read_sampler(vm: &mut Vm, mut parser: Parser, default: Sampler) -> Result<Sampler> {
    let filter = parser.optional("filter")?;
    let address = parser.optional("address")?;
    parser.finish()?;
    let mut sampler = default;
    if let Some(given) = filter {
        let name = vm.str(given)?;
        let known = FILTERS.iter().find(|(known, _)| *known == name);
        sampler.filter =
            known.ok_or_else(|| errors::unknown_choice("filter", &name, &["nearest", "linear"]))?.1;
    }
    if let Some(given) = address {
        let name = vm.str(given)?;
        let known = ADDRESSES.iter().find(|(known, _)| *known == name);
        let choices = ["clamp", "repeat", "mirror"];
        sampler.address = known.ok_or_else(|| errors::unknown_choice("address", &name, &choices))?.1;
    }
    Ok(sampler)
}

fn filter(_: &mut Vm, args: &Args) -> Result {
    Ok(filter_name(args.this::<ScriptSampler>()?.0).into())
}

fn address(_: &mut Vm, args: &Args) -> Result {
    Ok(address_name(args.this::<ScriptSampler>()?.0).into())
}

/// The sampler that a value is.
pub fn sampler_of(value: &Value) -> Option<Sampler> {
    value.downcast::<ScriptSampler>().map(|sampler| sampler.0)
}

/// The tensors and images of a list, and samplers with their places in it.
type Operands = (Vec<Tensor>, Vec<(u32, Sampler)>);

/// The tensors and images of a list, with the samplers at their places. In a sampler's place, any tensor
/// fills the list and is unused.
pub fn with_samplers(items: &[Value], operation: &str) -> Result<Operands> {
    let given = items.iter().map(values::tensor).collect::<Result<Vec<_>>>()?;
    let filler = given.iter().flatten().next().cloned();
    let (mut tensors, mut samplers) = (Vec::new(), Vec::new());
    for ((binding, item), tensor) in (0..).zip(items).zip(given) {
        match (tensor, sampler_of(item), &filler) {
            (Some(tensor), ..) => {
                let of_image = item.downcast::<ScriptTensor>().and_then(ScriptTensor::sampler);
                samplers.extend(of_image.map(|sampler| (binding, sampler)));
                tensors.push(tensor);
            }
            (None, Some(sampler), Some(filler)) => {
                samplers.push((binding, sampler));
                tensors.push(filler.clone());
            }
            _ => return Err(errors::not_a_tensor(operation, item)),
        }
    }
    Ok((tensors, samplers))
}
