//! Copies and submissions: as many as necessary, and none twice. A recording device observes them.

mod common;

use std::rc::Rc;
use std::time::Duration;

use common::kernels;
use common::recorder::{Recorder, lost};
use kps_compute::{ComputeError, DType, Extent, Log, Manager, MemoryType, Op, Push, Result, Tensor, tensor};

fn manager(recorder: &Rc<Recorder>) -> Manager {
    Manager::over(recorder.clone(), Log::default())
}

/// Runs `steps` on a device with separate memory, and compares its trace.
fn check(steps: impl FnOnce(&Manager, &Rc<Recorder>) -> Result<()>, expect: &[&str]) {
    let recorder = Recorder::separate();
    let manager = manager(&recorder);
    steps(&manager, &recorder).expect("the steps run");
    let is_work = |event: &String| !event.starts_with("free");
    let work: Vec<String> = recorder.trace().into_iter().filter(is_work).collect();
    assert_eq!(work, expect);
}

#[test]
fn a_tensor_costs_the_device_nothing_before_it_is_used_there() {
    check(
        |manager, _| {
            let tensor = manager.tensor(&[1.0f32, 2.0])?;
            tensor.set(0, 5)?;
            assert_eq!(tensor.to_vec::<f32>()?, [5.0, 2.0]);
            Ok(())
        },
        &[],
    );
}

#[test]
fn what_is_newer_moves_once_and_by_itself() {
    check(
        |manager, _| {
            let a = manager.tensor(&[1.0f32, 2.0])?;
            let algorithm = manager.algorithm(&[&a], &kernels::increment()).build()?;
            let sequence = manager.sequence().dispatch(&algorithm, Extent::Default);
            sequence.eval()?;
            assert_eq!(a.to_vec::<f32>()?, [2.0, 3.0]);
            assert_eq!(a.to_vec::<f32>()?, [2.0, 3.0]);
            sequence.eval()?;
            sequence.eval()?;
            assert_eq!(a.get(1)?, 5f32.into());
            Ok(())
        },
        &[
            "alloc 8",
            "write 0 at 0: 8 bytes",
            "submit dispatch [2, 1, 1]",
            "read 0 at 0: 8 bytes",
            "submit dispatch [2, 1, 1]",
            "submit dispatch [2, 1, 1]",
            "read 0 at 0: 8 bytes",
        ],
    );
}

#[test]
fn explicit_syncs_cost_nothing_twice() {
    check(
        |manager, _| {
            let a = manager.tensor(&[1.0f32])?;
            let algorithm = manager.algorithm(&[&a], &kernels::increment()).build()?;
            let sequence = manager.sequence().upload(&[&a]).dispatch(&algorithm, [1; 3]).download(&[&a]);
            sequence.eval()?;
            sequence.eval()?;
            let syncs = manager.sequence().upload(&[&a]).download(&[&a]);
            syncs.eval()?;
            assert_eq!(a.to_vec::<f32>()?, [3.0]);
            Ok(())
        },
        &[
            "alloc 4",
            "write 0 at 0: 4 bytes",
            "submit dispatch [1, 1, 1]",
            "read 0 at 0: 4 bytes",
            "submit dispatch [1, 1, 1]",
            "read 0 at 0: 4 bytes",
        ],
    );
}

#[test]
fn only_what_the_host_changed_goes_up_again() {
    check(
        |manager, _| {
            let a = manager.tensor(&[0.0f32; 100])?;
            let upload = manager.sequence().upload(&[&a]);
            upload.eval()?;
            a.set(7, 1)?;
            a.write_range(10, &[2.0f32, 3.0])?;
            upload.eval()
        },
        &["alloc 400", "write 0 at 0: 400 bytes", "write 0 at 28: 20 bytes"],
    );
}

