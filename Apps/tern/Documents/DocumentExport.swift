import ArgumentParser
import TernClient
import TernCore
import TernDocumentReplica
import TernQuery

extension DocumentCommands {
  /// `tern doc export`: collections into a file of lines.
  struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write documents to a file that import reads, one a line.",
      discussion: """
        tern doc export cities cities.jsonl     # a collection, and what lies below it
        tern doc export /                       # everything, to standard output
        The file is written aside and renamed when it is complete. Documents are read 100 at a \
        time, each time as they are together; writes made meanwhile may be in a later part and \
        not in an earlier one. Asks the server, with a cache too.
        """)

    @Argument(help: "A collection, a document, or / for everything.") var path: String
    @Argument(help: "The file; - writes to standard output.") var file: String = "-"

    @Flag(help: "Leave out the collections below documents.")
    var flat = false

    @Option(help: ArgumentHelp("Documents to read at a time.", valueName: "documents"))
    var pageSize = 100

    @OptionGroup var form: TypedFlag
    @OptionGroup var client: ClientFlags

    func validate() throws {
      guard 1...DocumentListLimits.pageSize ~= pageSize else {
        throw ValidationError("--page-size must be in 1...\(DocumentListLimits.pageSize)")
      }
    }

    func run() async throws {
      try client.checkDocuments()
      let key = try? DocumentKey(path)
      let collection = path == "/" || key != nil ? nil : try collectionPath(path)
      try await client.withClient { run in
        let target = try ExportFile(file)
        do {
          let text = DocumentText(run.tern.documents.database, isTyped: form.typed)
          var exporter = DocumentExporter(
            run, text, target, includesBelow: !flat, pageSize: pageSize)
          if let collection {
            try await exporter.write(collection)
          } else {
            try await exporter.write(key)
          }
          exporter.progress.end()
          guard exporter.count > 0 else {
            throw Failure(.notFound, "there are no documents in \(path)")
          }
          try target.finish()
          if target.isFile { printLine(said(exporter.count)) }
        } catch {
          target.abandon()
          throw error
        }
      }
    }

    private func said(_ count: Int) -> String {
      client.json ? #"{"documents":\#(count)}"# : "exported \(count) documents to \(file)"
    }
  }
}

/// Writes documents and what lies below them, one a line, parents first.
struct DocumentExporter {
  private let run: ClientRun
  private let text: DocumentText
  private let target: ExportFile
  private let includesBelow: Bool
  private let pageSize: Int
  fileprivate var progress = ProgressLine()

  /// The number of documents written.
  private(set) var count = 0

  init(
    _ run: ClientRun, _ text: DocumentText, _ target: ExportFile, includesBelow: Bool,
    pageSize: Int
  ) {
    self.run = run
    self.text = text
    self.target = target
    self.includesBelow = includesBelow
    self.pageSize = pageSize
  }

  /// Writes a document and everything below it; `nil` is the whole database.
  mutating func write(_ key: DocumentKey?) async throws {
    if let key {
      let place = run.tern.documents.document(key.text)
      let snapshot = try await run.read { () async throws(DocumentsError) in
        try await place.get(from: .server)
      }
      if snapshot.exists { try write(snapshot) }
      guard includesBelow else { return }
    }
    for id in try await Self.collections(below: key, run) {
      try await write(try collectionPath(key.map { "\($0)/\(id)" } ?? id))
    }
  }

  /// Writes a collection and everything below it.
  mutating func write(_ collection: CollectionPath) async throws {
    let place = run.tern.documents.collection(collection.text)
    let (limit, includesMissing) = (pageSize, includesBelow)
    var next: String?
    repeat {
      let token = next
      let page = try await run.read { () async throws(DocumentsError) in
        try await place.page(from: token, limit: limit, includingMissing: includesMissing)
      }
      let below = includesBelow ? try await collections(below: page.elements) : [:]
      for document in page.elements {
        if document.exists { try write(document) }
        let path = document.reference.path
        for id in below[path] ?? [] { try await write(try collectionPath("\(path)/\(id)")) }
      }
      next = page.next
    } while next != nil
  }

  private mutating func write(_ document: SingleDocumentSnapshot) throws {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("path")
    writer.string(document.reference.path)
    writer.key("fields")
    text.write(document.data(), to: &writer)
    writer.endObject()
    try target.write(String(decoding: writer.bytes, as: UTF8.self) + "\n")
    count += 1
    progress.show("exporting", count, of: nil, unit: "documents")
  }

  /// The collections below each document of a page, asked for together.
  private func collections(below page: [SingleDocumentSnapshot]) async throws -> [String: [String]]
  {
    let run = run
    return try await withThrowingTaskGroup(of: (String, [String]).self) { group in
      for document in page {
        let key = try documentKey(document.reference.path)
        group.addTask { (key.text, try await Self.collections(below: key, run)) }
      }
      return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
  }

  private static func collections(below key: DocumentKey?, _ run: ClientRun) async throws
    -> [String]
  {
    var ids: [String] = []
    var next: String?
    repeat {
      let page = try await run.collections(below: key, from: next)
      ids += page.elements
      next = page.next
    } while next != nil
    return ids
  }
}
