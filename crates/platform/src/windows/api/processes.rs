//! Processes and jobs, which are groups of processes.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::process::Child;
use std::ptr::{null, null_mut};

use windows_sys::Wdk::System::Threading::{
    NtQueryInformationProcess, ProcessCommandLineInformation,
};
use windows_sys::Win32::Foundation::{FILETIME, HANDLE, UNICODE_STRING, WAIT_TIMEOUT};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
    TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
    SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    GetProcessTimes, OpenProcess, OpenThread, PROCESS_ACCESS_RIGHTS,
    PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE, PROCESS_TERMINATE,
    QueryFullProcessImageNameW, ResumeThread, THREAD_SUSPEND_RESUME, TerminateProcess,
    WaitForSingleObject,
};

use super::{check, length, size_of};

/// The exit code of a process that we ended, as a shell reports it for one that was killed.
const ENDED: u32 = 137;
/// The limit for a path, and for a command line.
const MOST_UNITS: usize = 32 << 10;

/// A process that can be asked.
#[derive(Debug)]
pub(in super::super) struct Process(OwnedHandle);

/// A handle that a function returned, if it did not fail.
fn owned(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() || handle == windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the function gave this handle to us alone.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

fn open(pid: u32, rights: PROCESS_ACCESS_RIGHTS) -> io::Result<OwnedHandle> {
    // SAFETY: no memory is passed.
    owned(unsafe { OpenProcess(rights, 0, pid) })
}

impl Process {
    /// `None` if there is no such process, or we may not ask about it.
    pub(in super::super) fn open(pid: u32) -> Option<Self> {
        let rights = PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE;
        open(pid, rights).ok().map(Self)
    }

    pub(in super::super) fn is_running(&self) -> bool {
        // SAFETY: the handle is open.
        unsafe { WaitForSingleObject(self.0.as_raw_handle(), 0) == WAIT_TIMEOUT }
    }

    pub(in super::super) fn started(&self) -> Option<u64> {
        let [mut start, mut end, mut kernel, mut user] = [FILETIME::default(); 4];
        // SAFETY: the handle is open, and the structures are ours.
        check(unsafe {
            GetProcessTimes(
                self.0.as_raw_handle(),
                &raw mut start,
                &raw mut end,
                &raw mut kernel,
                &raw mut user,
            )
        })
        .ok()?;
        Some(u64::from(start.dwHighDateTime) << 32 | u64::from(start.dwLowDateTime))
    }

    /// The program's file.
    pub(in super::super) fn program(&self) -> Option<String> {
        let mut name = vec![0; MOST_UNITS];
        let mut used = length(&name);
        // SAFETY: the handle is open, and the buffer is ours and has this length.
        check(unsafe {
            QueryFullProcessImageNameW(self.0.as_raw_handle(), 0, name.as_mut_ptr(), &raw mut used)
        })
        .ok()?;
        let used = usize::try_from(used).ok()?;
        Some(String::from_utf16_lossy(name.get(..used)?))
    }

    /// The words of its command line. Quotes group words; the rare backslash before a quote is not
    /// looked at.
    pub(in super::super) fn args(&self) -> Vec<String> {
        let Some(line) = self.command_line() else {
            return Vec::new();
        };
        let mut words = Vec::new();
        let mut word = String::new();
        let mut quoted = false;
        for character in line.chars() {
            match character {
                '"' => quoted = !quoted,
                ' ' | '\t' if !quoted => {
                    words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
                }
                _ => word.push(character),
            }
        }
        words.extend((!word.is_empty()).then_some(word));
        words
    }

    fn command_line(&self) -> Option<String> {
        // Windows puts a `UNICODE_STRING` into it, and behind that the text that it points to.
        let mut buffer = vec![0_u64; MOST_UNITS / 4];
        let bytes = u32::try_from(buffer.len() * 8).ok()?;
        // SAFETY: the handle is open, and the buffer is ours, has this length, and is aligned for
        // the structure.
        let status = unsafe {
            NtQueryInformationProcess(
                self.0.as_raw_handle(),
                ProcessCommandLineInformation,
                buffer.as_mut_ptr().cast(),
                bytes,
                null_mut(),
            )
        };
        if status < 0 {
            return None;
        }
        // SAFETY: the call filled the structure in; its pointer is into the same buffer, or null.
        let text = unsafe {
            let found = &*buffer.as_ptr().cast::<UNICODE_STRING>();
            if found.Buffer.is_null() {
                return None;
            }
            std::slice::from_raw_parts(found.Buffer, usize::from(found.Length) / 2)
        };
        Some(String::from_utf16_lossy(text))
    }
}

/// Every process, with the number of the one that started it.
pub(in super::super) fn all_processes() -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    // SAFETY: no memory is passed.
    let Ok(list) = owned(unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0) }) else {
        return found;
    };
    let mut entry = PROCESSENTRY32W {
        dwSize: size_of::<PROCESSENTRY32W>(),
        ..PROCESSENTRY32W::default()
    };
    // SAFETY: the handle is open, and the structure is ours and says its size.
    let mut more = unsafe { Process32FirstW(list.as_raw_handle(), &raw mut entry) };
    while more != 0 {
        found.push((entry.th32ProcessID, entry.th32ParentProcessID));
        // SAFETY: as above.
        more = unsafe { Process32NextW(list.as_raw_handle(), &raw mut entry) };
    }
    found
}

