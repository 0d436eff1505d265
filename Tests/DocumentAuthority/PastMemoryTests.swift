import Testing

@testable import TernCore
@testable import TernDocumentAuthority
@testable import TernQuery
@testable import TernStorage

/// Documents of an earlier state take no more memory than their reader may hold.
@Suite("memory of earlier states")
struct PastMemoryTests {
  /// A store in which documents were replaced, and the version before that.
  private func store(
    _ count: Int, bytes: Int
  ) throws -> (store: AuthorityStore, then: DocumentVersion) {
    let store = try AuthorityStore()
    let text = DocumentValue.string(String(repeating: "x", count: bytes))
    var then = DocumentVersion.none
    for number in 0..<count {
      then = try store.write([set(DocumentKey(unchecked: "c/\(number)"), ["t": text])]).version
    }
    for number in 0..<count { try store.write([set(DocumentKey(unchecked: "c/\(number)"), [:])]) }
    return (store, then)
  }

  private func read(
    _ query: DocumentQuery, of world: (store: AuthorityStore, then: DocumentVersion), limit: Int
  ) throws -> (code: DocumentStatus.Code?, count: Int, held: Int) {
    try world.store.read { reader throws(StorageError) in
      let limited = ObservedReader(reader, memoryLimit: limit)
      let outcome = try world.store.authority.documents(of: query, at: world.then, in: limited)
      switch outcome {
      case .success(let documents): return (nil, documents.count, limited.held)
      case .failure(let status): return (status.code, 0, limited.held)
      }
    }
  }

  @Test("a read ends when its client may hold no more, and what it holds is charged")
  func share() throws {
    let world = try store(40, bytes: 50_000)
    let all = DocumentQuery.collection(try CollectionPath("c"))
    let allowed = try read(all, of: world, limit: .max)
    #expect(allowed.code == nil && allowed.count == 40)
    #expect(allowed.held > 1_900_000 && allowed.held <= 2_100_000)
    let refused = try read(all, of: world, limit: 1 << 20)
    #expect(refused.code == .resourceExhausted)
    #expect(refused.held <= 1 << 20)
    let one = try read(.document("c/7"), of: world, limit: 64 << 10)
    #expect(one.code == nil && one.count == 1, "one document is all that this read keeps")
  }

  @Test("documents that are kept to be sorted are charged", arguments: [false, true])
  func sorted(isFixed: Bool) throws {
    let store = try AuthorityStore()
    let text = DocumentValue.string(String(repeating: "x", count: 10_000))
    for number in 0..<100 {
      let fields: DocumentFields = [
        "f": 1, "g": 1, "n": .integer(Int64(number * 7 % 100)), "t": text,
      ]
      try store.write([set(DocumentKey(unchecked: "c/\(number)"), fields)])
    }
    var query = DocumentQuery.collection(try CollectionPath("c"))
    query =
      isFixed
      ? try query.where("f", .equal, 1).ordered(by: "n")
      : try query.ordered(by: "g").ordered(by: "n")
    for (limit, isWhole) in [(200_000, false), (4 << 20, true)] {
      var keys: [String] = []
      var error: StorageError?
      try store.read { reader throws(StorageError) in
        let limited = ObservedReader(reader, memoryLimit: limit)
        do throws(StorageError) {
          _ = try store.authority.run(query, in: limited) { document throws(StorageError) in
            keys.append(document.key.text)
            return true
          }
        } catch let thrown { error = thrown }
        #expect(limited.held <= limit && limited.held > 0)
      }
      #expect(isWhole ? keys.count == 100 : keys.isEmpty)
      #expect(error == (isWhole ? nil : .abandoned))
    }
  }

  @Test("no read keeps more than its limit, whatever its client may hold")
  func limit() throws {
    let count = DocumentAuthorityLimits.pastBytes / 1_000_000 + 2
    let world = try store(count, bytes: 1_000_000)
    let all = DocumentQuery.collection(try CollectionPath("c"))
    let refused = try read(all, of: world, limit: .max)
    #expect(refused.code == .resourceExhausted)
    #expect(refused.held <= DocumentAuthorityLimits.pastBytes)
  }
}
