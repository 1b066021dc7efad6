"""Real vLLM on the CPU, as a server and in this process, with a tiny model made on the spot.

Runs where vLLM is installed (`make test-vllm`); elsewhere the tests of this folder are skipped.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

import pytest
from vllm_docs import shown_command

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import SupportJudge

START_S = 900  # until healthy; about a minute on two cores with nothing else to do
STOP_S = 60
SEED = 235  # of a model that is torn between yes and no, and between `yes` and `y`

# Of the engine, in both ways. The cache of prefixes holds 256 blocks of 32 tokens: what ten
# requests need, so that it matters in which order they come. The share of memory is what must be
# free at the start, on a CPU.
OPTIONS = {
    "dtype": "bfloat16", "enforce_eager": True, "block_size": 32, "max_model_len": 4096,
    "max_num_seqs": 8, "num_gpu_blocks_override": 256, "gpu_memory_utilization": 0.2,
}  # fmt: skip
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "OMP_NUM_THREADS": "1",  # a tiny model: none waits for another
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}
SERVER_ENVIRONMENT = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}  # one process less
IS_HERE = (spec := find_spec("vllm")) is not None and spec.origin is not None  # not this folder
if IS_HERE:
    os.environ |= ENVIRONMENT  # before torch is imported

# Not `vllm serve`: it asks for the package vllm, and the build for CPUs has another name. Its
# engine is forked: a process of its own would import all of vLLM again.
SERVE = """
import multiprocessing, runpy
from vllm.utils import system_utils
system_utils.get_mp_context = lambda: multiprocessing.get_context("fork")
runpy.run_module("vllm.entrypoints.openai.api_server", run_name="__main__")
"""

# What may follow a token. With the reply's shape in its weights, the model also keeps to it where
# no schema holds it, and the rest of its probability is seen.
FOLLOWS = {
    "\n": ["<think>"], "<think>": ["hm"], "hm": ["</think>"], "</think>": ['{"'],
    '{"': ["verdict"], "verdict": ['":"'], '":"': ["yes", "y", "no", "n"], "y": ["es"],
    "n": ["o"], **{token: ['"}'] for token in ("yes", "es", "no", "o")}, '"}': ["<|im_end|>"],
}  # fmt: skip
SURE, UNSURE = 4.0, 1.6  # how much likelier one follower is, and each of several
TEMPLATE = """\
{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{{ '<|im_start|>assistant\n' }}\
{% if not enable_thinking %}{{ '<think></think>' }}{% endif %}"""


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model of 0.1 million weights."""
    _need_vllm()
    folder = tmp_path_factory.mktemp("model") / "tiny"
    _make_model(folder)
    return folder


@pytest.fixture(scope="session")
def vllm_url(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of vLLM's server as docs/backends.md starts it.

    Its model is named `tiny`, and thinks first where a request says `enable_thinking`.
    """
    log = tmp_path_factory.mktemp("server") / "vllm.log"
    with _served(tiny_model, shown_command(), log) as url:
        yield url


def _need_vllm() -> None:
    if not IS_HERE:
        pytest.skip("vLLM is not installed here; `make test-vllm` runs this")


@contextmanager
def _served(model: Path, command: list[str], log: Path) -> Iterator[str]:
    """The base URL of a server started by the words of `vllm serve NAME ...`, for this model."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command[command.index("--port") + 1] = str(port)
    flags = [*command[3:], "--served-model-name", "tiny"]
    flags += ["--default-chat-template-kwargs", '{"enable_thinking": false}']
    for name, value in OPTIONS.items():
        flags += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    serve = [sys.executable, "-c", SERVE, "--model", str(model)]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*serve, *flags], env=os.environ | SERVER_ENVIRONMENT, stdin=subprocess.DEVNULL,
            stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        until = time.monotonic() + START_S
        while not _is_healthy(port):
            assert process.poll() is None, log.read_text("utf-8", "replace")[-5000:]
            assert time.monotonic() < until, "vLLM is not ready"
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_S)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with workers that outlived it
        process.wait()


def _is_healthy(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


@pytest.fixture(scope="session")
def in_process(tiny_model: Path) -> Iterator[ModelConfig]:
    """The same model in this process. It stays loaded: the tests open it again without a wait."""
    config = ModelConfig(model=str(tiny_model), engine="vllm", vllm=OPTIONS, max_tokens=60)
    backend = open_backend(config)
    SupportJudge(backend=backend)(sentence="Bees make honey.", passage="Honey is sweet.")
    yield config
    asyncio.run(backend.aclose())


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
    pieces.add_tokens(["<think>", "</think>", "hm"])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pieces._tokenizer, eos_token="<|im_end|>", pad_token="<|im_end|>"
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(SEED)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
            num_attention_heads=2, num_key_value_heads=2, head_dim=32,
            max_position_embeddings=8192, initializer_range=0.13, bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
        )
    )  # fmt: skip
    with torch.no_grad():
        seen = model.model.embed_tokens.weight.normal_(std=1.0)
        said = model.lm_head.weight.normal_(std=0.25)
        for before, after in FOLLOWS.items():
            [i] = tokenizer.encode(before)
            for token in after:
                [j] = tokenizer.encode(token)
                said[j] += (SURE if len(after) == 1 else UNSURE) * seen[i] / seen[i].norm()
    model.to(torch.bfloat16).save_pretrained(folder)
