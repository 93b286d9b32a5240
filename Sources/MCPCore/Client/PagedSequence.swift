/// The elements of a list method, fetched page by page on demand (server/utilities/pagination).
public struct PagedSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// One page, and the cursor of the next one.
    struct Page: Sendable {
        let elements: [Element]
        let next: String?
    }

    /// The maximum number of pages; a longer list is assumed to be endless.
    static var maxPages: Int { 1_000 }

    let fetch: @Sendable (_ cursor: String?) async throws -> Page

    /// An iterator over the elements; the next page is fetched when the previous one is used up.
    public struct Iterator: AsyncIteratorProtocol {
        private let fetch: @Sendable (String?) async throws -> Page
        private var page: IndexingIterator<[Element]> = [].makeIterator()
        private var cursor: String?
        private(set) fileprivate var pages = 0
        private var isAtEnd = false

        init(_ fetch: @escaping @Sendable (String?) async throws -> Page) { self.fetch = fetch }

        /// Returns the next element, or nil at the end.
        ///
        /// - Throws: the error of the page request; `ClientError` of the kind `.protocolViolation` when the
        ///   list repeats its cursor.
        public mutating func next() async throws -> Element? {
            while true {
                if let element = page.next() { return element }
                if isAtEnd { return nil }
                guard pages < PagedSequence.maxPages else {
                    throw ClientError(
                        .protocolViolation, "the list has more than \(PagedSequence.maxPages) pages")
                }
                pages += 1
                let fetched = try await fetch(cursor)
                page = fetched.elements.makeIterator()
                // An empty cursor is a cursor (PAGE-04).
                guard let next = fetched.next else {
                    isAtEnd = true
                    continue
                }
                if next == cursor {
                    throw ClientError(.protocolViolation, "the list returned the same cursor again")
                }
                cursor = next
            }
        }
    }

    /// Returns an iterator that begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(fetch) }

    /// Returns the elements, the first `limit` of them; further pages are not fetched. If a cursor becomes
    /// invalid, it starts over once from the beginning (CACHE-12).
    func collect(upTo limit: Int = .max) async throws -> [Element] {
        var iterator = makeAsyncIterator()
        do {
            return try await Self.rest(of: &iterator, upTo: limit)
        } catch let error as MCPError where error.code == MCPError.invalidParamsCode && iterator.pages > 1 {
            iterator = makeAsyncIterator()
            return try await Self.rest(of: &iterator, upTo: limit)
        }
    }

    private static func rest(of iterator: inout Iterator, upTo limit: Int) async throws -> [Element] {
        var all: [Element] = []
        while all.count < limit, let element = try await iterator.next() { all.append(element) }
        return all
    }
}
