/// Finds a name that occurs twice in an object, which a parsed tree cannot show.
enum RepeatedNames {
    private struct Frame {
        let isObject: Bool
        var count = 0
        var name = ""
        var seen: Set<JSONKey> = []
    }

    /// Returns the first repetition of one of `names`, or of any name if nil, inside any object, with the
    /// object's path.
    static func first(in raw: RawJSON, of names: Set<JSONKey>? = nil) -> (path: String, name: String)? {
        if let names, names.isEmpty { return nil }
        return raw.scan { scanner in try? search(&scanner, names) }
    }

    private static func search(
        _ scanner: inout JSONScanner, _ names: Set<JSONKey>?
    ) throws(JSONError) -> (path: String, name: String)? {
        var frames: [Frame] = []
        repeat {
            scanner.skipWhitespace()
            switch scanner.peek {
            case ASCII.closeBrace, ASCII.closeBracket:
                scanner.position += 1
                frames.removeLast()
                continue
            case ASCII.comma:
                scanner.position += 1
                continue
            default: break
            }
            if let last = frames.indices.last {
                frames[last].count += 1
                if frames[last].isObject {
                    let key = JSONKey(name: scanner.unescape(try scanner.scanKey()))
                    if names?.contains(key) ?? true, !frames[last].seen.insert(key).inserted {
                        return (path(to: frames), key.name)
                    }
                    frames[last].name = key.name
                }
            }
            switch scanner.peek {
            case ASCII.openBrace, ASCII.openBracket:
                frames.append(Frame(isObject: scanner.peek == ASCII.openBrace))
                scanner.position += 1
            default: try scanner.scanValue(depth: 0)
            }
        } while !frames.isEmpty
        return nil
    }

    private static func path(to frames: [Frame]) -> String {
        frames.dropLast().reduce("") { path, frame in
            frame.isObject ? JSONPointer.appending(frame.name, to: path) : "\(path)/\(frame.count - 1)"
        }
    }
}
