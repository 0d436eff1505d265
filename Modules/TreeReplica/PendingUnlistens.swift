import TernCore

/// The listens that were taken back and may still deliver, until the server has answered that.
///
/// A push says at most for which tag it is, not for which listen. So when a listen starts again,
/// what comes before the answer to the earlier stop belongs to the earlier listen, and the answer
/// to the new one confirms nothing of it.
///
/// Stops are numbered, and a view remembers the last stop before its listen was sent: only earlier
/// stops can still deliver for it.
struct PendingUnlistens: Sendable {
  private var stops: [(order: UInt64, request: ListenRequest)] = []
  /// The number of the last stop.
  private(set) var lastStop: UInt64 = 0

  /// Notes that a stop was sent.
  mutating func add(_ request: ListenRequest) {
    lastStop += 1
    stops.append((lastStop, request))
  }

  /// Notes that the oldest stop of a listen was answered.
  mutating func remove(_ request: ListenRequest) {
    guard let index = stops.firstIndex(where: { $0.request == request }) else { return }
    stops.remove(at: index)
  }

  /// The connection is gone, and nothing comes any more.
  mutating func removeAll() { stops.removeAll() }

  /// Returns `true` if a push for a view may belong to a listen that was stopped before the view's
  /// own listen was sent.
  func mayDeliver(to view: ReplicaView) -> Bool {
    stops.contains { stop in
      guard stop.order <= view.announcedAfter else { return false }
      if let tag = view.tag { return stop.request.tag == tag }
      return stop.request.tag == nil && stop.request.path.contains(view.path)
    }
  }
}
