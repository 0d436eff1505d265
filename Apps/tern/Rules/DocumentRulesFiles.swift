import Logging
import TernSecurity

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The files with rules for documents that a server follows: one for all databases, or one each.
struct DocumentRulesFiles: Equatable, Sendable {
  /// The rules file that is read when none is named, if it is there.
  static let usualFile = "firestore.rules"

  /// The file for databases without one of their own; `nil` denies everything there.
  var common: String?
  /// The files of single databases, by their ids.
  var byDatabase: [String: String] = [:]

  /// All paths, in a fixed order.
  var paths: [String] {
    Swift.Set([common].compactMap { $0 } + byDatabase.values).sorted()
  }

  /// The files in words.
  var text: String { paths.joined(separator: ", ") }

  /// The files of a server: those asked for, else those of the project, else the usual one.
  ///
  /// - Parameters:
  ///   - path: A rules file, or a `firebase.json` that names them; `nil` when none was asked for.
  ///   - project: What the project of a development server says.
  /// - Returns: `nil` when there is none.
  static func find(_ path: String?, _ project: FirebaseProject) throws -> DocumentRulesFiles? {
    if let path {
      guard FirebaseProject.isOne(path) else { return DocumentRulesFiles(common: path) }
      let named = try FirebaseProject(at: path).documentRules
      guard let named else {
        throw Failure(.usage, "\(path) names no rules for documents: \"firestore\" is missing")
      }
      return named
    }
    if let files = project.documentRules { return files }
    guard FileManager.default.fileExists(atPath: usualFile) else { return nil }
    return DocumentRulesFiles(common: usualFile)
  }

  /// Compiles all files; every problem in one is one line of the failure.
  func load() throws -> DocumentRulesSet {
    DocumentRulesSet(
      common: try common.map(Self.rules(at:)), byDatabase: try byDatabase.mapValues(Self.rules(at:))
    )
  }

  /// Reads a file with rules.
  ///
  /// An empty one would allow nothing; a file that is being written, or was cut off, is meant
  /// otherwise.
  private static func source(at path: String) throws(Failure) -> [UInt8] {
    let source = try fileBytes(at: path)
    if source.contains(where: { $0 > 0x20 }) { return source }
    throw Failure(
      .usage, "\(path) is empty; rules that deny everything are: service cloud.firestore { }")
  }

  private static func rules(at path: String) throws -> DocumentRules {
    let source = try Self.source(at: path)
    do throws(DocumentRulesError) { return try DocumentRules(source: source) } catch {
      throw Failure(
        .usage, error.problems.map { "\(path):\($0)" }.joined(separator: "\n"))
    }
  }
}

/// The lines of the operator's log about denials of access to documents.
struct DocumentDenialNews: Sendable {
  /// Tells every denial; otherwise a sample.
  let showsAll: Bool
  /// Keeps the latest denials for the status.
  var recent = DenialRing()

  var onDenial: @Sendable (DocumentDenial) -> Void {
    { [recent] denial in
      recent.add(denial.id, denial.description)
      OperatorLog.tell(denial.description, .info, DenialRing.metadata(denial.id))
    }
  }

  var onOmitted: (@Sendable (OmittedDenials) -> Void)? {
    DenialNews(showsAll: showsAll).onOmitted
  }
}
