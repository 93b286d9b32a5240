/// The program of `watch --exec`, which is run once per event.
///
/// No shell is involved: the text is split at spaces, and `{uri}` and `{event}` are replaced within each
/// word.
struct EventProgram: Sendable, Hashable {
    let words: [String]

    init(parsing text: String) throws(Failure) {
        words = text.split(separator: " ").map(String.init)
        guard let program = words.first, !program.contains("{") else {
            throw .usage("--exec needs a program", hint: "--exec './render.sh {uri}'")
        }
    }
}
