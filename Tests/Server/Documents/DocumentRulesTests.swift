import Synchronization
import TernCore
import TernDocumentWire
import TernQuery
import TernSecurity
import Testing

@testable import TernServer

/// The denials that a log would show.
private final class Denials: Sendable {
  private let state = Mutex<[DocumentDenial]>([])

  var all: [DocumentDenial] { state.withLock { $0 } }

  func add(_ denial: DocumentDenial) { state.withLock { $0.append(denial) } }
}

@Suite("Rules for documents at a server") struct DocumentRulesTests {
  private static let usual = """
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents {
        match /notes/{id} {
          allow get: if resource == null || resource.data.owner == request.auth.uid;
          allow list: if resource.data.owner == request.auth.uid;
          allow create: if request.resource.data.owner == request.auth.uid
            && request.resource.data.at == request.time;
          allow update: if resource.data.owner == request.auth.uid;
          allow delete: if resource.data.owner == request.auth.uid && resource.data.done;
        }
        match /rooms/{room} {
          allow read: if get(/databases/$(database)/documents/members/$(request.auth.uid))
            .data.room == room;
          match /lines/{line} {
            allow read:
              if exists(/databases/$(database)/documents/members/$(request.auth.uid));
            allow write: if getAfter(/databases/$(database)/documents/rooms/$(room)).data.count
              == get(/databases/$(database)/documents/rooms/$(room)).data.count + 1;
          }
          allow update: if true;
        }
      }
    }
    """

  private func rules(_ source: String = usual) throws -> DocumentRulesSet {
    DocumentRulesSet(common: try DocumentRules(source: source))
  }

  private func bench(_ authorizer: (any DocumentAuthorizer)? = nil) throws -> DocumentBench {
    let bench = try DocumentBench(
      authorizer: try authorizer ?? DocumentRulesAuthorizer(rules()),
      authenticator: NameAuthenticator())
    for slot in [1, 2, 9] { try bench.link(slot) }
    try admin(
      bench, 1, bench.set("notes/a", ["owner": "ann"]), bench.set("notes/b", ["owner": "ben"]),
      bench.set("rooms/r", ["count": 1]), bench.set("members/ann", ["room": "r"]))
    return bench
  }

  private func admin(_ bench: DocumentBench, _ call: UInt32, _ writes: DocumentMutation...) throws {
    let body = DocumentRequest.Body.commit(writes, transaction: [], nil)
    _ = try bench.ask(9, call, body, token: "chief").get()
  }

  private func code(_ answer: DocumentAnswer) -> DocumentStatus.Code? {
    if case .failure(let status) = answer { status.code } else { nil }
  }

  private func commit(_ writes: DocumentMutation...) -> DocumentRequest.Body {
    .commit(writes, transaction: [], nil)
  }

  private func owned(by owner: String) throws -> DocumentQuery {
    try .collection(CollectionPath(unchecked: "notes")).where(
      "owner", .equal, .string(owner))
  }

