//! How a component opens files in its directories: without waiting, and nothing but files and directories.
//!
//! Another process that may write to a directory may put a pipe or a device there, or replace a file by one while the
//! file is opened. Opening a pipe may wait forever, and would keep a thread; opening a device may have effects.

use std::fs::File as StdFile;
use std::io;
use std::sync::Arc;

use cap_fs_ext::{
    FollowSymlinks, OpenOptionsFollowExt, OpenOptionsMaybeDirExt, OpenOptionsSyncExt,
};
use cap_primitives::fs::{Metadata, OpenOptions, open};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::filesystem::{Descriptor, Dir, File, FsPerms, OpenMode};
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, ErrorCode, OpenFlags, PathFlags,
};

use super::state::State;

/// The interface and its function.
const TYPES: &str = "wasi:filesystem/types@0.2.12";
const OPEN_AT: &str = "[method]descriptor.open-at";

/// How many files one proxy opens at a time. Further ones wait, so that a disk that hangs blocks no more than this many
/// threads.
pub const AT_A_TIME: usize = 4;

/// The parameters of `open-at`.
type OpenParams = (
    Resource<Descriptor>,
    PathFlags,
    String,
    OpenFlags,
    DescriptorFlags,
);

/// The outcome for the component.
type Answer = (Result<Resource<Descriptor>, ErrorCode>,);

/// Replaces WASI's function by this one.
pub fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    let mut types = linker.instance(TYPES)?;
    types.func_wrap_async(
        OPEN_AT,
        |mut store: StoreContextMut<State>, asked: OpenParams| {
            Box::new(async move {
                let (descriptor, links, path, how, flags) = asked;
                let state = store.data_mut();
                let opening = match state.table.get(&descriptor)? {
                    Descriptor::Dir(dir) => FileOpening::new(dir, links, how, flags),
                    Descriptor::File(_) => Err(ErrorCode::NotDirectory),
                };
                let permits = state.opens.clone();
                let opened = match opening {
                    Ok(opening) => opening.open(path, permits).await,
                    Err(code) => Err(code),
                };
                let answer: Answer = match opened {
                    Ok(opened) => (Ok(store.data_mut().table.push(opened)?),),
                    Err(code) => (Err(code),),
                };
                Ok(answer)
            })
        },
    )
}

/// A file to be opened, with options that the directory permits.
struct FileOpening {
    dir: Dir,
    options: OpenOptions,
    mode: OpenMode,
    must_be_dir: bool,
}

impl FileOpening {
    /// Checks the parameters by the rules of WASI.
    fn new(
        dir: &Dir,
        links: PathFlags,
        how: OpenFlags,
        flags: DescriptorFlags,
    ) -> Result<Self, ErrorCode> {
        let is_synced = DescriptorFlags::FILE_INTEGRITY_SYNC
            | DescriptorFlags::DATA_INTEGRITY_SYNC
            | DescriptorFlags::REQUESTED_WRITE_SYNC;
        if flags.intersects(is_synced) {
            return Err(ErrorCode::Unsupported);
        }
        let changes = OpenFlags::CREATE | OpenFlags::TRUNCATE;
        let must_be_dir = how.contains(OpenFlags::DIRECTORY);
        if must_be_dir && how.intersects(changes | OpenFlags::EXCLUSIVE) {
            return Err(ErrorCode::Invalid);
        }
        let writes = flags.contains(DescriptorFlags::WRITE);
        let mut mode = OpenMode::empty();
        mode.set(OpenMode::WRITE, writes || how.intersects(changes));
        // The system requires reading or writing; a file that is opened for neither gets a mode without writing.
        mode.set(
            OpenMode::READ,
            !writes || flags.contains(DescriptorFlags::READ),
        );
        if dir.perms == FsPerms::ReadOnly && mode.contains(OpenMode::WRITE) {
            return Err(ErrorCode::NotPermitted);
        }
        let follow = if links.contains(PathFlags::SYMLINK_FOLLOW) {
            FollowSymlinks::Yes
        } else {
            FollowSymlinks::No
        };
        let creates = how.contains(OpenFlags::CREATE);
        let is_new = how.contains(OpenFlags::EXCLUSIVE);
        let mut options = OpenOptions::new();
        options
            .read(mode.contains(OpenMode::READ))
            .write(mode.contains(OpenMode::WRITE))
            .create(creates && !is_new)
            .create_new(creates && is_new)
            .truncate(how.contains(OpenFlags::TRUNCATE))
            .follow(follow)
            .maybe_dir(true)
            .nonblock(true);
        Ok(Self {
            dir: dir.clone(),
            options,
            mode,
            must_be_dir,
        })
    }

    /// Opens the file on a blocking thread, once the semaphore permits it.
    async fn open(self, path: String, permits: Arc<Semaphore>) -> Result<Descriptor, ErrorCode> {
        let permit = permits.acquire_owned().await;
        let (dir, options) = (self.dir.dir.clone(), self.options);
        let opened = spawn_blocking(move || {
            // Released when the thread is done, even if the call was dropped.
            let _permit = permit;
            open_one(&dir, &path, &options)
        });
        let (file, about) = opened.await.map_err(|_| ErrorCode::Io)??;
        let perms = self.dir.perms;
        match (about.is_dir(), self.must_be_dir) {
            (true, _) => Ok(Descriptor::Dir(Dir::new(file, perms, self.mode, false))),
            (false, true) => Err(ErrorCode::NotDirectory),
            (false, false) => Ok(Descriptor::File(File::new(file, perms, self.mode, false))),
        }
    }
}

fn open_one(dir: &StdFile, path: &str, options: &OpenOptions) -> io::Result<(StdFile, Metadata)> {
    let file = open(dir, path.as_ref(), options)?;
    let about = Metadata::from_file(&file)?;
    if about.is_dir() || about.is_file() {
        Ok((file, about))
    } else {
        Err(io::ErrorKind::Unsupported.into())
    }
}
