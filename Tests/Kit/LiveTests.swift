import Observation
import Synchronization
import TernKit
import Testing

@Suite("Observable models", .timeLimit(.minutes(10)))
@MainActor
struct LiveTests {
  private struct City: Codable, Equatable, Sendable {
    @DocumentID var id: String?
    var name: String
    var people: Int
  }

  @Test("a value follows its location, and what it says is observed")
  func value() async throws {
    let home = try await Home()
    let tern = try await home.open()
    let title = LiveValue(tern.tree["rooms/42/title"], as: String.self)
    #expect(title.value == nil && !title.isComplete)
    try await tern.tree["rooms/42/title"].set("Hi")
    try await until { title.value == "Hi" && title.isComplete }
    try await tern.tree["rooms/42/title"].set(["not": "a text"])
    try await until { title.error is TreeCodingError }
    #expect(title.value == "Hi")
    try await tern.tree["rooms/42/title"].remove()
    try await until { title.value == nil && title.error == nil }
    await tern.close()
    try await until { title.error is ListenError }
  }

  @Test("a query of documents and one of the tree are lists in their order")
  func queries() async throws {
    let home = try await Home()
    let tern = try await home.open()
    let cities = LiveQuery(
      tern.documents.collection("cities").order(by: "people", isDescending: true), as: City.self)
    let scores = LiveQuery(tern.tree["scores"].orderByValue(), as: Int.self)
    try await tern.documents.collection("cities").document("oslo").set(
      from: City(name: "Oslo", people: 700))
    try await tern.documents.collection("cities").document("rome").set(
      from: City(name: "Rome", people: 2_800))
    try await tern.tree["scores"].set(["ann": 9, "bob": 4])
    try await until { cities.results.map(\.id) == ["rome", "oslo"] && scores.results == [4, 9] }
    #expect(cities.isLoaded && scores.isLoaded)
    try await until { !cities.hasPendingWrites && !scores.hasPendingWrites }
    #expect(!cities.isFromCache)
    try await tern.documents.document("cities/bad").set(["people": "many"])
    try await until { cities.error is DocumentCodingError }
    #expect(cities.error?.description.hasPrefix("cities/bad: ") == true)
    await tern.close()
  }

  /// A city that counts how many were decoded.
  private struct Counted: Decodable, Sendable {
    static let count = Mutex(0)
    let people: Int

    private enum CodingKeys: CodingKey { case people }

    init(from decoder: any Decoder) throws {
      Self.count.withLock { $0 += 1 }
      people = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .people)
    }
  }

  @Test("an event decodes the results that it changed")
  func decodesChanges() async throws {
    let home = try await Home()
    let tern = try await home.open()
    Counted.count.withLock { $0 = 0 }
    let cities = LiveQuery(tern.documents.collection("cities"), as: Counted.self)
    let towns = LiveQuery(tern.tree["towns"].orderByKey(), as: Counted.self)
    for id in ["a", "b", "c", "d"] {
      try await tern.documents.document("cities/\(id)").set(["people": 1])
      try await tern.tree["towns"][id].set(["people": 1])
    }
    try await until { cities.results.count == 4 && !cities.hasPendingWrites }
    try await until { towns.results.count == 4 && !towns.hasPendingWrites }
    try await tern.documents.document("cities/b").update(["people": 2])
    try await tern.tree["towns/c/people"].set(2)
    try await until { cities.results.map(\.people) == [1, 2, 1, 1] && !cities.hasPendingWrites }
    try await until { towns.results.map(\.people) == [1, 1, 2, 1] && !towns.hasPendingWrites }
    // Each state of each document once, however many events told of the whole result.
    #expect(Counted.count.withLock { $0 } == 10)
    await tern.close()
  }

  @Test("a list tells which of its results have pending writes")
  func pending() async throws {
    let home = try await Home()
    let tern = try await home.open()
    let cities = LiveQuery(tern.documents.collection("cities").order(by: "name"), as: City.self)
    let scores = LiveQuery(tern.tree["scores"].orderByKey(), as: Int.self)
    for (id, name) in [("oslo", "Oslo"), ("rome", "Rome")] {
      try await tern.documents.collection("cities").document(id).set(
        from: City(name: name, people: 1))
    }
    try await tern.tree["scores"].set(["ann": 9, "bob": 4])
    try await until { cities.results.count == 2 && !cities.hasPendingWrites }
    try await until { scores.results == [9, 4] && !scores.hasPendingWrites }
    #expect(cities.pendingIndices.isEmpty && scores.pendingIndices.isEmpty)
    await tern.goOffline()
    try await tern.documents.document("cities/rome").update(["people": 2])
    try await tern.tree["scores/ann"].increment(by: 1)
    try await until { cities.pendingIndices == [1] && scores.pendingIndices == [0] }
    #expect(cities.results.map(\.people) == [1, 2] && scores.results == [10, 4])
    // The same value again changes nothing but the state.
    try await tern.tree["scores/bob"].set(4)
    try await until { scores.pendingIndices == [0, 1] }
    await tern.goOnline()
    try await until { cities.pendingIndices.isEmpty && scores.pendingIndices.isEmpty }
    await tern.close()
  }

  @Test("a model that is gone listens no longer")
  func gone() async throws {
    let home = try await Home()
    let tern = try await home.open()
    weak var model: LiveValue<Int>?
    do {
      let alive = LiveValue(tern.tree["n"], as: Int.self)
      model = alive
      try await tern.tree["n"].set(1)
      try await until { alive.value == 1 }
    }
    #expect(model == nil)
    await tern.close()
  }

  /// Waits, as a view does, for a change of what a condition reads.
  private func until(_ isSo: @escaping @MainActor () -> Bool) async throws {
    while !isSo() {
      try Task.checkCancellation()
      await withCheckedContinuation { continuation in
        let isDone = withObservationTracking(isSo) {
          Task { @MainActor in continuation.resume() }
        }
        _ = isDone
      }
    }
  }
}
