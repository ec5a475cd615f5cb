internal import Glibc

/// Memory for secrets, which is empty in forked processes.
///
/// The guard of a command and the supervisor of a program are forked copies that live as long as an
/// operation, and don't wipe memory. Core dumps also omit this memory.
///
/// Safe because only the owner of the memory uses it, and releases it once.
@safe
package struct SecretMemory: @unchecked Sendable {
    private let pages: UnsafeMutableRawBufferPointer
    private let isMapped: Bool

    /// Memory for `count` bytes, which are zero.
    package init(count: Int) {
        let page = Int(sysconf(CInt(_SC_PAGESIZE)))
        let size = (max(count, 1) + page - 1) / page * page
        let mapped = unsafe mmap(
            nil,
            size,
            PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS,
            -1,
            0
        )
        isMapped = unsafe mapped != MAP_FAILED
        if isMapped {
            unsafe pages = UnsafeMutableRawBufferPointer(start: mapped, count: size)
            // Kernels before 4.14 don't support this, and have no alternative.
            _ = unsafe madvise(mapped, size, wipeOnFork)
            _ = unsafe madvise(mapped, size, notDumped)
        } else {
            unsafe pages = .allocate(byteCount: size, alignment: 16)
            unsafe pages.initializeMemory(as: UInt8.self, repeating: 0)
        }
    }

    /// The memory, which is at least as large as requested.
    @unsafe package var bytes: UnsafeMutableRawBufferPointer { unsafe pages }

    /// Releases the memory, which the owner has wiped.
    package func release() {
        if isMapped {
            unsafe munmap(pages.baseAddress, pages.count)
        } else {
            unsafe pages.deallocate()
        }
    }
}

/// MADV_WIPEONFORK and MADV_DONTDUMP (madvise(2)), which the C library's Swift module may hide.
private let wipeOnFork: CInt = 18
private let notDumped: CInt = 16
