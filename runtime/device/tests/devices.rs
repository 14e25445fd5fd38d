//! What every device does alike: memory, commands in order, hazards, refusals.

mod common;

use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::devices::{Shorthand, bytes, dispatch, floats, on_every_device, on_every_device_opened};
use common::module;
use kps_device::{
    Access, Backend, Binding, BufferId, Command, Commands, Device, DeviceError, Dispatch, Feature,
    MemoryUsage, OpenOptions, PipelineId, PipelineOptions, QueueId, SourceLine, Ticket, Waited,
};

const READ: Access = Access::Read;
const WRITE: Access = Access::Write;
const BOTH: Access = Access::ReadWrite;

#[test]
fn multiply() {
    on_every_device(|device| {
        let left = device.floats(&[2.0, 4.0, 6.0]);
        let right = device.floats(&[0.5, 2.0, -1.0]);
        let product = device.zeros(3);
        let kernel = device.module("multiply");
        device.run(vec![dispatch(kernel, &[(left, READ), (right, READ), (product, WRITE)], 3)]);
        assert_eq!(device.get(product, 3), [1.0, 8.0, -6.0]);
    });
}

#[test]
fn dependent_dispatches_need_no_barriers_from_outside() {
    on_every_device(|device| {
        let kernel = device.module("increment");
        for n in [3, 100] {
            let a = device.zeros(64);
            let ticket = device.run(vec![dispatch(kernel, &[(a, BOTH)], 64); n]);
            device.done(ticket);
            assert_eq!(device.get(a, 64), [n as f32; 64]);
        }
    });
}

#[test]
fn submissions_follow_one_another() {
    on_every_device(|device| {
        let kernel = device.module("increment");
        let a = device.zeros(16);
        for _ in 0..100 {
            device.run(vec![dispatch(kernel, &[(a, BOTH)], 16)]);
        }
        assert_eq!(device.get(a, 16), [100.0; 16]);
    });
}

#[test]
fn the_same_commands_run_again() {
    on_every_device(|device| {
        let kernel = device.module("increment");
        let a = device.zeros(8);
        let commands = Commands::new(vec![dispatch(kernel, &[(a, BOTH)], 8); 2]);
        let tickets: Vec<Ticket> =
            (0..10).map(|_| device.submit(QueueId(0), &commands, &[]).expect("it runs")).collect();
        assert!(tickets.is_sorted(), "tickets count up: {tickets:?}");
        assert_eq!(device.get(a, 8), [20.0; 8]);
        device.write(a, 0, &bytes(&[0.0; 8])).expect("it fits");
        device.submit(QueueId(0), &commands.clone(), &[]).expect("it runs");
        assert_eq!(device.get(a, 8), [2.0; 8]);
    });
}

#[test]
fn many_lists_come_and_go() {
    on_every_device(|device| {
        let kernel = device.module("increment");
        let kept = device.zeros(4);
        for _ in 0..300 {
            let passing = device.zeros(4);
            device.run(vec![dispatch(kernel, &[(passing, BOTH)], 4), dispatch(kernel, &[(kept, BOTH)], 4)]);
            device.free(passing);
        }
        assert_eq!(device.get(kept, 4), [300.0; 4]);
    });
}

fn copy(from: BufferId, from_offset: u64, to: BufferId, to_offset: u64, size: u64) -> Command {
    Command::Copy { from, from_offset, to, to_offset, size }
}

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

/// More than passes through at once, with a tail.
#[test]
fn large_transfers_arrive_whole() {
    on_every_device(|device| {
        let n = 7_000_001;
        let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let buffer = device.floats(&values);
        assert!(device.get(buffer, n) == values, "it comes back as it went");
        assert!(device.get(buffer, n) == values, "and again");
        let mut tail = vec![0; 8];
        device.read(buffer, 4 * n as u64 - 8, &mut tail).expect("it is there");
        assert_eq!(floats(&tail), values[n - 2..]);
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
        // The place of the freed buffer goes to another, the id does not.
        let c = device.zeros(100_000);
        assert_eq!(device.write(a, 0, &[1]), Err(unknown.clone()));
        assert_eq!(device.submit(QueueId(0), &commands, &[]), Err(unknown));
        assert_eq!(device.get(c, 10), [0.0; 10]);
    });
}

