import TernCore
import TernPresence
import TernSecurity
import TernTreeAuthority
import TernTreeWire

/// The user on whose behalf a deferred operation happens, as it is stored: JSON.
///
/// Source: Docs/Formats/wire-extensions.md, section 6.
///
/// Members of the object: `ns`, the database; `local`; `identity`; `c`, the client in hexadecimal
/// digits; `credential` with `holder`, `expires` and `issued` in seconds, and `voucher` in
/// hexadecimal digits. `c` and `credential` are optional, as are the three last members of the
/// credential.
struct SessionOwner: Equatable {
  var requester: Requester
  /// The client that the session belongs to.
  var client: UInt128?
  /// The credential that was in force when the operation was left; `nil` for an anonymous user.
  var credential: Authentication?

  init(_ requester: Requester, client: UInt128?, credential: Authentication? = nil) {
    self.requester = requester
    self.client = client
    self.credential = credential
  }

  init?(_ bytes: [UInt8]) {
    guard let json = try? JSONValue(parsing: bytes), let namespace = json["ns"]?.text else {
      return nil
    }
    requester = Requester(
      Identity(json: json["identity"] ?? .null), isLocal: json["local"] == .bool(true),
      namespace: namespace)
    client = json["c"]?.text.flatMap { UInt128($0, radix: 16) }
    guard let stored = json["credential"] else { return }
    var credential = Authentication(
      Identity(json: stored["holder"] ?? .null), expires: stored["expires"]?.integer,
      issued: stored["issued"]?.integer,
      voucher: stored["voucher"]?.text.flatMap { UInt64($0, radix: 16) })
    credential.identity = requester.identity
    self.credential = credential
  }

  var origin: SessionOrigin? {
    client.map { SessionOrigin(client: $0, namespace: requester.namespace) }
  }

  /// Returns true when both act alike: the same requester by the same credential, however it is
  /// stored.
  ///
  /// Operations of one user in a row are folded only if both would be judged and revoked alike.
  func acts(as other: SessionOwner) -> Bool {
    requester == other.requester && credential?.holder == other.credential?.holder
      && credential?.issued == other.credential?.issued
      && credential?.voucher == other.credential?.voucher
  }

  func encode() -> [UInt8] {
    var members: [JSONValue.Member] = [
      .init("ns", .string(requester.namespace)), .init("local", .bool(requester.isLocal)),
      .init("identity", requester.identity.json),
    ]
    if let client { members.append(.init("c", .string(String(client, radix: 16)))) }
    if let credential {
      var parts = [JSONValue.Member("holder", credential.holder.json)]
      if let expires = credential.expires { parts.append(.init("expires", .integer(expires))) }
      if let issued = credential.issued { parts.append(.init("issued", .integer(issued))) }
      if let voucher = credential.voucher {
        parts.append(.init("voucher", .string(String(voucher, radix: 16))))
      }
      members.append(.init("credential", .object(parts)))
    }
    return JSONValue.object(members).bytes
  }
}

/// A deferred request and the user who left it.
///
/// Stored as the frame of the request when its user is the one stored for the session, else as a
/// byte 1, the owner's byte count in 4 bytes, the owner and the frame.
struct DeferredOperation {
  let owner: SessionOwner
  let request: TreeRequest

  private static let ownedTag: UInt8 = 1

  init(_ owner: SessionOwner, _ request: TreeRequest) {
    self.owner = owner
    self.request = request
  }

  /// - Parameter first: The owner stored for the session, who has no owner in each row.
  init?(_ bytes: [UInt8], in first: SessionOwner) {
    var (owner, frame) = (first, bytes[...])
    if bytes.first == Self.ownedTag {
      guard bytes.count >= 5 else { return nil }
      let count = bytes[1..<5].reduce(0) { $0 << 8 | Int($1) }
      guard count <= bytes.count - 5, let read = SessionOwner(Array(bytes[5..<5 + count])) else {
        return nil
      }
      (owner, frame) = (read, bytes[(5 + count)...])
    }
    guard case .request(_, let request) = try? TreeClientMessage.decode(Array(frame)) else {
      return nil
    }
    self.init(owner, request)
  }

  func encode(in first: SessionOwner) -> [UInt8] {
    let frame = TreeClientMessage.request(0, request).encode()
    if owner.acts(as: first) { return frame }
    let owner = owner.encode()
    let count = (0..<4).map { UInt8(truncatingIfNeeded: owner.count >> (24 - 8 * $0)) }
    return [Self.ownedTag] + count + owner + frame
  }
}

/// The deferred operations of a session in the order in which they were left, folded where one user
/// left several in a row.
///
/// Cancelling works on all parts, so the parts are a replay of the whole history: the order of
/// operations of different users at overlapping paths decides which one wins.
struct DeferredOperations {
  private var parts: [(owner: SessionOwner, tree: DisconnectTree)] = []

  /// Reads what a session left. An operation that cannot be read is not there.
  ///
  /// An unreadable row is skipped rather than reported: its session has ended, and the operations
  /// of other rows must still happen.
  init(_ estate: DisconnectOperations.PendingDisconnects) {
    guard let first = SessionOwner(estate.owner) else { return }
    for bytes in estate.writes {
      guard let operation = DeferredOperation(bytes, in: first) else { continue }
      switch operation.request {
      case .onDisconnectSet(let path, let node): leave(.set(path, node), operation.owner)
      case .onDisconnectMerge(let path, let merge): leave(.merge(path, merge), operation.owner)
      case .onDisconnectCancel(let path): cancel(at: path)
      default: continue
      }
    }
  }

  var isEmpty: Bool { parts.isEmpty }

  /// The writes that remain, each with its user, in the order in which they are to be made. Those
  /// of one user overlap nowhere unless another user's lie between them.
  var assignments: [(owner: SessionOwner, entry: TreeMerge.Entry)] {
    parts.flatMap { part in part.tree.assignments.map { (part.owner, $0) } }
  }

  private mutating func leave(_ write: TreeWrite, _ owner: SessionOwner) {
    if parts.last?.owner.acts(as: owner) != true { parts.append((owner, DisconnectTree())) }
    parts[parts.count - 1].tree.leave(write)
  }

  /// Takes back what was left at `path` and below, by any user of the session.
  mutating func cancel(at path: TreePath) {
    for index in parts.indices { parts[index].tree.cancel(at: path) }
    parts.removeAll { $0.tree.isEmpty }
  }
}
