package import TernSecurity
package import TernTreeWire

/// Something that happened at a link, or the passing of time.
package enum ServerInput: Sendable {
  /// A link was opened.
  case opened(slot: Int, isLocal: Bool, address: String = "")
  /// A frame arrived.
  case frame(slot: Int, [UInt8])
  /// A large frame arrived and was decoded away from the server's executor.
  case prepared(slot: Int, PreparedFrame)
  /// A large frame with a write arrived; the ticket is answered whether the rules deny it by its
  /// paths alone.
  case judge(slot: Int, ticket: UInt64, WriteOutline)
  /// The link has ended.
  case closed(slot: Int)
  /// Something arrived over the link, which is not decided yet.
  case heard(slot: Int)
  /// A request without a session.
  case direct(ticket: UInt64, DirectRequest)
  /// Others decide from now on who may do what; the ticket is answered when they are in force.
  case adopt(ticket: UInt64, ServerAccess)
  /// Other nodes have committed; the copy applies the batches once they are told to clients.
  case followed(FollowedBatches)
  /// Time to look for the dead.
  case tick
  /// There is room again to store what clients write.
  case room
  /// Work was left by the batch before.
  case goOn
  /// A call of the link has more to answer.
  case more(slot: Int)
  /// A read of the link went on beside the server's executor, and is done.
  case read(slot: Int, ReadJob)
  /// A read for a request without a session went on beside the server's executor, and is done.
  case readDirect(ticket: UInt64, DirectRequest, ReadJob)
}

extension ServerInput {
  /// True for the passing of time.
  var isTick: Bool { if case .tick = self { true } else { false } }
}

/// The authorizers of the requests that follow; `nil` parts stay as they are.
package struct ServerAccess: Sendable {
  package var tree: (any Authorizer)?
  package var documents: (any DocumentAuthorizer)?

  package init(
    tree: (any Authorizer)? = nil, documents: (any DocumentAuthorizer)? = nil
  ) {
    self.tree = tree
    self.documents = documents
  }
}

/// Something the machine wants done, once its commits are durable.
package enum ServerOutput: Sendable, Equatable {
  /// Send a frame to one link.
  case send(slot: Int, [UInt8])
  /// Send the same frame to many links.
  case broadcast(slots: [Int], [UInt8])
  /// Answer a request that was made without a session.
  case answer(ticket: UInt64, DirectAnswer)
  /// Close a link, after what was sent to it.
  case close(slot: Int, SessionEnd)
}
