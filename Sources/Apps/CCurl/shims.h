// SPDX-License-Identifier: MPL-2.0
// libcurl's own header. Nothing is linked with the library, which is opened when it is needed; its
// functions with a variable number of arguments are called here, as Swift cannot. No logic.
#pragma once
#include <curl/curl.h>

typedef CURLcode (*SpatialCurlSet)(CURL *, CURLoption, ...);
typedef CURLcode (*SpatialCurlGet)(CURL *, CURLINFO, ...);

static inline CURLcode spatial_curl_set_long(
    void *set, CURL *curl, CURLoption option, long value) {
  return ((SpatialCurlSet)set)(curl, option, value);
}

static inline CURLcode spatial_curl_set_size(
    void *set, CURL *curl, CURLoption option, curl_off_t value) {
  return ((SpatialCurlSet)set)(curl, option, value);
}

static inline CURLcode spatial_curl_set_pointer(
    void *set, CURL *curl, CURLoption option, const void *value) {
  return ((SpatialCurlSet)set)(curl, option, value);
}

static inline CURLcode spatial_curl_set_writer(
    void *set, CURL *curl, CURLoption option, curl_write_callback writer) {
  return ((SpatialCurlSet)set)(curl, option, writer);
}

static inline CURLcode spatial_curl_status(void *get, CURL *curl, long *status) {
  return ((SpatialCurlGet)get)(curl, CURLINFO_RESPONSE_CODE, status);
}
