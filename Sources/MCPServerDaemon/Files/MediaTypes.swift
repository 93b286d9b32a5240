/// The media types of files by file name extension; a type is never guessed from the contents.
enum MediaTypes {
    /// Returns the media type, or `nil` if the extension is not known.
    static func type(of path: String) -> String? {
        let name = Paths.components(path).last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        return table[name[name.index(after: dot)...].lowercased()]
    }

    private static let table: [String: String] = [
        "c": "text/x-c", "cc": "text/x-c++", "conf": "text/plain", "cpp": "text/x-c++", "css": "text/css",
        "csv": "text/csv", "diff": "text/x-diff", "gif": "image/gif", "go": "text/x-go",
        "gz": "application/gzip",
        "h": "text/x-c", "htm": "text/html", "html": "text/html", "ico": "image/vnd.microsoft.icon",
        "ini": "text/plain", "java": "text/x-java", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "js": "text/javascript", "json": "application/json", "jsonc": "application/json",
        "jsonl": "application/jsonl", "log": "text/plain", "markdown": "text/markdown", "md": "text/markdown",
        "mjs": "text/javascript", "mp3": "audio/mpeg", "mp4": "video/mp4", "ogg": "audio/ogg",
        "patch": "text/x-diff", "pdf": "application/pdf", "png": "image/png", "py": "text/x-python",
        "rb": "text/x-ruby", "rs": "text/x-rust", "sh": "text/x-shellscript", "sql": "application/sql",
        "svg": "image/svg+xml", "swift": "text/x-swift", "tar": "application/x-tar",
        "toml": "application/toml",
        "ts": "text/x-typescript", "tsv": "text/tab-separated-values", "txt": "text/plain",
        "wasm": "application/wasm", "wav": "audio/wav", "webp": "image/webp", "xml": "application/xml",
        "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip",
    ]
}
