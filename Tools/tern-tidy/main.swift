import Foundation

// Checks the repository against its own rules; prints one line a finding and exits 1 if there
// is any beyond those known in Tools/tidy.known.
//
//   --no-format  leaves the formatter out
//   --prose      lists every finding about prose, known ones too, and their shares
//   --figures    prints the measures of the code base
//   --known      lists the known findings, too
//   --lower      lowers the figures of Tools/tidy.known to the present ones

let root = FileManager.default.currentDirectoryPath
let options = Set(CommandLine.arguments.dropFirst())
let ratchetFile = URL(fileURLWithPath: root).appending(path: Ratchet.path)

func report(_ repository: Repository, _ all: [Finding], _ ratchet: Ratchet) throws -> Int32 {
  let format =
    options.contains("--no-format") ? [] : try Formatter(repository: repository).findings()
  let (failing, known) = ratchet.apply(to: all, changed: repository.changedFiles())
  let shown = (options.contains("--known") ? all : failing) + format
  for finding in shown { print(finding) }
  let modules = repository.files.filter { $0.area == "Modules" }
  print(
    """
    tidy: \(repository.files.count) files; median in Modules \
    \(LengthRules.median(of: modules)) lines over \(modules.count) files; \
    \(failing.count + format.count) findings, \(known) known
    """)
  return failing.isEmpty && format.isEmpty ? 0 : 1
}

do {
  let allowed: Set = ["--no-format", "--prose", "--figures", "--known", "--lower"]
  if let unknown = options.subtracting(allowed).first {
    throw Command.Failure(
      description: "\(unknown): none of \(allowed.sorted().joined(separator: " "))")
  }
  let repository = try await Repository(root: root)
  let manifest = try Manifest.load(in: root)
  let findings = await repository.findings(manifest)
  let ratchet = try Ratchet(String(contentsOf: ratchetFile, encoding: .utf8))
  let figures = Figures(files: repository.files, manifest: manifest, findings: findings)
  if options.contains("--prose") {
    for finding in findings where finding.rule.hasPrefix("prose") { print(finding) }
    print(figures.prose)
  } else if options.contains("--figures") {
    print(figures.text)
  } else {
    if options.contains("--lower") {
      try ratchet.lowered(to: findings).text
        .write(to: ratchetFile, atomically: true, encoding: .utf8)
    }
    exit(try report(repository, findings, ratchet))
  }
} catch {
  FileHandle.standardError.write(Data("tidy: \(error)\n".utf8))
  exit(2)
}
