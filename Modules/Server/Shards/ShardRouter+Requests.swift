import Synchronization
import TernLedger
import TernSecurity

// Requests without a session.
extension ShardRouter {
  private enum Place {
    case here
    case shard(UInt32)
    /// All shards: what is the same in each.
    case everywhere
  }

  /// Lets a request be decided here, or by the nodes of the shards that it is about.
  ///
  /// A request about all shards succeeds only if each of them succeeds; the first refusal is the
  /// answer otherwise. Shards that have done their part keep it.
  func ask(
    _ request: DirectRequest, at server: isolated TernServer,
    _ answer: @escaping @Sendable (DirectAnswer) -> Void
  ) {
    if let refusal = server.part.refusal(of: request, at: server) {
      return answer(.refused(refusal))
    }
    switch place(of: request) {
    case .here: server.part.askHere(request, at: server, answer)
    case .shard(let shard): forward(request, to: shard, at: server, answer)
    case .everywhere:
      let others = directory.table.shards.filter { $0 != directory.own }
      let answers = ShardAnswers(count: others.count + 1, answer)
      server.part.askHere(request, at: server) { answers.add($0, isOwn: true) }
      for shard in others {
        forward(request, to: shard, at: server) { answers.add($0, isOwn: false) }
      }
    }
  }

  /// The refusal of a request that was to be decided here, and is about another shard; `nil` for
  /// all others.
  func refusal(of request: DirectRequest) -> DirectRefusal? {
    guard case .shard(let shard) = place(of: request) else { return nil }
    return .unavailable("\(Self.elsewhere(shard)).")
  }

  /// Returns the shards that a request is about.
  ///
  /// Names of databases decide by the table of shards; see ``ShardDirectory``.
  private func place(of request: DirectRequest) -> Place {
    switch request.operation {
    case .databases, .revoke: return .everywhere
    case .administer, .readRevocations, .rules(.check): return .here
    case .setDocumentRules, .removeDocumentRules:
      // Those of a project are for its databases in all shards.
      if request.isOfProject { return .everywhere }
    case .rules(.readDocuments), .rules(.explain), .readRuleCoverage:
      if request.isOfProject { return .here }
    case .read, .readOrExport, .review, .mayWrite, .mayPush, .names, .write, .push, .readRules,
      .setRules, .readSetting, .set, .removeDatabase:
      break
    }
    let shard = directory.table.shard(of: request.namespace)
    return shard == directory.own ? .here : .shard(shard)
  }

  private func forward(
    _ request: DirectRequest, to shard: UInt32, at server: isolated TernServer,
    _ answer: @escaping @Sendable (DirectAnswer) -> Void
  ) {
    guard lookups < server.options.limits.directRequests else {
      return answer(.refused(.unavailable("\(lookups) requests wait already.")))
    }
    lookups += 1
    leaders.find(shard, at: server) { server, leader in
      guard let router = server.part.shards else {
        return answer(.refused(.unavailable("The server stops.")))
      }
      router.lookups -= 1
      switch leader {
      case .failure(let missing):
        let text = "The node of shard \(shard) is out of reach: \(missing.reason)."
        answer(.refused(.unavailable(text)))
      case .success(let address):
        router.forwarder(to: shard, of: server)
          .forward(request, to: address, over: router.links, answer: answer)
      }
    }
  }

  /// Each shard has one of its own, so that one without an answer takes no place of the others.
  private func forwarder(to shard: UInt32, of server: TernServer) -> DirectForwarder {
    if let known = direct[shard] { return known }
    let forwarder = DirectForwarder(for: server)
    direct[shard] = forwarder
    return forwarder
  }
}

extension DirectRequest {
  /// True for a request about the documents of a whole project.
  fileprivate var isOfProject: Bool {
    namespace.hasPrefix("projects/") && !namespace.contains("/databases/")
  }
}

/// The answers of all shards to one request, which come to one.
///
/// Answers arrive from several executors. The last one delivers the result: names of databases are
/// joined, and of everything else the own shard's answer counts.
private final class ShardAnswers: Sendable {
  private struct State {
    var left: Int
    var own: DirectAnswer?
    var names: Set<String> = []
    var refusal: DirectRefusal?
  }

  private let state: Mutex<State>
  private let answer: @Sendable (DirectAnswer) -> Void

  init(count: Int, _ answer: @escaping @Sendable (DirectAnswer) -> Void) {
    state = Mutex(State(left: count))
    self.answer = answer
  }

  func add(_ next: DirectAnswer, isOwn: Bool) {
    let whole = state.withLock { state -> DirectAnswer? in
      state.left -= 1
      switch next {
      case .refused(let refusal): state.refusal = state.refusal ?? refusal
      case .databases(let names): state.names.formUnion(names)
      default: break
      }
      if isOwn { state.own = next }
      guard state.left == 0 else { return nil }
      if let refusal = state.refusal { return .refused(refusal) }
      guard case .databases? = state.own else { return state.own }
      return .databases(state.names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }
    if let whole { answer(whole) }
  }
}
