import Foundation
import TernCore

/// What `firebase.json` of a project says about the emulator of its database.
///
/// `tern serve --dev` in the folder of a project stands where `firebase emulators:start` would:
/// the same rules, at the same address. Everything else in the file is for other programs.
struct FirebaseProject: Equatable {
  static let usualFile = "firebase.json"

  /// The rules file, as the project names it: from its folder.
  var rules: String?
  var host: String?
  var port: Int?

  /// What a project says that says nothing.
  init() {}

  /// Reads the text of the file.
  ///
  /// - Throws: ``Failure`` when it is no JSON, or says something else than it should.
  init(_ text: [UInt8], named name: String = usualFile) throws {
    let json: JSONValue
    do throws(JSONError) { json = try JSONValue(parsing: text) } catch {
      throw Failure(.usage, "\(name): not JSON at \(error)")
    }
    switch json["database"] {
    case nil: break
    // With several databases the first one's rules are those of the server.
    case .array(let all): rules = all.first?["rules"]?.text
    case .some(let one): rules = one["rules"]?.text
    }
    let emulator = json["emulators"]?["database"]
    host = emulator?["host"]?.text
    port = try emulator?["port"].map { value in
      guard let port = value.integer, (0...65_535).contains(port) else {
        throw Failure(.usage, "\(name): emulators.database.port must be a port's number")
      }
      return Int(port)
    }
  }

  /// What the project in this folder says; nothing if there is none.
  static func here() throws -> FirebaseProject {
    guard let data = FileManager.default.contents(atPath: usualFile) else {
      return FirebaseProject()
    }
    return try FirebaseProject(Array(data))
  }
}
