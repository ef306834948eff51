use super::*;

fn sample() -> Compiled {
    let r = Resources { registers: 40, stack: 8, spill_stores: 1, spill_loads: 2, shared: 4096 };
    let resources = BTreeMap::from([("numeric".to_owned(), r), ("symbolic".to_owned(), Resources::default())]);
    Compiled { image: Image::Cubin(b"\x7fELF".iter().copied().chain(0..=255).collect()), resources }
}

#[test]
fn fnv_is_the_published_one() {
    // Draft-eastlake-fnv: FNV-1a 128 of the empty string and of "a".
    assert_eq!(fnv(FNV_OFFSET, b""), 0x6c62272e07bb014262b821756295c58d);
    assert_eq!(fnv(FNV_OFFSET, b"a"), 0xd228cb696f1a8caf78912b704e4a8964);
}

#[test]
fn keys_tell_parts_apart() {
    assert_ne!(Key::of(&["ab", "c"]), Key::of(&["a", "bc"]));
    assert_ne!(Key::of(&["a"]), Key::of(&["a", ""]));
    assert_eq!(Key::of(&["a", "b"]), Key::of(&["a", "b"]));
}

#[test]
fn what_is_written_is_read() {
    let root = tempfile::tempdir().unwrap();
    let cache = Cache::at(Some(root.path().join("deep/er")));
    let key = Key::of(&["source"]);
    assert_eq!(cache.read(key), None);
    cache.write(key, &sample());
    assert_eq!(cache.read(key), Some(sample()));
    assert_eq!(cache.read(Key::of(&["other"])), None);
    assert_eq!(cache.counts(), (1, 2));
    assert_eq!(cache.status(), Status::Ready(root.path().join("deep/er")));
    let ptx = Compiled { image: Image::Ptx(b"ptx\0".to_vec()), resources: BTreeMap::new() };
    cache.write(key, &ptx);
    assert_eq!(cache.read(key), Some(ptx));
    // What the driver would read beyond.
    for image in [Image::Ptx(b"ptx".to_vec()), Image::Ptx(Vec::new()), Image::Cubin(b"\x7fEL".to_vec())] {
        cache.write(key, &Compiled { image, resources: BTreeMap::new() });
        assert_eq!(cache.read(key), None);
    }
    cache.remove(key);
    assert_eq!(cache.read(key), None);
}

#[test]
fn any_flipped_byte_or_cut_is_noticed() {
    let root = tempfile::tempdir().unwrap();
    let cache = Cache::at(Some(root.path().into()));
    let key = Key::of(&["source"]);
    cache.write(key, &sample());
    let path = cache.path(key).unwrap();
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        assert_eq!(decode(key, &bytes), None, "flip at {at}");
        assert_eq!(decode(key, &whole[..at]), None, "cut at {at}");
    }
    let mut longer = whole.clone();
    longer.push(0);
    assert_eq!(decode(key, &longer), None);
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(cache.read(key), None);
    cache.write(key, &sample());
    assert_eq!(cache.read(key), Some(sample()));
}

#[test]
fn a_false_count_with_a_true_checksum_is_no_crash() {
    let key = Key::of(&[]);
    let mut payload = vec![0u8];
    payload.extend(u32::MAX.to_le_bytes());
    payload.extend(u32::MAX.to_le_bytes());
    let mut file = Vec::from(MAGIC);
    file.extend(key.0.to_le_bytes());
    file.extend((payload.len() as u64).to_le_bytes());
    file.extend(fnv(FNV_OFFSET, &payload).to_le_bytes());
    file.extend(payload);
    assert_eq!(decode(key, &file), None);
}

#[test]
fn an_unusable_folder_is_reported_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    // A file where the folder should be fails for every user, root too.
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    let cache = Cache::at(Some(file.join("cache")));
    let key = Key::of(&["source"]);
    assert!(matches!(cache.status(), Status::Ready(_)));
    cache.write(key, &sample());
    assert_eq!(cache.read(key), None);
    assert!(matches!(cache.status(), Status::Off(why) if why.contains("file/cache")));
}

#[test]
fn concurrent_writers_leave_one_whole_file() {
    let root = tempfile::tempdir().unwrap();
    let cache = Cache::at(Some(root.path().into()));
    let key = Key::of(&["source"]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    cache.write(key, &sample());
                    assert_eq!(cache.read(key), Some(sample()));
                }
            });
        }
    });
    let files: Vec<_> = fs::read_dir(root.path()).unwrap().flatten().collect();
    assert_eq!(files.len(), 1, "temporary files are left: {files:?}");
}

#[test]
fn folders_in_order() {
    let of = |set: &[(&str, &str)]| folder(|name| set.iter().find(|(n, _)| *n == name).map(|(_, v)| PathBuf::from(v)));
    let all = [("HOME", "/h"), ("XDG_CACHE_HOME", "/x"), (CACHE_DIR, "/own")];
    assert_eq!(of(&all), Some("/own".into()));
    assert_eq!(of(&all[..2]), Some("/x/oplus".into()));
    assert_eq!(of(&all[..1]), Some("/h/.cache/oplus".into()));
    assert_eq!(of(&[("HOME", "/h"), (CACHE_DIR, "")]), None);
    assert_eq!(of(&[]), None);
    assert!(matches!(Cache::at(None).status(), Status::Off(_)));
}
