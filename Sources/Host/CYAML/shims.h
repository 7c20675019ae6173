// SPDX-License-Identifier: MPL-2.0
// libyaml, the parser of YAML that every distribution carries. No logic.
#pragma once
#include <yaml.h>
