//! Shared memory of a workgroup, and barriers.

use super::row::{Effect, FUNCTION, Gives, Kind, Known, Row, Stages, any, rest};
use super::section::{ALONE, Rows, Section, Setup};
use super::typing::{Typing, ValueRule};

pub static SECTION: Section = Section {
    title: "Workgroups",
    about: "",
    rows: Rows::Functions(ROWS),
    setup: Setup { local_size: 4, printing: "local_id.x == 0", ..ALONE },
};

const BARE: Row = Row { known: Known::Bare, ..FUNCTION };

const ROWS: &[Row] = &[
    Row {
        names: &["shared"],
        params: &[any("T").sample("f32").optional(), any("n").sample("256").optional(), rest(Kind::Any)],
        result: Gives::Other("an array"),
        typing: Typing::Value(ValueRule::SharedArray),
        stages: Stages::Compute,
        external: &[(&["__shared__"], "write `tile = shared(f32, 16, 16)`")],
        doc: "[An array of the workgroup](../guide/shared-memory.md), of one axis or more.",
        example: "len(shared(f32, 64))",
        ..BARE
    },
    Row {
        names: &["barrier"],
        result: Gives::Nothing,
        typing: Typing::Value(ValueRule::Barrier),
        effect: Effect::Group,
        stages: Stages::Compute,
        external: &[
            (
                &[
                    "__syncthreads",
                    "syncthreads",
                    "sync_threads",
                    "__syncwarp",
                    "storageBarrier",
                    "GroupMemoryBarrierWithGroupSync",
                    "workgroupBarrier",
                    "groupMemoryBarrier",
                    "memory_barrier",
                    "mem_fence",
                    "threadfence",
                    "memoryBarrier",
                    "memoryBarrierShared",
                ],
                "",
            ),
            (
                &["subgroup_barrier", "subgroupBarrier", "syncwarp"],
                "write `barrier()`, which waits for the whole workgroup",
            ),
            (
                &["__threadfence", "__threadfence_block"],
                "write `barrier()`; other workgroups see it after the launch",
            ),
        ],
        doc: "[Waits for all invocations of the workgroup](../guide/barriers.md).",
        example: "barrier()",
        ..BARE
    },
    Row {
        names: &["uniform"],
        params: &[any("x")],
        typing: Typing::Value(ValueRule::Uniform),
        effect: Effect::Group,
        doc: "The value `x`, which the script says is the same in the whole workgroup.",
        example: "uniform(group_id.x)",
        ..BARE
    },
];
