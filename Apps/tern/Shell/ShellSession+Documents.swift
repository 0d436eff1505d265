import TernClient
import TernCore
import TernQuery

// Documents in a shell: the same words as `tern doc`, with one client that stays.

extension ShellSession {
  func perform(_ command: ShellDocumentCommand) async throws {
    let documents = run.tern.documents
    switch command {
    case .get(let path):
      let place = documents.document(try documentKey(path).text)
      let snapshot = try await run.read(from: run.source) {
        (source) async throws(DocumentsError) in
        try await place.get(from: source)
      }
      say(DocumentLine(snapshot, event: "value"))
    case .set(let path, let content, let isMerge):
      let key = try documentKey(path)
      let inputs = try text.fields(content).entries.map {
        DocumentInput.Field($0.name, .value($0.value))
      }
      let write = try written { () throws(DocumentError) in
        try isMerge ? .merge(key, with: inputs) : .set(key, to: inputs)
      }
      follow(try await documents.write([write]), "set", key)
    case .update(let path, let content):
      let key = try documentKey(path)
      var assignments: [(path: DocumentFieldPath, input: DocumentInput)] = []
      for entry in try text.fields(content).entries {
        assignments.append((try fieldPath(entry.name), .value(entry.value)))
      }
      let write = try written { () throws(DocumentError) in try .update(key, assignments) }
      follow(try await documents.write([write]), "update", key)
    case .delete(let path):
      let key = try documentKey(path)
      follow(try await documents.write([.delete(key)]), "delete", key)
    case .query(let words): try await query(words)
    case .collections(let path): try await collections(path)
    case .watch(let words): try watch(words)
    case .unwatch(let path): documentWatches.removeValue(forKey: path)?.cancel()
    }
  }

  /// The spelling of values.
  private var text: DocumentText {
    DocumentText(run.tern.documents.database, isTyped: false)
  }

  private func query(_ words: [String]) async throws {
    let options = try DocumentQueryOptions.reading(words.dropFirst())
    let query = run.tern.documents.query(try options.query(words[0], text))
    let snapshot = try await run.read(from: run.source) {
      (source) async throws(DocumentsError) in
      try await query.get(from: source)
    }
    for document in snapshot.documents { say(DocumentLine(document, event: "value")) }
    say("found", ["count": .integer(Int64(snapshot.count))])
  }

  private func collections(_ path: String) async throws {
    let key = path == "/" ? nil : try documentKey(path)
    var next: String?
    repeat {
      let page = try await run.collections(below: key, from: next)
      for id in page.elements {
        say("collection", ["path": .string(key.map { "\($0)/\(id)" } ?? id)])
      }
      next = page.next
    } while next != nil
  }

  private func watch(_ words: [String]) throws {
    let path = words[0]
    let options = try DocumentQueryOptions.reading(words.dropFirst())
    let documents = run.tern.documents
    let printer = WatchPrinter(text, asJSON: asJSON, limit: nil)
    documentWatches.removeValue(forKey: path)?.cancel()
    if !options.group, let key = try? DocumentKey(path) {
      let snapshots = documents.document(key.text).snapshots(includingMetadata: true)
      documentWatches[path] = Task {
        var printer = printer
        await report {
          for try await snapshot in snapshots {
            guard printer.print(DocumentLine(snapshot, event: "value")) else { return }
          }
        }
      }
    } else {
      let query = documents.query(try options.query(path, text))
      let snapshots = query.snapshots(includingMetadata: true)
      documentWatches[path] = Task {
        var printer = printer
        await report {
          for try await snapshot in snapshots { guard printer.print(snapshot) else { return } }
        }
      }
    }
  }

  /// Listens, and prints the reason for the end unless a command ended it.
  private func report(_ listen: () async throws -> Void) async {
    do { try await listen() } catch DocumentsError.closed {
      return
    } catch {
      say("error", ["message": .string(Failure(about: error).message)])
    }
  }

  /// Says that a write is stored, and later what the server said about it.
  private func follow(_ write: DocumentWrite, _ verb: String, _ key: DocumentKey) {
    let number = stored(verb, key.text)
    decide(number) {
      do throws(DocumentsError) { try await write.acknowledged() } catch .closed, .cancelled {
        return .none
      } catch {
        return .rejected(error)
      }
      return .acknowledged
    }
  }

  private func say(_ line: DocumentLine) { printLine(line.line(text, asJSON: asJSON)) }
}
