import TernCore
import TernDocumentWire

/// The calls about documents of one client that other nodes answer, and the frames that wait for
/// the message that tells where a call belongs. Decisions alone.
///
/// `Node` names another node: the leader, or the one that leads a shard.
///
/// Usually the method tells where a call belongs. Some methods need the first message, such as a
/// read that may be part of a transaction; until it comes, the opening and all frames of later
/// calls wait.
struct ForwardedCalls<Node: Hashable & Sendable>: Sendable {
  /// Returns the place of a call by its method and its first message; `nil` when only that message
  /// tells and has not come.
  typealias Judge = (DocumentMethod, _ message: [UInt8]?) -> FramePlace<Node>?

  /// The nodes that answer calls, by the calls' numbers.
  private var nodes: [UInt32: Node] = [:]
  /// The call whose first message has not come, by which it is told apart.
  private var opening: (call: UInt32, frame: [UInt8], method: DocumentMethod)?
  /// The frames of later calls, which wait for that: numbers of calls only rise.
  ///
  /// Cancellations and messages of earlier calls pass, since their place is known.
  private var later: [[UInt8]] = []
  private var heldBytes = 0

  /// Returns true for a client with calls at a node.
  func uses(_ node: Node) -> Bool { nodes.values.contains(node) }

  /// Places a frame of the client; others that waited for it come along.
  ///
  /// - Returns: Frames in the order in which they are to be handled; none while the frame waits. A
  ///   frame that cannot be decoded is placed here, where decoding it ends the link.
  mutating func route(_ frame: [UInt8], by judge: Judge) -> [PlacedFrame<Node>] {
    guard let decoded = try? DocumentClientFrame.decode(frame) else {
      return [PlacedFrame(frame, .here)]
    }
    if let opening, let call = decoded.call, call >= opening.call {
      if call > opening.call { return hold(frame) ? [] : [PlacedFrame(frame, .refused)] }
      return decide(opening.method, [opening.frame, frame], by: decoded, judge)
        + exchange(&later, with: []).flatMap { route($0, by: judge) }
    }
    switch decoded {
    case .open(let call, let body):
      guard let method = DocumentMethod(rawValue: body.method) else { break }
      guard let place = judge(method, body.message) else {
        if body.message != nil { break }
        // Numbers of calls only rise.
        if opening != nil { return [PlacedFrame(frame, .refused)] }
        (opening, heldBytes) = ((call, frame, method), frame.count)
        return []
      }
      return assign([frame], of: call, to: place)
    case .message(let call, _), .halfClose(let call):
      if let node = nodes[call] { return [PlacedFrame(frame, .node(node))] }
    case .cancel(let call):
      // None answers a cancellation.
      if let node = nodes.removeValue(forKey: call) { return [PlacedFrame(frame, .node(node))] }
    case .ping: break
    }
    return [PlacedFrame(frame, .here)]
  }

  /// Holds a frame of a later call, as far as ``ForwardedCallLimits`` allow.
  private mutating func hold(_ frame: [UInt8]) -> Bool {
    let bytes = heldBytes + frame.count
    guard later.count < ForwardedCallLimits.heldFrames, bytes <= ForwardedCallLimits.heldBytes
    else { return false }
    later.append(frame)
    heldBytes = bytes
    return true
  }

  /// Places the frames of the call that was waited for. One that ends before its first message is
  /// answered here.
  private mutating func decide(
    _ method: DocumentMethod, _ frames: [[UInt8]], by decoded: DocumentClientFrame, _ judge: Judge
  ) -> [PlacedFrame<Node>] {
    (opening, heldBytes) = (nil, 0)
    guard case .message(let call, let message) = decoded, let place = judge(method, message) else {
      return frames.map { PlacedFrame($0, .here) }
    }
    return assign(frames, of: call, to: place)
  }

  private mutating func assign(
    _ frames: [[UInt8]], of call: UInt32, to place: FramePlace<Node>
  ) -> [PlacedFrame<Node>] {
    if case .node(let node) = place { nodes[call] = node }
    return frames.map { PlacedFrame($0, place) }
  }

  /// Takes a frame of another node: the client gets those of calls that the node answers.
  mutating func receive(_ frame: [UInt8], from node: Node) -> LeaderFrame {
    guard let decoded = try? DocumentServerFrame.decode(frame) else { return .end }
    switch decoded {
    case .message(let call, _): return nodes[call] == node ? .forClient : .ignored
    case .answer(let call, _), .end(let call, _):
      guard nodes[call] == node else { return .ignored }
      nodes[call] = nil
      return .forClient
    case .pong: return .ignored
    }
  }

  /// True while no other node has a call to answer.
  var isEmpty: Bool { nodes.isEmpty }

  /// Loses the link to a node.
  ///
  /// - Returns: The ends of the calls that it was to answer, which clients may try again.
  mutating func lose(_ node: Node, _ text: String) -> [[UInt8]] {
    let calls = nodes.filter { $0.value == node }.keys.sorted()
    for call in calls { nodes[call] = nil }
    let status = DocumentStatus(.unavailable, text)
    return calls.map { DocumentServerFrame.end(stream: $0, status).encode() }
  }
}

/// The limits of the frames that wait for the first message of a call.
enum ForwardedCallLimits {
  /// The most frames of later calls.
  static let heldFrames = 256
  /// The most bytes of all of them, with the call's opening. A link that is not read from is read
  /// again once half of ``ServerLimits/inboxBytes`` waits: with more than that held, the message
  /// would never be read.
  static let heldBytes = 4 << 20
}

/// The place where a frame of a client is decided.
enum FramePlace<Node: Hashable & Sendable>: Hashable, Sendable {
  /// This node.
  case here
  /// Another node.
  case node(Node)
  /// None: the link ends, for the frame does not say first what it is about.
  case refused
}

/// A frame of a client with the place where it is decided.
struct PlacedFrame<Node: Hashable & Sendable>: Hashable, Sendable {
  let frame: [UInt8]
  let place: FramePlace<Node>

  init(_ frame: [UInt8], _ place: FramePlace<Node>) {
    self.frame = frame
    self.place = place
  }
}

extension DocumentClientFrame {
  /// The number of the call that it is about.
  fileprivate var call: UInt32? {
    switch self {
    case .open(let call, _), .message(let call, _), .halfClose(let call), .cancel(let call): call
    case .ping: nil
    }
  }
}
