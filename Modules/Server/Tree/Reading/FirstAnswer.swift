import Synchronization
import TernCore
import TernLedger
import TernQuery
import TernTreeAuthority
import TernTreeWire

/// The data that a listen begins with, as of a commit.
struct FirstAnswer: Sendable {
  /// The output.
  enum Content {
    /// Nothing: the client has the data, or there are none.
    case known
    /// The data.
    case put(FirstPush)
    /// The frame of the ranges in which the client's data differ.
    case ranges([UInt8])
    /// Nothing: the data are large, and the client reads them some other way.
    case left
    /// The data are too large for an answer.
    case tooBig
  }

  /// The last commit that it shows.
  let version: Version
  var content = Content.known
  /// The window that was filled for it; `nil` where none was, or was filled before.
  var window: QueryWindow?
  /// The number of children shown.
  var childCount = 0
  /// The hash of the data, if it was worked out.
  var hash: String?
  /// True when the data are not too large for a client that does without large data.
  var isSmall = false

  /// About how many bytes of memory it takes.
  var bytes: Int {
    let frame =
      switch content {
      case .put(let push): push.frame.count
      case .ranges(let frame): frame.count
      case .known, .left, .tooBig: 0
      }
    return frame + (window.map(ListenGroup.bytes) ?? 0)
  }

  /// Returns what a listen to the same begins with; `nil` when that takes a read.
  func answer(to listen: TreeListen) -> FirstAnswer? {
    if let hash, hash == listen.hash { return replacing(.known) }
    switch content {
    case .put(let push):
      // Other data than the client's may go in ranges; which they are takes the data.
      guard isSmall || !listen.leavesLargeData, listen.compoundHash == nil else { return nil }
      guard listen.hash.isEmpty || hash != nil else { return nil }
      return replacing(.put(push.replacingTag(with: listen.tag)))
    case .known: return listen.hash.isEmpty && childCount == 0 && hash == nil ? self : nil
    case .left: return listen.leavesLargeData ? self : nil
    case .tooBig: return listen.leavesLargeData ? nil : self
    case .ranges: return nil
    }
  }

  private func replacing(_ content: Content) -> FirstAnswer {
    var answer = self
    answer.content = content
    return answer
  }
}

/// The push of all data of a listen, encoded for its tag.
struct FirstPush: Sendable {
  let frame: [UInt8]
  private let tag: Int64?
  private let version: Version
  /// The bytes of the frame before its tag.
  private let dataBytes: Int

  /// Encodes a push.
  ///
  /// - Parameter capacity: The bytes of data that room is reserved for.
  init(_ node: TreeNode, at path: TreePath, tag: Int64?, version: Version, capacity: Int = 0) {
    let push = TreePush(path: path, node, tag: tag, version: version)
    frame = TreeServerMessage.put(push).encode(capacity: capacity)
    let end = Self.end(tag, version)
    precondition(frame.suffix(end.count).elementsEqual(end), "a push ends with tag and version")
    dataBytes = frame.count - end.count
    self.tag = tag
    self.version = version
  }

  private init(_ push: FirstPush, tag: Int64?) {
    let end = Self.end(tag, push.version)
    var frame: [UInt8] = []
    frame.reserveCapacity(push.dataBytes + end.count)
    frame.append(contentsOf: push.frame[..<push.dataBytes])
    frame.append(contentsOf: end)
    self.frame = frame
    self.tag = tag
    version = push.version
    dataBytes = push.dataBytes
  }

  /// The same data for a listen of another tag.
  func replacingTag(with tag: Int64?) -> FirstPush {
    tag == self.tag ? self : FirstPush(self, tag: tag)
  }

  private static func end(_ tag: Int64?, _ version: Version) -> [UInt8] {
    Array("\(tag.map { ",\"t\":\($0)" } ?? ""),\"v\":\(version)}}}".utf8)
  }
}

/// The latest first answer of a group, shared by the reads that go on for it: many clients that
/// come back at once cost one read.
///
/// It keeps the charge of the read that made it. Reads look at it on threads of their own.
final class SharedFirstAnswer: Sendable {
  private let latest = Mutex<(answer: FirstAnswer, charge: ReadCharge)?>(nil)

  /// Returns what a listen begins with; `nil` when that takes a read.
  ///
  /// - Parameter version: The last commit known to have changed the data.
  func answer(to listen: TreeListen, since version: Version) -> FirstAnswer? {
    let answer = latest.withLock { $0?.answer }
    guard let answer, answer.version >= version else { return nil }
    return answer.answer(to: listen)
  }

  /// Keeps an answer for others, unless a newer one is known.
  func keep(_ answer: FirstAnswer, _ charge: ReadCharge) {
    latest.withLock { latest in
      // One without data is no better for others.
      guard case .put = answer.content, answer.version > latest?.answer.version ?? 0 else {
        if latest == nil { latest = (answer, charge) }
        return
      }
      latest = (answer, charge)
    }
  }
}

/// The first answers of a batch, by group.
struct InitialAnswers {
  /// With the groups: the name of one that is gone could be that of another one.
  private var answers: [ObjectIdentifier: (group: ListenGroup, answer: FirstAnswer)] = [:]

  /// Returns what a listen begins with; `nil` when that is not known.
  func answer(to listen: TreeListen, of group: ListenGroup) -> FirstAnswer? {
    answers[ObjectIdentifier(group)]?.answer.answer(to: listen)
  }

  mutating func keep(_ answer: FirstAnswer, of group: ListenGroup) {
    answers[ObjectIdentifier(group)] = (group, answer)
  }
}
