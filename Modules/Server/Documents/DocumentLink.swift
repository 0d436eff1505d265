import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernSecurity

/// What one link of the documents' dialect carries: calls, side by side.
final class DocumentLink {
  let slot: Int
  let isLocal: Bool
  /// The calls that have not ended.
  var calls: [UInt32: DocumentCall] = [:]
  /// Rejections of its numbered writes that are not stored.
  var refused = RefusedWrites()
  /// The highest number of a call so far.
  var lastCall: UInt32?

  init(slot: Int, isLocal: Bool) {
    self.slot = slot
    self.isLocal = isLocal
  }

  /// How many targets all its listen calls have.
  var targetCount: Int {
    calls.values.reduce(0) { count, call in
      guard let stream = call.stream, let room = call.room else { return count }
      return count + room.watch.targetCount(of: stream)
    }
  }

  /// Whether a link that begins with this frame speaks about documents, not about the tree.
  ///
  /// The tree's frames are text. Source: Docs/Formats/document-wire.md, section 1.
  static func begins(with frame: [UInt8]) -> Bool {
    frame.first.map { $0 < 0x20 } ?? false
  }
}
