//! Queues: who runs a submission, and in which order.

use std::sync::atomic::Ordering;
use std::time::Duration;

use kps_device::{BufferId, Command, Commands, DeviceError, Dispatch, MemoryUsage, QueueId, Ticket, Waited};

use super::assembly::kernel;
use super::bench::Bench;

const INCREMENT: &str = "%at0 = OpAccessChain %p0 %b0 %n0 %i\n%x = OpLoad %u32 %at0\n%y = OpIAdd %u32 %x %n1\n\
                         OpStore %at0 %y";

/// Never ends, at line 12 of `spin.kps`.
const FOREVER: &str = "OpBranch %h\n%h = OpLabel\nOpLoopMerge %m %c None\nOpBranch %c\n\
                       %c = OpLabel\nOpLine %file 12 5\nOpBranchConditional %true %h %m\n%m = OpLabel";

fn forever(bench: &Bench, buffer: BufferId) -> Command {
    let words = kernel(&[("u32", 4)], "%file = OpString \"spin.kps\"", FOREVER);
    Command::Dispatch(bench.dispatch(&words, &[buffer], &[], [1, 1, 1]))
}

/// Long enough to be handed to a queue's thread: `times` large dispatches that increment every element.
fn long(bench: &Bench, buffer: BufferId, n: usize, times: usize) -> Vec<Command> {
    let words = kernel(&[("u32", 4)], "", INCREMENT);
    let dispatch = bench.dispatch(&words, &[buffer], &[], [n as u32 / 4, 1, 1]);
    vec![Command::Dispatch(dispatch); times]
}

fn copy(from: BufferId, to: BufferId, size: u64) -> Command {
    Command::Copy { from, from_offset: 0, to, to_offset: 0, size }
}

fn submit(bench: &Bench, queue: u32, commands: Vec<Command>, after: &[Ticket]) -> Ticket {
    bench.device.submit(QueueId(queue), &Commands::new(commands), after).expect("the commands are good")
}

fn interrupt(bench: &Bench, ticket: Ticket) -> Result<Waited, DeviceError> {
    let flag = bench.device.interrupt_flag();
    let raiser = std::thread::spawn({
        let flag = flag.clone();
        move || {
            std::thread::sleep(Duration::from_millis(20));
            flag.store(true, Ordering::Relaxed);
        }
    });
    let waited = bench.device.wait(ticket, None);
    raiser.join().expect("it only sleeps");
    flag.store(false, Ordering::Relaxed);
    waited
}

#[test]
fn submit_returns_while_a_kernel_runs_and_other_queues_go_on() {
    let bench = Bench::new();
    assert!(bench.device.info().queues.len() >= 2);
    let (spun, a, b) = (bench.buffer(&[0u32; 4]), bench.buffer(&[7u32; 4]), bench.buffer(&[0u32; 4]));
    let endless = submit(&bench, 0, vec![forever(&bench, spun)], &[]);
    assert_eq!(bench.device.wait(endless, Some(Duration::ZERO)), Ok(Waited::TimedOut));
    assert_eq!(bench.device.wait(endless, Some(Duration::from_millis(5))), Ok(Waited::TimedOut));
    // Another queue, and host accesses to other buffers.
    let beside = submit(&bench, 1, vec![copy(a, b, 16)], &[]);
    assert_eq!(bench.device.wait(beside, None), Ok(Waited::Done));
    assert_eq!(bench.read::<u32>(b), [7; 4]);
    // What comes behind it on its queue, and what names its buffer, has to wait.
    let behind = submit(&bench, 0, vec![copy(a, b, 16)], &[]);
    let user = submit(&bench, 2, vec![copy(spun, b, 16)], &[]);
    let follower = submit(&bench, 3, vec![Command::Timestamp], &[behind]);
    for waiting in [behind, user, follower] {
        assert_eq!(bench.device.wait(waiting, Some(Duration::ZERO)), Ok(Waited::TimedOut));
    }
    assert!(matches!(bench.device.timestamps(follower), Err(DeviceError::BadCommand { .. })));
    let Err(DeviceError::Interrupted { line: Some(line) }) = interrupt(&bench, endless) else {
        panic!("it was interrupted at its line")
    };
    assert_eq!((line.file.as_str(), line.line), ("spin.kps", 12));
    // The error is that of its submission, however often one asks.
    assert!(bench.device.wait(endless, Some(Duration::ZERO)).is_err());
    for waiting in [behind, user, follower] {
        let waited = bench.device.wait(waiting, None);
        assert!(matches!(waited, Ok(Waited::Done) | Err(DeviceError::Interrupted { .. })), "{waited:?}");
    }
}

