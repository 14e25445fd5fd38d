//! Which devices there are, and which one is meant.

mod common;

use kps_device::{Backend, DeviceError, DeviceInfo, DeviceKind, OpenOptions, Selector, select, vulkan};

fn devices() -> Vec<DeviceInfo> {
    vulkan::request_validation();
    select::list()
}

fn open(selector: &Selector) -> Result<DeviceInfo, DeviceError> {
    vulkan::request_validation();
    select::open(selector, &OpenOptions::default()).map(|opened| opened.device.info().clone())
}

#[test]
fn selectors_are_read_as_they_are_written() {
    let check = |text: &str, expect: Selector| {
        assert_eq!(Selector::parse(text), expect);
        assert_eq!(Selector::parse(&expect.to_string()), expect);
    };
    check("", Selector::Best);
    check("cpu", Selector::Cpu);
    check("CPU", Selector::Cpu);
    check("vulkan", Selector::Vulkan(0));
    check("Vulkan:1", Selector::Vulkan(1));
    check(" 2 ", Selector::Index(2));
    check("H200", Selector::Name("H200".to_owned()));
    check("vulkan:x", Selector::Name("vulkan:x".to_owned()));
    check("-1", Selector::Name("-1".to_owned()));
}

#[test]
fn the_list_has_gpus_then_the_built_in_device_then_software() {
    let devices = devices();
    let ranks: Vec<_> = devices.iter().map(|info| (!info.lacks.is_empty(), info.kind)).collect();
    assert!(ranks.is_sorted(), "{ranks:?}");
    assert_eq!(devices.iter().filter(|info| info.backend == Backend::Cpu).count(), 1);
    for info in devices.iter().filter(|info| info.backend == Backend::Vulkan) {
        assert!(!info.name.is_empty() && info.driver.starts_with("Vulkan 1."), "{info:?}");
        assert!(info.memory > 0 && info.limits.max_groups[0] >= 65535, "{info:?}");
    }
}

#[test]
fn vulkan_devices_are_found_by_number_and_by_name() {
    let devices = devices();
    let (index, first) = (0..).zip(&devices).find(|(_, info)| info.backend == Backend::Vulkan).expect("one");
    let found = |selector: &Selector| open(selector).map(|info| info.name);
    assert_eq!(found(&Selector::Vulkan(0)), Ok(first.name.clone()));
    assert_eq!(found(&Selector::Index(index)), Ok(first.name.clone()));
    let part = first.name[..first.name.len() / 2].to_uppercase();
    assert_eq!(found(&Selector::Name(part)), Ok(first.name.clone()));
    assert_eq!(vulkan::validation_messages(), Vec::<String>::new());
}

#[test]
fn a_device_that_is_not_there_lists_those_that_are() {
    let available: Vec<String> = devices().into_iter().map(|info| info.name).collect();
    for asked in ["vulkan:99", "99", "no such name"] {
        let expect = DeviceError::NoSuchDevice { asked: asked.to_owned(), available: available.clone() };
        assert_eq!(open(&Selector::parse(asked)).map(|info| info.name), Err(expect));
    }
}

#[test]
#[ignore = "the built-in device is not built yet"]
fn without_a_gpu_the_best_is_the_built_in_device() {
    let gpu = devices().into_iter().find(|info| info.kind.is_gpu());
    match (gpu, open(&Selector::Best)) {
        (Some(gpu), best) => assert_eq!(best.map(|info| info.name), Ok(gpu.name)),
        (None, best) => assert_eq!(best.map(|info| info.kind), Ok(DeviceKind::BuiltIn)),
    }
}
