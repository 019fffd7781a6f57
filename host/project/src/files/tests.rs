use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use super::*;

fn root() -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("root");
    fs::create_dir_all(path.join("in/side")).unwrap();
    fs::write(folder.path().join("outside"), "theirs").unwrap();
    let root = Root::open(&path).unwrap();
    (folder, root)
}

fn text(root: &Root) -> String {
    match root.text("it", 10) {
        Ok(text) => format!("{text:?}"),
        Err(error) => error.why,
    }
}

#[test]
fn a_text_must_be_a_small_regular_file() {
    let (folder, root) = root();
    let it = root.path.join("it");
    assert_eq!(text(&root), "None");
    fs::write(&it, "0123456789").unwrap();
    assert_eq!(text(&root), "Some(\"0123456789\")");
    fs::write(&it, "0123456789a").unwrap();
    assert_eq!(text(&root), "the file is larger than 10 B");
    fs::File::create(&it).unwrap().set_len(1 << 30).unwrap();
    assert_eq!(text(&root), "the file is larger than 10 B");
    fs::write(&it, b"\xff").unwrap();
    assert_eq!(text(&root), "the file is not UTF-8");
    fs::remove_file(&it).unwrap();
    fs::create_dir(&it).unwrap();
    assert_eq!(text(&root), "it is a folder, but must be a file");
    fs::remove_dir(&it).unwrap();
    for target in [
        Path::new("in"),
        &folder.path().join("outside"),
        Path::new("/dev/zero"),
    ] {
        symlink(target, &it).unwrap();
        assert_eq!(text(&root), "it is a link, but must be a file");
        fs::remove_file(&it).unwrap();
    }
    let _socket = UnixListener::bind(&it).unwrap();
    let other = "it is a pipe, a socket or a device, but must be a file";
    assert_eq!(text(&root), other);
    fs::remove_file(&it).unwrap();
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &it, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert_eq!(text(&root), other);
}

#[test]
fn a_link_is_followed_if_it_stays_beneath_the_root() {
    let (folder, root) = root();
    fs::write(root.path.join("in/side/file"), "ours").unwrap();
    symlink("in/side", root.path.join("link")).unwrap();
    let read = root.file(Path::new("link/file"), 10).unwrap().read();
    assert_eq!(read.unwrap(), b"ours");
    for (name, target) in [
        ("relative", PathBuf::from("../outside")),
        ("absolute", folder.path().join("outside")),
        ("system", "/etc/passwd".into()),
    ] {
        symlink(target, root.path.join(name)).unwrap();
        let error = root.file(Path::new(name), 10).err().unwrap();
        assert_eq!(
            error.why,
            "a symbolic link in its path leads out of the project"
        );
    }
    symlink(folder.path(), root.path.join("up")).unwrap();
    let error = root.file(Path::new("up/outside"), 10).err().unwrap();
    assert_eq!(
        error.why,
        "a symbolic link in its path leads out of the project"
    );
}

#[test]
fn a_file_is_written_beneath_the_root_and_never_through_a_link_at_its_end() {
    let (folder, root) = root();
    let written = |path: &str, text: &str| {
        let written = root.write(Path::new(path), text.as_bytes());
        written.map_err(|error| error.why)
    };
    written("new/deep/it", "longer").unwrap();
    written("new/deep/it", "new").unwrap();
    let it = root.path.join("new/deep/it");
    assert_eq!(fs::read_to_string(&it).unwrap(), "new");
    let outside = folder.path().join("outside");
    symlink(&outside, root.path.join("link")).unwrap();
    symlink(folder.path(), root.path.join("out")).unwrap();
    symlink("in", root.path.join("inner")).unwrap();
    assert_eq!(
        written("link", "ours").unwrap_err(),
        "it is a link, but must be a file"
    );
    assert_eq!(
        written("in", "ours").unwrap_err(),
        "it is a folder, but must be a file"
    );
    for path in ["out/outside", "out/new/it", "../outside"] {
        written(path, "ours").unwrap_err();
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "theirs");
    assert!(!folder.path().join("new").exists());
    written("inner/it", "within").unwrap();
    let read = root.text_beneath(Path::new("inner/it"), 10).unwrap();
    assert_eq!(read.as_deref(), Some("within"));
    root.text_beneath(Path::new("out/outside"), 10).unwrap_err();
    let pipe = root.path.join("pipe");
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    written("pipe", "ours").unwrap_err();
}
