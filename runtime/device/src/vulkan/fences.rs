//! Fences of submissions, which exist only under the validation layer.
//!
//! The layer's checks of synchronisation follow fences, and not the values of timeline semaphores. Without
//! fences it would report memory that is used again after the host waited for its last use. A fence is waited for
//! only where the host relies on the end of a submission. Otherwise the layer would miss a barrier between two
//! submissions when the first one happens to end soon.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use ash::vk;

use super::gpu::Gpu;
use super::validation;
use crate::Result;

pub(super) struct Fences {
    gpu: Rc<Gpu>,
    /// Each with the first ticket of its submission.
    pending: RefCell<VecDeque<(u64, vk::Fence)>>,
    idle: RefCell<Vec<vk::Fence>>,
}

impl Fences {
    pub fn new(gpu: &Rc<Gpu>) -> Fences {
        Fences { gpu: gpu.clone(), pending: RefCell::default(), idle: RefCell::default() }
    }

    /// The fence for the submission that begins with the ticket; null without the layer.
    pub fn next(&self, first: u64) -> Result<vk::Fence> {
        if !validation::requested() {
            return Ok(vk::Fence::null());
        }
        let idle = self.idle.borrow_mut().pop();
        let fence = match idle {
            Some(fence) => fence,
            None => {
                let info = vk::FenceCreateInfo::default();
                // SAFETY: the device is alive.
                unsafe { self.gpu.device.create_fence(&info, None) }
                    .map_err(|result| self.gpu.error("vkCreateFence", result))?
            }
        };
        self.pending.borrow_mut().push_back((first, fence));
        Ok(fence)
    }

    /// Waits for the fences up to that of the ticket's submission, which has ended.
    pub fn wait(&self, ticket: u64) {
        let mut pending = self.pending.borrow_mut();
        let n_ended = pending.partition_point(|(first, _)| *first <= ticket);
        let ended: Vec<vk::Fence> = pending.drain(..n_ended).map(|(_, fence)| fence).collect();
        if ended.is_empty() {
            return;
        }
        // SAFETY: the fences are alive, and no submission uses them after the wait. If it fails, the device is
        // lost, which the next call reports that can fail.
        let _ = unsafe {
            let waited = self.gpu.device.wait_for_fences(&ended, true, u64::MAX);
            waited.and_then(|()| self.gpu.device.reset_fences(&ended))
        };
        self.idle.borrow_mut().extend(ended);
    }
}

impl Drop for Fences {
    fn drop(&mut self) {
        let pending = self.pending.get_mut().drain(..).map(|(_, fence)| fence);
        for fence in pending.chain(self.idle.get_mut().drain(..)) {
            // SAFETY: the device's owner waited until it was idle.
            unsafe { self.gpu.device.destroy_fence(fence, None) };
        }
    }
}
