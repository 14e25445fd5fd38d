//! Loops over the lanes of a SIMD group: first the branch-free form of a function for all lanes, then the
//! general form for lanes with unusual arguments.

use super::{Column, MAX_LANES};

/// Stores the results of `n` lanes over the first of `N` columns of arguments. The compiler vectorises its
/// loops over plain arrays.
#[inline(always)]
pub fn usual<const N: usize>(
    columns: *mut Column,
    n: u32,
    is_usual: impl Fn([f32; N]) -> bool,
    straight: impl Fn([f32; N]) -> f32,
    rare: impl Fn([f32; N]) -> f32,
) {
    let n = (n as usize).min(MAX_LANES);
    // SAFETY: compiled code passes a column for each argument, and every bit pattern is a float.
    let args: [&[f32; MAX_LANES]; N] =
        std::array::from_fn(|i| unsafe { &*columns.add(i).cast::<[f32; MAX_LANES]>() });
    let of_lane = |lane: usize| std::array::from_fn(|i| args[i][lane]);
    let mut results = [0.0; MAX_LANES];
    let mut n_usual = 0;
    for (lane, result) in results[..n].iter_mut().enumerate() {
        let args = of_lane(lane);
        *result = straight(args);
        n_usual += u32::from(is_usual(args));
    }
    if n_usual < n as u32 {
        for (lane, result) in results[..n].iter_mut().enumerate() {
            let args = of_lane(lane);
            if !is_usual(args) {
                *result = rare(args);
            }
        }
    }
    // Copies all possible lanes: with a constant size, the copy is inlined, and takes a tenth of the time.
    // SAFETY: as above, each column has room for all; the references are not used any more.
    unsafe { columns.cast::<[f32; MAX_LANES]>().write(results) };
}

/// The address of `fn(columns, n)`, compiled for the widest vectors of this machine. No form fuses
/// operations, so all give the same bits.
macro_rules! best {
    ($body:ident) => {{
        extern "C" fn plain(columns: *mut Column, n: u32) {
            $body(columns, n);
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        extern "C" fn wide(columns: *mut Column, n: u32) {
            $body(columns, n);
        }
        #[cfg(target_arch = "x86_64")]
        let is_wide = std::arch::is_x86_feature_detected!("avx2");
        #[cfg(target_arch = "x86_64")]
        let address = if is_wide { wide as *const () as usize } else { plain as *const () as usize };
        #[cfg(not(target_arch = "x86_64"))]
        let address = plain as *const () as usize;
        address
    }};
}
pub(super) use best;
