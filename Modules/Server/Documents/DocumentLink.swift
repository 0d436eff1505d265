import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernSecurity

/// The calls that one link of the documents' dialect carries, side by side.
final class DocumentLink {
  let slot: Int
  let isLocal: Bool
  /// The other end's address, without its port.
  let address: String
  /// The calls that have not ended.
  var calls: [UInt32: DocumentCall] = [:]
  /// Rejections of its numbered writes that are not stored.
  var refused = RefusedWrites()
  /// The highest number of a call so far.
  var lastCall: UInt32?

  init(_ session: Session) {
    slot = session.slot
    isLocal = session.isLocal
    address = session.address
  }

  /// The number of targets of all its listen calls.
  var targetCount: Int {
    calls.values.reduce(0) { count, call in
      guard let stream = call.stream, let database = call.database else { return count }
      return count + database.watch.targetCount(of: stream)
    }
  }

  /// Returns true when a link that begins with this frame carries documents, not the tree.
  ///
  /// The tree's frames are text. Source: Docs/Formats/document-wire.md, section 1.
  static func begins(with frame: [UInt8]) -> Bool {
    frame.first.map { $0 < 0x20 } ?? false
  }
}
