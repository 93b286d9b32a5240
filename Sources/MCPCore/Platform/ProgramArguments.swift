/// What this program was started with.
package enum ProgramArguments {
    /// The program's name and its arguments.
    ///
    /// Not `CommandLine.arguments` on Linux: the runtime finds those by going back from `environ`, and a
    /// library that is loaded first and sets a variable has moved that elsewhere. Then there are none, and a
    /// program would start without the options it was given.
    package static var all: [String] {
        #if os(Linux)
        // As the kernel has it; where /proc is missing the runtime's guess is the best there is.
        if let bytes = try? Files.read("/proc/self/cmdline", maxBytes: maxBytes), let all = parse(bytes) {
            return all
        }
        #endif
        return CommandLine.arguments
    }

    /// Linux takes 6 MiB at most: three quarters of the greatest stack it counts with.
    static let maxBytes = 8 << 20

    /// The arguments, each of which ends with a NUL byte. Nil: there is not even a name.
    static func parse(_ bytes: [UInt8]) -> [String]? {
        guard bytes.last == 0 else { return nil }
        return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
