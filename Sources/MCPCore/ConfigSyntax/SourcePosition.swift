/// A place in a configuration, as people and editors write it: `file:line:column`.
package struct SourcePosition: Sendable, Hashable, CustomStringConvertible {
    /// The file as the user named it, or `--set path=value` for an override.
    package var file: String
    /// The line, counted from 1; 0 if the source has no lines (an override on the command line).
    package var line: Int
    /// The column, counted in characters from 1.
    package var column: Int

    package init(file: String, line: Int = 0, column: Int = 0) {
        self.file = file
        self.line = line
        self.column = column
    }

    package var description: String { line == 0 ? file : "\(file):\(line):\(column)" }
}
