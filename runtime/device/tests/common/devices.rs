//! The devices for tests: all of this machine, with the validation layer for Vulkan.

use std::rc::Rc;

use kps_device::{
    Access, Backend, Binding, BufferId, Command, Commands, Device, Dispatch, MemoryUsage, OpenOptions,
    Opened, PipelineId, PipelineOptions, QueueId, Selector, Ticket, Waited, vulkan,
};

/// Runs the test on every device, and on Vulkan devices a second time with separate memory. Any message of
/// the validation layer fails it.
pub fn on_every_device(test: impl Fn(&Rc<dyn Device>)) {
    on_every_device_opened(&OpenOptions::default(), |opened| test(&opened.device));
}

pub fn on_every_device_opened(options: &OpenOptions, test: impl Fn(Opened)) {
    vulkan::request_validation();
    let infos = kps_device::select::list();
    assert!(infos.iter().any(|info| info.backend == Backend::Vulkan), "there is no Vulkan device to test on");
    for (index, info) in infos.iter().enumerate().filter(|(_, info)| info.lacks.is_empty()) {
        let open = |options| match kps_device::select::open(&Selector::Index(index as u32), options) {
            Ok(opened) => opened,
            Err(error) => panic!("`{}` does not open: {error}", info.name),
        };
        test(open(options));
        if info.backend == Backend::Vulkan {
            test(open(&OpenOptions { separate_memory: true, ..options.clone() }));
        }
    }
    assert_eq!(
        vulkan::validation_messages(),
        Vec::<String>::new(),
        "the validation layer has nothing to say"
    );
}

/// Short forms of device calls for tests.
pub trait Shorthand {
    fn floats(&self, values: &[f32]) -> BufferId;
    fn zeros(&self, n: usize) -> BufferId;
    fn get(&self, buffer: BufferId, n: usize) -> Vec<f32>;
    fn module(&self, name: &str) -> PipelineId;
    fn run(&self, commands: Vec<Command>) -> Ticket;
    fn done(&self, ticket: Ticket);
}

impl Shorthand for Rc<dyn Device> {
    fn floats(&self, values: &[f32]) -> BufferId {
        let buffer = self.zeros(values.len());
        self.write(buffer, 0, &bytes(values)).expect("the buffer is that long");
        buffer
    }

    fn zeros(&self, n: usize) -> BufferId {
        self.alloc(4 * n as u64, MemoryUsage::Device).expect("there is memory")
    }

    fn get(&self, buffer: BufferId, n: usize) -> Vec<f32> {
        let mut bytes = vec![0xff; 4 * n];
        self.read(buffer, 0, &mut bytes).expect("the buffer is that long");
        floats(&bytes)
    }

    fn module(&self, name: &str) -> PipelineId {
        self.load(&super::module(name), &PipelineOptions::default()).expect("the module loads")
    }

    fn run(&self, commands: Vec<Command>) -> Ticket {
        self.submit(QueueId(0), &Commands::new(commands), &[]).expect("the commands are good")
    }

    fn done(&self, ticket: Ticket) {
        assert_eq!(self.wait(ticket, None), Ok(Waited::Done));
    }
}

/// `pipeline` over whole buffers of `n` floats each, at bindings 0, 1, .. of set 0.
pub fn dispatch(pipeline: PipelineId, buffers: &[(BufferId, Access)], n: usize) -> Command {
    let bindings = (0..).zip(buffers).map(|(binding, &(buffer, access))| Binding {
        set: 0,
        binding,
        buffer,
        offset: 0,
        size: 4 * n as u64,
        access,
    });
    Command::Dispatch(Dispatch {
        pipeline,
        bindings: bindings.collect(),
        samplers: Vec::new(),
        push_constants: Vec::new(),
        addressed: Vec::new(),
        groups: [n as u32, 1, 1],
    })
}

pub fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}
