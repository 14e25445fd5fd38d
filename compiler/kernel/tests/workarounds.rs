//! The table of workarounds. Each row has a kernel of its name in `cases/workarounds`, with the expected module
//! beside it. The workaround changes that module for the drivers and versions with the fault, and for no others.
//! `docs/src/reference/workarounds.md` is printed from the table. `UPDATE=1` writes both.

mod support;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use kps_kernel::workarounds::{Driver, TABLE, Workaround, Workarounds};
use kps_kernel::{Reach, Target};
use kps_snapshots::{cases, compare};
use kps_spirv_tools::{Options, TargetEnv};

const DRIVERS: [Driver; 2] = [Driver::Lavapipe, Driver::Nvidia];
/// The version strings of the drivers.
const SEEN: [(Driver, &str); 2] =
    [(Driver::Lavapipe, "Mesa 22.3.6 (LLVM 15.0.6)"), (Driver::Nvidia, "580.159.04")];
/// `VK_DRIVER_ID_MESA_NVK`.
const NVK: i32 = 24;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/workarounds")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The module of a row's kernel.
fn words(row: &Workaround, workarounds: Workarounds) -> Vec<u32> {
    let path = folder().join(row.name).with_extension("kps");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let target = Target { robust_access: true, workarounds, ..Target::portable() };
    let (kernels, mistakes) = support::compile(row.name, &text, &target, Reach::Binding);
    let [kernel] = &kernels[..] else { panic!("{}", support::render(&mistakes)) };
    let validity = kps_spirv_tools::validate(&kernel.module.words, TargetEnv::Vulkan_1_2, Options::default());
    assert!(validity.is_ok(), "{} {}: {validity:?}", row.name, kernel.name);
    kernel.module.words.clone()
}

fn own(row: &Workaround) -> Workarounds {
    Workarounds::named(row.name).expect("it is in the table")
}

#[test]
fn each_workaround_gives_its_module() {
    let mut failures = Vec::new();
    for row in TABLE {
        let text = kps_kernel::disassemble(&words(row, own(row))).expect("the module can be disassembled");
        failures.extend(compare(&folder().join(row.name).with_extension("spvasm"), &(text + "\n")).err());
        if words(row, own(row)) == words(row, Workarounds::NONE) {
            failures.push(format!("{} changes nothing", row.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn each_kernel_belongs_to_a_workaround() {
    for path in cases(&folder(), &["kps", "spvasm"]) {
        let name = path.file_stem().expect("a name").to_string_lossy();
        assert!(Workarounds::named(&name).is_some(), "there is no workaround {name}");
    }
}

#[test]
fn workarounds_are_for_the_drivers_that_need_them() {
    for row in TABLE {
        for driver in DRIVERS {
            let all = Workarounds::of(driver, Some(row.versions.seen));
            let is_applied = words(row, all) != words(row, all.without(own(row)));
            assert_eq!(is_applied, driver == row.driver, "{} on {}", row.name, driver.name());
        }
        assert!(root().join(row.test).exists(), "there is no {}", row.test);
    }
}

#[test]
fn drivers_are_known_by_their_vulkan_ids() {
    for (driver, version) in SEEN {
        let all = Workarounds::of(driver, None);
        assert_eq!(Workarounds::of_vulkan_driver(driver as i32, version), all);
        assert_eq!(Workarounds::of_vulkan_driver(driver as i32, "of no known version"), all);
        assert_eq!(Workarounds::of_vulkan_driver(NVK, version), Workarounds::NONE);
    }
}

const HEAD: &str = "\
# Driver workarounds

You want to know what kps does about faults of Vulkan drivers.
A workaround applies to every version of its driver that is not known to be right, and to versions that kps cannot read.
Each test gives a wrong result on that driver without the workaround.

| Name | Driver | Versions | What goes wrong | What is done | Test |
|---|---|---|---|---|---|
";

#[test]
fn the_page_is_what_the_table_says() {
    let mut page = HEAD.to_owned();
    for row in TABLE {
        let Workaround { name, versions, fault, remedy, test, .. } = row;
        let driver = row.driver.name();
        // A bar would end the cell.
        let (fault, remedy) = (fault.replace('|', "\\|"), remedy.replace('|', "\\|"));
        writeln!(page, "| {name} | {driver} | {versions} | {fault} | {remedy} | `{test}` |")
            .expect("a string takes all");
    }
    let path = root().join("docs/src/reference/workarounds.md");
    let message = "docs/src/reference/workarounds.md is not what the table says: UPDATE=1 writes it";
    compare(&path, &page).expect(message);
}
