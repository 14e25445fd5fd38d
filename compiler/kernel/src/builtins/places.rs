//! The names of an invocation's place in the launch.

use super::section::{ALONE, Name, Rows, Section};

/// The place of an invocation, or a size of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlaceName {
    GlobalId,
    LocalId,
    GroupId,
    NumGroups,
    LocalSize,
    GlobalSize,
    GlobalId64,
    SubgroupId,
    SubgroupLane,
    SubgroupSize,
}

/// In the order of `NAMES`.
const PLACES: [PlaceName; 10] = [
    PlaceName::GlobalId,
    PlaceName::GlobalId64,
    PlaceName::LocalId,
    PlaceName::GroupId,
    PlaceName::NumGroups,
    PlaceName::LocalSize,
    PlaceName::GlobalSize,
    PlaceName::SubgroupId,
    PlaceName::SubgroupLane,
    PlaceName::SubgroupSize,
];

const NAMES: [Name; PLACES.len()] = [
    place("global_id", "the invocation within the launch: an `ivec3`"),
    place("global_id64", "the same as three `i64`"),
    place("local_id", "the invocation within its workgroup"),
    place("group_id", "the workgroup within the launch"),
    place("num_groups", "the number of workgroups"),
    place("local_size", "the invocations of a workgroup"),
    place("global_size", "the domain of the launch"),
    place("subgroup_id", "the subgroup within the workgroup"),
    place("subgroup_lane", "the lane within the subgroup"),
    place("subgroup_size", "the number of lanes of a subgroup"),
];

const fn place(name: &'static str, doc: &'static str) -> Name {
    Name { name, doc }
}

impl PlaceName {
    pub fn name(self) -> &'static str {
        let at = PLACES.iter().position(|place| *place == self);
        at.map_or("", |at| NAMES[at].name)
    }
}

pub(super) fn named(name: &str) -> Option<PlaceName> {
    NAMES.iter().position(|known| known.name == name).map(|at| PLACES[at])
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|place| place.name)
}

pub static SECTION: Section =
    Section { title: "Place of the invocation", about: "", rows: Rows::Names(&NAMES), setup: ALONE };
