#if TCP && canImport(Glibc)
  import Synchronization
  import TernCore
  import TernLedger
  import TernStorage
  import TernStorageMemory
  import TernSync
  import TernTestKit
  import Testing

  @testable import TernGateway

  /// The bytes of answers over REST, and the rows that are read for them, do not depend on data
  /// that the client may not read.
  @Suite("Hidden data, over REST") struct HiddenAnswerTests {
    private static let rules = #"""
      {"rules": {
        "public": {".read": true, ".write": true, ".indexOn": ["n"]},
        "drop": {".write": true},
        "listed": {".read": "query.limitToFirst <= 2", ".indexOn": ["n"]},
        "hidden": {".indexOn": "n"}
      }}
      """#

    private static let secrets: [(name: String, json: String)] = {
      let many = (0..<300).map { "\"k\($0)\":{\"n\":\($0)}" }.joined(separator: ",")
      let long = String(repeating: "x", count: 100_000)
      return [
        ("nothing", "null"), ("a leaf", "5"), ("another leaf", "\"five\""),
        ("a number", "{\"n\":5}"),
        ("much", "{\(many),\"n\":\"\(long)\"}"),
      ]
    }()

    private static let requests: [String] = {
      let longBody = "\"" + String(repeating: "y", count: 100_000) + "\""
      var requests: [String] = []
      for query in [
        "", "?shallow=true", "?shallow=true&limitToFirst=1", "?print=pretty", "?print=silent",
        "?format=export", "?orderBy=%22n%22&limitToFirst=1", "?orderBy=%22other%22",
        "?orderBy=%22$key%22&startAt=%22k1%22", "?orderBy=%22$value%22&equalTo=5",
        "?callback=f", "?download=x", "?writeSizeLimit=tiny",
      ] {
        for method in ["GET", "HEAD"] {
          for path in ["/hidden", "/hidden/n", "/hidden/k7/n", "/"] {
            requests.append(request(method, "\(path).json\(query)", "", ""))
          }
        }
        requests.append(request("PUT", "/hidden.json\(query)", "", "1"))
      }
      for header in ["If-Match: null_etag", "If-Match: abc", "X-Firebase-ETag: true"] {
        for (method, path, body) in [
          ("PUT", "/hidden", "1"), ("DELETE", "/hidden", ""), ("GET", "/hidden", ""),
          ("PUT", "/hidden/n", "1"), ("PATCH", "/hidden", "{\"n\":1}"),
        ] {
          requests.append(request(method, path + ".json", header + "\r\n", body))
        }
      }
      for (method, path, body) in [
        ("POST", "/hidden", "1"), ("PATCH", "/", "{\"public/a\":1,\"hidden/n\":1}"),
        ("PUT", "/hidden", longBody), ("PATCH", "/hidden", "{\"n\":\(longBody)}"),
        ("POST", "/hidden", longBody), ("PUT", "/hidden", "{\".sv\":{\"increment\":1}}"),
        ("PUT", "/hidden/.priority", "1"),
      ] {
        requests.append(request(method, path + ".json", "", body))
        requests.append(request(method, path + ".json?writeSizeLimit=tiny", "", body))
      }
      requests.append(request("GET", "/hidden.json", "Accept: text/event-stream\r\n", ""))
      requests.append(request("GET", "/.settings/rules.json", "", ""))
      requests.append(request("GET", "/.inspect/databases.json", "", ""))
      return requests
    }()

    private static func request(
      _ method: String, _ target: String, _ headers: String, _ body: String
    ) -> String {
      "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// The answer to one request, and the reads that it took.
    private struct Outcome: Equatable {
      var answer: String
      var work: CountingStore.Work
    }

    /// Plays requests in a world that hides something.
    ///
    /// - Parameter token: Shown with each request.
    private func play(_ requests: [String], hiding json: String) async throws -> [Outcome] {
      let store = CountingStore()
      let clock = ManualClock()
      let ambient = RuntimeEnvironment(
        millisecondsSinceEpoch: { 1_760_000_000_000 }, clock: clock, randomBits: { 7 })
      let gateway = try await GatewayUnderTest(
        rules: Self.rules, ambient: ambient, store: store,
        // Every row is in the store, where reads are counted.
        ledgerOptions: LedgerOptions(journalRows: 0))
      var outcomes: [Outcome] = []
      do {
        try await apart {
          let secret = "{\"hidden\": \(json), \"public\": {\"a\": 1}}"
          let made = try gateway.exchange(
            Self.request("PUT", "/.json?access_token=owner&print=silent", "", secret))
          #expect(made.hasPrefix("HTTP/1.1 204"), "\(made)")
          for request in requests {
            store.reset()
            outcomes.append(Outcome(answer: try gateway.exchange(request), work: store.work))
          }
        }
      } catch {
        await gateway.stop()
        throw error
      }
      await gateway.stop()
      return outcomes
    }

    @Test("answers and reads are the same, whatever is hidden")
    func strangers() async throws {
      let first = try await play(Self.requests, hiding: Self.secrets[0].json)
      for (name, json) in Self.secrets.dropFirst() {
        let outcomes = try await play(Self.requests, hiding: json)
        for (index, (outcome, expected)) in zip(outcomes, first).enumerated() {
          #expect(outcome == expected, "\(name): \(Self.requests[index].prefix(120))")
        }
      }
      let statuses = Set(first.map { $0.answer.prefix(12) })
      #expect(statuses.contains("HTTP/1.1 401") && statuses.contains("HTTP/1.1 400"))
      #expect(!statuses.contains("HTTP/1.1 500") && !statuses.contains("HTTP/1.1 200"))
    }

    @Test("the comparison can tell the worlds apart: an administrator sees what differs")
    func control() async throws {
      let requests = [Self.request("GET", "/hidden.json?access_token=owner", "", "")]
      var seen: [Outcome] = []
      for (_, json) in Self.secrets { seen += try await play(requests, hiding: json) }
      #expect(Set(seen.map(\.answer)).count == Self.secrets.count)
      #expect(seen[4].work.bytes > 100_000)
    }
  }

  /// A store in memory that counts what is read of it.
  private final class CountingStore: OrderedStore {
    struct Work: Equatable {
      var lookups = 0
      var rows = 0
      var bytes = 0
    }

    private let inner = MemoryStore()
    private let counted = Mutex(Work())

    /// The reads since the last reset.
    var work: Work { counted.withLock { $0 } }

    func reset() { counted.withLock { $0 = Work() } }

    func count(_ change: (inout Work) -> Void) { counted.withLock { change(&$0) } }

    func read<R>(
      _ body: (borrowing Snapshot) throws(StorageError) -> R
    ) throws(StorageError) -> R {
      try inner.read { snapshot throws(StorageError) in
        let reader = CountingStoreReader(snapshot.reader, self)
        return try body(Snapshot(reader))
      }
    }

    func write<R>(
      _ body: (inout WriteTransaction) throws(StorageError) -> R
    ) throws(StorageError) -> R {
      // Batches are decided where they are stored.
      try inner.write { transaction throws(StorageError) in
        let writer = CountingStoreWriter(transaction.writer, self)
        var counted = WriteTransaction(writer)
        return try body(&counted)
      }
    }

    func wipe() throws(StorageError) { try inner.wipe() }

    func close() { inner.close() }
  }

  private final class CountingStoreWriter: CountingStoreReader, StoreWriter {
    private let writer: any StoreWriter

    init(_ writer: any StoreWriter, _ store: CountingStore) {
      self.writer = writer
      super.init(writer, store)
    }

    func put(_ value: Span<UInt8>, for key: Span<UInt8>) throws(StorageError) {
      try writer.put(value, for: key)
    }

    func remove(_ range: KeyRange) throws(StorageError) { try writer.remove(range) }
  }

  private class CountingStoreReader: StoreReader {
    private let inner: any StoreReader
    private let store: CountingStore

    init(_ inner: any StoreReader, _ store: CountingStore) {
      self.inner = inner
      self.store = store
    }

    final func withValue<R>(
      for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
    ) throws(StorageError) -> R? {
      store.count { $0.lookups += 1 }
      return try inner.withValue(for: key) { value throws(StorageError) in
        let bytes = value.count
        store.count { $0.bytes += bytes }
        return try body(value)
      }
    }

    final func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
      let before = page.count
      try inner.fill(&page, from: scan)
      for row in before..<page.count {
        let bytes = page.key(at: row).count + page.value(at: row).count
        store.count { ($0.rows, $0.bytes) = ($0.rows + 1, $0.bytes + bytes) }
      }
    }
  }
#endif