  @Test("each request needs the method that it is, for the user that asks")
  func methods() throws {
    let bench = try bench()
    let stamp = [DocumentFieldTransform("at", .serverTimestamp)]
    let count = [DocumentAggregation("n", .count(upTo: nil))]
    let create = DocumentMutation("notes/c", .set(["owner": "ann"]), transforms: stamp)
    let patch = DocumentMutation("notes/a", .patch(["n": 2], mask: DocumentFieldMask(["n"])))
    let all = DocumentQuery.collection(CollectionPath(unchecked: "notes"))
    let cases: [(DocumentRequest.Body, DocumentStatus.Code?)] = [
      (.get("notes/a", mask: nil, .now), nil),
      (.get("notes/b", mask: nil, .now), .permissionDenied),
      (.get("notes/none", mask: nil, .now), .notFound),
      (.batchGet(["notes/a", "notes/b"], mask: nil, .now), .permissionDenied),
      (.query(try owned(by: "ann"), .now), nil),
      (.query(try owned(by: "ben"), .now), .permissionDenied),
      (.query(all, .now), .permissionDenied),
      (.aggregate(try owned(by: "ann"), count, .now), nil),
      (.aggregate(all, count, .now), .permissionDenied),
      (.list(DocumentListing(parent: nil, collectionID: "notes")), .permissionDenied),
      (commit(create), nil),
      (commit(bench.set("notes/d", ["owner": "ann"])), .permissionDenied),
      (commit(bench.set("notes/d", ["owner": "ben"])), .permissionDenied),
      (commit(patch), nil),
      (commit(bench.set("notes/b", ["owner": "ann"])), .permissionDenied),
      (commit(DocumentMutation("notes/a", .delete)), .permissionDenied),
      (.listCollections(below: nil, DocumentPageRequest(), .now), .permissionDenied),
      (.batchWrite([patch]), .permissionDenied),
      (.begin(.readWrite(retrying: [])), .permissionDenied),
      (.begin(.readOnly(nil)), nil),
    ]
    for (call, (body, expected)) in zip(UInt32(10)..., cases) {
      let answer = try bench.ask(1, call, body, token: "ann")
      #expect(code(answer) == expected, "\(body)")
      if expected == .permissionDenied { #expect(bench.lastCommits.isEmpty) }
    }
    let denied: [DocumentRequest.Body] = [
      .get("notes/b", mask: nil, .now), .query(all, .now), .batchWrite([patch]),
      .begin(.readWrite(retrying: [])), .listCollections(below: nil, DocumentPageRequest(), .now),
    ]
    for (call, body) in zip(UInt32(50)..., denied) {
      #expect(code(try bench.ask(9, call, body, token: "chief")) == nil, "\(body)")
    }
    #expect(code(try bench.ask(2, 10, .get("notes/a", mask: nil, .now))) == .permissionDenied)
  }

  @Test("a denial comes before preconditions, and says by which id it is found")
  func denials() throws {
    let heard = Denials()
    let bench = try bench(DocumentRulesAuthorizer(rules(), onDenial: { heard.add($0) }))
    let writes = [
      DocumentMutation("notes/b", .set(["owner": "ben"]), precondition: .exists(false)),
      DocumentMutation("notes/none", .delete, precondition: .exists(true)),
      DocumentMutation(
        "notes/b", .patch(["n": 1], mask: DocumentFieldMask(["n"])),
        precondition: .version(DocumentVersion(microseconds: 7))),
    ]
    for (call, write) in zip(UInt32(10)..., writes) {
      guard case .failure(let status) = try bench.ask(1, call, commit(write), token: "ann") else {
        Issue.record("\(write) is allowed")
        continue
      }
      let denial = heard.all.last
      #expect(status.code == .permissionDenied)
      #expect(status.message == "Missing or insufficient permissions. [\(denial?.id ?? "")]")
      #expect(denial?.description.contains("line ") == true)
    }
    #expect(heard.all.count == 3)
    let open = try bench.ask(
      1, 20, commit(DocumentMutation("notes/a", .verify, precondition: .exists(false))),
      token: "ann")
    #expect(code(open) == .alreadyExists)
  }

  @Test("in development clients receive what the emulator sends")
  func reasons() throws {
    let bench = try bench(DocumentRulesAuthorizer(rules(), showsReasons: true))
    guard
      case .failure(let status) = try bench.ask(
        1, 10, .get("notes/b", mask: nil, .now), token: "ann")
    else { return }
    #expect(status.message == "\nfalse for 'get' @ L5")
  }

  @Test("rules see the documents as they are after the whole commit, and before it")
  func after() throws {
    let bench = try bench()
    let line = bench.set("rooms/r/lines/1", ["text": "hi"])
    let add = DocumentMutation(
      "rooms/r", .patch(.empty, mask: .empty),
      transforms: [DocumentFieldTransform("count", .increment(.integer(1)))])
    #expect(code(try bench.ask(1, 10, commit(line), token: "ann")) == .permissionDenied)
    #expect(code(try bench.ask(1, 11, commit(line, add), token: "ann")) == nil)
    #expect(code(try bench.ask(1, 12, commit(line, add, add), token: "ann")) == .permissionDenied)
  }

  private func target(_ id: Int32, _ subject: WatchTarget.Subject) -> WatchTarget {
    WatchTarget(id: id, subject: subject)
  }

  /// Opens a listen call of a user.
  private func listen(
    _ bench: DocumentBench, _ slot: Int, _ user: String, _ targets: WatchTarget...
  ) throws -> [WatchChange] {
    let metadata = [DocumentCallOpening.Entry("authorization", "Bearer " + user)]
    let opening = DocumentCallOpening(.listen, metadata: metadata)
    let adds = targets.map { target in
      let request = DocumentRequest(.listen(.add(target)), in: benchDatabase)
      return bench.frame(slot, .message(stream: 1, request.encode()))
    }
    try bench.run([bench.frame(slot, .open(stream: 1, opening))] + adds)
    return bench.changes(slot, 1)
  }

  @Test("a listen ends when a document changes that its permission rests on, and not otherwise")
  func dependencies() throws {
    let bench = try bench()
    let lines = DocumentQuery.collection(CollectionPath(unchecked: "rooms/r/lines"))
    let told = try listen(
      bench, 1, "ann", target(2, .query(lines.target)), target(4, .documents(["rooms/r"])),
      target(6, .query(try owned(by: "ann").target)))
    #expect(!told.contains { $0.brief.hasPrefix("refuse") })
    try admin(bench, 10, bench.set("members/ben", ["room": "r"]))
    #expect(bench.changes(1, 1).isEmpty)
    try admin(bench, 11, bench.set("members/ann", ["room": "other"]))
    #expect(bench.changes(1, 1).map(\.brief) == ["refuse [4] permissionDenied"])
    try admin(bench, 12, bench.set("rooms/r/lines/2", [:]))
    #expect(bench.changes(1, 1).map(\.brief) == ["rooms/r/lines/2 [2]", "snapshot"])
    // The same commit takes the permission and adds a line, which is not told.
    try admin(
      bench, 13, DocumentMutation("members/ann", .delete), bench.set("rooms/r/lines/3", [:]))
    #expect(bench.changes(1, 1).map(\.brief) == ["refuse [2] permissionDenied"])
    try admin(bench, 14, bench.set("notes/e", ["owner": "ann"]))
    #expect(bench.changes(1, 1).map(\.brief) == ["notes/e [6]", "snapshot"])
  }

  @Test("a query that names its documents ends when one of them is no longer allowed")
  func namedDocuments() throws {
    let source = """
      service cloud.firestore { match /databases/{database}/documents {
        match /notes/{id} { allow read: if resource.data.public == true; }
      } }
      """
    let bench = try bench(DocumentRulesAuthorizer(rules(source)))
    let secret = DocumentFields(DocumentMap([("public", false), ("text", "secret")]))
    let names = ["p", "q"].map {
      DocumentValue.reference(
        DocumentName(DocumentKey(unchecked: "notes/" + $0), in: benchDatabase))
    }
    let filters: [DocumentFilter] = [
      .where(.key, .equal, names[0]), .where(.key, .in, .array(names)),
      .or([.where(.key, .equal, names[0]), .where(.key, .equal, names[1])]),
      .where(.key, .in, .array([names[1]])),
    ]
    let shown = DocumentFields(DocumentMap([("public", true)]))
    try admin(bench, 10, bench.set("notes/p", shown), bench.set("notes/q", shown))
    let notes = DocumentQuery.Source.collection(CollectionPath(unchecked: "notes"))
    let targets = filters.enumerated().map { index, filter in
      target(Int32(index + 1), .query(DocumentQuery.assembled(notes, filter: filter).target))
    }
    let told = try listen(bench, 1, "ann", targets[0], targets[1], targets[2], targets[3])
    #expect(!told.contains { $0.brief.hasPrefix("refuse") })
    try admin(bench, 11, bench.set("notes/p", secret))
    let ended = bench.changes(1, 1)
    #expect(ended.map(\.brief) == (1...3).map { "refuse [\($0)] permissionDenied" })
    try admin(bench, 12, bench.set("notes/p", ["public": true]))
    #expect(bench.changes(1, 1).isEmpty)
    try admin(bench, 13, DocumentMutation("notes/q", .delete))
    #expect(bench.changes(1, 1).map(\.brief) == ["refuse [4] permissionDenied"])
  }

  @Test("a watched document is judged by what it becomes")
  func contents() throws {
    let bench = try bench()
    _ = try listen(bench, 1, "ann", target(2, .documents(["notes/a"])))
    try admin(bench, 10, bench.set("notes/a", ["owner": "ann", "n": 1]))
    #expect(bench.changes(1, 1).map(\.brief) == ["notes/a [2]", "snapshot"])
    try admin(bench, 11, bench.set("notes/a", ["owner": "ben"]))
    #expect(bench.changes(1, 1).map(\.brief) == ["refuse [2] permissionDenied"])
  }

  @Test("other rules end the listens that they deny, before anything else is sent")
  func changes() throws {
    let bench = try bench()
    _ = try listen(
      bench, 1, "ann", target(2, .query(try owned(by: "ann").target)),
      target(4, .documents(["rooms/r"])))
    let closed = Self.usual.replacing("allow list", with: "allow list: if false; allow delete")
    let authorizer = DocumentRulesAuthorizer(try rules(closed))
    try bench.run([.adopt(ticket: 1, ServerAccess(documents: authorizer))])
    #expect(bench.changes(1, 1).map(\.brief) == ["refuse [2] permissionDenied"])
    try admin(bench, 10, bench.set("rooms/r", ["count": 5]))
    #expect(bench.changes(1, 1).map(\.brief) == ["rooms/r [4]", "snapshot"])
  }

  @Test("each database has rules of its own, and is closed without")
  func databases() throws {
    let open = "service cloud.firestore { match /{all=**} { allow read; } }"
    let set = DocumentRulesSet(
      common: nil, byDatabase: ["(default)": try DocumentRules(source: open)])
    let bench = try bench(DocumentRulesAuthorizer(set))
    #expect(code(try bench.ask(1, 10, .get("notes/a", mask: nil, .now))) == nil)
    bench.databases[2] = try DocumentDatabase(projectID: "p", databaseID: "other")
    #expect(code(try bench.ask(2, 10, .get("notes/a", mask: nil, .now))) == .permissionDenied)
  }
}
