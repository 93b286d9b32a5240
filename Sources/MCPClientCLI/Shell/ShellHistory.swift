import MCPCore
import Synchronization

/// The lines that were typed into shells, in a file that only its owner can read.
///
/// Lines that may contain a secret are not kept, nor those that begin with a blank.
final class ShellHistory: Sendable {
    /// The largest number of lines, and the largest size of the file and of one line in bytes.
    static let maxLines = 1_000
    static let maxBytes = 256 << 10
    static let maxLineBytes = 4_096
    static let name = "shell-history"

    private let place: PrivateDirectory?
    private let lock: ChangeLock?
    private let state: Mutex<[String]>

    /// Reads the history; without a place for it, it lasts as long as the shell.
    init(_ variable: (String) -> String?) {
        place = PrivateDirectory.statePath(variable).map { PrivateDirectory(path: $0) }
        lock = place.map { place in
            let path = place.path(of: Self.name)
            return ChangeLock(path, shownAs: inlineText(path), variable)
        }
        state = Mutex(Self.read(place))
    }

    private static func read(_ place: PrivateDirectory?) -> [String] {
        guard let bytes = (try? place?.read(name, maxBytes: maxBytes)) ?? nil else { return [] }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        return lines.filter(isKept).suffix(maxLines)
    }

    var lines: [String] { state.withLock { $0 } }

    /// Adds a line and writes the file. Lines of other shells that were written meanwhile are kept.
    func add(_ line: String) {
        guard Self.isKept(line), state.withLock({ $0.last }) != line else { return }
        state.withLock { $0.append(line) }
        guard let place, let lock, (try? place.create()) != nil else { return }
        // Without the file, the history is that of this shell.
        try? lock.hold { () throws(Failure) in
            var all = Self.read(place)
            all.append(line)
            all = all.suffix(Self.maxLines)
            while all.reduce(0, { $0 + $1.utf8.count + 1 }) > Self.maxBytes { all.removeFirst() }
            try? place.replace(Self.name, Array((all.joined(separator: "\n") + "\n").utf8))
        }
    }

    /// Whether a line may be written to a file.
    static func isKept(_ line: String) -> Bool {
        guard !line.isEmpty, !line.hasPrefix(" "), line.utf8.count <= maxLineBytes,
            TerminalText.inline(line, limit: .max) == line
        else { return false }
        let lower = line.lowercased()
        if ["--answer", "bearer", "authorization", "-h "].contains(where: lower.contains) { return false }
        let words = ShellLine(whole: line).words
        guard MaskedText.words(words) == words, SecretMask.tokens(line) == line else { return false }
        return !hasSecretName(line)
    }

    /// Whether a name that suggests a secret stands before a `=` or a `:`, also inside of JSON.
    private static func hasSecretName(_ line: String) -> Bool {
        var name = ""
        for character in line {
            if character.isLetter || character.isNumber || "_-".contains(character) {
                name.append(character)
            } else if "=:".contains(character) {
                if MaskedText.isSecretName(name) { return true }
                name = ""
            } else if !"'\" ".contains(character) {
                name = ""
            }
        }
        return false
    }
}
