import ArgumentParser
import TernClient
import TernCore
import TernQuery

extension DocumentCommands {
  /// `tern doc watch`: changes as they come.
  struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print a document, or what happens to those of a query, until stopped.",
      discussion: """
        tern doc watch cities/SF
        tern doc watch cities --where 'state == "CA"'
        A document is printed now and after every change. Of a query, first every document, \
        added; then what is added, modified or removed. A line that begins with "state" says how \
        many there are, and whether that is from the cache or pending, first and whenever it \
        changes; "metadata" says that the server has shown what was pending. Ctrl-C ends it. It waits for a server as long as it takes, whatever \
        --timeout says.
        """)

    @Argument(help: "A document or a collection; with --group the id of a collection.")
    var path: String

    @Option(help: ArgumentHelp("End after so many lines.", valueName: "lines"))
    var count: Int?

    @OptionGroup var query: DocumentQueryOptions
    @OptionGroup var form: TypedFlag
    @OptionGroup var client: ClientFlags

    func run() async throws {
      try client.checkDocuments()
      let key = query.group ? nil : try? DocumentKey(path)
      try await client.withClient { run in
        let documents = run.tern.documents
        let text = DocumentText(documents.database, isTyped: form.typed)
        let printer = WatchPrinter(text, asJSON: client.json, limit: count)
        let reports = Task { await reportConnection(documents.connection) }
        defer { reports.cancel() }
        if let key {
          let place = documents.document(key.text)
          try await untilStopped { try await watch(place, printer) }
        } else {
          let query = documents.query(try self.query.query(path, text))
          try await untilStopped { try await watch(query, printer) }
        }
      }
    }

    private func watch(_ place: DocumentLocation, _ printer: WatchPrinter) async throws {
      var printer = printer
      for try await snapshot in place.snapshots(includingMetadata: true) {
        guard printer.print(DocumentLine(snapshot, event: "value")) else { return }
      }
    }

    private func watch(_ query: DocumentQueryReference, _ printer: WatchPrinter) async throws {
      var printer = printer
      for try await snapshot in query.snapshots(includingMetadata: true) {
        guard printer.print(snapshot) else { return }
      }
    }
  }
}

/// Prints what a listener hears, up to a number of lines.
struct WatchPrinter: Sendable {
  private let text: DocumentText
  private let asJSON: Bool
  private var rest: Int
  private var lastState: String?

  init(_ text: DocumentText, asJSON: Bool, limit: Int?) {
    self.text = text
    self.asJSON = asJSON
    rest = limit ?? .max
  }

  /// Prints what is new, and the state if that is; `false` when enough was printed.
  mutating func print(_ snapshot: DocumentQuerySnapshot) -> Bool {
    let current = Dictionary(
      snapshot.documents.map { ($0.reference.path, $0) }, uniquingKeysWith: { $1 })
    for change in snapshot.changes {
      let line =
        current[change.document.key.text].map { DocumentLine($0, event: "\(change.kind)") }
        ?? DocumentLine(removed: change.document)
      guard print(line) else { return false }
    }
    let state = state(of: snapshot)
    if state == lastState { return true }
    lastState = state
    return print(state)
  }

  mutating func print(_ line: DocumentLine) -> Bool {
    print(line.line(text, asJSON: asJSON))
  }

  private mutating func print(_ line: String) -> Bool {
    guard rest > 0 else { return false }
    printLine(line)
    rest -= 1
    return rest > 0
  }

  private func state(of snapshot: DocumentQuerySnapshot) -> String {
    let metadata = snapshot.metadata
    guard asJSON else {
      return "state \(snapshot.count) documents"
        + (metadata.hasPendingWrites ? " (pending)" : "")
        + (metadata.isFromCache ? " (from the cache)" : "")
    }
    return #"{"event":"state","documents":\#(snapshot.count),"#
      + #""pending":\#(metadata.hasPendingWrites),"fromCache":\#(metadata.isFromCache)}"#
  }
}

extension DocumentLine {
  /// A document that has left the result of a query, as it was last.
  fileprivate init(removed document: Document) {
    event = "removed"
    path = document.key.text
    fields = document.fields?.map
    version = document.version == .none ? nil : document.version
  }
}
