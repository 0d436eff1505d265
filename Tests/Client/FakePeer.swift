import TernCore
import TernQuery
import TernTreeWire

/// A server small enough to be believed: one tree, listens to everything, exactly-once.
final class FakePeer {
  struct Stream {
    var last: UInt64 = 0
    var outcomes: [UInt64: TreeResponse.Outcome] = [:]
  }

  var tree = TreeNode.empty
  var now: Int64 = 5_000_000
  /// Paths at and below which writes are denied.
  var denied: [TreePath] = []
  /// Every request, oldest first, as the wire's action and path.
  private(set) var log: [String] = []
  /// The sequence up to which each numbered write said that its writer knows the outcomes.
  private(set) var acknowledged: [UInt64] = []
  /// Applied writes, for counting.
  private(set) var applied = 0
  private(set) var streams: [UInt128: Stream] = [:]
  private var connectionStream: UInt128?
  private var listens: [TreePath] = []
  private var deferred: [TreeWrite] = []
  /// The paths without an index for queries: all is sent, to every listener there.
  var unindexed: [TreePath] = []
  /// Answers conditional writes as stale this often before looking at them.
  var staleAnswers = 0
  /// The opening of the last connection.
  private(set) var opening: TreeOpening?
  /// Keeps answers about past writes back while set.
  var holdsOutcomes = false
  private var held: [TreeServerMessage] = []
  /// Tokens that do not count.
  var refusedTokens: Set<String> = []
  /// The answer to a sign-out.
  var signOutStatus = TreeStatus.ok
  /// Keeps answers about credentials back while set.
  var holdsCredentials = false
  /// The reason for rejecting writes while set.
  var refusal: String?
  /// Answers numbered writes as if it missed one before them while set.
  var missesWrites = false
  /// Leaves listens without an answer while set.
  var ignoresListens = false
  /// The reason for which listens cannot be served now; `nil` when they can.
  var listenRefusal: String?
  /// Asks this often whether a link is the last one before it greets.
  var inquiries = 0
  private var sessions = 0

  /// Takes a frame and returns the answers.
  func receive(_ frame: [UInt8]) throws -> [[UInt8]] {
    switch try TreeClientMessage.decode(frame) {
    case .open(let opening): return [open(opening).encode()]
    case .ping: return [TreeServerMessage.pong.encode()]
    case .keepAlive: return []
    case .request(let number, let request):
      return try answer(number, request).map { $0.encode() }
    }
  }

  /// The connection is gone: deferred writes happen.
  func disconnected() {
    for write in deferred { tree.apply(resolve(write)) }
    deferred = []
    listens = []
    connectionStream = nil
  }

  /// Another client wrote; returns the pushes for this one.
  func write(_ write: TreeWrite) -> [[UInt8]] {
    commit(write).map { $0.encode() }
  }

  /// Returns the frames that were kept back.
  func releaseHeld() -> [[UInt8]] {
    defer { held = [] }
    return held.map { $0.encode() }
  }

  func forgetLog() { log = [] }

  /// Keeps the numbers of writes, and no longer what became of them.
  func forgetOutcomes() {
    for stream in streams.keys { streams[stream]?.outcomes = [:] }
  }

  private func open(_ opening: TreeOpening) -> TreeServerMessage {
    self.opening = opening
    if inquiries > 0 {
      inquiries -= 1
      return .inquiry
    }
    sessions += 1
    connectionStream = opening.stream
    let last = opening.stream.map { streams[$0]?.last ?? 0 }
    return .handshake(
      TreeHandshake(time: now, host: "fake", session: "s\(sessions)", lastSequence: last))
  }

