import TernAssembly
import TernClient
import TernCore
import TernLedger
import TernQuery
import TernStorage
import TernSync
import TernTransport
import Testing

@testable import tern

@Suite("errors in words") struct FailureWordsTests {
  private static let denied = Rejection(status: "permission_denied", detail: "no")
  private static let unknown = Rejection(status: Rejection.unknownOutcome, detail: "gone.")

  @Test(
    "each error of a client has its code and its words",
    arguments: [
      (WriteError.closed, .failed, "the database was closed"),
      (WriteError.queue(.queueFull(limitWrites: 3)), .failed, "the write was not stored: "),
      (AcknowledgementError.purged, .failed, "the write was given up"),
      (AcknowledgementError.closed, .failed, "the database was closed"),
      (AcknowledgementError.cancelled, .failed, "the database was closed"),
      (AcknowledgementError.timedOut(after: .seconds(1)), .unreachable, "cannot be reached"),
      (AcknowledgementError.rejected(denied), .refused, "refused it: permission_denied: no"),
      (AcknowledgementError.rejected(unknown), .failed, "It is kept: tern pending"),
      (ReadError.invalid(.emptyKey), .usage, ""),
      (ReadError.invalidQuery(.limitAlreadySet), .usage, ""),
      (ReadError.tooManyWaiting(limit: 7), .failed, "more than 7 reads wait"),
      (ReadError.closed, .failed, "the database was closed"),
      (ListenError.invalid(.emptyKey), .usage, ""),
      (ListenError.invalidQuery(.startAlreadySet), .usage, "only one start"),
      (ListenError.closed, .failed, "the database was closed"),
      (DocumentsError.timedOut(after: .seconds(1)), .unreachable, "cannot be reached"),
      (DocumentsError.closed, .failed, ""), (DocumentsError.cancelled, .failed, ""),
      (DocumentsError.invalid(.emptyFieldName), .usage, "no name"),
      (DocumentsError.invalidQuery(.emptyComposite), .usage, ""),
      (DocumentsError.queue(.queueFull(limitWrites: 1)), .failed, "the write was not stored"),
      (QueueError.noSuchWrite(id: 7), .failed, "the queue: "),
      (
        JSONSyntaxError(position: TextPosition(), reason: .invalidNumber), .usage,
        "line 1, column 1"
      ),
      (ImportError.rule(.emptyKey, path: ""), .usage, "/: "),
      (ImportError.rule(.emptyKey, path: "a/b"), .usage, "a/b: "),
      (Failure(.notFound, "x"), .notFound, "x"),
    ] as [(any Error & Sendable, Outcome, String)])
  func codes(error: any Error & Sendable, code: Outcome, words: String) {
    let failure = Failure(about: error)
    #expect(failure.code == code && failure.message.contains(words), "\(failure)")
    #expect(!failure.message.isEmpty)
  }

  @Test("a server's refusal of a document is told by its reason")
  func documents() {
    for (code, message, outcome, words) in [
      (DocumentStatus.Code.unavailable, "busy", .unreachable, "cannot be reached"),
      (
        .notFound, "No document to update: projects/p/databases/d/documents/c/x", .refused,
        "refused it: there is no document c/x"
      ),
      (.notFound, "nothing", .refused, "refused it: nothing"),
      (.permissionDenied, "Missing or insufficient permissions.", .refused, "refused it: "),
    ] as [(DocumentStatus.Code, String, Outcome, String)] {
      let failure = Failure(about: DocumentsError.refused(DocumentStatus(code, message)))
      #expect(failure.code == outcome && failure.message.contains(words), "\(failure)")
    }
  }

  @Test(
    "each error of a backup names the file",
    arguments: [
      (.foreign, .usage, "f is no backup"),
      (.newerFormat(found: 9, supported: 1), .failed, "f was written by a later version: format 9"),
      (.cut(at: 7), .failed, "f is cut off at byte 7"),
      (.corrupt(at: 7), .failed, "f is damaged at byte 7"),
      (.wrongBase(version: 3), .usage, "it needs the one of version 3"),
      (.differs, .failed, "nothing is kept"),
      (.outOfReach(first: 4, last: 2), .usage, "version 2 is out of reach: the log of f begins"),
      (.inaccessible("gone"), .failed, "f: gone"), (.storage(.diskFull), .failed, "f: "),
      (.ledger(.foreignStore), .failed, "f: "),
    ] as [(BackupError, Outcome, String)])
  func backups(error: BackupError, code: Outcome, words: String) {
    let failure = Failure(about: error, at: "f")
    #expect(failure.code == code && failure.message.contains(words), "\(failure)")
  }

  @Test("advice stands behind a message, and an excerpt stays")
  func advice() {
    let failure = Failure(.failed, "no", excerpt: "here")
    #expect(failure.advising("try").message == "no, try")
    #expect(failure.advising("try").excerpt == "here")
    #expect(failure.advising(nil) == failure)
  }

  @Test(
    "an excerpt is the line with a mark below the place",
    arguments: [
      ("abc", 1, "  abc\n   ^"), ("abc", 3, "  abc\n     ^"), ("a\nbcd\ne", 3, "  bcd\n   ^"),
      ("é😀x", 6, "  é😀x\n    ^"), ("\tx", 1, "   x\n   ^"), ("", 0, nil), ("a\n", 2, nil),
      ("abc", 99, "  abc\n     ^"), ("a\r\nb", 1, "  a \n   ^"),
    ] as [(String, Int, String?)])
  func excerpts(text: String, offset: Int, expected: String?) {
    #expect(Failure.excerpt(of: Array(text.utf8), at: offset) == expected)
  }

  @Test("a long line is shown around the place", arguments: [0, 39, 40, 41, 500, 999, 1_000])
  func longExcerpts(offset: Int) throws {
    let text = (0..<1_000).map { "\($0 % 10)" }.joined()
    let lines = try #require(Failure.excerpt(of: Array(text.utf8), at: offset))
      .split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 2 && lines[0].count <= 82)
    let mark = lines[1].count - 1
    if offset < 1_000 { #expect(Array(lines[0])[mark] == Character("\(offset % 10)")) }
  }

  @Test("an object on one line has its members in their order")
  func jsonLines() {
    #expect(
      jsonLine(["b": .integer(1), "a": .string("\"\n"), "c": .null])
        == #"{"b":1,"a":"\"\n","c":null}"#)
    #expect(jsonLine([:]) == "{}")
  }
}
