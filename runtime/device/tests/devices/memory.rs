//! Memory: copies, offsets, memory shared with the host, and accesses beyond a binding.

use std::cell::Cell;
use std::rc::Rc;

use kps_device::{
    Backend, Command, Commands, DeviceError, Feature, HostMemory, MemoryUsage, OpenOptions, PipelineOptions,
    QueueId,
};

use super::common;
use super::common::devices::{Shorthand, dispatch, floats, on_every_device, on_every_device_opened};
use super::{BOTH, READ, copy, refused_command};

#[test]
fn copies_between_and_within_buffers() {
    on_every_device(|device| {
        let a = device.floats(&[1.0, 2.0, 3.0, 4.0]);
        let b = device.zeros(4);
        let kernel = device.module("increment");
        device.run(vec![
            copy(a, 4, b, 8, 8),
            dispatch(kernel, &[(b, BOTH)], 4),
            copy(b, 8, b, 0, 8),
            copy(b, 0, a, 0, 4),
            copy(a, 0, a, 12, 0),
        ]);
        assert_eq!(device.get(b, 4), [3.0, 4.0, 3.0, 4.0]);
        assert_eq!(device.get(a, 4), [3.0, 2.0, 3.0, 4.0]);
    });
}

/// Many bytes in which every part differs.
fn pattern(n: u64) -> Vec<u8> {
    (0..n.div_ceil(4)).flat_map(|word| (word as u32).wrapping_mul(0x9e37_79b9).to_le_bytes()).collect()
}

/// Around the sizes and offsets at which a device changes how it copies.
#[test]
fn large_copies_arrive_whole_at_every_size_and_offset() {
    const ROOM: u64 = 400_000;
    let bytes = pattern(ROOM);
    on_every_device(|device| {
        for size in [256 << 10, (256 << 10) - 1, (256 << 10) + 1, 300_000, 300_004, 300_015, 300_016] {
            for (from_offset, to_offset) in [(0, 0), (4, 4), (16, 48), (256, 512), (1024, 4), (3, 5)] {
                let from = device.alloc(ROOM, MemoryUsage::Device).expect("there is memory");
                let to = device.alloc(ROOM, MemoryUsage::Device).expect("there is memory");
                device.write(from, 0, &bytes).expect("it fits");
                device.run(vec![copy(from, from_offset, to, to_offset, size)]);
                let mut expect = vec![0; ROOM as usize];
                let (source, target) = (from_offset as usize, to_offset as usize);
                expect[target..][..size as usize].copy_from_slice(&bytes[source..][..size as usize]);
                let mut found = vec![0xff; ROOM as usize];
                device.read(to, 0, &mut found).expect("it is there");
                assert!(found == expect, "{size} bytes from {from_offset} to {to_offset}");
                device.free(from);
                device.free(to);
            }
        }
    });
}

/// More than a binding may have on some devices, with a remainder.
#[test]
fn copies_beyond_the_limit_of_a_binding_arrive_whole() {
    const SIZE: u64 = (130 << 20) + 5;
    let bytes = pattern(SIZE);
    on_every_device(|device| {
        let from = device.alloc(bytes.len() as u64, MemoryUsage::Device).expect("there is memory");
        let to = device.alloc(SIZE, MemoryUsage::Device).expect("there is memory");
        device.write(from, 0, &bytes).expect("it fits");
        device.run(vec![copy(from, 0, to, 0, SIZE)]);
        let mut found = vec![0; SIZE as usize];
        device.read(to, 0, &mut found).expect("it is there");
        assert!(found == bytes[..SIZE as usize]);
    });
}

