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
        for range in codeRanges(String(decoding: program, as: UTF8.self)) { release(range) }
        #endif
    }

    #if os(Linux)
    /// Where the program's own code lies, as /proc/self/maps tells.
    static func codeRanges(_ maps: String) -> [Range<UInt>] {
        let lines = maps.split(separator: "\n")
        // The first mapping of the list is the program itself: a position-independent one lies below its
        // libraries.
        guard let own = lines.first?.split(separator: " ", omittingEmptySubsequences: true).last,
            own.hasPrefix("/")
        else { return [] }
        return lines.compactMap { line in
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count >= 6, fields[1] == "r-xp", fields[5] == own else { return nil }
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            return bounds.count == 2 && bounds[0] < bounds[1] ? bounds[0] ..< bounds[1] : nil
        }
    }

    static func release(_ range: Range<UInt>) {
        guard let start = unsafe UnsafeMutableRawPointer(bitPattern: range.lowerBound) else { return }
        unsafe madvise(start, range.count, MADV_DONTNEED)
    }
    #endif
}
