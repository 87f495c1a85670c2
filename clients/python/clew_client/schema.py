# SPDX-License-Identifier: Apache-2.0
# Made by clients/generate.mjs from the OpenAPI document: do not edit.
"""What the API takes and answers."""

from typing import Any, Dict, List, Literal, NotRequired, Tuple, TypedDict, Union

class ContentBlock(TypedDict):
    """A part of a message, as the OpenAI and Anthropic APIs have it; unknown kinds are kept as they are"""

    # Its kind: text, image, tool_use, tool_result …
    type: NotRequired[str]
    # Its text, where it has one
    text: NotRequired[str]


class Turn(TypedDict):
    """One message, verbatim and immutable"""

    # Its id
    id: str
    # The chat it is in
    chat_id: str
    # The session it is in
    session_id: str
    # Its number in the chat, from 1
    seq: int
    # Whose chat it is
    user_id: str
    # Who speaks
    role: Literal["user", "assistant", "system", "tool"]
    # The speaker's name, if there are several
    name: Union[str, None]
    # How it came
    channel: Union[str, None]
    # What a person would read of it
    text: str
    # The blocks as they were sent, if they were
    content: NotRequired[List[Any]]
    # Its length in tokens
    token_count: int
    # When it was said
    created_at: str
    # When it was stored
    stored_at: str
    # The speaker's time zone
    timezone: Union[str, None]
    # Your own id of it
    external_id: Union[str, None]


class Captured(TypedDict):
    """A turn that was stored, and what it changed"""

    # The turn
    turn: "Turn"
    # The chat it went to
    chat: "Chat"
    # What was made of it
    updates: "Updates"
    # Lines for a person: an effort resolved …
    notices: List[str]
    # Its trace: what was decided, and why
    trace_id: Union[str, None]
    # It was stored already, by its external_id
    repeated: bool


class CapturedBatch(TypedDict):
    """What came of a batch, in its order"""

    # One for each turn that was not left out
    items: List["Captured"]
    # Your ids of those left out by `unless_forgotten` or `begun_at`
    forgotten: List[str]


class FoundTurns(TypedDict):
    """The turn with your id: one, or none"""

    # The turn
    items: List["Turn"]
    # There are no further pages
    next_cursor: None
    # There is none: what `user_id` had under this id was forgotten
    forgotten: bool


class Updates(TypedDict):
    """What a turn changed"""

    # Memories made or changed
    memories: List["MemoryUpdate"]
    # Chains its claims went to
    chains: List["ChainUpdate"]
    # Decisions about other chats
    links: List["LinkUpdate"]
    # Episodes begun or changed
    episodes: List["EpisodeUpdate"]


class MemoryUpdate(TypedDict):
    """A memory that a turn changed"""

    # The memory
    id: str
    # What kind of memory it is
    type: str
    # Its status now
    status: str
    # What it says
    summary: str
    # created, extended, resolved, refined …
    change: str


class ChainUpdate(TypedDict):
    """What the claims of a turn did to a chain"""

    # What was done
    type: Literal["extend", "create", "branch", "merge", "conclude"]
    # The chain
    chain_id: str
    # The claims that were added
    claim_ids: List[str]
    # The chain it branched from
    parent_chain_id: NotRequired[str]
    # How far the claim was from the chain
    distance: NotRequired[float]
    # Why, in words
    reasoning: Union[str, None]


class LinkUpdate(TypedDict):
    """A decision about another chat"""

    # The decision
    id: str
    # The chat of the turn
    chat_id: str
    # The other chat
    other_chat_id: str
    # Whether they belong together
    decision: Literal["link", "no_link"]
    # The score by words, names, topic and time
    algorithmic: float
    # The language model's score, if it was asked
    llm: Union[float, None]
    # How sure the decision is
    confidence: Literal["high", "uncertain"]


class EpisodeUpdate(TypedDict):
    """An episode that a turn changed"""

    # The episode
    id: str
    # primary or cross_chat
    type: str
    # What happened to it
    change: str


class Chat(TypedDict):
    """One line of turns"""

    # Its id
    id: str
    # The root of the tree of its forks
    conversation_id: str
    # The chat it was forked from
    parent_id: Union[str, None]
    # Whose it is
    user_id: str
    # Its name among the forks
    branch: str
    # What it is called
    title: Union[str, None]
    # What it is about, once it was summed up
    summary: Union[str, None]
    # The channels its turns came by
    channels: List[str]
    # Made on purpose, not by silence
    is_explicit: bool
    # The last turn shared with its parent
    fork_seq: int
    # How many forks lie above it
    depth: int
    # The number of its last turn
    last_seq: int
    # A timeout of its own
    inactivity_minutes: Union[int, None]
    # The silence that ends it
    inactivity_timeout_minutes: int
    # As is_explicit
    explicit_channel: bool
    # Its latest episode
    primary_episode_id: Union[str, None]
    # Episodes it shares with others
    cross_chat_episodes: List[str]
    # How many turns are its own
    turn_count: int
    # When it began
    created_at: str
    # When something was last said
    last_activity_at: str
    # When it was closed
    closed_at: Union[str, None]


class ChatTree(TypedDict):
    """The tree of forks a chat belongs to"""

    # The root's id
    conversation_id: NotRequired[str]
    # The chats, the root first
    items: List["Chat"]
    # There are no further pages
    next_cursor: None


class Session(TypedDict):
    """A work period inside a chat"""

    # Its id
    id: str
    # The chat it is in
    chat_id: str
    # Whose it is
    user_id: str
    # When it began
    started_at: str
    # When something was last said in it
    last_activity_at: str
    # When it ended
    ended_at: Union[str, None]
    # What was done in it; in lists
    summary: NotRequired[Union[str, None]]


class Marks(TypedDict):
    """What was made of a stretch of turns"""

    # Where chains of thought are at work
    topics: List["MarkTopic"]
    # Memories drawn from these turns
    memories: List["Mark"]
    # Efforts these turns work on
    efforts: List["Mark"]
    # Chats that leave here
    forks: List["MarkFork"]
    # Episodes that lie here
    episodes: List["MarkEpisode"]


class Mark(TypedDict):
    """A memory beside the turns it comes from"""

    # The memory
    id: str
    # What kind of memory it is
    type: str
    # Its status
    status: str
    # What it says
    summary: str
    # How it ended
    resolution: Union[str, None]
    # The first turn it comes from
    first_seq: int
    # The last turn it comes from
    last_seq: int
    # It was taken back
    retracted: bool
    # A newer one replaces it
    superseded: bool


class MarkTopic(TypedDict):
    """A chain at a turn"""

    # The turn
    seq: int
    # The chain
    chain_id: str
    # What it is about
    topic: str
    # active, dormant or concluded
    state: str


class MarkFork(TypedDict):
    """A chat that leaves at a turn"""

    # The chat
    chat_id: str
    # The last turn they share
    seq: int
    # Its name among the forks
    branch: str
    # What it is called
    title: Union[str, None]
    # How many turns are its own
    turn_count: int


class MarkEpisode(TypedDict):
    """An episode and where it lies"""

    # The episode
    id: str
    # Its first turn
    first_seq: int
    # Its last turn
    last_seq: int
    # It was summed up
    compacted: bool


class Context(TypedDict):
    """What the next turn needs to know"""

    # All of it as one text (format text)
    text: NotRequired[str]
    # As messages (openai, anthropic)
    messages: NotRequired[List["ContextMessage"]]
    # As system blocks (anthropic)
    system: NotRequired[List["ContentBlock"]]
    # How many tokens it has
    tokens: int
    # The same for the same context
    hash: str
    # It was made before
    cached: bool
    # Where it comes from
    sections: List["ContextSection"]
    # What was found and is not in it, at most 24
    left_out: List["ContextLeftOut"]
    # The effort, if it was asked for one
    effort: NotRequired["Effort"]


