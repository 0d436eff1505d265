import TernCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The settings of the database emulator in a project's `firebase.json`.
///
/// `tern serve --dev` in the folder of a project stands where `firebase emulators:start` would:
/// the same rules, at the same address. Everything else in the file is for other programs.
struct FirebaseProject: Equatable {
  static let usualFile = "firebase.json"

  /// The rules file of the tree, as the project names it: from its folder.
  var rules: String?
  /// The rules files of the documents; `nil` when it names none.
  var documentRules: DocumentRulesFiles?
  /// The files that declare the indexes of documents, by the ids of their databases; `nil` stands
  /// for all others.
  var documentIndexes: [String?: String] = [:]
  var host: String?
  var port: Int?

  /// Creates the settings of a project that has none.
  init() {}

  /// Reads the text of the file.
  ///
  /// - Throws: ``Failure`` when it is no JSON, or says something else than it should.
  init(_ text: [UInt8], named name: String = usualFile) throws {
    let json = try json(text, name)
    switch json["database"] {
    case nil: break
    // With several databases the first one's rules are those of the server.
    case .array(let all): rules = all.first?["rules"]?.text
    case .some(let one): rules = one["rules"]?.text
    }
    documentRules = Self.documentRules(json["firestore"])
    documentIndexes = Self.documentIndexes(json["firestore"])
    // Both models are served at one address.
    let emulated = ["database", "firestore"].first { json["emulators"]?[$0] != nil } ?? "database"
    let emulator = json["emulators"]?[emulated]
    host = emulator?["host"]?.text
    port = try emulator?["port"].map { value in
      guard let port = value.integer, (0...65_535).contains(port) else {
        throw Failure(.usage, "\(name): emulators.\(emulated).port must be a port's number")
      }
      return Int(port)
    }
  }

  /// The files that `firestore` names: one for every database, or a list with one for each.
  private static func documentRules(_ json: JSONValue?) -> DocumentRulesFiles? {
    switch json {
    case .object?:
      guard let path = json?["rules"]?.text else { return nil }
      return DocumentRulesFiles(common: path)
    case .array(let entries)?:
      var files = DocumentRulesFiles()
      for entry in entries {
        guard let path = entry["rules"]?.text else { continue }
        files.byDatabase[entry["database"]?.text ?? DocumentDatabase.defaultID] = path
      }
      return files.byDatabase.isEmpty ? nil : files
    default: return nil
    }
  }

  private static func documentIndexes(_ json: JSONValue?) -> [String?: String] {
    switch json {
    case .object?: return json?["indexes"]?.text.map { [nil: $0] } ?? [:]
    case .array(let entries)?:
      var files: [String?: String] = [:]
      for entry in entries {
        guard let path = entry["indexes"]?.text else { continue }
        files[entry["database"]?.text ?? DocumentDatabase.defaultID] = path
      }
      return files
    default: return [:]
    }
  }

  /// Returns true when a file is the settings of a project rather than rules, by its name.
  static func isOne(_ path: String) -> Bool {
    path == usualFile || path.hasSuffix("/" + usualFile)
  }

  /// Reads the settings of a project in any folder; its files are then named from here.
  init(at path: String) throws {
    try self.init(try fileBytes(at: path), named: path)
    let folder = String(path.dropLast(Self.usualFile.count))
    let place = { (file: String) in file.hasPrefix("/") ? file : folder + file }
    rules = rules.map(place)
    documentIndexes = documentIndexes.mapValues(place)
    documentRules = documentRules.map { files in
      DocumentRulesFiles(
        common: files.common.map(place), byDatabase: files.byDatabase.mapValues(place))
    }
  }

  /// Reads the settings of the project in this folder; empty if there is none.
  static func here() throws -> FirebaseProject {
    guard let data = FileManager.default.contents(atPath: usualFile) else {
      return FirebaseProject()
    }
    return try FirebaseProject(Array(data))
  }
}
