import TernCore
import TernQuery
import TernTreeReplica

/// A server and its link in the plainest words: one tree, the listens, and frames in order.
struct ServerModel {
  enum Frame {
    case push(ServerChange, tag: Int?)
    case listenDone(ListenRequest, start: Int)
    case stopDone(ListenRequest)
    case ack(WriteID, isAccepted: Bool)
  }

  private(set) var tree = TreeNode.empty
  private var listens: [ListenRequest] = []
  /// The frames that the client has not read yet.
  private(set) var frames: [Frame] = []
  /// The tree as of the frames the client has read.
  private(set) var readTree = TreeNode.empty
  /// For each frame, the tree it belongs to and the number of the step that sent it.
  private var origins: [(tree: TreeNode, step: Int)] = []
  private var step = 0
  private var verdicts: [WriteID: Bool] = [:]
  /// The step in which each held listen was started.
  private(set) var starts: [ListenRequest: Int] = [:]

  /// - Parameter hash: That of what the client has; nothing is sent when the server has the same.
  mutating func start(_ request: ListenRequest, hash: String) {
    precondition(!listens.contains(request), "never listen twice to the same query")
    step += 1
    listens.append(request)
    let node = request.query.window(of: tree.node(at: request.path))
    if node.hash != hash {
      send(.push(.overwrite(request.path, node), tag: request.tag))
    }
    starts[request] = step
    send(.listenDone(request, start: step))
  }

  mutating func stop(_ request: ListenRequest) {
    precondition(listens.contains(request), "stop only what was started")
    step += 1
    listens.removeAll { $0 == request }
    starts[request] = nil
    send(.stopDone(request))
  }

  /// Loses the connection with all that is on its way.
  mutating func disconnect() {
    listens = []
    starts = [:]
    frames = []
    origins = []
  }

  /// Judges a write once; the same id gets the same answer again.
  mutating func write(_ write: TreeWrite, id: WriteID?, isAccepted: Bool = true) {
    step += 1
    if let id, let verdict = verdicts[id] { return send(.ack(id, isAccepted: verdict)) }
    if let id { verdicts[id] = isAccepted }
    let before = tree
    if isAccepted {
      tree.apply(write)
      for listen in listens { push(write, to: listen, from: before) }
    }
    if let id { send(.ack(id, isAccepted: isAccepted)) }
  }

  /// Hands over the frames of the next step, all that one write or one listen caused.
  mutating func readStep() -> [Frame] {
    guard let first = origins.first else { return [] }
    let count = origins.prefix { $0.step == first.step }.count
    readTree = first.tree
    origins.removeFirst(count)
    defer { frames.removeFirst(count) }
    return Array(frames.prefix(count))
  }

  private mutating func push(_ write: TreeWrite, to listen: ListenRequest, from before: TreeNode) {
    let old = listen.query.window(of: before.node(at: listen.path))
    let new = listen.query.window(of: tree.node(at: listen.path))
    guard old != new else { return }
    guard !listen.query.isDefault else {
      for entry in write.assignments {
        if listen.path.contains(entry.path) {
          send(.push(.overwrite(entry.path, tree.node(at: entry.path)), tag: nil))
        } else if entry.path.contains(listen.path) {
          send(.push(.overwrite(listen.path, new), tag: nil))
        }
      }
      return
    }
    var entries: [TreeMerge.Entry] = []
    new.children.forEachDifference(from: old.children) { key, _, node in
      entries.append(TreeMerge.Entry(path: TreePath([key]), node: node))
    }
    send(.push(.merge(listen.path, entries), tag: listen.tag))
  }

  private mutating func send(_ frame: Frame) {
    frames.append(frame)
    origins.append((tree, step))
  }
}
