/// A response that is not valid JSON as a whole, split by its brackets and quotes alone.
///
/// Programs that copy text into JSON send half of a surrogate pair, bytes that are not UTF-8, or more levels
/// than may be read: mostly in one entry of a list, whose other entries are as good as ever. What is used of
/// the response is validated like any other text.
struct DamagedResponse {
    /// The most entries that are described; more are counted only.
    static let maxDescribed = 20
    /// The bytes of the name of an entry that are shown.
    private static let maxNameBytes = 128
    /// The most members or entries of one container; a response with more is not split.
    static let maxParts = 100_000

    /// The id of the response.
    let id: RequestID
    /// The response without the entries of its lists that cannot be read; nil if it cannot be read without
    /// them either.
    let remainder: Message?
    /// The entries that are left out, one sentence each.
    let omitted: [String]
    /// The places of all of them in their list, from 0.
    let places: [Int]

    /// Splits a text; nil if it is no response with an id.
    init?(_ text: ByteSlice) {
        // Most of what is no message does not even begin like one.
        guard text.first(where: { $0 > ASCII.space }) == ASCII.openBrace else { return nil }
        var splitter = Splitter(unsafe text.withBytes { unsafe Array($0) })
        guard let id = splitter.split() else { return nil }
        self.id = id
        omitted = splitter.omitted
        places = splitter.places
        let limits = JSONLimits(maxDepth: JSONLimits.greatestDepth)
        let message = splitter.remainder.flatMap { try? MessageScanner.scan(ByteSlice($0), limits: limits) }
        remainder = message?.head.kind == .response ? message : nil
    }

    private struct Splitter {
        private let bytes: [UInt8]
        /// The text up to `copied`, without the entries that cannot be read.
        private var kept: [UInt8] = []
        private var copied = 0
        private var count = 0
        private(set) var omitted: [String] = []
        private(set) var places: [Int] = []

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        /// Nil if nothing was left out.
        var remainder: [UInt8]? {
            guard count > 0 else { return nil }
            return kept + bytes[copied...]
        }

        mutating func split() -> RequestID? {
            guard let members = members(at: space(0)) else { return nil }
            var id: RequestID?
            for (key, value) in members {
                if isKey(key, "method") { return nil }
                if isKey(key, "id") { id = json(value, depth: 1).flatMap { RequestID($0) } }
                guard isKey(key, "result"), let lists = self.members(at: value.lowerBound) else { continue }
                for (_, list) in lists where byte(list.lowerBound) == ASCII.openBracket { sift(list) }
            }
            if count > omitted.count {
                omitted.append("\(count - omitted.count) more entries cannot be read")
            }
            return id
        }

        /// Leaves the entries of a list out that cannot be read.
        private mutating func sift(_ list: Range<Int>) {
            guard let entries = parts(of: list) else { return }
            // In the message, three containers are around an entry.
            let good = entries.filter { json($0, depth: 3) != nil }
            guard good.count < entries.count else { return }
            kept += bytes[copied ... list.lowerBound]
            for (number, entry) in good.enumerated() {
                if number > 0 { kept.append(ASCII.comma) }
                kept += bytes[entry]
            }
            copied = list.upperBound - 1
            var next = 0
            for (number, entry) in entries.enumerated() {
                if next < good.count, good[next] == entry { next += 1 } else { omit(entry, number) }
            }
        }

        private mutating func omit(_ entry: Range<Int>, _ number: Int) {
            count += 1
            places.append(number)
            guard count <= maxDescribed else { return }
            let name = members(at: entry.lowerBound)?.first { isKey($0.key, "name") || isKey($0.key, "uri") }
                .flatMap { json($0.value, depth: 4)?.string }
            let reason = defect(of: entry, depth: 3)?.description ?? ""
            let shown = name.map { name in
                let start = name.cleaned(maxBytes: maxNameBytes)
                return "\"\(start)\(name.utf8.count > maxNameBytes ? "…" : "")\""
            }
            omitted.append("the entry \(shown ?? "number \(number + 1)") cannot be read: \(reason)")
        }

