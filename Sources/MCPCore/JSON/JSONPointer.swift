/// JSON pointers (RFC 6901).
enum JSONPointer {
    /// Returns the pointer to the innermost value that starts at or contains the byte at `offset`; `""` is
    /// the whole text.
    static func path(to offset: Int, in text: ByteSlice) -> String {
        unsafe text.withBytes { bytes in
            var scanner = unsafe JSONScanner(bytes, limits: JSONLimits(maxDepth: JSONLimits.greatestDepth))
            var path = ""
            while scanner.position < offset, let step = step(&scanner, to: offset) { path += "/" + step }
            return path
        }
    }

    /// Returns a name with `~` and `/` escaped (RFC 6901 section 3).
    static func escaped(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == 0x7E || $0 == 0x2F }) else { return name }
        var escaped = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "~": escaped += "~0"
            case "/": escaped += "~1"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Moves from a container to the member or element that contains `offset` and returns its name or index,
    /// or nil if there is none.
    private static func step(_ scanner: inout JSONScanner, to offset: Int) -> String? {
        let isObject = scanner.peek == ASCII.openBrace
        guard isObject || scanner.peek == ASCII.openBracket else { return nil }
        scanner.position += 1
        var place = 0
        while true {
            var name: JSONStringToken?
            if isObject {
                name = try? scanner.scanKey()
                guard name != nil else { return nil }
            } else {
                scanner.skipWhitespace()
            }
            let start = scanner.position
            guard start <= offset, (try? scanner.scanValue(depth: 1)) != nil else { return nil }
            if offset < scanner.position {
                scanner.position = start
                return name.map { escaped(scanner.unescape($0)) } ?? String(place)
            }
            scanner.skipWhitespace()
            guard (try? scanner.expect(ASCII.comma)) != nil else { return nil }
            place += 1
        }
    }
}
