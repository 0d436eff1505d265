/// The limits on what one link may leave to be decided: bytes, and frames, each of which takes
/// memory of its own however short it is.
enum InboxPressure {
  /// The most frames of one link that wait before no more are read from it.
  static let frames = 4_096

  /// Returns true when no more is to be read from a link for now.
  static func isHigh(_ state: LinkState, at server: isolated TernServer) -> Bool {
    state.waitingFrames = server.inbox.count(of: state.slot)
    return state.waitingBytes > server.options.limits.inboxBytes || state.waitingFrames > frames
  }

  /// Releases the memory of inputs that were decided, and reads again from their links if little
  /// of theirs waits.
  static func release(_ decided: [ServerInput], at server: isolated TernServer) {
    let states = Set(decided.lazy.compactMap(\.slot)).compactMap { server.links.known($0) }
    for state in states { state.waitingFrames = server.inbox.count(of: state.slot) }
    server.memory.release(decided, server.metrics, server.microseconds)
    // Frames without bytes are not released above.
    for state in states where server.links[state.slot] === state && state.slowedSince == nil {
      state.readAgain(inboxBytes: server.options.limits.inboxBytes)
    }
  }
}