#[test]
fn submissions_of_all_queues_follow_buffers_and_tickets() {
    let bench = Bench::new();
    let n = 1 << 16;
    let (a, b) = (bench.buffer(&vec![0u32; n]), bench.buffer(&vec![0u32; n]));
    let mut last = Vec::new();
    for round in 0..40 {
        let mut commands = long(&bench, a, n, 3);
        commands.push(copy(a, b, 4 * n as u64));
        last = vec![submit(&bench, round % 4, commands, if round % 3 == 0 { &last } else { &[] })];
    }
    // Reading waits by itself.
    assert!(bench.read::<u32>(b).iter().all(|&x| x == 120));
    assert!(bench.read::<u32>(a).iter().all(|&x| x == 120));
    // So does writing, for readers too.
    submit(&bench, 1, long(&bench, a, n, 20), &[]);
    submit(&bench, 2, vec![copy(a, b, 4 * n as u64)], &[]);
    bench.device.write(a, 0, &[0; 4]).expect("it fits");
    assert_eq!((bench.read::<u32>(a)[0], bench.read::<u32>(b)[0]), (0, 140));
}

#[test]
fn a_queue_takes_any_number_of_submissions() {
    let bench = Bench::new();
    let n = 1 << 15;
    let (a, b) = (bench.buffer(&vec![0u32; n]), bench.buffer(&[0u32; 4]));
    let first = submit(&bench, 0, long(&bench, a, n, 10), &[]);
    let small = vec![Command::Dispatch(increments(&bench, b))];
    let mut last = first;
    for _ in 0..3000 {
        last = submit(&bench, 0, small.clone(), &[]);
    }
    assert_eq!(bench.device.wait(last, None), Ok(Waited::Done));
    assert_eq!((bench.read::<u32>(b)[3], bench.read::<u32>(a)[n - 1]), (3000, 10));
    assert_eq!(bench.device.wait(first, Some(Duration::ZERO)), Ok(Waited::Done));
}

fn increments(bench: &Bench, buffer: BufferId) -> Dispatch {
    bench.dispatch(&kernel(&[("u32", 4)], "", INCREMENT), &[buffer], &[], [1, 1, 1])
}

#[test]
fn freed_memory_and_unloaded_modules_last_until_their_submissions_have_ended() {
    let bench = Bench::new();
    let n = 1 << 16;
    let (a, b) = (bench.buffer(&vec![1u32; n]), bench.buffer(&vec![0u32; n]));
    let mut commands = long(&bench, a, n, 30);
    let Command::Dispatch(Dispatch { pipeline, .. }) = commands[0].clone() else { unreachable!() };
    commands.push(copy(a, b, 4 * n as u64));
    let ticket = submit(&bench, 1, commands, &[]);
    bench.device.free(a);
    bench.device.unload(pipeline);
    // Fresh memory is zero, wherever it is.
    let fresh = bench.device.alloc(4 * n as u64, MemoryUsage::Device).expect("there is memory");
    assert!(bench.read::<u32>(fresh).iter().all(|&x| x == 0));
    assert_eq!(bench.device.wait(ticket, None), Ok(Waited::Done));
    assert!(bench.read::<u32>(b).iter().all(|&x| x == 31));
    assert!(bench.read::<u32>(fresh).iter().all(|&x| x == 0));
}

#[test]
fn a_device_that_is_dropped_ends_what_it_runs() {
    let bench = Bench::new();
    let (a, b) = (bench.buffer(&[0u32; 4]), bench.buffer(&[0u32; 4]));
    for queue in 0..4 {
        submit(&bench, queue, vec![forever(&bench, if queue < 2 { a } else { b })], &[]);
    }
    drop(bench);
}

#[test]
fn timestamps_of_all_queues_have_one_clock() {
    let bench = Bench::new();
    let n = 1 << 16;
    let a = bench.buffer(&vec![0u32; n]);
    let mut commands = long(&bench, a, n, 5);
    commands.insert(0, Command::Timestamp);
    commands.push(Command::Timestamp);
    let first = submit(&bench, 0, commands.clone(), &[]);
    let second = submit(&bench, 1, commands, &[]);
    assert_eq!(bench.device.wait(second, None), Ok(Waited::Done));
    let times: Vec<u64> = [first, second]
        .iter()
        .flat_map(|ticket| bench.device.timestamps(*ticket).expect("it ended"))
        .collect();
    assert!(times.len() == 4 && times.is_sorted(), "{times:?}");
}