        // MARK: Valid parts

        private func json(_ part: Range<Int>, depth: Int) -> RawJSON? {
            guard defect(of: part, depth: depth) == nil else { return nil }
            return RawJSON(unchecked: ByteSlice(bytes[part]))
        }

        private func defect(of part: Range<Int>, depth: Int) -> JSONError? {
            unsafe bytes[part].withUnsafeBufferPointer { part in
                var scanner = unsafe JSONScanner(
                    part, limits: JSONLimits(maxDepth: JSONLimits.greatestDepth))
                do throws(JSONError) {
                    try scanner.scanValue(depth: depth)
                    try scanner.finish()
                    return nil
                } catch {
                    return error
                }
            }
        }

        private func isKey(_ key: Range<Int>, _ name: String) -> Bool {
            bytes[key].dropFirst().dropLast().elementsEqual(name.utf8)
        }

        // MARK: Brackets and quotes

        private func byte(_ place: Int) -> UInt8 { place < bytes.count ? bytes[place] : 0 }

        private func space(_ start: Int) -> Int {
            var place = start
            while place < bytes.count, bytes[place] <= ASCII.space { place += 1 }
            return place
        }

        /// The members of the object at `start`; nil if there is none.
        private func members(at start: Int) -> [(key: Range<Int>, value: Range<Int>)]? {
            guard byte(start) == ASCII.openBrace, let end = end(ofValueAt: start),
                let parts = parts(of: start ..< end)
            else { return nil }
            var members: [(key: Range<Int>, value: Range<Int>)] = []
            for part in parts {
                guard byte(part.lowerBound) == ASCII.quote, let key = self.end(ofValueAt: part.lowerBound)
                else { return nil }
                let colon = space(key)
                guard byte(colon) == ASCII.colon, colon < part.upperBound else { return nil }
                let value = space(colon + 1)
                guard value < part.upperBound else { return nil }
                members.append((part.lowerBound ..< key, value ..< part.upperBound))
            }
            return members
        }

        /// The texts between the commas of an object or an array, without white space around them; nil if one
        /// is empty.
        private func parts(of container: Range<Int>) -> [Range<Int>]? {
            var parts: [Range<Int>] = []
            let last = container.upperBound - 1
            var place = space(container.lowerBound + 1)
            if place == last { return [] }
            while place < last {
                let start = place
                var end = start
                // A member has a key and a value, with a colon that counts as a value of its own.
                while end < last, byte(end) != ASCII.comma {
                    guard let next = self.end(ofValueAt: end), next > end else { return nil }
                    end = space(next)
                }
                guard end > start, parts.count < maxParts else { return nil }
                var trimmed = end
                while trimmed > start, bytes[trimmed - 1] <= ASCII.space { trimmed -= 1 }
                parts.append(start ..< trimmed)
                if end >= last { return parts }
                place = space(end + 1)
            }
            return nil
        }

        /// Returns the offset after a string, a container with everything in it, or any other run of bytes.
        private func end(ofValueAt start: Int) -> Int? {
            var depth = 0
            var place = start
            while place < bytes.count {
                switch bytes[place] {
                case ASCII.quote:
                    guard let end = end(ofStringAt: place) else { return nil }
                    place = end
                    if depth == 0 { return place }
                    continue
                case ASCII.openBrace, ASCII.openBracket: depth += 1
                case ASCII.closeBrace, ASCII.closeBracket:
                    depth -= 1
                    if depth < 0 { return nil }
                    if depth == 0 { return place + 1 }
                default:
                    if depth == 0 { return place + 1 }
                }
                place += 1
            }
            return nil
        }

        private func end(ofStringAt start: Int) -> Int? {
            var place = start + 1
            while place < bytes.count {
                switch bytes[place] {
                case ASCII.quote: return place + 1
                case ASCII.backslash: place += 2
                default: place += 1
                }
            }
            return nil
        }
    }
}
