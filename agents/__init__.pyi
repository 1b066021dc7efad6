from .agent import Agent as Agent
from .corpus import Corpus as Corpus, PassageCorpus as PassageCorpus
from .evidence import EvidenceAgent as EvidenceAgent
from .limits import Limits as Limits
from .tools import Question as Question, Tools as Tools, together as together
from .trace import Step as Step, Trace as Trace