class ContextMessage(TypedDict):
    """A message to put before the next one"""

    # Who speaks
    role: Literal["user", "assistant", "system", "tool"]
    # What is said
    content: str


class ContextSection(TypedDict):
    """A part of a context"""

    # memory, continuity, effort, recent or recall
    name: str
    # How many tokens it has
    tokens: int
    # The turns and memories it comes from
    sources: List[str]


class ContextLeftOut(TypedDict):
    """What is not in a context"""

    # Where it would stand
    section: str
    # The turn or memory
    source: str
    # Why: does not answer the message, held before, reads like an order, another line says it, no room, is of another matter, was said by nobody (a client's text, a tool's)
    reason: Literal["far", "held_before", "reads_like_order", "given_already", "no_room", "other_matter", "not_said"]
    # How likely it answers the message, if it was found by it
    score: Union[float, None]


class RecallItem(TypedDict):
    """Something that may answer"""

    # What it is
    kind: Literal["turn", "memory", "episode", "chat"]
    # Its id
    id: str
    # The chat it is in
    chat_id: Union[str, None]
    # The turn it comes from
    turn_id: Union[str, None]
    # Your own id of that turn
    external_id: Union[str, None]
    # The passage that answers
    text: str
    # How long the text is that it is of
    text_bytes: int
    # The probability that it answers
    score: float
    # When it was said
    created_at: str
    # Something newer replaces it
    superseded: bool
    # What replaces it
    refined_by: Union[str, None]
    # It reads like an order to a model
    is_instruction: bool
    # Chat and lines it comes from
    source_ref: Union[str, None]
    # Who said it
    speaker: Union[str, None]
    # The memory's type
    type: Union[str, None]
    # An effort's: open, resolved or abandoned
    status: Union[str, None]
    # How the effort ended
    resolution: Union[str, None]
    # Where the passage lies in its turn
    passage: NotRequired["Passage"]
    # The same answer in other coats
    also: List["RecallCoat"]
    # The parts of its score (explain)
    why: NotRequired[Dict[str, float]]


# A stretch of a text, in bytes
Passage = TypedDict(
    "Passage",
    {
        # Where it begins
        "from": int,
        # Where it ends
        "to": int,
        # It holds what a tool was given
        "tool_input": bool,
    },
)


class RecallCoat(TypedDict):
    """The same answer as another kind of thing"""

    # What it is
    kind: Literal["turn", "memory", "episode", "chat"]
    # Its id
    id: str
    # The memory's type
    type: Union[str, None]
    # An effort's: open, resolved or abandoned
    status: Union[str, None]
    # How the effort ended
    resolution: Union[str, None]
    # What it says; a long one is cut and ends in …
    text: str
    # How long it is as a whole
    text_bytes: int
    # Something newer replaces it
    superseded: bool
    # It reads like an order to a model
    is_instruction: bool


class Recalled(TypedDict):
    """What was found, best first"""

    # What may answer
    items: List["RecallItem"]
    # Whether the question was answered
    answered: Literal["yes", "maybe", "no"]
    # The question as it was looked for, if words that nobody used were taken for slips of ones in use
    did_you_mean: Union[str, None]
    # Words of the chat it was put in, if it leaned on what was just said
    completed_with: Union[str, None]
    # Ask on with it for more. A page ends early rather than grow beyond 200,000 bytes
    next_cursor: Union[str, None]
    # How it was searched
    trace: "RecallTrace"


class RecallTrace(TypedDict):
    """How a question was searched"""

    # The words that were looked for; of very many the first
    terms: List[str]
    # How many documents were looked at
    scanned: int
    # How many were ranked
    candidates: int


class Answer(TypedDict):
    """A question answered from what was said"""

    # The sentences as one, or that nothing is known
    text: str
    # Whether the question was answered
    answered: Literal["yes", "maybe", "no"]
    # Whose words these are
    by: Literal["model", "passages", "nothing"]
    # Why passages answer and no model, as a code
    reason: Union[str, None]
    # What is answered
    sentences: List["AnswerSentence"]
    # What was found, and shown a model
    sources: List["AnswerSource"]
    # What the model asked on for (deep)
    questions: List[str]


class AnswerSentence(TypedDict):
    """One sentence of an answer"""

    # Its words
    text: str
    # What it cites has its numbers and names
    supported: bool
    # uncited, not_shown or not_said, if it is not
    fault: Union[str, None]
    # What it rests on
    cites: List["AnswerCite"]


class AnswerCite(TypedDict):
    """What a sentence rests on"""

    # Its number among the sources
    number: int
    # What it is
    kind: Literal["turn", "memory"]
    # Its id
    id: str
    # The turn
    turn_id: Union[str, None]
    # Its chat
    chat_id: Union[str, None]


class AnswerSource(TypedDict):
    """A passage that may answer"""

    # Its number
    number: int
    # What it is
    kind: Literal["turn", "memory"]
    # Its id
    id: str
    # The turn
    turn_id: Union[str, None]
    # Its chat
    chat_id: Union[str, None]
    # Your own id of the turn
    external_id: Union[str, None]
    # Who said it
    speaker: Union[str, None]
    # When it was said
    created_at: str
    # Something newer replaces it
    superseded: bool
    # It reads like an order to a model
    is_instruction: bool
    # How likely it answers
    score: float
    # The passage as it was shown
    text: str


class Episode(TypedDict):
    """A stretch of turns with its summaries"""

    # Its id
    id: str
    # primary (one chat) or cross_chat
    type: str
    # Whose it is
    user_id: str
    # Its chat, if it has one
    chat_id: Union[str, None]
    # All chats it comes from
    chat_ids: List[str]
    # Its number in the chat
    ordinal: int
    # Its first turn
    first_seq: Union[int, None]
    # Its last turn
    last_seq: Union[int, None]
    # It was summed up
    compacted: bool
    # Up to which turn it was summed up
    compacted_seq: int
    # When it was summed up
    compacted_at: Union[str, None]
    # Why then: end, turns, day or hand
    cause: Union[str, None]
    # Its summary in a phrase
    micro: Union[str, None]
    # Its summary in sentences
    meso: Union[str, None]
    # Its summary at length
    macro: Union[str, None]
    # The turns that each sentence comes from
    citations: Any
    # extractive or llm
    method: Union[str, None]
    # How much of the turns the summary covers
    coverage: float
    # When it began
    created_at: str
    # When it last changed
    updated_at: str


class ChatLink(TypedDict):
    """Why two chats were or were not joined"""

    # Its id
    id: str
    # Whose chats they are
    user_id: str
    # The one chat
    chat_id: str
    # The other chat
    other_chat_id: str
    # The turn that made one ask
    turn_id: str
    # Whether they belong together
    decision: Literal["link", "no_link"]
    # The score by words, names, topic and time
    algorithmic: float
    # The language model's score, if it was asked
    llm: Union[float, None]
    # The score it took then
    threshold: float
    # Whether both agree: yes, no or absent
    agreement: str
    # high or uncertain
    confidence: str
    # What the score is made of
    signals: Any
    # correct or incorrect, once it is known
    outcome: Union[str, None]
    # feedback or inferred
    outcome_by: Union[str, None]
    # When it was known
    outcome_at: Union[str, None]
    # When it was decided
    created_at: str
    # When it last changed
    updated_at: str


class Tuning(TypedDict):
    """How links are decided"""

    # Its id; null for what clew came with
    id: Union[str, None]
    # The tuning before
    previous_id: Union[str, None]
    # It is in force
    current: bool
    # The score that makes a link
    threshold: float
    # The weight of each signal
    weights: Dict[str, float]
    # The weight of the language model's word
    llm_weight: float
    # What the model is told
    prompt_signals: Any
    # Why it was changed
    reason: Union[str, None]
    # How well it did
    metrics: Any
    # When it came into force
    created_at: Union[str, None]


