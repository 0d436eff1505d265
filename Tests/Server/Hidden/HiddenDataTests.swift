import TernCore
import TernDocumentWire
import TernQuery
import TernSecurity
import TernTreeWire
import Testing

@testable import TernServer

/// Worlds that differ only in what a client may not read must look the same to it, and cost the
/// server the same.
@Suite("Hidden data") struct HiddenDataTests {
  private static let rules = #"""
    {"rules": {
      "public": {".read": true, ".write": true},
      "drop": {".write": true},
      "hidden": {".indexOn": "n"}
    }}
    """#

  private static let large = TreeNode(.string(String(repeating: "x", count: 50_000)))

  /// The hidden values; the first hides nothing.
  private static let secrets: [HiddenWorld.Secret] = {
    let many = manyChildren(300)
    return [
      .init(name: "nothing", node: .empty, documents: []),
      .init(name: "a number", node: ["n": 5], documents: [("hidden/a", ["n": 1])]),
      .init(name: "another number", node: ["n": 7], documents: [("hidden/a", ["n": 2])]),
      .init(name: "a leaf", node: 5, documents: [("hidden/b", ["n": 1])]),
      .init(
        name: "much", node: ["n": large, "x": many],
        documents: (0..<100).map { ("hidden/d\($0)", ["n": .integer($0)]) }),
    ]
  }()

  private func worlds() throws -> [HiddenWorld] {
    let rules = try TreeRules(Self.rules)
    return try Self.secrets.map { try HiddenWorld($0, rules) }
  }

  /// Plays the same inputs in every world, and expects the same answers.
  ///
  /// - Parameter isFree: Whether the reads may differ: only where the client may write.
  private func compare(
    _ name: String, isFree: Bool = false, _ inputs: (HiddenWorld) -> [ServerInput],
    _ worlds: [HiddenWorld]? = nil
  ) throws {
    let worlds = try worlds ?? self.worlds()
    let first = try worlds[0].run(inputs(worlds[0]))
    #expect(!first.isEmpty, "\(name)")
    for (world, secret) in zip(worlds, Self.secrets).dropFirst() {
      let answers = try world.run(inputs(world))
      #expect(answers == first, "\(name): \(secret.name)")
      if !isFree { #expect(world.work == worlds[0].work, "\(name): \(secret.name)") }
    }
  }

  private func request(_ request: TreeRequest) -> (HiddenWorld) -> [ServerInput] {
    { _ in [.frame(slot: 1, TreeClientMessage.request(1, request).encode())] }
  }

  private static let one = TreeNode(.serverValue(.increment(.integer(1))))

  /// The hashes that a client may guess: those of all worlds, and others.
  private static let hashes: [String] =
    ["", "bogus"] + secrets.flatMap { [$0.node.hash, $0.node.child(TreeKey(unchecked: "n")).hash] }

  @Test("a session without rights sees the same, and costs the same, whatever is hidden")
  func sessions() throws {
    var requests: [(String, TreeRequest)] = []
    for path in ["hidden", "hidden/n", "hidden/x/k1", ""] as [TreePath] {
      requests.append(("get", .get(path, .all)))
      requests.append(("get", .get(path, try TreeQuery.all.ordered(byChild: "n").first(2))))
      requests.append(("listen", .listen(TreeListen(path: path, query: .all))))
      requests.append(
        (
          "listen with a tag",
          .listen(
            TreeListen(
              path: path, query: try TreeQuery.all.ordered(byChild: "unindexed").first(2), tag: 1))
        ))
      requests.append(("unlisten", .unlisten(path, .all, tag: nil)))
      requests.append(("onDisconnect", .onDisconnectSet(path, 1)))
      requests.append(("onDisconnect increment", .onDisconnectSet(path, Self.one)))
      requests.append(("onDisconnect cancel", .onDisconnectCancel(path)))
      requests.append(("put", .put(path, 1, expectedHash: nil, .none)))
      requests.append(("delete", .put(path, .empty, expectedHash: nil, .none)))
      requests.append(("increment", .put(path, Self.one, expectedHash: nil, .none)))
      requests.append(
        (
          "numbered put",
          .put(
            path, 1, expectedHash: "", WriteHeader(WriteIdempotencyKey(stream: nil, sequence: 1)))
        ))
      for hash in Self.hashes {
        requests.append(("put if \(hash)", .put(path, 1, expectedHash: hash, .none)))
        requests.append(
          ("listen from \(hash)", .listen(TreeListen(path: path, query: .all, hash: hash))))
        for posts in [[], ["n"], ["n", "x/k1"]] as [[TreePath]] {
          let compound = TreeCompoundHash(hashes: posts.map { _ in hash } + [""], posts: posts)
          requests.append(
            (
              "listen with \(posts.count) parts from \(hash)",
              .listen(
                TreeListen(
                  path: path, query: .all, hash: "x", compoundHash: compound,
                  leavesLargeData: hash.isEmpty))
            ))
        }
      }
    }
    let merge = TreeMerge(unchecked: [
      .init(path: "public/a", node: 1), .init(path: "hidden/n", node: Self.one),
    ])
    requests.append(("merge", .merge(.root, merge, .none)))
    requests.append(("onDisconnect merge", .onDisconnectMerge(.root, merge)))
    // None of them changes anything, so one world of each kind takes them all.
    let worlds = try worlds()
    for (name, wanted) in requests { try compare("\(name) \(wanted)", request(wanted), worlds) }
  }

  @Test("a request without a session sees the same, and costs the same")
  func direct() throws {
    let path = "hidden" as TreePath
    var operations: [DirectRequest.Operation] = [
      .read(path, .all), .read(path, try .all.ordered(byChild: "unindexed").first(1)),
      .read(.root, .all), .readOrExport(path), .review(path), .names(path, after: nil, limit: nil),
      .names(path, after: TreeKey(unchecked: "n"), limit: 1), .push(path, 1), .push(path, Self.one),
      .write(.set(path, 1), expectedHash: nil),
      .write(.set("hidden/n", Self.one), expectedHash: nil),
      .readRules, .databases, .readRevocations,
    ]
    operations += Self.hashes.flatMap { hash in
      [
        .write(.set(path, 1), expectedHash: hash), .write(.set(path, .empty), expectedHash: hash),
        .write(.set("hidden/n", 1), expectedHash: hash),
      ]
    }
    let worlds = try worlds()
    for operation in operations {
      try compare(
        "\(operation)", { [.direct(ticket: 1, $0.direct(operation))] }, worlds)
      try compare(
        "\(operation), tiny",
        { world in
          var request = world.direct(operation)
          request.sizeLimit = .tiny
          return [.direct(ticket: 1, request)]
        }, worlds)
    }
  }

  @Test("a client that may write and not read learns nothing of what was there")
  func writeOnly() throws {
    for path in ["drop", "drop/n"] as [TreePath] {
      for hash in Self.hashes {
        try compare(
          "put \(path) if \(hash)", isFree: true,
          request(.put(path, 1, expectedHash: hash, .none)))
        try compare("direct \(path) if \(hash)", isFree: true) {
          [.direct(ticket: 1, $0.direct(.write(.set(path, 1), expectedHash: hash)))]
        }
      }
      try compare("add", isFree: true, request(.put(path, Self.one, expectedHash: nil, .none)))
      try compare("direct add", isFree: true) {
        [.direct(ticket: 1, $0.direct(.write(.set(path, Self.one), expectedHash: nil)))]
      }
      try compare("direct tiny delete", isFree: true) { world in
        var request = world.direct(.write(.set(path, .empty), expectedHash: nil))
        request.sizeLimit = .tiny
        return [.direct(ticket: 1, request)]
      }
    }
  }

  @Test("a client without rights sees the same of documents, and costs the same")
  func documents() throws {
    let hidden = DocumentQuery.collection(CollectionPath(unchecked: "hidden"))
    let all = DocumentAggregation("n", .count(upTo: nil))
    let patch = DocumentMutation("hidden/a", .patch(["n": 2], mask: DocumentFieldMask(["n"])))
    let conditions: [DocumentMutation] = [
      DocumentMutation("hidden/a", .set(.empty), precondition: .exists(false)),
      DocumentMutation("hidden/a", .delete, precondition: .exists(true)),
      DocumentMutation(
        "hidden/a", .delete, precondition: .version(DocumentVersion(microseconds: 7))),
      DocumentMutation("hidden/a", .verify, precondition: .exists(true)), patch,
    ]
    var bodies: [DocumentRequest.Body] = [
      .get("hidden/a", mask: nil, .now), .batchGet(["hidden/a", "open/seed"], mask: nil, .now),
      .query(hidden, .now), .query(hidden, .begin(.readOnly(nil))),
      .aggregate(hidden, [all], .now), .list(DocumentListing(parent: nil, collectionID: "hidden")),
      .listCollections(below: nil, DocumentPageRequest(), .now),
      .listCollections(below: "hidden/a", DocumentPageRequest(), .now),
      .partition(DocumentPartitioning(query: try .group("hidden").ordered(by: .key), count: 2)),
      .create(CollectionPath(unchecked: "hidden"), id: "a", [:], mask: nil),
      .update(patch, mask: nil), .delete(DocumentMutation("hidden/a", .delete)),
      .batchWrite(conditions),
    ]
    bodies += conditions.map { .commit([$0], transaction: [], nil) }
    let worlds = try worlds()
    for (number, body) in zip(UInt32(1)..., bodies) {
      try compare("\(body)", { [$0.call(body, number: number)] }, worlds)
    }
    for (number, subject) in zip(
      UInt32(100)..., [.documents(["hidden/a"]), .query(hidden.target)] as [WatchTarget.Subject])
    {
      let add = DocumentRequest.Body.listen(.add(WatchTarget(id: 1, subject: subject)))
      try compare("listen \(subject)", { [$0.call(add, number: number)] }, worlds)
    }
  }

  @Test("the comparison can tell the worlds apart: an administrator sees what differs")
  func control() throws {
    let worlds = try worlds()
    let seen = try worlds.map { world in
      try world.run([.direct(ticket: 1, world.direct(.read("hidden", .all), "chief"))])
    }
    #expect(Set(seen).count == Self.secrets.count)
    let counted = try worlds.map { world in
      let query = DocumentQuery.collection(CollectionPath(unchecked: "hidden"))
      return try world.run([world.call(.query(query, .now), slot: 9, number: 2, token: "chief")])
    }
    #expect(Set(counted).count == Self.secrets.count)
  }
}
