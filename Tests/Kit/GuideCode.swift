import TernKit

// The code of Docs/Guides/app.md, compiled. `GuideTests` compares the two.

func openPlainly() async throws {
  let tern = try await TernDatabase.open("my-data", server: "db.example.com")
  await tern.close()
}

func openWithOptions(token: String, log: @escaping @Sendable (String) -> Void) async throws {
  var options = TernOptions()
  options.tls = TLSOptions()  // trusts what the system trusts
  options.token = token  // signs a user in
  options.namespace = "harbor"  // the tree database, `ns` in addresses of Firebase's clients
  options.cacheLimitBytes = 50 << 20
  options.report = { notice in log(notice.description) }
  let tern = try await TernDatabase.open("my-data", server: "db.example.com:443", options)
  await tern.close()
}

func write(_ tern: TernDatabase) async throws {
  let write = try await tern.tree["rooms/42/title"].set("Hi")
  do {
    try await write.acknowledged(within: .seconds(10))
  } catch .timedOut {
    // Still queued. It is sent when there is a connection.
  } catch .rejected(let rejection) {
    print("taken back: \(rejection)")
  }
}

func listen(_ tern: TernDatabase) async throws {
  for try await snapshot in tern.tree["rooms/42"].values() {
    print(snapshot.json(), snapshot.isComplete, snapshot.hasPendingWrites)
  }
  for try await snapshot in tern.tree["scores"].orderByValue().last(10).values() {
    print(snapshot.children.map { $0.name + ($0.hasPendingWrites ? " *" : "") })
  }
  let largest = tern.documents.collection("cities")
    .where("country", .equals, "NO").order(by: "people", isDescending: true).first(10)
  for try await result in largest.snapshots() {
    let cities = try result.decode(City.self)
    print(cities.map(\.name))
  }
}

struct City: Codable, Sendable {
  @DocumentID var id: String?  // the id of the document; never written
  var name: String
  var people: Int
  @ServerTimestamp var changed: Date?  // nil asks for the time of the commit
  @ExplicitNull var mayor: String?  // written as null, not left out
}

struct Entry: Codable, Sendable, Identifiable {
  @NodeKey var id: String?  // the key of the node; never written
  var text: String
}

func code(_ tern: TernDatabase) async throws -> (City, City?) {
  try await tern.documents.document("cities/oslo").set(from: City(name: "Oslo", people: 700_000))
  let oslo = try await tern.documents.document("cities/oslo").get().decode(City.self)
  let missing = try await tern.documents.document("cities/none").get().decode(City?.self)
  return (oslo, missing)
}

func transact(_ tern: TernDatabase) async throws -> Int {
  let stars = try await tern.tree["rooms/42/stars"].transaction(as: Int.self) { $0 += 1 }
  try await tern.documents.document("cities/oslo").transaction(as: City.self) { $0.people += 1 }
  return stars
}

func announce(_ tern: TernDatabase) -> Task<Void, any Error> {
  let me = tern.tree["presence/ann"]
  let presence = Task { try await me["devices/phone"].announce(lastSeen: me["seen"]) }
  return presence
}

func fail(_ tern: TernDatabase, show: (String) -> Void) async {
  do {
    _ = try await tern.tree["secret"].get()
  } catch {
    show(error.localizedDescription)  // "the server denied the read: permission_denied: …"
  }
}

@MainActor
func follow(_ tern: TernDatabase) -> (LiveValue<String>, LiveQuery<City>) {
  let title = LiveValue(tern.tree["rooms/42/title"], as: String.self)
  let cities = LiveQuery(tern.documents.collection("cities").order(by: "name"), as: City.self)
  return (title, cities)
}
