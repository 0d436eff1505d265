import Foundation
import TernCore

extension TreeNode {
  /// Reads what Firebase code passes as a value: strings, numbers, booleans, dictionaries with
  /// string keys, arrays, `NSNull` or `nil`, in their Swift or Foundation form.
  ///
  /// - Throws: ``DatabaseValueError`` naming the type or the rule, and where in the value it is.
  init(foundation value: Any?, at path: TreePath = .root) throws(DatabaseValueError) {
    guard let value = TreeNode.unwrapped(value) else {
      self = .empty
      return
    }
    // No path is longer; a value that is deeper would only be rejected later.
    guard path.count <= TreeLimits.pathSegments else {
      throw .tree(
        .tooDeep(count: path.count, limit: TreeLimits.pathSegments), path: path.description)
    }
    if let scalar = TreeScalar(foundation: value) {
      self = TreeNode(scalar)
    } else if let object = value as? [String: Any] {
      self = try TreeNode.object(object, at: path)
    } else if let array = value as? [Any] {
      self = try TreeNode.array(array, at: path)
    } else {
      throw .unsupportedType(String(describing: type(of: value)), path: path.description)
    }
  }

  /// The value as Firebase code expects it: `NSNumber`, `NSString`, `NSDictionary`, `NSArray`, or
  /// `nil`; priorities are left out.
  var foundationValue: Any? {
    if let scalar { return scalar.foundation }
    guard hasChildren else { return nil }
    if let count = children.arrayLength {
      var items = [Any](repeating: NSNull(), count: count)
      for (key, node) in children {
        if let index = Int(key.text), let value = node.foundationValue { items[index] = value }
      }
      return items as NSArray
    }
    var members: [String: Any] = [:]
    for (key, node) in children { members[key.text] = node.foundationValue }
    return members as NSDictionary
  }

  /// The value with its priorities, in the form that can be written back unchanged.
  var foundationExport: Any? {
    if let scalar {
      guard let priority else { return scalar.foundation }
      return [".value": scalar.foundation, ".priority": priority.foundation] as NSDictionary
    }
    guard hasChildren else { return nil }
    var members: [String: Any] = [:]
    for (key, node) in children { members[key.text] = node.foundationExport }
    if let priority { members[".priority"] = priority.foundation }
    return members as NSDictionary
  }
}

extension TreeNode {
  /// Reads a priority; `nil`, `NSNull` and an empty optional mean that there is none.
  static func priority(
    foundation value: Any?, at path: TreePath
  ) throws(DatabaseValueError) -> TreeScalar? {
    guard let value = unwrapped(value) else { return nil }
    return try TreeScalar(priority: value, at: path)
  }

  /// An optional inside an `Any`, `NSNull` and `nil` all mean that nothing is there.
  private static func unwrapped(_ value: Any?) -> Any? {
    guard let value else { return nil }
    if value is NSNull { return nil }
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .optional else { return value }
    return unwrapped(mirror.children.first?.value)
  }

  private static func array(
    _ items: [Any], at path: TreePath
  ) throws(DatabaseValueError) -> TreeNode {
    var children: [ChildMap.Element] = []
    for (index, item) in items.enumerated() {
      let key = try key(String(index), at: path)
      let node = try TreeNode(foundation: item, at: path.appending(key))
      if !node.isEmpty { children.append((key: key, node: node)) }
    }
    return TreeNode(children: ChildMap(unsorted: children))
  }

  private static func object(
    _ members: [String: Any], at path: TreePath
  ) throws(DatabaseValueError) -> TreeNode {
    if members.count == 1, let placeholder = members[".sv"] {
      guard let value = TreeScalar(serverValue: placeholder) else {
        throw .unknownServerValue(path: path.description)
      }
      return TreeNode(value)
    }
    var node = TreeNode.empty
    if let value = members[".value"] {
      guard members.keys.allSatisfy({ $0 == ".value" || $0 == ".priority" }) else {
        throw .valueWithChildren(path: path.description)
      }
      // A leaf holds no further `.value`, however many there are.
      if let members = value as? [String: Any], members[".value"] != nil {
        throw .valueWithChildren(path: path.description)
      }
      node = try TreeNode(foundation: value, at: path)
      guard !node.hasChildren else { throw .valueWithChildren(path: path.description) }
    } else {
      var children: [ChildMap.Element] = []
      for (name, member) in members where name != ".priority" {
        let key = try key(name, at: path)
        let child = try TreeNode(foundation: member, at: path.appending(key))
        if !child.isEmpty { children.append((key: key, node: child)) }
      }
      node = TreeNode(children: ChildMap(unsorted: children))
    }
    if let priority = try TreeNode.priority(foundation: members[".priority"], at: path) {
      node.setPriority(priority)
    }
    return node
  }

  private static func key(
    _ text: String, at path: TreePath
  ) throws(DatabaseValueError) -> TreeKey {
    do throws(TreeError) {
      return try TreeKey(text)
    } catch {
      throw .tree(error, path: path.description)
    }
  }
}
