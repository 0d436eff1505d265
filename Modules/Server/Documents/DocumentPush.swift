import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernQuery

/// A message to those who watch one thing, encoded but for whom it goes to.
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

  /// The message for whoever calls the target so.
  func message(for target: Int32) -> [UInt8] {
    let addressed = change.addressed(to: target)
    if let document, case .changed(_, let targets, let removed) = addressed {
      return DocumentResponse.changed(document, targets: targets, removed: removed)
    }
    return DocumentResponse.listen(addressed).encode(names)
  }
}
