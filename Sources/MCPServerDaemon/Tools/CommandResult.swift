import MCPCore

/// Turns the end of a run into a tool's result.
struct CommandResult {
    /// The number of bytes of standard error that a failure shows.
    private static let errorTail = 2_048

    /// The number of bytes at each end of an output that a preview shows.
    private static let previewBytes = 4_096

    /// The system's texts for EACCES and EPERM, by which a sandbox refuses.
    private static let refusals = ["Permission denied", "Operation not permitted"]

    let definition: ToolDefinition
    /// The compiled schema of the structured result.
    let output: CompiledSchema?
    /// The place for outputs that are too large, and the principal that may read them.
    let outputs: OutputStore
    let principal: String

    func result(of run: ProcessRunner.Result) -> CallToolResult {
        switch run.end {
        case .exited: break
        case .cancelled: return failure("cancelled", run)
        case .timedOut:
            return failure("stopped after its timeout of \(Units.describe(definition.timeout))", run)
        case .outputLimit:
            return failure(
                "stopped: it wrote more than \(Units.describe(bytes: definition.maxOutput))", run)
        case .errorLimit: return failure("stopped: it wrote too much to standard error", run)
        case .unreadable(let error):
            return failure("stopped: what it wrote could not be read (\(error.reason)); try again later", run)
        }
        switch run.status {
        case .exited(let code) where code == 0 || definition.successStatuses.contains(code):
            var result = success(run)
            // "Found nothing" is an answer; without this note, an empty text would say nothing.
            if code != 0, !result.isError {
                if run.output.isEmpty, definition.result == .text { result.content = [] }
                result.content.append(.text("exit status \(code)"))
            }
            return result
        case .exited(let code): return failure("exit status \(code)", run)
        case .signaled(let number): return failure("killed by \(SignalName.text(number))", run)
        case .unknown: return failure("ended with an unknown status", run)
        }
    }

    private func success(_ run: ProcessRunner.Result) -> CallToolResult {
        let bytes = run.output
        switch definition.result {
        case .text: return CallToolResult(content: content(run))
        case .json:
            do throws(JSONError) {
                return structured(try JSONValue(parsing: bytes))
            } catch {
                return .error("\(definition.name): its output is not JSON: \(error)")
            }
        case .jsonlines:
            var items: [JSONValue] = []
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() where !line.allSatisfy(ASCII.isLineBlank) {
                do throws(JSONError) {
                    items.append(try JSONValue(parsing: Array(line)))
                } catch {
                    return .error("\(definition.name): line \(index + 1) of its output is not JSON: \(error)")
                }
            }
            return structured(["items": .array(items)])
        }
    }

    /// Returns a structured result: an object, because revisions before 2026-07-28 support nothing else
    /// (TOOL-13).
    private func structured(_ value: JSONValue) -> CallToolResult {
        let object: JSONValue = value.objectValue == nil ? ["value": value] : value
        if let violations = output?.validate(object), !violations.isEmpty {
            let text = violations.map(\.description).joined(separator: "; ")
            return .error("\(definition.name): its output does not match the output schema: \(text)")
        }
        return .structured(object)
    }

    /// Returns an error with the reason, the end of standard error, and the output before that.
    private func failure(_ reason: String, _ run: ProcessRunner.Result) -> CallToolResult {
        // The reader knows which tool was called.
        var text = reason
        let tail = Self.tail(run.errors, Self.errorTail)
        let errors = Self.text(tail).trimmedOfNewlines
        if !errors.isEmpty {
            text += run.errors.count > tail.count ? "\nstderr (end): \(errors)" : "\nstderr: \(errors)"
        }
        // A shell that may not run a program, or not find it, ends with 126 or 127.
        let isRefused =
            Self.refusals.contains { errors.contains($0) }
            || [.exited(126), .exited(127)].contains(run.status)
        if let sandbox = definition.sandbox, isRefused {
            text += "\nnote: \(sandbox.title) may have refused this"
        }
        var result = CallToolResult.error(text)
        // What was written is too much for a model; the ends of it tell what it was.
        if !run.output.isEmpty {
            result.content += run.end == .outputLimit ? preview(run) : content(run)
        }
        return result
    }

    // MARK: Output

    /// Returns the output as text; one that is too large, as the configuration says.
    private func content(_ run: ProcessRunner.Result) -> [ContentBlock] {
        guard run.outputCount > definition.maxOutput, definition.overflow != .error else {
            return [.text(Self.text(run.output))]
        }
        let size = Units.describe(bytes: run.outputCount)
        guard definition.overflow == .resource else {
            let kept = Units.describe(bytes: definition.maxOutput)
            return [
                .text(Self.text(Self.whole(run.output[...]))),
                .text("the output is cut: it has \(size), and this is the first \(kept)"),
            ]
        }
        let kept = outputs.keep(run.output, tool: definition.name, principal: principal)
        let first = kept.page(1) ?? []
        // As the page is when it is read.
        let isText = String(validating: first, as: UTF8.self) != nil
        let link = Resource(
            kept.uri(page: 1), name: "output of \(definition.name)",
            mimeType: isText ? "text/plain" : "application/octet-stream", size: first.count)
        var note = "the output has \(size); this is its beginning"
        note += run.output.count < run.outputCount ? "" : " and its end"
        note += ". Read all of it, for \(Units.describe(OutputStore.lifetime)), as the "
        note += kept.pages == 1 ? "resource \(kept.uri(page: 1))" : "\(kept.pages) pages "
        if kept.pages > 1 { note += "\(kept.uri(page: 1)) to \(kept.uri(page: kept.pages))" }
        if run.output.count < run.outputCount {
            note += "; only the first \(Units.describe(bytes: run.output.count)) are kept"
        }
        return preview(run) + [.text(note), .resourceLink(link)]
    }

    private func preview(_ run: ProcessRunner.Result) -> [ContentBlock] {
        let bytes = run.output
        let size = min(Self.previewBytes, definition.maxOutput)
        let head = Self.whole(bytes.prefix(size))
        // What follows a dropped part is not the end.
        guard run.output.count == run.outputCount, bytes.count > 2 * size else {
            return [.text(Self.text(head))]
        }
        return [.text(Self.text(head)), .text("…"), .text(Self.text(Self.tail(bytes, size)))]
    }

    /// Returns the last bytes, beginning with a whole character.
    private static func tail(_ bytes: [UInt8], _ count: Int) -> ArraySlice<UInt8> {
        var tail = bytes.suffix(count)
        while let first = tail.first, first & 0xC0 == 0x80 { tail.removeFirst() }
        return tail
    }

    /// Returns bytes without a part of a character at the end.
    private static func whole(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let start = bytes.suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return bytes }
        let length = [0xF0: 4, 0xE0: 3, 0xC0: 2][Int(bytes[start] >= 0xF0 ? 0xF0 : bytes[start] & 0xE0)] ?? 1
        return bytes.endIndex - start < length ? bytes[..<start] : bytes
    }

    /// Returns a program's bytes as text: what is not UTF-8 is replaced, so that framing never breaks.
    private static func text(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    /// The string without newlines and blanks at the end.
    var trimmedOfNewlines: String {
        var bytes = utf8[...]
        while let last = bytes.last, last == 0x0A || ASCII.isLineBlank(last) { bytes.removeLast() }
        return String(Substring(bytes))
    }
}
