//! Lanes that are not contiguous in memory. Code stores the offset of each, and these functions load or store
//! them one by one. Code calls them through [`trampolines`](crate::cpu::emit::trampolines).

use crate::cpu::lane::simd::MAX_WIDTH;

/// The arguments of a gather or a scatter.
#[repr(C)]
pub struct Exchange {
    /// Lane after lane, as in vectors.
    pub values: [u8; 8 * MAX_WIDTH as usize],
    /// Bytes from the base.
    pub offsets: [i64; MAX_WIDTH as usize],
    pub base: *mut u8,
    /// The first offset that is out of range.
    pub limit: u64,
    /// Size of a lane's value.
    pub bytes: u32,
    /// The participating lanes as bits.
    pub lanes: u32,
}

impl Exchange {
    fn each_lane(&self) -> impl Iterator<Item = usize> + use<> {
        let lanes = self.lanes;
        (0..MAX_WIDTH as usize).filter(move |lane| lanes >> lane & 1 == 1)
    }

    /// The address of a lane's access, if it is in range.
    fn place<const BYTES: usize>(&self, lane: usize) -> Option<*mut [u8; BYTES]> {
        let offset = self.offsets[lane];
        ((offset as u64) < self.limit).then(|| self.base.wrapping_offset(offset as isize).cast())
    }

    fn load<const BYTES: usize>(&mut self) {
        for lane in self.each_lane() {
            // SAFETY: an offset below its limit is inside the space.
            let value = self.place::<BYTES>(lane).map_or([0; BYTES], |place| unsafe { place.read() });
            self.values[lane * BYTES..][..BYTES].copy_from_slice(&value);
        }
    }

    fn store<const BYTES: usize>(&self) {
        for lane in self.each_lane() {
            if let Some(place) = self.place::<BYTES>(lane) {
                let value = self.values[lane * BYTES..][..BYTES].try_into().expect("it has this length");
                // SAFETY: as in `load`.
                unsafe { place.write(value) };
            }
        }
    }
}

pub extern "C" fn gather(exchange: *mut Exchange) {
    // SAFETY: compiled code passes its own stack slot.
    let exchange = unsafe { &mut *exchange };
    match exchange.bytes {
        4 => exchange.load::<4>(),
        _ => exchange.load::<8>(),
    }
}

pub extern "C" fn scatter(exchange: *const Exchange) {
    // SAFETY: as in `gather`.
    let exchange = unsafe { &*exchange };
    match exchange.bytes {
        4 => exchange.store::<4>(),
        _ => exchange.store::<8>(),
    }
}
