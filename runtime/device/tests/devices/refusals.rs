//! Modules that every device refuses, with a message and without a crash.

use kps_device::{
    Backend, BufferId, Command, Commands, DeviceError, Feature, MemoryUsage, OpenOptions, PipelineId,
    PipelineOptions, QueueId, SourceLine, Ticket,
};

use super::common::devices::{Shorthand, dispatch, on_every_device, on_every_device_opened};
use super::common::module;
use super::{BOTH, READ, WRITE, copy, refused_command};

#[test]
fn ids_that_nobody_gave_are_refused() {
    on_every_device(|device| {
        let unknown = |kind| DeviceError::UnknownId { kind };
        let a = device.zeros(4);
        let kernel = device.module("increment");
        let run = |command| device.submit(QueueId(0), &Commands::new(vec![command]), &[]).map(drop);
        let unknown_id = BufferId(77);
        assert_eq!(device.read(unknown_id, 0, &mut []), Err(unknown("buffer")));
        assert_eq!(run(copy(unknown_id, 0, a, 0, 4)), Err(unknown("buffer")));
        assert_eq!(run(dispatch(kernel, &[(unknown_id, BOTH)], 1)), Err(unknown("buffer")));
        assert_eq!(run(dispatch(PipelineId(77), &[(a, BOTH)], 1)), Err(unknown("pipeline")));
        assert!(device.interface(PipelineId(77)).is_err());
        assert_eq!(device.submit(QueueId(7), &Commands::new(vec![]), &[]).map(drop), Err(unknown("queue")));
        let ticket = Ticket { queue: 0, value: 1 << 40 };
        assert_eq!(device.wait(ticket, None), Err(unknown("ticket")));
        assert_eq!(
            device.submit(QueueId(0), &Commands::new(vec![]), &[ticket]).map(drop),
            Err(unknown("ticket"))
        );
        device.free(unknown_id);
        assert!(device.host_memory(unknown_id).is_none());
        assert!(device.alloc(0, MemoryUsage::Device).is_err());
    });
}

#[test]
fn a_missing_feature_is_named_with_the_line_that_needs_it() {
    on_every_device(|device| {
        let loaded = device.load(&module("brain_float"), &PipelineOptions::default());
        if device.info().features.contains(&Feature::Bfloat16) {
            assert!(loaded.is_ok(), "{loaded:?}");
            return;
        }
        if device.info().backend == Backend::Cpu {
            assert!(matches!(loaded, Err(DeviceError::BadModule { .. })), "{loaded:?}");
            return;
        }
        let line = SourceLine { file: "round.kps".to_owned(), line: 7, column: 12 };
        let expect = DeviceError::MissingFeature {
            feature: Feature::Bfloat16,
            device: device.info().name.clone(),
            line: Some(line),
        };
        assert_eq!(loaded, Err(expect));
    });
}

#[test]
fn extensions_that_a_device_lacks_are_warned_of() {
    let extensions = vec!["VK_EXT_of_nobody".to_owned(), "VK_KHR_maintenance1".to_owned()];
    let options = OpenOptions { extensions, ..OpenOptions::default() };
    on_every_device_opened(&options, |opened| {
        let lacking: Vec<_> = opened.warnings.iter().filter(|w| w.contains("`VK_EXT_of_nobody`")).collect();
        assert_eq!(lacking.len(), usize::from(opened.device.info().backend == Backend::Vulkan));
    });
}

#[test]
fn modules_that_are_none_are_refused() {
    on_every_device(|device| {
        let refused = |words: &[u32], options: &PipelineOptions| match device.load(words, options) {
            Err(DeviceError::BadModule { message, .. }) => message,
            other => panic!("{other:?} is no refusal of a module"),
        };
        let plain = PipelineOptions::default();
        let mut cut = module("multiply");
        cut.truncate(40);
        for words in [&[][..], &[1, 2, 3], &cut] {
            assert!(refused(words, &plain).contains("SPIR-V"), "{words:?}");
        }
        let start = PipelineOptions { entry_point: "start".to_owned(), ..PipelineOptions::default() };
        assert!(refused(&module("multiply"), &start).contains("`start`"));
        let mut wrong = module("multiply");
        let last = wrong.len() - 1;
        // The function never ends.
        wrong.truncate(last - 1);
        assert!(refused(&wrong, &plain).contains("SPIR-V"));
    });
}

