#if canImport(Glibc)
import CMCPSystem
#endif

/// The memory of the process's allocator.
package enum Heap {
    /// Returns unused pages to the system.
    ///
    /// What was freed lies scattered between what is in use, and glibc keeps such pages until it is asked
    /// (malloc_trim(3)). Takes milliseconds when there is much; without glibc it does nothing.
    package static func giveBack() {
        #if canImport(Glibc)
        _ = malloc_trim(0)
        #endif
    }
}
