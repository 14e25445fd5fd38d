//! Numbers of several distributions from random bits, in NumPy's order of drawing.

use std::sync::LazyLock;

use super::bits::Bits;

/// How to draw ints below a bound from random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounding {
    /// Draw as many bits as the bound has, until they are below it.
    Masked,
    /// Multiply and take the high half. Lemire, "Fast Random Integer Generation in an Interval" (2019).
    Multiplied,
}

/// An int from 0 to `most`, which is included.
pub fn bounded(bits: &mut impl Bits, most: u64, bounding: Bounding) -> u64 {
    if most == 0 {
        return 0;
    }
    if let Ok(most) = u32::try_from(most) {
        return u64::from(bounded_u32(bits, most, bounding));
    }
    if most == u64::MAX {
        return bits.next_u64();
    }
    match bounding {
        Bounding::Masked => {
            let mask = u64::MAX >> most.leading_zeros();
            loop {
                let drawn = bits.next_u64() & mask;
                if drawn <= most {
                    return drawn;
                }
            }
        }
        Bounding::Multiplied => {
            let n = most + 1;
            loop {
                let product = u128::from(bits.next_u64()) * u128::from(n);
                if product as u64 >= n || product as u64 >= (u64::MAX - most) % n {
                    return (product >> 64) as u64;
                }
            }
        }
    }
}

fn bounded_u32(bits: &mut impl Bits, most: u32, bounding: Bounding) -> u32 {
    if most == u32::MAX {
        return bits.next_u32();
    }
    match bounding {
        Bounding::Masked => {
            let mask = u32::MAX >> most.leading_zeros();
            loop {
                let drawn = bits.next_u32() & mask;
                if drawn <= most {
                    return drawn;
                }
            }
        }
        Bounding::Multiplied => {
            let n = most + 1;
            loop {
                let product = u64::from(bits.next_u32()) * u64::from(n);
                // The threshold is below `n`: most draws need no division.
                if product as u32 >= n || product as u32 >= (u32::MAX - most) % n {
                    return (product >> 32) as u32;
                }
            }
        }
    }
}

/// Two normal numbers by the polar method: one to return now, and one to cache.
pub fn polar_normals(bits: &mut impl Bits) -> (f64, f64) {
    loop {
        let x = 2.0 * bits.next_f64() - 1.0;
        let y = 2.0 * bits.next_f64() - 1.0;
        let square = x * x + y * y;
        if square < 1.0 && square != 0.0 {
            let factor = (-2.0 * square.ln() / square).sqrt();
            return (factor * y, factor * x);
        }
    }
}

/// A normal number by the ziggurat. Marsaglia and Tsang, "The Ziggurat Method" (2000), in Doornik's form.
pub fn ziggurat_normal(bits: &mut impl Bits) -> f64 {
    let layers = &*LAYERS;
    loop {
        let word = bits.next_u64();
        let layer = (word & 0xff) as usize;
        let is_negative = word >> 8 & 1 == 1;
        let magnitude = word >> 9 & 0x000f_ffff_ffff_ffff;
        let x = magnitude as f64 * layers[layer].scale;
        let signed = if is_negative { -x } else { x };
        if magnitude < layers[layer].inside {
            return signed;
        }
        if layer == 0 {
            return tail(bits, magnitude >> 8 & 1 == 1);
        }
        let (below, above) = (layers[layer - 1].height, layers[layer].height);
        if (below - above) * bits.next_f64() + above < (-0.5 * x * x).exp() {
            return signed;
        }
    }
}

/// Beyond the last layer.
fn tail(bits: &mut impl Bits, is_negative: bool) -> f64 {
    loop {
        let x = -(-bits.next_f64()).ln_1p() / EDGE;
        let y = -(-bits.next_f64()).ln_1p();
        if y + y > x * x {
            return if is_negative { -(EDGE + x) } else { EDGE + x };
        }
    }
}

/// The end of the last of 256 layers.
const EDGE: f64 = 3.654_152_885_361_009;
/// The area of each layer.
const AREA: f64 = 0.004_928_673_233_974_655;
const N_LAYERS: usize = 256;

#[derive(Clone, Copy, Default)]
struct Layer {
    /// Magnitudes below it are certainly under the curve.
    inside: u64,
    /// From a magnitude of 52 bits to `x`.
    scale: f64,
    /// The curve at the layer's edge.
    height: f64,
}

static LAYERS: LazyLock<[Layer; N_LAYERS]> = LazyLock::new(|| {
    const UNIT: f64 = (1u64 << 52) as f64;
    let curve = |x: f64| (-0.5 * x * x).exp();
    let mut layers = [Layer::default(); N_LAYERS];
    let mut x = EDGE;
    for layer in (1..N_LAYERS).rev() {
        let narrower = if layer == 1 { 0.0 } else { (-2.0 * (AREA / x + curve(x)).ln()).sqrt() };
        layers[layer] = Layer { inside: (narrower / x * UNIT) as u64, scale: x / UNIT, height: curve(x) };
        x = narrower;
    }
    // The lowest layer is the one with the tail.
    let width = AREA / curve(EDGE);
    layers[0] = Layer { inside: (EDGE / width * UNIT) as u64, scale: width / UNIT, height: 1.0 };
    layers
});
