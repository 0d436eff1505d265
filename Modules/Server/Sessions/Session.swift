import TernCore
import TernSecurity

/// One client on one link, as the machine sees it. Lives and is used inside the machine only.
final class Session {
  /// Where the link is in the table of links.
  let slot: Int
  /// Whether the other end is on this machine.
  let isLocal: Bool
  /// Where the other end is, without its port.
  let address: String
  /// Names the session for the one that follows it.
  let id: UInt128
  /// The database; `nil` until the client has opened the session.
  var namespace: Namespace?
  /// The stream of durable writes this session carries.
  var stream: UInt128?
  /// What its client is known by; `nil` for a client without a queue.
  var origin: SessionOrigin?
  /// The open session of the same client that this one was asked about: to take its place, the
  /// client opens once more.
  var askedAbout: UInt128?
  /// Who is asking.
  var identity = Identity.anonymous
  /// What showed who it is; `nil` for nobody in particular.
  var accepted: AcceptedCredential?
  /// When something was last heard, in milliseconds of the machine's uptime.
  var lastHeard: Int64
  /// What the link carries when it speaks about documents; `nil` on a link of the tree.
  var documents: DocumentLink?
  /// Whether nothing was heard yet, so that the link may speak either dialect.
  var isFresh = true
  /// Rejections of its numbered writes that are not stored.
  var refused = RefusedWrites()
  /// Whether nothing that it is sent arrives any more.
  var isUnreachable = false
  /// The groups this session listens in.
  var groups: [ObjectIdentifier: ListenGroup] = [:]

  init(slot: Int, isLocal: Bool, address: String = "", id: UInt128, now: Int64) {
    self.address = address
    self.slot = slot
    self.isLocal = isLocal
    self.id = id
    lastHeard = now
  }

  func requester(in namespace: Namespace) -> Requester {
    Requester(identity, isLocal: isLocal, namespace: namespace.name, address: address)
  }
}

/// What a client is known by: it stays the same from session to session, over restarts, and when
/// the client gives up what it had to write.
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