/// Copies of half a buffer to its other half and to another buffer, between dispatches that write what they
/// read, and read what they write.
#[test]
fn large_copies_keep_their_place_among_dispatches() {
    const HALF: usize = 80_000;
    const N: usize = 40_000;
    let half = 4 * HALF as u64;
    on_every_device(|device| {
        let kernel = device.module("increment");
        let (a, b) = (device.zeros(2 * HALF), device.zeros(HALF));
        let commands = vec![
            dispatch(kernel, &[(a, BOTH)], N),
            copy(a, 0, a, half, half),
            dispatch(kernel, &[(a, BOTH)], N),
            copy(a, half, b, 0, half - 4),
            dispatch(kernel, &[(b, BOTH)], N),
            copy(b, 0, a, 0, half),
        ];
        // In one submission, in one each, and in one that is recorded once and runs again.
        device.run(commands.clone());
        for command in &commands {
            let once = Commands::once(vec![command.clone()]);
            device.submit(QueueId(0), &once, &[]).expect("it runs");
        }
        let repeated = Commands::new(commands);
        for _ in 0..3 {
            device.submit(QueueId(0), &repeated, &[]).expect("it runs");
        }
        let rounds = 5.0;
        let expect = |first: f32| [vec![first; N], vec![0.0; HALF - N]].concat();
        assert_eq!(device.get(b, HALF), expect(2.0 * rounds));
        let a = device.get(a, 2 * HALF);
        assert_eq!(a[..HALF], expect(2.0 * rounds));
        assert_eq!(a[HALF..], expect(2.0 * rounds - 1.0));
    });
}

#[test]
fn reading_and_writing_at_offsets() {
    on_every_device(|device| {
        let buffer = device.alloc(7, MemoryUsage::Device).expect("there is memory");
        device.write(buffer, 2, &[1, 2, 3]).expect("it fits");
        device.write(buffer, 6, &[9]).expect("it fits");
        device.write(buffer, 7, &[]).expect("nothing fits anywhere");
        let mut all = [0xff; 7];
        device.read(buffer, 0, &mut all).expect("it is there");
        assert_eq!(all, [0, 0, 1, 2, 3, 0, 9]);
        let mut some = [0; 2];
        device.read(buffer, 3, &mut some).expect("it is there");
        assert_eq!(some, [2, 3]);
        for refused in [device.write(buffer, 6, &[1, 2]), device.read(buffer, 6, &mut some)] {
            assert!(refused_command(refused).contains("7 bytes"));
        }
        assert!(device.read(buffer, u64::MAX, &mut some).is_err());
    });
}

#[test]
fn memory_begins_as_zeros_even_where_it_was_used_before() {
    on_every_device(|device| {
        for usage in [MemoryUsage::Device, MemoryUsage::Host] {
            for size in [4, 1000, 300_000] {
                let dirty = device.alloc(size, usage).expect("there is memory");
                device.write(dirty, 0, &vec![0xaa; size as usize]).expect("it fits");
                device.free(dirty);
                let fresh = device.alloc(size, usage).expect("there is memory");
                device.write(fresh, 0, &[1]).expect("it fits");
                let mut bytes = vec![0xff; size as usize];
                device.read(fresh, 0, &mut bytes).expect("it is there");
                assert_eq!(bytes[0], 1);
                assert!(bytes[1..].iter().all(|byte| *byte == 0), "{size} bytes of {usage:?}");
            }
        }
    });
}

/// Larger than the staging memory, with a remainder: first with small pieces, and then with large ones.
#[test]
fn large_transfers_arrive_whole() {
    on_every_device(|device| {
        for n in [7_000_001, 18_000_001] {
            let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
            let buffer = device.floats(&values);
            assert!(device.get(buffer, n) == values, "it comes back as it went");
            assert!(device.get(buffer, n) == values, "and again");
            let mut tail = vec![0; 8];
            device.read(buffer, 4 * n as u64 - 8, &mut tail).expect("it is there");
            assert_eq!(floats(&tail), values[n - 2..]);
            device.free(buffer);
        }
    });
}