#[test]
fn zeros_and_what_a_copy_overwrites_are_not_uploaded() {
    check(
        |manager, _| {
            let from = manager.tensor(&[1.0f32, 2.0])?;
            let to = manager.tensor(&[9.0f32, 9.0])?;
            let zeros = manager.adopt(Tensor::zeros(DType::F32, &[2])?)?;
            let sequence = manager.sequence().upload(&[&zeros]).copy(&from, &to);
            sequence.eval()?;
            assert_eq!(to.to_vec::<f32>()?, [1.0, 2.0]);
            Ok(())
        },
        &[
            "alloc 8",
            "alloc 8",
            "write 1 at 0: 8 bytes",
            "alloc 8",
            "submit copy 1 to 2",
            "read 2 at 0: 8 bytes",
        ],
    );
}

#[test]
fn a_recorded_list_is_made_into_commands_once() {
    let recorder = Recorder::separate();
    let manager = manager(&recorder);
    let a = manager.tensor(&[0.0f32]).expect("one element");
    let algorithm = manager.algorithm(&[&a], &kernels::increment()).build().expect("it fits");
    let mut sequence = manager.sequence();
    for _ in 0..100 {
        sequence = sequence.dispatch(&algorithm, Extent::Default);
    }
    for _ in 0..10 {
        sequence.eval().expect("it runs");
    }
    assert_eq!(recorder.n_translated(), 1);
    assert_eq!(a.to_vec::<f32>(), Ok(vec![1000.0]));
}

#[test]
fn a_prepared_launch_takes_other_tensors() {
    let recorder = Recorder::separate();
    let manager = manager(&recorder);
    let [a, b] = [0.0f32, 5.0].map(|element| manager.tensor(&[element]).expect("one element"));
    let kernel = manager.kernel(&kernels::increment(), &[]).expect("it loads");
    let like = std::slice::from_ref(&a);
    let launch = manager.prepare_launch(&kernel, like, &Extent::Domain(vec![1]), &[]).expect("it fits");
    for tensor in [&a, &b, &a] {
        let tensors = std::slice::from_ref(tensor);
        manager.start_launch(&launch, tensors, &Push::Default).expect("it runs");
    }
    assert_eq!([a, b].map(|tensor| tensor.to_vec::<f32>()), [Ok(vec![2.0]), Ok(vec![6.0])]);
}

#[test]
fn shared_memory_is_never_copied_by_the_device() {
    let recorder = Recorder::sharing();
    let manager = manager(&recorder);
    let a = manager.tensor(&[1.0f32, 2.0]).expect("two elements");
    let algorithm = manager.algorithm(&[&a], &kernels::increment()).build().expect("it fits");
    let sequence = manager.sequence().upload(&[&a]).dispatch(&algorithm, Extent::Default).download(&[&a]);
    sequence.eval().expect("it runs");
    a.set(0, 10).expect("in range");
    sequence.eval_async().expect("it runs");
    assert_eq!(a.to_vec::<f32>(), Ok(vec![11.0, 4.0]));
    assert_eq!(recorder.trace(), ["alloc 8", "submit dispatch [2, 1, 1]", "submit dispatch [2, 1, 1]"]);
}

#[test]
fn reading_waits_for_what_is_in_flight() {
    check(
        |manager, recorder| {
            let a = manager.tensor(&[1.0f32])?;
            let algorithm = manager.algorithm(&[&a], &kernels::increment()).build()?;
            let sequence = manager.sequence().dispatch(&algorithm, Extent::Default);
            recorder.stalls.set(true);
            sequence.eval_async()?;
            assert!(sequence.is_running());
            assert_eq!(sequence.eval_await(Some(Duration::from_millis(1))), Ok(false));
            assert!(sequence.is_running());
            assert_eq!(sequence.eval_async(), Err(ComputeError::Running { operation: "evaluate" }));
            assert_eq!(a.to_vec::<f32>()?, [2.0]);
            assert!(!sequence.is_running());
            assert_eq!(sequence.eval_await(None), Ok(true));
            Ok(())
        },
        &["alloc 4", "write 0 at 0: 4 bytes", "submit dispatch [1, 1, 1]", "read 0 at 0: 4 bytes"],
    );
}

