package import TernCore
package import TernQuery

/// The pending effects of a ``TreeReplica`` call, in this order: start, stop, deliver, cancel.
package struct ReplicaOutcome: Sendable {
  /// For the listeners: deepest locations first, each location's views in order of creation.
  package var events: [TreeEvent] = []
  /// Listens to send, before any is stopped, so that data never goes stale in between.
  package var starts: [ListenRequest] = []
  /// Listens to take back.
  package var stops: [ListenRequest] = []
  /// Registrations that ended without being asked to; tell each one why, once.
  package var cancelled: [RegistrationID] = []
  /// The places at which visible pending writes came or went.
  package var written: [TreePath] = []

  package init() {}

  /// Appends what a later step owes.
  package mutating func append(_ later: ReplicaOutcome) {
    events += later.events
    starts += later.starts
    stops += later.stops
    cancelled += later.cancelled
    written += later.written
  }
}

/// One event for one listener.
package struct TreeEvent: Sendable {
  package let registration: RegistrationID
  /// The location of the listener.
  package let path: TreePath
  /// The change; the node of a value event is the whole result of the query.
  package let change: TreeChange
  /// The places at and below the location whose writes wait for the server.
  package let pending: PendingPaths
  /// `true` if the data is older than the listen that covers the query.
  package let isFromCache: Bool
}

/// One listen as the server knows it. Equal requests are the same listen.
package struct ListenRequest: Hashable, Sendable {
  package let path: TreePath
  /// The query, normalised: one that loads everything is the default query.
  package let query: TreeQuery
  /// Names a filtered listen on the wire; `nil` for the default query.
  package let tag: Int?

  package init(path: TreePath, query: TreeQuery, tag: Int?) {
    self.path = path
    self.query = query
    self.tag = tag
  }
}
