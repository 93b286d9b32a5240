/// The severity of a log line; the numbers are those of syslog.
package enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    case error = 3
    case warning = 4
    case info = 6
    case debug = 7

    /// Orders levels by detail: `error` is the least detailed, `debug` the most.
    package static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }

    /// Creates a level from its name in a configuration: `error`, `warning`, `info` or `debug`.
    package init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    package var name: String {
        switch self {
        case .error: "error"
        case .warning: "warning"
        case .info: "info"
        case .debug: "debug"
        }
    }
}

/// A log of named events with values, each written as one line to stderr or a file.
///
/// The name of an event is a short term that never changes, such as `not reloaded`; whatever differs from
/// line to line is a value. Events of the server are listed in docs/operations.md.
///
/// The values of a disabled level are not even evaluated. Writing never waits: a line that does not fit
/// into a blocked pipe is dropped and counted.
package struct Log: Sendable {
    package typealias Fields = KeyValuePairs<String, any CustomStringConvertible>

    /// The most detailed level that is written.
    package let level: LogLevel
    private let sink: LogSink?
    private let context: [(name: String, value: String)]

    package init(level: LogLevel = .info, sink: LogSink) {
        self.init(level: level, sink: sink, context: [])
    }

    private init(level: LogLevel, sink: LogSink?, context: [(name: String, value: String)]) {
        self.level = level
        self.sink = sink
        self.context = context
    }

    /// A log that writes nothing.
    package static let disabled = Log(level: .error, sink: nil, context: [])

    /// Returns the same log with these values added to each line.
    package func with(_ fields: Fields) -> Log {
        if sink == nil { return self }
        return Log(level: level, sink: sink, context: context + fields.map { ($0.key, $0.value.description) })
    }

    /// The number of lines lost so far.
    package var droppedLines: Int { sink?.droppedLines ?? 0 }

    /// Opens the log's file again, after a rotation; has no effect without a file.
    package func reopen() { sink?.reopen() }

    /// Returns why lines are lost, or go to a file that has another name by now; nil while all is well.
    package func failure() -> String? { sink?.look()?.description }

    /// Returns whether lines of this level are written.
    @inline(__always)
    package func isEnabled(_ level: LogLevel) -> Bool { sink != nil && level <= self.level }

    @inline(__always)
    package func error(_ event: StaticString, _ fields: @autoclosure () -> Fields = [:]) {
        if isEnabled(.error) { write(.error, event, fields()) }
    }

    @inline(__always)
    package func warning(_ event: StaticString, _ fields: @autoclosure () -> Fields = [:]) {
        if isEnabled(.warning) { write(.warning, event, fields()) }
    }

    @inline(__always)
    package func info(_ event: StaticString, _ fields: @autoclosure () -> Fields = [:]) {
        if isEnabled(.info) { write(.info, event, fields()) }
    }

    @inline(__always)
    package func debug(_ event: StaticString, _ fields: @autoclosure () -> Fields = [:]) {
        if isEnabled(.debug) { write(.debug, event, fields()) }
    }

    @inline(never)
    private func write(_ level: LogLevel, _ event: StaticString, _ fields: Fields) {
        guard let sink else { return }
        let event = event.description
        var line = LogLine(format: sink.format, level: level, event: event, time: sink.time())
        for field in context { line.add(field.name, field.value) }
        for field in fields { line.add(field.key, field.value) }
        sink.write(line.finish(), isError: level == .error)
        guard level == .error, let onError = sink.onError else { return }
        let values = context.map { " \($0.name)=\($0.value)" } + fields.map { " \($0.key)=\($0.value)" }
        onError(event + values.joined())
    }
}
