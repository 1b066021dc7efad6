from .agent import Agent as Agent
from .corpus import Corpus as Corpus, PassageCorpus as PassageCorpus
from .evidence import EvidenceAgent as EvidenceAgent
from .tools import (
    Limits as Limits,
    Question as Question,
    Step as Step,
    Tools as Tools,
    Trace as Trace,
    together as together,
)
