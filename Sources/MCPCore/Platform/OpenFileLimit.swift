#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The limit on the number of descriptors of this process.
package enum OpenFileLimit {
    /// The limit in force; nil if it cannot be read.
    package static var current: Int? {
        var limit = rlimit()
        return unsafe getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : nil
    }

    /// Raises the soft limit to `wanted`, as far as the hard limit allows; returns the limit in force.
    package static func raise(to wanted: Int) -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return 1024 }
        if limit.rlim_cur < rlim_t(wanted) {
            var raised = limit
            raised.rlim_cur = min(limit.rlim_max, rlim_t(wanted))
            if unsafe setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }

    #if canImport(Glibc)
    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
    #else
    private static var resource: Int32 { RLIMIT_NOFILE }
    #endif
}