#[test]
fn a_failure_is_reported_once() {
    check(
        |manager, recorder| {
            let a = manager.tensor(&[1.0f32])?;
            let algorithm = manager.algorithm(&[&a], &kernels::increment()).build()?;
            let sequence = manager.sequence().dispatch(&algorithm, [1; 3]);
            recorder.fails.set(true);
            sequence.eval_async()?;
            assert!(!sequence.is_running());
            assert_eq!(sequence.eval_await(None), Err(lost().into()));
            assert_eq!(a.to_vec::<f32>()?, [2.0]);
            Ok(())
        },
        &["alloc 4", "write 0 at 0: 4 bytes", "submit dispatch [1, 1, 1]", "read 0 at 0: 4 bytes"],
    );
}

#[test]
fn entered_streams_take_the_work_and_follow_events() {
    check(
        |manager, recorder| {
            let a = manager.tensor(&[1.0f32])?;
            let b = manager.tensor(&[1.0f32])?;
            let over_a = manager.algorithm(&[&a], &kernels::increment()).build()?;
            let over_b = manager.algorithm(&[&b], &kernels::increment()).build()?;
            let (one, other) = (manager.stream()?, manager.stream()?);
            manager.sequence().upload(&[&b, &a]).eval()?;
            recorder.stalls.set(true);
            let event = {
                let _entered = one.enter();
                manager.sequence().dispatch(&over_a, [1; 3]).eval_async()?;
                one.record()?
            };
            other.wait(&event)?;
            {
                let (_outer, _inner) = (one.enter(), other.enter());
                let twice = manager.sequence().dispatch(&over_b, [1; 3]);
                twice.eval_async()?;
                assert_eq!(other.sync(Some(Duration::ZERO)), Ok(false));
                assert_eq!((one.is_done(), event.is_done()), (Ok(false), Ok(false)));
                // An event is followed once. A queue that was chosen counts more than the stream.
                manager.sequence_on(0)?.dispatch(&over_b, [1; 3]).eval_async()?;
            }
            manager.sequence().copy(&a, &b).eval_async()?;
            assert_eq!(manager.sync(Some(Duration::ZERO)), Ok(false));
            recorder.stalls.set(false);
            assert_eq!(manager.sync(None), Ok(true));
            assert_eq!((one.is_done(), event.is_done(), other.sync(None)), (Ok(true), Ok(true), Ok(true)));
            assert_eq!((a.to_vec::<f32>()?, b.to_vec::<f32>()?), (vec![2.0], vec![2.0]));
            Ok(())
        },
        &[
            "alloc 4",
            "write 0 at 0: 4 bytes",
            "alloc 4",
            "write 1 at 0: 4 bytes",
            "submit dispatch [1, 1, 1]",
            "submit timestamp",
            "submit dispatch [1, 1, 1] after 1.2",
            "submit dispatch [1, 1, 1] after 1.3",
            "submit copy 1 to 0 after 1.1 after 0.1",
            "read 1 at 0: 4 bytes",
            "read 0 at 0: 4 bytes",
        ],
    );
}

#[test]
fn the_error_of_a_stream_is_returned_once() {
    let recorder = Recorder::separate();
    let manager = manager(&recorder);
    let a = manager.tensor(&[1.0f32]).expect("it has an element");
    let algorithm = manager.algorithm(&[&a], &kernels::increment()).build().expect("it fits");
    let stream = manager.stream().expect("the manager is alive");
    let _entered = stream.enter();
    manager.sequence().dispatch(&algorithm, [1; 3]).eval_async().expect("it starts");
    recorder.fails.set(true);
    assert_eq!(stream.sync(None), Err(lost().into()));
    assert_eq!((stream.sync(None), manager.sync(None)), (Ok(true), Ok(true)));
}