class Tunings(TypedDict):
    """How linking is tuned, and was"""

    # What is in force
    current: "Tuning"
    # What was, newest first
    history: List["Tuning"]


class Start(TypedDict):
    """Ways to begin"""

    # To answer with
    id: str
    # All of it, to be shown
    text: str
    # Chats it may go on with
    related_chats: List["StartChat"]
    # What is known about it
    relevant_memories: List["StartMemory"]
    # What can be chosen
    options: List["StartOption"]


class StartChat(TypedDict):
    """A chat to go on with: its fields, and these"""

    # The chat
    id: str
    # What it is about
    summary: Union[str, None]
    # How many memories of which kind
    artifacts: List["StartCount"]
    # How many memories it has
    n_artifacts: int
    # Something is unfinished in it
    has_open_effort: bool


class StartCount(TypedDict):
    """Memories of one kind"""

    # What kind
    type: str
    # With which status
    status: str
    # How many
    count: int


class StartMemory(TypedDict):
    """A memory to take along"""

    # Its number in the list
    n: int
    # The memory
    id: str
    # What kind of memory it is
    type: str
    # Its status
    status: str
    # What it says
    summary: str
    # How it ended
    resolution: Union[str, None]
    # Where it was made
    chat_id: Union[str, None]


class StartOption(TypedDict):
    """One way on"""

    # Its number
    n: int
    # continue, fork, new or fresh
    action: str
    # What it means, in words
    label: str
    # The chat it is about
    chat_id: NotRequired[str]


class Choice(TypedDict):
    """What came of an answer"""

    # continue, fork, new, fresh or ask
    action: str
    # The chat to talk in
    chat_id: NotRequired[Union[str, None]]
    # The memories that were taken along
    imported: List[str]
    # To be shown
    text: str


class Memory(TypedDict):
    """One thing worth keeping"""

    # Its id
    id: str
    # Whose it is; empty: shared by the tenant
    user_id: str
    # thought, fact, effort, event, decision, skill …
    type: str
    # active; an effort: open, resolved, abandoned
    status: str
    # What it says
    summary: str
    # How it ended
    resolution: Union[str, None]
    # Words to find it by
    tags: List[str]
    # Fields that its type has of its own
    fields: Any
    # Chat and lines it comes from
    source_ref: Union[str, None]
    # All chats and lines it comes from
    source_refs: List[str]
    # Who made it: rule, reader, llm, contributed …
    origin: str
    # original, refinement or consolidation
    thought_type: str
    # The chat it was made in
    chat_id: Union[str, None]
    # The effort it is an attempt of
    parent_id: Union[str, None]
    # The agent that contributed it
    agent_id: Union[str, None]
    # What that agent is called
    agent_name: Union[str, None]
    # It reads like an order to a model
    is_instruction: bool
    # What it refines or consolidates
    source_ids: List[str]
    # Kept in view whatever its weight
    pinned: bool
    # Its length in tokens
    token_count: int
    # How much it counts now
    weight: float
    # A newer one replaces it
    superseded: bool
    # The one that replaces it
    refined_by: Union[str, None]
    # When it was made
    created_at: str
    # When it last changed
    updated_at: str
    # When it stops to hold
    expires_at: Union[str, None]
    # When it was taken back
    retracted_at: Union[str, None]


class Thought(TypedDict):
    """What others thought about a prompt"""

    # What there is
    result: "ThoughtResult"
    # What was done
    trace: "ThoughtTrace"


class ThoughtResult(TypedDict):
    """Related thoughts"""

    # A sentence a model can use as it stands
    response: str
    # Related thoughts, best first
    sources: List["ThoughtSource"]
    # What many agents use
    highways_nearby: List["ThoughtHighway"]
    # Topics to choose between
    disambiguation: Union["ThoughtClusters", None]
    # What to do better next time
    guidance: Union[str, None]
    # For an agent that is new
    onboarding: Union[str, None]
    # The thought that was stored
    thought_id: Union[str, None]


class ThoughtSource(TypedDict):
    """A related thought"""

    # The thought
    thought_id: str
    # Who contributed it
    contributor: Union[str, None]
    # How close it is
    score: float
    # How it begins
    content_preview: str
    # The one that replaces it
    refined_by: Union[str, None]
    # A newer one replaces it
    superseded: bool
    # What kind of memory it is
    type: str
    # original, refinement or consolidation
    thought_type: str
    # How much it counts now
    weight: float


class ThoughtHighway(TypedDict):
    """A thought that many agents use"""

    # The thought
    thought_id: str
    # How often it was used
    accesses: int
    # By how many agents
    agents: int
    # How it begins
    content_preview: str


class ThoughtClusters(TypedDict):
    """Topics that a prompt may mean"""

    # The topics
    clusters: List["ThoughtCluster"]


class ThoughtCluster(TypedDict):
    """A topic"""

    # What it is called
    tag: str
    # How many thoughts it has
    count: int


class ThoughtTrace(TypedDict):
    """What was done with a prompt"""

    # The session, to send with the next one
    session_id: str
    # The steps, in order
    operations: List[str]
    # How many are related
    thoughts_retrieved: int
    # 1 if the prompt was stored
    thoughts_contributed: int
    # It was worth storing
    contribution_threshold_met: bool
    # The context helped to find them
    context_used: bool
    # How they were found
    retrieval_method: str
    # If it refines another
    lineage_summary: NotRequired["LineageSummary"]


class LineageSummary(TypedDict):
    """A lineage in short"""

    # There is one
    has_lineage: bool
    # How many thoughts it has
    chain_length: int
    # The first of them
    deepest_ancestor: str
    # The last of them
    latest_refinement: str
    # There are more than are told
    truncated: bool


class Lineage(TypedDict):
    """What a memory came from and became"""

    # The memory that was asked for
    thought_id: str
    # Oldest first
    chain: List["LineageNode"]
    # There are more than are told
    truncated: bool


class LineageNode(TypedDict):
    """A memory in a lineage"""

    # The memory
    id: str
    # As id
    thought_id: str
    # As thought_type
    type: str
    # original, refinement or consolidation
    thought_type: str
    # What it refines or consolidates
    source_ids: List[str]
    # How it begins
    content_preview: str
    # Who made it
    contributor: Union[str, None]
    # When it was made
    created_at: str
    # Before (negative) or after the one asked for
    depth: int
    # It was taken back
    retracted: bool


class Conflict(TypedDict):
    """Two memories that disagree"""

    # Whose they are
    user_id: str
    # What they are about
    subject: str
    # Of which they say something
    attribute: str
    # Of which kind
    qualifier: Union[str, None]
    # The older one
    older: "ConflictSide"
    # The newer one
    newer: "ConflictSide"
    # What would settle it
    suggestion: "ConflictSuggestion"


class ConflictSide(TypedDict):
    """One of two memories that disagree"""

    # The memory
    id: str
    # What it says
    summary: str
    # The value it gives
    value: str
    # When it was made
    created_at: str


class ConflictSuggestion(TypedDict):
    """A thought to contribute"""

    # The memory it would replace
    refines: str
    # What it would say
    prompt: str


class Undone(TypedDict):
    """What was taken back"""

    # The memories
    retracted: List[str]
    # There is more: ask again
    more: bool
    # Nothing was done
    dry_run: bool


class Effort(TypedDict):
    """Something that is worked on"""

    # Its id, also as a memory
    id: str
    # What is to be reached
    goal: str
    # As goal
    summary: str
    # open, resolved or abandoned
    status: str
    # Whether its turns are in view
    state: str
    # How it ended, in words
    resolution: Union[str, None]
    # found or failed, once it ended
    outcome: Union[str, None]
    # The chat that has its turns
    chat_id: str
    # The effort it is a part of
    parent_id: Union[str, None]
    # Whose it is
    user_id: str
    # It has a thread of its own
    spawned: bool
    # The effort it parted from at a fork
    twin_of: Union[str, None]
    # How long its turns are
    raw_tokens: int


