//! What a text algorithm refuses: the class of the exception and its message, worded as CPython words it.

/// The classes of exceptions that text algorithms raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextErrorKind {
    Value,
    Type,
    Overflow,
    Memory,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    pub kind: TextErrorKind,
    pub message: String,
}

pub type Result<T> = std::result::Result<T, TextError>;

/// The most characters that one field may be padded to: 1 GiB.
const LONGEST_FIELD: usize = 1 << 30;

pub fn value_error<T>(message: impl Into<String>) -> Result<T> {
    Err(TextError { kind: TextErrorKind::Value, message: message.into() })
}

pub fn type_error<T>(message: impl Into<String>) -> Result<T> {
    Err(TextError { kind: TextErrorKind::Type, message: message.into() })
}

pub fn overflow_error<T>(message: impl Into<String>) -> Result<T> {
    Err(TextError { kind: TextErrorKind::Overflow, message: message.into() })
}

/// Refuses a width or a precision that would fill the memory of the machine.
pub fn check_length(n_chars: usize) -> Result<()> {
    if n_chars > LONGEST_FIELD {
        return Err(TextError { kind: TextErrorKind::Memory, message: String::new() });
    }
    Ok(())
}
