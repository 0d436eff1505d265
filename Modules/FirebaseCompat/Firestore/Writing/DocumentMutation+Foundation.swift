import Foundation
import TernCore

/// The writes that Firebase's verbs mean; all mistakes in them are found here.
extension Result<[DocumentMutation], FirestoreArgumentError> {
  /// Replaces a document, or merges the named fields into it.
  static func set(_ data: [String: Any], _ reference: DocumentReference, merge: Bool = false)
    -> Self
  {
    one { () throws(FirestoreArgumentError) in
      try .setting(data, reference, of: reference.firestore, merge: merge)
    }
  }

  static func set(_ data: [String: Any], _ reference: DocumentReference, mergeFields: [Any])
    -> Self
  {
    one { () throws(FirestoreArgumentError) in
      try .setting(data, reference, of: reference.firestore, mergeFields: mergeFields)
    }
  }

  /// Changes single fields of a document that must exist. Keys are strings with dots between names,
  /// or field paths.
  static func update(_ fields: [AnyHashable: Any], _ reference: DocumentReference) -> Self {
    one { () throws(FirestoreArgumentError) in
      try .updating(fields, reference, of: reference.firestore)
    }
  }

  static func delete(_ reference: DocumentReference) -> Self {
    one { () throws(FirestoreArgumentError) in
      .delete(try reference.key(in: reference.firestore))
    }
  }

  private static func one(
    _ make: () throws(FirestoreArgumentError) -> DocumentMutation
  ) -> Self {
    do throws(FirestoreArgumentError) { return .success([try make()]) } catch {
      return .failure(error)
    }
  }
}

extension DocumentMutation {
  static func setting(
    _ data: [String: Any], _ reference: DocumentReference, of firestore: Firestore, merge: Bool
  ) throws(FirestoreArgumentError) -> DocumentMutation {
    let key = try reference.key(in: firestore)
    let fields = try DocumentInput.fields(data, in: firestore.database)
    return try FirestoreArgumentError.naming { () throws(DocumentError) in
      merge ? try .merge(key, with: fields) : try .set(key, to: fields)
    }
  }

  /// Makes a write of some fields of the data.
  ///
  /// - Parameter mergeFields: The fields to write, as strings or field paths. All of them must be
  ///   in `data`, and other fields of `data` are ignored.
  static func setting(
    _ data: [String: Any], _ reference: DocumentReference, of firestore: Firestore,
    mergeFields: [Any]
  ) throws(FirestoreArgumentError) -> DocumentMutation {
    let key = try reference.key(in: firestore)
    let fields = try DocumentInput.fields(data, in: firestore.database)
    var paths: [DocumentFieldPath] = []
    for field in mergeFields { paths.append(try DocumentFieldPath.named(field)) }
    return try FirestoreArgumentError.naming { () throws(DocumentError) in
      try .merge(key, with: fields, only: paths)
    }
  }

  /// Makes a write of single fields.
  ///
  /// - Throws: ``FirestoreArgumentError`` that names the field whose value is invalid.
  static func updating(
    _ fields: [AnyHashable: Any], _ reference: DocumentReference, of firestore: Firestore
  ) throws(FirestoreArgumentError) -> DocumentMutation {
    let key = try reference.key(in: firestore)
    var assignments: [(path: DocumentFieldPath, input: DocumentInput)] = []
    for (name, value) in fields {
      let path = try DocumentFieldPath.named(name.base)
      do throws(FirestoreArgumentError) {
        assignments.append((path, try DocumentInput(foundation: value, in: firestore.database)))
      } catch {
        throw error.inside(path.text)
      }
    }
    return try FirestoreArgumentError.naming { () throws(DocumentError) in
      try .update(key, assignments)
    }
  }
}
