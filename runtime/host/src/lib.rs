//! The kps scripting host: values, the virtual machine, modules and the embedding API.

pub mod text;