#[test]
fn memory_of_the_host_is_a_buffer_for_copies() {
    /// Memory that notes when it is dropped.
    struct Owner(Vec<u8>, Rc<Cell<bool>>);

    impl Drop for Owner {
        fn drop(&mut self) {
            self.1.set(true);
        }
    }

    on_every_device(|device| {
        let is_dropped = Rc::new(Cell::new(false));
        let mut owner = Owner((0..100_000).map(|i| (i / 3) as u8).collect(), is_dropped.clone());
        let (before, start, len) = (owner.0.clone(), 777, 90_000);
        let memory = HostMemory { ptr: owner.0[start..].as_mut_ptr(), len };
        // SAFETY: `owner` is passed to `release`, and read after the copies have ended.
        let imported = unsafe { device.import(memory) };
        let Some(imported) = imported else {
            assert_ne!(device.info().backend, Backend::Vulkan, "lavapipe imports memory");
            return;
        };
        let (host, offset) = (imported.buffer, imported.offset);
        let buffer = device.alloc(len as u64, MemoryUsage::Device).expect("there is memory");
        device.run(vec![copy(host, offset, buffer, 0, len as u64)]);
        let mut bytes = vec![0; len];
        device.read(buffer, 0, &mut bytes).expect("it is there");
        assert!(bytes == before[start..start + len], "the bytes arrive");
        let ticket = device.run(vec![copy(buffer, 0, host, offset + 1, 1000)]);
        device.done(ticket);
        assert_eq!(
            owner.0[start..start + 1001],
            [&before[start..=start], &before[start..start + 1000]].concat()
        );
        assert_eq!(owner.0[..start], before[..start]);
        let ticket = device.run(vec![copy(host, offset, buffer, 0, len as u64)]);
        device.release(imported, Box::new(owner));
        device.done(ticket);
        // Any later call drops what has ended.
        device.free(buffer);
        assert!(is_dropped.get(), "the device keeps the memory no longer than its copies need it");
    });
}

#[test]
fn buffers_may_be_freed_in_flight() {
    on_every_device(|device| {
        let kernel = device.module("increment");
        let (a, b) = (device.zeros(100_000), device.zeros(100_000));
        let commands = Commands::new(vec![dispatch(kernel, &[(a, BOTH)], 60_000); 20]);
        device.submit(QueueId(0), &commands, &[]).expect("it runs");
        let ticket = device.run(vec![copy(a, 0, b, 0, 4000)]);
        device.free(a);
        device.free(a);
        device.done(ticket);
        assert_eq!(device.get(b, 1000), [20.0; 1000]);
        let unknown = DeviceError::UnknownId { kind: "buffer" };
        assert_eq!(device.read(a, 0, &mut [0]), Err(unknown.clone()));
        assert_eq!(device.submit(QueueId(0), &commands, &[]), Err(unknown.clone()));
        // The slot of the freed buffer is reused, but its id is not.
        let c = device.zeros(100_000);
        assert_eq!(device.write(a, 0, &[1]), Err(unknown.clone()));
        assert_eq!(device.submit(QueueId(0), &commands, &[]), Err(unknown));
        assert_eq!(device.get(c, 10), [0.0; 10]);
    });
}

#[test]
fn a_write_follows_the_work_that_uses_the_buffer() {
    on_every_device(|device| {
        let kernel = device.module("increment");
        let n = 60_000;
        // Small ones are part of a command, others go through staging.
        for n_bytes in [4, 7, 4096, 4100, 100_000] {
            let buffer = device.zeros(n);
            let commands = Commands::new(vec![dispatch(kernel, &[(buffer, BOTH)], n); 20]);
            device.submit(QueueId(0), &commands, &[]).expect("it runs");
            device.write(buffer, 8, &vec![0; n_bytes]).expect("it fits");
            let ticket = device.run(vec![dispatch(kernel, &[(buffer, BOTH)], n)]);
            device.done(ticket);
            let values = device.get(buffer, n);
            assert_eq!(values[..2], [21.0, 21.0], "{n_bytes} bytes");
            assert!(values[2..2 + n_bytes / 4].iter().all(|value| *value == 1.0), "{n_bytes} bytes");
            assert!(values[2 + n_bytes.div_ceil(4)..].iter().all(|value| *value == 21.0), "{n_bytes} bytes");
            device.free(buffer);
        }
    });
}

#[test]
fn shared_memory_is_the_buffer_itself() {
    on_every_device(|device| {
        let a = device.floats(&[1.0, 2.0]);
        let Some(memory) = device.host_memory(a) else { return };
        assert_eq!(memory.len, 8);
        // SAFETY: nothing that names the buffer is in flight, and it is 8 bytes long.
        unsafe { memory.ptr.cast::<f32>().write(41.0) };
        let ticket = device.run(vec![dispatch(device.module("increment"), &[(a, BOTH)], 2)]);
        device.done(ticket);
        // SAFETY: as above.
        assert_eq!(unsafe { memory.ptr.cast::<f32>().read() }, 42.0);
        assert_eq!(device.get(a, 2), [42.0, 3.0]);
    });
}

