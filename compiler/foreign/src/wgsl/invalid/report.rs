//! An error's message and help text, before it has a place.

pub(super) struct Report {
    pub message: String,
    pub help: Option<String>,
}

pub(super) fn report(message: impl Into<String>) -> Report {
    Report { message: message.into(), help: None }
}

impl Report {
    pub fn help(self, help: impl Into<String>) -> Report {
        Report { help: Some(help.into()), ..self }
    }
}