#[test]
fn ids_that_nobody_gave_are_refused() {
    on_every_device(|device| {
        let unknown = |kind| DeviceError::UnknownId { kind };
        let a = device.zeros(4);
        let kernel = device.module("increment");
        let run = |command| device.submit(QueueId(0), &Commands::new(vec![command]), &[]).map(drop);
        let nobody = BufferId(77);
        assert_eq!(device.read(nobody, 0, &mut []), Err(unknown("buffer")));
        assert_eq!(run(copy(nobody, 0, a, 0, 4)), Err(unknown("buffer")));
        assert_eq!(run(dispatch(kernel, &[(nobody, BOTH)], 1)), Err(unknown("buffer")));
        assert_eq!(run(dispatch(PipelineId(77), &[(a, BOTH)], 1)), Err(unknown("pipeline")));
        assert!(device.interface(PipelineId(77)).is_err());
        assert_eq!(device.submit(QueueId(7), &Commands::new(vec![]), &[]).map(drop), Err(unknown("queue")));
        let ticket = Ticket { queue: 0, value: 1 << 40 };
        assert_eq!(device.wait(ticket, None), Err(unknown("ticket")));
        assert_eq!(
            device.submit(QueueId(0), &Commands::new(vec![]), &[ticket]).map(drop),
            Err(unknown("ticket"))
        );
        device.free(nobody);
        assert!(device.host_memory(nobody).is_none());
        assert!(device.alloc(0, MemoryUsage::Device).is_err());
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

fn scale(
    device: &Rc<dyn Device>,
    a: BufferId,
    kernel: PipelineId,
    factor: f32,
    n: u32,
    groups: u32,
) -> Command {
    let interface = device.interface(kernel).expect("it is loaded");
    assert_eq!(interface.push_constants.as_ref().map(|block| block.size), Some(8));
    Command::Dispatch(Dispatch {
        pipeline: kernel,
        bindings: vec![Binding { set: 0, binding: 0, buffer: a, offset: 0, size: 32, access: BOTH }],
        samplers: Vec::new(),
        push_constants: [factor.to_le_bytes(), n.to_le_bytes()].concat(),
        addressed: Vec::new(),
        groups: [groups, 1, 1],
    })
}

#[test]
fn push_constants_and_specialisation() {
    on_every_device(|device| {
        let words = module("scale");
        let a = device.floats(&[1.0; 8]);
        let plain = device.load(&words, &PipelineOptions::default()).expect("it loads");
        let options = PipelineOptions {
            spec_constants: vec![(0, 2), (7, u64::from(0.5_f32.to_bits()))],
            ..PipelineOptions::default()
        };
        let special = device.load(&words, &options).expect("it loads");
        assert_ne!(plain, special);
        assert_eq!(device.load(&words, &options), Ok(special), "the same again is the same pipeline");
        assert_eq!(device.interface(special).expect("it is loaded").local_size, [2, 1, 1]);
        device.run(vec![scale(device, a, plain, 3.0, 5, 2)]);
        assert_eq!(device.get(a, 8), [3.0, 3.0, 3.0, 3.0, 3.0, 1.0, 1.0, 1.0]);
        device.run(vec![scale(device, a, special, 2.0, 8, 3)]);
        assert_eq!(device.get(a, 8), [6.5, 6.5, 6.5, 6.5, 6.5, 2.5, 1.0, 1.0]);
        device.run(vec![scale(device, a, plain, 9.0, 8, 0)]);
        assert_eq!(device.get(a, 8)[7], 1.0, "no groups are nothing to do");
    });
}

#[test]
fn the_size_of_subgroups_is_chosen_among_those_that_there_are() {
    on_every_device(|device| {
        let words = module("multiply");
        let sized = |size| PipelineOptions { subgroup_size: Some(size), ..PipelineOptions::default() };
        let own = device.info().limits.subgroup_size;
        device.load(&words, &sized(own)).expect("the device's own size is there");
        let error = device.load(&words, &sized(3)).expect_err("no device has subgroups of 3").to_string();
        assert!(error.starts_with("subgroups of 3 invocations were asked for"), "{error}");
    });
}

#[test]
fn several_sets_and_a_uniform_buffer() {
    on_every_device(|device| {
        let settings = device.floats(&[0.5, 10.0]);
        let table = device.floats(&[1.0, 2.0, 3.0, 4.0]);
        let total = device.alloc(16, MemoryUsage::Device).expect("there is memory");
        let kernel = device.module("wide");
        let bind =
            |set, binding, buffer, size, access| Binding { set, binding, buffer, offset: 0, size, access };
        let command = Command::Dispatch(Dispatch {
            pipeline: kernel,
            bindings: vec![
                bind(1, 1, total, 16, WRITE),
                bind(0, 3, settings, 8, READ),
                bind(1, 0, table, 16, READ),
                // What the module does not have may be bound all the same.
                bind(4, 4, table, 16, READ),
            ],
            samplers: Vec::new(),
            push_constants: Vec::new(),
            addressed: Vec::new(),
            groups: [1, 1, 1],
        });
        device.run(vec![command; 3]);
        let mut bytes = [0; 8];
        device.read(total, 0, &mut bytes).expect("it is there");
        assert_eq!(f64::from_le_bytes(bytes), 5.0);
    });
}

#[test]
fn waiting_asks_or_gives_up_or_ends() {
    on_every_device(|device| {
        let kernel = device.module("increment");
        let a = device.zeros(60_000);
        let long = device.run(vec![dispatch(kernel, &[(a, BOTH)], 60_000); 200]);
        let asked = device.wait(long, Some(Duration::ZERO)).expect("asking is no error");
        assert!(matches!(asked, Waited::Done | Waited::TimedOut));
        assert!(device.wait(long, Some(Duration::from_micros(10))).is_ok());
        assert_eq!(device.wait(long, Some(Duration::from_secs(600))), Ok(Waited::Done));
        assert_eq!(device.wait(long, Some(Duration::ZERO)), Ok(Waited::Done));
        assert_eq!(device.get(a, 2), [200.0; 2]);
    });
}

#[test]
fn timestamps_count_up() {
    on_every_device(|device| {
        if device.info().limits.timestamp_period.is_none() {
            return;
        }
        let kernel = device.module("increment");
        let a = device.zeros(1000);
        let commands = Commands::new(vec![
            Command::Timestamp,
            dispatch(kernel, &[(a, BOTH)], 1000),
            Command::Timestamp,
            Command::Timestamp,
        ]);
        let tickets: Vec<Ticket> =
            (0..5).map(|_| device.submit(QueueId(0), &commands, &[]).expect("it runs")).collect();
        let last = device.submit(QueueId(0), &commands, &[]).expect("it runs");
        device.done(last);
        let again = device.submit(QueueId(0), &commands, &[]).expect("it runs");
        device.done(again);
        let mut all = Vec::new();
        for ticket in tickets.into_iter().chain([last, again]) {
            let times = device.timestamps(ticket).expect("it has ended");
            assert_eq!(times.len(), 3);
            all.extend(times);
        }
        assert!(all.is_sorted(), "{all:?}");
        let none = device.run(vec![dispatch(kernel, &[(a, BOTH)], 1000)]);
        device.done(none);
        assert_eq!(device.timestamps(none), Ok(Vec::new()));
    });
}

#[test]
fn a_missing_feature_is_named_with_the_line_that_needs_it() {
    on_every_device(|device| {
        let loaded = device.load(&module("brain_float"), &PipelineOptions::default());
        if device.info().features.contains(&Feature::Bfloat16) {
            assert!(loaded.is_ok(), "{loaded:?}");
            return;
        }
        if device.info().backend == Backend::Cpu {
            assert!(matches!(loaded, Err(DeviceError::BadModule { .. })), "{loaded:?}");
            return;
        }
        let line = SourceLine { file: "round.kps".to_owned(), line: 7, column: 12 };
        let expect = DeviceError::MissingFeature {
            feature: Feature::Bfloat16,
            device: device.info().name.clone(),
            line: Some(line),
        };
        assert_eq!(loaded, Err(expect));
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
fn two_variables_may_stand_for_one_buffer() {
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

/// Whether the work is cut short is the device's affair; that it goes on working is ours.
#[test]
fn a_raised_flag_ends_waiting() {
    on_every_device(|device| {
        let kernel = device.module("increment");
        let (a, b) = (device.zeros(60_000), device.floats(&[1.0]));
        let flag = device.interrupt_flag();
        let long = device.run(vec![dispatch(kernel, &[(a, BOTH)], 60_000); 500]);
        flag.store(true, Ordering::Relaxed);
        let waited = device.wait(long, None);
        assert!(matches!(waited, Ok(Waited::Done) | Err(DeviceError::Interrupted { .. })), "{waited:?}");
        flag.store(false, Ordering::Relaxed);
        device.run(vec![dispatch(kernel, &[(b, BOTH)], 1)]);
        assert_eq!(device.get(b, 1), [2.0]);
    });
}

#[test]
fn extensions_that_a_device_lacks_are_warned_of() {
    let extensions = vec!["VK_EXT_of_nobody".to_owned(), "VK_KHR_maintenance1".to_owned()];
    let options = OpenOptions { extensions, ..OpenOptions::default() };
    on_every_device_opened(&options, |opened| {
        let lacking: Vec<_> = opened.warnings.iter().filter(|w| w.contains("`VK_EXT_of_nobody`")).collect();
        assert_eq!(lacking.len(), usize::from(opened.device.info().backend == Backend::Vulkan));
    });
}

/// A device with one queue stands in for the others with it.
#[test]
fn two_queues_wait_for_one_another() {
    let options = OpenOptions { queue_families: vec![0, 0], ..OpenOptions::default() };
    on_every_device_opened(&options, |opened| {
        let device = opened.device;
        assert_eq!(opened.warnings, Vec::<String>::new());
        if device.info().queues.len() < 2 {
            return;
        }
        let kernel = device.module("increment");
        let a = device.zeros(1000);
        let commands = Commands::new(vec![dispatch(kernel, &[(a, BOTH)], 1000)]);
        let mut last = Vec::new();
        for round in 0..20 {
            let ticket = device.submit(QueueId(round % 2), &commands, &last).expect("it runs");
            assert_eq!(ticket.queue, round % 2);
            last = vec![ticket];
        }
        assert_eq!(device.get(a, 1000), [20.0; 1000]);
        device.write(a, 0, &bytes(&[0.0; 1000])).expect("it fits");
        device.submit(QueueId(1), &commands, &[]).expect("it runs");
        assert_eq!(device.get(a, 1000), [1.0; 1000]);
    });
}

#[test]
fn queue_families_that_are_not_there_fall_back() {
    let options = OpenOptions { queue_families: vec![99], ..OpenOptions::default() };
    on_every_device_opened(&options, |opened| {
        let [warning] = &opened.warnings[..] else { panic!("one warning, not {:?}", opened.warnings) };
        assert!(warning.starts_with("queue family 99 is not there: "), "{warning}");
        let a = opened.device.floats(&[1.0]);
        let kernel = opened.device.module("increment");
        opened.device.run(vec![dispatch(kernel, &[(a, BOTH)], 1)]);
        assert_eq!(opened.device.get(a, 1), [2.0]);
    });
}

/// What is said of a command that does not fit.
fn refused_command<T: std::fmt::Debug>(result: Result<T, DeviceError>) -> String {
    match result {
        Err(DeviceError::BadCommand { message }) => message,
        other => panic!("{other:?} is no refusal of a command"),
    }
}

#[test]
fn modules_that_are_none_are_refused() {
    on_every_device(|device| {
        let refused = |words: &[u32], options: &PipelineOptions| match device.load(words, options) {
            Err(DeviceError::BadModule { message, .. }) => message,
            other => panic!("{other:?} is no refusal of a module"),
        };
        let plain = PipelineOptions::default();
        let mut cut = module("multiply");
        cut.truncate(40);
        for words in [&[][..], &[1, 2, 3], &cut] {
            assert!(refused(words, &plain).contains("SPIR-V"), "{words:?}");
        }
        let start = PipelineOptions { entry_point: "start".to_owned(), ..PipelineOptions::default() };
        assert!(refused(&module("multiply"), &start).contains("`start`"));
        let mut wrong = module("multiply");
        let last = wrong.len() - 1;
        // Nothing returns, and the function never ends.
        wrong.truncate(last - 1);
        assert!(refused(&wrong, &plain).contains("SPIR-V"));
    });
}

/// Words that were changed here and there: loaded or refused, whatever they are by then.
#[test]
fn damaged_modules_do_no_harm() {
    let good = module("increment");
    on_every_device(|device| {
        let mut state = 1_u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut n_refused = 0;
        for _ in 0..300 {
            let mut words = good.clone();
            let at = 5 + random(good.len() - 5);
            words[at] = if random(2) == 0 { good[random(good.len())] } else { words[at] ^ 1 << random(32) };
            n_refused += usize::from(device.load(&words, &PipelineOptions::default()).is_err());
        }
        assert!((150..300).contains(&n_refused), "{n_refused} of 300 were refused");
    });
}

#[test]
fn commands_that_do_not_fit_are_refused() {
    on_every_device(|device| {
        let (kernel, scaling) = (device.module("multiply"), device.module("scale"));
        let a = device.floats(&[1.0, 2.0, 3.0, 4.0]);
        let refuse = |command| refused_command(device.submit(QueueId(0), &Commands::new(vec![command]), &[]));
        let unbound = refuse(dispatch(kernel, &[(a, READ), (a, READ)], 4));
        assert!(unbound.contains("set 0 binding 2"), "{unbound}");
        let beyond = refuse(dispatch(kernel, &[(a, READ), (a, READ), (a, WRITE)], 5));
        assert!(beyond.contains("16 bytes"), "{beyond}");
        let unpushed = refuse(dispatch(scaling, &[(a, BOTH)], 4));
        assert!(unpushed.contains("push constants") && unpushed.contains('8'), "{unpushed}");
        assert!(refuse(copy(a, 0, a, 4, 8)).contains("overlaps itself"));
        assert!(refuse(copy(a, 8, a, 0, 12)).contains("16 bytes"));
        assert_eq!(device.get(a, 4), [1.0, 2.0, 3.0, 4.0]);
    });
}

#[test]
fn limits_are_checked_before_anything_runs() {
    on_every_device(|device| {
        let limits = device.info().limits;
        let a = device.floats(&[1.0]);
        let kernel = device.module("increment");
        let Command::Dispatch(mut huge) = dispatch(kernel, &[(a, BOTH)], 1) else { unreachable!() };
        if limits.max_groups[1] < u32::MAX {
            huge.groups = [1, limits.max_groups[1] + 1, 1];
            let refused = device.submit(QueueId(0), &Commands::new(vec![Command::Dispatch(huge)]), &[]);
            let expect = (u64::from(limits.max_groups[1]) + 1, u64::from(limits.max_groups[1]));
            match refused {
                Err(DeviceError::LimitExceeded { asked, limit, .. }) => assert_eq!((asked, limit), expect),
                other => panic!("{other:?} is no refusal of too many groups"),
            }
        }
        let wide = PipelineOptions {
            spec_constants: vec![(0, u64::from(limits.max_local_size[0]) + 1)],
            ..PipelineOptions::default()
        };
        let refused = device.load(&module("scale"), &wide);
        assert!(matches!(refused, Err(DeviceError::LimitExceeded { .. })), "{refused:?}");
        let sharing = |n_cells: u32| PipelineOptions {
            spec_constants: vec![(1, n_cells.into())],
            ..PipelineOptions::default()
        };
        let shared = module("shared");
        assert!(device.load(&shared, &sharing(limits.max_shared / 4)).is_ok());
        let refused = device.load(&shared, &sharing(limits.max_shared / 4 + 1));
        let expected =
            matches!(refused, Err(DeviceError::LimitExceeded { .. } | DeviceError::BadModule { .. }));
        assert!(expected, "{refused:?}");
        for size in [limits.max_allocation.saturating_add(1), u64::MAX] {
            let refused = device.alloc(size, MemoryUsage::Device);
            let expected =
                matches!(refused, Err(DeviceError::LimitExceeded { .. } | DeviceError::OutOfMemory { .. }));
            assert!(expected, "{refused:?}");
        }
    });
}
