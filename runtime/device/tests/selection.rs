//! The list of devices, and the selection of one.

mod common;

use std::path::{Path, PathBuf};

use common::in_child;
use kps_device::{
    Backend, DeviceError, DeviceInfo, DeviceKind, NoGpu, OpenOptions, PipelineOptions, Selector, select,
    vulkan,
};

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
fn without_a_gpu_the_best_is_the_built_in_device() {
    let gpu = devices().into_iter().find(|info| info.kind.is_gpu());
    match (gpu, open(&Selector::Best)) {
        (Some(gpu), best) => assert_eq!(best.map(|info| info.name), Ok(gpu.name)),
        (None, best) => assert_eq!(best.map(|info| info.kind), Ok(DeviceKind::BuiltIn)),
    }
}

fn scratch_folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("kps-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room for temporary files");
    folder
}

#[test]
fn broken_vulkan_leaves_the_built_in_device() {
    let folder = scratch_folder("broken-vulkan");
    let (library, driver) = (folder.join("libvulkan.so.1"), folder.join("driver.json"));
    std::fs::write(&library, "no library").expect("it writes");
    let manifest =
        r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "LIB", "api_version": "1.3.0"}}"#;
    std::fs::write(&driver, manifest.replace("LIB", &library.to_string_lossy())).expect("it writes");
    let (folder_text, driver_text) = (folder.to_string_lossy(), driver.to_string_lossy());
    in_child("child_sees_only_the_built_in_device", &[("LD_LIBRARY_PATH", &folder_text)]);
    in_child("child_sees_only_the_built_in_device", &[("VK_ICD_FILENAMES", &driver_text)]);
    in_child("child_sees_only_the_built_in_device", &[("VK_ICD_FILENAMES", "/nowhere/driver.json")]);
    std::fs::remove_dir_all(&folder).expect("it goes away");
}

#[test]
#[ignore = "run by broken_vulkan_leaves_the_built_in_device"]
fn child_sees_only_the_built_in_device() {
    let devices = select::list();
    assert_eq!(devices.iter().map(|info| info.kind).collect::<Vec<_>>(), [DeviceKind::BuiltIn]);
    let asked = select::open(&Selector::Vulkan(0), &OpenOptions::default()).map(drop);
    let available = vec![devices[0].name.clone()];
    assert_eq!(asked, Err(DeviceError::NoSuchDevice { asked: "vulkan".to_owned(), available }));
}

#[test]
fn validation_that_is_not_installed_is_an_error() {
    let environment = [("KPS_VALIDATION", "1"), ("VK_LAYER_PATH", "/nowhere"), ("XDG_DATA_DIRS", "/nowhere")];
    in_child("child_cannot_validate", &environment);
}

#[test]
#[ignore = "run by validation_that_is_not_installed_is_an_error"]
fn child_cannot_validate() {
    let error = select::open(&Selector::Vulkan(0), &OpenOptions::default()).map(drop).expect_err("no layer");
    assert!(error.to_string().contains("`VK_LAYER_KHRONOS_validation` was asked for"), "{error}");
}

#[test]
fn where_there_is_no_gpu_the_reasons_are_reported() {
    let check = |child: &str, environment: &[(&str, &str)]| in_child(child, environment);
    check(
        "child_has_no_driver",
        &[("VK_DRIVER_FILES", "/nowhere.json"), ("VK_ICD_FILENAMES", "/nowhere.json")],
    );
    let gpu = DeviceInfo { kind: DeviceKind::Discrete, ..devices()[0].clone() };
    assert_eq!(select::no_gpu(std::slice::from_ref(&gpu)), []);
    let (device, lacks) = (gpu.name.clone(), vec!["Vulkan 1.2 (it has 1.1.0)".to_owned()]);
    let old = DeviceInfo { lacks: lacks.clone(), ..gpu };
    let reasons = select::no_gpu(&[old]);
    assert_eq!(reasons, [NoGpu::BelowFloor { device: device.clone(), lacks }]);
    assert_eq!(reasons[0].to_string(), format!("`{device}` lacks Vulkan 1.2 (it has 1.1.0)"));
}

#[test]
#[ignore = "run by where_there_is_no_gpu_the_reasons_are_reported"]
fn child_has_no_driver() {
    let infos = select::list();
    assert_eq!(infos.len(), 1, "{infos:?}");
    let reasons = select::no_gpu(&infos);
    let names_cause = |reason: &NoGpu| matches!(reason, NoGpu::NoInstance { .. } | NoGpu::NoList { .. });
    assert!(reasons.iter().any(names_cause), "{reasons:?}");
    assert!(
        reasons.iter().any(|one| matches!(one, NoGpu::NoDriver { .. } | NoGpu::NoDeviceFile)),
        "{reasons:?}"
    );
}

#[test]
fn the_built_in_device_loads_nothing_of_vulkan() {
    in_child("child_asks_for_the_built_in_device", &[]);
}

#[test]
#[ignore = "run by the_built_in_device_loads_nothing_of_vulkan"]
fn child_asks_for_the_built_in_device() {
    let loaded = || std::fs::read_to_string("/proc/self/maps").is_ok_and(|maps| maps.contains("libvulkan"));
    let _ = select::open(&Selector::Cpu, &OpenOptions::default());
    assert!(!loaded());
    let has_vulkan = select::list().len() > 1;
    assert_eq!(loaded(), has_vulkan && cfg!(target_os = "linux"));
}

#[test]
fn compiled_pipelines_are_stored_in_the_cache_folder() {
    let folder = scratch_folder("cache");
    let text = folder.to_string_lossy();
    in_child("child_compiles_a_pipeline", &[("XDG_CACHE_HOME", &text)]);
    let n_cached =
        |folder: &Path| std::fs::read_dir(folder.join("kps/pipelines")).expect("it was made").count();
    assert_eq!(n_cached(&folder), 1, "one file for one device, and nothing left of writing it");
    in_child("child_compiles_a_pipeline", &[("XDG_CACHE_HOME", &text)]);
    assert_eq!(n_cached(&folder), 1);
    std::fs::remove_dir_all(&folder).expect("it goes away");
    in_child("child_compiles_a_pipeline", &[("XDG_CACHE_HOME", "/proc/nowhere")]);
}

#[test]
#[ignore = "run by compiled_pipelines_are_stored_in_the_cache_folder"]
fn child_compiles_a_pipeline() {
    let opened = select::open(&Selector::Vulkan(0), &OpenOptions::default()).expect("it opens");
    let pipeline = opened.device.load(&common::module("multiply"), &PipelineOptions::default());
    assert!(pipeline.is_ok(), "{pipeline:?}");
}
