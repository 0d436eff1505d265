#if TCP && canImport(Glibc)
  import Dispatch
  import Synchronization
  import TernAssembly
  import TernClient
  import TernCore
  import TernFirebaseCompat
  import TernStorageMemory
  import TernSync
  import TernTransportTCP
  import Testing

  @testable import TernGateway

  /// Every hostile path and key through the clients of both kinds: each use is told what is wrong
  /// with an error that has a type, and nothing ends or reaches the server.
  @Suite("Hostile paths and keys, in clients") struct HostileNameTests {
    /// Paths that a client may read: it knows itself what is there.
    private static func isInfo(_ path: String) -> Bool { path.hasPrefix(".info") }

    /// Paths that name a place nothing can be written to: there is nothing to remove or read
    /// either.
    private static func isDeep(_ path: String) -> Bool {
      path.split(separator: "/").count > TreeLimits.depth && !path.contains(".")
    }

    @Test("under Firebase's names")
    func firebase() async throws {
      try await withGateway { gateway in
        let app = FirebaseApp.configure(
          name: "hostile \(gateway.port)", configuration: Configuration(storage: ["kind": "memory"])
        )
        let database = Database.database(app: app)
        database.useEmulator(withHost: "127.0.0.1", port: gateway.port)
        database.callbackQueue = DispatchQueue(label: "callbacks")
        var refused = 0
        for path in HostilePaths.paths {
          let place = database.reference(withPath: path)
          let below = database.reference().child("x").child(path)
          for (name, attempt) in Self.uses(of: place) {
            if name == "read", Self.isInfo(path) { continue }
            if ["read", "delete"].contains(name), Self.isDeep(path) { continue }
            await expectInvalid("\(name) \(path.prefix(80))", attempt)
            refused += 1
          }
          await expectInvalid("below \(path.prefix(80))") { try await below.setValue(1) }
          await expectInvalid("update \(path.prefix(80))") {
            try await database.reference().updateChildValues([path: 1])
          }
        }
        #expect(refused >= 500)
        for key in HostilePaths.keys where ![".value", ".sv"].contains(key) {
          await expectInvalid("key \(key.prefix(80))") {
            try await database.reference(withPath: "x").setValue([key: 1])
          }
        }
        await database.close()
        let left = try gateway.exchange(get("/.json"))
        #expect(left.hasSuffix("\r\n\r\nnull"))
      }
    }

    private static func uses(
      of place: DatabaseReference
    ) -> [(name: String, attempt: () async throws -> Void)] {
      [
        ("write", { try await place.setValue(1) }), ("delete", { try await place.removeValue() }),
        ("update", { try await place.updateChildValues(["a": 1]) }),
        ("priority", { try await place.setPriority(1) }),
        ("deferred", { try await place.onDisconnectSetValue(1) }),
        ("read", { _ = try await place.getData() }),
      ]
    }

    private func expectInvalid(_ what: String, _ attempt: () async throws -> Void) async {
      do {
        try await attempt()
        Issue.record("\(what) was accepted")
      } catch {
        guard case .invalid? = DatabaseError(error) else {
          Issue.record("\(what): \(error)")
          return
        }
      }
    }

    @Test(
      "under Firebase's names, observers and transactions are told, queries and snapshots live on")
    func others() async throws {
      try await withGateway { gateway in
        let app = FirebaseApp.configure(
          name: "odd \(gateway.port)", configuration: Configuration(storage: ["kind": "memory"]))
        let database = Database.database(app: app)
        database.useEmulator(withHost: "127.0.0.1", port: gateway.port)
        database.callbackQueue = DispatchQueue(label: "callbacks")
        let good = database.reference(withPath: "good")
        try await good.setValue(["a": 1])
        let bad = good.child("a.b")
        #expect(bad != good && bad.child("c") == bad)
        let told = AsyncStream<String>.makeStream()
        func tell(_ error: (any Error)?) {
          let cause = error.flatMap { DatabaseError($0) }
          told.continuation.yield(cause?.code ?? "\(String(describing: error))")
        }
        var heard = told.stream.makeAsyncIterator()
        let odd: [DatabaseQuery] = [
          bad, bad.queryLimited(toFirst: 1), good.queryLimited(toFirst: 0),
          good.queryOrderedByKey().queryOrderedByValue(), good.queryOrdered(byChild: "a.b"),
          good.queryEqual(toValue: ["a": 1]), good.queryEqual(toValue: Double.nan),
          good.queryStarting(atValue: 1, childKey: "a/b"),
          good.queryOrderedByKey().queryStarting(atValue: 7),
        ]
        for query in odd {
          query.observe(.value, with: { _ in tell(nil) }, withCancel: { tell($0) })
          #expect(await heard.next() == "invalid_argument")
          await expectInvalid("a query") { _ = try await query.getData() }
        }
        bad.runTransactionBlock(
          { .success(withValue: $0) },
          andCompletionBlock: { error, _, _ in
            tell(error)
          })
        #expect(await heard.next() == "invalid_argument")
        // Writing to a place that is none fails a transaction; looking there does not.
        good.runTransactionBlock(
          { data in
            data.childData(byAppendingPath: "b#c").value = 1
            return .success(withValue: data)
          }, andCompletionBlock: { error, _, _ in tell(error) })
        #expect(await heard.next() == "invalid_argument")
        good.runTransactionBlock(
          { data in
            data.childData(byAppendingPath: "b").value = data.hasChild(atPath: "b#c") ? 1 : 2
            return .success(withValue: data)
          }, andCompletionBlock: { error, _, _ in tell(error) })
        #expect(await heard.next() == "nil")
        // What ends observers where there is no place does not end those that stand nearby.
        let values = Mutex(0)
        good.observe(.value) { _ in values.withLock { $0 += 1 } }
        bad.removeAllObservers()
        let snapshot = try await good.getData()
        #expect(snapshot.childSnapshot(forPath: "$x").value == nil && !snapshot.hasChild("[a]"))
        #expect(snapshot.hasChild("a") && (snapshot.value as? [String: Int]) == ["a": 1, "b": 2])
        let before = values.withLock { $0 }
        try await good.child("a").setValue(3)
        #expect(try await good.child("a").getData().value as? Int == 3)
        #expect(values.withLock { $0 } > before)
        await database.close()
      }
    }

    @Test("in the native API")
    func native() async throws {
      try await withGateway { gateway in
        let transport = try TCPTransport(TCPOptions(port: gateway.port))
        let tern = try TernDatabase.open(
          ClientParts(queue: MemoryStore(), cache: MemoryStore(), transport: transport))
        var refused = 0
        for path in HostilePaths.paths {
          let place = tern.tree[path]
          await #expect(throws: WriteError.self, "\(path.prefix(80))") { try await place.set(1) }
          await #expect(throws: WriteError.self) { try await place.update(["a": 1]) }
          await #expect(throws: WriteError.self) { try await tern.tree["/"].update([path: 1]) }
          refused += 3
          if Self.isDeep(path) { continue }
          await #expect(throws: WriteError.self) { try await tern.tree["x"].child(path).remove() }
          refused += 1
          if Self.isInfo(path) { continue }
          await #expect(throws: ReadError.self, "\(path.prefix(80))") { try await place.get() }
          await #expect(throws: ListenError.self) { try await place.once() }
        }
        #expect(refused >= 2_000)
        #expect(await tern.tree.pendingWrites.isEmpty)
        await tern.close()
        await transport.shutdown()
        let left = try gateway.exchange(get("/.json"))
        #expect(left.hasSuffix("\r\n\r\nnull"))
      }
    }
  }
#endif
