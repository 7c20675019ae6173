// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The place in a GObject's memory that holds its Swift object.
///
/// It has the same offset in every element that this layer registers, behind the largest of the
/// base classes, so that finding the Swift object is one pointer read whatever the base class.
struct InstanceSlot {
  private static let offset = aligned(BaseClass.allCases.map { Int($0.query.instance_size) })
  static var instanceSize: Int { offset + MemoryLayout<UnsafeRawPointer?>.size }

  private let place: UnsafeMutablePointer<UnsafeRawPointer?>

  static func of(_ instance: UnsafeMutableRawPointer) -> InstanceSlot {
    InstanceSlot(
      place: (instance + offset).assumingMemoryBound(to: UnsafeRawPointer?.self))
  }

  func load() -> ElementBox? {
    place.pointee.map { Unmanaged<ElementBox>.fromOpaque($0).takeUnretainedValue() }
  }

  func store(_ object: ElementBox) {
    place.pointee = UnsafeRawPointer(Unmanaged.passRetained(object).toOpaque())
  }

  func release() {
    guard let object = place.pointee else { return }
    place.pointee = nil
    Unmanaged<ElementBox>.fromOpaque(object).release()
  }
}

/// The place in a class structure that holds what the layer knows of the class. It is written while
/// the class is made, before there can be an object of it.
struct ClassSlot {
  private static let offset = aligned(BaseClass.allCases.map { Int($0.query.class_size) })
  static var classSize: Int { offset + MemoryLayout<UnsafeRawPointer?>.size }

  private let place: UnsafeMutablePointer<UnsafeRawPointer?>

  static func of(_ klass: UnsafeMutableRawPointer) -> ClassSlot {
    ClassSlot(place: (klass + offset).assumingMemoryBound(to: UnsafeRawPointer?.self))
  }

  func load() -> ElementClass? {
    place.pointee.map { Unmanaged<ElementClass>.fromOpaque($0).takeUnretainedValue() }
  }

  /// - Parameter data: a retained `ElementClass`, which lives as long as the process.
  func store(_ data: UnsafeRawPointer) { place.pointee = data }
}

/// The first place behind the largest of these sizes that a pointer may stand at.
private func aligned(_ sizes: [Int]) -> Int { ((sizes.max() ?? 0) + 15) & ~15 }

extension UnsafeMutablePointer where Pointee == GstElement {
  /// The class structure of the element's type.
  var elementClass: UnsafeMutablePointer<GstElementClass> {
    UnsafeMutableRawPointer(pointee.object.object.g_type_instance.g_class)
      .assumingMemoryBound(to: GstElementClass.self)
  }
}
