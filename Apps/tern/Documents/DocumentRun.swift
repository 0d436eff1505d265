import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import TernSync

extension ClientRun {
  /// Waits for the server's verdict on a write.
  ///
  /// - Throws: ``Failure``: refused, or unreachable when nothing is kept.
  func settle(_ write: DocumentWrite) async throws(Failure) -> Verdict {
    let answer = await firstAnswer(.reachable(tern.documents.connection)) {
      () async -> Result<Void, DocumentsError> in
      do throws(DocumentsError) { return .success(try await write.acknowledged()) } catch {
        return .failure(error)
      }
    }
    switch answer {
    case .success: return .acknowledged
    case .failure(let error): throw failure(about: error)
    case nil:
      guard isDurable else { throw news.failure }
      return .queued
    }
  }

  /// Makes a write, waits for the server's verdict, and says what became of it.
  func make(_ mutation: DocumentMutation, asJSON: Bool) async throws {
    let write = try await tern.documents.write([mutation])
    try await finish(write, of: [mutation], asJSON: asJSON)
  }

  /// Waits for the server's verdict, and says what became of the write; one line a document.
  func finish(
    _ write: DocumentWrite, of mutations: [DocumentMutation], asJSON: Bool
  ) async throws(Failure) {
    let verdict = try await settle(write)
    for mutation in mutations where asJSON {
      var writer = JSONWriter()
      writer.beginObject()
      writer.key("path")
      writer.string(mutation.key.text)
      writer.key("state")
      writer.string(verdict == .acknowledged ? "acknowledged" : "queued")
      writer.endObject()
      printLine(String(decoding: writer.bytes, as: UTF8.self))
    }
    if verdict == .queued {
      printError("tern: the server cannot be reached; the write is queued")
    }
  }

  /// The source of a single read's data: without a cache only a server can know.
  var source: DocumentGetSource { isDurable ? .serverOrCache : .server }

  /// Waits for an answer of the documents; with a cache, for as long as commands wait for a server.
  ///
  /// - Throws: ``Failure``: refused, or unreachable.
  func read<R: Sendable>(
    _ work: @escaping @Sendable () async throws(DocumentsError) -> R
  ) async throws(Failure) -> R {
    try await read(from: source) { (_) async throws(DocumentsError) in try await work() }
  }

  /// Waits for an answer of the documents; the cache answers when the server does not in time.
  ///
  /// - Parameter source: Where the data is to come from.
  /// - Throws: ``Failure``: refused, or unreachable.
  func read<R: Sendable>(
    from source: DocumentGetSource,
    _ work: @escaping @Sendable (DocumentGetSource) async throws(DocumentsError) -> R
  ) async throws(Failure) -> R {
    let read: @Sendable (DocumentGetSource) async -> Result<R, DocumentsError> = { source in
      do throws(DocumentsError) { return .success(try await work(source)) } catch {
        return .failure(error)
      }
    }
    let bound = isDurable ? Bound.inTime(timeout) : .reachable(tern.documents.connection)
    switch await firstAnswer(bound, { await read(source) }) {
    case .success(let result): return result
    case .failure(let error): throw failure(about: error)
    case nil: break
    }
    guard isDurable, source == .serverOrCache,
      case .success(let result)? = await firstAnswer(
        .inTime(Self.cachePatience), { await read(.cache) })
    else { throw news.failure }
    return result
  }
}

/// Reads the path of a document.
func documentKey(_ text: String) throws(Failure) -> DocumentKey {
  do throws(DocumentError) { return try DocumentKey(text) } catch {
    if (try? CollectionPath(text)) != nil {
      throw Failure(
        .usage,
        "\(text) is a collection; a document in it is \(text)/ID, to list: tern doc query \(text)")
    }
    throw Failure(.usage, "path \"\(text)\": \(DocumentsError.invalid(error))")
  }
}

/// Reads the path of a collection.
func collectionPath(_ text: String) throws(Failure) -> CollectionPath {
  do throws(DocumentError) { return try CollectionPath(text) } catch {
    throw Failure(.usage, "path \"\(text)\": \(DocumentsError.invalid(error))")
  }
}
