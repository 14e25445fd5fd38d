//! The samplers that dispatches use, each created once.

use std::rc::Rc;

use ash::vk;
use rustc_hash::FxHashMap;

use super::gpu::Gpu;
use crate::{AddressMode, Command, Filter, Result, Sampler};

pub(super) struct Samplers {
    gpu: Rc<Gpu>,
    made: FxHashMap<Sampler, vk::Sampler>,
}

impl Samplers {
    pub fn new(gpu: &Rc<Gpu>) -> Samplers {
        Samplers { gpu: gpu.clone(), made: FxHashMap::default() }
    }

    /// Creates the samplers that the commands name.
    pub fn make_for(&mut self, commands: &[Command]) -> Result<()> {
        for command in commands {
            let Command::Dispatch(dispatch) = command else { continue };
            for binding in &dispatch.samplers {
                if !self.made.contains_key(&binding.sampler) {
                    let handle = self.create(binding.sampler)?;
                    self.gpu.names.set(handle, || format!("{:?}", binding.sampler));
                    self.made.insert(binding.sampler, handle);
                }
            }
        }
        Ok(())
    }

    /// A sampler that was created for these commands.
    pub fn get(&self, sampler: Sampler) -> vk::Sampler {
        self.made[&sampler]
    }

    fn create(&self, sampler: Sampler) -> Result<vk::Sampler> {
        let filter = match sampler.filter {
            Filter::Nearest => vk::Filter::NEAREST,
            Filter::Linear => vk::Filter::LINEAR,
        };
        let address = match sampler.address {
            AddressMode::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
            AddressMode::Repeat => vk::SamplerAddressMode::REPEAT,
            AddressMode::MirroredRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
        };
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(filter)
            .min_filter(filter)
            .address_mode_u(address)
            .address_mode_v(address)
            .address_mode_w(address);
        // SAFETY: `info` outlives the call.
        unsafe { self.gpu.device.create_sampler(&info, None) }
            .map_err(|result| self.gpu.error("vkCreateSampler", result))
    }
}

impl Drop for Samplers {
    fn drop(&mut self) {
        for (_, sampler) in self.made.drain() {
            // SAFETY: the device's owner waited until it was idle.
            unsafe { self.gpu.device.destroy_sampler(sampler, None) };
        }
    }
}
