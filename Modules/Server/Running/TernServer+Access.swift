public import TernSecurity

extension TernServer {
  /// Lets others decide who may do what, from now on: other rules, for example.
  ///
  /// Listens that they would not have allowed end, and their clients are told so. Databases that
  /// were given rules of their own over the wire keep them. Returns when all of this is in force;
  /// a server that has stopped ignores it.
  ///
  /// - Parameters:
  ///   - tree: Decides about trees; `nil` keeps the present authorizer.
  ///   - documents: Decides about documents; `nil` likewise.
  public func adopt(
    _ tree: (any Authorizer)? = nil, documents: (any DocumentAuthorizer)? = nil
  ) async {
    if let tree { batches.parts.authorizer = tree }
    if let documents { batches.parts.documentAuthorizer = documents }
    guard refusal == nil else { return }
    let access = ServerAccess(tree: tree, documents: documents)
    await withCheckedContinuation { done in
      // However it is answered, it is over: a machine that is made anew has been given both.
      inbox.append(.adopt(ticket: requests.add { _ in done.resume() }, access))
      drainSoon()
    }
  }

  /// Lets other request rates be in force from now on; what was counted so far is forgotten.
  public func adopt(_ rates: RateLimits) { batches.adopt(rates) }
}
