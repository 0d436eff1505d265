import Foundation
import TernCore

/// The writes that Firebase's verbs mean; all mistakes in them are found here.
extension Result<[DocumentMutation], FirestoreArgumentError> {
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
