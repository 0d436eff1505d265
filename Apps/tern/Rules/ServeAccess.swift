import Logging
import TernSecurity

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The access rules of a server that `tern serve` runs.
struct ServeAccess: Sendable {
  /// The rules file that is read when none is named, if it is there.
  static let usualFile = "database.rules.json"

  /// Decides about trees.
  let authorizer: any Authorizer
  /// Decides about documents.
  let documentAuthorizer: any DocumentAuthorizer
  /// The rules file.
  let file: String?
  /// The rules files for documents.
  let documentFiles: DocumentRulesFiles?
  /// The access, in a sentence.
  let text: String
  /// True when any client on this machine may do anything.
  let isOpen: Bool
  /// The latest denials, for the status.
  let recent = DenialRing()

  /// - Parameters:
  ///   - file: The rules file that was asked for.
  ///   - documentFiles: The rules files for documents.
  init(
    rules file: String?, documentFiles: DocumentRulesFiles? = nil, isInsecure: Bool,
    isDevelopment: Bool
  ) throws {
    let recent = recent
    let isUsual = file == nil && FileManager.default.fileExists(atPath: Self.usualFile)
    self.file = isUsual ? Self.usualFile : file
    self.documentFiles = documentFiles
    isOpen = self.file == nil && documentFiles == nil && (isInsecure || isDevelopment)
    let rules: (any DocumentAuthorizer)? = try documentFiles.map { files in
      let news = DocumentDenialNews(showsAll: isDevelopment, recent: recent)
      return DocumentRulesAuthorizer(
        try files.load(), showsReasons: isDevelopment, onDenial: news.onDenial,
        onOmitted: news.onOmitted)
    }
    if let file = self.file {
      let log = DenialNews(showsAll: isDevelopment, recent: recent)
      authorizer = RulesAuthorizer(
        try RulesFile.rules(at: file), onDenial: log.onDenial, onOmitted: log.onOmitted)
      // Rules of a tree say nothing about documents, and an address identifies no client: whatever
      // ends a connection on this machine makes remote clients look local.
      documentAuthorizer = rules ?? Self.documentsOf(isDevelopment, recent)
      let readers =
        documentFiles.map { "documents: as \($0.text) says" }
        ?? (isDevelopment
          ? "documents are open to clients on this machine (--dev)"
          : "documents are open to administrators only")
      text = "access: as \(file) says; \(readers)"
    } else if isInsecure {
      authorizer = Self.explaining(AllowAll(), isDevelopment, recent)
      documentAuthorizer = rules ?? Self.explaining(documents: AllowAll(), isDevelopment, recent)
      text =
        documentFiles.map { "access: documents as \($0.text) says; the tree is open (--insecure)" }
        ?? "access: every client may read and write everything (--insecure)"
    } else if isDevelopment {
      authorizer = Self.explaining(AllowLocal(), isDevelopment, recent)
      documentAuthorizer = rules ?? Self.documentsOf(isDevelopment, recent)
      text =
        documentFiles.map {
          "access: documents as \($0.text) says; the tree is open on this machine (--dev)"
        } ?? "access: everything is allowed, to clients on this machine only (--dev)"
    } else {
      authorizer = Self.explaining(AllowAdministrators(), isDevelopment, recent)
      documentAuthorizer = rules ?? Self.documentsOf(isDevelopment, recent)
      text =
        documentFiles.map {
          "access: documents as \($0.text) says; the tree is open to administrators only"
        } ?? "access: nothing is allowed; give --rules FILE, or --dev to try things out"
    }
  }

  /// Decides about documents where there are no rules for them.
  private static func documentsOf(
    _ isDevelopment: Bool, _ recent: DenialRing
  ) -> any DocumentAuthorizer {
    let base: any DocumentAuthorizer = isDevelopment ? AllowLocal() : AllowAdministrators()
    return explaining(documents: base, isDevelopment, recent)
  }

  /// Decides as `base` does; what rules of single databases deny is explained to the operator, and
  /// on a development server to clients too.
  private static func explaining(
    documents base: any DocumentAuthorizer, _ isDevelopment: Bool, _ recent: DenialRing
  ) -> ExplainingDocumentAuthorizer {
    let news = DocumentDenialNews(showsAll: isDevelopment, recent: recent)
    return ExplainingDocumentAuthorizer(
      base, showsReasons: isDevelopment, onDenial: news.onDenial, onOmitted: news.onOmitted)
  }

  /// Decides as `base` does; what rules of single databases deny is explained to the operator.
  private static func explaining(
    _ base: any Authorizer, _ isDevelopment: Bool, _ recent: DenialRing
  ) -> ExplainingAuthorizer {
    let log = DenialNews(showsAll: isDevelopment, recent: recent)
    return ExplainingAuthorizer(base, onDenial: log.onDenial, onOmitted: log.onOmitted)
  }
}

/// The lines of the operator's log about denials.
struct DenialNews: Sendable {
  /// Tells every denial, with data and claims; otherwise a sample, with their types.
  let showsAll: Bool
  /// Keeps the latest denials for the status.
  var recent = DenialRing()

  var onDenial: @Sendable (RulesExplanation) -> Void {
    { [showsAll, recent] explanation in
      let text = explanation.text(showingValues: showsAll)
      let id: String? = if case .denied(let denial) = explanation.verdict { denial.id } else { nil }
      recent.add(id, text)
      OperatorLog.tell(text, .info, DenialRing.metadata(id))
    }
  }

  var onOmitted: (@Sendable (OmittedDenials) -> Void)? {
    if showsAll { return nil }
    return { summary in OperatorLog.tell("\(summary)", .info) }
  }
}
