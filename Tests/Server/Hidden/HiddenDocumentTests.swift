import TernCore
import TernDocumentWire
import TernQuery
import TernSecurity
import Testing

@testable import TernServer

/// Transactions and streams of writes about documents that a client may not read tell nothing of
/// them, also to a client that may read others.
@Suite("Hidden documents") struct HiddenDocumentTests {
  private static let secrets: [HiddenWorld.Secret] = [
    .init(name: "nothing", node: .empty, documents: []),
    .init(name: "one", node: .empty, documents: [("hidden/a", ["n": 1])]),
    .init(name: "another", node: .empty, documents: [("hidden/a", ["n": 2, "m": "x"])]),
    .init(
      name: "many", node: .empty,
      documents: (0..<80).map { ("hidden/a\($0)", ["n": .integer($0)]) }),
  ]

  /// A server that opens no documents, and one that opens a collection.
  enum Access: CaseIterable, Sendable {
    case none, some

    var authorizer: any DocumentAuthorizer {
      switch self {
      case .none: AllowAdministrators()
      case .some: OpenCollectionAuthorizer()
      }
    }
  }

  private func worlds(_ access: Access) throws -> [HiddenWorld] {
    let rules = try TreeRules(#"{"rules": {}}"#)
    return try Self.secrets.map { try HiddenWorld($0, rules, documents: access.authorizer) }
  }

  /// Plays a script in every world; the answers are the same, and the work where no document is
  /// judged by what it holds.
  private func compare(
    _ name: String, _ access: Access, _ script: (HiddenWorld) throws -> [[String]]
  ) throws -> [String] {
    let worlds = try worlds(access)
    let first = try script(worlds[0])
    for (world, secret) in zip(worlds, Self.secrets).dropFirst() {
      #expect(try script(world) == first, "\(name): \(secret.name)")
      if access == .none { #expect(world.work == worlds[0].work, "\(name): \(secret.name)") }
    }
    return first.flatMap { $0 }
  }

  private static let conditions: [DocumentMutation] = [
    DocumentMutation("hidden/a", .set(.empty), precondition: .exists(false)),
    DocumentMutation("hidden/a", .delete, precondition: .exists(true)),
    DocumentMutation("hidden/a", .delete, precondition: .version(DocumentVersion(microseconds: 7))),
    DocumentMutation("hidden/a", .verify, precondition: .exists(true)),
    DocumentMutation("hidden/a", .verify, precondition: .exists(false)),
    DocumentMutation("hidden/a", .patch(["n": 2], mask: DocumentFieldMask(["n"]))),
    DocumentMutation("hidden/a", .delete),
  ]

  private static let open = DocumentMutation("open/b", .set(["n": 1]))

  /// The transaction that the last answer names; empty when it names none.
  private func transaction(_ world: HiddenWorld) throws -> [UInt8] {
    for frame in world.frames {
      guard case .answer(_, let message) = try DocumentServerFrame.decode(frame),
        case .transaction(let id) = try DocumentResponse.decode(
          .beginTransaction, message, DocumentNames(benchDatabase))
      else { continue }
      return id
    }
    return []
  }

  @Test(
    "a transaction that reads hidden documents fails alike, whatever they are",
    arguments: Access.allCases)
  func readSets(access: Access) throws {
    let hidden = DocumentQuery.collection(CollectionPath(unchecked: "hidden"))
    for (name, read) in [
      ("get", { .get("hidden/a", mask: nil, .transaction($0)) }),
      ("batch", { .batchGet(["open/seed", "hidden/a"], mask: nil, .transaction($0)) }),
      ("query", { .query(hidden, .transaction($0)) }),
      (
        "count",
        { .aggregate(hidden, [DocumentAggregation("n", .count(upTo: nil))], .transaction($0)) }
      ),
      ("nothing", { .get("open/seed", mask: nil, .transaction($0)) }),
    ] as [(String, ([UInt8]) -> DocumentRequest.Body)] {
      for write in Self.conditions + [Self.open] {
        let told = try compare("\(name), \(write)", access) { world in
          var told = [try world.run([world.call(.begin(.readWrite(retrying: [])), number: 1)])]
          let id = try transaction(world)
          told.append(try world.run([world.call(read(id), number: 2)]))
          // Another client changes what the transaction may have read.
          let change = DocumentMutation("hidden/a", .set(["n": 99]))
          _ = try world.run([
            world.call(
              .commit([change], transaction: [], nil), slot: 9, number: 7, token: "chief")
          ])
          told.append(
            try world.run([world.call(.commit([write], transaction: id, nil), number: 3)]))
          return told
        }
        #expect(told.count >= 3)
      }
    }
  }

  @Test(
    "a stream of writes with preconditions ends alike, whatever they are",
    arguments: Access.allCases)
  func streams(access: Access) throws {
    for id in [nil, 4] as [UInt128?] {
      for write in Self.conditions {
        for batch in [[write], [Self.open, write], [write, Self.open]] {
          let header = id.map { _ in DocumentWriteHeader(sequence: 1) }
          let told = try compare("\(String(describing: id)), \(batch)", access) { world in
            [
              try world.run([
                world.open(.write, number: 1),
                world.message(.write(DocumentWriteRequest(.handshake(stream: id))), number: 1),
                world.message(
                  .write(DocumentWriteRequest(.writes(batch, header), token: [1])), number: 1),
              ])
            ]
          }
          #expect(!told.isEmpty)
        }
      }
    }
  }

  @Test("what is open can be read, written, and distinguished")
  func control() throws {
    let told = try worlds(.some).map { world in
      try world.run([
        world.call(.commit([Self.open], transaction: [], nil), number: 1),
        world.call(.get("open/b", mask: nil, .now), number: 2),
      ])
    }
    #expect(Set(told).count == 1)
    let world = try worlds(.some)[1]
    let before = try world.run([world.call(.batchGet(["open/b"], mask: nil, .now), number: 1)])
    _ = try world.run([world.call(.commit([Self.open], transaction: [], nil), number: 2)])
    let after = try world.run([world.call(.batchGet(["open/b"], mask: nil, .now), number: 3)])
    #expect(before.joined() != after.joined())
    let denied = try world.run([world.call(.get("hidden/a", mask: nil, .now), number: 4)])
    #expect(denied.count == 1)
  }
}
