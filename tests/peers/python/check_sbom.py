"""Checks a list in the format CycloneDX against the schema of its version."""

import json
import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

text = Path(sys.argv[1]).read_text(encoding="utf-8")
version = SchemaVersion.from_version(json.loads(text)["specVersion"])
error = JsonStrictValidator(version).validate_str(text)
if error:
    sys.exit(f"{sys.argv[1]}: {error}")
