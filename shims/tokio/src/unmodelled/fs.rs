//! Files.

use crate::io::AsyncSeek;
use std::fs::{FileTimes, FileType, Metadata, Permissions};
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};

types! { File ReadDir DirEntry }
reads! { File }
writes! { File }
descriptors! { File }

impl AsyncSeek for File {
    fn start_seek(self: Pin<&mut Self>, _: io::SeekFrom) -> io::Result<()> {
        match self.0 {}
    }
    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        match self.0 {}
    }
}

impl From<std::fs::File> for File {
    #[track_caller]
    fn from(file: std::fs::File) -> File {
        File::from_std(file)
    }
}

impl File {
    opens! {
        "fs::File::open": fn open<P>(path: P) -> io::Result<File>;
        "fs::File::create": fn create<P>(path: P) -> io::Result<File>;
        "fs::File::create_new": fn create_new<P>(path: P) -> io::Result<File>;
    }
    makes! { "fs::File::from_std": fn from_std(file: std::fs::File) -> File; }

    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }
}
behind! { async File:
    fn sync_all() -> io::Result<()>;
    fn sync_data() -> io::Result<()>;
    fn set_len(length: u64) -> io::Result<()>;
    fn metadata() -> io::Result<Metadata>;
    fn try_clone() -> io::Result<File>;
    fn into_std() -> std::fs::File;
    fn set_permissions(permissions: Permissions) -> io::Result<()>;
    fn set_times(times: FileTimes) -> io::Result<()>;
    fn set_modified(time: std::time::SystemTime) -> io::Result<()>;
}
behind! { File:
    fn try_into_std() -> Result<std::fs::File, File>;
    fn set_max_buf_size(size: usize) -> ();
    fn max_buf_size() -> usize;
}

opens! {
    "fs::read": fn read<P>(path: P) -> io::Result<Vec<u8>>;
    "fs::read_to_string": fn read_to_string<P>(path: P) -> io::Result<String>;
    "fs::read_link": fn read_link<P>(path: P) -> io::Result<PathBuf>;
    "fs::write": fn write<P, C>(path: P, contents: C) -> io::Result<()>;
    "fs::copy": fn copy<P, Q>(from: P, to: Q) -> io::Result<u64>;
    "fs::rename": fn rename<P, Q>(from: P, to: Q) -> io::Result<()>;
    "fs::hard_link": fn hard_link<P, Q>(original: P, link: Q) -> io::Result<()>;
    "fs::symlink": fn symlink<P, Q>(original: P, link: Q) -> io::Result<()>;
    "fs::remove_file": fn remove_file<P>(path: P) -> io::Result<()>;
    "fs::remove_dir": fn remove_dir<P>(path: P) -> io::Result<()>;
    "fs::remove_dir_all": fn remove_dir_all<P>(path: P) -> io::Result<()>;
    "fs::create_dir": fn create_dir<P>(path: P) -> io::Result<()>;
    "fs::create_dir_all": fn create_dir_all<P>(path: P) -> io::Result<()>;
    "fs::metadata": fn metadata<P>(path: P) -> io::Result<Metadata>;
    "fs::symlink_metadata": fn symlink_metadata<P>(path: P) -> io::Result<Metadata>;
    "fs::set_permissions": fn set_permissions<P>(path: P, permissions: Permissions) -> io::Result<()>;
    "fs::try_exists": fn try_exists<P>(path: P) -> io::Result<bool>;
    "fs::canonicalize": fn canonicalize<P>(path: P) -> io::Result<PathBuf>;
    "fs::read_dir": fn read_dir<P>(path: P) -> io::Result<ReadDir>;
}

behind! { async ReadDir: fn next_entry() -> io::Result<Option<DirEntry>>; }
behind! { ReadDir: fn poll_next_entry(cx: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>>; }
behind! { DirEntry: fn path() -> PathBuf; fn file_name() -> std::ffi::OsString; fn ino() -> u64; }
behind! { async DirEntry: fn metadata() -> io::Result<Metadata>; fn file_type() -> io::Result<FileType>; }

/// Defines a type of options. Setting them has no effect.
macro_rules! options {
    ($type:ident: $($name:ident($kind:ty))*) => {
        /// The options of an operation that is not modelled.
        #[derive(Debug, Clone, Default)]
        pub struct $type(());

        impl $type {
            pub fn new() -> $type {
                $type(())
            }
            $(pub fn $name(&mut self, _: $kind) -> &mut $type {
                self
            })*
        }
    };
}
options! { OpenOptions:
    read(bool) write(bool) append(bool) truncate(bool) create(bool) create_new(bool) mode(u32) custom_flags(i32)
}
options! { DirBuilder: recursive(bool) mode(u32) }

impl OpenOptions {
    opens! { "fs::OpenOptions::open": fn open_file<P>(path: P) -> io::Result<File>; }
    #[track_caller]
    pub fn open<P>(&self, path: P) -> impl Future<Output = io::Result<File>> + use<P> {
        OpenOptions::open_file(path)
    }
}

impl From<std::fs::OpenOptions> for OpenOptions {
    fn from(_: std::fs::OpenOptions) -> OpenOptions {
        OpenOptions::new()
    }
}

impl DirBuilder {
    #[track_caller]
    pub fn create<P>(&self, path: P) -> impl Future<Output = io::Result<()>> + use<P> {
        create_dir(path)
    }
}
