//! Order of commands and dependences between them; waits, timestamps and queues.

use std::sync::atomic::Ordering;
use std::time::Duration;

use kps_device::{
    Binding, Command, Commands, DeviceError, Dispatch, MemoryUsage, OpenOptions, PipelineOptions, QueueId,
    Ticket, Waited,
};

use super::common::devices::{Shorthand, bytes, dispatch, on_every_device, on_every_device_opened};
use super::common::module;
use super::{BOTH, READ, WRITE, scale};

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
        let stored = device.zeros(4);
        for _ in 0..300 {
            let passing = device.zeros(4);
            device.run(vec![dispatch(kernel, &[(passing, BOTH)], 4), dispatch(kernel, &[(stored, BOTH)], 4)]);
            device.free(passing);
        }
        assert_eq!(device.get(stored, 4), [300.0; 4]);
    });
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
                // Bindings that the module lacks are ignored.
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

/// Whether the work is stopped is up to the device. kps must keep working afterwards.
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

/// A device with one queue uses it in place of the others.
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

#[test]
fn a_pipeline_is_there_until_every_load_was_given_back() {
    on_every_device(|device| {
        let (first, second) = (device.module("increment"), device.module("increment"));
        assert_eq!(first, second);
        let a = device.floats(&[1.0, 2.0]);
        let again = Commands::new(vec![dispatch(first, &[(a, BOTH)], 2)]);
        let submit = |commands: &Commands| device.submit(QueueId(0), commands, &[]);
        device.unload(first);
        submit(&again).map(|ticket| device.done(ticket)).expect("it was loaded twice");
        assert_eq!(device.get(a, 2), [2.0, 3.0]);
        // Running work is not affected.
        let running = submit(&again).expect("it is still loaded");
        device.unload(first);
        device.done(running);
        assert_eq!(device.get(a, 2), [3.0, 4.0]);
        assert_eq!(device.interface(first).map(drop), Err(DeviceError::UnknownId { kind: "pipeline" }));
        let others = Commands::new(vec![dispatch(first, &[(a, BOTH)], 2)]);
        assert_eq!(submit(&others).map(drop), Err(DeviceError::UnknownId { kind: "pipeline" }));
        device.unload(first);
        let anew = device.module("increment");
        assert_ne!(anew, first);
        device.done(device.run(vec![dispatch(anew, &[(a, BOTH)], 2)]));
        assert_eq!(device.get(a, 2), [4.0, 5.0]);
    });
}

/// Alternates kernels, buffers and push constants: each binds what the last one did not.
#[test]
fn single_launches_bind_what_they_name() {
    on_every_device(|device| {
        let (increment, scaled) = (device.module("increment"), device.module("scale"));
        let buffers = [device.floats(&[1.0; 8]), device.floats(&[2.0; 8])];
        let once = |command| device.submit(QueueId(0), &Commands::once(vec![command]), &[]);
        let mut last = Ticket::default();
        for factor in [2.0, 2.0, 3.0] {
            for buffer in buffers {
                once(dispatch(increment, &[(buffer, BOTH)], 8)).expect("it is good");
                once(scale(device, buffer, scaled, factor, 8, 2)).expect("it is good");
                last = once(scale(device, buffer, scaled, factor, 8, 2)).expect("it is good");
            }
        }
        device.done(last);
        let expect =
            |first: f32| [2.0, 2.0, 3.0].iter().fold(first, |value, factor| (value + 1.0) * factor * factor);
        assert_eq!(device.get(buffers[0], 1), [expect(1.0)]);
        assert_eq!(device.get(buffers[1], 1), [expect(2.0)]);
    });
}

#[test]
fn a_list_changes_between_its_submissions() {
    on_every_device(|device| {
        let kernel = device.module("increment");
        let (a, b) = (device.zeros(8), device.zeros(8));
        for make in [Commands::once, Commands::new] {
            let mut commands = make(vec![dispatch(kernel, &[(a, BOTH)], 8)]);
            let first = device.submit(QueueId(0), &commands, &[]).expect("it is good");
            device.done(first);
            let changed = match commands.get_mut() {
                Some(list) => {
                    let Command::Dispatch(dispatch) = &mut list[0] else { unreachable!("it is one") };
                    dispatch.bindings[0].buffer = b;
                    commands
                }
                // A device that remembers the list is in the way.
                None => make(vec![dispatch(kernel, &[(b, BOTH)], 8)]),
            };
            device.submit(QueueId(0), &changed, &[]).expect("it is good");
        }
        assert_eq!(device.get(a, 8), [2.0; 8]);
        assert_eq!(device.get(b, 8), [2.0; 8]);
    });
}

#[test]
fn a_list_over_a_freed_buffer_is_refused_when_it_runs_again() {
    on_every_device(|device| {
        let kernel = device.module("increment");
        let (a, freed) = (device.zeros(8), device.zeros(8));
        let both = vec![dispatch(kernel, &[(a, BOTH)], 8), dispatch(kernel, &[(freed, BOTH)], 8)];
        let commands = Commands::new(both);
        for _ in 0..2 {
            device.submit(QueueId(0), &commands, &[]).expect("the buffers are there");
        }
        device.free(freed);
        let _new = device.zeros(8);
        let refused = device.submit(QueueId(0), &commands, &[]);
        assert_eq!(refused, Err(DeviceError::UnknownId { kind: "buffer" }));
        assert_eq!(device.get(a, 8), [2.0; 8]);
    });
}

#[test]
fn collected_commands_start_when_they_are_old() {
    on_every_device(|device| {
        let (kernel, a) = (device.module("increment"), device.zeros(8));
        let launch = || {
            let commands = Commands::once(vec![dispatch(kernel, &[(a, BOTH)], 8)]);
            device.submit(QueueId(0), &commands, &[]).expect("it is good")
        };
        let day = Duration::from_secs(86400);
        launch();
        let last = launch();
        // The first launch started at once. A device that collects has the second one.
        assert_eq!(device.start_older(day), device.info().capabilities.collects_submissions);
        assert!(!device.start_older(Duration::ZERO), "everything has started");
        assert!(!device.start_older(day), "and nothing is left");
        device.done(last);
        assert_eq!(device.get(a, 8), [2.0; 8]);
    });
}
