/// Writes of this device while they are applied to one document, oldest first.
///
/// The contents are unpacked for the first write that needs them and packed at the end, however
/// many writes there are.
package struct DocumentReplay: Sendable {
  /// The document after the latest write; its fields are out of date while `map` has them.
  private var document: Document
  /// The fields after the latest write; `nil` when the document has them.
  private var map: DocumentMap?
  /// The number of times that the document's contents were unpacked or packed.
  private(set) var conversionCount = 0

  /// Begins with what the server has, or what was shown before.
  package init(over document: Document) { self.document = document }

  /// Applies the next write, as ``DocumentMutation/applyLocally(to:touched:at:)`` does.
  package mutating func apply(
    _ mutation: DocumentMutation, touched: inout DocumentMutation.Touched,
    at time: DocumentTimestamp
  ) {
    guard mutation.precondition.conflict(with: document) == nil else { return }
    switch mutation.change {
    case .verify: return
    case .delete:
      document.state = .missing
      document.version = .none
      map = nil
      touched = .everything
    case .set(let fields):
      if mutation.transforms.isEmpty {
        document.state = .found(fields)
        map = nil
      } else {
        change(mutation, at: time)
      }
      touched = .everything
    case .patch(_, let mask):
      change(mutation, at: time)
      if case .fields(let earlier) = touched {
        touched = .fields(earlier.union(mask.paths + mutation.transforms.map(\.path)))
      }
    }
    document.localWrites = .pending
  }

  private mutating func change(_ mutation: DocumentMutation, at time: DocumentTimestamp) {
    let before = unpacked()
    map = mutation.contents(over: before, at: .device(time)).map
    // Preconditions look at whether it exists and at its version, never at its fields.
    if !document.isFound { document.state = .found(.empty) }
  }

  private mutating func unpacked() -> DocumentMap {
    if let map { return map }
    guard let fields = document.fields else { return DocumentMap() }
    conversionCount += 1
    return fields.map
  }

  /// Returns the document after all writes.
  package mutating func finished() -> Document {
    if let map {
      conversionCount += 1
      document.state = .found(DocumentFields(map))
      self.map = nil
    }
    return document
  }
}
