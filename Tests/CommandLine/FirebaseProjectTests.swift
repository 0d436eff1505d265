import Testing

@testable import tern

@Suite("firebase.json") struct FirebaseProjectTests {
  @Test(
    "what it says about the database is taken, and nothing else",
    arguments: [
      ("{}", nil, nil, nil),
      (#"{"database": {"rules": "r.json"}}"#, "r.json", nil, nil),
      (#"{"database": [{"rules": "a.json"}, {"rules": "b.json"}]}"#, "a.json", nil, nil),
      (#"{"emulators": {"database": {"port": 9100}}}"#, nil, nil, 9_100),
      (
        #"{"emulators": {"auth": {"port": 1}, "database": {"host": "::1", "port": 0}}}"#, nil,
        "::1", 0
      ),
    ] as [(String, String?, String?, Int?)])
  func said(text: String, rules: String?, host: String?, port: Int?) throws {
    let project = try FirebaseProject(Array(text.utf8))
    #expect(project.rules == rules)
    #expect(project.host == host)
    #expect(project.port == port)
  }

  @Test(
    "what cannot be meant is refused",
    arguments: [
      "", "{", #"{"emulators": {"database": {"port": 65536}}}"#,
      #"{"emulators": {"database": {"port": "9000"}}}"#,
      #"{"emulators": {"database": {"port": -1}}}"#,
    ])
  func refused(text: String) {
    #expect(throws: Failure.self) { try FirebaseProject(Array(text.utf8)) }
  }
}
