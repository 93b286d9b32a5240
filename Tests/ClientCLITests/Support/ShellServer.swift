/// A server of a few lines of shell, for what no good server does.
enum ShellServer {
    /// The words after `--`. `call` runs for each `tools/call`; `answer RESULT` and `refuse CODE TEXT` reply.
    /// `tools` is the JSON of its entries, as `printf` writes it.
    static func words(
        call: String, start: String = "", tools: String = #"{"name":"t","inputSchema":{"type":"object"}}"#
    ) -> [String] {
        [
            "/bin/sh", "-c",
            """
            answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$1"; }
            refuse() { printf '{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"%s"}}\\n' "$id" "$1" "$2"; }
            \(start)
            while read -r line; do
              id=$(printf '%s' "$line" | sed -n 's/.*"id":\\([0-9]*\\).*/\\1/p')
              case $line in
              *'"server/discover"'*)
                answer '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}' ;;
              *'"tools/list"'*)
                answer '{"resultType":"complete","tools":[\(tools)]}' ;;
              *'"tools/call"'*) \(call) ;;
              esac
            done
            """,
        ]
    }
}
