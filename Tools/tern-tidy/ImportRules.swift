/// Who may import whom: the manifest, and the layers behind it.
struct ImportRules {
  /// Modules that know no value and no query.
  static let floor: Set = [
    "TernStorage", "TernStorageMemory", "TernStorageSQLite", "TernStorageLMDB",
    "TernTransport", "TernTransportLoopback", "TernTransportTCP", "TernSync", "TernLedger",
    "TernTransactions", "TernPresence",
  ]
  /// Modules that do no input or output.
  static let meaning: Set = [
    "TernCore", "TernQuery", "TernSecurity", "TernTreeWire", "TernDocumentWire",
  ]
  /// Come with the language and may be imported anywhere.
  private static let language: Set = ["Swift", "Synchronization", "_Concurrency", "Testing"]
  /// The system's own library, for those who touch files, sockets or threads.
  private static let system: Set = ["Glibc", "Musl", "Darwin", "Android", "WinSDK", "Dispatch"]
  private static let foundation: Set = [
    "Foundation", "FoundationEssentials", "FoundationNetworking",
  ]
  /// The modules at the edge that may use Foundation.
  private static let foundationUsers: Set = [
    "TernFirebaseCompat", "TernAssembly", "TernStandard",
  ]
  /// Modules that decide and never act.
  private static let pure: Set = meaning.union(["TernTreeEngine", "TernDocumentEngine"])

  let manifest: Manifest

  /// What the manifest itself declares against the layers.
  func checkManifest() -> [Finding] {
    var above = Set(manifest.targets.map(\.name))
    var findings: [Finding] = []
    for target in manifest.targets {
      for dependency in target.dependencies where above.contains(dependency) {
        findings.append(finding(target, "\(dependency) is not in a lower layer"))
      }
      above.remove(target.name)
      for dependency in target.dependencies {
        if let reason = Self.divide(target.name, dependency) {
          findings.append(finding(target, reason))
        }
      }
    }
    return findings
  }

  /// What one file imports beyond what its target declares.
  func check(_ file: SourceFile) -> [Finding] {
    guard let target = manifest.target(of: file.path) else {
      return file.area == "Package.swift"
        ? [] : [Finding(file: file.path, line: 0, rule: "import", message: "in no target")]
    }
    return file.code.enumerated().compactMap { index, line in
      guard let module = Self.importedModule(line),
        let reason = complaint(about: module, in: target, area: file.area)
      else { return nil }
      return Finding(file: file.path, line: index + 1, rule: "import", message: reason)
    }
  }

  /// The module named by an import declaration.
  static func importedModule(_ line: String) -> Substring? {
    let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
    guard let keyword = words.firstIndex(of: "import"), keyword + 1 < words.count,
      words[..<keyword].allSatisfy({ $0.hasPrefix("@") || accessLevels.contains($0) })
    else { return nil }
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let"]
    let name = words[(keyword + 1)...].first { !kinds.contains($0) }
    return name?.prefix { $0 != "." && $0 != ";" }
  }

  private static let accessLevels: Set<Substring> = [
    "public", "package", "internal", "fileprivate", "private",
  ]

  private func complaint(
    about module: Substring, in target: Manifest.Target, area: Substring
  ) -> String? {
    let module = String(module)
    if Self.language.contains(module) { return nil }
    if Self.system.contains(module) {
      return Self.pure.contains(target.name) ? "\(target.name) decides, it imports no system" : nil
    }
    if Self.foundation.contains(module) {
      return area != "Modules" || Self.foundationUsers.contains(target.name)
        ? nil : "\(target.name) does without Foundation"
    }
    if let reason = Self.divide(target.name, module) { return reason }
    let declared = target.dependencies.map(Manifest.moduleName)
    return declared.contains(module)
      ? nil : "\(target.name) imports \(module) and does not declare it in Package.swift"
  }

  /// The two columns of the design that must not see each other.
  private static func divide(_ target: String, _ dependency: String) -> String? {
    if floor.contains(target), meaning.contains(dependency) {
      return "\(target) is floor: it knows no value, and so not \(dependency)"
    }
    if meaning.contains(target), floor.contains(dependency) {
      return "\(target) is meaning: it does no I/O, and so not \(dependency)"
    }
    return nil
  }

  private func finding(_ target: Manifest.Target, _ message: String) -> Finding {
    Finding(file: "Package.swift", line: 0, rule: "layer", message: "\(target.name): \(message)")
  }
}
