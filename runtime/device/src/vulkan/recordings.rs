//! Caches the recordings of living lists of commands, and their timestamps.

use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use ash::vk;
use rustc_hash::FxHashMap;

use super::encode::Take;
use super::gpu::Gpu;
use super::hazards::Use;
use super::plan::{Plan, bad_command};
use super::queue::Queue;
use crate::{Command, Commands, Result, Ticket};

/// Number of submissions whose times are stored after their recordings are reused.
const MAX_TIMES: usize = 1024;

pub(super) struct Recordings {
    gpu: Rc<Gpu>,
    /// By the list's identity and the queue.
    known: FxHashMap<(usize, usize), Recorded>,
    /// The size at which recordings of dropped lists are removed.
    sweep_at: usize,
    times: FxHashMap<Ticket, Vec<u64>>,
    times_in_order: VecDeque<Ticket>,
}

struct Recorded {
    /// While this exists, no other list has the same identity.
    list: Weak<[Command]>,
    uses: Rc<[Use]>,
    n_timestamps: u32,
    /// Each with its last submission, 0 for none. With timestamps, each run in flight needs its own take;
    /// otherwise there is one.
    takes: Vec<(Take, u64)>,
}

/// The take to submit.
pub(super) struct Chosen {
    pub commands: vk::CommandBuffer,
    pub uses: Rc<[Use]>,
    index: usize,
}

impl Recordings {
    pub fn new(gpu: &Rc<Gpu>) -> Recordings {
        Recordings {
            gpu: gpu.clone(),
            known: FxHashMap::default(),
            sweep_at: 64,
            times: FxHashMap::default(),
            times_in_order: VecDeque::new(),
        }
    }

    /// A recording of the list that can be submitted now.
    pub fn find(&mut self, commands: &Commands, queue_index: usize, queue: &Queue) -> Result<Option<Chosen>> {
        let Some(recorded) = self.known.get(&(commands.identity(), queue_index)) else { return Ok(None) };
        if recorded.n_timestamps > 0 {
            queue.poll()?;
        }
        let free = |(_, last): &(Take, u64)| recorded.n_timestamps == 0 || queue.was_ended(*last);
        let Some(index) = recorded.takes.iter().position(free) else { return Ok(None) };
        let (take, last) = &recorded.takes[index];
        let (commands, uses) = (take.commands, recorded.uses.clone());
        if recorded.n_timestamps > 0 && *last > 0 {
            let ticket = Ticket { queue: queue_index as u32, value: *last };
            let times = self.read_times(take.queries, recorded.n_timestamps, queue.family)?;
            self.keep_times(ticket, times);
        }
        Ok(Some(Chosen { commands, uses, index }))
    }

    pub fn add(&mut self, commands: &Commands, queue_index: usize, plan: &Plan, take: Take) -> Chosen {
        let recorded = self.known.entry((commands.identity(), queue_index)).or_insert_with(|| Recorded {
            list: commands.downgrade(),
            uses: plan.merged.as_slice().into(),
            n_timestamps: plan.n_timestamps,
            takes: Vec::new(),
        });
        let chosen =
            Chosen { commands: take.commands, uses: recorded.uses.clone(), index: recorded.takes.len() };
        recorded.takes.push((take, 0));
        chosen
    }

    /// Records the submission of the chosen take.
    pub fn note(&mut self, commands: &Commands, queue_index: usize, chosen: &Chosen, value: u64) {
        let recorded = self.known.get_mut(&(commands.identity(), queue_index));
        recorded.expect("a list that was chosen is known").takes[chosen.index].1 = value;
    }

    /// From time to time, drops the recordings of dropped lists.
    pub fn sweep(&mut self, queues: &mut [Queue]) -> Result<()> {
        if self.known.len() < self.sweep_at {
            return Ok(());
        }
        for queue in queues.iter() {
            queue.poll()?;
        }
        let is_dead = |(key, recorded): (&(usize, usize), &Recorded)| {
            let ended = recorded.takes.iter().all(|(_, last)| queues[key.1].was_ended(*last));
            (recorded.list.strong_count() == 0 && ended).then_some(*key)
        };
        let dead: Vec<_> = self.known.iter().filter_map(is_dead).collect();
        for key in dead {
            let recorded = self.known.remove(&key).expect("it was just seen");
            for (take, last) in recorded.takes {
                if recorded.n_timestamps > 0 && last > 0 {
                    let family = queues[key.1].family;
                    let times = self.read_times(take.queries, recorded.n_timestamps, family)?;
                    self.keep_times(Ticket { queue: key.1 as u32, value: last }, times);
                }
                take.destroy(&self.gpu, &mut queues[key.1]);
            }
        }
        self.sweep_at = 2 * self.known.len() + 64;
        Ok(())
    }

    /// The times of an ended submission.
    pub fn times(&self, ticket: Ticket, queue: &Queue) -> Result<Vec<u64>> {
        if let Some(times) = self.times.get(&ticket) {
            return Ok(times.clone());
        }
        for ((_, queue_index), recorded) in &self.known {
            if *queue_index != ticket.queue as usize || recorded.n_timestamps == 0 {
                continue;
            }
            if let Some((take, _)) = recorded.takes.iter().find(|(_, last)| *last == ticket.value) {
                return self.read_times(take.queries, recorded.n_timestamps, queue.family);
            }
        }
        // It has no timestamps.
        Ok(Vec::new())
    }

    fn read_times(&self, queries: vk::QueryPool, n_timestamps: u32, family: u32) -> Result<Vec<u64>> {
        let mut ticks = vec![0_u64; n_timestamps as usize];
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the pool has as many queries.
        unsafe { self.gpu.device.get_query_pool_results(queries, 0, &mut ticks, flags) }
            .map_err(|result| self.gpu.error("vkGetQueryPoolResults", result))?;
        let bits = self.gpu.physical.timestamp_bits[family as usize];
        let Some(period) = self.gpu.physical.info.limits.timestamp_period else {
            return Err(bad_command("the device has no timestamps".to_owned()));
        };
        let mask = u64::MAX >> (64 - bits.clamp(1, 64));
        Ok(ticks.into_iter().map(|tick| nanoseconds(tick & mask, period)).collect())
    }

    fn keep_times(&mut self, ticket: Ticket, times: Vec<u64>) {
        if self.times.insert(ticket, times).is_none() {
            self.times_in_order.push_back(ticket);
        }
        if self.times_in_order.len() > MAX_TIMES
            && let Some(oldest) = self.times_in_order.pop_front()
        {
            self.times.remove(&oldest);
        }
    }

    /// Destroys all recordings. The device must be idle.
    pub fn destroy_all(&mut self, queues: &mut [Queue]) {
        for ((_, queue_index), recorded) in self.known.drain() {
            for (take, _) in recorded.takes {
                take.destroy(&self.gpu, &mut queues[queue_index]);
            }
        }
    }
}

/// Integer arithmetic stays exact where a float would not.
fn nanoseconds(ticks: u64, period: f64) -> u64 {
    if period.fract() == 0.0 {
        return ticks.wrapping_mul(period as u64);
    }
    (ticks as f64 * period) as u64
}
