//! Commands, ids, timestamps, interrupts.

use std::sync::atomic::Ordering;
use std::time::Duration;

use kps_device::{Command, Commands, DeviceError, MemoryUsage, PipelineOptions, QueueId, Ticket, Waited};

use super::assembly::kernel;
use super::bench::Bench;
use super::common;

const INCREMENT: &str = "%at0 = OpAccessChain %p0 %b0 %n0 %i\n%x = OpLoad %u32 %at0\n%y = OpIAdd %u32 %x %n1\n\
                         OpStore %at0 %y";

#[test]
fn dispatches_that_depend_on_each_other_run_in_order() {
    let bench = Bench::new();
    let buffer = bench.buffer(&[0u32; 4]);
    let words = kernel(&[("u32", 4)], "", INCREMENT);
    let dispatch = Command::Dispatch(bench.dispatch(&words, &[buffer], &[], [1, 1, 1]));
    bench.submit(vec![dispatch.clone(), dispatch.clone(), dispatch.clone()]).expect("it runs");
    assert_eq!(bench.read::<u32>(buffer), [3; 4]);
    bench.submit(vec![dispatch; 100]).expect("it runs");
    assert_eq!(bench.read::<u32>(buffer), [103; 4]);
}

#[test]
fn a_large_dispatch_reaches_every_element_once() {
    let bench = Bench::new();
    let n = 1 << 20;
    let buffer = bench.buffer(&vec![5u32; n]);
    let words = kernel(&[("u32", 4)], "", INCREMENT);
    for _ in 0..3 {
        bench.run(&words, &[buffer], &[], [n as u32 / 4, 1, 1]);
    }
    assert!(bench.read::<u32>(buffer).iter().all(|&x| x == 8));
}

