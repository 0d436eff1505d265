import TernCore
import TernQuery
import TernTestKit

@testable import TernTreeWire

/// Messages with random contents, of every kind.
struct RandomMessages {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private static let keys = ["0", "7", "a", "b c", "\u{E9}", "e\u{301}", "\u{1F600}", "\"\\"].map {
    TreeKey(unchecked: $0)
  }
  private static let texts = ["", "a", "\"", "\\u", "\u{0}\n", "\u{E9}", "\u{1F600}", "p:[{"]

  mutating func text() -> String { Self.texts[random.roll(Self.texts.count)] }

  mutating func path(_ least: Int = 0) -> TreePath {
    TreePath((0..<least + random.roll(3)).map { _ in Self.keys[random.roll(Self.keys.count)] })
  }

  mutating func writable() -> TreePath {
    random.roll(4) == 0 ? path().appending(TreeKey(unchecked: ".priority")) : path()
  }

  mutating func scalar() -> TreeScalar {
    switch random.roll(5) {
    case 0: .bool(random.roll(2) == 0)
    case 1: .integer(Int64(bitPattern: random.next()))
    case 2: .double(Double(random.roll(100)) + 0.5)
    default: .string(text())
    }
  }

  mutating func node(_ depth: Int = 2) -> TreeNode {
    if depth == 0 || random.roll(2) == 0 {
      if random.roll(6) == 0 { return TreeNode(.serverValue(.timestamp)) }
      return TreeNode(scalar(), priority: random.roll(3) == 0 ? .string(text()) : nil)
    }
    var node = TreeNode.empty
    for _ in 0..<random.roll(4) {
      node.setChild(Self.keys[random.roll(Self.keys.count)], self.node(depth - 1))
    }
    return node
  }

  mutating func merge() -> TreeMerge {
    var entries: [TreeMerge.Entry] = []
    for _ in 0..<random.roll(5) {
      let path = path(1)
      let isApart = entries.allSatisfy { !$0.path.contains(path) && !path.contains($0.path) }
      if isApart { entries.append(.init(path: path, node: node())) }
    }
    return TreeMerge(unchecked: entries.sorted { $0.path < $1.path })
  }

  mutating func query() -> TreeQuery {
    let order = [TreeOrder.priority, .key, .value, .child(path(1))][random.roll(4)]
    let value = order == .key ? TreeScalar.string("a" + text()) : scalar()
    let bound = TreeBound(value, isInclusive: random.roll(2) == 0)
    let side: TreeLimit.Side = random.roll(2) == 0 ? .first : .last
    return TreeQuery(
      order: order, start: random.roll(2) == 0 ? bound : nil,
      end: random.roll(2) == 0 ? bound : nil,
      limit: TreeLimit(side, 1 + random.roll(9)))
  }

  mutating func number() -> UInt64 { random.next() >> UInt64(1 + random.roll(63)) }

  mutating func id() -> UInt128 { UInt128(random.next()) << 64 | UInt128(random.next() >> 60) }

  mutating func header() -> WriteHeader {
    if random.roll(2) == 0 { return .none }
    let stream = random.roll(2) == 0 ? id() : nil
    let key = WriteIdempotencyKey(stream: stream, sequence: number() | 1)
    return WriteHeader(key, acknowledged: random.roll(2) == 0 ? number() : nil)
  }

  mutating func compoundHash() -> TreeCompoundHash {
    let posts = (0..<random.roll(3)).map { _ in writable() }
    return TreeCompoundHash(hashes: (0...posts.count).map { _ in text() }, posts: posts)
  }

  mutating func request() -> TreeRequest {
    switch random.roll(14) {
    case 0:
      return .listen(
        TreeListen(
          path: path(), query: query(), tag: Int64(random.roll(9)), hash: text(),
          compoundHash: random.roll(2) == 0 ? compoundHash() : nil,
          leavesLargeData: random.roll(2) == 0))
    case 1: return .unlisten(path(), query(), tag: Int64(random.roll(9)))
    case 2: return .put(writable(), node(), expectedHash: text(), header())
    case 3: return .put(writable(), node(), expectedHash: nil, header())
    case 4: return .merge(path(), merge(), header())
    case 5: return .get(path(), query())
    case 6: return .onDisconnectSet(path(), node())
    case 7: return .onDisconnectMerge(path(), merge())
    case 8: return .onDisconnectCancel(path())
    case 9:
      return .outcomes(stream: random.roll(2) == 0 ? id() : nil, first: number(), last: number())
    case 10:
      return .auth(
        TreeCredential(
          random.roll(2) == 0 ? .user : .service, token: text(),
          override: random.roll(2) == 0 ? .object([.init("uid", .string(text()))]) : nil,
          isUnauthenticated: random.roll(2) == 0))
    case 11: return random.roll(2) == 0 ? .unauth : .appCheck(token: nil)
    case 12: return .appCheck(token: text())
    default: return .stats(.object([.init("sdk", .integer(1))]))
    }
  }

  mutating func clientMessage() -> TreeClientMessage {
    guard random.roll(10) == 0 else { return .request(number(), request()) }
    var opening = TreeOpening(
      namespace: text(), stream: random.roll(2) == 0 ? id() : nil,
      origin: random.roll(2) == 0 ? id() : nil, lastSession: text())
    if random.roll(2) == 0 { (opening.session, opening.host) = (text(), text()) }
    return .open(opening)
  }

  private mutating func push<Content>(_ content: Content) -> TreePush<Content> {
    TreePush(
      path: path(), content, tag: random.roll(2) == 0 ? Int64(random.roll(99)) : nil,
      version: random.roll(2) == 0 ? number() : nil)
  }

  mutating func serverMessage() -> TreeServerMessage {
    let status = TreeStatus(rawValue: "s" + text())
    switch random.roll(12) {
    case 0:
      return .handshake(
        TreeHandshake(
          time: Int64(random.next() >> 12), host: text(), session: text(),
          lastSequence: random.roll(2) == 0 ? number() : nil))
    case 1: return .redirect(host: text())
    case 2: return .shutdown(reason: text())
    case 3: return .error(text())
    case 4: return .response(number(), .data(node()))
    case 5: return .response(number(), TreeResponse(status, detail: text(), version: number()))
    case 6: return .put(push(node()))
    case 7: return .merge(push(merge()))
    case 8:
      let merges = (0..<random.roll(3)).map { _ in
        TreeRangeMerge(
          start: random.roll(2) == 0 ? writable() : nil, end: random.roll(2) == 0 ? path() : nil,
          node: node())
      }
      return .rangeMerge(push(merges))
    case 9: return .listenRevoked(path(), query(), status, detail: text())
    case 10: return .authRevoked(status, detail: text())
    default: return .appCheckRevoked(status, detail: text())
    }
  }
}
