import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The token that programs present when they provide tools over TCP.
///
/// It is created once and kept in a file of mode 0600, so that programs find it again after a restart.
struct ProviderToken {
    let text: String
    /// Whether the token was created now, so that no program can know it yet.
    let isNew: Bool

    /// The shortest and the longest text that is accepted as a token.
    private static let bytes = 16 ... 512

    /// Returns the place of the token if none is configured, or `nil` if there is no such place.
    static func defaultPath(_ environment: [String: String]) -> String? {
        MCPCore.PrivateDirectory.statePath { environment[$0] }.map { $0 + "/providers.token" }
    }

    /// Reads the token from a file, or creates one if there is no file.
    init(at path: String) throws(ClientToolSetupError) {
        if try Self.isThere(path) {
            (text, isNew) = (try Self.read(path), false)
            return
        }
        try PrivateDirectory.make(Paths.parent(of: path))
        let made = (0 ..< 4).map { _ in Self.hex(UInt64.random(in: .min ... .max)) }.joined()
        if try Self.create(path, made) {
            (text, isNew) = (made, true)
        } else {
            // Another server was faster.
            (text, isNew) = (try Self.read(path), false)
        }
    }

    /// Checks the token in a file; a missing file is created at the start.
    static func check(_ path: String) throws(ClientToolSetupError) {
        if try isThere(path) { _ = try read(path) }
    }

    private static func isThere(_ path: String) throws(ClientToolSetupError) -> Bool {
        do {
            _ = try Files.info(path)
            return true
        } catch {
            if error.errno == ENOENT { return false }
            throw ClientToolSetupError("cannot access the token in \(path): \(error)")
        }
    }

    private static func read(_ path: String) throws(ClientToolSetupError) -> String {
        let text: String
        do {
            text = try ConfigFile.text(at: path, shownAs: path, isPrivate: true)
        } catch {
            throw ClientToolSetupError(error.text)
        }
        guard bytes.contains(text.utf8.count), text.utf8.allSatisfy({ (0x21 ... 0x7E).contains($0) }) else {
            throw ClientToolSetupError("\(path) does not contain a token; remove it to get a new one")
        }
        return text
    }

    /// Creates a file with the whole token if there is none; returns false if there is one.
    private static func create(_ path: String, _ text: String) throws(ClientToolSetupError) -> Bool {
        let temporary = "\(path).\(hex(UInt64.random(in: .min ... .max)))"
        do {
            try Files.replace(temporary, with: Array((text + "\n").utf8), mode: 0o600)
        } catch {
            throw ClientToolSetupError("cannot write the token: \(error)")
        }
        defer { unsafe unlink(temporary) }
        if unsafe link(temporary, path) == 0 { return true }
        if errno == EEXIST { return false }
        throw ClientToolSetupError(
            "cannot write the token: \(IOError(errno: errno, function: "link").reason)")
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