  private func answer(_ number: UInt64, _ request: TreeRequest) throws -> [TreeServerMessage] {
    func reply(_ response: TreeResponse) -> TreeServerMessage { .response(number, response) }
    switch request {
    case .listen(let listen):
      log.append("q /\(listen.path)")
      if ignoresListens { return [] }
      if let listenRefusal { return [reply(TreeResponse(.unavailable, detail: listenRefusal))] }
      listens.append(listen.path)
      let node = tree.node(at: listen.path)
      if unindexed.contains(listen.path), !listen.query.loadsAllData {
        return [
          .put(TreePush(path: listen.path, node)),
          reply(.listening(warnings: [TreeResponse.noIndex])),
        ]
      }
      if node.hash == listen.hash, !node.isEmpty { return [reply(.listening())] }
      return [.put(TreePush(path: listen.path, node)), reply(.listening())]
    case .unlisten(let path, _, _):
      log.append("n /\(path)")
      if let listenRefusal { return [reply(TreeResponse(.unavailable, detail: listenRefusal))] }
      listens.removeAll { $0 == path }
      return [reply(TreeResponse(.ok))]
    case .put(let path, let node, let hash, let mark):
      log.append("p /\(path)")
      return judge(.set(path, node), hash, mark).map(reply)
    case .merge(let path, let merge, let mark):
      log.append("m /\(path)")
      return judge(.merge(path, merge), nil, mark).map(reply)
    case .get(let path, let query):
      log.append("g /\(path)")
      return [reply(.data(query.window(of: tree.node(at: path))))]
    case .onDisconnectSet(let path, let node):
      log.append("o /\(path)")
      deferred.append(.set(path, node))
      return [reply(TreeResponse(.ok))]
    case .onDisconnectMerge(let path, let merge):
      log.append("om /\(path)")
      deferred.append(.merge(path, merge))
      return [reply(TreeResponse(.ok))]
    case .onDisconnectCancel(let path):
      log.append("oc /\(path)")
      if let refusal { return [reply(TreeResponse(.unavailable, detail: refusal))] }
      deferred.removeAll { path.contains($0.path) }
      return [reply(TreeResponse(.ok))]
    case .outcomes(let stream, let first, let last):
      log.append("wo \(first)...\(last)")
      let known = streams[stream ?? connectionStream ?? 0]?.outcomes ?? [:]
      let outcomes = known.values.filter { first <= $0.sequence && $0.sequence <= last }
      let answer = reply(.outcomes(outcomes.sorted { $0.sequence < $1.sequence }))
      if holdsOutcomes { held.append(answer) }
      return holdsOutcomes ? [] : [answer]
    case .auth(let credential):
      let isRefused = refusedTokens.contains(credential.token)
      let answer = reply(TreeResponse(isRefused ? .invalidToken : .ok))
      if holdsCredentials { held.append(answer) }
      return holdsCredentials ? [] : [answer]
    case .unauth:
      log.append("unauth")
      let answer = reply(TreeResponse(signOutStatus))
      if holdsCredentials { held.append(answer) }
      return holdsCredentials ? [] : [answer]
    case .appCheck, .stats, .unknown:
      return [reply(TreeResponse(.ok))]
    }
  }
}

extension FakePeer {
  private func judge(
    _ write: TreeWrite, _ hash: String?, _ mark: WriteHeader
  ) -> Answers {
    guard let stamp = mark.stamp else { return judge(unnumbered: write) }
    acknowledged.append(mark.acknowledged ?? 0)
    let id = stamp.stream ?? connectionStream ?? 0
    var stream = streams[id] ?? Stream()
    defer { streams[id] = stream }
    if stamp.sequence <= stream.last {
      let outcome = stream.outcomes[stamp.sequence]
      return Answers(
        pushes: [],
        response: TreeResponse(outcome?.status ?? .ok, detail: outcome?.detail ?? ""))
    }
    guard !missesWrites, stamp.sequence == max(stream.last, mark.acknowledged ?? 0) + 1 else {
      return Answers(pushes: [], response: TreeResponse(.gap))
    }
    // As the server does, it looks at the number first.
    if let refusal {
      return Answers(pushes: [], response: TreeResponse(.unavailable, detail: refusal))
    }
    var status = TreeStatus.ok
    var pushes: [TreeServerMessage] = []
    if denied.contains(where: { $0.contains(write.path) }) {
      status = .permissionDenied
    } else if let hash, staleAnswers > 0 || hash != tree.node(at: write.path).hash {
      staleAnswers = max(0, staleAnswers - 1)
      status = .dataStale
    } else {
      pushes = commit(write)
      applied += 1
    }
    stream.last = stamp.sequence
    stream.outcomes[stamp.sequence] = TreeResponse.Outcome(
      sequence: stamp.sequence, status: status)
    return Answers(pushes: pushes, response: TreeResponse(status))
  }

  /// Announcements have no numbers.
  private func judge(unnumbered write: TreeWrite) -> Answers {
    if let refusal {
      return Answers(pushes: [], response: TreeResponse(.unavailable, detail: refusal))
    }
    if denied.contains(where: { $0.contains(write.path) }) {
      return Answers(pushes: [], response: TreeResponse(.permissionDenied))
    }
    return Answers(pushes: commit(write), response: TreeResponse(.ok))
  }

  private func commit(_ write: TreeWrite) -> [TreeServerMessage] {
    let resolved = resolve(write)
    tree.apply(resolved)
    var pushes: [TreeServerMessage] = []
    for listen in listens {
      for assignment in resolved.assignments {
        if listen.contains(assignment.path) {
          pushes.append(.put(TreePush(path: assignment.path, tree.node(at: assignment.path))))
        } else if assignment.path.contains(listen) {
          pushes.append(.put(TreePush(path: listen, tree.node(at: listen))))
        }
      }
    }
    return pushes
  }

  private func resolve(_ write: TreeWrite) -> TreeWrite {
    let tree = tree
    return write.resolvingServerValues(now: now) { tree.node(at: $0) }
  }
}

/// The answers to a write: pushes first.
struct Answers {
  var pushes: [TreeServerMessage]
  var response: TreeResponse

  func map(_ reply: (TreeResponse) -> TreeServerMessage) -> [TreeServerMessage] {
    pushes + [reply(response)]
  }
}