#[test]
fn queues_that_share_a_tensor_come_after_each_other() {
    check(
        |manager, recorder| {
            let a = manager.tensor(&[1.0f32])?;
            let b = manager.tensor(&[1.0f32])?;
            let increment = manager.algorithm(&[&a], &kernels::increment()).build()?;
            let one = manager.sequence_on(0)?.dispatch(&increment, [1; 3]);
            let other = manager.sequence_on(1)?.copy(&a, &b);
            let third = manager.sequence_on(0)?.dispatch(&increment, [1; 3]);
            one.upload(&[&b]).eval_async()?;
            recorder.stalls.set(true);
            other.eval_async()?;
            third.eval_async()?;
            recorder.release();
            assert_eq!((a.to_vec::<f32>()?, b.to_vec::<f32>()?), (vec![3.0], vec![2.0]));
            Ok(())
        },
        &[
            "alloc 4",
            "write 0 at 0: 4 bytes",
            "alloc 4",
            "write 1 at 0: 4 bytes",
            "submit dispatch [1, 1, 1]",
            "submit copy 0 to 1 after 0.1",
            "submit dispatch [1, 1, 1] after 0.1 after 1.1",
            "read 0 at 0: 4 bytes",
            "read 1 at 0: 4 bytes",
        ],
    );
}

#[test]
fn memory_is_freed_with_the_last_reference_and_by_destroy() {
    let recorder = Recorder::separate();
    let manager = manager(&recorder);
    let a = manager.tensor(&[1.0f32]).expect("one element");
    let b = manager.tensor(&[1.0f32]).expect("one element");
    let sequence = manager.sequence().upload(&[&a, &b]);
    sequence.eval().expect("it runs");
    drop(a);
    assert_eq!(recorder.n_buffers(), 2, "the sequence refers to it still");
    sequence.clear().expect("it is idle");
    assert_eq!(recorder.n_buffers(), 1);
    b.destroy();
    assert_eq!(recorder.n_buffers(), 0);
    let error = manager.sequence().upload(&[&b]).eval().expect_err("it was destroyed");
    assert_eq!(error.to_string(), "cannot upload tensor f32[1]: it was destroyed");
}

#[test]
fn destroying_in_flight_is_safe() {
    for recorder in [Recorder::separate(), Recorder::sharing()] {
        let manager = manager(&recorder);
        let a = manager.tensor(&[1.0f32]).expect("one element");
        let algorithm = manager.algorithm(&[&a], &kernels::increment()).build().expect("it fits");
        let sequence = manager.sequence().dispatch(&algorithm, [1; 3]).download(&[&a]);
        recorder.stalls.set(true);
        sequence.eval_async().expect("it runs");
        a.destroy();
        let error = sequence.eval_await(None).expect_err("the tensor was destroyed");
        assert_eq!(error.to_string(), "cannot download tensor f32[1]: it was destroyed");
        assert_eq!(
            a.bytes().map_err(|error| error.to_string()),
            Err("cannot read tensor f32[1]: it was destroyed".to_owned())
        );
    }
}

#[test]
fn a_manager_takes_everything_with_it() {
    let recorder = Recorder::sharing();
    let manager = manager(&recorder);
    let used = manager.tensor(&[1.0f32]).expect("one element");
    let unused = manager.tensor(&[1.0f32]).expect("one element");
    let loose = Tensor::from_slice(&[1.0f32]).expect("one element");
    let algorithm = manager.algorithm(&[&used], &kernels::increment()).build().expect("it fits");
    let sequence = manager.sequence().dispatch(&algorithm, [1; 3]);
    sequence.eval().expect("it runs");
    manager.destroy();
    manager.destroy();
    let states =
        [manager.is_init(), used.is_init(), unused.is_init(), algorithm.is_init(), sequence.is_init()];
    assert_eq!(states, [false; 5]);
    assert!(loose.is_init());
    assert_eq!(recorder.n_buffers(), 0);
    let error = sequence.eval().expect_err("it was destroyed");
    assert_eq!(error.to_string(), "cannot evaluate the sequence: it was destroyed");
    let error = manager.tensor(&[1.0f32]).expect_err("it was destroyed");
    assert_eq!(error.to_string(), "cannot make a tensor with the manager: it was destroyed");
}

