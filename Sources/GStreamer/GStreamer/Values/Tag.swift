// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// GStreamer's own names of tags.
public enum Tag {
  /// `GST_TAG_ALBUM`
  public static let album = GST_TAG_ALBUM
  /// `GST_TAG_ARTIST`
  public static let artist = GST_TAG_ARTIST
  /// `GST_TAG_AUDIO_CODEC`
  public static let audioCodec = GST_TAG_AUDIO_CODEC
  /// `GST_TAG_BITRATE`
  public static let bitrate = GST_TAG_BITRATE
  /// `GST_TAG_COMMENT`
  public static let comment = GST_TAG_COMMENT
  /// `GST_TAG_CONTAINER_FORMAT`
  public static let containerFormat = GST_TAG_CONTAINER_FORMAT
  /// `GST_TAG_COPYRIGHT`
  public static let copyright = GST_TAG_COPYRIGHT
  /// `GST_TAG_DATE_TIME`
  public static let dateTime = GST_TAG_DATE_TIME
  /// `GST_TAG_DESCRIPTION`
  public static let description = GST_TAG_DESCRIPTION
  /// `GST_TAG_DEVICE_MANUFACTURER`
  public static let deviceManufacturer = GST_TAG_DEVICE_MANUFACTURER
  /// `GST_TAG_DEVICE_MODEL`
  public static let deviceModel = GST_TAG_DEVICE_MODEL
  /// `GST_TAG_ENCODER`
  public static let encoder = GST_TAG_ENCODER
  /// `GST_TAG_GENRE`
  public static let genre = GST_TAG_GENRE
  /// `GST_TAG_GEO_LOCATION_ELEVATION`
  public static let geoLocationElevation = GST_TAG_GEO_LOCATION_ELEVATION
  /// `GST_TAG_GEO_LOCATION_HORIZONTAL_ERROR`
  public static let geoLocationHorizontalError = GST_TAG_GEO_LOCATION_HORIZONTAL_ERROR
  /// `GST_TAG_GEO_LOCATION_LATITUDE`
  public static let geoLocationLatitude = GST_TAG_GEO_LOCATION_LATITUDE
  /// `GST_TAG_GEO_LOCATION_LONGITUDE`
  public static let geoLocationLongitude = GST_TAG_GEO_LOCATION_LONGITUDE
  /// `GST_TAG_GEO_LOCATION_NAME`
  public static let geoLocationName = GST_TAG_GEO_LOCATION_NAME
  /// `GST_TAG_IMAGE_ORIENTATION`
  public static let imageOrientation = GST_TAG_IMAGE_ORIENTATION
  /// `GST_TAG_KEYWORDS`
  public static let keywords = GST_TAG_KEYWORDS
  /// `GST_TAG_LANGUAGE_CODE`
  public static let languageCode = GST_TAG_LANGUAGE_CODE
  /// `GST_TAG_MAXIMUM_BITRATE`
  public static let maximumBitrate = GST_TAG_MAXIMUM_BITRATE
  /// `GST_TAG_PRIVATE_DATA`
  public static let privateData = GST_TAG_PRIVATE_DATA
  /// `GST_TAG_TITLE`
  public static let title = GST_TAG_TITLE
  /// `GST_TAG_VIDEO_CODEC`
  public static let videoCodec = GST_TAG_VIDEO_CODEC
}
