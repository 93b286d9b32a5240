@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What our readers say of a case, for the comparison with others: one line per case, its kind and up to two texts
/// in hexadecimal, separated by tabs.
enum Verdicts {
    static func print(ofCasesIn path: String) -> Bool {
        guard let bytes = try? Files.read(path, maxBytes: 1 << 30) else { return false }
        for line in bytes.split(separator: 0x0A) {
            let parts = line.split(separator: 0x09, omittingEmptySubsequences: false)
            let texts = parts.dropFirst().map { Hex.decode($0) ?? [] }
            Swift.print(
                verdict(Array(parts[0]).text, texts.first ?? [], texts.dropFirst().first ?? []))
        }
        return true
    }

    static func verdict(_ kind: String, _ first: [UInt8], _ second: [UInt8]) -> String {
        switch kind {
        case "json": (try? JSONValue(parsing: first)).map { "1 " + Hex.encode($0.serialized().utf8) } ?? "0"
        case "http": http(first)
        case "schema": schema(first, second)
        case "pattern": pattern(first.text, second.text)
        default: "unknown kind"
        }
    }

    /// The requests of a connection, until one is incomplete or refused.
    private static func http(_ input: [UInt8]) -> String {
        var (rest, verdicts) = (input[...], [String]())
        while !rest.isEmpty, verdicts.count < 8 {
            var parser = RequestParser()
            let outcome = unsafe withExactCopy(of: rest) { unsafe parser.parse($0) }
            guard case .head(let head) = outcome else {
                if case .failed(let error) = outcome { verdicts.append("refused \(error)") }
                if case .needMore = outcome { verdicts.append("incomplete") }
                break
            }
            let words = words(of: head, in: ByteSlice(Array(rest.prefix(head.byteCount))))
            rest = rest.dropFirst(head.byteCount)
            do throws(HTTPError) {
                guard let body = try body(of: head, &rest) else {
                    verdicts.append("incomplete")
                    break
                }
                verdicts.append("request \(words) \(Hex.encode(body))")
            } catch {
                verdicts.append("refused \(error)")
                break
            }
            if !head.keepAlive { break }
        }
        return verdicts.joined(separator: ",")
    }

    private static let recorded: [(RequestHead.Field, String)] = [
        (.host, "host"), (.origin, "origin"), (.contentType, "content-type"), (.accept, "accept"),
        (.authorization, "authorization"), (.mcpProtocolVersion, "mcp-protocol-version"),
        (.mcpMethod, "mcp-method"), (.mcpName, "mcp-name"), (.mcpSessionID, "mcp-session-id"),
        (.lastEventID, "last-event-id"), (.traceparent, "traceparent"),
        (.contentEncoding, "content-encoding"),
    ]

    /// The method, the target and the fields of a head, but not those that frame the body: it shows them.
    private static func words(of head: RequestHead, in bytes: ByteSlice) -> String {
        var (lines, first) = ([UInt8](), [[UInt8]: [UInt8]]())
        head.forEachField(in: bytes) { name, value in
            let name = name.array.map(ASCII.lowercased)
            if first[name] == nil { first[name] = value.array }
            guard !["content-length", "transfer-encoding"].contains(name.text) else { return }
            lines += name + [UInt8(ascii: ":")] + value.array + [ASCII.lf]
        }
        // What the parser has recorded of a field is the value of its first line.
        for (field, name) in recorded where head.value(field, in: bytes)?.array != first[Array(name.utf8)] {
            return "with another \(name)"
        }
        return [bytes[head.methodRange.range].array, bytes[head.target.range].array, lines]
            .map { Hex.encode($0) }.joined(separator: " ")
    }

    /// The body, which is removed from `rest`; nil when its end is missing.
    private static func body(
        of head: RequestHead, _ rest: inout ArraySlice<UInt8>
    ) throws(HTTPError) -> [UInt8]? {
        if head.isChunked {
            var decoder = ChunkedDecoder()
            var body = ByteBuffer()
            switch unsafe withExactCopy(of: rest, { unsafe decoder.decode($0, into: &body) }) {
            case .needMore: return nil
            case .failed(let error): throw error
            case .done(let count):
                rest = rest.dropFirst(count)
                return body.slice(0 ..< body.count).array
            }
        }
        let count = head.contentLength ?? 0
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    private static func schema(_ schema: [UInt8], _ instance: [UInt8]) -> String {
        guard let schema = try? JSONValue(parsing: schema),
            let raw = try? RawJSON(validating: ByteSlice(instance))
        else { return "not JSON" }
        do {
            let compiled = try CompiledSchema(schema)
            return "\(compiled.isValid(raw.value) ? 1 : 0)\(compiled.isValid(raw) ? 1 : 0)"
        } catch {
            return "refused \(error)".replacingAll("\n", with: " ")
        }
    }

    private static func pattern(_ source: String, _ text: String) -> String {
        do {
            let pattern = try Pattern(source)
            var budget = 20_000_000
            return pattern.isFound(in: text, budget: &budget).map { $0 ? "1" : "0" } ?? "too expensive"
        } catch {
            return "refused \(error.description)".replacingAll("\n", with: " ")
        }
    }
}
