/// The imports that the manifest and its layers allow.
struct ImportRules: Sendable {
  /// Modules that know no value and no query.
  static let floor: Set = [
    "TernStorage", "TernStorageMemory", "TernStorageSQLite", "TernStorageLMDB",
    "TernTransport", "TernTransportLoopback", "TernTransportTCP", "TernTransportWebSocket",
    "TernSync", "TernLedger", "TernTransactions", "TernPresence",
  ]
  /// Modules that do no input or output.
  static let meaning: Set = [
    "TernCore", "TernQuery", "TernSecurity", "TernTokens", "TernTreeWire", "TernDocumentWire",
  ]
  /// Come with the language and may be imported anywhere.
  private static let language: Set = [
    "Swift", "Synchronization", "_Concurrency", "Observation", "Testing", "SwiftUI",
  ]
  /// The system's own library, for those who touch files, sockets or threads.
  private static let system: Set = ["Glibc", "Musl", "Darwin", "Android", "WinSDK", "Dispatch"]
  private static let foundation: Set = [
    "Foundation", "FoundationEssentials", "FoundationNetworking",
  ]
  /// The modules that bring ICU.
  private static let wholeFoundation: Set = [
    "Foundation", "FoundationInternationalization", "FoundationNetworking", "FoundationXML",
  ]
  /// The modules at the edge that may use Foundation.
  private static let foundationUsers: Set = [
    "TernFirebaseCompat", "TernAssembly", "TernServerAssembly", "TernStandard",
    "TernClient", "TernKit", "FirebaseCore",
  ]
  /// The program that is given to others without a toolchain: all of Foundation would bring the
  /// data of ICU, which are larger than the rest.
  private static let packagedProgram = "tern"
  /// Modules that decide and never act. `TernTokens` hands signatures to a package that needs both.
  private static let pure: Set = meaning.union([
    "TernTreeRows", "TernTreeReplica", "TernTreeAuthority", "TernDocumentReplica",
    "TernDocumentAuthority",
  ])

  let manifest: Manifest

  /// The declarations of the manifest that point upwards or across the columns.
  func checkManifest() -> [Finding] {
    var above = Set(manifest.targets.map(\.name))
    var findings: [Finding] = []
    for target in manifest.targets {
      for dependency in target.dependencies where above.contains(dependency) {
        findings.append(finding(target, "\(dependency) is not in a lower layer"))
      }
      above.remove(target.name)
      for (module, way) in manifest.reach(of: target.name) {
        if let reason = Self.divide(target.name, module, way) {
          findings.append(finding(target, reason))
        }
      }
    }
    return findings
  }

  /// Dependencies that a target declares and none of its files imports.
  func checkUse(of files: [SourceFile]) -> [Finding] {
    var imports: [String: Set<String>] = [:]
    for file in files {
      guard let target = manifest.target(of: file.path) else { continue }
      imports[target.name, default: []].formUnion(file.code.compactMap(Self.importedModule))
    }
    return manifest.targets.flatMap { target -> [Finding] in
      // A target of C has no imports to compare.
      guard let used = imports[target.name] else { return [] }
      return target.dependencies.compactMap { dependency in
        // Tests depend on a program to have it built; they run it as a process.
        guard manifest.target(named: dependency)?.isProgram != true,
          !used.contains(Manifest.moduleName(dependency))
        else { return nil }
        return Finding(
          file: "Package.swift", line: 0, rule: "unused-dependency",
          message: "\(target.name) declares \(dependency) and never imports it",
          subject: "\(target.name)->\(dependency)")
      }
    }
  }

