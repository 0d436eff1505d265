import TernClient
import TernCore
import TernSync
import Testing

@Suite("values()", .timeLimit(.minutes(10)))
struct ValueTests {
  @Test("a write under an incomplete node shows at once, marked incomplete and pending")
  func incomplete() async throws {
    let home = try await Home()
    let other = try home.client()
    try await other.tree["room/open"].set(true).acknowledged()
    let tern = try home.client()
    await tern.goOffline()
    var heard = tern.tree["room"].values().makeAsyncIterator()
    try await tern.tree["room/title"].set("Hi")
    let first = try #require(try await heard.next())
    #expect(first.node == ["title": "Hi"])
    #expect(!first.isComplete && first.hasPendingWrites)

    await tern.goOnline()
    var last = first
    while !last.isComplete || last.hasPendingWrites { last = try #require(try await heard.next()) }
    #expect(last.node == ["open": true, "title": "Hi"])
    await tern.close()
    await other.close()
  }

  @Test("a node that is incomplete without local writes is not shown")
  func unknown() async throws {
    let home = try await Home()
    let tern = try home.client()
    await tern.goOffline()
    let heard = Task { try await tern.tree["room"].values().first { _ in true } }
    // The listener of another place hears its write, so that the first had its turn.
    try await tern.tree["other"].set(1)
    _ = try await tern.tree["other"].values().first { _ in true }
    await tern.close()
    await #expect(throws: ListenError.closed) { try await heard.value }
  }

  @Test("the acknowledgement of a write that changed nothing else is heard")
  func acknowledged() async throws {
    let home = try await Home()
    let tern = try home.client()
    let place = tern.tree["scores/ann"]
    try await place.set(5).acknowledged()
    var heard = place.values().makeAsyncIterator()
    var snapshot = try #require(try await heard.next())
    while snapshot.hasPendingWrites { snapshot = try #require(try await heard.next()) }
    await tern.goOffline()
    // The same value again: no event, but a pending write.
    let write = try await place.set(5)
    snapshot = try #require(try await heard.next())
    #expect(snapshot.hasPendingWrites && snapshot.node == 5 && snapshot.isComplete)
    await tern.goOnline()
    try await write.acknowledged()
    while snapshot.hasPendingWrites { snapshot = try #require(try await heard.next()) }
    #expect(snapshot.node == 5)
    await tern.close()
  }

  @Test("a rejected write is taken back from an incomplete node")
  func rejected() async throws {
    let home = try await Home(authorizer: try denyingWrites())
    let tern = try home.client()
    await tern.goOffline()
    var heard = tern.tree["room"].values().makeAsyncIterator()
    try await tern.tree["room/title"].set("Hi")
    #expect(try await heard.next()?.node == ["title": "Hi"])
    await tern.goOnline()
    var last = try await heard.next()
    while let snapshot = last, !snapshot.isComplete || snapshot.exists {
      last = try await heard.next()
    }
    #expect(last?.hasPendingWrites == false)
    await tern.close()
  }

  @Test("the first complete result of a read by listening is complete")
  func once() async throws {
    let home = try await Home()
    let other = try home.client()
    try await other.tree["room/open"].set(true).acknowledged()
    let tern = try home.client()
    await tern.goOffline()
    try await tern.tree["room/title"].set("Hi")
    let whole = Task { try await tern.tree["room"].once() }
    _ = try await tern.tree["room"].values().first { $0.hasPendingWrites }
    await tern.goOnline()
    #expect(try await whole.value.node == ["open": true, "title": "Hi"])
    await tern.close()
    await other.close()
  }

  @Test("a child of a snapshot tells of its own pending writes, by listening and by reading")
  func child() async throws {
    let home = try await Home()
    let tern = try home.client()
    let scores = tern.tree["scores"]
    try await scores.set(["ann": ["points": 1], "bob": ["points": 2]]).acknowledged()
    _ = try await scores.values().first { $0.isComplete && !$0.hasPendingWrites }
    var heard = scores.values().makeAsyncIterator()
    await tern.goOffline()
    try await scores["ann/points"].set(5)
    var last = try #require(try await heard.next())
    while !last.hasPendingWrites { last = try #require(try await heard.next()) }
    for snapshot in [last, try await scores.get()] {
      #expect(snapshot.hasPendingWrites)
      #expect(snapshot.children.map(\.hasPendingWrites) == [true, false])
      #expect(snapshot["ann/points"].hasPendingWrites && !snapshot["bob/points"].hasPendingWrites)
      #expect(!snapshot["ann/name"].hasPendingWrites && !snapshot["not a [path]"].hasPendingWrites)
      #expect(snapshot["ann"]["points"].hasPendingWrites)
    }
    await tern.goOnline()
    while last.hasPendingWrites { last = try #require(try await heard.next()) }
    #expect(last.children.map(\.hasPendingWrites) == [false, false])
    await tern.close()
  }

  @Test("a pending write that changes nothing but the state of another child is heard")
  func childState() async throws {
    let home = try await Home()
    let tern = try home.client()
    let scores = tern.tree["scores"]
    try await scores.set(["ann": 1, "bob": 2, "cyd": 3]).acknowledged()
    _ = try await scores.snapshots().first { !$0.isFromCache && !$0.hasPendingWrites }
    await tern.goOffline()
    // The first mark makes the whole pending; the second concerns one child alone.
    try await scores["ann"].set(1)
    var values = scores.values().makeAsyncIterator()
    var snapshots = scores.snapshots().makeAsyncIterator()
    #expect(try await values.next()?.children.map(\.hasPendingWrites) == [true, false, false])
    #expect(try await snapshots.next()?.children.map(\.hasPendingWrites) == [true, false, false])
    try await scores["bob"].set(2)
    #expect(try await values.next()?.children.map(\.hasPendingWrites) == [true, true, false])
    #expect(try await snapshots.next()?.children.map(\.hasPendingWrites) == [true, true, false])
    await tern.close()
  }

  @Test("a pending write outside of a query's result is not heard")
  func outside() async throws {
    let home = try await Home()
    let tern = try home.client()
    let scores = tern.tree["scores"]
    try await scores.set(["ann": 1, "bob": 2, "cyd": 3]).acknowledged()
    _ = try await scores.values().first { $0.isComplete && !$0.hasPendingWrites }
    await tern.goOffline()
    try await scores["ann"].set(1)
    var heard = scores.orderByValue().last(1).values().makeAsyncIterator()
    let first = try #require(try await heard.next())
    #expect(first.hasPendingWrites && first.children.map(\.hasPendingWrites) == [false])
    try await scores["bob"].set(2)
    // Heard next is the write to the child that is shown, and not the one before it.
    let next = Task { [heard] in
      var heard = heard
      return try await heard.next()
    }
    try await scores["cyd"].set(3)
    #expect(try await next.value?.children.map(\.hasPendingWrites) == [true])
    await tern.close()
  }
}
