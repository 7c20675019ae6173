# SPDX-License-Identifier: MPL-2.0
"""Compares what ffprobe, ExifTool and mediainfo say of a movie and of what became of it.

Usage: compare_movies.py retag|convert BEFORE AFTER

Prints a line for each fact that the second file lacks or tells otherwise. Facts that must differ
are in the tables below, each group with the reason.
"""

import json
import re
import subprocess
import sys

# What any copy changes: the name, size and age of the file, and where things are in it.
PLACES = [
    r"file:(filename|size|bit_rate|probe_score|nb_streams|format_name|format_long_name)",
    r"file:tag:(major_brand|minor_version|compatible_brands|encoder|com.apple.quicktime.software)",
    r"stream:.*:(index|id|time_base|bit_rate|max_bit_rate|extradata_size|start_pts|duration_ts)",
    r"stream:.*:tag:(bps.*|duration.*|number_of.*|_statistics.*|encoder|vendor_id)",
    r"exif:(File|ExifTool|Composite|System|SourceFile).*",
    r"exif:.*:(MediaDataSize|MediaDataOffset|MovieDataOffset|MajorBrand|MinorVersion"
    r"|CompatibleBrands.*|NextTrackID|TrackID|.*ModifyDate|.*CreateDate|.*HeaderVersion|.*VendorID"
    r"|HandlerClass|Encoder|Software|CompressorName|Padding|.*Duration|TimeScale|MediaTimeScale"
    r"|OtherFormat)",
    r"mediainfo:.*:(CompleteName|FileName|FileExtension|FolderName|File_.*|FileSize.*|StreamSize.*"
    r"|HeaderSize|DataSize|FooterSize|IsStreamable|Format_Version|CodecID.*|OverallBitRate.*"
    r"|BitRate.*|StreamOrder|ID|UniqueID|Encoded_.*|Tagged_Date|FrameCount|Format_Settings.*"
    r"|Format_Profile|Duration.*|Delay.*|Video_Delay.*)",
]
# What a movie never says otherwise: how texts are drawn, and names of handlers of data.
FIXED = [
    r"exif:.*:(GraphicsMode|HandlerDescription|HandlerType|PurchaseFileFormat)",
    # FFmpeg writes an empty text after the last one.
    r"stream:subtitle:\d+:nb_frames",
    r"mediainfo:Text:\d+:FrameRate",
]
# Pictures that are encoded again: their coding, and what describes it.
ENCODED = [
    r"stream:video:\d+:(codec_.*|profile|level|pix_fmt|width|height|coded_.*|sample_aspect_ratio"
    r"|display_aspect_ratio|refs|is_avc|nal_length_size|bits_per_raw_sample|has_b_frames|closed_captions"
    r"|film_grain|field_order|chroma_location|view_.*|time_base|r_frame_rate|avg_frame_rate|nb_frames"
    r"|start_time|duration|color_range|color_space|color_transfer|color_primaries|tag:rotate|side_data.*)",
    r"exif:.*:(CompressorID|ImageWidth|ImageHeight|SourceImageWidth|SourceImageHeight|XResolution"
    r"|YResolution|BitDepth|VideoFrameRate|PixelAspectRatio|ColorProfiles|ColorPrimaries"
    r"|TransferCharacteristics|MatrixCoefficients|VideoFullRangeFlag|MatrixStructure|GraphicsMode|OpColor"
    r"|CleanAperture.*|ProductionAperture.*|EncodedPixels.*|ImageSize|Megapixels|Rotation|Stereoscopic.*"
    r"|Spherical.*|AverageBitrate|MaxBitrate|BufferSize|ClipAspectRatio|Format|PlaybackFrameRate)",
    r"mediainfo:Video.*",
    r"mediainfo:General:.*:(Video_.*|FrameRate.*|Format|Format_Profile)",
]
# The geometry that the conversion or `retag` is asked to write.
GEOMETRY = [
    r"exif:.*:(HorizontalFieldOfView|Has.*EyeView|EyeViewsReversed|HeroEye|StereoCamera.*|.*Baseline.*"
    r"|.*Disparity.*)",
    r"stream:video:\d+:side_data.*(stereo|spherical).*",
    r"mediainfo:Video:\d+:(MultiView.*|Spatial.*)",
]


