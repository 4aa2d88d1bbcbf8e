//! Tests of which files share a split.

use proptest::prelude::*;

use super::*;

const MIB: u64 = 1 << 20;

/// The portions of files of these sizes, with their numbers as paths.
fn portions(sizes: impl IntoIterator<Item = u64>, channels: u32) -> Vec<Portion> {
    let mut packs = Packs::default();
    let never = |_: &FoundFile| None;
    let mut portions = Vec::new();
    for (number, size) in sizes.into_iter().enumerate() {
        packs.add(FoundFile { path: number.to_string(), size });
        portions.extend(std::iter::from_fn(|| packs.next(channels, &never)));
    }
    packs.complete();
    portions.extend(std::iter::from_fn(|| packs.next(channels, &never)));
    portions
}

fn files(portions: &[Portion]) -> Vec<usize> {
    let count = |portion: &Portion| match portion {
        Portion::Files(files) => files.len(),
        Portion::Ranges(..) => panic!("nothing is cut"),
    };
    portions.iter().map(count).collect()
}

/// Trap 78.
#[test]
fn few_files_have_a_split_each_and_many_small_ones_share_them() {
    assert_eq!(files(&portions([1; 64], 2)), [1; 64]);
    assert_eq!(files(&portions([1; 65], 2)), [65]);
    assert_eq!(files(&portions([1; 2_500], 1)), [1_000, 1_000, 500]);
    assert_eq!(files(&portions([MIB; 100], 1)), [32, 32, 32, 4]);
}

#[test]
fn the_first_splits_are_smaller() {
    assert_eq!(files(&portions([1; 4_100], 2)), [&[250; 8][..], &[1_000, 1_000, 100]].concat());
    let several = files(&portions([MIB; 200], 2));
    assert_eq!(several, [&[8; 8][..], &[32; 4], &[8]].concat());
    let many = files(&portions([MIB; 32 * 200 + 64 * 3], 1));
    assert_eq!(many, [&[32; 200][..], &[64; 3]].concat());
}

#[test]
fn a_large_file_has_a_split_of_its_own() {
    let sizes = [&[MIB; 70][..], &[100 * MIB], &[MIB; 2]].concat();
    assert_eq!(files(&portions(sizes, 1)), [32, 32, 6, 1, 2]);
}

#[test]
fn a_split_is_there_as_soon_as_it_is_certain() {
    let mut packs = Packs::default();
    let never = |_: &FoundFile| None;
    let next = |packs: &mut Packs, size: u64| {
        packs.add(FoundFile { path: String::new(), size });
        packs.next(1, &never)
    };
    // A large one has its own however many there will be; of small ones it is not known before there are many.
    assert!(next(&mut packs, 40 * MIB).is_some());
    assert!((0..63).all(|_| next(&mut packs, MIB).is_none()));
    assert!(matches!(next(&mut packs, MIB), Some(Portion::Files(files)) if files.len() == 32));
    assert!(matches!(packs.next(1, &never), Some(Portion::Files(files)) if files.len() == 32));
    assert_eq!(packs.next(1, &never), None);
}

/// PS-03.
#[test]
fn a_file_that_is_to_be_cut_is_in_no_pack() {
    let mut packs = Packs::default();
    let range = |file: &FoundFile| (file.size > 64 * MIB).then_some(64 * MIB);
    for size in [&[MIB; 3][..], &[65 * MIB], &[MIB; 70]].concat() {
        packs.add(FoundFile { path: String::new(), size });
    }
    packs.complete();
    let portions: Vec<_> = std::iter::from_fn(|| packs.next(1, &range)).collect();
    let told = |portion: &Portion| match portion {
        Portion::Files(files) => files.len() as u64,
        Portion::Ranges(file, bytes) => file.size / MIB * 1_000 + bytes / MIB,
    };
    assert_eq!(portions.iter().map(told).collect::<Vec<_>>(), [3, 65_064, 32, 32, 6]);
}

proptest! {
    #[test]
    fn every_file_is_in_one_split_and_none_is_too_large(
        sizes in proptest::collection::vec(prop_oneof![0..100u64, 0..20 * MIB], 0..3_000), channels in 1..4u32
    ) {
        let portions = portions(sizes.clone(), channels);
        let mut paths = Vec::new();
        for portion in &portions {
            let Portion::Files(files) = portion else { panic!("nothing is cut") };
            let bytes: u64 = files.iter().map(|file| file.size).sum();
            prop_assert!(!files.is_empty() && files.len() <= USUAL.files);
            prop_assert!(bytes <= EARLY.bytes || portions.len() as u64 > EARLY_SPLITS && bytes <= USUAL.bytes);
            paths.extend(files.iter().map(|file| file.path.clone()));
        }
        prop_assert_eq!(paths, (0..sizes.len()).map(|number| number.to_string()).collect::<Vec<_>>());
    }
}
