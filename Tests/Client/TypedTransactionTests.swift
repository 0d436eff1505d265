import Synchronization
import TernClient
import TernCore
import TernQuery
import TernTransactions
import Testing

@Suite("Typed transactions", .timeLimit(.minutes(10)))
struct TypedTransactionTests {
  private struct City: Codable, Equatable {
    var name: String
    var people: Int
    var motto: String?
  }

  private struct Stop: Error {}

  @Test("a number begins at zero, and its result is what was committed")
  func number() async throws {
    let home = try await Home()
    let (one, other) = (try home.client(), try home.client())
    #expect(try await one.tree["stars"].transaction(as: Int.self) { $0 += 1 } == 1)
    #expect(try await other.tree["stars"].transaction(as: Int.self) { $0 += 1 } == 2)
    #expect(try await one.tree["stars"].get().number == 2)
    await one.close()
    await other.close()
  }

  @Test("a structure begins with its default, an optional with nothing and ends so")
  func structure() async throws {
    let home = try await Home()
    let tern = try home.client()
    let place = tern.tree["oslo"]
    let start = City(name: "Oslo", people: 0)
    let grown = try await place.transaction(as: City.self, default: start) { $0.people += 7 }
    #expect(grown == City(name: "Oslo", people: 7))
    try await place.transaction(as: City?.self) { $0 = nil }
    #expect(try await place.get().exists == false)
    await tern.close()
  }

  @Test("what the function throws, and a node of another shape, give up and change nothing")
  func givesUp() async throws {
    let home = try await Home()
    let tern = try home.client()
    let place = tern.tree["stars"]
    try await place.set("many").acknowledged()
    await #expect(throws: TreeCodingError.self) {
      try await place.transaction(as: Int.self) { $0 += 1 }
    }
    await #expect(throws: Stop.self) {
      try await place.transaction(as: String.self, default: "") { _ in throw Stop() }
    }
    #expect(try await place.get().string == "many")
    await tern.close()
  }

  @Test("a document changes; fields that the type does not have stay, a member that is nil goes")
  func document() async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    let oslo = tern.documents.document("cities/oslo")
    try await oslo.set(["name": "Oslo", "people": 5, "motto": "x", "mayor": "Ann"])
    let grown = try await oslo.transaction(as: City.self) {
      $0.people += 2
      $0.motto = nil
    }
    #expect(grown.people == 7)
    #expect(
      try await oslo.get(from: .server).json() == #"{"mayor":"Ann","name":"Oslo","people":7}"#)
    let error = await #expect(throws: DocumentsError.self) {
      try await tern.documents.document("cities/none").transaction(as: City.self) { $0.people = 1 }
    }
    #expect(error?.description == "notFound: No document: cities/none")
    await tern.close()
  }

  @Test("a transaction of documents reads what this client has just written", arguments: 1...10)
  func pendingWrites(round: Int) async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    let stock = tern.documents.document("stock/\(round)")
    try await stock.set(["count": 3])
    let count = try await tern.documents.transaction { transaction in
      try await transaction.get(stock)["count"]?.integer
    }
    #expect(count == 3)
    await tern.close()
  }

  private struct Trip: Codable, Equatable {
    struct Address: Codable, Equatable {
      var street: String
      var zip: String?
    }

    var tags: [String: Int]
    var address: Address
  }

  @Test("keys that leave a dictionary, and nested members that become nil, are gone")
  func nestedRemoval() async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    let oslo = tern.documents.document("trips/oslo")
    try await oslo.set([
      "tags": ["a": 1, "b": 2], "address": ["street": "x", "zip": "1"], "guide": ["name": "Ann"],
    ])
    try await oslo.transaction(as: Trip.self) {
      $0.tags["a"] = nil
      $0.address.zip = nil
    }
    #expect(
      try await oslo.get(from: .server).json()
        == #"{"address":{"street":"x"},"guide":{"name":"Ann"},"tags":{"b":2}}"#)
    let rome = tern.documents.document("trips/rome")
    let start = Trip(tags: ["c": 3], address: .init(street: "y"))
    try await rome.transaction(as: Trip.self, default: start) { $0.tags["c.d"] = 4 }
    #expect(
      try await rome.get(from: .server).json()
        == #"{"address":{"street":"y"},"tags":{"c":3,"c.d":4}}"#)
    await tern.close()
  }

  @Test("a transaction that is used after its function returned fails and writes nothing")
  func lateUse() async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    let oslo = tern.documents.document("a/oslo")
    let kept = Mutex<DocumentTransaction?>(nil)
    try await tern.documents.transaction { transaction in
      kept.withLock { $0 = transaction }
      try transaction.set(oslo, to: ["n": 1])
    }
    let late = try #require(kept.withLock { $0 })
    let isEnded = { (error: any Error) in
      guard case DocumentsError.refused(let status) = error else { return false }
      return status.code == .failedPrecondition
    }
    #expect {
      try late.set(oslo, to: ["n": 2])
    } throws: {
      isEnded($0)
    }
    await #expect {
      _ = try await late.get(oslo)
    } throws: {
      isEnded($0)
    }
    #expect(try await oslo.get(from: .server).json() == #"{"n":1}"#)
    await tern.close()
  }
}
