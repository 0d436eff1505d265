import Observation
import Testing

@testable import TernKit

/// Models that are given another query, as those of a view are that shows another location.
@Suite("Models that change their query", .timeLimit(.minutes(5)))
@MainActor
struct LiveFollowTests {
  @Test("a value forgets the former location and follows the new one")
  func value() async throws {
    let home = try await Home()
    let tern = try await home.open()
    try await tern.tree["a"].set("one")
    try await tern.tree["b"].set("two")
    let model = LiveValue<String>(resting: tern.tree["a"])
    model.follow(tern.tree["a"].queried)
    try await until { model.value == "one" && model.isComplete }
    model.follow(tern.tree["a"].queried)
    #expect(model.value == "one")
    model.follow(tern.tree["b"].queried)
    #expect(model.value == nil && !model.isComplete)
    try await until { model.value == "two" }
    try await tern.tree["a"].set("three")
    try await tern.tree["b"].set("four")
    try await until { model.value == "four" }
    await tern.close()
  }

  @Test("a list forgets the former query and follows the new one, of either model")
  func list() async throws {
    let home = try await Home()
    let tern = try await home.open()
    try await tern.tree["a"].set(["x": 1, "y": 2])
    try await tern.documents.document("b/z").set(["n": 3])
    let model = LiveQuery<Int>(resting: tern.tree["a"])
    model.follow(.tree(tern.tree["a"].orderByKey()))
    try await until { model.results == [1, 2] }
    model.follow(.tree(tern.tree["a"].orderByKey().last(1)))
    #expect(model.results.isEmpty && !model.isLoaded)
    try await until { model.results == [2] }
    model.follow(.documents(tern.documents.collection("b").queried))
    #expect(model.results.isEmpty)
    try await until { model.error is DocumentCodingError }
    await tern.close()
  }

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
