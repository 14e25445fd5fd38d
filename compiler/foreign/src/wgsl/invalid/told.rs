//! A mistake in words: what is wrong, and what to write instead.

pub(super) struct Told {
    pub message: String,
    pub help: Option<String>,
}

pub(super) fn told(message: impl Into<String>) -> Told {
    Told { message: message.into(), help: None }
}

impl Told {
    pub fn help(self, help: impl Into<String>) -> Told {
        Told { help: Some(help.into()), ..self }
    }
}
