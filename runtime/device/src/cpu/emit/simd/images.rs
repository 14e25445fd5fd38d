//! Images in SIMD groups. Each active lane accesses its own texel through 16 bytes of the stack. The results
//! are interleaved with those of other lanes, so that a channel is one vector.

use cranelift_codegen::ir::{self, InstBuilder, StackSlotData, StackSlotKind, types};

use super::SimdGroup;
use super::memory::own;
use crate::cpu::emit::ops::memory;
use crate::cpu::lane::{Address, ImageAction, Value};

/// Words of a texel in every format.
const CHANNELS: u32 = 4;

impl SimdGroup<'_, '_, '_> {
    pub(super) fn image(&mut self, image: u32, action: ImageAction, place: [Value; 3], texel: Value) {
        let address = self.own_address(texel).expect("texels go through memory of the lane");
        let bits = self.active().map(|mask| self.bits(&mask));
        for lane in 0..self.plan.width {
            let Some(bits) = bits else {
                self.image_of_lane(image, action, place, address, lane);
                continue;
            };
            let runs = self.scalar.builder.ins().band_imm_u(bits, 1 << lane);
            let [here, after] = std::array::from_fn(|_| self.scalar.builder.create_block());
            self.scalar.builder.ins().brif(runs, here, &[], after, &[]);
            self.scalar.builder.switch_to_block(here);
            self.aside(|simd| simd.image_of_lane(image, action, place, address, lane));
            self.scalar.builder.ins().jump(after, &[]);
            self.scalar.builder.switch_to_block(after);
        }
    }

    fn image_of_lane(
        &mut self,
        image: u32,
        action: ImageAction,
        place: [Value; 3],
        texel: &Address,
        lane: u32,
    ) {
        let slot = *self.texel.get_or_insert_with(|| {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 4 * CHANNELS, 4);
            self.scalar.builder.create_sized_stack_slot(data)
        });
        let there = self.scalar.builder.ins().stack_addr(types::I64, slot, 0);
        let place = place.map(|value| self.lane(value, lane));
        if action == ImageAction::Write {
            self.each_channel(texel, lane, |simd, interleaved, at| {
                let word = simd.scalar.builder.ins().load(types::I32, memory(), interleaved, 0);
                simd.scalar.builder.ins().store(own(), word, there, at);
            });
        }
        self.scalar.image_at(image, action, place, there);
        if action != ImageAction::Write {
            self.each_channel(texel, lane, |simd, interleaved, at| {
                let word = simd.scalar.builder.ins().load(types::I32, own(), there, at);
                simd.scalar.builder.ins().store(memory(), word, interleaved, 0);
            });
        }
    }

    /// Calls `f` with the address of each channel in the lanes' memory, and its offset in a texel.
    fn each_channel(&mut self, texel: &Address, lane: u32, mut f: impl FnMut(&mut Self, ir::Value, i32)) {
        for offset in (0..CHANNELS).map(|channel| 4 * channel) {
            let interleaved = self.own_place(texel, offset, lane);
            f(self, interleaved, offset as i32);
        }
    }
}