class Chain(TypedDict):
    """Claims on one topic, in order"""

    # Its id
    id: str
    # Whose it is
    user_id: str
    # The chat it began in
    chat_id: str
    # The session it began in
    session_id: str
    # What it is about
    topic: str
    # Whether it goes on
    state: Literal["active", "dormant", "concluded"]
    # When it began
    started_at: str
    # When it last grew
    last_extended: str
    # How many claims it has
    claim_count: int
    # The chain it left
    branches_from: Union[str, None]
    # The chain it went into
    merged_into: Union[str, None]
    # The chain it parted from at a fork
    twin_of: Union[str, None]


class ChainDetail(TypedDict):
    """A chain with all it has"""

    # Its id
    id: str
    # Whose it is
    user_id: str
    # The chat it began in
    chat_id: str
    # The session it began in
    session_id: str
    # What it is about
    topic: str
    # Whether it goes on
    state: Literal["active", "dormant", "concluded"]
    # When it began
    started_at: str
    # When it last grew
    last_extended: str
    # How many claims it has
    claim_count: int
    # The chain it left
    branches_from: Union[str, None]
    # The chain it went into
    merged_into: Union[str, None]
    # The chain it parted from at a fork
    twin_of: Union[str, None]
    # Its claims, oldest first
    claims: List["Claim"]
    # What happened to it, oldest first
    updates: List["ChainEvent"]


class Claim(TypedDict):
    """One statement found in a turn"""

    # Its id
    id: str
    # The chain it is in
    chain_id: str
    # The turn it was found in
    turn_id: str
    # The chat of that turn
    chat_id: str
    # The number of that turn
    seq: int
    # Its number in the turn
    position: int
    # Where it begins in the turn's text
    first_byte: int
    # Where it ends
    end_byte: int
    # What kind of statement it is
    type: str
    # What it says
    statement: str
    # What it is about
    subject: str
    # Names in it
    entities: List[str]
    # Words that tell
    keywords: List[str]
    # How sure the reading is
    confidence: float
    # Since when it holds
    valid_from: Union[str, None]
    # When it was said
    created_at: str


class ChainEvent(TypedDict):
    """What happened to a chain"""

    # Its id
    id: str
    # extend, create, branch, merge, conclude …
    type: str
    # The chain
    chain_id: str
    # The turn that did it
    turn_id: Union[str, None]
    # The chain it branched from
    parent_chain_id: Union[str, None]
    # The claims that were added
    claim_ids: List[str]
    # How far the claim was from the chain
    distance: Union[float, None]
    # Why, in words
    reasoning: Union[str, None]
    # When
    created_at: str


class Link(TypedDict):
    """Where a call belongs"""

    # The call's id
    request_id: str
    # The conversation it is in
    conversation_id: str
    # The call it continues
    parent_request_id: Union[str, None]
    # Its branch of the conversation
    branch_id: str
    # The chat that has its turns
    chat_id: str
    # How its place was found, e.g. exact
    strategy: str
    # Stands for all its messages
    current_message_hash: str
    # Stands for those it continues
    parent_message_hash: Union[str, None]
    # Stands for its system prompt
    system_hash: Union[str, None]
    # A sub-agent's call
    is_subtask: bool
    # How many messages it has
    message_count: int
    # It was placed before
    is_retry: bool
    # How many turns it brought
    new_turns: int
    # What was odd about it
    note: Union[str, None]


class Request(TypedDict):
    """A captured call"""

    # The call's id
    request_id: str
    # The conversation it is in
    conversation_id: str
    # The call it continues
    parent_request_id: Union[str, None]
    # Its branch of the conversation
    branch_id: str
    # The chat that has its turns
    chat_id: str
    # How its place was found, e.g. exact
    strategy: str
    # Stands for all its messages
    current_message_hash: str
    # Stands for those it continues
    parent_message_hash: Union[str, None]
    # Stands for its system prompt
    system_hash: Union[str, None]
    # A sub-agent's call
    is_subtask: bool
    # How many messages it has
    message_count: int
    # Whose call it is
    user_id: str
    # Whose form it has
    api: Union[str, None]
    # The model that was asked
    model: Union[str, None]
    # The provider's HTTP status
    status: Union[int, None]
    # Why the answer ended
    stop_reason: Union[str, None]
    # What went wrong
    error: Union[str, None]
    # The answer came to its end
    is_complete: bool
    # Tokens sent
    input_tokens: Union[int, None]
    # Tokens answered
    output_tokens: Union[int, None]
    # Tokens read from the provider's cache
    cache_read_tokens: Union[int, None]
    # Tokens written to it; null: those read are a part of input_tokens
    cache_write_tokens: Union[int, None]
    # What it cost; null: no price is known
    cost: Union[float, None]
    # reply: as the provider says; prices: setting
    cost_from: Union[str, None]
    # How long it took
    duration_ms: Union[int, None]
    # How long until the answer began
    first_byte_ms: Union[int, None]
    # The first turn it brought
    first_seq: int
    # The last turn it brought
    last_seq: int
    # The turn that is its answer
    reply_seq: Union[int, None]
    # When it was made
    created_at: str
    # How it begins; in lists
    preview: NotRequired[Union[str, None]]
    # The calls that continue it; in trees
    children: NotRequired[List[str]]


class RequestDetail(TypedDict):
    """A captured call with its turns"""

    # The call's id
    request_id: str
    # The conversation it is in
    conversation_id: str
    # The call it continues
    parent_request_id: Union[str, None]
    # Its branch of the conversation
    branch_id: str
    # The chat that has its turns
    chat_id: str
    # How its place was found, e.g. exact
    strategy: str
    # Stands for all its messages
    current_message_hash: str
    # Stands for those it continues
    parent_message_hash: Union[str, None]
    # Stands for its system prompt
    system_hash: Union[str, None]
    # A sub-agent's call
    is_subtask: bool
    # How many messages it has
    message_count: int
    # Whose call it is
    user_id: str
    # Whose form it has
    api: Union[str, None]
    # The model that was asked
    model: Union[str, None]
    # The provider's HTTP status
    status: Union[int, None]
    # Why the answer ended
    stop_reason: Union[str, None]
    # What went wrong
    error: Union[str, None]
    # The answer came to its end
    is_complete: bool
    # Tokens sent
    input_tokens: Union[int, None]
    # Tokens answered
    output_tokens: Union[int, None]
    # Tokens read from the provider's cache
    cache_read_tokens: Union[int, None]
    # Tokens written to it; null: those read are a part of input_tokens
    cache_write_tokens: Union[int, None]
    # What it cost; null: no price is known
    cost: Union[float, None]
    # reply: as the provider says; prices: setting
    cost_from: Union[str, None]
    # How long it took
    duration_ms: Union[int, None]
    # How long until the answer began
    first_byte_ms: Union[int, None]
    # The first turn it brought
    first_seq: int
    # The last turn it brought
    last_seq: int
    # The turn that is its answer
    reply_seq: Union[int, None]
    # When it was made
    created_at: str
    # The turns it brought
    turns: List["Turn"]


class Conversation(TypedDict):
    """A tree of calls"""

    # The root chat's id
    id: str
    # The calls, oldest first
    requests: List["Request"]
    # The chats that have their turns
    branches: List["Chat"]


class Relinked(TypedDict):
    """Links that were decided again"""

    # Calls looked at so far
    requests: int
    # Of so many
    total: int
    # Of which so many are linked otherwise now
    changed: int
    # An earlier run had been broken off
    resumed: bool
    # There are no more
    done: bool
    # How many were linked how
    by_strategy: Dict[str, int]


class Receipt(TypedDict):
    """What was forgotten"""

    # How many of each kind
    forgotten: Dict[str, int]
    # Its id; null for a dry run
    receipt_id: Union[str, None]
    # Stands for all that was removed
    sha256: str
    # No byte of it is left in the store's files
    scrubbed: bool
    # What is left, and why
    remains: NotRequired[str]
    # Nothing was done
    dry_run: bool


