import Foundation
import TernKit
import TernServerKit

/// A server and two users in one process, over a port that the system chooses.
enum GuestbookDemo {
  /// Plays it once; ends when both users see the same.
  @MainActor
  static func play() async throws {
    let host = try await GuestbookServer(
      keepingIn: nil, port: 0, secret: GuestbookServer.newSecret())
    let (anns, bens) = (
      try await host.database(for: "ann"), try await host.database(for: "ben")
    )
    let (ann, ben) = (Guestbook(anns), Guestbook(bens))
    let (annSees, benSees) = (TerminalView(guestbook: ann), TerminalView(guestbook: ben))

    print("ann signs the book, and ben sees it")
    await ann.sign("Lovely place")
    await benSees.show(until: ["ann: Lovely place"])

    print("ben signs in ann's name, which the rules deny: only he saw it, for a moment")
    await ben.sign("Ben is right", as: "ann")
    await benSees.show(until: ["ann: Lovely place"] + [ben.denial ?? "it was allowed"])

    print("ben tries to remove what ann wrote, and to write nothing at all")
    for entry in ben.shown { await ben.remove(entry) }
    await benSees.show(until: ["ann: Lovely place"] + [ben.denial ?? "it was allowed"])
    await ben.sign("")
    await benSees.show(until: ["ann: Lovely place"] + [ben.denial ?? "it was allowed"])

    print("ben signs for himself")
    await ben.sign("So it is")
    await benSees.show(until: ["ann: Lovely place", "ben: So it is"])
    await annSees.show(until: ["ann: Lovely place", "ben: So it is"])

    await anns.close()
    await bens.close()
    await host.server.stop()
  }
}
