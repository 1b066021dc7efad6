from .agent import Agent as Agent
from .corpus import Corpus as Corpus, PassageCorpus as PassageCorpus
from .evidence import EvidenceAgent as EvidenceAgent
from .limits import Limits as Limits
from .react.agent import FreeAgent as FreeAgent
from .react.evidence import EvidenceByReact as EvidenceByReact
from .react.own import OwnAgent as OwnAgent
from .tools import Question as Question, Tools as Tools, together as together
from .trace import Step as Step, Trace as Trace