  /// Library products whose targets declare nothing public.
  func checkProducts(_ files: [SourceFile]) -> [Finding] {
    var publishers: Set<String> = []
    for file in files {
      guard let target = manifest.target(of: file.path) else { continue }
      // A module that only passes another one on has a public face, too.
      if file.outline.declarations.contains(where: \.isPublic)
        || file.code.contains(where: { $0.contains("@_exported") })
      {
        publishers.insert(target.name)
      }
    }
    return manifest.libraries.filter { publishers.isDisjoint(with: $0.targets) }.map {
      Finding(
        file: "Package.swift", line: 0, rule: "product",
        message: "the library \($0.name) has no public declaration: make it no product",
        subject: $0.name)
    }
  }

  /// The imports of one file beyond those that its target declares.
  func check(_ file: SourceFile) -> [Finding] {
    guard let target = manifest.target(of: file.path) else {
      return file.area == "Package.swift"
        ? [] : [Finding(file: file.path, line: 0, rule: "import", message: "in no target")]
    }
    let isPackaged = packagedTargets.contains(target.name)
    var conditions = ConditionStack()
    return file.code.enumerated().compactMap { index, line in
      conditions.read(line)
      guard let module = Self.importedModule(line) else { return nil }
      var reason = complaint(about: module, in: target, area: file.area)
      if reason == nil, isPackaged, Self.wholeFoundation.contains(module),
        !conditions.excludes("FoundationEssentials")
      {
        reason =
          "\(target.name) is part of \(Self.packagedProgram): \(module) only where "
          + "FoundationEssentials cannot be imported"
      }
      return reason.map { Finding(file: file.path, line: index + 1, rule: "import", message: $0) }
    }
  }

  /// The packaged program and every target that it reaches.
  private var packagedTargets: Set<String> {
    guard manifest.target(named: Self.packagedProgram)?.isProgram == true else { return [] }
    return Set(manifest.reach(of: Self.packagedProgram).map(\.module) + [Self.packagedProgram])
  }

  /// The module named by an import declaration.
  static func importedModule(_ line: String) -> String? {
    guard line.contains("import ") else { return nil }
    let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
    guard let keyword = words.firstIndex(of: "import"), keyword + 1 < words.count,
      words[..<keyword].allSatisfy({ $0.hasPrefix("@") || accessLevels.contains($0) })
    else { return nil }
    let kinds: Set<Substring> = [
      "struct", "class", "enum", "protocol", "func", "var", "let", "typealias",
    ]
    let name = words[(keyword + 1)...].first { !kinds.contains($0) }
    return name.map { String($0.prefix { $0 != "." && $0 != ";" }) }
  }

  private static let accessLevels: Set<Substring> = [
    "public", "package", "internal", "fileprivate", "private",
  ]

  private func complaint(
    about module: String, in target: Manifest.Target, area: Substring
  ) -> String? {
    if Self.language.contains(module) { return nil }
    if Self.system.contains(module) {
      return Self.pure.contains(target.name) ? "\(target.name) decides, it imports no system" : nil
    }
    if Self.foundation.contains(module) {
      return area != "Modules" || Self.foundationUsers.contains(target.name)
        ? nil : "\(target.name) does without Foundation"
    }
    if let reason = Self.divide(target.name, module, []) { return reason }
    let declared = target.dependencies.map(Manifest.moduleName)
    return declared.contains(module)
      ? nil : "\(target.name) imports \(module) and does not declare it in Package.swift"
  }

  /// The two columns of the design that must not see each other, not through modules in between.
  private static func divide(_ target: String, _ module: String, _ way: [String]) -> String? {
    let through = way.isEmpty ? "" : " (through \(way.joined(separator: ", ")))"
    if floor.contains(target), meaning.contains(module) {
      return "\(target) is floor: it knows no value, and so not \(module)\(through)"
    }
    if meaning.contains(target), floor.contains(module) {
      return "\(target) is meaning: it does no I/O, and so not \(module)\(through)"
    }
    return nil
  }

  private func finding(_ target: Manifest.Target, _ message: String) -> Finding {
    Finding(file: "Package.swift", line: 0, rule: "layer", message: "\(target.name): \(message)")
  }
}
