import TernCore
import Testing

@testable import TernQuery

@Suite("Building queries")
struct TreeQueryTests {
  @Test("each rule has its error")
  func errors() throws {
    let all = TreeQuery.all
    func expect(
      _ error: TreeQueryError, _ build: () throws(TreeQueryError) -> TreeQuery,
      _ location: SourceLocation = #_sourceLocation
    ) {
      #expect(throws: error, sourceLocation: location) { try build() }
    }
    expect(.orderAlreadySet) { () throws(TreeQueryError) in
      try all.ordered(by: .key).ordered(by: .value)
    }
    expect(.orderAlreadySet) { () throws(TreeQueryError) in
      try all.ordered(by: .priority).ordered(by: .priority)
    }
    expect(.startAlreadySet) { () throws(TreeQueryError) in
      try all.starting(at: 1).starting(after: 2)
    }
    expect(.startAlreadySet) { () throws(TreeQueryError) in try all.equal(to: 1).starting(at: 2) }
    expect(.endAlreadySet) { () throws(TreeQueryError) in try all.equal(to: 1).ending(at: 2) }
    expect(.endAlreadySet) { () throws(TreeQueryError) in
      try all.ending(before: 1).equal(to: 2)
    }
    expect(.limitAlreadySet) { () throws(TreeQueryError) in try all.first(1).last(1) }
    for count in [0, -1, Int(Int32.max) + 1] {
      expect(.limitOutOfRange(count)) { () throws(TreeQueryError) in try all.last(count) }
    }
    expect(.keyBoundNotString) { () throws(TreeQueryError) in
      try all.ordered(by: .key).starting(at: 1)
    }
    expect(.keyBoundNotString) { () throws(TreeQueryError) in
      try all.starting(at: 1).ordered(by: .key)
    }
    expect(.keyBoundWithKey) { () throws(TreeQueryError) in
      try all.ordered(by: .key).starting(at: "a", key: TreeKey(unchecked: "b"))
    }
    expect(.invalidPriorityBound) { () throws(TreeQueryError) in try all.ending(at: true) }
    expect(.invalidBound) { () throws(TreeQueryError) in
      try all.ordered(by: .value).ending(at: .double(.nan))
    }
    expect(.invalidBound) { () throws(TreeQueryError) in
      try all.ordered(by: .value).ending(at: .serverValue(.timestamp))
    }
    for path in ["$key", "$priority", "$value", ".key"] {
      expect(.reservedChildPath(path)) { () throws(TreeQueryError) in
        try all.ordered(byChild: path)
      }
    }
    expect(.emptyChildPath) { () throws(TreeQueryError) in try all.ordered(byChild: "/") }
    expect(.tree(.invalidKey("a.b"))) { () throws(TreeQueryError) in
      try all.ordered(byChild: "x/a.b")
    }
  }

  @Test("classes of queries")
  func classes() throws {
    #expect(TreeQuery.all.isDefault)
    #expect(try TreeQuery.all.ordered(by: .priority) == .all)
    let byKey = try TreeQuery.all.ordered(by: .key)
    #expect(!byKey.isDefault && byKey.loadsAllData && byKey.normalized == .all)
    let filtered = try byKey.first(3)
    #expect(!filtered.loadsAllData && filtered.normalized == filtered)
    #expect(TreeQuery.all.id == "default")
    #expect(filtered.id == #"{"i":".key","l":3,"vf":"l"}"#)
  }

  static func wire() throws -> [(String, TreeQuery)] {
    let all = TreeQuery.all
    return [
      (
        #"{"i":"ts","sp":100,"sin":true,"l":3,"vf":"r"}"#,
        try all.ordered(byChild: "ts").starting(at: 100).last(3)
      ),
      (
        #"{"i":".key","sp":"b","sin":true,"ep":"d","ein":true}"#,
        try all.ordered(by: .key).starting(at: "b").ending(at: "d")
      ),
      (#"{"sp":5,"sn":"[MAX_NAME]","sin":false}"#, try all.starting(after: 5)),
      (#"{"sp":5,"sn":"[MAX_NAME]"}"#, try all.starting(after: 5)),
      (#"{"ep":5,"en":"[MIN_NAME]"}"#, try all.ending(before: 5)),
      (
        #"{"sp":5,"sn":"k","sin":false}"#,
        try all.starting(after: 5, key: TreeKey(unchecked: "k"))
      ),
      (#"{"sp":5,"sn":"k"}"#, try all.starting(at: 5, key: TreeKey(unchecked: "k"))),
      (#"{"sp":null,"ep":null}"#, try all.equal(to: nil)),
      (#"{"i":".value","ep":true}"#, try all.ordered(by: .value).ending(at: true)),
      (#"{"l":2}"#, try all.last(2)),
      (#"{"l":2,"sp":1}"#, try all.starting(at: 1).first(2)),
      (#"{"vf":"l"}"#, all),
      (#"{"i":"a/b","l":1,"vf":"l"}"#, try all.ordered(byChild: "a/b").first(1)),
      ("{}", all),
    ]
  }

  @Test("both generations of wire objects are read, and written so that they read the same")
  func wireObjects() throws {
    for (json, query) in try TreeQueryTests.wire() {
      let read = try TreeQuery(wire: JSONValue(parsing: json))
      #expect(read == query, "\(json)")
      var writer = JSONWriter()
      query.write(to: &writer)
      #expect(try TreeQuery(wire: JSONValue(parsing: writer.bytes)) == query)
    }
  }

  @Test(
    "wire objects that are no query",
    arguments: [#"{"l":0}"#, #"{"l":"2"}"#, #"{"l":1.5}"#, #"{"sp":{}}"#, #"{"i":"a.b"}"#])
  func badWire(json: String) throws {
    let value = try JSONValue(parsing: json)
    #expect(throws: TreeQueryError.self) { try TreeQuery(wire: value) }
  }
}
