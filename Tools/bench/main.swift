import Foundation

// Measures, and prints one line a result. `tern-bench` runs every section, `tern-bench NAME …`
// those that are named. Build it with `-c release`; on a busy machine read only the ratios.

let arguments = Array(CommandLine.arguments.dropFirst())
var sections: [(name: String, run: () async throws -> Void)] = []

#if TCP
  if arguments == ["fan-out-relay"] {
    try await FanOutRelay.serve()
    exit(0)
  }
  sections.append(("fan-out", { try await FanOut.run() }))
  sections.append(("idle-links", { try await IdleLinks.run() }))
#endif

let unknown = arguments.filter { name in !sections.contains { $0.name == name } }
guard unknown.isEmpty else {
  let known = sections.map(\.name).joined(separator: ", ")
  FileHandle.standardError.write(
    Data("tern-bench: no section \(unknown.joined(separator: ", ")); there are \(known)\n".utf8))
  exit(2)
}
for section in sections where arguments.isEmpty || arguments.contains(section.name) {
  try await section.run()
}
