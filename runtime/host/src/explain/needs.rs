//! What a kernel needs beyond what every device has, and which devices of this machine lack it.

use std::collections::BTreeMap;

use crate::inspect::{Capability, Explanation, Stage};
use kps_device::select::{self, Suited};
use kps_device::{DeviceError, PipelineOptions};

/// A kernel's requirements, and the devices that lack them.
#[derive(Debug, Default)]
pub struct Needs {
    /// In the order of SPIR-V's list, each with the devices that lack it.
    capabilities: BTreeMap<Capability, Vec<Lacks>>,
    refusals: Vec<Refusal>,
}

/// A device that refuses the kernel for its sizes, whatever capabilities it has.
#[derive(Debug)]
pub struct Refusal {
    pub device: String,
    pub reason: String,
}

/// A device that lacks a capability.
#[derive(Debug)]
pub struct Lacks {
    pub device: String,
    /// The driver's feature that would provide it, if there is one.
    pub feature: Option<&'static str>,
}

impl Needs {
    /// Tests the devices that `device` chooses from. Vertex and fragment functions run on none of them.
    pub fn of(explanation: &Explanation, device: Option<&str>) -> Result<Needs, DeviceError> {
        let module = &explanation.module;
        let needed = module.capabilities.iter().map(|found| (found.capability, Vec::new()));
        let mut needs = Needs { capabilities: needed.collect(), refusals: Vec::new() };
        if module.stage != Stage::Compute {
            return Ok(needs);
        }
        let options = PipelineOptions { subgroup_size: explanation.subgroup_size, ..Default::default() };
        let mut devices = select::suited(&module.words, &options)?;
        if let Some(device) = device {
            let infos: Vec<_> = devices.iter().map(|suited| suited.device.clone()).collect();
            let chosen = select::choose(&infos, &select::Selector::parse(device))?;
            devices = vec![devices.swap_remove(chosen)];
        }
        devices.into_iter().for_each(|suited| needs.add(suited));
        Ok(needs)
    }

    fn add(&mut self, Suited { device, lacking, refused }: Suited) {
        for lack in lacking {
            let mut all = self.capabilities.iter_mut();
            if let Some((_, lacks)) = all.find(|(capability, _)| capability.name() == lack.capability) {
                let feature = lack.feature.map(|feature| feature.name());
                lacks.push(Lacks { device: device.name.clone(), feature });
            }
        }
        let refusal = refused.map(|error| Refusal { device: device.name, reason: error.to_string() });
        self.refusals.extend(refusal);
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Capability, &[Lacks])> {
        self.capabilities.iter().map(|(capability, lacks)| (capability, &lacks[..]))
    }

    pub fn refusals(&self) -> &[Refusal] {
        &self.refusals
    }

    pub fn lacks(&self, capability: Capability) -> &[Lacks] {
        self.capabilities.get(&capability).map_or(&[], |lacks| lacks)
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
        let needs = Needs { capabilities: BTreeMap::from([(Capability::Float64, lacks)]), refusals: vec![] };
        assert_eq!(needs.sentence(Capability::Float64), expect);
    }

    #[test]
    fn devices_that_lack_a_capability_are_named() {
        check(&[], "Float64");
        check(&["Chip"], "Float64, which `Chip` lacks (shaderFloat64)");
        check(&["Chip", "Card"], "Float64, which `Chip`, `Card` lack (shaderFloat64)");
    }
}
