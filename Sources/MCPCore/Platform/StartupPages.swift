#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The program's own code pages that only start-up needed.
package enum StartupPages {
    /// Gives them back to the page cache; those that serving needs come back by themselves.
    ///
    /// Loading, relocating and the first metadata look-ups walk over most of a statically linked program, and
    /// the kernel maps 16 pages around each one that is touched: 7 MB that an idle daemon would go on
    /// showing. The pages are clean copies of the file, so nothing is lost. Does nothing where /proc is
    /// missing.
    package static func release() {
        #if os(Linux)
        // Without the list the pages stay: nothing but memory is lost.
        guard let program = try? Files.read("/proc/self/maps", maxBytes: 1 << 20) else { return }
        let lines = String(decoding: program, as: UTF8.self).split(separator: "\n")
        // The first mapping of the list is the program itself: a position-independent one lies below its
        // libraries.
        guard let own = lines.first?.split(separator: " ", omittingEmptySubsequences: true).last,
            own.hasPrefix("/")
        else { return }
        for line in lines {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count >= 6, fields[1] == "r-xp", fields[5] == own else { continue }
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard bounds.count == 2, bounds[0] < bounds[1],
                let start = unsafe UnsafeMutableRawPointer(bitPattern: bounds[0])
            else { continue }
            unsafe madvise(start, Int(bounds[1] - bounds[0]), MADV_DONTNEED)
        }
        #endif
    }
}
