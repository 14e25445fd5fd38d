//! Behaviour that users see, the same on every device: the CPU device and a Vulkan device, if there is one.

mod common;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use common::kernels::{self, Of};
use kps_compute::observe::RowKind;
use kps_compute::{
    Algorithm, ComputeError, DType, Extent, Log, Manager, Number, Op, Push, Result, Tensor, words,
};
use kps_device::{DeviceError, OpenOptions, Selector, select};

/// Runs `steps` on each device. A machine without Vulkan prints a note and continues.
fn on_every_device(steps: impl Fn(&Manager) -> Result<()>) {
    on_every_device_logged(&Log::default(), steps);
}

fn on_every_device_logged(log: &Log, steps: impl Fn(&Manager) -> Result<()>) {
    // With the separate memory of discrete GPUs, on any GPU.
    let separate = OpenOptions { separate_memory: true, ..OpenOptions::default() };
    for (selector, options) in
        [(Selector::Vulkan(0), OpenOptions::default()), (Selector::Vulkan(0), separate)]
    {
        let opened = match select::open(&selector, &options) {
            Ok(opened) => opened,
            Err(DeviceError::NoSuchDevice { .. }) if selector != Selector::Cpu => {
                eprintln!("SKIPPED on {selector}: there is no such device");
                continue;
            }
            Err(error) => panic!("cannot open {selector}: {error}"),
        };
        let manager = Manager::over(opened.device, log.clone());
        let name = manager.info().name.clone();
        steps(&manager).unwrap_or_else(|error| panic!("on {name}: {error}"));
    }
}

fn f32s(tensor: &Tensor) -> Vec<f32> {
    tensor.to_vec().expect("a readable tensor of f32")
}

fn dispatch(algorithm: &Algorithm, push: impl Into<Push>) -> Op {
    Op::Dispatch { algorithm: algorithm.clone(), extent: Extent::Default, push: push.into() }
}

#[test]
fn three_elements_are_multiplied() {
    on_every_device(|manager| {
        let a = manager.tensor(&[2.0f32, 2.0, 2.0])?;
        let b = manager.tensor(&[1.0f32, 2.0, 3.0])?;
        let out = manager.adopt(Tensor::zeros(DType::F32, &[3])?)?;
        let algorithm = manager.algorithm(&[&a, &b, &out], &kernels::multiply()).build()?;
        let sequence =
            manager.sequence().upload(&[&a, &b]).dispatch(&algorithm, Extent::Default).download(&[&out]);
        sequence.eval()?;
        assert_eq!(f32s(&out), [2.0, 4.0, 6.0]);
        b.set_data(&[5.0f32, 6.0, 7.0])?;
        sequence.eval()?;
        assert_eq!(f32s(&out), [10.0, 12.0, 14.0]);
        Ok(())
    });
}

#[test]
fn two_kernels_run_ten_times_with_one_sync() {
    on_every_device(|manager| {
        let t1 = manager.tensor(&[2.0f32, 2.0, 2.0])?;
        let t2 = manager.tensor(&[1.0f32, 2.0, 3.0])?;
        let t3 = manager.tensor(&[1.0f32, 2.0, 3.0])?;
        let product = manager.algorithm(&[&t1, &t2, &t3], &kernels::multiply()).build()?;
        let sum = manager.algorithm(&[&t3, &t2, &t1], &kernels::add()).build()?;
        let multiply = manager.sequence().dispatch(&product, Extent::Default);
        let add = manager.sequence().dispatch(&sum, Extent::Default);
        for _ in 0..10 {
            multiply.eval()?;
            add.eval()?;
        }
        manager.sequence().download(&[&t1, &t3]).eval()?;
        // t3 = t1 * t2, t1 = t3 + t2, ten times, in integers that f32 holds.
        let expect = |step: f64| -> (f32, f32) {
            let (mut one, mut three) = (2.0, 0.0);
            for _ in 0..10 {
                three = one * step;
                one = three + step;
            }
            (one as f32, three as f32)
        };
        let (ones, threes): (Vec<f32>, Vec<f32>) = [1.0, 2.0, 3.0].into_iter().map(expect).unzip();
        assert_eq!((f32s(&t1), f32s(&t3)), (ones, threes));
        Ok(())
    });
}

