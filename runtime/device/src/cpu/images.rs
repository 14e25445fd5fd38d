//! Texels of images, as compiled code reads, writes and samples them. A texel is four words, of which a
//! format may lack some. Stores outside an image are dropped. Loads there give zero, and one for an alpha
//! that the format lacks.
//!
//! Filtering is in 32-bit floats, along x, then y, then z. The centre of a texel has half coordinates.

use half::f16;

use super::instrumentation::Bytes;
use crate::{AddressMode, Channel, Filter, ImageInfo, Sampler, TexelFormat};

/// A bound image. ORDER: compiled code uses the offset of `size`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ImageView {
    pub size: [u32; 3],
    base: *mut u8,
    info: ImageInfo,
}

impl ImageView {
    /// # Safety
    /// The image's texels are at `base` for as long as the view is used.
    pub unsafe fn new(base: *mut u8, info: ImageInfo) -> ImageView {
        ImageView { size: info.size, base, info }
    }

    /// The addresses of the texels, for instrumentation.
    pub fn texels(&self) -> Texels {
        Texels { start: self.base as u64, info: self.info }
    }

    /// The address of a texel, if it is inside the image.
    fn at(&self, place: [i32; 3]) -> Option<*mut u8> {
        let offset = offset(&self.info, place)?;
        // SAFETY: the place is inside the image, whose texels are at the base.
        Some(unsafe { self.base.add(offset as usize) })
    }

    fn read(&self, place: [i32; 3]) -> Texel {
        let format = self.info.format;
        let mut texel = empty(format);
        let Some(at) = self.at(place) else { return texel };
        let size = format.channel.stored().size();
        for (i, word) in texel.iter_mut().enumerate().take(usize::from(format.n_channels)) {
            // SAFETY: a texel has this many channels of this size.
            *word = unsafe { load(at.add(i * size), format.channel) };
        }
        texel
    }

    fn write(&self, place: [i32; 3], texel: Texel) {
        let Some(at) = self.at(place) else { return };
        let format = self.info.format;
        let size = format.channel.stored().size();
        for (i, &word) in texel.iter().enumerate().take(usize::from(format.n_channels)) {
            // SAFETY: as in `read`.
            unsafe { store(at.add(i * size), format.channel, word) };
        }
    }

    fn sample(&self, sampler: Sampler, at: [f32; 3]) -> Texel {
        let n_axes = self.info.dimension.n_axes();
        let is_float = one(self.info.format.channel) != 1;
        let scaled: [f32; 3] = std::array::from_fn(|axis| at[axis] * self.size[axis] as f32);
        let wrap = |axis: usize, at: i64| wrapped(at, self.size[axis], sampler.address);
        if sampler.filter == Filter::Nearest || !is_float {
            let place = |axis| if axis < n_axes { wrap(axis, scaled[axis].floor() as i64) } else { 0 };
            return self.read(std::array::from_fn(place));
        }
        let low: [f32; 3] = std::array::from_fn(|axis| (scaled[axis] - 0.5).floor());
        let part: [f32; 3] = std::array::from_fn(|axis| scaled[axis] - 0.5 - low[axis]);
        let corner = |corner: usize| {
            let place = |axis: usize| match axis < n_axes {
                true => wrap(axis, (low[axis] as i64).saturating_add((corner >> axis & 1) as i64)),
                false => 0,
            };
            self.read(std::array::from_fn(place)).map(f32::from_bits)
        };
        let mut texels: Vec<[f32; 4]> = (0..1 << n_axes).map(corner).collect();
        for &part in &part[..n_axes] {
            texels = texels.chunks(2).map(|pair| between(pair[0], pair[1], part)).collect();
        }
        texels[0].map(f32::to_bits)
    }

    fn gather(&self, sampler: Sampler, at: [f32; 2], channel: usize) -> Texel {
        let low: [f32; 2] = std::array::from_fn(|axis| (at[axis] * self.size[axis] as f32 - 0.5).floor());
        let texel = |corner: [i64; 2]| {
            let [x, y] = [0, 1].map(|axis| {
                wrapped((low[axis] as i64).saturating_add(corner[axis]), self.size[axis], sampler.address)
            });
            self.read([x, y, 0])[channel]
        };
        [[0, 1], [1, 1], [1, 0], [0, 0]].map(texel)
    }
}

