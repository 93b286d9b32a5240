import MCPCore

/// The search for a name that an object has twice, of which a parser would silently keep the last one.
enum DuplicateNames {
    /// Returns the first such name in a text that is valid JSON; nil if there is none.
    static func first(in bytes: [UInt8]) -> String? {
        // The names of each object that is open, as bytes: two spellings of one letter are two names. An
        // array has none.
        var open: [(isObject: Bool, names: Set<[UInt8]>)] = []
        var expectsName = false
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                expectsName = bytes[index] == UInt8(ascii: "{")
                open.append((expectsName, []))
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = open.popLast()
                expectsName = false
            case UInt8(ascii: ","): expectsName = open.last?.isObject == true
            case UInt8(ascii: "\""):
                let end = end(of: bytes, stringAt: index)
                if expectsName, let last = open.indices.last,
                    let name = (try? JSONValue(parsing: Array(bytes[index ..< end])))?.stringValue,
                    !open[last].names.insert(Array(name.utf8)).inserted
                {
                    return name
                }
                expectsName = false
                index = end
                continue
            default: break
            }
            index += 1
        }
        return nil
    }

    private static func end(of bytes: [UInt8], stringAt start: Int) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, bytes.count)
    }
}
