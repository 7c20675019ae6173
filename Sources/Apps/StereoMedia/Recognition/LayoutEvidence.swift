// SPDX-License-Identifier: MPL-2.0

package import StereoVideo

/// All that is known about the layout of a movie's pictures, from the strongest evidence to the
/// weakest. ``RecognizedLayout`` decides from it.
package struct LayoutEvidence: Sendable {
  /// The arrangement of two eyes, if the user specifies it.
  package struct GivenPacking: Equatable, Sendable {
    package var arrangement: PackingLayout.Arrangement
    package var rightViewFirst: Bool
    /// Whether each eye is squeezed to half; nil to recognize it.
    package var isHalf: Bool?

    package init(
      _ arrangement: PackingLayout.Arrangement, rightViewFirst: Bool = false, isHalf: Bool? = nil
    ) {
      self.arrangement = arrangement
      self.rightViewFirst = rightViewFirst
      self.isHalf = isHalf
    }
  }

  /// The eyes as the file or its streams declare them.
  package enum DeclaredEyes: Equatable, Sendable {
    case packed(PackingLayout.Arrangement, rightViewFirst: Bool)
    /// One picture for both eyes.
    case one
    /// An arrangement that no element can separate, in words.
    case inseparable(String)
    /// This number of video tracks with frames of the same size, which may be eyes.
    case severalTracks(Int)
  }

  /// The projection as the file declares it.
  package enum DeclaredProjection: Equatable, Sendable {
    case kind(ProjectionKind)
    /// A projection that surrounds the viewer, but that cannot be converted, in words.
    case unsupported(String)
  }

  /// The size of the frames, after the rotation that the file declares.
  package struct Frame: Equatable, Sendable {
    package var width: Int
    package var height: Int
    /// Width of a pixel divided by its height.
    package var pixelShape: Double

    /// - Returns: nil if a size is not positive or the pixels have no usable shape.
    package init?(_ width: Int, _ height: Int, pixelShape: Double = 1) {
      guard width > 0, height > 0, pixelShape.isFinite, (0.01...100).contains(pixelShape) else {
        return nil
      }
      self.width = width
      self.height = height
      self.pixelShape = pixelShape
    }

    /// Width divided by height, in pixels.
    var ratio: Double { Double(width) / Double(height) }
    /// Width divided by height, as displayed.
    var displayedRatio: Double { ratio * pixelShape }
  }

  /// The arrangement that the user specifies.
  package var givenPacking: GivenPacking?
  /// The projection that the user specifies.
  package var givenProjection: RecognizedLayout.Projection?
  /// Whether the other eye is in a file of its own.
  package var isOneEye = false
  package var declaredEyes: DeclaredEyes?
  package var declaredProjection: DeclaredProjection?
  package var name: FileNameLayout
  /// Nil if it is unknown.
  package var frame: Frame?
  /// The result of examining the pictures; nil if they have not been examined.
  package var pictures: PictureFinding?

  /// Creates evidence that consists of a file's name.
  package init(path: String) {
    name = FileNameLayout(path: path)
  }
}
