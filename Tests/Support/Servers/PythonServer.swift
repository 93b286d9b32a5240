/// A server of a few lines of Python that has one fault, as servers in the field have them.
package enum PythonServer {
    /// Returns the words after `--`.
    ///
    /// - Parameters:
    ///   - fault: the name of the fault; see the script.
    ///   - log: a file to which each start and each request is appended; none if it is empty.
    package static func words(_ fault: String, log: String = "") -> [String] {
        ["python3", "-c", script, fault, log]
    }

    private static let script = #"""
        import json, os, sys, time
        fault, log = sys.argv[1], sys.argv[2]
        def note(what):
            if log:
                with open(log, "a") as file: file.write(what + "\n")
        note("start")
        out = sys.stdout.buffer
        def write(data): out.write(data); out.flush()
        def line(value): write((json.dumps(value) + "\n").encode())
        # A server that is still starting: it goes on when the file is there.
        if fault.startswith("slow"):
            print("downloading things", file=sys.stderr, flush=True)
            while not os.path.exists(log + ".go"): time.sleep(0.02)
        if fault == "banner": print("Uvicorn running on http://127.0.0.1:3001 (Press CTRL+C)", file=sys.stderr, flush=True); print("hello", flush=True)
        modern = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}
        legacy = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {"name": "old", "version": "1"}}
        isModern = fault in ("slow", "large", "many", "half", "half-dead", "half-stuck", "bom", "latin", "batch", "wrongid", "nojsonrpc")
        opened = probed = False
        for text in sys.stdin:
            request = json.loads(text)
            method, id = request.get("method"), request.get("id")
            note(method)
            def answer(result): line({"jsonrpc": "2.0", "id": id, "result": result})
            def refuse(code, message): line({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
            if id is None: continue
            if fault == "banner": continue
            if method == "server/discover":
                probed = True
                if fault == "dies":
                    print("ValidationError: server/discover", file=sys.stderr, flush=True); print("    ^^^^", file=sys.stderr, flush=True); sys.exit(1)
                if fault in ("wedges", "silent", "dies-later"): continue
                answer(modern) if isModern else refuse(-32601, "Method not found")
                continue
            if method == "initialize":
                # The session that the probe left behind: it never answers, refuses, or ends the program.
                if probed and fault == "wedges": continue
                if probed and fault == "dies-later": sys.exit(1)
                if probed and fault == "refuses": refuse(-32602, "Received request before initialization was complete"); continue
                if probed and fault == "half-dead": refuse(-32600, "already open"); continue
                opened = True
                answer(legacy)
                continue
            tools = {"resultType": "complete", "tools": [{"name": "t", "inputSchema": {"type": "object"}}], "ttlMs": 0, "cacheScope": "private"}
            if fault == "many": tools["tools"] = [{"name": f"t{n}", "description": "d" * 200, "inputSchema": {"type": "object"}} for n in range(5000)]
            if method == "tools/list": answer(tools); continue
            if fault.startswith("half") and not opened: refuse(-32600, "initialize is required"); continue
            # It takes the handshake and goes on as before.
            if probed and fault == "half-stuck": refuse(-32602, "request _meta is missing"); continue
            result = {"resultType": "complete", "content": [{"type": "text", "text": "fine, " + ("handshake" if opened else "no handshake")}]}
            if fault == "large": result["content"][0]["text"] = "x" * 50_000_000
            whole = {"jsonrpc": "2.0", "id": id, "result": result}
            if fault == "bom": write(b"\xef\xbb\xbf" + json.dumps(whole).encode() + b"\n")
            elif fault == "latin": write(b'{"jsonrpc": "2.0", "id": %d, "result": {"text": "\xe9"}}\n' % id)
            elif fault == "batch": line([whole])
            elif fault == "wrongid": line({**whole, "id": str(id)})
            elif fault == "nojsonrpc": line({"id": id, "result": result})
            else: answer(result)
        """#
}