pub(in super::super) fn end_process(pid: u32) {
    if let Ok(process) = open(pid, PROCESS_TERMINATE) {
        // SAFETY: the handle is open.
        unsafe { TerminateProcess(process.as_raw_handle(), ENDED) };
    }
}

/// A job whose processes end when its handle is closed: when we end, at the latest.
pub(in super::super) fn new_job() -> io::Result<OwnedHandle> {
    // SAFETY: neither attributes nor a name are passed.
    let job = owned(unsafe { CreateJobObjectW(null(), null()) })?;
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    // SAFETY: the handle is open, and the structure is ours and has this size.
    check(unsafe {
        SetInformationJobObject(
            job.as_raw_handle(),
            JobObjectExtendedLimitInformation,
            (&raw const limits).cast(),
            size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>(),
        )
    })?;
    Ok(job)
}

pub(in super::super) fn assign(job: &OwnedHandle, child: &Child) -> io::Result<()> {
    // SAFETY: both handles are open.
    check(unsafe { AssignProcessToJobObject(job.as_raw_handle(), child.as_raw_handle()) })
}

pub(in super::super) fn end_job(job: &OwnedHandle) {
    // SAFETY: the handle is open.
    unsafe { TerminateJobObject(job.as_raw_handle(), ENDED) };
}

/// Lets a child begin that was started suspended: it has one thread.
pub(in super::super) fn resume(child: &Child) -> io::Result<()> {
    // SAFETY: no memory is passed.
    let list = owned(unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) })?;
    let mut entry = THREADENTRY32 {
        dwSize: size_of::<THREADENTRY32>(),
        ..THREADENTRY32::default()
    };
    // SAFETY: the handle is open, and the structure is ours and says its size.
    let mut more = unsafe { Thread32First(list.as_raw_handle(), &raw mut entry) };
    while more != 0 {
        if entry.th32OwnerProcessID == child.id() {
            // SAFETY: no memory is passed.
            let thread =
                owned(unsafe { OpenThread(THREAD_SUSPEND_RESUME, 0, entry.th32ThreadID) })?;
            // SAFETY: the handle is open.
            unsafe { ResumeThread(thread.as_raw_handle()) };
            return Ok(());
        }
        // SAFETY: as above.
        more = unsafe { Thread32Next(list.as_raw_handle(), &raw mut entry) };
    }
    Err(io::ErrorKind::NotFound.into())
}
