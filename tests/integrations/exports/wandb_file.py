"""What an offline run of W&B wrote: the records of its file, a log of LevelDB's form."""

import json
import struct
import time

from wandb.proto.wandb_internal_pb2 import Record

_BLOCK, _HEADER, _FULL, _LAST = 32_768, 7, 1, 4


def records_of(path):
    """Every record of a `.wandb` file, in order."""
    data, at, parts = path.read_bytes(), _HEADER, []
    while at + _HEADER <= len(data):
        if _BLOCK - at % _BLOCK < _HEADER:  # no room for a header: the rest of a block is empty
            at += _BLOCK - at % _BLOCK
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        at += _HEADER
        parts.append(data[at : at + length])
        at += length
        if kind in (_FULL, _LAST):
            yield Record.FromString(b"".join(parts))
            parts = []


def all_records_of(path, seconds=20):
    """The records once the run's end is among them, which another process writes."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        records = list(records_of(path))
        if any(record.HasField("exit") for record in records):
            return records
        time.sleep(0.1)
    raise AssertionError(f"{path}: no end of the run in {len(records)} records")


def logged_in(path):
    """(config, summary, files, artifacts) of a `.wandb` file, as W&B would show them."""
    config, summary, files, artifacts = {}, {}, [], []
    for record in all_records_of(path):
        which = record.WhichOneof("record_type")
        if which in ("config", "run"):
            update = record.config if which == "config" else record.run.config
            config |= {item.key or item.nested_key[0]: json.loads(item.value_json)
                       for item in update.update}  # fmt: skip
        elif which == "summary":
            for item in record.summary.update:
                name = item.key or ".".join(item.nested_key)
                summary[name] = json.loads(item.value_json)
        elif which == "files":
            files += [item.path for item in record.files.files]
        elif which == "artifact":
            artifacts.append(record.artifact)
    return config, summary, files, artifacts
