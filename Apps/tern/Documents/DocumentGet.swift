import ArgumentParser
import TernClient
import TernCore

extension DocumentCommands {
  /// `tern doc get`: one document, once.
  struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print the fields of a document.",
      discussion: "Exits with 5, having printed null, when there is none.")

    @Argument(help: "Which document, such as cities/SF.") var path: String
    @OptionGroup var form: TypedFlag
    @OptionGroup var client: ClientFlags

    func run() async throws {
      try client.checkDocuments()
      let key = try documentKey(path)
      try await client.withClient { run in
        let place = run.tern.documents.document(key.text)
        let snapshot = try await run.read(from: run.source) {
          (source) async throws(DocumentsError) in
          try await place.get(from: source)
        }
        let text = DocumentText(run.tern.documents.database, isTyped: form.typed)
        if client.json {
          printLine(DocumentLine(snapshot).line(text, asJSON: true))
        } else {
          printLine(indented(json: text.line(snapshot.data())))
        }
        if !snapshot.exists { throw Failure(.notFound, "there is no document \(key)") }
      }
    }
  }

  /// `tern doc collections`: what is there.
  struct Collections: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print the collections of the database, or those below a document.",
      discussion: "Exits with 5 when there are none.")

    @Argument(help: "Below which document; / is the database.") var path: String = "/"
    @OptionGroup var client: ClientFlags

    func run() async throws {
      try client.checkDocuments()
      let key = path == "/" ? nil : try documentKey(path)
      try await client.withClient { run in
        var count = 0
        var next: String?
        repeat {
          let page = try await run.collections(below: key, from: next)
          for id in page.elements {
            let path = key.map { "\($0)/\(id)" } ?? id
            printLine(client.json ? jsonLine(["path": .string(path)]) : path)
          }
          count += page.elements.count
          next = page.next
        } while next != nil
        if count == 0 { throw Failure(.notFound, "there are no collections") }
      }
    }
  }
}

extension ClientRun {
  /// Part of the ids of the collections below a document, or of the database.
  func collections(
    below key: DocumentKey?, from token: String?
  ) async throws(Failure) -> DocumentListPage<String> {
    let documents = tern.documents
    return try await read { () async throws(DocumentsError) in
      if let key {
        try await documents.document(key.text).collectionIDs(from: token)
      } else {
        try await documents.collectionIDs(from: token)
      }
    }
  }
}