#[test]
fn tensors_move_between_managers() {
    for (first, second) in
        [(Recorder::separate(), Recorder::sharing()), (Recorder::sharing(), Recorder::separate())]
    {
        let a = Tensor::from_slice(&[1.0f32]).expect("one element");
        for recorder in [&first, &second, &first] {
            let manager = manager(recorder);
            let algorithm = manager.algorithm(&[&a], &kernels::increment()).build().expect("it fits");
            manager.sequence().dispatch(&algorithm, [1; 3]).eval().expect("it runs");
        }
        assert_eq!(a.to_vec::<f32>(), Ok(vec![4.0]));
        drop(a);
        assert_eq!((first.n_buffers(), second.n_buffers()), (0, 0));
    }
}

#[test]
fn a_large_tensor_is_not_fetched_for_one_element() {
    check(
        |manager, _| {
            let a = manager.adopt(Tensor::zeros(DType::F32, &[100_000])?)?;
            let algorithm = manager.algorithm(&[&a], &kernels::increment()).extent([1; 3]).build()?;
            manager.sequence().dispatch(&algorithm, Extent::Default).eval()?;
            for idx in 0..10 {
                assert_eq!(a.get(idx)?, 1f32.into());
            }
            Ok(())
        },
        &[
            "alloc 400000",
            "submit dispatch [1, 1, 1]",
            "read 0 at 0: 4 bytes",
            "read 0 at 4: 4 bytes",
            "read 0 at 8: 4 bytes",
            "read 0 at 12: 4 bytes",
            "read 0 at 0: 400000 bytes",
        ],
    );
}

#[test]
fn storage_memory_is_out_of_the_hosts_reach() {
    check(
        |manager, _| {
            let hidden = tensor::Builder::new(DType::F32, &[1]).memory(MemoryType::Storage);
            let hidden = manager.adopt(hidden.bytes(1f32.to_le_bytes().to_vec())?)?;
            let seen = manager.tensor(&[0.0f32])?;
            let algorithm = manager.algorithm(&[&hidden], &kernels::increment()).build()?;
            let sequence =
                manager.sequence().dispatch(&algorithm, [1; 3]).download(&[&hidden]).copy(&hidden, &seen);
            sequence.eval()?;
            let message =
                "cannot read tensor f32[1]: its memory type is `storage`, which the host cannot read";
            assert_eq!(hidden.bytes().map_err(|error| error.to_string()), Err(message.to_owned()));
            assert_eq!(seen.to_vec::<f32>()?, [2.0]);
            Ok(())
        },
        &[
            "alloc 4",
            "write 0 at 0: 4 bytes",
            "alloc 4",
            "submit dispatch [1, 1, 1], copy 0 to 1",
            "read 1 at 0: 4 bytes",
        ],
    );
}

#[test]
fn timestamps_are_between_the_operations() {
    check(
        |manager, _| {
            let a = manager.tensor(&[0.0f32])?;
            let algorithm = manager.algorithm(&[&a], &kernels::increment()).build()?;
            let sequence = manager.timed_sequence(0)?.upload(&[&a]).dispatch(&algorithm, [1; 3]);
            assert_eq!(sequence.timestamps(), Err(ComputeError::NotEvaluated));
            sequence.eval()?;
            assert_eq!(sequence.timestamps()?, [0, 5]);
            assert_eq!(manager.sequence().timestamps(), Err(ComputeError::NoTimestamps));
            Ok(())
        },
        &["alloc 4", "write 0 at 0: 4 bytes", "submit timestamp, timestamp, dispatch [1, 1, 1], timestamp"],
    );
}

