import TernCore
import TernLedger
import TernQuery
import TernStorage
import TernTreeAuthority
import TernTreeRows
import TernTreeWire

/// The read of what a listen begins with. May run on any thread.
struct ListenRead: Sendable {
  let listen: TreeListen
  let rows: TreeRows
  /// The last commit that ``window``, ``isLoaded`` and ``knownHash`` are as of. A read of a later
  /// one does without them.
  let version: Version
  /// The window of a filtered listen; `nil` for a listen to everything.
  let window: QueryWindow?
  /// True when the window is filled.
  let isLoaded: Bool
  /// The hash of the data, where it is known.
  let knownHash: String?
  /// The most bytes of rows that are kept.
  let readBytes: Int
  /// The most bytes of rows for a client that can do without large data.
  let wholeReadBytes: Int
  /// The most bytes of a push.
  let answerBytes: Int

  /// Returns what the listen begins with.
  ///
  /// - Parameter version: The last commit that `reader` shows.
  func answer(
    in reader: any StoreReader, at version: Version
  ) throws(StorageError) -> FirstAnswer {
    var answer = FirstAnswer(version: version)
    let room = TextRoom(of: reader)
    let isAsKnown = version == self.version
    guard let node = try node(in: reader, isAsKnown, &answer.window) else {
      // What a query shows can be read no other way.
      answer.content = listen.leavesLargeData && window == nil ? .left : .tooBig
      return answer
    }
    answer.childCount = node.children.count
    answer.isSmall = listen.leavesLargeData || window != nil
    if listen.hash.isEmpty {
      if node.isEmpty { return answer }
    } else {
      answer.hash = (isAsKnown ? knownHash : nil) ?? node.hash
      if answer.hash == listen.hash { return answer }
    }
    if let ranges = listen.compoundHash.flatMap({ node.rangeMerges(for: $0) }) {
      let push = TreePush(path: listen.path, ranges, tag: listen.tag, version: version)
      answer.content = .ranges(TreeServerMessage.rangeMerge(push).encode())
      return answer
    }
    let push = FirstPush(
      node, at: listen.path, tag: listen.tag, version: version,
      capacity: room.bytes(isWindow: window != nil, limitBytes: answerBytes))
    answer.content = push.frame.count > answerBytes ? .tooBig : .put(push)
    return answer
  }

  /// Reads what is shown; fills a window that is not filled yet. `nil` when that is too much.
  private func node(
    in reader: any StoreReader, _ isAsKnown: Bool, _ filled: inout QueryWindow?
  ) throws(StorageError) -> TreeNode? {
    guard let window else {
      let limit = listen.leavesLargeData ? min(wholeReadBytes, readBytes) : readBytes
      return try rows.node(at: listen.path, limitBytes: limit, in: Snapshot(reader))
    }
    if isLoaded, isAsKnown {
      return try window.shown(
        at: listen.path, of: rows, limitBytes: readBytes, in: Snapshot(reader))
    }
    var fresh = QueryWindow(listen.query)
    let node = try fresh.load(listen.path, of: rows, limitBytes: readBytes, in: reader)
    if node != nil { filled = fresh }
    return node
  }
}