/// The addresses of an image's texels.
#[derive(Clone, Copy)]
pub struct Texels {
    start: u64,
    info: ImageInfo,
}

impl Texels {
    pub fn bytes(&self) -> Bytes {
        let n: u64 = self.info.size.iter().map(|&n| u64::from(n)).product();
        Bytes { start: self.start, size: n * u64::from(self.info.format.size()) }
    }

    /// Bytes of a texel.
    pub fn size(&self) -> u64 {
        self.info.format.size().into()
    }

    /// The address of a texel, if it is inside the image.
    pub fn address(&self, place: [i32; 3]) -> Option<u64> {
        Some(self.start + offset(&self.info, place)?)
    }

    /// The coordinates of the texel at an address, one for each axis of the image, x first.
    pub fn place(&self, address: u64) -> Vec<u64> {
        let mut n = (address - self.start) / u64::from(self.info.format.size());
        let axes = self.info.size.iter().take(self.info.dimension.n_axes());
        axes.map(|&len| {
            let at = n % u64::from(len);
            n /= u64::from(len);
            at
        })
        .collect()
    }

    /// A fingerprint of a texel as it is stored: its bytes, or a hash if they are more than eight.
    pub fn stored(&self, texel: Texel) -> u64 {
        let mut bytes = [0u64; 2];
        let size = self.info.format.channel.stored().size();
        for (i, &word) in texel.iter().enumerate().take(usize::from(self.info.format.n_channels)) {
            // SAFETY: a texel of any format fits the bytes.
            unsafe { store(bytes.as_mut_ptr().cast::<u8>().add(i * size), self.info.format.channel, word) };
        }
        let mixed = bytes[1].wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bytes[0] ^ mixed.rotate_left(31)
    }
}

/// Offset of a texel from the image's start, if it is inside.
fn offset(info: &ImageInfo, place: [i32; 3]) -> Option<u64> {
    let inside = place.iter().zip(info.size).all(|(&at, n)| u32::try_from(at).is_ok_and(|at| at < n));
    let [x, y, z] = place.map(|at| at as u64);
    let [n_x, n_y, _] = info.size.map(u64::from);
    inside.then(|| ((z * n_y + y) * n_x + x) * u64::from(info.format.size()))
}

/// The bits of floats or ints.
pub type Texel = [u32; 4];

fn between(a: [f32; 4], b: [f32; 4], part: f32) -> [f32; 4] {
    std::array::from_fn(|i| a[i] * (1.0 - part) + b[i] * part)
}

fn wrapped(at: i64, n: u32, mode: AddressMode) -> i32 {
    let n = i64::from(n);
    let at = match mode {
        AddressMode::ClampToEdge => at.clamp(0, n - 1),
        AddressMode::Repeat => at.rem_euclid(n),
        AddressMode::MirroredRepeat => {
            let at = at.rem_euclid(2 * n);
            at.min(2 * n - 1 - at)
        }
    };
    at as i32
}

/// A texel outside the image, as loads see it.
fn empty(format: TexelFormat) -> Texel {
    let has_alpha = format.n_channels == 4;
    [0, 0, 0, if has_alpha { 0 } else { one(format.channel) }]
}

/// The alpha of a format without alpha.
fn one(channel: Channel) -> u32 {
    match channel {
        Channel::I32 | Channel::I16 | Channel::I8 | Channel::U32 | Channel::U16 | Channel::U8 => 1,
        _ => 1.0f32.to_bits(),
    }
}

