// libyaml, the parser of YAML that every distribution carries. No logic.
#pragma once
#include <yaml.h>
