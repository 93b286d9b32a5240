/// What a shell wants to have completed: the words after `__complete`.
struct CompletionRequest: Sendable, Hashable {
    let shell: String
    let line: ShellLine

    /// - Parameter words: the name of the shell; then for bash the line up to the cursor and its word
    ///   breaks, and for others the words after the program, the last of which is the one at the cursor.
    init?(_ words: [String]) {
        guard let shell = words.first, CompletionScript.shells.contains(shell), words.count > 1 else {
            return nil
        }
        self.shell = shell
        if shell == "bash" {
            var line = ShellLine(words[1], breaks: words.count > 2 ? words[2] : "")
            // The line begins with the program.
            guard line.dropProgram() else { return nil }
            self.line = line
        } else {
            var before = words.dropFirst().dropLast().map { $0 }
            // zsh passes the words as they were typed.
            if shell == "zsh" { before = before.map { ShellLine(word: $0, before: []).current } }
            line = ShellLine(word: words[words.count - 1], before: before)
        }
    }

    /// Returns the lines for the shell.
    func output(_ candidates: [Candidate]) -> String {
        var lines: [String] = []
        var seen: Set<String> = []
        for candidate in candidates where candidate.value.hasPrefix(line.current) && candidate.isHarmless {
            guard lines.count < Candidate.maxCount else { break }
            guard seen.insert(candidate.value).inserted else { continue }
            switch shell {
            case "bash": if let text = line.insertion(of: candidate) { lines.append(text) }
            case "zsh":
                lines.append((candidate.isPartial ? "P" : "F") + candidate.value + "\t" + candidate.shortNote)
            default: lines.append(candidate.value + "\t" + candidate.shortNote)
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