#[test]
fn dependent_dispatches_need_no_barrier() {
    on_every_device(|manager| {
        let a = manager.adopt(Tensor::zeros(DType::F32, &[1000])?)?;
        let algorithm = manager.algorithm(&[&a], &kernels::increment()).build()?;
        let sequence = manager.sequence();
        for _ in 0..3 {
            sequence.record(dispatch(&algorithm, Push::Default))?;
        }
        sequence.eval()?;
        assert_eq!(f32s(&a), [3.0; 1000]);
        for _ in 0..97 {
            sequence.record(dispatch(&algorithm, Push::Default))?;
            sequence.record(Op::MemoryBarrier(vec![a.clone()]))?;
        }
        sequence.eval()?;
        assert_eq!(f32s(&a), [100.0; 1000]);
        Ok(())
    });
}

#[test]
fn launches_and_asynchronous_sequences_follow_each_other() {
    on_every_device(|manager| {
        let a = manager.adopt(Tensor::zeros(DType::F32, &[10_000])?)?;
        let kernel = manager.kernel(&kernels::increment(), &[])?;
        let algorithm = manager.algorithm(&[&a], &kernels::increment()).build()?;
        for _ in 0..10 {
            manager.launch(
                &kernel,
                std::slice::from_ref(&a),
                &Extent::Domain(vec![10_000]),
                &Push::Default,
                &[],
            )?;
            manager.start(manager.sequence().dispatch(&algorithm, Extent::Default))?;
        }
        assert_eq!(a.get(9_999)?, Number::from(20.0f32));
        assert!(manager.await_started(Some(Duration::from_secs(60)))?);
        assert_eq!(f32s(&a), [20.0; 10_000]);
        Ok(())
    });
}

#[test]
fn push_constants_of_a_dispatch_do_not_stick() {
    on_every_device(|manager| {
        let a = manager.tensor(&[0.0f32; 3])?;
        let algorithm =
            manager.algorithm(&[&a], &kernels::add_push(Of::F32)).push([0.5f32, 0.25, 0.125]).build()?;
        let sequence = manager.sequence();
        sequence.record(dispatch(&algorithm, Push::Default))?;
        sequence.record(dispatch(&algorithm, [8.0f32, 16.0, 32.0]))?;
        sequence.record(dispatch(&algorithm, Push::Default))?;
        sequence.eval()?;
        assert_eq!(f32s(&a), [9.0, 16.5, 32.25]);
        sequence.eval()?;
        assert_eq!(f32s(&a), [18.0, 33.0, 64.5]);
        Ok(())
    });
}

#[test]
fn push_constants_keep_their_type() {
    on_every_device(|manager| {
        let a = manager.adopt(Tensor::zeros(DType::I32, &[3])?)?;
        let algorithm = manager.algorithm(&[&a], &kernels::add_push(Of::I32)).push([-1, -1, -1]).build()?;
        let sequence = manager.sequence().dispatch(&algorithm, Extent::Default);
        let sequence = sequence.dispatch_with(&algorithm, Extent::Default, [-1.0, -1.0, -1.0]);
        sequence.dispatch(&algorithm, Extent::Default).eval()?;
        assert_eq!(a.to_vec::<i32>()?, [-3, -3, -3]);
        Ok(())
    });
}

#[test]
fn specialisation_constants_take_the_declared_type() {
    on_every_device(|manager| {
        let run = |constants: &[Number]| {
            let a = manager.tensor(&[1.0f32, 2.0])?;
            let words = kernels::scale();
            let algorithm =
                manager.algorithm(&[&a], &words).spec_constants(constants.iter().copied()).build()?;
            manager.sequence().dispatch(&algorithm, Extent::Default).eval()?;
            a.to_vec::<f32>()
        };
        assert_eq!(run(&[]), Ok(vec![1.0, 2.0]));
        assert_eq!(run(&[3.into()]), Ok(vec![3.0, 6.0]));
        assert_eq!(run(&[2.0.into(), 0.5.into()]), Ok(vec![2.5, 4.5]));
        let error = run(&[Number::from(1), 2.into(), 3.into()]).expect_err("there are two constants");
        assert_eq!(error.to_string(), "the kernel has 2 specialisation constants, 3 were given");
        Ok(())
    });
}