/// # Safety
/// `at` points to a channel.
unsafe fn load(at: *const u8, channel: Channel) -> u32 {
    // SAFETY: the caller upholds it.
    let (byte, half, word) = unsafe {
        match channel.stored().bytes() {
            1 => (at.read(), 0, 0),
            2 => (0, at.cast::<u16>().read_unaligned(), 0),
            _ => (0, 0, at.cast::<u32>().read_unaligned()),
        }
    };
    match channel {
        Channel::F32 | Channel::I32 | Channel::U32 => word,
        Channel::F16 => f16::from_bits(half).to_f32().to_bits(),
        Channel::I16 => half as i16 as u32,
        Channel::I8 => byte as i8 as u32,
        Channel::U16 => u32::from(half),
        Channel::U8 => u32::from(byte),
        Channel::Unorm16 => (f32::from(half) / 65535.0).to_bits(),
        Channel::Unorm8 => (f32::from(byte) / 255.0).to_bits(),
        Channel::Snorm16 => (f32::from(half as i16) / 32767.0).max(-1.0).to_bits(),
        Channel::Snorm8 => (f32::from(byte as i8) / 127.0).max(-1.0).to_bits(),
    }
}

/// Clamps numbers to the range of the format. Vulkan leaves this open for ints, and its software driver
/// clamps.
///
/// # Safety
/// `at` points to a channel.
unsafe fn store(at: *mut u8, channel: Channel, word: u32) {
    let float = f32::from_bits(word);
    let bits = match channel {
        Channel::F16 => u32::from(f16::from_f32(float).to_bits()),
        Channel::Unorm16 | Channel::Unorm8 | Channel::Snorm16 | Channel::Snorm8 => {
            channel.normalised(float).expect("it is normalised") as u32
        }
        Channel::U16 => word.min(u16::MAX.into()),
        Channel::U8 => word.min(u8::MAX.into()),
        Channel::I16 => (word as i32).clamp(i16::MIN.into(), i16::MAX.into()) as u32,
        Channel::I8 => (word as i32).clamp(i8::MIN.into(), i8::MAX.into()) as u32,
        Channel::F32 | Channel::I32 | Channel::U32 => word,
    };
    // SAFETY: the caller upholds it.
    unsafe {
        match channel.stored().bytes() {
            1 => at.write(bits as u8),
            2 => at.cast::<u16>().write_unaligned(bits as u16),
            _ => at.cast::<u32>().write_unaligned(bits),
        }
    }
}

/// # Safety
/// Compiled code passes a view of its context, and 16 bytes of the lane's memory.
pub unsafe extern "C" fn read_texel(view: *const ImageView, x: i32, y: i32, z: i32, texel: *mut Texel) {
    // SAFETY: the caller upholds it.
    unsafe { texel.write_unaligned((*view).read([x, y, z])) };
}

/// # Safety
/// As for [`read_texel`].
pub unsafe extern "C" fn write_texel(view: *const ImageView, x: i32, y: i32, z: i32, texel: *mut Texel) {
    // SAFETY: the caller upholds it.
    unsafe { (*view).write([x, y, z], texel.read_unaligned()) };
}

/// # Safety
/// As for [`read_texel`]; the sampler is one of the context, too.
pub unsafe extern "C" fn sample_texel(
    view: *const ImageView,
    sampler: *const Sampler,
    x: f32,
    y: f32,
    z: f32,
    texel: *mut Texel,
) {
    // SAFETY: the caller upholds it.
    unsafe { texel.write_unaligned((*view).sample(*sampler, [x, y, z])) };
}

/// # Safety
/// As for [`sample_texel`]; `channel` is less than 4.
pub unsafe extern "C" fn gather_texels(
    view: *const ImageView,
    sampler: *const Sampler,
    x: f32,
    y: f32,
    channel: u32,
    texel: *mut Texel,
) {
    // SAFETY: the caller upholds it.
    unsafe { texel.write_unaligned((*view).gather(*sampler, [x, y], channel as usize)) };
}

/// The address of a texel of four bytes, or `scratch` if it is outside the image.
///
/// # Safety
/// As for [`read_texel`].
pub unsafe extern "C" fn texel_address(
    view: *const ImageView,
    x: i32,
    y: i32,
    z: i32,
    scratch: *mut u8,
) -> *mut u8 {
    // SAFETY: the caller upholds it.
    let view = unsafe { &*view };
    let is_word = view.info.format.size() == 4;
    view.at([x, y, z]).filter(|_| is_word).unwrap_or(scratch)
}
