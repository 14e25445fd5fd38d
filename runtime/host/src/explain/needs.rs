//! What a kernel needs beyond what every device has, and which devices of this machine lack it.

use std::collections::BTreeMap;

use crate::inspect::{Capability, Explanation};
use kps_device::{DeviceError, select};

/// Capabilities in the order of SPIR-V's list, each with the devices that lack it.
#[derive(Debug, Default)]
pub struct Needs(BTreeMap<Capability, Vec<Lacks>>);

/// A device that lacks a capability.
#[derive(Debug)]
pub struct Lacks {
    pub device: String,
    /// The feature of the driver that would bring it, where it is one.
    pub feature: Option<&'static str>,
}

impl Needs {
    /// Asks the devices that `device` chooses from, if there is anything to ask.
    pub fn of(explanation: &Explanation, device: Option<&str>) -> Result<Needs, DeviceError> {
        let uses = &explanation.module.capabilities;
        let mut needs: BTreeMap<Capability, Vec<Lacks>> =
            uses.iter().map(|found| (found.capability, Vec::new())).collect();
        if needs.is_empty() {
            return Ok(Needs(needs));
        }
        let mut devices = select::lacking(&explanation.module.words)?;
        if let Some(device) = device {
            let infos: Vec<_> = devices.iter().map(|(info, _)| info.clone()).collect();
            let chosen = select::choose(&infos, &select::Selector::parse(device))?;
            devices = vec![devices.swap_remove(chosen)];
        }
        for (info, lacking) in devices {
            for lack in lacking {
                let found = needs.iter_mut().find(|(capability, _)| capability.name() == lack.capability);
                if let Some((_, devices)) = found {
                    let feature = lack.feature.map(|feature| feature.name());
                    devices.push(Lacks { device: info.name.clone(), feature });
                }
            }
        }
        Ok(Needs(needs))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Capability, &[Lacks])> {
        self.0.iter().map(|(capability, lacks)| (capability, &lacks[..]))
    }

    pub fn lacks(&self, capability: Capability) -> &[Lacks] {
        self.0.get(&capability).map_or(&[], |lacks| lacks)
    }

    /// `` Float64, which `X` lacks (shaderFloat64) ``.
    pub fn sentence(&self, capability: Capability) -> String {
        let lacks = self.lacks(capability);
        let name = capability.name();
        if lacks.is_empty() {
            return name.to_owned();
        }
        let devices: Vec<String> = lacks.iter().map(|lacks| format!("`{}`", lacks.device)).collect();
        let verb = if devices.len() == 1 { "lacks" } else { "lack" };
        let feature = lacks.iter().find_map(|lacks| lacks.feature);
        let feature = feature.map_or(String::new(), |feature| format!(" ({feature})"));
        format!("{name}, which {} {verb}{feature}", devices.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(devices: &[&str], expect: &str) {
        let lacks = devices
            .iter()
            .map(|device| Lacks { device: (*device).to_owned(), feature: Some("shaderFloat64") })
            .collect();
        let needs = Needs(BTreeMap::from([(Capability::Float64, lacks)]));
        assert_eq!(needs.sentence(Capability::Float64), expect);
    }

    #[test]
    fn devices_that_lack_a_capability_are_named() {
        check(&[], "Float64");
        check(&["Chip"], "Float64, which `Chip` lacks (shaderFloat64)");
        check(&["Chip", "Card"], "Float64, which `Chip`, `Card` lack (shaderFloat64)");
    }
}
