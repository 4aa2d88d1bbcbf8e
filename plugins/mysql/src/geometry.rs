//! Geometries: MySQL keeps a number for the system of coordinates before the well-known binary form, others inside it.

/// Says in the number of a shape that the system of coordinates follows.
const HAS_SYSTEM: u32 = 0x2000_0000;

/// The standard form: well-known binary, in the extended form where there is a system of coordinates. What is malformed stays.
pub(crate) fn to_standard(stored: &[u8]) -> Vec<u8> {
    let Some((system, [order, shape @ ..])) = stored.split_first_chunk::<4>() else { return stored.to_vec() };
    let system = u32::from_le_bytes(*system);
    let Some((shape, rest)) = shape.split_first_chunk::<4>() else { return stored.to_vec() };
    if system == 0 {
        return stored[4..].to_vec();
    }
    let mut standard = vec![*order];
    match order {
        0 => {
            standard.extend((u32::from_be_bytes(*shape) | HAS_SYSTEM).to_be_bytes());
            standard.extend(system.to_be_bytes());
        }
        _ => {
            standard.extend((u32::from_le_bytes(*shape) | HAS_SYSTEM).to_le_bytes());
            standard.extend(system.to_le_bytes());
        }
    }
    standard.extend(rest);
    standard
}

/// The form that MySQL stores; `None` for what is no little-endian well-known binary.
pub(crate) fn to_stored(standard: &[u8]) -> Option<Vec<u8>> {
    let (order, rest) = standard.split_first()?;
    let (shape, rest) = rest.split_first_chunk::<4>()?;
    // The server keeps no others than little-endian ones.
    if *order != 1 {
        return None;
    }
    let kind = u32::from_le_bytes(*shape);
    let (system, rest) = match kind & HAS_SYSTEM {
        0 => (&[0; 4], rest),
        _ => rest.split_first_chunk::<4>()?,
    };
    Some([&system[..], &[1], &(kind & !HAS_SYSTEM).to_le_bytes(), rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_keeps_its_system_of_coordinates_there_and_back() {
        let point = [&[1u8][..], &1u32.to_le_bytes(), &1.5f64.to_le_bytes(), &(-2.0f64).to_le_bytes()].concat();
        for system in [0u32, 4326] {
            let stored = [&system.to_le_bytes()[..], &point].concat();
            let standard = to_standard(&stored);
            assert_eq!(to_stored(&standard), Some(stored), "system {system}");
        }
        assert_eq!(to_standard(&[&[0; 4][..], &point].concat()), point);
    }

    #[test]
    fn what_is_no_geometry_is_told_or_left() {
        assert_eq!(to_stored(b"PO"), None);
        assert_eq!(to_standard(b"PO"), b"PO");
    }
}
