import Foundation
import MCPCore
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The requests of one session: each part of a response goes to the sink of its request.
final class URLSessionTasks: NSObject, URLSessionDataDelegate {
    /// The receiver of one response.
    struct Sink: Sendable {
        let begin: @Sendable (_ status: Int, _ fields: [(name: String, value: String)]) -> Void
        let receive: @Sendable ([UInt8]) -> Void
        /// Called once, with nil at the end of the response.
        let end: @Sendable (Failure?) -> Void
    }

    /// Why a response did not arrive or did not end.
    struct Failure: Error, Sendable {
        let reason: String
        let wasConnected: Bool
    }

    private let sinks = Mutex<[Int: Sink]>([:])

    /// Starts a request.
    func start(_ request: URLRequest, in session: URLSession, _ sink: Sink) -> any HTTPCarrierTask {
        let task = session.dataTask(with: request)
        sinks.withLock { $0[task.taskIdentifier] = sink }
        task.resume()
        return Handle(task: task)
    }

    private struct Handle: HTTPCarrierTask {
        let task: URLSessionTask

        func cancel() { task.cancel() }
    }

    private func sink(of task: URLSessionTask) -> Sink? { sinks.withLock { $0[task.taskIdentifier] } }

    // MARK: The delegate

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse {
            let fields = response.allHeaderFields.compactMap { name, value in
                (name as? String).map { (name: $0, value: "\(value)") }
            }
            sink(of: dataTask)?.begin(response.statusCode, fields)
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        sink(of: dataTask)?.receive([UInt8](data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let sink = sinks.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        sink?.end(error.map { Failure($0) })
    }

    /// The client decides about redirects: credentials go nowhere by themselves.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposed: CachedURLResponse,
        completionHandler: @escaping (CachedURLResponse?) -> Void
    ) {
        completionHandler(nil)
    }
}

extension URLSessionTasks.Failure {
    /// The codes of errors from before a request could be sent.
    private static let unsent: Set<URLError.Code> = [
        .badURL, .unsupportedURL, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost,
        .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed,
        .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
        .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection,
    ]

    /// The code of an error. On Linux, libcurl's refusal of a certificate is only in its text.
    private static func code(of error: any Error) -> URLError.Code? {
        let code = (error as? URLError)?.code
        guard code == .unknown else { return code }
        let text = (error as NSError).localizedDescription
        return text.hasPrefix("SSL certificate problem") || text.hasPrefix("SSL: no alternative certificate")
            ? .serverCertificateUntrusted : code
    }

    /// The failure that an error of a session stands for; the text never contains the URL.
    init(_ error: any Error) {
        let code = Self.code(of: error)
        wasConnected = code.map { !Self.unsent.contains($0) } ?? true
        switch code {
        case .cannotFindHost, .dnsLookupFailed: reason = "its name was not found"
        case .cannotConnectToHost: reason = "nothing answers at its address"
        case .notConnectedToInternet: reason = "this device is not connected to a network"
        case .networkConnectionLost: reason = "the connection was lost"
        case .timedOut: reason = "the server did not answer in time"
        case .cancelled: reason = "the request was cancelled"
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid:
            reason = "its certificate is not valid now"
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot:
            reason = "its certificate is not trusted"
        case .appTransportSecurityRequiresSecureConnection:
            reason = "App Transport Security allows https only (NSAppTransportSecurity)"
        default: reason = "URLSession reports error \((error as NSError).code)"
        }
    }
}
