import TernStorage
import TernTransport
import Testing

@testable import TernAssembly

@Suite("assembler") struct AssemblerTests {
  @Test("a store opens from one section of JSON")
  func store() async throws {
    let assembler = Assembler(catalog: testCatalog())
    let store = try await assembler.store(fromJSON: #"{"kind": "folder", "path": "x"}"#)
    defer { store.close() }
    #expect(try store.read { (_) throws(StorageError) in true })
  }

  @Test("a store that does not open says which, where and why")
  func storeFailure() async {
    let assembler = Assembler(catalog: testCatalog())
    let error = await #expect(throws: AssemblyError.self) {
      _ = try await assembler.store(fromJSON: #"{"kind": "folder", "path": "/readonly"}"#)
    }
    guard case .storage(.readOnly("/readonly"), "folder", "/readonly") = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("equal sections share one transport until its last user is done")
  func sharing() async throws {
    let assembler = Assembler(catalog: testCatalog())
    let prepared = try assembler.transport(of: .inProcess)
    let first = try assembler.transports.acquire(prepared)
    let second = try assembler.transports.acquire(prepared)
    #expect(first.executor === second.executor)
    await assembler.transports.release(prepared.name)
    let third = try assembler.transports.acquire(prepared)
    #expect(first.executor === third.executor)
    await assembler.transports.release(prepared.name)
    await assembler.transports.release(prepared.name)
    let fourth = try assembler.transports.acquire(prepared)
    #expect(first.executor !== fourth.executor)
    await assembler.transports.release(prepared.name)
  }

  @Test("two assemblers share nothing")
  func separation() throws {
    let prepared = try Assembler(catalog: testCatalog()).transport(of: .inProcess)
    let one = try Assembler(catalog: testCatalog()).transports.acquire(prepared)
    let other = try Assembler(catalog: testCatalog()).transports.acquire(prepared)
    #expect(one.executor !== other.executor)
  }
}
