import Foundation
import TernSpecReplay

// tern-spec tree [FILE]: replays recorded scenarios and prints a line per case.

let arguments = CommandLine.arguments.dropFirst()

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data((message + "\n").utf8))
  exit(2)
}

guard arguments.first == "tree" else {
  fail("usage: tern-spec tree [FILE]; without FILE, tree/sync-points.json in TERN_SPEC is read")
}
let file =
  arguments.dropFirst().first
  ?? ProcessInfo.processInfo.environment["TERN_SPEC"].map { $0 + "/tree/sync-points.json" }
guard let file else { fail("name a file, or the folder of recordings in TERN_SPEC") }
guard let contents = FileManager.default.contents(atPath: file) else { fail("cannot read \(file)") }

do {
  let report = try TreeSpec.replay([UInt8](contents))
  for entry in report.entries { print(entry.line) }
  print(report.summary)
  exit(report.failedCount == 0 ? 0 : 1)
} catch {
  fail("\(file): \(error)")
}
