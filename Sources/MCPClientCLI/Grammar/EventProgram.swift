/// The program of `watch --exec`, run once per event. No shell is involved: the text is cut at spaces, and
/// `{uri}` and `{event}` are replaced inside a word.
struct EventProgram: Sendable, Hashable {
    let words: [String]

    init(parsing text: String) throws(Failure) {
        words = text.split(separator: " ").map(String.init)
        guard let program = words.first, !program.contains("{") else {
            throw .usage("--exec needs a program", hint: "--exec './render.sh {uri}'")
        }
    }
}
