import CMCPSystem

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The environment of this process, read-only.
package enum Environment {
    /// Returns the value of a variable, or nil if it is unset.
    package static func value(_ name: String) -> String? {
        guard let text = unsafe getenv(name) else { return nil }
        return unsafe String(cString: text)
    }

    /// All variables, in the `NAME=value` form in which child processes receive them.
    package static var entries: [String] {
        var entries: [String] = []
        guard var place = unsafe mcp_environment() else { return [] }
        while let entry = unsafe place.pointee {
            entries.append(unsafe String(cString: entry))
            unsafe place += 1
        }
        return entries
    }

    /// All variables by name.
    package static var all: [String: String] {
        var all: [String: String] = [:]
        for entry in entries {
            guard let equals = entry.utf8.dropFirst().firstIndex(of: 0x3D) else { continue }
            all[String(entry[..<equals])] = String(entry[entry.utf8.index(after: equals)...])
        }
        return all
    }
}
