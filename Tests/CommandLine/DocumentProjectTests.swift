import Foundation
import Testing

@testable import tern

@Suite("firebase.json about documents") struct DocumentProjectTests {
  private func project(_ text: String) throws -> FirebaseProject {
    try FirebaseProject(Array(text.utf8))
  }

  @Test(
    "rules and indexes are of every database, or of those that are named",
    arguments: [
      ("{}", nil, [:], [:]), (#"{"firestore": {"rules": "r"}}"#, "r", [:], [:]),
      (#"{"firestore": {"indexes": "i"}}"#, nil, [:], [nil: "i"]),
      (#"{"firestore": {"rules": "r", "indexes": "i"}}"#, "r", [:], [nil: "i"]),
      (
        #"{"firestore": [{"rules": "a"}, {"database": "d", "rules": "b", "indexes": "j"}]}"#, nil,
        ["(default)": "a", "d": "b"], ["d": "j"]
      ),
      (#"{"firestore": [{"database": "d"}]}"#, nil, [:], [:]),
      (#"{"firestore": []}"#, nil, [:], [:]),
      (#"{"firestore": 1}"#, nil, [:], [:]), (#"{"firestore": {"rules": 1}}"#, nil, [:], [:]),
    ] as [(String, String?, [String: String], [String?: String])])
  func files(
    text: String, common: String?, rules: [String: String], indexes: [String?: String]
  ) throws {
    let project = try project(text)
    #expect(project.documentRules?.common == common)
    #expect(project.documentRules?.byDatabase ?? [:] == rules)
    #expect((project.documentRules == nil) == (common == nil && rules.isEmpty))
    #expect(project.documentIndexes == indexes)
  }

  @Test("the address is the database's, else that of documents")
  func addresses() throws {
    let both = #"{"emulators": {"firestore": {"port": 8080}, "database": {"port": 9000}}}"#
    #expect(try project(both).port == 9_000)
    let one = try project(#"{"emulators": {"firestore": {"port": 8080, "host": "h"}}}"#)
    #expect(one.port == 8_080 && one.host == "h")
    #expect(
      failure { try project(#"{"emulators": {"firestore": {"port": 65536}}}"#) }?.message
        == "firebase.json: emulators.firestore.port must be a port's number")
  }

  @Test("the files of a project elsewhere are named from here")
  func elsewhere() throws {
    let folder = NSTemporaryDirectory() + "tern-project-\(UUID().uuidString)/"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let text = #"""
      {"database": {"rules": "d.json"}, "firestore": [{"rules": "/abs", "indexes": "sub/i"}]}
      """#
    try Data(text.utf8).write(to: URL(filePath: folder + "firebase.json"))
    let project = try FirebaseProject(at: folder + "firebase.json")
    #expect(project.rules == folder + "d.json")
    #expect(project.documentRules?.byDatabase == ["(default)": "/abs"])
    #expect(project.documentIndexes == ["(default)": folder + "sub/i"])
    let files = try DocumentRulesFiles.find(folder + "firebase.json", FirebaseProject())
    #expect(files?.paths == ["/abs"])
  }

  @Test("a file is a project's by its name")
  func names() {
    for path in ["firebase.json", "a/firebase.json", "/firebase.json"] {
      #expect(FirebaseProject.isOne(path))
    }
    for path in ["", "myfirebase.json", "firebase.json/x", "Firebase.json", "firestore.rules"] {
      #expect(!FirebaseProject.isOne(path))
    }
  }

  @Test("what was asked for goes before what a project names")
  func finding() throws {
    var project = FirebaseProject()
    project.documentRules = DocumentRulesFiles(common: "p", byDatabase: ["b": "q", "a": "p"])
    #expect(
      try DocumentRulesFiles.find("x.rules", project) == DocumentRulesFiles(common: "x.rules"))
    let found = try DocumentRulesFiles.find(nil, project)
    #expect(found?.paths == ["p", "q"] && found?.text == "p, q")
  }

  @Test("every mistake of every file is a line that names it")
  func loading() throws {
    let folder = NSTemporaryDirectory() + "tern-rules-\(UUID().uuidString)/"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "firestore.rules"
    try Data("service cloud.firestore { match /a { allow read: if ; } }".utf8)
      .write(to: URL(filePath: path))
    let failure = failure { try DocumentRulesFiles(common: path).load() }
    #expect(failure?.code == .usage)
    let lines = failure?.message.split(separator: "\n") ?? []
    #expect(!lines.isEmpty && lines.allSatisfy { $0.hasPrefix("\(path):") }, "\(lines)")
  }
}
