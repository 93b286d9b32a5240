import MCPCore
import Synchronization

/// The files with secrets that other users can use, as far as somebody was warned.
final class ExposedFiles: Sendable {
    private let known = Mutex<Set<String>>([])

    /// Returns whether this is the first warning about a file.
    func add(_ path: String) -> Bool { known.withLock { $0.insert(path).inserted } }
}

extension CommandEnvironment {
    /// Returns the bytes of a file that holds a secret. If other users can use the file, a warning says so,
    /// once.
    func secretFile(_ path: String, isQuiet: Bool) throws(Failure) -> [UInt8] {
        let bytes: [UInt8]
        do throws(Failure) { bytes = try (input.secretFile ?? input.file)(path) } catch {
            throw error.hint == nil
                ? error.hinting("name a file that contains the secret alone, and that you can read") : error
        }
        if !isQuiet { warnOfExposure(path) }
        return bytes
    }

    /// Writes a warning, once, if other users can use a file that holds a secret.
    func warnOfExposure(_ path: String) {
        guard let mode = permissions(path), let problem = Self.exposure(mode), exposedFiles.add(path) else {
            return
        }
        let octal = String(mode & 0o7777, radix: 8)
        stderr.write(
            "warning: \(inlineText(path)) \(problem) (mode \(octal)): "
                + "chmod 600 \(inlineText(ShellWord.quote(path)))\n")
    }

    /// Returns who else can use a file with these permissions; nil if only its owner can.
    private static func exposure(_ mode: UInt32) -> String? {
        let (group, others) = (mode >> 3 & 0o6, mode & 0o6)
        guard group | others != 0 else { return nil }
        let (bits, who) = others != 0 ? (others, "all users of this machine") : (group, "its group")
        return "can be \(bits & 0o4 != 0 ? "read" : "changed") by \(who)"
    }
}
