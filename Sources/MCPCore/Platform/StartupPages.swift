#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The program's own code pages that were needed only at startup.
package enum StartupPages {
    /// Returns them to the page cache; those needed for serving are mapped again automatically.
    ///
    /// Loading, relocation and the first metadata lookups touch most of a statically linked program, and the
    /// kernel maps 16 pages around each touched page: 7 MB that would remain part of an idle daemon's
    /// footprint. The pages are clean copies of the file, so nothing is lost. Does nothing where /proc is
    /// missing.
    package static func release() {
        #if os(Linux)
        // Without the list the pages stay mapped: nothing but memory is lost.
        guard let program = try? Files.read("/proc/self/maps", maxBytes: 1 << 20) else { return }
        for range in codeRanges(String(decoding: program, as: UTF8.self)) { release(range) }
        #endif
    }

    #if os(Linux)
    /// Returns the address ranges of the program's own code, from the contents of /proc/self/maps.
    static func codeRanges(_ maps: String) -> [Range<UInt>] {
        let lines = maps.split(separator: "\n")
        // The first mapping in the list is the program itself: a position-independent program lies below its
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
