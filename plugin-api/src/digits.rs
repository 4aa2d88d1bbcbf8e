//! Whole numbers as decimal digits, without the formatting machinery: this is the inner loop of everything written as text.

/// The numbers from 00 to 99.
const PAIRS: &str = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
                     5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

/// Appends a number with at least so many digits.
#[inline]
pub(crate) fn push_digits(out: &mut String, number: u64, width: usize) {
    match (width, number) {
        (2, 0..100) => push_pair(out, number),
        (4, 0..10_000) => {
            push_pair(out, number / 100);
            push_pair(out, number % 100);
        }
        _ => push_any_digits(out, number, width),
    }
}

#[inline]
fn push_pair(out: &mut String, number: u64) {
    out.push_str(&PAIRS[number as usize * 2..][..2]);
}

fn push_any_digits(out: &mut String, number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut rest = number;
    let mut start = digits.len();
    while rest >= 10 {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    start -= 1;
    digits[start] = b'0' + rest as u8;
    start = start.min(digits.len() - width.min(digits.len()));
    out.push_str(std::str::from_utf8(&digits[start..]).unwrap_or_default());
}

/// Appends a number with at least so many digits, a minus sign before them where it is negative.
#[inline]
pub(crate) fn push_signed(out: &mut String, number: i64, width: usize) {
    if number < 0 {
        out.push('-');
    }
    push_digits(out, number.unsigned_abs(), width);
}
