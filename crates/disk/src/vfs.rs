//! The layer between SQLite and its files: SQLite's own way to files, with a look at the plan before each step.
#![expect(unsafe_code, reason = "SQLite's interface for files is a table of C functions")]

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rusqlite::ffi::{
    self, SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_IOERR, SQLITE_IOERR_DELETE, SQLITE_IOERR_FSYNC,
    SQLITE_IOERR_LOCK, SQLITE_IOERR_READ, SQLITE_IOERR_SHMLOCK, SQLITE_IOERR_SHMMAP, SQLITE_IOERR_TRUNCATE,
    SQLITE_IOERR_WRITE, SQLITE_OK, SQLITE_SHM_LOCK, sqlite3_file, sqlite3_int64, sqlite3_io_methods,
    sqlite3_vfs,
};

use crate::plan::{Operation, State, Verdict};

/// All disks that somebody still has, and whether SQLite was told of this layer.
static DISKS: Mutex<Disks> = Mutex::new(Disks { watched: Vec::new(), is_registered: false });

struct Disks {
    watched: Vec<Weak<State>>,
    is_registered: bool,
}

/// Puts the files of a disk under its plan, and this layer below SQLite when it is the first.
pub(crate) fn watch(disk: &Arc<State>) -> io::Result<()> {
    let mut disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
    if !disks.is_registered {
        register()?;
        disks.is_registered = true;
    }
    disks.watched.retain(|disk| disk.strong_count() > 0);
    disks.watched.push(Arc::downgrade(disk));
    Ok(())
}

fn register() -> io::Result<()> {
    // SAFETY: a null name asks for the default; what comes back is there for as long as the process is, and is only read.
    let (real, mut ours) = unsafe {
        let real = ffi::sqlite3_vfs_find(std::ptr::null());
        if real.is_null() {
            return Err(io::Error::other("SQLite has no way to files"));
        }
        (real, *real)
    };
    ours.zName = c"disk-of-tests".as_ptr();
    ours.pNext = std::ptr::null_mut();
    ours.pAppData = real.cast();
    ours.szOsFile += HEAD;
    ours.xOpen = Some(open);
    ours.xDelete = Some(delete);
    // SAFETY: the table is never freed, and all its functions either are ours or do not look at it.
    let code = unsafe { ffi::sqlite3_vfs_register(Box::leak(Box::new(ours)), 1) };
    if code == SQLITE_OK { Ok(()) } else { Err(io::Error::other(format!("SQLite says {code}"))) }
}

/// What a file of ours begins with; behind it is the real one.
#[repr(C)]
struct Head {
    base: sqlite3_file,
    /// From a box, or null where the file is on no disk of ours.
    watched: *mut Watched,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "two pointers")]
const HEAD: c_int = size_of::<Head>() as c_int;

/// A file that is on a disk of ours.
struct Watched {
    disk: Arc<State>,
    path: PathBuf,
}

impl Watched {
    /// The file at a path, if it is on a disk of ours.
    fn at(path: PathBuf) -> Option<Self> {
        let disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
        let disk = disks.watched.iter().rev().filter_map(Weak::upgrade).find(|disk| disk.has(&path))?;
        Some(Self { disk, path })
    }
}

/// # Safety
/// The name must be null or end with a zero byte.
unsafe fn path_of(name: *const c_char) -> Option<PathBuf> {
    if name.is_null() {
        return None;
    }
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) };
    Some(Path::new(OsStr::from_bytes(name.to_bytes())).to_owned())
}

/// The real file behind one of ours.
///
/// # Safety
/// The file must be one that [`open`] was given.
unsafe fn real(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: SQLite gives as many bytes for a file as we say, which is the head and a real one.
    unsafe { file.cast::<Head>().add(1).cast() }
}

/// What is known of a file.
///
/// # Safety
/// The file must be open, and not be closed meanwhile.
unsafe fn watched<'a>(file: *mut sqlite3_file) -> Option<&'a Watched> {
    // SAFETY: `open` has set it to null or to what lives until `close`.
    unsafe { (*file.cast::<Head>()).watched.as_ref() }
}

/// What becomes of an operation on a file.
///
/// # Safety
/// As of [`watched`].
unsafe fn judge(file: *mut sqlite3_file, operation: Operation) -> Verdict {
    // SAFETY: as the caller promises.
    unsafe { watched(file) }.map_or(Verdict::Pass, |watched| watched.disk.judge(operation, false))
}