#[test]
fn looking_at_bytes_keeps_them_from_changing() {
    check(
        |manager, recorder| {
            let a = manager.tensor(&[1.0f32])?;
            let upload = manager.sequence().upload(&[&a]);
            let nested = a.with_bytes(|_| upload.eval())?;
            let in_use = "cannot upload tensor f32[1] while its bytes are in use";
            assert_eq!(nested.map_err(|error| error.to_string()), Err(in_use.to_owned()));
            let seen = a.with_bytes(|bytes| {
                manager.destroy();
                bytes.to_vec()
            })?;
            assert_eq!(seen, 1f32.to_le_bytes());
            assert!(!a.is_init() && recorder.n_buffers() == 0);
            Ok(())
        },
        &[],
    );
}

#[test]
fn events_reach_the_log_and_nothing_else() {
    let heard = Rc::new(std::cell::RefCell::new(Vec::new()));
    let sink = heard.clone();
    let log = Log::to(move |level, message| sink.borrow_mut().push(format!("{level:?} {message}")));
    drop(Manager::over(Recorder::separate(), log));
    let expect = [
        "Debug Kompute Manager device created",
        "Debug Kompute Manager compute queue obtained",
        "Debug Kompute Manager Destructor started",
        "Info Destroying device",
        "Debug Kompute Manager Destroyed Device",
        "Debug Kompute Manager Destroyed Instance",
    ];
    assert_eq!(*heard.borrow(), expect);
}

#[test]
fn recording_follows_both_generations() {
    let recorder = Recorder::separate();
    let manager = manager(&recorder);
    let a = manager.tensor(&[0.0f32]).expect("one element");
    let algorithm = manager.algorithm(&[&a], &kernels::increment()).build().expect("it fits");
    let dispatch =
        || Op::Dispatch { algorithm: algorithm.clone(), extent: Extent::Default, push: Push::Default };
    let value = || a.to_vec::<f32>().expect("it is readable")[0];

    let sequence = manager.create_sequence("op", 0).expect("queue 0 is there");
    sequence.begin().expect("it is idle");
    assert_eq!(sequence.begin(), Err(ComputeError::AlreadyRecording));
    sequence.record(dispatch()).expect("it fits");
    assert!(sequence.is_recording());
    sequence.end().expect("it was recording");
    assert_eq!(sequence.end(), Err(ComputeError::NotRecording));
    sequence.eval().expect("it runs");
    sequence.eval().expect("it runs again");
    assert_eq!(value(), 2.0);

    // Recording after an evaluation starts a new list; operations that were not evaluated yet remain.
    sequence.record(dispatch()).expect("it fits");
    sequence.record(dispatch()).expect("it fits");
    sequence.eval().expect("it runs");
    assert_eq!(value(), 4.0);
    sequence.begin().expect("it is idle");
    sequence.end().expect("it was recording");
    sequence.eval().expect("an empty list runs");
    assert_eq!(value(), 4.0);
    assert!(manager.get_create_sequence("op").expect("it is there").is_init());
}

#[test]
fn a_kernel_is_given_back_when_the_last_that_uses_it_is_gone() {
    let recorder = Recorder::separate();
    let manager = manager(&recorder);
    let a = manager.tensor(&[0.0f32]).expect("one element");
    let algorithm = manager.algorithm(&[&a], &kernels::increment()).build().expect("it fits");
    let sequence = manager.sequence().dispatch(&algorithm, Extent::Default);
    drop(algorithm);
    sequence.eval().expect("the sequence has the algorithm");
    assert_eq!(*recorder.unloaded.borrow(), []);
    drop(sequence);
    assert_eq!(recorder.unloaded.borrow().len(), 1);
}