/// In its own process, where no other test starts threads.
#[cfg(target_os = "linux")]
#[test]
fn threads_start_with_the_first_large_dispatch() {
    let own = std::env::current_exe().expect("a test is a program");
    let mut command = std::process::Command::new(own);
    let output = command.args(["--exact", "device::counts_threads", "--ignored"]).output();
    let output = output.expect("the program starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "`threads_start_with_the_first_large_dispatch` runs it alone"]
fn counts_threads() {
    let n_workers = || {
        let tasks = std::fs::read_dir("/proc/self/task").expect("Linux lists threads");
        let name = |task: std::io::Result<std::fs::DirEntry>| {
            std::fs::read_to_string(task.expect("it is still there").path().join("comm")).unwrap_or_default()
        };
        tasks.map(name).filter(|name| name.trim() == "kps-cpu").count()
    };
    let bench = Bench::new();
    let n = 1 << 20;
    let buffer = bench.buffer(&vec![5u32; n]);
    let words = kernel(&[("u32", 4)], "", INCREMENT);
    bench.run(&words, &[buffer], &[], [1, 1, 1]);
    assert_eq!(n_workers(), 0);
    let n_others = std::thread::available_parallelism().map_or(0, |n| n.get() - 1);
    for _ in 0..2 {
        bench.run(&words, &[buffer], &[], [n as u32 / 4, 1, 1]);
        // A thread that came too late to help may not have its name yet.
        let came = (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            n_workers() == n_others
        });
        assert!(came, "{} of {n_others} threads", n_workers());
    }
    bench.run(&words, &[buffer], &[], [1, 1, 1]);
    assert_eq!(bench.read::<u32>(buffer)[..5], [9, 9, 9, 9, 7]);
}

#[test]
fn groups_have_three_axes() {
    // out[x + 4 * (y + 3 * z)] = x + 100 * y + 10000 * z, through the ids of groups and lanes.
    let text = "
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %gid %wid %lid %idx %num
OpExecutionMode %main LocalSize 2 1 2
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %wid BuiltIn WorkgroupId
OpDecorate %lid BuiltIn LocalInvocationId
OpDecorate %idx BuiltIn LocalInvocationIndex
OpDecorate %num BuiltIn NumWorkgroups
OpDecorate %a ArrayStride 4
OpDecorate %s Block
OpMemberDecorate %s 0 Offset 0
OpDecorate %b DescriptorSet 0
OpDecorate %b Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%u = OpTypeInt 32 0
%v3 = OpTypeVector %u 3
%in = OpTypePointer Input %v3
%in_u = OpTypePointer Input %u
%gid = OpVariable %in Input
%wid = OpVariable %in Input
%lid = OpVariable %in Input
%num = OpVariable %in Input
%idx = OpVariable %in_u Input
%0 = OpConstant %u 0
%2 = OpConstant %u 2
%3 = OpConstant %u 3
%10 = OpConstant %u 10
%100 = OpConstant %u 100
%a = OpTypeRuntimeArray %u
%s = OpTypeStruct %a
%ps = OpTypePointer StorageBuffer %s
%pu = OpTypePointer StorageBuffer %u
%b = OpVariable %ps StorageBuffer
%main = OpFunction %void None %fn
%l = OpLabel
%g = OpLoad %v3 %gid
%w = OpLoad %v3 %wid
%k = OpLoad %v3 %lid
%n = OpLoad %v3 %num
%i = OpLoad %u %idx
%gx = OpCompositeExtract %u %g 0
%gy = OpCompositeExtract %u %g 1
%gz = OpCompositeExtract %u %g 2
%wx = OpCompositeExtract %u %w 0
%kx = OpCompositeExtract %u %k 0
%kz = OpCompositeExtract %u %k 2
%nx = OpCompositeExtract %u %n 0
%ny = OpCompositeExtract %u %n 1
%width = OpIMul %u %nx %2
%rows = OpIMul %u %gz %ny
%row = OpIAdd %u %rows %gy
%before = OpIMul %u %row %width
%at = OpIAdd %u %before %gx
%e = OpAccessChain %pu %b %0 %at
%i2 = OpIMul %u %kz %2
%i3 = OpIAdd %u %i2 %kx
%zero = OpISub %u %i %i3
%x2 = OpIMul %u %wx %2
%x = OpIAdd %u %x2 %kx
%y = OpIMul %u %gy %100
%xy = OpIAdd %u %x %y
%z1 = OpIMul %u %gz %100
%z = OpIMul %u %z1 %100
%xyz = OpIAdd %u %xy %z
%r = OpIAdd %u %xyz %zero
OpStore %e %r
OpReturn
OpFunctionEnd";
    let bench = Bench::new();
    let buffer = bench.buffer(&[0u32; 48]);
    bench.run(&common::assemble(text), &[buffer], &[], [2, 3, 2]);
    let expected: Vec<u32> =
        (0..4).flat_map(|z| (0..3).flat_map(move |y| (0..4).map(move |x| x + 100 * y + 10000 * z))).collect();
    assert_eq!(bench.read::<u32>(buffer), expected);
}

#[test]
fn no_groups_are_nothing_to_do() {
    let bench = Bench::new();
    let buffer = bench.buffer(&[0u32; 4]);
    bench.run(&kernel(&[("u32", 4)], "", INCREMENT), &[buffer], &[], [1, 0, 1]);
    assert_eq!(bench.read::<u32>(buffer), [0; 4]);
}

#[test]
fn copies_move_bytes_between_buffers_and_within() {
    let bench = Bench::new();
    let (a, b) = (bench.buffer(&[1u8, 2, 3, 4]), bench.buffer(&[0u8; 6]));
    let copy =
        |from, from_offset, to, to_offset, size| Command::Copy { from, from_offset, to, to_offset, size };
    bench.submit(vec![copy(a, 1, b, 2, 3), copy(b, 2, b, 0, 2)]).expect("it runs");
    assert_eq!(bench.read::<u8>(b), [2, 3, 2, 3, 4, 0]);
    for bad in [copy(a, 2, b, 0, 3), copy(a, u64::MAX, b, 0, 2), copy(b, 0, b, 1, 2)] {
        assert!(matches!(bench.submit(vec![bad]), Err(DeviceError::BadCommand { .. })));
    }
}

#[test]
fn unknown_ids_are_errors() {
    let bench = Bench::new();
    let unknown = |kind| DeviceError::UnknownId { kind };
    let buffer = bench.buffer(&[0u32; 4]);
    let dispatch = bench.dispatch(&kernel(&[("u32", 4)], "", INCREMENT), &[buffer], &[], [1, 1, 1]);
    bench.device.free(buffer);
    bench.device.free(buffer);
    assert_eq!(bench.device.read(buffer, 0, &mut [0]), Err(unknown("buffer")));
    assert_eq!(bench.submit(vec![Command::Dispatch(dispatch)]), Err(unknown("buffer")));
    assert!(bench.device.host_memory(buffer).is_none());
    let never = Ticket { queue: 0, value: 9 };
    assert_eq!(bench.device.wait(never, None), Err(unknown("ticket")));
    let nothing = Commands::new(Vec::new());
    assert_eq!(bench.device.submit(QueueId(4), &nothing, &[]), Err(unknown("queue")));
    let ticket = bench.device.submit(QueueId(0), &nothing, &[]).expect("nothing is fine");
    assert_eq!(bench.device.wait(ticket, Some(Duration::ZERO)), Ok(Waited::Done));
}

#[test]
fn memory_starts_as_zero_and_is_aligned() {
    let bench = Bench::new();
    for size in [1, 100, 1 << 20] {
        let buffer = bench.device.alloc(size, MemoryUsage::Host).expect("there is memory");
        let memory = bench.device.host_memory(buffer).expect("its memory is the host's");
        assert!(memory.ptr.addr().is_multiple_of(64) && memory.len as u64 == size);
        assert!(bench.read::<u8>(buffer).iter().all(|&byte| byte == 0));
    }
    assert!(matches!(
        bench.device.alloc(u64::MAX, MemoryUsage::Device),
        Err(DeviceError::OutOfMemory { .. })
    ));
    assert!(matches!(bench.device.alloc(0, MemoryUsage::Device), Err(DeviceError::BadCommand { .. })));
}

#[test]
fn incomplete_or_wrong_dispatches_are_errors() {
    let bench = Bench::new();
    let buffer = bench.buffer(&[0u32; 4]);
    let good = bench.dispatch(&kernel(&[("u32", 4)], "", INCREMENT), &[buffer], &[], [1, 1, 1]);
    let check = |change: fn(&mut kps_device::Dispatch), expected: &str| {
        let mut dispatch = good.clone();
        change(&mut dispatch);
        let error = bench.submit(vec![Command::Dispatch(dispatch)]).expect_err("it does not fit");
        assert_eq!(error.to_string(), expected);
    };
    check(|dispatch| dispatch.bindings.clear(), "nothing is bound at set 0 binding 0");
    check(|dispatch| dispatch.bindings[0].size = 17, "bytes 0 to 17 are outside of a buffer of 16 bytes");
    check(
        |dispatch| dispatch.bindings[0].offset = 2,
        "the offset of set 0 binding 0 is 2, it must be a multiple of 4",
    );
}

#[test]
fn modules_are_loaded_once() {
    let bench = Bench::new();
    let words = kernel(&[("u32", 4)], "", INCREMENT);
    let options = PipelineOptions::default();
    let first = bench.device.load(&words, &options).expect("it is taken");
    assert_eq!(bench.device.load(&words, &options), Ok(first));
    let interface = bench.device.interface(first).expect("it was loaded");
    assert_eq!((interface.local_size, interface.buffers.len()), ([4, 1, 1], 1));
    let missing = PipelineOptions { entry_point: "other".to_owned(), ..options };
    let error = bench.device.load(&words, &missing).expect_err("there is none");
    assert_eq!(error.to_string(), "entry point `other` not found; the module has: `main`");
}

#[test]
fn time_goes_on_between_timestamps() {
    let bench = Bench::new();
    let commands = Commands::new(vec![Command::Timestamp, Command::Timestamp]);
    let ticket = bench.device.submit(QueueId(0), &commands, &[]).expect("it runs");
    let times = bench.device.timestamps(ticket).expect("it has ended");
    assert!(times.len() == 2 && times[0] <= times[1]);
}

#[test]
fn a_kernel_that_never_ends_is_interrupted_at_its_line() {
    let body = "OpBranch %h\n%h = OpLabel\nOpLoopMerge %m %c None\nOpBranch %c\n\
                %c = OpLabel\nOpLine %file 12 5\nOpBranchConditional %true %h %m\n%m = OpLabel";
    let words = kernel(&[("u32", 4)], "%file = OpString \"spin.kps\"", body);
    let bench = Bench::new();
    let buffer = bench.buffer(&[0u32; 4]);
    let flag = bench.device.interrupt_flag();
    let raiser = std::thread::spawn({
        let flag = flag.clone();
        move || {
            std::thread::sleep(Duration::from_millis(30));
            flag.store(true, Ordering::Relaxed);
        }
    });
    let dispatch = bench.dispatch(&words, &[buffer], &[], [100, 1, 1]);
    let error = bench.submit(vec![Command::Dispatch(dispatch.clone())]).expect_err("it is interrupted");
    raiser.join().expect("it only sleeps");
    let DeviceError::Interrupted { line: Some(line) } = error else { panic!("{error:?}") };
    assert_eq!((line.file.as_str(), line.line, line.column), ("spin.kps", 12, 5));
    // While the flag is set nothing runs; afterwards everything does.
    assert!(bench.submit(vec![Command::Timestamp]).is_err());
    flag.store(false, Ordering::Relaxed);
    assert_eq!(bench.submit(vec![Command::Timestamp]), Ok(Waited::Done));
}
