/// Something that may go wrong in a world.
package enum Fault: String, CaseIterable, Sendable {
  /// A link breaks, with what was on its way.
  case droppedLink
  /// Frames take long, and arrive in several reads.
  case lateFrame
  /// A client cannot reach the server for a while.
  case partition
  /// A link goes silent while both ends believe in it.
  case silence
  /// A process stands still for a while, and then takes all that has come at once; timers run out
  /// late.
  case stall
  /// A client loses power: only what was durable is there again.
  case crash
  /// The server loses power, also in the middle of a commit.
  case serverCrash
  /// A clock on the wall jumps, forwards or backwards.
  case clockJump
  /// The server starts with clocks that are years off, stand still or run backwards.
  case wrongClock
  /// A disk is full for one write.
  case fullDisk
  /// Tokens last for seconds, and the next one is late; without it they last for ever.
  case expiredToken
  /// A record in the cache of a client of documents cannot be read any more.
  case damage
}

/// A mistake that a server of a world makes on purpose, to show that it is found out.
package enum PlantedBug: String, CaseIterable, Sendable {
  /// Writers whose silence is long by the time of day are forgotten at a start.
  case forgetsWritersByTimeOfDay
  /// The log is cut before its entries were replayed.
  case cutsLogTooEarly
  /// Listens are not judged again when documents change that their permission rests on.
  case forgetsDependencies
  /// Writes are judged by the documents before their commit where rules ask for those after it.
  case judgesByFormerDocuments
  /// A node that has lost its link to the leader sends a client's last write once more over the
  /// next one, without its number.
  case repeatsRelayedWrites
  /// Nodes that all serve ask no rules about reads of trees.
  case readsWithoutRules
}
