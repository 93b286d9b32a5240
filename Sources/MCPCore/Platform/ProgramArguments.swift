/// The arguments that this program was started with.
package enum ProgramArguments {
    /// The program's name and its arguments; empty if the system does not tell.
    ///
    /// On Linux this is not `CommandLine.arguments`: the runtime finds those by going backwards from
    /// `environ`, and a library that is loaded earlier and sets a variable moves `environ` elsewhere. The
    /// runtime then finds no arguments, and the program would start without the options it was given.
    package static var all: [String] {
        #if os(Linux)
        // The kernel's copy; where /proc is missing, the runtime's guess is the best available.
        if let bytes = try? Files.read("/proc/self/cmdline", maxBytes: maxBytes), let all = parse(bytes) {
            return all
        }
        #endif
        return CommandLine.arguments
    }

    /// The arguments; nil if the system does not tell.
    package static var withoutName: [String]? {
        let all = all
        return all.isEmpty ? nil : Array(all.dropFirst())
    }

    /// The read limit. Linux accepts at most 6 MiB: three quarters of the largest stack it allows for.
    static let maxBytes = 8 << 20

    /// Splits the arguments, each of which ends with a NUL byte. Nil: not even a name is present.
    package static func parse(_ bytes: [UInt8]) -> [String]? {
        guard bytes.last == 0 else { return nil }
        return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
