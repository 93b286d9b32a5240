#if canImport(WebKit)
public import MCPCore
public import WebKit

/// The connection to a view that a `WKWebView` shows as its main frame.
///
/// Create it before the document is loaded. The page's `window.parent` is the page itself, so its
/// `postMessage` is replaced: messages from the view to its parent arrive here, and messages to the view
/// arrive as messages from its parent. Messages from frames inside the view are ignored. Applying the policy
/// is up to the program, for example by placing a `<meta http-equiv="Content-Security-Policy">` in front of
/// the document. Up to 1,024 unread messages are kept; further ones are dropped.
@MainActor
public final class WebViewTransport: NSObject, AppBridgeTransport, WKScriptMessageHandler {
    private static let handlerName = "mcpBridge"
    /// Messages from a view are read as text, so that their size is known before they are parsed.
    private static let script = """
        window.postMessage = message =>
          window.webkit.messageHandlers.mcpBridge.postMessage(JSON.stringify(message));
        """

    /// The messages that the page posts to its parent.
    public nonisolated let incoming: AsyncStream<JSONValue>
    private nonisolated let continuation: AsyncStream<JSONValue>.Continuation
    private let maxMessageBytes: Int
    private weak var webView: WKWebView?

    /// Creates a connection to a web view.
    /// - Parameter maxMessageBytes: the maximum size of one message; a longer one, or one that is not JSON,
    ///   is dropped.
    public init(_ webView: WKWebView, maxMessageBytes: Int = AppBridgeLimits().maxMessageBytes) {
        (incoming, continuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingOldest(InMemoryAppTransport.capacity))
        self.maxMessageBytes = maxMessageBytes
        self.webView = webView
        super.init()
        let controller = webView.configuration.userContentController
        controller.addUserScript(
            WKUserScript(source: Self.script, injectionTime: .atDocumentStart, forMainFrameOnly: true))
        controller.add(self, name: Self.handlerName)
    }

    /// Receives a message that the page posts.
    public func userContentController(
        _ controller: WKUserContentController, didReceive message: WKScriptMessage
    ) {
        guard message.frameInfo.isMainFrame, let text = message.body as? String,
            text.utf8.count <= maxMessageBytes, let json = try? JSONValue(parsing: text)
        else { return }
        continuation.yield(json)
    }

    /// Sends a message to the page.
    public nonisolated func send(_ message: JSONValue) {
        let text = message.serialized()
        Task { @MainActor in
            webView?.callAsyncJavaScript(
                "dispatchEvent(new MessageEvent('message', {data: JSON.parse(text), source: window}))",
                arguments: ["text": text], in: nil, in: .page, completionHandler: nil)
        }
    }

    /// Closes the connection; the web view remains the program's.
    public nonisolated func close() {
        continuation.finish()
        Task { @MainActor in
            webView?.configuration.userContentController
                .removeScriptMessageHandler(forName: Self.handlerName)
        }
    }
}
#endif