class Error(TypedDict):
    """What went wrong; nothing was done"""

    # What went wrong
    error: "ErrorBody"


class ErrorBody(TypedDict):
    """What went wrong"""

    # A stable word for programs, e.g. NOT_FOUND
    code: str
    # The class of error
    type: str
    # A sentence for people
    message: str
    # The field that is wrong
    field: NotRequired[str]
    # To find it in the server's log
    request_id: str


class Health(TypedDict):
    """How the server is"""

    # ok, or what is wrong
    status: str
    # The version of clew
    version: str
    # How the store is
    store: str
    # Where `store.read_url` is set: ok, behind or down (then the primary does all reading)
    replica: NotRequired[str]
    # Who reads turns, and how many wait
    reading: "Reading"


class Reading(TypedDict):
    """Who reads turns; empty while the store is down"""

    # The reader's id, or rules
    by: NotRequired[str]
    # Why there is no trained reader
    trouble: NotRequired[str]
    # Turns that wait to be read, with the chats
    waiting: NotRequired[int]
    # Chats that wait to be held against earlier ones
    chats: NotRequired[int]
    # Turns that could not be read; `clew rebuild` tries again
    given_up: NotRequired[int]


class Index(TypedDict):
    """Where things are"""

    # clew
    name: str
    # The version of clew
    version: str
    # The page for people
    page: str
    # Where the paths of the API begin
    api: str
    # This document
    openapi: str
    # The Model Context Protocol
    mcp: str
    # Anthropic's API, captured
    anthropic: str
    # OpenAI's API, captured
    openai: str
    # Is the server well?
    health: str
    # For Prometheus
    metrics: str


class Agents(TypedDict):
    """The agent packages in use"""

    # Those in use
    items: List["Agent"]
    # What is wrong with others
    problems: List["AgentProblem"]


class Agent(TypedDict):
    """A package that says what to keep"""

    # The type of memory it makes
    name: str
    # What it is for
    description: Union[str, None]
    # It came with clew
    builtin: bool
    # An older version is in use, for the new one is bad
    kept: bool
    # The file it comes from
    file: Union[str, None]
    # The fields its memories have
    fields: List[str]


class AgentProblem(TypedDict):
    """What is wrong with a package"""

    # The file
    file: Union[str, None]
    # The line
    line: int
    # What is wrong
    message: str
    # An older version is in use
    kept: bool


class Model(TypedDict):
    """An embedding model and how far it has come"""

    # What it is called
    name: str
    # Its id: the same for the same weights
    id: str
    # How many numbers a vector has
    dim: int
    # It serves
    in_use: bool
    # Texts it has embedded
    done: int
    # Texts there are
    total: int
    # How far that is
    percent: float
    # Tenants it embeds for
    tenants: int
    # Tenants it serves
    ready: int
    # What went wrong last
    error: Union[str, None]


class Task(TypedDict):
    """A piece of later work"""

    # Its id
    id: str
    # What is to be done
    kind: str
    # Of the same key there is one at a time
    unique_key: Union[str, None]
    # How far it is
    status: Literal["pending", "running", "done", "failed"]
    # Higher ones first
    priority: int
    # How often it was tried
    attempts: int
    # What went wrong last
    last_error: Union[str, None]
    # When it is due
    execute_at: str
    # When it was asked for
    created_at: str
    # When it ended
    finished_at: Union[str, None]


class Trace(TypedDict):
    """What was decided, and why"""

    # The turn or call
    id: str
    # Its chat
    chat_id: str
    # When
    created_at: str
    # Each step: chosen, considered, scores, rule; `reading`: what the reader sees in each sentence, and how sure; `llm_calls`: the language models it was sent to
    decisions: Any


class Usage(TypedDict):
    """Calls to the language model on a day"""

    # The day
    day: str
    # What they were for
    purpose: str
    # The model
    model: str
    # How many
    calls: int
    # How many failed
    failures: int
    # Tokens sent
    input_tokens: int
    # Tokens answered
    output_tokens: int
    # What it cost, by the configured prices
    cost: float


class UsageLeft(TypedDict):
    """How much of the day's tokens is used"""

    # Used today
    used_tokens: int
    # The most that may be used
    daily_tokens: int


class Caller(TypedDict):
    """A program that called"""

    # What it calls itself: to MCP, in an x-clew-client header, or as its User-Agent
    name: str
    # `api` (MCP too) or `proxy`
    via: str
    # Its last call, to the minute
    last_at: str


class Stats(TypedDict):
    """How much there is"""

    # What the caller may do
    role: str
    # The caller's key
    key_id: Union[str, None]
    # Chats
    chats: int
    # Turns
    turns: int
    # Captured calls
    calls: int
    # Episodes
    episodes: int
    # Chains
    chains: int
    # Tasks that failed
    failed_tasks: int
    # Memories
    memories: "StatsMemories"
    # Where they are
    store: "StatsStore"
    # What came on which day
    days: List["StatsDay"]


class Brought(TypedDict):
    """What a file of another program brought"""

    # Whose export it is
    format: str
    # Conversations in it
    conversations: int
    # Messages in it
    messages: int
    # Those that are new
    added: int
    # Forks that were made
    forks: int


class Backup(TypedDict):
    """A copy of the store on the server"""

    # The file, on the server
    path: str
    # How large it is; before it is made, the store
    bytes: int
    # Room in its folder before it was made
    free_bytes: int
    # Backups that were in the folder before
    kept: int
    # Hash of the file
    sha256: Union[str, None]
    # When it was made
    created_at: str
    # Nothing was done
    dry_run: bool


class StatsMemories(TypedDict):
    """How many memories there are"""

    # Those that hold
    holding: int
    # Those that newer ones replace
    superseded: int
    # Those taken back
    retracted: int
    # Those kept in view
    pinned: int
    # How many of each type
    by_type: Dict[str, int]
    # How many efforts of each status
    efforts: Dict[str, int]
    # How many of each user
    by_user: List["StatsUser"]
    # How many of each agent
    by_agent: List["StatsAgent"]


class StatsUser(TypedDict):
    """A user's memories"""

    # The user
    user_id: str
    # How many
    memories: int


class StatsAgent(TypedDict):
    """An agent's memories"""

    # How many
    memories: int


class StatsStore(TypedDict):
    """Where things are kept"""

    # sqlite or postgres
    backend: str
    # How large it is, where that is known
    bytes: Union[int, None]


class StatsDay(TypedDict):
    """What came on a day"""

    # The day
    date: str
    # Turns
    turns: int
    # Memories
    memories: int
    # Captured calls
    calls: int


class User(TypedDict):
    """Somebody who speaks here"""

    # Your name for them
    user_id: str
    # How many chats they have
    chats: int
    # How many turns
    turns: int
    # When they last spoke
    last_activity_at: Union[str, None]
    # The silence that ends their chats, if they have one of their own
    inactivity_minutes: Union[int, None]


class UserTimeout(TypedDict):
    """A user's own timeout"""

    # Your name for them
    user_id: str
    # The silence that ends their chats
    inactivity_minutes: Union[int, None]


class Id(TypedDict):
    """A thing whose id begins so"""

    # What it is
    kind: str
    # Its whole id
    id: str


class Event(TypedDict):
    """Something that happened: `data` of a server-sent event. Its `event` is turn, memory, effort, call, forgotten, task_failed or missed"""

    # What it happened to
    id: Union[str, None]
    # The chat that is in
    chat_id: Union[str, None]
    # The role, type, model or kind of it
    what: Union[str, None]
    # Its status now
    status: Union[str, None]
    # Whose it is
    user_id: Union[str, None]
    # The turn's number
    seq: NotRequired[int]
    # When
    at: Union[str, None]