#[test]
fn accesses_beyond_a_binding_touch_nothing() {
    on_every_device(|device| {
        if !device.info().features.contains(&Feature::RobustAccess) {
            return;
        }
        let a = device.zeros(64);
        let kernel = device.module("increment");
        let Command::Dispatch(mut part) = dispatch(kernel, &[(a, BOTH)], 64) else { unreachable!() };
        part.bindings[0].size = 4 * 16;
        device.run(vec![Command::Dispatch(part)]);
        let values = device.get(a, 64);
        assert_eq!(values[..16], [1.0; 16]);
        assert_eq!(values[16..], [0.0; 48]);
    });
}

#[test]
fn old_style_buffers_run() {
    let path = format!("{}/tests/modules/increment.spvasm", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("it is there");
    let text = text
        .replace("StorageBuffer", "Uniform")
        .replace("%block Block", "%block BufferBlock")
        .replace("%main \"main\" %id %a", "%main \"main\" %id");
    let words = common::assemble_old(&text);
    on_every_device(|device| {
        let a = device.floats(&[1.0, 2.0]);
        let kernel = device.load(&words, &PipelineOptions::default()).expect("it loads");
        device.run(vec![dispatch(kernel, &[(a, BOTH)], 2)]);
        assert_eq!(device.get(a, 2), [2.0, 3.0]);
    });
}

#[test]
fn two_variables_may_alias_one_buffer() {
    let path = format!("{}/tests/modules/multiply.spvasm", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("it is there");
    let words = common::assemble(&text.replace("%product Binding 2", "%product Binding 0"));
    on_every_device(|device| {
        let (a, b) = (device.floats(&[1.0, 2.0]), device.floats(&[3.0, 4.0]));
        let kernel = device.load(&words, &PipelineOptions::default()).expect("it loads");
        device.run(vec![dispatch(kernel, &[(a, BOTH), (b, READ)], 2); 2]);
        assert_eq!(device.get(a, 2), [9.0, 32.0]);
    });
}

/// Under the validation layer, which is where names are seen.
#[test]
fn memory_takes_any_name() {
    on_every_device(|device| {
        let buffer = device.zeros(4);
        for name in ["", "tensor f32[4]", "with\0zero", "f\u{fc}nf"] {
            device.name(buffer, name);
        }
        device.free(buffer);
        device.name(buffer, "freed");
        assert_eq!(device.get(device.zeros(1), 1), [0.0]);
    });
}

#[test]
fn memory_counts_what_is_allocated() {
    on_every_device(|device| {
        let before = device.memory();
        let a = device.zeros(1 << 20);
        let with_one = device.memory();
        assert!(with_one.used >= before.used + (4 << 20));
        assert!(with_one.reserved >= with_one.used && with_one.budget > with_one.used);
        device.free(a);
        assert_eq!(device.memory().used, before.used);
    });
}

/// The most bytes of the devices below.
const LIMIT: u64 = 48 << 20;

#[test]
fn a_limit_of_memory_refuses_with_the_figures() {
    let options = OpenOptions { memory_limit: Some(LIMIT), ..OpenOptions::default() };
    on_every_device_opened(&options, |opened| {
        let device = opened.device;
        let kept = device.alloc(20 << 20, MemoryUsage::Device).expect("there is memory");
        assert_eq!(device.memory().budget, LIMIT);
        match device.alloc(40 << 20, MemoryUsage::Device) {
            Err(DeviceError::OutOfMemory { requested, free, limit, .. }) => {
                assert_eq!((requested, limit), (40 << 20, LIMIT));
                assert!(free <= LIMIT - (20 << 20));
            }
            other => panic!("{other:?}"),
        }
        device.free(kept);
        device.alloc(40 << 20, MemoryUsage::Device).expect("there is memory again");
    });
}

#[test]
fn memory_of_running_work_is_waited_for() {
    let options = OpenOptions { memory_limit: Some(LIMIT), ..OpenOptions::default() };
    on_every_device_opened(&options, |opened| {
        let device = opened.device;
        for _ in 0..10 {
            let size = 20 << 20;
            let a = device.alloc(size, MemoryUsage::Device).expect("there is memory");
            let b = device.alloc(size, MemoryUsage::Device).expect("what is freed serves again");
            device.run(vec![copy(a, 0, b, 0, size)]);
            device.free(a);
            device.free(b);
        }
    });
}
