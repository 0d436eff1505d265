import Foundation
import TernSpecReplay
import TernSpecServed

// tern-spec tree [FILE], tern-spec rules [FILE], tern-spec documents [DIR] [--storage KIND],
// tern-spec firestore [DIR] [GROUP ...]: replays recordings, one line per case.

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data((message + "\n").utf8))
  exit(2)
}

let usage = """
  usage: tern-spec tree|rules [FILE]
         tern-spec documents [DIR] [--storage memory|sqlite|lmdb]
         tern-spec firestore [DIR [GROUP ...]]
  without FILE or DIR, those in TERN_SPEC are read
  """

let recordings = ProcessInfo.processInfo.environment["TERN_SPEC"]
var arguments = Array(CommandLine.arguments.dropFirst())
var storage = SpecStorage.memory
if let index = arguments.firstIndex(of: "--storage") {
  let name = index + 1 < arguments.count ? arguments[index + 1] : ""
  guard let named = SpecStorage.all.first(where: { $0.name == name }) else { fail(usage) }
  storage = named
  arguments.removeSubrange(index...index + 1)
}

if arguments.first == "firestore" {
  let folder = arguments.dropFirst().first ?? recordings.map { $0 + "/firestore" }
  guard let folder else { fail("name the folder of recordings, or set TERN_SPEC") }
  var entries: [SpecReport.Entry] = []
  do {
    try await FirestoreSpec.replay(
      FirestoreRecordings(path: folder), groups: Array(arguments.dropFirst(2)),
      served: [RESTGroup.self]
    ) { name, report in
      for entry in report.entries { print(entry.line) }
      print("\(name): \(report.summary)")
      entries += report.entries
    }
  } catch {
    fail("\(error)")
  }
  let report = SpecReport(entries)
  print(report.summary)
  exit(report.failedCount == 0 ? 0 : 1)
}

let replay: ([UInt8]) throws -> SpecReport
let usual: String
switch arguments.first {
case "tree": (replay, usual) = (TreeSpec.replay, "/tree/sync-points.json")
case "rules": (replay, usual) = (RulesSpec.replay, "/rules/expressions.json")
case "documents":
  (replay, usual) = ({ [storage] in try DocumentSpec.replay($0, on: storage) }, "/documents")
default: fail(usage)
}
let place =
  arguments.dropFirst().first ?? recordings.map { $0 + usual }
guard let place else { fail("name a file, or the folder of recordings in TERN_SPEC") }

/// The file itself, or every recording in a folder.
func files(at place: String) -> [String] {
  guard let names = try? FileManager.default.contentsOfDirectory(atPath: place) else {
    return [place]
  }
  return names.filter { $0.hasSuffix(".json") }.sorted().map { place + "/" + $0 }
}

var entries: [SpecReport.Entry] = []
for file in files(at: place) {
  guard let contents = FileManager.default.contents(atPath: file) else {
    fail("cannot read \(file)")
  }
  do {
    let report = try replay([UInt8](contents))
    for entry in report.entries { print(entry.line) }
    entries += report.entries
  } catch {
    fail("\(file): \(error)")
  }
}
let report = SpecReport(entries)
print(report.summary)
exit(report.failedCount == 0 ? 0 : 1)
