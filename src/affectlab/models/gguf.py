"""GGUF files: checked, converted once to safetensors in the user's cache, and loaded from there.

Reading a GGUF file through transformers takes half a minute each time; the converted copy takes under a
second. A converted folder is named by the file's checksum, appears whole or not at all, and holds a list of
its own checksums, ``affectlab.json``, that every load verifies. A folder that fails is made anew.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from affectlab.errors import UserError, WorldError
from affectlab.models.cache import cache_folder, locked, say

MANIFEST = "affectlab.json"
"""Name of the list of checksums in a converted folder."""

_ALIGNMENT = "general.alignment"
_BLOCKS = ".block_count"
_SCALARS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING, _ARRAY, _UINT32 = 8, 9, 4
_BLOCK_NAME = re.compile(r"blk\.(\d{1,6})\.")
_MOST_AXES = 8
_BLOCK = 1 << 20


def checksum(files: Sequence[Path]) -> str:
    """Hex sha256 of the files' bytes, one after the other.

    Raises:
        UserError: When one is missing or is a folder.
        WorldError: When one cannot be read.
    """
    digest = hashlib.sha256()
    for path in files:
        try:
            with path.open("rb") as stream:
                while block := stream.read(_BLOCK):
                    digest.update(block)
        except FileNotFoundError:
            raise UserError(f"There is no file {path}.") from None
        except IsADirectoryError:
            raise UserError(f"{path} is a folder, not a GGUF file. A folder is opened by its path alone.") from None
        except OSError as error:
            raise WorldError(f"Cannot read {path}: {error.strerror}.") from error
    return digest.hexdigest()


def check_whole(path: Path, name: str) -> None:
    """Check that a file is GGUF and holds all the tensors its header announces.

    Args:
        path: The file.
        name: What errors call it.

    Raises:
        UserError: When it is not GGUF, of a version that cannot be read, or cut short.
    """
    size = path.stat().st_size
    with path.open("rb") as stream:
        if stream.read(4) != b"GGUF":
            raise UserError(f"{name} is not a GGUF file: it does not start with the letters GGUF.")
        try:
            needed = _announced_size(stream)
        except (struct.error, EOFError):
            raise UserError(f"{name} is cut short: it ends inside its header. Fetch it again.") from None
        except RecursionError:
            raise UserError(f"{name} has a GGUF header that cannot be read (lists in lists without end).") from None
        except (ValueError, KeyError, OverflowError) as error:
            raise UserError(f"{name} has a GGUF header that cannot be read ({error}). Fetch it again.") from None
    if size < needed:
        raise UserError(f"{name} is cut short: it has {size:,} bytes of {needed:,}. Fetch it again.")


def _announced_size(stream: BinaryIO) -> int:
    """Bytes that a whole file has, from its header; the stream stands after the magic.

    Source: the GGUF specification, versions 2 and 3.
    """
    from gguf import GGML_QUANT_SIZES

    (version,) = _take(stream, "I")
    if version not in (2, 3):
        raise ValueError(f"version {version}, where 2 and 3 are known")
    tensors, pairs = _take(stream, "QQ")
    alignment, blocks = 32, 0
    for _ in range(pairs):
        key = _text(stream)
        (kind,) = _take(stream, "I")
        if key == _ALIGNMENT and kind == _UINT32:
            (alignment,) = _take(stream, "I")
        elif key.endswith(_BLOCKS) and kind == _UINT32:
            (blocks,) = _take(stream, "I")
        else:
            _skip(stream, kind)
    if not alignment:
        raise ValueError("an alignment of 0 bytes")
    end = found = 0
    for _ in range(tensors):
        if block := _BLOCK_NAME.match(_text(stream)):
            found = max(found, int(block[1]) + 1)
        (rank,) = _take(stream, "I")
        if rank > _MOST_AXES:
            raise ValueError(f"a tensor of {rank} axes")
        shape = _take(stream, f"{rank}Q")
        kind, offset = _take(stream, "IQ")
        values, packed = GGML_QUANT_SIZES[kind]
        end = max(end, offset + math.prod(shape) // values * packed)
    # transformers would leave upper blocks out without a word, and make as many as are said before it misses any.
    if blocks != found and (found or blocks > tensors):
        raise ValueError(f"it says {blocks} blocks and lists tensors of {found}")
    return -(-stream.tell() // alignment) * alignment + end


def _take(stream: BinaryIO, form: str) -> tuple[int, ...]:
    return struct.unpack("<" + form, stream.read(struct.calcsize("<" + form)))


def _text(stream: BinaryIO) -> str:
    (length,) = _take(stream, "Q")
    data = stream.read(min(length, _BLOCK))
    if len(data) < length:
        raise EOFError
    return data.decode("utf-8")


def _skip(stream: BinaryIO, kind: int, count: int = 1) -> None:
    """Move past ``count`` values of one kind."""
    if kind == _STRING:
        for _ in range(count):
            (length,) = _take(stream, "Q")
            _pass_over(stream, length)
    elif kind == _ARRAY:
        for _ in range(count):
            inner, length = _take(stream, "IQ")
            _skip(stream, inner, length)
    else:
        _pass_over(stream, _SCALARS[kind] * count)


def _pass_over(stream: BinaryIO, length: int) -> None:
    if stream.tell() + length > os.fstat(stream.fileno()).st_size:
        raise EOFError
    stream.seek(length, os.SEEK_CUR)


def converted(name: str, files: Sequence[Path], sha256: str) -> Path:
    """The folder with the model in safetensors, made now if there is none or it is damaged.

    Args:
        name: Model's name; the first part of the folder's.
        files: The GGUF file, or its pieces in order.
        sha256: Its checksum.

    Raises:
        UserError: When the file is not GGUF, cut short, or of an architecture that transformers cannot read.
        WorldError: When the cache folder cannot be written.
    """
    folder = cache_folder() / f"{name}-{sha256[:16]}"
    if len(files) == 1 and not folder.exists():
        check_whole(files[0], str(files[0]))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.with_name(folder.name + ".lock"), name):
            if folder.exists() and (problem := _problem(folder)):
                say(f"The converted copy of {name} in {folder} is damaged ({problem}): making it anew.")
                shutil.rmtree(folder)
            if not folder.exists():
                say(f"First use of {name}: converting its weights, once; takes about a minute.")
                _convert(files, sha256, folder)
    except OSError as error:
        raise WorldError(
            f"Cannot keep the converted {name} in {folder}: {error.strerror or error}. "
            "Make room there, or point XDG_CACHE_HOME elsewhere."
        ) from error
    return folder


def _problem(folder: Path) -> str:
    """What is wrong with a converted folder; empty if nothing."""
    try:
        listed = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
    except FileNotFoundError:
        return f"{MANIFEST} is missing"
    except (ValueError, KeyError, TypeError):
        return f"{MANIFEST} cannot be read"
    for file, sha256 in listed.items():
        if not (folder / file).is_file():
            return f"{file} is missing"
        if checksum([folder / file]) != sha256:
            return f"{file} has changed"
    return ""


def _convert(files: Sequence[Path], sha256: str, folder: Path) -> None:
    """Convert into a folder beside the wanted one, then rename: a folder of the wanted name is always whole."""
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        _convert_into(partial, files, sha256)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    partial.rename(folder)


def _convert_into(partial: Path, files: Sequence[Path], sha256: str) -> None:
    source = files[0]
    if len(files) > 1:
        source = partial / "source.gguf"
        with source.open("wb") as target:
            for piece in files:
                with piece.open("rb") as stream:
                    shutil.copyfileobj(stream, target)
        check_whole(source, files[0].name)
    _save_as_safetensors(source, partial)
    if len(files) > 1:
        source.unlink()
    sums = {path.name: checksum([path]) for path in sorted(partial.iterdir())}
    manifest = {"schema": 1, "source_sha256": sha256, "files": sums}
    (partial / MANIFEST).write_text(json.dumps(manifest, indent=2), encoding="utf-8")


def _save_as_safetensors(source: Path, folder: Path) -> None:
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from affectlab.models.loading import BROKEN, check_weights, in_memory, memory_ran_out, quiet

    where = {"pretrained_model_name_or_path": source.parent, "gguf_file": source.name}
    with quiet(), in_memory(source.name):
        try:
            tokenizer = AutoTokenizer.from_pretrained(**where)
            read, info = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32, output_loading_info=True)
        except BROKEN as error:
            if isinstance(error, OSError) or memory_ran_out(error):
                raise
            raise UserError(f"transformers cannot read {source.name}: {error}") from error
        check_weights(source.name, read, info)
        # A model that came from GGUF refuses to be saved, so its weights go into a fresh one of the same config.
        settings = read.config.to_dict()
        settings.pop("quantization_config", None)
        with torch.device("meta"):
            fresh = AutoModelForCausalLM.from_config(type(read.config).from_dict(settings))
        fresh.load_state_dict(read.state_dict(), assign=True)
        fresh.tie_weights()
        fresh.generation_config = read.generation_config
        try:
            fresh.save_pretrained(folder)
        except SafetensorError as error:
            raise OSError(str(error)) from error
        tokenizer.save_pretrained(folder)
