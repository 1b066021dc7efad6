"""A real vLLM server on 127.0.0.1, on the CPU, with a tiny model made on the spot.

Runs where vLLM is installed (`make test-vllm`); elsewhere the tests of this folder are skipped.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

START_S = 300  # until healthy; about a minute on two cores
STOP_S = 30
SEED = 17  # of a model that is torn between yes and no, and between `yes` and `y`

# What may follow a token. With the reply's shape in its weights, the model also keeps to it where
# no schema holds it, and the rest of its probability is seen.
FOLLOWS = {
    "\n": ['{"'],
    '{"': ["verdict"],
    "verdict": ['":"'],
    '":"': ["yes", "y", "no", "n"],
    "y": ["es"],
    "n": ["o"],
    **{token: ['"}'] for token in ("yes", "es", "no", "o")},
    '"}': ["<|im_end|>"],
}
SURE, UNSURE = 4.0, 1.6  # how much likelier one follower is, and each of several
TEMPLATE = """\
{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{{ '<|im_start|>assistant\n' }}"""


@pytest.fixture(scope="session")
def vllm_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a server whose model is named `tiny`."""
    found = find_spec("vllm")
    if found is None or found.origin is None:  # without an origin it is this folder
        pytest.skip("vLLM is not installed here; `make test-vllm` runs this")
    folder = tmp_path_factory.mktemp("vllm")
    _make_model(folder / "tiny")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
                *("--model", str(folder / "tiny"), "--served-model-name", "tiny"),
                *("--host", "127.0.0.1", "--port", str(port)),
                *("--dtype", "bfloat16", "--enforce-eager", "--block-size", "32"),
                *("--max-model-len", "4096", "--max-num-seqs", "8"),
                "--structured-outputs-config",
                '{"backend": "guidance", "disable_any_whitespace": true}',
            ],
            cwd=folder,
            env=os.environ
            | {
                "HF_HUB_OFFLINE": "1",
                "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
                "VLLM_NO_USAGE_STATS": "1",
                "DO_NOT_TRACK": "1",
            },
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # its workers go with it
        )
    try:
        _wait_until_healthy(f"http://127.0.0.1:{port}/health", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        _stop(server)


def _make_model(folder: Path) -> None:
    """Save a random Llama of two layers that likes one token after another as FOLLOWS has it."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    pieces = ByteLevelBPETokenizer()
    replies = ['{"verdict":"yes"}', '{"verdict":"no"}'] * 3
    pieces.train_from_iterator(
        replies, vocab_size=300, special_tokens=["<|im_start|>", "<|im_end|>"]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pieces._tokenizer, eos_token="<|im_end|>", pad_token="<|im_end|>"
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(SEED)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            head_dim=32,
            max_position_embeddings=8192,
            initializer_range=0.13,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    with torch.no_grad():
        seen = model.model.embed_tokens.weight.normal_(std=1.0)
        said = model.lm_head.weight.normal_(std=0.25)
        for before, after in FOLLOWS.items():
            [i] = tokenizer.encode(before)
            for token in after:
                [j] = tokenizer.encode(token)
                said[j] += (SURE if len(after) == 1 else UNSURE) * seen[i] / seen[i].norm()
    model.to(torch.bfloat16).save_pretrained(folder)


def _wait_until_healthy(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_S
    while server.poll() is None and time.monotonic() < until:
        try:
            urlopen(url, timeout=5).close()
            return
        except (URLError, TimeoutError, ConnectionError):
            time.sleep(1)
    state = "still starting" if server.poll() is None else f"ended with {server.returncode}"
    tail = log.read_text(errors="replace")[-4000:]
    raise RuntimeError(f"the vLLM server {state} after at most {START_S} s:\n{tail}")


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(STOP_S)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
