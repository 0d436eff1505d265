import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernQuery

/// A message to the watchers of one subject, encoded except for the target of each.
///
/// The document is the long part and the same for all watchers, so it is encoded once; each message
/// adds the number of its target.
struct DocumentPush {
  private let change: WatchChange
  private let names: DocumentNames
  /// The document of a change, encoded; `nil` for messages without one.
  private let document: [UInt8]?

  init(_ change: WatchChange, _ names: DocumentNames) {
    self.change = change
    self.names = names
    if case .changed(let document, _, _) = change {
      self.document = DocumentResponse.encoded(document, names)
    } else {
      document = nil
    }
  }

  /// About how many bytes the message has.
  var byteCount: Int { (document?.count ?? 64) + 16 }

  /// Returns the message for watchers that use this number for the target.
  func message(for target: Int32) -> [UInt8] {
    let addressed = change.addressed(to: target)
    if let document, case .changed(_, let targets, let removed) = addressed {
      return DocumentResponse.changed(document, targets: targets, removed: removed)
    }
    return DocumentResponse.listen(addressed).encode(names)
  }
}
