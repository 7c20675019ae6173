# SPDX-License-Identifier: MPL-2.0
"""Validates YAML files with a JSON Schema, as editors do.

  validate_schema.py SCHEMA FILE...

Prints a line for each mistake: the file, the place in it, and what jsonschema says.
"""
import json
import sys

import jsonschema
import yaml

with open(sys.argv[1]) as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for path in sys.argv[2:]:
    with open(path) as file:
        content = yaml.safe_load(file)
    for mistake in validator.iter_errors(content):
        print(path, "/".join(map(str, mistake.path)), mistake.message[:300])