#[test]
fn specialised_modules_refuse_other_constants() {
    const OP_MODULE_PROCESSED: u32 = 330;
    const OP_DECORATE: u32 = 71;
    on_every_device(|manager| {
        let a = manager.tensor(&[1.0f32, 2.0])?;
        let mut words = kernels::scale();
        let note = [6 << 16 | OP_MODULE_PROCESSED].into_iter().chain(text(b"kps.specialised "));
        let first = words.iter().position(|word| word & 0xffff == OP_DECORATE).expect("it is decorated");
        words.splice(first..first, note);
        let run = |constant: f64| {
            let algorithm = manager.algorithm(&[&a], &words).spec_constants([constant]).build()?;
            manager.sequence().dispatch(&algorithm, Extent::Default).eval()
        };
        assert_eq!(run(1.0), Ok(()));
        let error = run(3.0).expect_err("the module is for another value");
        assert!(error.to_string().contains("compile the shader's text for 3.0"), "{error}");
        Ok(())
    });
}

/// A text of 12 letters as words; the 0 after it begins another one.
fn text(letters: &[u8; 16]) -> Vec<u32> {
    let words = letters.chunks_exact(4);
    words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).chain([0]).collect()
}

#[test]
fn every_type_is_multiplied_where_the_device_has_it() {
    on_every_device(|manager| {
        for dtype in DType::ALL {
            let tensor = |values: [i64; 3]| {
                let tensor = Tensor::zeros(dtype, &[3])?;
                for (idx, value) in values.into_iter().enumerate() {
                    tensor.set(idx, value)?;
                }
                Ok::<Tensor, ComputeError>(tensor)
            };
            let tensors = vec![tensor([2, 3, 1])?, tensor([1, 4, 0])?, tensor([0, 0, 0])?];
            let product = manager.sequence().chain(Op::Multiply(tensors.clone())).eval();
            match product {
                Ok(()) => {
                    let values: Vec<f64> = tensors[2].numbers()?.into_iter().map(Number::as_f64).collect();
                    assert_eq!(values, [2.0, 12.0, 0.0], "{dtype}");
                }
                Err(ComputeError::MultiplyDType { .. }) => {
                    assert!(matches!(dtype, DType::Bool | DType::Bf16))
                }
                Err(ComputeError::Device(DeviceError::MissingFeature { .. })) => {
                    assert!(!matches!(dtype, DType::F32 | DType::I32 | DType::U32), "{dtype}");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    });
}

#[test]
fn copies_are_checked_and_may_be_partial() {
    on_every_device(|manager| {
        let from = manager.tensor(&[1.0f32, 2.0, 3.0, 4.0])?;
        let to = manager.tensor(&[0.0f32; 4])?;
        let other = manager.tensor(&[0.0f32; 4])?;
        manager.sequence().chain(Op::Copy(vec![from.clone(), to.clone(), other.clone()])).eval()?;
        assert_eq!((f32s(&to), f32s(&other)), (f32s(&from), f32s(&from)));
        let part = Op::CopyRange { from: from.clone(), range: 2..4, to: to.clone(), to_start: 0 };
        manager.sequence().chain(part).eval()?;
        assert_eq!(f32s(&to), [3.0, 4.0, 3.0, 4.0]);

        let check = |op: Op, message: &str| {
            let error = manager.sequence().chain(op).eval().expect_err(message);
            assert_eq!(error.to_string(), message);
        };
        let short = manager.tensor(&[0.0f32])?;
        let ints = manager.tensor(&[0i32; 4])?;
        check(
            Op::Copy(vec![from.clone(), short.clone()]),
            "cannot copy tensor f32[4] to tensor f32[1]: 16 bytes do not fill 4",
        );
        check(
            Op::Copy(vec![from.clone(), ints]),
            "cannot copy tensor f32[4] to tensor i32[4]: their elements are of different types",
        );
        check(Op::Copy(vec![from.clone()]), "`copy` needs at least 2 tensors, 1 was given");
        let past = Op::CopyRange { from, range: 0..2, to: short, to_start: 0 };
        check(past, "index 1 is out of range for tensor f32[1] with 1 elements");
        Ok(())
    });
}

#[test]
fn algorithms_are_checked_against_their_module() {
    on_every_device(|manager| {
        let a = manager.tensor(&[0.0f32; 3])?;
        let ints = manager.tensor(&[0i32; 3])?;
        let check = |tensors: &[&Tensor], words: &[u32], push: Push, message: &str| {
            let error = manager.algorithm(tensors, words).push(push).build().expect_err(message);
            assert_eq!(error.to_string(), message);
        };
        let multiply = kernels::multiply();
        check(&[&a, &a], &multiply, Push::Default, "the kernel binds 3 tensors (a, b, out), 2 were given");
        check(
            &[&a, &ints, &a],
            &multiply,
            Push::Default,
            "parameter `b` needs elements of f32, but tensor i32[3] has i32",
        );
        let push = kernels::add_push(Of::F32);
        check(&[&a], &push, [1.0, 2.0].into(), "the kernel takes 3 push constants (x, y, z), 2 were given");
        check(
            &[&a],
            &push,
            Push::Bytes(vec![0; 8]),
            "the kernel's push constants are 12 bytes, 8 were given",
        );
        check(
            &[&a],
            &[1, 2],
            Push::Default,
            "not a SPIR-V module: it begins with 0x00000001, a module with 0x07230203",
        );
        let broken = [&multiply[..5], &[0xffff_ffff]].concat();
        assert!(matches!(manager.algorithm(&[&a], &broken).build(), Err(ComputeError::Device(_))));

        let missing = manager.algorithm(&[&a], &push).build()?;
        let error =
            manager.sequence().dispatch(&missing, Extent::Default).eval().expect_err("no push constants");
        assert_eq!(error.to_string(), "the kernel takes 3 push constants (x, y, z), 0 were given");
        let bytes = words::to_bytes(&multiply);
        assert_eq!(words::from_bytes(&bytes), Ok(multiply));
        Ok(())
    });
}

#[test]
fn errors_name_what_was_destroyed() {
    on_every_device(|manager| {
        let a = manager.tensor(&[1.0f32])?;
        let algorithm = manager.algorithm(&[&a], &kernels::increment()).build()?;
        let sequence = manager.sequence().dispatch(&algorithm, Extent::Default);
        sequence.eval_async()?;
        a.destroy();
        sequence.eval_await(None)?;
        let error = sequence.eval().expect_err("the tensor is gone");
        assert_eq!(error.to_string(), "cannot dispatch a kernel on tensor f32[1]: it was destroyed");
        algorithm.destroy();
        let error = sequence.record(dispatch(&algorithm, Push::Default)).expect_err("the algorithm is gone");
        assert_eq!(error.to_string(), "cannot dispatch the algorithm: it was destroyed");
        sequence.destroy();
        let error = sequence.eval().expect_err("the sequence is gone");
        assert_eq!(error.to_string(), "cannot evaluate the sequence: it was destroyed");
        manager.destroy();
        let error = manager.create_sequence("op", 0).err().expect("the manager is gone");
        assert_eq!(error.to_string(), "cannot make a sequence with the manager: it was destroyed");
        Ok(())
    });
}

#[test]
fn queues_that_are_not_there_are_refused() {
    on_every_device(|manager| {
        let error = manager.sequence_on(99).err().expect("there are fewer queues");
        assert_eq!(error.to_string(), "there is no queue 99: the manager was opened with 1, counted from 0");
        Ok(())
    });
}

#[test]
fn a_write_waits_for_a_running_upload() {
    on_every_device(|manager| {
        let n = 300_000;
        let tensor = manager.adopt(Tensor::zeros(DType::F32, &[n])?)?;
        let copy = manager.adopt(Tensor::zeros(DType::F32, &[n])?)?;
        let other = manager.adopt(Tensor::zeros(DType::F32, &[60_000])?)?;
        let increment = manager.algorithm(&[&other], &kernels::increment()).build()?;
        let mut busy = manager.sequence();
        for _ in 0..20 {
            busy = busy.dispatch(&increment, Extent::Default);
        }
        let copied = manager.sequence().copy(&tensor, &copy);
        for round in 0..6 {
            let value = round as f32;
            tensor.write_range(0, &vec![value; n])?;
            // The device is busy, so the upload is still to come when the next value is written.
            busy.eval_async()?;
            copied.eval_async()?;
            tensor.write_range(0, &vec![-1f32; n])?;
            assert!(f32s(&copy) == vec![value; n], "round {round}");
            busy.eval_await(None)?;
            copied.eval_await(None)?;
        }
        Ok(())
    });
}

#[test]
fn a_large_tensor_moves_to_the_device_and_back_again_and_again() {
    let pinned = Rc::new(Cell::new(0));
    let counter = pinned.clone();
    let count = move |_, message: &str| counter.set(counter.get() + i32::from(message.starts_with("pinned")));
    on_every_device_logged(&Log::to(count), |manager| {
        let n = 300_000;
        let tensor = manager.adopt(Tensor::zeros(DType::F32, &[n])?)?;
        let algorithm = manager.algorithm(&[&tensor], &kernels::increment()).extent([1000, 1, 1]).build()?;
        let sequence = manager.sequence().dispatch(&algorithm, Extent::Default);
        for round in 0..6 {
            let value = round as f32;
            tensor.write_range(0, &vec![value; n])?;
            sequence.eval()?;
            let mut expect = vec![value; n];
            expect[..1000].fill(value + 1.0);
            assert!(f32s(&tensor) == expect, "round {round}");
            // The first of these uploads may be running when the second value is written.
            for (at, value) in [(0, -1.0f32), (n - 1, -2.0)] {
                tensor.set(at, value)?;
                expect[at] = value;
                sequence.eval_async()?;
                expect[..1000].iter_mut().for_each(|one| *one += 1.0);
            }
            let before = tensor.shared_bytes()?;
            tensor.set(5, 0.5)?;
            assert!(
                kps_compute::element::from_bytes::<f32>(&before) == expect,
                "a write leaves what was shared"
            );
            expect[5] = 0.5;
            assert!(f32s(&tensor) == expect, "round {round}");
            tensor.write_range(0, &vec![0f32; n])?;
        }
        Ok(())
    });
    assert_ne!(pinned.get(), 0, "with separate memory, the device copies by itself");
}

#[test]
fn profiles_tell_uploads_and_downloads_from_copies() {
    let options = OpenOptions { separate_memory: true, ..OpenOptions::default() };
    let opened = select::open(&Selector::Vulkan(0), &options).expect("there is a Vulkan device");
    let manager = Manager::over(opened.device, Log::default());
    let n_bytes = 2 << 20;
    let steps = || -> Result<()> {
        let n = n_bytes / 4;
        let (a, b) = (manager.tensor(&vec![0.0f32; n])?, manager.tensor(&vec![0.0f32; n])?);
        let sequence = manager.sequence().upload(&[&a]).copy(&a, &b).download(&[&b]);
        let round = |value: f32| {
            a.write_range(0, &vec![value; n])?;
            sequence.eval()
        };
        // The host's memory is pinned once there were some transfers.
        (0..4).try_for_each(|value| round(value as f32))?;
        let profile = manager.profile()?;
        profile.start()?;
        round(5.0)?;
        profile.stop();
        let mut rows = profile.rows();
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        let bytes = rows.iter().map(|row| (row.kind, row.bytes_read, row.bytes_written));
        let n_bytes = n_bytes as u64;
        assert_eq!(
            bytes.collect::<Vec<_>>(),
            [
                (RowKind::Copy, n_bytes, n_bytes),
                (RowKind::Download, n_bytes, 0),
                (RowKind::Upload, 0, n_bytes)
            ]
        );
        assert!(rows.iter().all(|row| row.bytes_per_second().is_some_and(|rate| rate > 0.0)));
        let shares: Vec<bool> = rows.iter().map(|row| row.share(Some(1e9)).is_some()).collect();
        assert_eq!(shares, [true, false, false]);
        assert_eq!(f32s(&b)[n - 1], 5.0);
        Ok(())
    };
    steps().expect("the steps run");
}
