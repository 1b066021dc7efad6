"""Chains, engines and pipelines of the real libraries answer, and what they return is judged."""

import os

import pytest

import nuggetjudge as nj

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ.setdefault("HF_HUB_OFFLINE", "1")

QUESTIONS = ["what makes tides", "what do bees eat"]
FOUND = {QUESTIONS[0]: "The moon does.", QUESTIONS[1]: "They eat nectar."}
SAID = {QUESTIONS[0]: "The moon does [1].", QUESTIONS[1]: "The moon does [1]."}


def precisions(answer):
    result = nj.evaluate(QUESTIONS, "support", answer=answer, model="lexical")
    return [row.value for row in result.rows("support_precision")]


@pytest.fixture
def retriever():
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Found(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(page_content=FOUND[query], metadata={"title": "T"})]

    return Found()


@pytest.fixture
def chat_model():
    pytest.importorskip("langchain_core")
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    return FakeListChatModel(responses=[SAID[QUESTIONS[0]]])


def test_langchain_retrieval_chains(retriever, chat_model):
    chains = pytest.importorskip("langchain_classic.chains")
    from langchain_classic.chains.combine_documents import create_stuff_documents_chain
    from langchain_core.prompts import ChatPromptTemplate

    prompt = ChatPromptTemplate.from_template("{context} {input}")
    chain = chains.create_retrieval_chain(
        retriever, create_stuff_documents_chain(chat_model, prompt)
    )
    assert precisions(chain) == [1.0, 0.0]
    assert precisions(lambda question: chain.invoke({"input": question})) == [1.0, 0.0]
    older = chains.RetrievalQA.from_chain_type(
        chat_model, retriever=retriever, return_source_documents=True
    )
    assert precisions(older) == [1.0, 0.0]
    assert precisions(lambda question: older.invoke({"query": question})) == [1.0, 0.0]


@pytest.mark.parametrize("is_keyed", [True, False])
def test_a_langchain_runnable_that_ends_in_a_message(is_keyed, retriever, chat_model):
    prompts = pytest.importorskip("langchain_core.prompts")
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    prompt = prompts.ChatPromptTemplate.from_template("{question}")
    first = RunnablePassthrough() if is_keyed else RunnableLambda(lambda text: {"question": text})
    chain = first | prompt | chat_model
    samples = [{"question": q, "contexts": [FOUND[q]], "nuggets": ["the moon does"]} for q in FOUND]
    result = nj.evaluate(samples, "nuggets", answer=chain, model="lexical")
    assert [row.value for row in result.rows("V_strict")] == [1.0, 1.0]


def test_langchain_content_in_blocks_and_an_agents_messages():
    messages = pytest.importorskip("langchain_core.messages")
    blocks = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Tides "}, "turn."]
    said = messages.AIMessage(content=blocks)
    asked = messages.HumanMessage(content="when?")
    for returned in (said, {"messages": [asked, said]}, {"answer": said}):
        result = nj.evaluate(
            [{"question": "when?", "nuggets": ["tides turn"]}],
            answer=lambda question, returned=returned: returned,
            model="lexical",
        )
        assert [row.value for row in result.rows("V_strict")] == [1.0]


def test_llama_index_engines_responses_and_nodes():
    engines = pytest.importorskip("llama_index.core.query_engine")
    from llama_index.core.base.response.schema import Response
    from llama_index.core.schema import Document, NodeWithScore, TextNode

    def nodes(question):
        texts = [TextNode(text=FOUND[question], metadata={"title": "T"}), Document(text="Else.")]
        return [NodeWithScore(node=node, score=0.5) for node in texts]

    class Engine(engines.CustomQueryEngine):
        def custom_query(self, query_str):
            return Response(SAID[query_str], source_nodes=nodes(query_str))

    engine = Engine()
    assert precisions(engine) == [1.0, 0.0]
    assert precisions(engine.query) == [1.0, 0.0]
    assert precisions(engine.aquery) == [1.0, 0.0]
    rows = [{"question": q, "answer": SAID[q], "contexts": nodes(q)} for q in QUESTIONS]
    objects = [{"question": q, "response": engine.query(q)} for q in QUESTIONS]
    for samples in (rows, objects):
        result = nj.evaluate(samples, "support", model="lexical")
        assert [row.value for row in result.rows("support_precision")] == [1.0, 0.0]


@pytest.mark.parametrize("as_message", [True, False])
def test_the_outputs_of_a_haystack_pipeline(as_message):
    haystack = pytest.importorskip("haystack")
    from haystack.components.builders import AnswerBuilder
    from haystack.dataclasses import ChatMessage

    @haystack.component
    class Retriever:
        @haystack.component.output_types(documents=list[haystack.Document])
        def run(self, query: str):
            return {"documents": [haystack.Document(content=FOUND[query], meta={"title": "T"})]}

    @haystack.component
    class Generator:
        @haystack.component.output_types(replies=list[ChatMessage if as_message else str])
        def run(self, query: str):
            said = SAID[query]
            return {"replies": [ChatMessage.from_assistant(said) if as_message else said]}

    pipeline = haystack.Pipeline()
    pipeline.add_component("retriever", Retriever())
    pipeline.add_component("llm", Generator())
    asked = lambda q: {"retriever": {"query": q}, "llm": {"query": q}}  # noqa: E731
    assert precisions(lambda question: pipeline.run(asked(question))) == [1.0, 0.0]
    pipeline.add_component("builder", AnswerBuilder())
    pipeline.connect("llm.replies", "builder.replies")
    pipeline.connect("retriever.documents", "builder.documents")
    built = lambda q: pipeline.run({**asked(q), "builder": {"query": q}})  # noqa: E731
    assert precisions(built) == [1.0, 0.0]
