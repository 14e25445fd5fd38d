//! Errors of text algorithms: the class of the exception and its message, as CPython words it.

use crate::value::Raise;

/// The classes of exceptions that text algorithms raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextErrorKind {
    Value,
    Type,
    Overflow,
}

/// Why an algorithm returns no text.
pub enum TextError {
    Refused {
        kind: TextErrorKind,
        message: String,
    },
    /// The run was interrupted, or would exceed its memory limit.
    Raised(Raise),
}

pub type Result<T> = std::result::Result<T, TextError>;

/// The most characters that one field may be padded to: 1 GiB.
const LONGEST_FIELD: usize = 1 << 30;

pub fn value_error<T>(message: impl Into<String>) -> Result<T> {
    refuse(TextErrorKind::Value, message)
}

pub fn type_error<T>(message: impl Into<String>) -> Result<T> {
    refuse(TextErrorKind::Type, message)
}

pub fn overflow_error<T>(message: impl Into<String>) -> Result<T> {
    refuse(TextErrorKind::Overflow, message)
}

fn refuse<T>(kind: TextErrorKind, message: impl Into<String>) -> Result<T> {
    Err(TextError::Refused { kind, message: message.into() })
}

/// Refuses a width or a precision that would fill the memory of the machine, or more of it than the script may hold.
pub fn check_length(n_chars: usize) -> Result<()> {
    if n_chars > LONGEST_FIELD {
        return Err(TextError::Raised(crate::errors::memory_error("")));
    }
    Ok(crate::memory::grant(n_chars)?)
}

impl TextError {
    /// The message of a refusal; empty for a raised exception.
    pub fn message(&self) -> &str {
        match self {
            TextError::Refused { message, .. } => message,
            TextError::Raised(_) => "",
        }
    }
}

impl From<Raise> for TextError {
    fn from(raise: Raise) -> TextError {
        TextError::Raised(raise)
    }
}

impl std::fmt::Debug for TextError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TextError::Refused { kind, message } => write!(f, "{kind:?}: {message}"),
            TextError::Raised(_) => f.write_str("raised"),
        }
    }
}

impl PartialEq for TextError {
    fn eq(&self, other: &TextError) -> bool {
        match (self, other) {
            (TextError::Refused { kind, message }, TextError::Refused { kind: other, message: text }) => {
                kind == other && message == text
            }
            _ => false,
        }
    }
}
