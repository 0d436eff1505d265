import TernCore
import TernSecurity

/// One client on one link, as the machine sees it. Lives and is used inside the machine only.
final class Session {
  /// The index of the link in the table of links.
  let slot: Int
  /// True when the other end is on this machine.
  let isLocal: Bool
  /// The address of the other end, without its port.
  let address: String
  /// Names the session for the one that follows it.
  var id: UInt128
  /// The database; `nil` until the client has opened the session.
  var namespace: Namespace?
  /// The stream of durable writes this session carries.
  var stream: UInt128?
  /// The permanent name of its client; `nil` for a client without a queue.
  var origin: SessionOrigin?
  /// The open session of the same client that this one was asked about: to take its place, the
  /// client opens once more.
  var askedAbout: UInt128?
  /// The identity of the client.
  var identity = Identity.anonymous
  /// The numbers of credentials that were rejected at a node that follows, and are not passed on to
  /// its routes yet.
  var rejectedCredentials: [UInt64] = []
  /// The credential that proved the identity; `nil` for anonymous clients.
  var accepted: AcceptedCredential?
  /// The time of the latest input, in milliseconds of the machine's uptime.
  var lastHeard: Int64
  /// The calls of a link that carries documents; `nil` on a link of the tree.
  var documents: DocumentLink?
  /// True before the first frame, so that the link may carry either dialect.
  var isFresh = true
  /// Rejections of its numbered writes that are not stored.
  var refused = RefusedWrites()
  /// True when no output arrives any more.
  var isUnreachable = false
  /// The read of the tree that goes on beside the server's executor.
  var read: PendingTreeRead?
  /// The listens of this session.
  var listens = SessionListens()
  /// The memory that they are charged with.
  let charge: ListenCharge
  /// The highest number of a call about documents that was judged again, -1 for none yet; `nil`
  /// when none waits for it.
  var reviewedCall: Int?

  init(
    slot: Int, isLocal: Bool, address: String = "", id: UInt128, now: Int64,
    charge: ListenCharge
  ) {
    self.charge = charge
    self.address = address
    self.slot = slot
    self.isLocal = isLocal
    self.id = id
    lastHeard = now
  }

  /// Ends the read that is under way; nothing waits for it any more.
  func endRead() {
    guard let pending = read else { return }
    pending.job.cancel()
    read = nil
    pending.end()
  }

  func requester(in namespace: Namespace) -> Requester {
    Requester(identity, isLocal: isLocal, namespace: namespace.name, address: address)
  }
}

/// The permanent name of a client: it stays the same from session to session, over restarts, and
/// when the client gives up its pending writes.
struct SessionOrigin: Hashable {
  let client: UInt128
  let namespace: ExactText

  init(client: UInt128, namespace: String) {
    self.client = client
    self.namespace = ExactText(namespace)
  }
}

/// The text form of a session's id: 32 hexadecimal digits.
enum SessionID {
  static func text(_ id: UInt128) -> String {
    let digits = String(id, radix: 16)
    return String(repeating: "0", count: 32 - digits.utf8.count) + digits
  }

  static func parse(_ text: String) -> UInt128? {
    text.utf8.count == 32 ? UInt128(text, radix: 16) : nil
  }
}
