"""Results as an earlier version wrote them, without digests, so that tests may edit files."""

import json


def forget_digests(folder):
    """Take the digests of result files out of a manifest; returns the folder."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest.pop("files", None)
    path.write_text(json.dumps(manifest, indent=2), "utf-8")
    return folder