/// The recording device binds multiples of 16 bytes.
#[test]
fn an_aligned_slice_is_bound_and_another_is_copied() {
    check(
        |manager, _| {
            let a = manager.tensor(&[0.0f32; 8])?;
            let aligned = manager.algorithm(&[&a.slice(4..6)?], &kernels::increment()).build()?;
            let unaligned = manager.algorithm(&[&a.slice(1..3)?], &kernels::increment()).build()?;
            let sequence = manager.sequence().dispatch(&aligned, Extent::Default);
            sequence.dispatch(&unaligned, Extent::Default).eval()?;
            assert_eq!(a.to_vec::<f32>()?, [0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
            Ok(())
        },
        &[
            "alloc 32",
            "write 0 at 0: 32 bytes",
            "alloc 8",
            "submit dispatch [2, 1, 1], copy 0 to 1, dispatch [2, 1, 1], copy 1 to 0",
            "read 0 at 0: 32 bytes",
        ],
    );
}

#[test]
fn a_launch_of_an_unaligned_slice_copies_it_and_brings_it_back() {
    check(
        |manager, _| {
            let a = manager.tensor(&[0.0f32; 4])?;
            let kernel = manager.kernel(&kernels::increment(), &[])?;
            manager.launch(&kernel, &[a.slice(1..3)?], &Extent::Default, &Push::Default, &[])?;
            assert_eq!(a.to_vec::<f32>()?, [0.0, 1.0, 1.0, 0.0]);
            Ok(())
        },
        &[
            "alloc 16",
            "write 0 at 0: 16 bytes",
            "alloc 8",
            "submit copy 0 to 1",
            "submit dispatch [2, 1, 1] after 0.1",
            "submit copy 1 to 0 after 0.2 after 0.1",
            "read 0 at 0: 16 bytes",
        ],
    );
}

#[test]
fn an_unaligned_slice_is_the_only_way_to_its_elements() {
    let manager = manager(&Recorder::separate());
    let (a, out) =
        (manager.tensor(&[0.0f32; 8]).expect("a tensor"), manager.tensor(&[0.0f32; 2]).expect("two"));
    let sum = |b: &Tensor| {
        let algorithm = manager.algorithm(&[&out, b, &a.slice(1..3)?], &kernels::add()).build()?;
        manager.sequence().dispatch(&algorithm, Extent::Default).eval()
    };
    assert_eq!(sum(&a.slice(4..6).expect("in range")), Ok(()));
    let mistake = sum(&a.slice(0..2).expect("in range")).expect_err("they overlap");
    assert!(matches!(mistake, ComputeError::SliceShared { start: 4, alignment: 16, .. }), "{mistake}");
}

#[test]
fn resizing_copies_where_the_newest_bytes_are() {
    check(
        |manager, _| {
            let a = manager.tensor(&[1.0f32, 2.0])?.resize(3)?;
            let algorithm = manager.algorithm(&[&a], &kernels::increment()).build()?;
            let sequence = manager.sequence().dispatch(&algorithm, Extent::Default);
            sequence.eval()?;
            let longer = a.resize(4)?;
            assert!(matches!(sequence.eval(), Err(ComputeError::Resized { .. })));
            sequence.rerecord()?;
            sequence.eval()?;
            assert_eq!(longer.to_vec::<f32>()?, [3.0, 4.0, 2.0, 1.0]);
            Ok(())
        },
        &[
            "alloc 12",
            "write 0 at 0: 12 bytes",
            "submit dispatch [3, 1, 1]",
            "alloc 16",
            "submit copy 0 to 1",
            "submit dispatch [4, 1, 1] after 0.2",
            "read 1 at 0: 16 bytes",
        ],
    );
}

#[test]
fn other_tensors_are_bound_without_loading_the_module() {
    let recorder = Recorder::separate();
    let manager = manager(&recorder);
    let (a, b) = (manager.tensor(&[1.0f32]).expect("one"), manager.tensor(&[5.0f32, 6.0]).expect("two"));
    let algorithm = manager.algorithm(&[&a], &kernels::increment()).build().expect("it fits");
    let sequence = manager.sequence().dispatch(&algorithm, Extent::Default);
    algorithm.rebind(std::slice::from_ref(&b)).expect("it fits");
    sequence.rerecord().and_then(|()| sequence.eval()).expect("it runs");
    assert_eq!((a.to_vec::<f32>(), b.to_vec::<f32>()), (Ok(vec![1.0]), Ok(vec![6.0, 7.0])));
    assert_eq!(recorder.n_loads.get(), 1);
}
