import TernKit

/// The points of all players: one number a player, below one path of the tree.
struct Leaderboard {
  private let place: TreeReference

  /// A leaderboard at a place.
  init(_ place: TreeReference) {
    self.place = place
  }

  /// Keeps all of it on this device, so that points added offline show on top of the others.
  func keep() async throws {
    try await place.keepSynced(true)
  }

  /// Adds points.
  ///
  /// Returns when the write is safe on this device. The addition happens on the server, so points
  /// that several devices give at once, or while they are offline, all count, and each only once.
  @discardableResult
  func add(_ points: Int, to player: String) async throws -> TreeWriteHandle {
    try await place[player].increment(by: .integer(Int64(points)))
  }

  /// The best players, the best first, now and whenever that changes.
  ///
  /// A `*` marks points that the server has not confirmed yet.
  func top(_ count: Int) -> some AsyncSequence<[String], ListenError> {
    place.orderByValue().last(count).values().map { snapshot in
      snapshot.children.reversed().enumerated().map { rank, child in
        "\(rank + 1). \(child.name) \(child.json())" + (child.hasPendingWrites ? " *" : "")
      }
    }
  }
}
