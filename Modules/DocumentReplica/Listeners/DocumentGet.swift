package import TernCore
import TernQuery

/// The answer of a single read.
package typealias DocumentGetResult = Result<DocumentViewSnapshot, DocumentStatus>

extension DocumentGetSource {
  /// Judges the first snapshot that a read was given.
  ///
  /// - Parameter isDocument: Whether one document was asked for, not a query.
  func judge(_ snapshot: DocumentViewSnapshot, isDocument: Bool) -> DocumentGetResult {
    switch self {
    case .cache: break
    case .server:
      if snapshot.isFromCache {
        return .failure(
          DocumentStatus(.unavailable, "the server cannot be reached, and the cache was ruled out"))
      }
    case .serverOrCache:
      if snapshot.isFromCache, isDocument, snapshot.documents.isEmpty {
        return .failure(
          DocumentStatus(.unavailable, "the device is offline and does not know the document"))
      }
    }
    return .success(snapshot)
  }
}