/// Calls a function of the real file.
macro_rules! pass {
    ($file:expr, $function:ident $(, $argument:expr)*) => {{
        let file = real($file);
        match (*(*file).pMethods).$function {
            Some(function) => function(file $(, $argument)*),
            None => SQLITE_IOERR,
        }
    }};
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite calls this with the table that we registered, a name that lives as long as the file, and room for one.
    unsafe {
        let head = file.cast::<Head>();
        (*head).base.pMethods = std::ptr::null();
        (*head).watched = std::ptr::null_mut();
        let watched = path_of(name).and_then(Watched::at);
        if let Some(watched) = &watched {
            if watched.disk.judge(Operation::Open, false) != Verdict::Pass {
                return SQLITE_CANTOPEN;
            }
            watched.disk.images().opened(&watched.path);
        }
        let below = (*vfs).pAppData.cast::<sqlite3_vfs>();
        let Some(open) = (*below).xOpen else { return SQLITE_CANTOPEN };
        let inner = real(file);
        (*inner).pMethods = std::ptr::null();
        let code = open(below, name, inner, flags, flags_out);
        // SQLite closes what has functions, even when it could not be opened.
        if !(*inner).pMethods.is_null() {
            (*head).base.pMethods = &raw const METHODS;
            (*head).watched = watched.map_or(std::ptr::null_mut(), |watched| {
                watched.disk.note_open();
                Box::into_raw(Box::new(watched))
            });
        }
        code
    }
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: SQLite calls this with the table that we registered and a name that lives as long as the call.
    unsafe {
        let watched = path_of(name).and_then(Watched::at);
        if let Some(watched) = &watched
            && watched.disk.judge(Operation::Delete, false) != Verdict::Pass
        {
            return SQLITE_IOERR_DELETE;
        }
        let below = (*vfs).pAppData.cast::<sqlite3_vfs>();
        let Some(delete) = (*below).xDelete else { return SQLITE_IOERR_DELETE };
        let code = delete(below, name, sync);
        if let Some(watched) = watched.filter(|_| code == SQLITE_OK) {
            watched.disk.images().deleted(&watched.path);
        }
        code
    }
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    // With the index of the journal in shared memory, and without files mapped into memory.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

// SAFETY, of everything below: SQLite calls these with a file that `open` was given and that is open, from one thread at a
// time, and with memory that is as long as it says.

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: see above; nobody uses what is known of the file after this.
    unsafe {
        let known = std::mem::replace(&mut (*file.cast::<Head>()).watched, std::ptr::null_mut());
        let code = pass!(file, xClose);
        if !known.is_null() {
            Box::from_raw(known).disk.note_closed();
        }
        code
    }
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    to: *mut c_void,
    length: c_int,
    offset: sqlite3_int64,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        match judge(file, Operation::Read) {
            Verdict::Pass => pass!(file, xRead, to, length, offset),
            _ => SQLITE_IOERR_READ,
        }
    }
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    from: *const c_void,
    length: c_int,
    offset: sqlite3_int64,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        let Some(watched) = watched(file) else { return pass!(file, xWrite, from, length, offset) };
        let mut size = 0;
        let told = pass!(file, xFileSize, &raw mut size);
        if told != SQLITE_OK {
            return told;
        }
        let grows = offset + i64::from(length) > size;
        let (length, code) = match watched.disk.judge(Operation::Write, grows) {
            Verdict::Pass => (length, SQLITE_OK),
            Verdict::Error => return SQLITE_IOERR_WRITE,
            Verdict::Full => return SQLITE_FULL,
            Verdict::Short => (length / 2, SQLITE_FULL),
        };
        let written = pass!(file, xWrite, from, length, offset);
        if written != SQLITE_OK {
            return written;
        }
        if let (Ok(length), Ok(offset)) = (usize::try_from(length), usize::try_from(offset)) {
            let content = std::slice::from_raw_parts(from.cast::<u8>(), length);
            watched.disk.images().written(&watched.path, offset, content);
        }
        code
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, length: sqlite3_int64) -> c_int {
    // SAFETY: see above.
    unsafe {
        if judge(file, Operation::Truncate) != Verdict::Pass {
            return SQLITE_IOERR_TRUNCATE;
        }
        let code = pass!(file, xTruncate, length);
        if let (Some(watched), Ok(length)) = (watched(file), usize::try_from(length))
            && code == SQLITE_OK
        {
            watched.disk.images().cut(&watched.path, length);
        }
        code
    }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: see above.
    unsafe {
        let Some(watched) = watched(file) else { return pass!(file, xSync, flags) };
        if watched.disk.judge(Operation::Sync, false) != Verdict::Pass {
            return SQLITE_IOERR_FSYNC;
        }
        // Nobody cuts the power of the machine that the test runs on.
        watched.disk.images().synced(&watched.path);
        SQLITE_OK
    }
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    // SAFETY: see above.
    unsafe { pass!(file, xFileSize, size) }
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    // SAFETY: see above.
    unsafe {
        match judge(file, Operation::Lock) {
            Verdict::Pass => pass!(file, xLock, level),
            _ => SQLITE_IOERR_LOCK,
        }
    }
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    // SAFETY: see above.
    unsafe { pass!(file, xUnlock, level) }
}

unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, out: *mut c_int) -> c_int {
    // SAFETY: see above.
    unsafe { pass!(file, xCheckReservedLock, out) }
}

unsafe extern "C" fn file_control(file: *mut sqlite3_file, operation: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: see above.
    unsafe { pass!(file, xFileControl, operation, argument) }
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    // SAFETY: see above.
    unsafe { pass!(file, xSectorSize) }
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    // SAFETY: see above.
    unsafe { pass!(file, xDeviceCharacteristics) }
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    page: c_int,
    page_size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        match judge(file, Operation::Map) {
            Verdict::Pass => pass!(file, xShmMap, page, page_size, extend, out),
            _ => SQLITE_IOERR_SHMMAP,
        }
    }
}

unsafe extern "C" fn shm_lock(file: *mut sqlite3_file, offset: c_int, count: c_int, flags: c_int) -> c_int {
    // SAFETY: see above.
    unsafe {
        // Giving a lock back always works, as it does in a process that ends.
        if flags & SQLITE_SHM_LOCK != 0 && judge(file, Operation::Lock) != Verdict::Pass {
            return SQLITE_IOERR_SHMLOCK;
        }
        pass!(file, xShmLock, offset, count, flags)
    }
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    // SAFETY: see above.
    unsafe {
        let file = real(file);
        if let Some(barrier) = (*(*file).pMethods).xShmBarrier {
            barrier(file);
        }
    }
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, delete: c_int) -> c_int {
    // SAFETY: see above.
    unsafe { pass!(file, xShmUnmap, delete) }
}
