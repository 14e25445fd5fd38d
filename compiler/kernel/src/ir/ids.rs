//! The ids of the IR: a number of its own type for each kind of thing.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            pub fn idx(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A value of one function.
    NodeId
}
id! {
    /// A variable of one function.
    LocalId
}
id! {
    /// An array that a workgroup has in common.
    SharedId
}
id! {
    /// A scalar parameter of the kernel.
    ScalarId
}
id! {
    /// A texture parameter of the kernel.
    TextureId
}
id! {
    /// A sampler parameter of the kernel.
    SamplerId
}
id! {
    /// An input or an output of a vertex or fragment function.
    PortId
}
id! {
    /// A function; callees come before their callers.
    FunctionId
}
id! {
    /// The stores on one path into a merge.
    CarryId
}

/// An array that is accessed: a parameter of the kernel, or one of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BufferId {
    /// By its place in [`Kernel::buffers`](super::Kernel::buffers).
    Param(u32),
    /// By its place in [`Function::choices`](super::Function::choices). Legalisation leaves none.
    Choice(u32),
}

impl BufferId {
    /// The place of a parameter in [`Kernel::buffers`](super::Kernel::buffers).
    pub fn idx(self) -> usize {
        match self {
            BufferId::Param(at) => at as usize,
            BufferId::Choice(_) => unreachable!("legalisation selects among the arrays of a choice"),
        }
    }
}
