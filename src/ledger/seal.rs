//! One line of the record: a JSON object whose last field is a checksum of what is before it.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::StoreError;

/// The version of everything that is written.
pub(crate) const VERSION: u32 = 1;

/// `,"check":"01234567"}`
const TAIL: usize = 20;

/// The text of an object, with its checksum as a last field.
pub(crate) fn seal(object: &impl Serialize) -> Result<String, StoreError> {
    let mut text =
        serde_json::to_string(object).map_err(|error| StoreError::Unwritable(error.to_string()))?;
    let check = crc32(text.as_bytes());
    text.pop();
    text.push_str(&format!(",\"check\":\"{check:08x}\"}}"));
    Ok(text)
}

/// Reads what [`seal`] wrote; `None` if it is damaged.
pub(crate) fn unseal<T: DeserializeOwned>(line: &str) -> Option<T> {
    serde_json::from_str(&unsealed(line)?).ok()
}

/// The object without its checksum; `None` if it does not fit.
pub(crate) fn unsealed(line: &str) -> Option<String> {
    let start = line.len().checked_sub(TAIL)?;
    let (body, tail) = (line.get(..start)?, line.get(start..)?);
    let check = tail.strip_prefix(",\"check\":\"")?.strip_suffix("\"}")?;
    let body = format!("{body}}}");
    let is_right = u32::from_str_radix(check, 16) == Ok(crc32(body.as_bytes()));
    is_right.then_some(body)
}

/// The CRC-32 of zip and of Python's `zlib.crc32`.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut index = 0;
        while index < 256 {
            let mut value = index as u32;
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 1 {
                    value >> 1 ^ 0xedb8_8320
                } else {
                    value >> 1
                };
                bit += 1;
            }
            #[allow(clippy::indexing_slicing, reason = "evaluated by the compiler")]
            {
                table[index] = value;
            }
            index += 1;
        }
        table
    };
    let step = |crc: u32, byte: &u8| {
        let place = (crc as u8 ^ byte) as usize;
        crc >> 8 ^ TABLE.get(place).copied().unwrap_or_default()
    };
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn every_change_of_one_byte_is_noticed() {
        let object = json!({"sequence": 17, "loss": "0.25"});
        let line = seal(&object).unwrap();
        assert_eq!(unseal::<Value>(&line), Some(object));
        for at in 0..line.len() {
            for bit in 0..7 {
                let mut bytes = line.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let changed = String::from_utf8(bytes).unwrap();
                // A checksum in capitals is the same one.
                let same = changed.eq_ignore_ascii_case(&line) && at >= line.len() - TAIL;
                assert!(same || unseal::<Value>(&changed).is_none(), "{changed}");
            }
            assert_eq!(unseal::<Value>(&line[..at]), None);
        }
    }
}
