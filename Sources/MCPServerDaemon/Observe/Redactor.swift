import MCPCore
import Synchronization

/// Copies JSON without what must not be written down: values of keys that match a pattern, and texts that
/// look like credentials.
final class Redactor: Sendable {
    /// The most bytes of arguments that are written down; of more, only their number is.
    static let maxBytes = 8 << 10
    /// The keys whose verdict is remembered.
    static let maxKnownKeys = 1_024

    /// The verdicts about keys that a caller of `append` keeps, which needs neither a lock nor a text.
    struct Memory {
        /// The most keys; a connection uses a few of them again and again.
        static let maxKeys = 16
        /// The longest key that is remembered.
        static let maxKeyBytes = 64

        private var keys: [(name: [UInt8], isSecret: Bool)] = []

        func verdict(_ name: UnsafeBufferPointer<UInt8>) -> Bool? {
            for (known, isSecret) in keys where known.count == name.count {
                var isEqual = true
                for place in 0 ..< known.count where unsafe known[place] != name[place] {
                    isEqual = false
                    break
                }
                if isEqual { return isSecret }
            }
            return nil
        }

        mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ isSecret: Bool) {
            guard name.count <= Self.maxKeyBytes, keys.count < Self.maxKeys else { return }
            unsafe keys.append((Array(name), isSecret))
        }
    }

    private let patterns: [Glob]
    private let writesArguments: Bool
    private let known = Mutex<[String: Bool]>([:])
    /// What no text contains.
    let secrets: HiddenSecrets

    init(_ settings: RedactionSettings, hiding secrets: HiddenSecrets = HiddenSecrets()) {
        self.secrets = secrets
        patterns = (SecretNames.patterns + settings.keys).map { Glob($0.lowercased()) }
        writesArguments = settings.arguments != .none
        // The protocol's own name for a call that reports its progress; only the operator calls it a secret.
        let own = settings.keys.map { Glob($0.lowercased()) }
        if !own.contains(where: { $0.matches("progresstoken") }) {
            known.withLock { $0["progressToken"] = false }
        }
    }

    /// Appends `arguments` as JSON without white space. Returns false, and appends nothing, if they are not
    /// to be written or exceed `maxBytes`.
    ///
    /// - Parameter levels: the outer levels of objects whose names contain no secret.
    func append(
        _ value: RawJSON, to line: inout LineText, limit: Int = maxBytes, namesFrom levels: Int = 0
    ) -> Bool {
        var memory = Memory()
        return append(value, to: &line, limit: limit, namesFrom: levels, remembering: &memory)
    }

    func append(
        _ value: RawJSON, to line: inout LineText, limit: Int = maxBytes, namesFrom levels: Int = 0,
        remembering memory: inout Memory
    ) -> Bool {
        guard writesArguments, value.bytes.count <= limit else { return false }
        let shown = secrets.mask(value, namesFrom: levels)
        let isDone: Void? = unsafe shown.bytes.withContiguousStorageIfAvailable { bytes in
            unsafe copy(bytes, to: &line, &memory)
        }
        return isDone != nil
    }

    private func copy(
        _ bytes: UnsafeBufferPointer<UInt8>, to line: inout LineText, _ memory: inout Memory
    ) {
        var place = 0
        while place < bytes.count {
            let byte = unsafe bytes[place]
            switch byte {
            case 0x22:
                let end = unsafe Self.stringEnd(bytes, place)
                let content = unsafe UnsafeBufferPointer(
                    rebasing: bytes[place + 1 ..< max(place + 1, end - 1)])
                place = unsafe Self.skipSpace(bytes, end)
                line.byte(0x22)
                guard place < bytes.count, unsafe bytes[place] == 0x3A else {
                    if unsafe CredentialText.isFound(in: content) {
                        line.literal("[redacted]")
                    } else {
                        unsafe line.escaped(content, isJSON: true)
                    }
                    line.byte(0x22)
                    continue
                }
                unsafe line.escaped(content, isJSON: true)
                line.literal("\":")
                place = unsafe Self.skipSpace(bytes, place + 1)
                if unsafe isSecret(content, &memory) {
                    line.literal("\"[redacted]\"")
                    place = unsafe Self.valueEnd(bytes, place)
                }
            case 0x20, 0x09, 0x0A, 0x0D: place += 1
            default:
                line.byte(byte)
                place += 1
            }
        }
    }

    /// Whether the values of a key are left out; `name` is the content of a JSON string.
    private func isSecret(_ name: UnsafeBufferPointer<UInt8>, _ memory: inout Memory) -> Bool {
        if let verdict = unsafe memory.verdict(name) { return verdict }
        let verdict = unsafe isSecret(name)
        unsafe memory.add(name, verdict)
        return verdict
    }

    private func isSecret(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        // An escape could hide a letter.
        var text = unsafe String(decoding: name, as: UTF8.self)
        if unsafe name.contains(0x5C) {
            text = (try? RawJSON(validating: "\"\(text)\""))?.string ?? text
        }
        return isSecret(text)
    }

    func isSecret(_ name: String) -> Bool {
        if let verdict = known.withLock({ $0[name] }) { return verdict }
        let lower = name.lowercased()
        let verdict = patterns.contains { $0.matches(lower) }
        known.withLock { if $0.count < Self.maxKnownKeys { $0[name] = verdict } }
        return verdict
    }

    // MARK: Scanning of validated JSON

    /// Returns the position after a string that begins at `start`.
    private static func stringEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        var place = start + 1
        while place < bytes.count {
            let byte = unsafe bytes[place]
            if byte == 0x22 { return place + 1 }
            place += byte == 0x5C ? 2 : 1
        }
        return bytes.count
    }

    private static func skipSpace(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        var place = start
        while place < bytes.count, unsafe bytes[place] <= 0x20 { place += 1 }
        return place
    }

    /// Returns the position after a value that begins at `start`.
    private static func valueEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        var place = start
        var depth = 0
        while place < bytes.count {
            switch unsafe bytes[place] {
            case 0x22:
                place = unsafe stringEnd(bytes, place)
                if depth == 0 { return place }
                continue
            case 0x7B, 0x5B: depth += 1
            case 0x7D, 0x5D:
                if depth == 0 { return place }
                depth -= 1
                if depth == 0 { return place + 1 }
            case 0x2C where depth == 0: return place
            default: break
            }
            place += 1
        }
        return bytes.count
    }
}
