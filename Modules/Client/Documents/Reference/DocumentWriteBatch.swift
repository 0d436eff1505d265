import Synchronization
public import TernCore
import TernSync

/// Writes that are made together or not at all.
public struct DocumentWriteBatch: Sendable {
  let documents: Documents
  private var mutations: [DocumentMutation] = []
  /// The first mistake; it is thrown by ``commit()``.
  private var problem: DocumentError?

  init(documents: Documents) { self.documents = documents }

  /// Replaces a document, or makes it.
  public mutating func set(
    _ document: DocumentLocation, to fields: DocumentInput, merging: Bool = false
  ) {
    add(document) { key throws(DocumentError) in
      try DocumentMutation.setting(key, to: fields, merging: merging)
    }
  }

  /// Writes single fields of a document that must exist; names are paths, joined by dots.
  public mutating func update(
    _ document: DocumentLocation, _ fields: KeyValuePairs<String, DocumentInput>
  ) {
    add(document) { key throws(DocumentError) in try DocumentMutation.updating(key, fields) }
  }

  /// Removes a document.
  public mutating func remove(_ document: DocumentLocation) {
    add(document) { key throws(DocumentError) in .delete(key) }
  }

  private mutating func add(
    _ document: DocumentLocation,
    _ make: (DocumentKey) throws(DocumentError) -> DocumentMutation
  ) {
    do throws(DocumentError) {
      mutations.append(try make(try document.key.get()))
    } catch {
      problem = problem ?? error
    }
  }

  /// Makes the writes; returns when they are durable on this device. Without any it does nothing.
  ///
  /// - Throws: ``DocumentsError/invalid(_:)``, also for more writes than a server takes in one
  ///   request of 10 MiB (`DocumentError.batchTooLarge(byteCount:limit:)`). Their number
  ///   is not limited.
  public func commit() async throws(DocumentsError) -> DocumentWrite {
    if let problem { throw .invalid(problem) }
    return try await documents.write(mutations)
  }
}

/// A write that is durable on this device.
public struct DocumentWrite: Sendable {
  let promise: DocumentWritePromise
  /// A caller that waits for a verdict needs the connection that it comes over.
  let session: DocumentSession

  /// Returns when the server has accepted the write.
  ///
  /// - Throws: ``DocumentsError/refused(_:)``: it was taken back here;
  ///   ``DocumentsError/closed``: it stays queued; ``DocumentsError/cancelled``: it goes on.
  public func acknowledged() async throws(DocumentsError) {
    if let error = await promise.end.value(ifCancelled: .cancelled) { throw error }
  }

  /// Returns when the server has accepted the write, but waits no longer than `limit`.
  ///
  /// - Throws: As ``acknowledged()``; ``DocumentsError/timedOut(after:)`` leaves the write in the
  ///   queue, to be sent when there is a connection.
  public func acknowledged(within limit: Duration) async throws(DocumentsError) {
    let end = await promise.end.value(
      ifCancelled: .cancelled, within: limit, on: session.clock, late: .timedOut(after: limit))
    if let end { throw end }
  }
}

extension Documents {
  /// Makes writes that were made by hand, with preconditions if wanted, together or not at all.
  ///
  /// - Returns: When they are durable on this device.
  public func write(_ mutations: [DocumentMutation]) async throws(DocumentsError) -> DocumentWrite {
    if mutations.isEmpty {
      let promise = DocumentWritePromise()
      promise.ended(nil)
      return DocumentWrite(promise: promise, session: session)
    }
    return try await write(mutations, insteadOf: nil)
  }

  /// - Parameter row: That of the rejected batch whose place the writes take.
  func write(
    _ mutations: [DocumentMutation], insteadOf row: UInt64?
  ) async throws(DocumentsError) -> DocumentWrite {
    let promise = await session.write(mutations, insteadOf: row)
    try await promise.stored.value().get()
    return DocumentWrite(promise: promise, session: session)
  }
}

extension DocumentMutation {
  static func setting(
    _ key: DocumentKey, to input: DocumentInput, merging: Bool
  ) throws(DocumentError) -> DocumentMutation {
    let fields = try input.fields()
    return merging ? try .merge(key, with: fields) : try .set(key, to: fields)
  }

  static func updating(
    _ key: DocumentKey, _ fields: KeyValuePairs<String, DocumentInput>
  ) throws(DocumentError) -> DocumentMutation {
    var assignments: [(path: DocumentFieldPath, input: DocumentInput)] = []
    for (name, input) in fields {
      assignments.append((try DocumentFieldPath(dotted: name), input))
    }
    return try .update(key, assignments)
  }
}

extension DocumentInput {
  /// The fields of a document.
  ///
  /// - Throws: ``DocumentError/invalidFieldPath(_:)`` when this is no map.
  func fields() throws(DocumentError) -> [Field] {
    switch self {
    case .map(let fields): return fields
    case .value(.map(let map)): return map.entries.map { Field($0.name, .value($0.value)) }
    case .value, .array, .delete, .transform: throw .invalidFieldPath("a document is a map")
    }
  }
}