/// Modules with random changes are loaded or refused.
#[test]
fn damaged_modules_do_no_harm() {
    let good = module("increment");
    on_every_device(|device| {
        let mut state = 1_u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut n_refused = 0;
        for _ in 0..300 {
            let mut words = good.clone();
            let at = 5 + random(good.len() - 5);
            words[at] = if random(2) == 0 { good[random(good.len())] } else { words[at] ^ 1 << random(32) };
            n_refused += usize::from(device.load(&words, &PipelineOptions::default()).is_err());
        }
        assert!((150..300).contains(&n_refused), "{n_refused} of 300 were refused");
    });
}

#[test]
fn commands_that_do_not_fit_are_refused() {
    on_every_device(|device| {
        let (kernel, scaling) = (device.module("multiply"), device.module("scale"));
        let a = device.floats(&[1.0, 2.0, 3.0, 4.0]);
        let refuse = |command| refused_command(device.submit(QueueId(0), &Commands::new(vec![command]), &[]));
        let unbound = refuse(dispatch(kernel, &[(a, READ), (a, READ)], 4));
        assert!(unbound.contains("set 0 binding 2"), "{unbound}");
        let beyond = refuse(dispatch(kernel, &[(a, READ), (a, READ), (a, WRITE)], 5));
        assert!(beyond.contains("16 bytes"), "{beyond}");
        let unpushed = refuse(dispatch(scaling, &[(a, BOTH)], 4));
        assert!(unpushed.contains("push constants") && unpushed.contains('8'), "{unpushed}");
        assert!(refuse(copy(a, 0, a, 4, 8)).contains("overlaps itself"));
        assert!(refuse(copy(a, 8, a, 0, 12)).contains("16 bytes"));
        assert_eq!(device.get(a, 4), [1.0, 2.0, 3.0, 4.0]);
    });
}

#[test]
fn limits_are_checked_before_anything_runs() {
    on_every_device(|device| {
        let limits = device.info().limits;
        let a = device.floats(&[1.0]);
        let kernel = device.module("increment");
        let Command::Dispatch(mut huge) = dispatch(kernel, &[(a, BOTH)], 1) else { unreachable!() };
        if limits.max_groups[1] < u32::MAX {
            huge.groups = [1, limits.max_groups[1] + 1, 1];
            let refused = device.submit(QueueId(0), &Commands::new(vec![Command::Dispatch(huge)]), &[]);
            let expect = (u64::from(limits.max_groups[1]) + 1, u64::from(limits.max_groups[1]));
            match refused {
                Err(DeviceError::LimitExceeded { asked, limit, .. }) => assert_eq!((asked, limit), expect),
                other => panic!("{other:?} is no refusal of too many groups"),
            }
        }
        let wide = PipelineOptions {
            spec_constants: vec![(0, u64::from(limits.max_local_size[0]) + 1)],
            ..PipelineOptions::default()
        };
        let refused = device.load(&module("scale"), &wide);
        assert!(matches!(refused, Err(DeviceError::LimitExceeded { .. })), "{refused:?}");
        let sharing = |n_cells: u32| PipelineOptions {
            spec_constants: vec![(1, n_cells.into())],
            ..PipelineOptions::default()
        };
        let shared = module("shared");
        assert!(device.load(&shared, &sharing(limits.max_shared / 4)).is_ok());
        let refused = device.load(&shared, &sharing(limits.max_shared / 4 + 1));
        let expected =
            matches!(refused, Err(DeviceError::LimitExceeded { .. } | DeviceError::BadModule { .. }));
        assert!(expected, "{refused:?}");
        for size in [limits.max_allocation.saturating_add(1), u64::MAX] {
            let refused = device.alloc(size, MemoryUsage::Device);
            let expected =
                matches!(refused, Err(DeviceError::LimitExceeded { .. } | DeviceError::OutOfMemory { .. }));
            assert!(expected, "{refused:?}");
        }
    });
}
