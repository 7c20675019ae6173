// SPDX-License-Identifier: LGPL-2.1-or-later
// libyaml, the parser of YAML that every distribution carries. No logic.
#pragma once
#include <yaml.h>
