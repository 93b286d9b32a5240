#if canImport(WebKit)
public import MCPCore
public import WebKit

/// The way to a view that a `WKWebView` shows as its main frame.
///
/// Make it before the document is loaded. The page's `window.parent` is the page itself, so its
/// `postMessage` is replaced: what the view sends to its parent comes here, and what is sent to the view
/// arrives as a message of its parent. Frames inside the view are not heard. The policy is the program's
/// to apply, such as by a `<meta http-equiv="Content-Security-Policy">` in front of the document.
/// What is not read is kept up to 1,024 messages; further ones are dropped.
@MainActor
public final class WebViewTransport: NSObject, AppBridgeTransport, WKScriptMessageHandler {
    private static let handlerName = "mcpBridge"
    /// What a view sends is read as text, so that its size is known before it is parsed.
    private static let script = """
        window.postMessage = message =>
          window.webkit.messageHandlers.mcpBridge.postMessage(JSON.stringify(message));
        """

    /// What the page posts to its parent.
    public nonisolated let incoming: AsyncStream<JSONValue>
    private nonisolated let continuation: AsyncStream<JSONValue>.Continuation
    private let maxMessageBytes: Int
    private weak var webView: WKWebView?

    /// Joins a web view.
    /// - Parameter maxMessageBytes: the size of one message; a longer one, and what is no JSON, is
    ///   dropped.
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

    /// Takes what the page posts.
    public func userContentController(
        _ controller: WKUserContentController, didReceive message: WKScriptMessage
    ) {
        guard message.frameInfo.isMainFrame, let text = message.body as? String,
            text.utf8.count <= maxMessageBytes, let json = try? JSONValue(parsing: text)
        else { return }
        continuation.yield(json)
    }

    /// Gives a message to the page.
    public nonisolated func send(_ message: JSONValue) {
        let text = message.serialized()
        Task { @MainActor in
            webView?.callAsyncJavaScript(
                "dispatchEvent(new MessageEvent('message', {data: JSON.parse(text), source: window}))",
                arguments: ["text": text], in: nil, in: .page, completionHandler: nil)
        }
    }

    /// Ends the way; the web view stays the program's.
    public nonisolated func close() {
        continuation.finish()
        Task { @MainActor in
            webView?.configuration.userContentController
                .removeScriptMessageHandler(forName: Self.handlerName)
        }
    }
}
#endif
