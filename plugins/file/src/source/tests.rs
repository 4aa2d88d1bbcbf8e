//! Tests of decoding through small buffers.

use proptest::prelude::*;

use super::*;

/// Reads a text to its end in pieces of this size, and the place in the file of each of its characters or odd bytes.
fn decode(bytes: &[u8], encoding: Encoding, room: usize) -> (Vec<u8>, Vec<u64>) {
    let mut text = Text::new(Box::new(NotPacked(io::Cursor::new(bytes.to_vec()))), encoding, 0).unwrap();
    let mut buffer = vec![0; room];
    let mut decoded = Vec::new();
    loop {
        let count = text.read(&mut buffer).unwrap();
        if count == 0 {
            break;
        }
        decoded.extend_from_slice(&buffer[..count]);
    }
    let fronts = (0..decoded.len()).filter(|at| decoded[*at] & 0xc0 != 0x80);
    let places = fronts.map(|at| text.place(at as u64, &decoded[text.anchor(at as u64) as usize..at])).collect();
    (decoded, places)
}

proptest! {
    #[test]
    fn text_and_places_are_those_of_the_encoding(
        text in "[a-z\n,é泊😀]{0,200}",
        encoding in prop_oneof![Just("UTF-8"), Just("UTF-16LE"), Just("UTF-16BE"), Just("gb18030")],
        room in LEAST_ROOM..60usize,
    ) {
        let encoding = Encoding::from_name(encoding).unwrap();
        let mut bytes = Vec::new();
        let mut expected = Vec::new();
        for character in text.chars() {
            expected.push(bytes.len() as u64);
            encoding.encode(character.encode_utf8(&mut [0; 4]), &mut bytes).unwrap();
        }
        let (decoded, places) = decode(&bytes, encoding, room);
        prop_assert_eq!(String::from_utf8(decoded).unwrap(), text);
        prop_assert_eq!(places, expected);
    }

    #[test]
    fn any_bytes_are_decoded_to_an_end(
        bytes in proptest::collection::vec(any::<u8>(), 0..300), room in LEAST_ROOM..60usize
    ) {
        for name in ["GBK", "UTF-16", "Shift_JIS", "latin1", "us-ascii", "windows-1252"] {
            // Not at the front, where they could be a byte-order mark.
            let _ = decode(&[b"ab", &bytes[..]].concat(), Encoding::from_name(name).unwrap(), room);
        }
    }
}

#[test]
fn bytes_that_mean_nothing_are_marked() {
    let encoding = Encoding::from_name("us-ascii").unwrap();
    assert_eq!(decode(b"a\xe9b", encoding, 16), (vec![b'a', UNDECODABLE, b'b'], vec![0, 1, 2]));
    let (decoded, places) = decode(b"\xb2\xb4,\xff,x", Encoding::from_name("gbk").unwrap(), 16);
    assert_eq!(decoded, ["泊,".as_bytes(), &[UNDECODABLE], b",x"].concat());
    assert_eq!(places, [0, 2, 3, 4, 5]);
}
