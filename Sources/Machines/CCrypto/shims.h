// SPDX-License-Identifier: MPL-2.0
// libcrypto of OpenSSL, which every distribution carries, for encryption and hashes. No logic.
#pragma once
#include <openssl/evp.h>
