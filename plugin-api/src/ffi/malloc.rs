//! Tunes the C library's heap, which all libraries of the process share, to large batches.

/// Lets freed memory of up to 64 MiB stay with the process. By default glibc gives each block of more than 128 KiB back to the
/// system at once and gets it back page by page: three times the cost of filling a large batch. Blocks of more than 8 MiB are given
/// back nevertheless: a record of that size is rare, and what such records leave behind in the heap of each thread adds up.
/// Call it first in `main`. It does nothing with other C libraries.
pub fn set_malloc_thresholds() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const MIB: libc::c_int = 1 << 20;
        // SAFETY: mallopt may be called at any time; what it refuses it leaves as it was.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, 8 * MIB);
            libc::mallopt(libc::M_TRIM_THRESHOLD, 64 * MIB);
            libc::mallopt(libc::M_TOP_PAD, 16 * MIB);
        }
    }
}
