//! A kernel that never ends is interrupted, and does not keep the process from ending.

mod common;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use common::devices::{Shorthand, dispatch};
use common::in_child;
use kps_device::{Access, Command, DeviceError, OpenOptions, Selector, Waited, select};

#[test]
fn an_endless_kernel_on_vulkan_is_given_up() {
    let start = Instant::now();
    in_child("child_starts_what_never_ends", &[]);
    assert!(start.elapsed() < Duration::from_secs(30), "it took {:?}", start.elapsed());
}

#[test]
#[ignore = "run by an_endless_kernel_on_vulkan_is_given_up"]
fn child_starts_what_never_ends() {
    let device = select::open(&Selector::Vulkan(0), &OpenOptions::default()).expect("it opens").device;
    let a = device.zeros(1);
    let kernel = device.module("forever");
    let Command::Dispatch(mut endless) = dispatch(kernel, &[(a, Access::ReadWrite)], 1) else {
        unreachable!()
    };
    // Software drivers give up after some iterations, and nothing runs so many workgroups.
    endless.groups = [65535, 65535, 1];
    let ticket = device.run(vec![Command::Dispatch(endless)]);
    assert_eq!(device.wait(ticket, Some(Duration::from_millis(50))), Ok(Waited::TimedOut));
    let flag = device.interrupt_flag();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        flag.store(true, Ordering::Relaxed);
    });
    assert!(matches!(device.wait(ticket, None), Err(DeviceError::Interrupted { .. })));
    device.free(a);
    drop(device);
}