def run(*words):
    return json.loads(subprocess.run(words, capture_output=True, check=False).stdout or b"{}")


def flat(name, value, facts):
    if isinstance(value, dict):
        for key, inner in value.items():
            flat(f"{name}:{key}", inner, facts)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            flat(f"{name}:{index}", inner, facts)
    else:
        facts[name] = str(value)


def ffprobe(path):
    told = run(
        "ffprobe", "-v", "error", "-of", "json", "-show_format", "-show_streams", "-show_chapters", path)
    facts, counts = {}, {}
    entry = told.get("format", {})
    for key, value in entry.items():
        flat("file:tag" if key == "tags" else f"file:{key}", value, facts)
    for stream in told.get("streams", []):
        kind = stream.get("codec_type", "data")
        number = counts[kind] = counts.get(kind, -1) + 1
        for key, value in stream.items():
            if key not in ("codec_type",):
                name = {"tags": "tag", "side_data_list": "side_data"}.get(key, key)
                flat(f"stream:{kind}:{number}:{name}", value, facts)
    for number, chapter in enumerate(told.get("chapters", [])):
        facts[f"chapter:{number}"] = "{} {}".format(
            round(float(chapter["start_time"]), 1), chapter.get("tags", {}).get("title"))
    return facts


def exiftool(path):
    facts = {}
    for entry in run("exiftool", "-j", "-G1", "-a", "-struct", "-ee", path) or [{}]:
        for key, value in entry.items():
            flat(f"exif:{key}", value, facts)
    return facts


def mediainfo(path):
    facts, counts = {}, {}
    for track in (run("mediainfo", "--Output=JSON", path).get("media") or {}).get("track", []):
        kind = track.get("@type")
        number = counts[kind] = counts.get(kind, -1) + 1
        for key, value in track.items():
            flat(f"mediainfo:{kind}:{number}:{key}", value, facts)
    return facts


def same(key, one, other):
    if other is None:
        # Pixels are square if nothing is said.
        return one == "1:1"
    if one.strip() == other.strip() or {one, other} == {"Unknown (32767)", "und"}:
        return True
    try:
        # Times are rounded to the units of the tracks.
        return abs(float(one) - float(other)) <= max(0.05, abs(float(one)) * 0.001)
    except ValueError:
        return False


# What only one kind of container says, and in words of its own.
CONTAINER = [
    r"mediainfo:.*",
    # ExifTool reads QuickTime's keys in QuickTime's files only.
    # The place it tells in degrees and minutes.
    r"exif:(Matroska|Track\d*|Chapter\d*|Info|Keys:(Timecode|Location)).*",
    # Matroska's video track need not be a default one.
    r"stream:video:\d+:disposition:default",
    r"stream:.*:(codec_tag.*|codec_name|codec_long_name|start_time|tag:handler_name|extradata_size)",
    r"stream:.*:(nb_frames|r_frame_rate|avg_frame_rate|duration)",
    r"file:(start_time|duration)",
]


def main():
    kind, before, after = sys.argv[1:]
    permitted = PLACES + FIXED + GEOMETRY + (ENCODED if kind == "convert" else [])
    if before.rsplit(".", 1)[-1] != after.rsplit(".", 1)[-1]:
        permitted += CONTAINER
    pattern = re.compile("|".join(f"(?:{one})" for one in permitted), re.IGNORECASE)
    readers = (ffprobe, exiftool, mediainfo)
    told = [(read(before), read(after)) for read in readers]
    texts = {value for _, new in told for value in new.values()}
    for old, new in told:
        for key, value in old.items():
            name = re.sub(r"^exif:[^:]*:", "exif:x:", key)
            if pattern.fullmatch(key) or pattern.fullmatch(name) or same(key, value, new.get(key)):
                continue
            # Containers have their own names for the same text, and not every program reads it.
            if ("tag" in key or not key.startswith("stream")) and value in texts:
                continue
            print(f"{key}: {value[:80]!r} became {str(new.get(key))[:80]!r}")


main()
