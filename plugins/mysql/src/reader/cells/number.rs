//! Numbers of the binary protocol. Decimals are text there.

use arrow_buffer::i256;

use super::{Cell, Misfit};

/// So many bytes as they are.
#[inline]
pub(super) fn bytes<const N: usize>(packet: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, rest) = packet.split_first_chunk::<N>()?;
    *packet = rest;
    Some(*bytes)
}

#[inline]
pub(super) fn signed(packet: &mut &[u8], width: usize) -> Option<i64> {
    Some(match width {
        1 => i64::from(i8::from_le_bytes(bytes(packet)?)),
        2 => i64::from(i16::from_le_bytes(bytes(packet)?)),
        4 => i64::from(i32::from_le_bytes(bytes(packet)?)),
        _ => i64::from_le_bytes(bytes(packet)?),
    })
}

#[inline]
pub(super) fn unsigned(packet: &mut &[u8], width: usize) -> Option<u64> {
    Some(match width {
        1 => u64::from(u8::from_le_bytes(bytes(packet)?)),
        2 => u64::from(u16::from_le_bytes(bytes(packet)?)),
        4 => u64::from(u32::from_le_bytes(bytes(packet)?)),
        _ => u64::from_le_bytes(bytes(packet)?),
    })
}

/// The number that bits stand for.
pub(super) fn bits(bits: &[u8]) -> Option<u64> {
    (bits.len() <= 8).then(|| bits.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A decimal of up to 38 digits, counted in units of its scale.
pub(super) fn decimal128(text: &[u8], digits: u8, scale: i8) -> Cell<i128> {
    let mut value = 0i128;
    let parsed = each_digit(text, digits, scale, |digit| value = value * 10 + i128::from(digit));
    parsed.map(|is_negative| Some(if is_negative { -value } else { value })).ok_or_else(|| misfit(text))
}

/// Seconds with up to six digits of a fraction, in microseconds.
pub(super) fn micros(text: &[u8]) -> Option<i64> {
    decimal128(text, 24, 6).ok().flatten().and_then(|micros| i64::try_from(micros).ok())
}

/// A decimal of up to 76 digits.
pub(super) fn decimal256(text: &[u8], digits: u8, scale: i8) -> Cell<i256> {
    let mut value = i256::ZERO;
    let ten = i256::from_i128(10);
    let parsed = each_digit(text, digits, scale, |digit| {
        value = value.wrapping_mul(ten).wrapping_add(i256::from_i128(i128::from(digit)));
    });
    parsed.map(|is_negative| Some(if is_negative { value.wrapping_neg() } else { value })).ok_or_else(|| misfit(text))
}

/// Hands out the digits of a number with exactly so many behind the point; tells whether it is negative. `None` where it is no
/// such number, or has too many digits.
#[inline]
fn each_digit(text: &[u8], digits: u8, scale: i8, mut take: impl FnMut(u8)) -> Option<bool> {
    let (is_negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        text => (false, text),
    };
    let (mut behind, mut significant, mut is_behind) = (0, 0u32, false);
    for byte in text {
        match byte {
            b'0'..=b'9' => {
                let digit = byte - b'0';
                significant += u32::from(significant > 0 || digit > 0);
                take(digit);
                behind += i32::from(is_behind);
            }
            b'.' if !is_behind => is_behind = true,
            _ => return None,
        }
        if significant > u32::from(digits) {
            return None;
        }
    }
    let missing = i32::from(scale) - behind;
    if text.is_empty() || missing < 0 || (significant > 0 && significant as i32 + missing > i32::from(digits)) {
        return None;
    }
    for _ in 0..missing {
        take(0);
    }
    Some(is_negative)
}

fn misfit(text: &[u8]) -> Misfit {
    Misfit {
        value: String::from_utf8_lossy(text).into_owned(),
        cause: "the number has more digits than its column was announced with".into(),
    }
}
