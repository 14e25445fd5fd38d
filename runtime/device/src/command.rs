//! Checks of a dispatch with buffer addresses, shared by both devices.

use crate::interface::AddressedArray;
use crate::{ADDRESS_ALIGNMENT, Addressed, DeviceError, Dispatch, Result};

/// The buffer whose address the dispatch passes for an array.
pub(crate) fn addressed_at<'d>(wanted: &AddressedArray, dispatch: &'d Dispatch) -> Result<&'d Addressed> {
    let mut given = dispatch.addressed.iter().filter(|addressed| addressed.at == wanted.offset);
    let name = &wanted.name;
    let addressed = match (given.next(), given.next()) {
        (Some(addressed), None) => addressed,
        (None, _) => return Err(bad_command(format!("`{name}` is given no address"))),
        (Some(_), Some(_)) => return Err(bad_command(format!("`{name}` is given two addresses"))),
    };
    let Addressed { offset, .. } = addressed;
    match offset.is_multiple_of(ADDRESS_ALIGNMENT) {
        true => Ok(addressed),
        false => Err(bad_command(format!(
            "`{name}` begins at byte {offset} of its buffer, which is no multiple of {ADDRESS_ALIGNMENT}"
        ))),
    }
}

/// Writes the address into the push constants.
pub(crate) fn put_address(addressed: &Addressed, address: u64, push: &mut [u8]) -> Result<()> {
    let at = addressed.at as usize;
    let n = push.len();
    match push.get_mut(at..).and_then(|rest| rest.get_mut(..8)) {
        Some(place) => {
            place.copy_from_slice(&address.to_le_bytes());
            Ok(())
        }
        None => Err(bad_command(format!("an address at byte {at} of {n} bytes of push constants"))),
    }
}

/// A binding for messages, with its name.
pub(crate) fn shown((set, binding): (u32, u32), name: Option<&str>) -> String {
    let place = format!("set {set} binding {binding}");
    name.map_or(place.clone(), |name| format!("`{name}` at {place}"))
}

fn bad_command(message: String) -> DeviceError {
    DeviceError::BadCommand { message }
}
