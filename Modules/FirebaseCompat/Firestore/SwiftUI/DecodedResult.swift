/// The consequence of a document that does not decode, for `FirestoreQuery`.
public enum DecodingFailureStrategy: Sendable {
  /// The document is left out.
  case ignore
  /// No document is shown, and the error is.
  case raise
}

/// The decoded documents of a result, and the first error.
struct DecodedResult<Item: Decodable> {
  let items: [Item]
  let error: (any Error)?
  /// True when the error leaves nothing to show.
  private let isFailed: Bool

  /// The result of a query that failed.
  init(error: any Error) { (items, self.error, isFailed) = ([], error, true) }

  /// Decodes a result.
  init(_ snapshot: QuerySnapshot, _ strategy: DecodingFailureStrategy) {
    var items: [Item] = []
    var failure: (any Error)?
    for document in snapshot.documents {
      do { items.append(try document.data(as: Item.self)) } catch { failure = failure ?? error }
    }
    isFailed = strategy == .raise && failure != nil
    self.items = isFailed ? [] : items
    error = failure
  }

  /// The items, or the error that leaves none.
  var result: Result<[Item], any Error> {
    if let error, isFailed { .failure(error) } else { .success(items) }
  }
}
