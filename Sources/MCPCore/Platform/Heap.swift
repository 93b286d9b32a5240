#if canImport(Glibc)
import CMCPSystem
#endif

/// The memory held by the process's allocator.
package enum Heap {
    /// Returns unused pages to the system.
    ///
    /// Freed memory lies scattered between memory in use, and glibc keeps such pages until it is asked to
    /// return them (malloc_trim(3)). The call takes milliseconds when there is much to return; without glibc
    /// it does nothing.
    package static func giveBack() {
        #if canImport(Glibc)
        _ = malloc_trim(0)
        #endif
    }
}
