import Foundation

// Checks the repository against its own rules; prints one line a finding and exits 1 if there
// is any. `--no-format` leaves the formatter out, which is most of the time it takes.

let root = FileManager.default.currentDirectoryPath
do {
  let repository = try Repository(root: root)
  var findings = repository.findings(try Manifest.load(in: root))
  if !CommandLine.arguments.contains("--no-format") {
    findings += try repository.formatFindings()
  }
  for finding in findings { print(finding) }
  let modules = repository.files.filter { $0.area == "Modules" }
  print(
    """
    tidy: \(repository.files.count) files; median in Modules \
    \(LengthRules.median(of: modules)) lines over \(modules.count) files; \
    \(findings.count) findings
    """)
  exit(findings.isEmpty ? 0 : 1)
} catch {
  FileHandle.standardError.write(Data("tidy: \(error)\n".utf8))
  exit(2)
}
