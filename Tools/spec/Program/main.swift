import Foundation
import TernSpecReplay

// tern-spec tree [FILE], tern-spec rules [FILE]: replays recordings, one line per case.

let arguments = Array(CommandLine.arguments.dropFirst())

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data((message + "\n").utf8))
  exit(2)
}

let replay: ([UInt8]) throws -> SpecReport
let usual: String
switch arguments.first {
case "tree": (replay, usual) = (TreeSpec.replay, "/tree/sync-points.json")
case "rules": (replay, usual) = (RulesSpec.replay, "/rules/expressions.json")
default: fail("usage: tern-spec tree|rules [FILE]; without FILE, the one in TERN_SPEC is read")
}
let file =
  arguments.dropFirst().first ?? ProcessInfo.processInfo.environment["TERN_SPEC"].map { $0 + usual }
guard let file else { fail("name a file, or the folder of recordings in TERN_SPEC") }
guard let contents = FileManager.default.contents(atPath: file) else { fail("cannot read \(file)") }

do {
  let report = try replay([UInt8](contents))
  for entry in report.entries { print(entry.line) }
  print(report.summary)
  exit(report.failedCount == 0 ? 0 : 1)
} catch {
  fail("\(file): \(error)")
}
