//! Drivers and their versions.

use std::fmt;

/// A driver with known faults, by its `VkDriverId`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Driver {
    /// NVIDIA's own driver.
    Nvidia = 4,
    /// Mesa's software driver, whose devices are called llvmpipe.
    Lavapipe = 13,
}

impl Driver {
    pub(super) fn of_vulkan_id(id: i32) -> Option<Driver> {
        [Driver::Nvidia, Driver::Lavapipe].into_iter().find(|driver| *driver as i32 == id)
    }

    pub fn name(self) -> &'static str {
        match self {
            Driver::Nvidia => "NVIDIA",
            Driver::Lavapipe => "Mesa lavapipe",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version([u32; 3]);

impl Version {
    pub const fn new(major: u32, minor: u32, patch: u32) -> Version {
        Version([major, minor, patch])
    }

    /// The first number, with or without points, in a driver's version string: 22.3.6 of `Mesa 22.3.6 (LLVM 15.0.6)`.
    pub fn parse(text: &str) -> Option<Version> {
        let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
        let word = text.split(|c: char| c != '.' && !c.is_ascii_digit()).find(is_number)?;
        let mut version = Version::new(0, 0, 0);
        for (part, digits) in version.0.iter_mut().zip(word.split('.')) {
            *part = digits.parse().ok()?;
        }
        Some(version)
    }

    const fn is_before(self, other: Version) -> bool {
        let mut at = 0;
        while at < 3 {
            if self.0[at] != other.0[at] {
                return self.0[at] < other.0[at];
            }
            at += 1;
        }
        false
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The versions of a driver that have a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// One that was seen to have it. Older ones are taken to have it, too.
    pub seen: Version,
    /// The first one without it; `None` while none is known.
    pub fixed: Option<Version>,
}

impl Versions {
    /// A version that is not known may have every fault.
    pub const fn include(self, version: Option<Version>) -> bool {
        match (version, self.fixed) {
            (Some(version), Some(fixed)) => version.is_before(fixed),
            _ => true,
        }
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fixed {
            Some(fixed) => write!(f, "seen in {}, fixed in {fixed}", self.seen),
            None => write!(f, "seen in {}; no fixed version known", self.seen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Version, Versions};

    #[test]
    fn versions_in_the_words_of_drivers() {
        let check = |text: &str, expect: Option<[u32; 3]>| {
            assert_eq!(Version::parse(text), expect.map(Version), "{text}");
        };
        check("Mesa 22.3.6 (LLVM 15.0.6)", Some([22, 3, 6]));
        check("580.159.04", Some([580, 159, 4]));
        check("Mesa 24.1.0-devel (git-0123456789)", Some([24, 1, 0]));
        check("Mesa 25", Some([25, 0, 0]));
        check("1.2.3.4", Some([1, 2, 3]));
        check("99999999999", None);
        check("a version of its own", None);
        check("", None);
    }

    #[test]
    fn a_fault_ends_with_the_version_that_fixes_it() {
        let seen = Version::new(22, 3, 6);
        let check = |fixed: Option<Version>, version: &str, expect: bool| {
            assert_eq!(Versions { seen, fixed }.include(Version::parse(version)), expect, "{version}");
        };
        let fixed = Some(Version::new(24, 1, 0));
        check(fixed, "Mesa 22.3.6", true);
        check(fixed, "Mesa 21.0.0", true);
        check(fixed, "Mesa 24.0.9", true);
        check(fixed, "Mesa 24.1.0", false);
        check(fixed, "Mesa 25.0.0", false);
        check(fixed, "no number", true);
        check(None, "Mesa 99.0.0", true);
    }
}
