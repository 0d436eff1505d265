import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernSecurity

/// What one link of the documents' dialect carries: calls, side by side.
final class DocumentSession {
  let slot: Int
  let isLocal: Bool
  /// The calls that have not ended.
  var calls: [UInt32: DocumentCall] = [:]
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

/// One call that has not ended. Lives and is used inside the machine only.
final class DocumentCall {
  let number: UInt32
  let method: DocumentMethod
  let identity: Identity
  /// What showed who asks; `nil` for nobody in particular.
  let accepted: AcceptedCredential?
  unowned let session: DocumentSession
  /// The database; `nil` until the first message named it.
  var room: DocumentRoom?
  /// Of a listen call: the number by which the watch knows it.
  var stream: Int?
  /// Of a listen call: when it was told something.
  private(set) lazy var pulse = ListenPulse()
  /// Of a write call: what was agreed on in the handshake.
  var handshake: Handshake?

  /// What a write call has agreed on.
  struct Handshake {
    /// The client's stream of writes; `nil` for a client that knows of none.
    let stream: UInt128?
    /// How many answers were given.
    var answers: UInt64 = 0
  }

  init(
    _ number: UInt32, _ method: DocumentMethod, _ identity: Identity,
    _ accepted: AcceptedCredential?, _ session: DocumentSession
  ) {
    self.number = number
    self.method = method
    self.identity = identity
    self.accepted = accepted
    self.session = session
  }

  var slot: Int { session.slot }

  func requester(in room: DocumentRoom) -> Requester {
    Requester(identity, isLocal: session.isLocal, namespace: room.database.resourceName)
  }
}

/// When a listen call was told something; shared with whoever tells many at once.
final class ListenPulse {
  /// In milliseconds of the uptime.
  var lastTold: Int64 = 0
  /// The round of snapshots in which it had its last one.
  var round: UInt64 = 0
}
