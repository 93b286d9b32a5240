import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// An opener that shows a page in the desktop's browser.
///
/// The address is passed in a file that only this user can read: on the opener's command line, every user of
/// the machine could see the secret in it.
struct BrowserOpener {
    private let path: String

    init(_ environment: CommandEnvironment, name: String = "mcp-host") {
        let folder = environment.variable("XDG_RUNTIME_DIR") ?? environment.variable("TMPDIR") ?? "/tmp"
        path = "\(folder)/\(name)-\(SystemFile.processID).html"
    }

    /// Starts `xdg-open` (Linux) or `open` (macOS) as found in PATH; no shell is involved.
    func open(_ address: String) throws(Failure) {
        let page =
            "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=\(MarkupText.escaped(address))\">\n"
        do {
            try Files.replace(path, with: Array(page.utf8))
            #if os(Linux)
            // In a session of its own: Ctrl-C here must not end a browser that was started for the page.
            var launch = ProcessLaunch("setsid", ["--fork", "xdg-open", path])
            #else
            var launch = ProcessLaunch("open", [path])
            #endif
            launch.group = .parent
            (launch.input, launch.output, launch.errors) = (.null, .null, .null)
            _ = try ChildProcess(launch)
        } catch {
            remove()
            throw Failure(
                code: .unreachable, kind: .cannotStart,
                message: "could not open a browser: \(inlineText("\(error)"))",
                hint: "open the address manually")
        }
    }

    func remove() { unsafe unlink(path) }
}