class Tenant(TypedDict):
    """A tenant"""

    # Its name
    name: str
    # May its words be shown to language models: allowed or forbidden
    llm: str
    # The server's time
    now: str


class Key(TypedDict):
    """A key, without its secret"""

    # Its id: the part after clew_
    id: str
    # What it may do
    role: Literal["read", "write", "admin"]
    # What it is for
    label: Union[str, None]
    # When it was made
    created_at: str
    # When it was revoked
    revoked_at: Union[str, None]


class NewKey(TypedDict):
    """A key that was made"""

    # The key itself: shown once
    key: str
    # Its id: the part after clew_
    id: str
    # What it may do
    role: Literal["read", "write", "admin"]
    # What it is for
    label: Union[str, None]
    # When it was made
    created_at: str
    # When it was revoked
    revoked_at: Union[str, None]


class Settings(TypedDict):
    """The settings in force"""

    # By name
    settings: Dict[str, "Setting"]
    # The version of clew
    version: str


class Setting(TypedDict):
    """A setting"""

    # Its value; secrets are masked
    value: Any


class ExportRow(TypedDict):
    """A line of an export"""

    pass


class Imported(TypedDict):
    """What came of an import"""

    # Lines that were read
    rows: int
    # Lines that were new
    added: int
    # Lines left out, of what was forgotten
    forgotten: int


class Document(TypedDict):
    """This document"""

    # The version of OpenAPI
    openapi: str


class Act(TypedDict):
    """What a text does"""

    # What it does
    act: Literal["greeting", "question", "request", "inform", "commit", "accept", "reject"]


class Analysis(TypedDict):
    """What a text does, and what is in it"""

    # What it does
    act: Literal["greeting", "question", "request", "inform", "commit", "accept", "reject"]
    # How sure that is
    confidence: float
    # Who said so
    level: Literal["command", "rule", "classifier", "llm"]
    # The rule that did
    rule: Union[str, None]
    # A person set it right before
    corrected: bool
    # Its sentences
    sentences: List["AnalysisSentence"]
    # Its parts and what each does
    segments: List["AnalysisSegment"]
    # Names and numbers in it
    entities: List["AnalysisEntity"]
    # Words that tell, best first
    keywords: List["AnalysisKeyword"]
    # Times it speaks of
    dates: List["AnalysisDate"]


# A sentence
AnalysisSentence = TypedDict(
    "AnalysisSentence",
    {
        # The sentence
        "text": str,
        # Where it begins, in bytes
        "from": int,
        # Where it ends
        "to": int,
        # It asks
        "question": bool,
    },
)


# A part that does one thing
AnalysisSegment = TypedDict(
    "AnalysisSegment",
    {
        # The part
        "text": str,
        # Where it begins, in bytes
        "from": int,
        # Where it ends
        "to": int,
        # What it does
        "act": str,
        # How sure that is
        "confidence": float,
        # The rule that said so
        "rule": Union[str, None],
    },
)


# A name or number
AnalysisEntity = TypedDict(
    "AnalysisEntity",
    {
        # As it is written
        "text": str,
        # Where it begins, in bytes
        "from": int,
        # Where it ends
        "to": int,
        # person, place, organisation, file, date …
        "kind": str,
    },
)


class AnalysisKeyword(TypedDict):
    """A word that tells"""

    # The word
    word: str
    # Its stem
    stem: str
    # How often it stands there
    count: int
    # How rare it is
    idf: float


# A time a text speaks of
AnalysisDate = TypedDict(
    "AnalysisDate",
    {
        # As it is written
        "text": str,
        # Where it begins, in bytes
        "from": int,
        # Where it ends
        "to": int,
        # When that time begins
        "since": str,
        # When it ends
        "until": str,
        # time, day, week, month, year or range
        "grain": str,
        # Relative to when it was said
        "relative": bool,
    },
)


class ProviderBody(TypedDict):
    """A call as its provider has it; the answer alike"""

    # The model that is asked
    model: NotRequired[str]
    # Answer as a stream
    stream: NotRequired[bool]


class RpcMessage(TypedDict):
    """A JSON-RPC 2.0 message"""

    # 2.0
    jsonrpc: str
    # The request's id; none in a notification
    id: NotRequired[Any]
    # What is asked for
    method: NotRequired[str]
    # With what
    params: NotRequired[Any]
    # The answer
    result: NotRequired[Any]
    # What went wrong
    error: NotRequired[Any]


class NewTurnBatch(TypedDict):
    """Turns to store, all or none"""

    # 1 to 1,000 turns, stored all or not at all
    turns: List["NewTurn"]
    # Leave out what was forgotten of the same user by the same `external_id`
    unless_forgotten: NotRequired[bool]
    # Since when this is on its way, by the tenant's `now`: what is of a user, or in a chat, forgotten since then is left out
    begun_at: NotRequired[str]
    # The chat that a new one, made for these turns, leaves at at_seq, or lies beside as subtask; made only if one of them is new
    fork_of: NotRequired[str]
    # The last turn both sides share; the end if not given
    at_seq: NotRequired[int]
    # A sub-agent's name: its own talk, beside the chat
    subtask: NotRequired[str]


class NewTurn(TypedDict):
    """A turn to store"""

    # Whose it is, by your own name for them
    user_id: str
    # Who speaks
    role: Literal["user", "assistant", "system", "tool"]
    # What was said: text, or blocks as the OpenAI and Anthropic APIs have
    content: Union[str, List[Union[str, "ContentBlock"]]]
    # The speaker's name, if there are several
    name: NotRequired[str]
    # How it came: sms, email, web, ide and the like
    channel: NotRequired[str]
    # The chat it goes to; where it belongs is worked out if not given
    chat_id: NotRequired[str]
    # When it was said, if not now; may lie in the past
    created_at: NotRequired[str]
    # The speaker's time zone, e.g. Europe/Berlin
    timezone: NotRequired[str]
    # Your own id of the turn: the same posted twice is stored once
    external_id: NotRequired[str]


class CreateChatBody(TypedDict):
    """Make a chat"""

    # Whose it is, by your own name for them
    user_id: str
    # How it came: sms, email, web, ide and the like
    channel: NotRequired[str]
    # What it is called
    title: NotRequired[str]
    # The silence that ends the chat
    inactivity_minutes: NotRequired[int]


class ChatPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Chat"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class UpdateChatBody(TypedDict):
    """Rename a chat or set its timeout"""

    # What it is called
    title: NotRequired[str]
    # The silence that ends the chat
    inactivity_minutes: NotRequired[int]


class TurnPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Turn"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class ForkChatBody(TypedDict):
    """Fork a chat at any turn; nothing is copied"""

    # The last turn both sides share; the end if not given
    at_seq: NotRequired[int]
    # What it is called
    title: NotRequired[str]
    # A sub-agent's name: its own talk, beside the chat
    subtask: NotRequired[str]


class GetContextBody(TypedDict):
    """What the next turn of a chat needs to know, within a budget"""

    # How many tokens it may have
    budget_tokens: NotRequired[int]
    # What the person says next, to recall what it needs
    message: NotRequired[str]
    # As one text, or as messages to put before the next one
    format: NotRequired[Literal["text", "openai", "anthropic"]]


class CreateEffortBody(TypedDict):
    """Spawn an effort with a thread of its own"""

    # Whose it is, by your own name for them
    user_id: str
    # What is to be reached
    goal: str
    # The chat it is spawned from
    chat_id: NotRequired[str]
    # The effort that this one is a part of
    parent_id: NotRequired[str]


class EffortPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Effort"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class CreateEffortTurnBody(TypedDict):
    """Store a turn in an effort's thread"""

    # Whose it is, by your own name for them
    user_id: NotRequired[str]
    # Who speaks
    role: Literal["user", "assistant", "system", "tool"]
    # What was said: text, or blocks as the OpenAI and Anthropic APIs have
    content: Union[str, List[Union[str, "ContentBlock"]]]
    # The speaker's name, if there are several
    name: NotRequired[str]
    # How it came: sms, email, web, ide and the like
    channel: NotRequired[str]
    # When it was said, if not now; may lie in the past
    created_at: NotRequired[str]
    # The speaker's time zone, e.g. Europe/Berlin
    timezone: NotRequired[str]
    # Your own id of the turn: the same posted twice is stored once
    external_id: NotRequired[str]


class CollapseEffortBody(TypedDict):
    """Put an effort's turns out of view; a spawned one ends with its result"""

    # How it ended, in words
    resolution: NotRequired[str]
    # What came of it
    outcome: NotRequired[Literal["found", "failed", "given_up"]]


class EpisodePage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Episode"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class ChatLinkPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["ChatLink"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class RateLinkBody(TypedDict):
    """Say whether a link decision was right"""

    # Whether the decision was right
    outcome: Literal["correct", "incorrect"]


class TaskPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Task"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class StartBody(TypedDict):
    """Begin a conversation: related chats, memories and four ways on"""

    # Whose it is, by your own name for them
    user_id: str
    # What the person wants to talk about
    intent: str


class ChooseStartBody(TypedDict):
    """Answer a start (of user_id alone if given): continue, fork, new with memories that are picked, fresh"""

    # The option chosen, in words or as its number
    answer: str
    # Whose it is, by your own name for them
    user_id: NotRequired[str]


class SessionPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Session"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class ChainPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Chain"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class RecallBody(TypedDict):
    """Find what was said"""

    # What is looked for, in words
    query: str
    # Whose it is, by your own name for them
    user_id: NotRequired[str]
    # The chat
    chat_id: NotRequired[str]
    # Only these kinds; all but whole chats if not given
    kinds: NotRequired[List[Literal["turn", "memory", "episode", "chat"]]]
    # At most so many items
    limit: NotRequired[int]
    # From this moment on
    since: NotRequired[str]
    # Up to this moment
    until: NotRequired[str]
    # As of this moment: what had been said by then
    at: NotRequired[str]
    # The speaker's time zone, e.g. Europe/Berlin
    timezone: NotRequired[str]
    # Say for each item why it was found
    explain: NotRequired[bool]
    # Do not read the first candidates again: less sure
    fast: NotRequired[bool]
    # Only items at least so likely to answer
    min_score: NotRequired[float]
    # next_cursor of the page before
    cursor: NotRequired[str]
    # The chat a question was put in: completes one that leans on what was just said; chat_id does so too
    asked_in: NotRequired[str]


class AskBody(TypedDict):
    """Answer a question in sentences that cite what was said"""

    # What is looked for, in words
    query: str
    # Whose it is, by your own name for them
    user_id: NotRequired[str]
    # The chat
    chat_id: NotRequired[str]
    # From this moment on
    since: NotRequired[str]
    # Up to this moment
    until: NotRequired[str]
    # As of this moment: what had been said by then
    at: NotRequired[str]
    # The speaker's time zone, e.g. Europe/Berlin
    timezone: NotRequired[str]
    # Recall once more, with up to three questions of the model's
    deep: NotRequired[bool]
    # Server-sent events: sources, each sentence, then the whole answer
    stream: NotRequired[bool]


class AnalyseBody(TypedDict):
    """What a text does, and what is in it"""

    # The text
    text: str
    # What was said just before
    previous: NotRequired[str]
    # When it was said, if not now; may lie in the past
    created_at: NotRequired[str]
    # The speaker's time zone, e.g. Europe/Berlin
    timezone: NotRequired[str]


class CorrectAnalysisBody(TypedDict):
    """Set the act of a text right, for the next time"""

    # The text
    text: str
    # What was said just before
    previous: NotRequired[str]
    # What the text does
    act: Literal["greeting", "question", "request", "inform", "commit", "accept", "reject"]


class ShareThoughtBody(TypedDict):
    """Contribute a thought and retrieve related ones"""

    # The thought, or the question
    prompt: str
    # Which agent speaks: up to 100 characters
    agent_id: str
    # What the agent is called
    agent_name: str
    # What the agent is doing, to find what fits it
    context: NotRequired[str]
    # The session
    session_id: NotRequired[str]
    # The thought that this one replaces
    refines: NotRequired[str]
    # The thoughts that this one sums up
    consolidates: NotRequired[List[str]]
    # Ask only: the prompt is not stored
    read_only: NotRequired[bool]


class MemoryPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Memory"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class CreateMemoryBody(TypedDict):
    """Write a memory by hand"""

    # Whose it is, by your own name for them
    user_id: NotRequired[str]
    # thought, fact, effort, event, decision, skill or other
    type: NotRequired[str]
    # What is to be remembered, in a sentence
    summary: str
    # Words to find it by
    tags: NotRequired[List[str]]
    # Kept in view whatever its weight
    pinned: NotRequired[bool]


# Take back all that an agent or a key contributed since a moment
UndoMemoriesBody = TypedDict(
    "UndoMemoriesBody",
    {
        # The agent or the key whose contributions are taken back
        "from": str,
        # What came from this moment on
        "since": str,
        # Tell what would be done, and do nothing
        "dry_run": NotRequired[bool],
    },
)


class ConflictPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Conflict"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class UpdateMemoryBody(TypedDict):
    """Tag or pin a memory, or correct it: a new summary is a refinement"""

    # Words to find it by
    tags: NotRequired[List[str]]
    # thought, fact, effort, event, decision, skill or other
    type: NotRequired[str]
    # Kept in view whatever its weight
    pinned: NotRequired[bool]
    # What is to be remembered, in a sentence
    summary: NotRequired[str]
    # When it stops to hold; null: never
    expires_at: NotRequired[Union[str, None]]


class ResolveMemoryBody(TypedDict):
    """Resolve an effort"""

    # How it ended, in words
    resolution: NotRequired[str]
    # The chat
    chat_id: NotRequired[str]


class RateMemoryBody(TypedDict):
    """Say whether a skill worked when it was used"""

    # Whether it worked
    worked: bool


class ReopenMemoryBody(TypedDict):
    """Open an effort again"""

    # The chat
    chat_id: NotRequired[str]


class AbandonMemoryBody(TypedDict):
    """Give an effort up"""

    # The chat
    chat_id: NotRequired[str]


class LinkCallBody(TypedDict):
    """Place a call to an LLM in its conversation and store what is new"""

    # The call's messages, as the OpenAI or Anthropic API has them
    messages: List[Dict[str, Any]]
    # The call's system prompt
    system: NotRequired[Any]
    # An id of your own for the call
    request_id: NotRequired[str]
    # When it was said, if not now; may lie in the past
    created_at: NotRequired[str]
    # The model's answer, as its API gave it
    response: NotRequired[Any]
    # Whose it is, by your own name for them
    user_id: NotRequired[str]
    # The chat of a call that continues no other
    chat_id: NotRequired[str]
    # The model's name
    model: NotRequired[str]


class RequestPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Request"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class ForgetBody(TypedDict):
    """Remove things and all that was derived from them"""

    # These turns
    turn_ids: NotRequired[List[str]]
    # Everything in this chat
    chat_id: NotRequired[str]
    # These memories
    memory_ids: NotRequired[List[str]]
    # Everything of this user
    user_id: NotRequired[str]
    # The turns that you gave these ids
    external_ids: NotRequired[List[str]]
    # Tell what would be done, and do nothing
    dry_run: NotRequired[bool]


class ModelPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Model"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class UsagePage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Usage"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class RecordUsageBody(TypedDict):
    """Write down a call to the language model that was made elsewhere"""

    # What the call was for: letters, digits and ._-
    purpose: str
    # The model's name
    model: str
    # Tokens sent to the model
    input_tokens: NotRequired[int]
    # Tokens that the model answered
    output_tokens: NotRequired[int]
    # The call failed
    failed: NotRequired[bool]


class CallerPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Caller"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class UserPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["User"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class UpdateUserBody(TypedDict):
    """Give a user a timeout of their own; null takes it back"""

    # The silence that ends their chats; null: as configured
    inactivity_minutes: Union[int, None]


class IdPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Id"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class UpdateTenantBody(TypedDict):
    """Forbid that its words are shown to language models, or allow it"""

    # May the tenant's words be shown to language models
    llm: Literal["allowed", "forbidden"]


class KeyPage(TypedDict):
    """A page of a list"""

    # The items of this page
    items: List["Key"]
    # To ask for the next page with; null on the last one
    next_cursor: Union[str, None]


class CreateKeyBody(TypedDict):
    """Make a key for the tenant; its secret is shown once"""

    # What the key may do
    role: Literal["read", "write", "admin"]
    # What the key is for, in your words
    label: NotRequired[str]


class MakeBackupBody(TypedDict):
    """Copy the store, all tenants, to a file on the server; SQLite only"""

    # Tell what would be done, and do nothing
    dry_run: NotRequired[bool]


class ImportRowsBody(TypedDict):
    """Take lines of an export, all or nothing; twice changes nothing"""

    # Lines of an export, as JSON objects
    rows: NotRequired[List[Dict[str, Any]]]
    # Bring back what was forgotten, too
    restore_forgotten: NotRequired[bool]
    # Since when this is on its way, by the tenant's `now`: what is of a user, or in a chat, forgotten since then is left out
    begun_at: NotRequired[str]


# One result for one turn, a list for a batch
CapturedOrBatch = Union["Captured", "CapturedBatch"]


# Store a turn, or a batch that is all or nothing
CreateTurnsBody = Union["NewTurn", "NewTurnBatch"]


# Method, path, and whether it may be sent again when its answer was lost.
OPERATIONS: Dict[str, Tuple[str, str, bool]] = {
    "abandonMemory": ("POST", "/api/v1/memories/{id}/abandon", False),
    "analyse": ("POST", "/api/v1/analyse", True),
    "ask": ("POST", "/api/v1/ask", True),
    "chooseStart": ("POST", "/api/v1/start/{id}/choose", False),
    "closeChat": ("POST", "/api/v1/chats/{id}/close", False),
    "collapseEffort": ("POST", "/api/v1/efforts/{id}/collapse", False),
    "compactChat": ("POST", "/api/v1/chats/{id}/compact", False),
    "concludeChain": ("POST", "/api/v1/chains/{id}/conclude", False),
    "correctAnalysis": ("POST", "/api/v1/analyse/feedback", False),
    "createChat": ("POST", "/api/v1/chats", False),
    "createEffort": ("POST", "/api/v1/efforts", False),
    "createEffortTurn": ("POST", "/api/v1/efforts/{id}/turns", True),
    "createKey": ("POST", "/api/v1/keys", False),
    "createMemory": ("POST", "/api/v1/memories", False),
    "createTurns": ("POST", "/api/v1/turns", True),
    "endSession": ("POST", "/api/v1/sessions/{id}/end", False),
    "expandEffort": ("POST", "/api/v1/efforts/{id}/expand", False),
    "exportAll": ("GET", "/api/v1/export", True),
    "findIds": ("GET", "/api/v1/ids/{part}", True),
    "findTurns": ("GET", "/api/v1/turns", True),
    "forget": ("POST", "/api/v1/forget", False),
    "forkChat": ("POST", "/api/v1/chats/{id}/fork", False),
    "getChain": ("GET", "/api/v1/chains/{id}", True),
    "getChat": ("GET", "/api/v1/chats/{id}", True),
    "getChatTree": ("GET", "/api/v1/chats/{id}/tree", True),
    "getContext": ("POST", "/api/v1/chats/{id}/context", True),
    "getConversation": ("GET", "/api/v1/conversations/{id}", True),
    "getEffort": ("GET", "/api/v1/efforts/{id}", True),
    "getEffortContext": ("GET", "/api/v1/efforts/{id}/context", True),
    "getEpisode": ("GET", "/api/v1/episodes/{id}", True),
    "getHealth": ("GET", "/healthz", True),
    "getIndex": ("GET", "/", True),
    "getLineage": ("GET", "/api/v1/memories/{id}/lineage", True),
    "getLink": ("GET", "/api/v1/links/{id}", True),
    "getMemory": ("GET", "/api/v1/memories/{id}", True),
    "getMemorySource": ("GET", "/api/v1/memories/{id}/source", True),
    "getMetrics": ("GET", "/metrics", True),
    "getOpenapi": ("GET", "/openapi.json", True),
    "getRequest": ("GET", "/api/v1/requests/{id}", True),
    "getSettings": ("GET", "/api/v1/settings", True),
    "getStats": ("GET", "/api/v1/stats", True),
    "getTenant": ("GET", "/api/v1/tenant", True),
    "getThoughts": ("GET", "/api/v1/memory", True),
    "getTrace": ("GET", "/api/v1/traces/{id}", True),
    "getTuning": ("GET", "/api/v1/tuning", True),
    "importRows": ("POST", "/api/v1/import", False),
    "linkCall": ("POST", "/api/v1/link", False),
    "listAgents": ("GET", "/api/v1/agents", True),
    "listCallers": ("GET", "/api/v1/callers", True),
    "listChains": ("GET", "/api/v1/chains", True),
    "listChats": ("GET", "/api/v1/chats", True),
    "listConflicts": ("GET", "/api/v1/conflicts", True),
    "listEfforts": ("GET", "/api/v1/efforts", True),
    "listEpisodes": ("GET", "/api/v1/episodes", True),
    "listKeys": ("GET", "/api/v1/keys", True),
    "listLinks": ("GET", "/api/v1/links", True),
    "listMarks": ("GET", "/api/v1/chats/{id}/marks", True),
    "listMemories": ("GET", "/api/v1/memories", True),
    "listModels": ("GET", "/api/v1/models", True),
    "listRequests": ("GET", "/api/v1/requests", True),
    "listSessions": ("GET", "/api/v1/sessions", True),
    "listTasks": ("GET", "/api/v1/tasks", True),
    "listTurns": ("GET", "/api/v1/chats/{id}/turns", True),
    "listUsage": ("GET", "/api/v1/usage", True),
    "listUsers": ("GET", "/api/v1/users", True),
    "makeBackup": ("POST", "/api/v1/backup", False),
    "noteCaller": ("POST", "/api/v1/callers", True),
    "rateLink": ("POST", "/api/v1/links/{id}/feedback", False),
    "rateMemory": ("POST", "/api/v1/memories/{id}/outcome", False),
    "recall": ("POST", "/api/v1/recall", True),
    "recordUsage": ("POST", "/api/v1/usage", False),
    "relinkRequests": ("POST", "/api/v1/requests/relink", False),
    "reopenChain": ("POST", "/api/v1/chains/{id}/reopen", False),
    "reopenMemory": ("POST", "/api/v1/memories/{id}/reopen", False),
    "resolveMemory": ("POST", "/api/v1/memories/{id}/resolve", False),
    "retractMemory": ("POST", "/api/v1/memories/{id}/retract", False),
    "revertTuning": ("POST", "/api/v1/tuning/revert", False),
    "revokeKey": ("DELETE", "/api/v1/keys/{id}", False),
    "shareThought": ("POST", "/api/v1/memory", False),
    "start": ("POST", "/api/v1/start", False),
    "streamEvents": ("GET", "/api/v1/events", True),
    "undoMemories": ("POST", "/api/v1/memories/undo", False),
    "updateChat": ("PATCH", "/api/v1/chats/{id}", True),
    "updateMemory": ("PATCH", "/api/v1/memories/{id}", True),
    "updateTenant": ("PATCH", "/api/v1/tenant", True),
    "updateUser": ("PATCH", "/api/v1/users/{user_id}", True),
}
