/* SPDX-License-Identifier: Apache-2.0 */
/* Made by clients/generate.mjs from the OpenAPI document: do not edit. */

/** A part of a message, as the OpenAI and Anthropic APIs have it; unknown kinds are kept as they are */
export interface ContentBlock {
  /** Its kind: text, image, tool_use, tool_result … */
  type?: string;
  /** Its text, where it has one */
  text?: string;
  [other: string]: unknown;
}

/** One message, verbatim and immutable */
export interface Turn {
  /** Its id */
  id: string;
  /** The chat it is in */
  chat_id: string;
  /** The session it is in */
  session_id: string;
  /** Its number in the chat, from 1 */
  seq: number;
  /** Whose chat it is */
  user_id: string;
  /** Who speaks */
  role: "user" | "assistant" | "system" | "tool";
  /** The speaker's name, if there are several */
  name: string | null;
  /** How it came */
  channel: string | null;
  /** What a person would read of it */
  text: string;
  /** The blocks as they were sent, if they were */
  content?: unknown[];
  /** Its length in tokens */
  token_count: number;
  /** When it was said */
  created_at: string;
  /** When it was stored */
  stored_at: string;
  /** The speaker's time zone */
  timezone: string | null;
  /** Your own id of it */
  external_id: string | null;
}

/** A turn that was stored, and what it changed */
export interface Captured {
  /** The turn */
  turn: Turn;
  /** The chat it went to */
  chat: Chat;
  /** What was made of it */
  updates: Updates;
  /** Lines for a person: an effort resolved … */
  notices: string[];
  /** Its trace: what was decided, and why */
  trace_id: string | null;
  /** It was stored already, by its external_id */
  repeated: boolean;
}

/** What came of a batch, in its order */
export interface CapturedBatch {
  /** One for each turn that was not left out */
  items: Captured[];
  /** Your ids of those left out by `unless_forgotten` or `begun_at` */
  forgotten: string[];
}

/** The turn with your id: one, or none */
export interface FoundTurns {
  /** The turn */
  items: Turn[];
  /** There are no further pages */
  next_cursor: null;
  /** There is none: what `user_id` had under this id was forgotten */
  forgotten: boolean;
}

/** One result for one turn, a list for a batch */
export type CapturedOrBatch = Captured | CapturedBatch;

/** What a turn changed */
export interface Updates {
  /** Memories made or changed */
  memories: MemoryUpdate[];
  /** Chains its claims went to */
  chains: ChainUpdate[];
  /** Decisions about other chats */
  links: LinkUpdate[];
  /** Episodes begun or changed */
  episodes: EpisodeUpdate[];
}

/** A memory that a turn changed */
export interface MemoryUpdate {
  /** The memory */
  id: string;
  /** What kind of memory it is */
  type: string;
  /** Its status now */
  status: string;
  /** What it says */
  summary: string;
  /** created, extended, resolved, refined … */
  change: string;
}

/** What the claims of a turn did to a chain */
export interface ChainUpdate {
  /** What was done */
  type: "extend" | "create" | "branch" | "merge" | "conclude";
  /** The chain */
  chain_id: string;
  /** The claims that were added */
  claim_ids: string[];
  /** The chain it branched from */
  parent_chain_id?: string;
  /** How far the claim was from the chain */
  distance?: number;
  /** Why, in words */
  reasoning: string | null;
}

/** A decision about another chat */
export interface LinkUpdate {
  /** The decision */
  id: string;
  /** The chat of the turn */
  chat_id: string;
  /** The other chat */
  other_chat_id: string;
  /** Whether they belong together */
  decision: "link" | "no_link";
  /** The score by words, names, topic and time */
  algorithmic: number;
  /** The language model's score, if it was asked */
  llm: number | null;
  /** How sure the decision is */
  confidence: "high" | "uncertain";
}

/** An episode that a turn changed */
export interface EpisodeUpdate {
  /** The episode */
  id: string;
  /** primary or cross_chat */
  type: string;
  /** What happened to it */
  change: string;
}

/** One line of turns */
export interface Chat {
  /** Its id */
  id: string;
  /** The root of the tree of its forks */
  conversation_id: string;
  /** The chat it was forked from */
  parent_id: string | null;
  /** Whose it is */
  user_id: string;
  /** Its name among the forks */
  branch: string;
  /** What it is called */
  title: string | null;
  /** What it is about, once it was summed up */
  summary: string | null;
  /** The channels its turns came by */
  channels: string[];
  /** Made on purpose, not by silence */
  is_explicit: boolean;
  /** The last turn shared with its parent */
  fork_seq: number;
  /** How many forks lie above it */
  depth: number;
  /** The number of its last turn */
  last_seq: number;
  /** A timeout of its own */
  inactivity_minutes: number | null;
  /** The silence that ends it */
  inactivity_timeout_minutes: number;
  /** As is_explicit */
  explicit_channel: boolean;
  /** Its latest episode */
  primary_episode_id: string | null;
  /** Episodes it shares with others */
  cross_chat_episodes: string[];
  /** How many turns are its own */
  turn_count: number;
  /** When it began */
  created_at: string;
  /** When something was last said */
  last_activity_at: string;
  /** When it was closed */
  closed_at: string | null;
}

/** The tree of forks a chat belongs to */
export interface ChatTree {
  /** The root's id */
  conversation_id?: string;
  /** The chats, the root first */
  items: Chat[];
  /** There are no further pages */
  next_cursor: null;
}

/** A work period inside a chat */
export interface Session {
  /** Its id */
  id: string;
  /** The chat it is in */
  chat_id: string;
  /** Whose it is */
  user_id: string;
  /** When it began */
  started_at: string;
  /** When something was last said in it */
  last_activity_at: string;
  /** When it ended */
  ended_at: string | null;
  /** What was done in it; in lists */
  summary?: string | null;
}

/** What was made of a stretch of turns */
export interface Marks {
  /** Where chains of thought are at work */
  topics: MarkTopic[];
  /** Memories drawn from these turns */
  memories: Mark[];
  /** Efforts these turns work on */
  efforts: Mark[];
  /** Chats that leave here */
  forks: MarkFork[];
  /** Episodes that lie here */
  episodes: MarkEpisode[];
}

/** A memory beside the turns it comes from */
export interface Mark {
  /** The memory */
  id: string;
  /** What kind of memory it is */
  type: string;
  /** Its status */
  status: string;
  /** What it says */
  summary: string;
  /** How it ended */
  resolution: string | null;
  /** The first turn it comes from */
  first_seq: number;
  /** The last turn it comes from */
  last_seq: number;
  /** It was taken back */
  retracted: boolean;
  /** A newer one replaces it */
  superseded: boolean;
}

/** A chain at a turn */
export interface MarkTopic {
  /** The turn */
  seq: number;
  /** The chain */
  chain_id: string;
  /** What it is about */
  topic: string;
  /** active, dormant or concluded */
  state: string;
}

/** A chat that leaves at a turn */
export interface MarkFork {
  /** The chat */
  chat_id: string;
  /** The last turn they share */
  seq: number;
  /** Its name among the forks */
  branch: string;
  /** What it is called */
  title: string | null;
  /** How many turns are its own */
  turn_count: number;
}

/** An episode and where it lies */
export interface MarkEpisode {
  /** The episode */
  id: string;
  /** Its first turn */
  first_seq: number;
  /** Its last turn */
  last_seq: number;
  /** It was summed up */
  compacted: boolean;
}

/** What the next turn needs to know */
export interface Context {
  /** All of it as one text (format text) */
  text?: string;
  /** As messages (openai, anthropic) */
  messages?: ContextMessage[];
  /** As system blocks (anthropic) */
  system?: ContentBlock[];
  /** How many tokens it has */
  tokens: number;
  /** The same for the same context */
  hash: string;
  /** It was made before */
  cached: boolean;
  /** Where it comes from */
  sections: ContextSection[];
  /** What was found and is not in it, at most 24 */
  left_out: ContextLeftOut[];
  /** The effort, if it was asked for one */
  effort?: Effort;
}

/** A message to put before the next one */
export interface ContextMessage {
  /** Who speaks */
  role: "user" | "assistant" | "system" | "tool";
  /** What is said */
  content: string;
}

/** A part of a context */
export interface ContextSection {
  /** memory, continuity, effort, recent or recall */
  name: string;
  /** How many tokens it has */
  tokens: number;
  /** The turns and memories it comes from */
  sources: string[];
}

/** What is not in a context */
export interface ContextLeftOut {
  /** Where it would stand */
  section: string;
  /** The turn or memory */
  source: string;
  /** Why: does not answer the message, held before, reads like an order, another line says it, no room, is of another matter, was said by nobody (a client's text, a tool's) */
  reason: "far" | "held_before" | "reads_like_order" | "given_already" | "no_room" | "other_matter" | "not_said";
  /** How likely it answers the message, if it was found by it */
  score: number | null;
}

/** Something that may answer */
export interface RecallItem {
  /** What it is */
  kind: "turn" | "memory" | "episode" | "chat";
  /** Its id */
  id: string;
  /** The chat it is in */
  chat_id: string | null;
  /** The turn it comes from */
  turn_id: string | null;
  /** Your own id of that turn */
  external_id: string | null;
  /** The passage that answers */
  text: string;
  /** How long the text is that it is of */
  text_bytes: number;
  /** The probability that it answers */
  score: number;
  /** When it was said */
  created_at: string;
  /** Something newer replaces it */
  superseded: boolean;
  /** What replaces it */
  refined_by: string | null;
  /** It reads like an order to a model */
  is_instruction: boolean;
  /** Chat and lines it comes from */
  source_ref: string | null;
  /** Who said it */
  speaker: string | null;
  /** The memory's type */
  type: string | null;
  /** An effort's: open, resolved or abandoned */
  status: string | null;
  /** How the effort ended */
  resolution: string | null;
  /** Where the passage lies in its turn */
  passage?: Passage;
  /** The same answer in other coats */
  also: RecallCoat[];
  /** The parts of its score (explain) */
  why?: Record<string, number>;
}

/** A stretch of a text, in bytes */
export interface Passage {
  /** Where it begins */
  from: number;
  /** Where it ends */
  to: number;
  /** It holds what a tool was given */
  tool_input: boolean;
}

/** The same answer as another kind of thing */
export interface RecallCoat {
  /** What it is */
  kind: "turn" | "memory" | "episode" | "chat";
  /** Its id */
  id: string;
  /** The memory's type */
  type: string | null;
  /** An effort's: open, resolved or abandoned */
  status: string | null;
  /** How the effort ended */
  resolution: string | null;
  /** What it says; a long one is cut and ends in … */
  text: string;
  /** How long it is as a whole */
  text_bytes: number;
  /** Something newer replaces it */
  superseded: boolean;
  /** It reads like an order to a model */
  is_instruction: boolean;
}

/** What was found, best first */
export interface Recalled {
  /** What may answer */
  items: RecallItem[];
  /** Whether the question was answered */
  answered: "yes" | "maybe" | "no";
  /** The question as it was looked for, if words that nobody used were taken for slips of ones in use */
  did_you_mean: string | null;
  /** Words of the chat it was put in, if it leaned on what was just said */
  completed_with: string | null;
  /** Ask on with it for more. A page ends early rather than grow beyond 200,000 bytes */
  next_cursor: string | null;
  /** How it was searched */
  trace: RecallTrace;
}

/** How a question was searched */
export interface RecallTrace {
  /** The words that were looked for; of very many the first */
  terms: string[];
  /** How many documents were looked at */
  scanned: number;
  /** How many were ranked */
  candidates: number;
}

/** A question answered from what was said */
export interface Answer {
  /** The sentences as one, or that nothing is known */
  text: string;
  /** Whether the question was answered */
  answered: "yes" | "maybe" | "no";
  /** Whose words these are */
  by: "model" | "passages" | "nothing";
  /** Why passages answer and no model, as a code */
  reason: string | null;
  /** What is answered */
  sentences: AnswerSentence[];
  /** What was found, and shown a model */
  sources: AnswerSource[];
  /** What the model asked on for (deep) */
  questions: string[];
}

/** One sentence of an answer */
export interface AnswerSentence {
  /** Its words */
  text: string;
  /** What it cites has its numbers and names */
  supported: boolean;
  /** uncited, not_shown or not_said, if it is not */
  fault: string | null;
  /** What it rests on */
  cites: AnswerCite[];
}

/** What a sentence rests on */
export interface AnswerCite {
  /** Its number among the sources */
  number: number;
  /** What it is */
  kind: "turn" | "memory";
  /** Its id */
  id: string;
  /** The turn */
  turn_id: string | null;
  /** Its chat */
  chat_id: string | null;
}

/** A passage that may answer */
export interface AnswerSource {
  /** Its number */
  number: number;
  /** What it is */
  kind: "turn" | "memory";
  /** Its id */
  id: string;
  /** The turn */
  turn_id: string | null;
  /** Its chat */
  chat_id: string | null;
  /** Your own id of the turn */
  external_id: string | null;
  /** Who said it */
  speaker: string | null;
  /** When it was said */
  created_at: string;
  /** Something newer replaces it */
  superseded: boolean;
  /** It reads like an order to a model */
  is_instruction: boolean;
  /** How likely it answers */
  score: number;
  /** The passage as it was shown */
  text: string;
}

/** A stretch of turns with its summaries */
export interface Episode {
  /** Its id */
  id: string;
  /** primary (one chat) or cross_chat */
  type: string;
  /** Whose it is */
  user_id: string;
  /** Its chat, if it has one */
  chat_id: string | null;
  /** All chats it comes from */
  chat_ids: string[];
  /** Its number in the chat */
  ordinal: number;
  /** Its first turn */
  first_seq: number | null;
  /** Its last turn */
  last_seq: number | null;
  /** It was summed up */
  compacted: boolean;
  /** Up to which turn it was summed up */
  compacted_seq: number;
  /** When it was summed up */
  compacted_at: string | null;
  /** Why then: end, turns, day or hand */
  cause: string | null;
  /** Its summary in a phrase */
  micro: string | null;
  /** Its summary in sentences */
  meso: string | null;
  /** Its summary at length */
  macro: string | null;
  /** The turns that each sentence comes from */
  citations: unknown;
  /** extractive or llm */
  method: string | null;
  /** How much of the turns the summary covers */
  coverage: number;
  /** When it began */
  created_at: string;
  /** When it last changed */
  updated_at: string;
}

/** Why two chats were or were not joined */
export interface ChatLink {
  /** Its id */
  id: string;
  /** Whose chats they are */
  user_id: string;
  /** The one chat */
  chat_id: string;
  /** The other chat */
  other_chat_id: string;
  /** The turn that made one ask */
  turn_id: string;
  /** Whether they belong together */
  decision: "link" | "no_link";
  /** The score by words, names, topic and time */
  algorithmic: number;
  /** The language model's score, if it was asked */
  llm: number | null;
  /** The score it took then */
  threshold: number;
  /** Whether both agree: yes, no or absent */
  agreement: string;
  /** high or uncertain */
  confidence: string;
  /** What the score is made of */
  signals: unknown;
  /** correct or incorrect, once it is known */
  outcome: string | null;
  /** feedback or inferred */
  outcome_by: string | null;
  /** When it was known */
  outcome_at: string | null;
  /** When it was decided */
  created_at: string;
  /** When it last changed */
  updated_at: string;
}

/** How links are decided */
export interface Tuning {
  /** Its id; null for what clew came with */
  id: string | null;
  /** The tuning before */
  previous_id: string | null;
  /** It is in force */
  current: boolean;
  /** The score that makes a link */
  threshold: number;
  /** The weight of each signal */
  weights: Record<string, number>;
  /** The weight of the language model's word */
  llm_weight: number;
  /** What the model is told */
  prompt_signals: unknown;
  /** Why it was changed */
  reason: string | null;
  /** How well it did */
  metrics: unknown;
  /** When it came into force */
  created_at: string | null;
}

/** How linking is tuned, and was */
export interface Tunings {
  /** What is in force */
  current: Tuning;
  /** What was, newest first */
  history: Tuning[];
}

/** Ways to begin */
export interface Start {
  /** To answer with */
  id: string;
  /** All of it, to be shown */
  text: string;
  /** Chats it may go on with */
  related_chats: StartChat[];
  /** What is known about it */
  relevant_memories: StartMemory[];
  /** What can be chosen */
  options: StartOption[];
}

/** A chat to go on with: its fields, and these */
export interface StartChat {
  /** The chat */
  id: string;
  /** What it is about */
  summary: string | null;
  /** How many memories of which kind */
  artifacts: StartCount[];
  /** How many memories it has */
  n_artifacts: number;
  /** Something is unfinished in it */
  has_open_effort: boolean;
  [other: string]: unknown;
}

/** Memories of one kind */
export interface StartCount {
  /** What kind */
  type: string;
  /** With which status */
  status: string;
  /** How many */
  count: number;
}

/** A memory to take along */
export interface StartMemory {
  /** Its number in the list */
  n: number;
  /** The memory */
  id: string;
  /** What kind of memory it is */
  type: string;
  /** Its status */
  status: string;
  /** What it says */
  summary: string;
  /** How it ended */
  resolution: string | null;
  /** Where it was made */
  chat_id: string | null;
}

/** One way on */
export interface StartOption {
  /** Its number */
  n: number;
  /** continue, fork, new or fresh */
  action: string;
  /** What it means, in words */
  label: string;
  /** The chat it is about */
  chat_id?: string;
}

/** What came of an answer */
export interface Choice {
  /** continue, fork, new, fresh or ask */
  action: string;
  /** The chat to talk in */
  chat_id?: string | null;
  /** The memories that were taken along */
  imported: string[];
  /** To be shown */
  text: string;
}

/** One thing worth keeping */
export interface Memory {
  /** Its id */
  id: string;
  /** Whose it is; empty: shared by the tenant */
  user_id: string;
  /** thought, fact, effort, event, decision, skill … */
  type: string;
  /** active; an effort: open, resolved, abandoned */
  status: string;
  /** What it says */
  summary: string;
  /** How it ended */
  resolution: string | null;
  /** Words to find it by */
  tags: string[];
  /** Fields that its type has of its own */
  fields: unknown;
  /** Chat and lines it comes from */
  source_ref: string | null;
  /** All chats and lines it comes from */
  source_refs: string[];
  /** Who made it: rule, reader, llm, contributed … */
  origin: string;
  /** original, refinement or consolidation */
  thought_type: string;
  /** The chat it was made in */
  chat_id: string | null;
  /** The effort it is an attempt of */
  parent_id: string | null;
  /** The agent that contributed it */
  agent_id: string | null;
  /** What that agent is called */
  agent_name: string | null;
  /** It reads like an order to a model */
  is_instruction: boolean;
  /** What it refines or consolidates */
  source_ids: string[];
  /** Kept in view whatever its weight */
  pinned: boolean;
  /** Its length in tokens */
  token_count: number;
  /** How much it counts now */
  weight: number;
  /** A newer one replaces it */
  superseded: boolean;
  /** The one that replaces it */
  refined_by: string | null;
  /** When it was made */
  created_at: string;
  /** When it last changed */
  updated_at: string;
  /** When it stops to hold */
  expires_at: string | null;
  /** When it was taken back */
  retracted_at: string | null;
}

/** What others thought about a prompt */
export interface Thought {
  /** What there is */
  result: ThoughtResult;
  /** What was done */
  trace: ThoughtTrace;
}

/** Related thoughts */
export interface ThoughtResult {
  /** A sentence a model can use as it stands */
  response: string;
  /** Related thoughts, best first */
  sources: ThoughtSource[];
  /** What many agents use */
  highways_nearby: ThoughtHighway[];
  /** Topics to choose between */
  disambiguation: ThoughtClusters | null;
  /** What to do better next time */
  guidance: string | null;
  /** For an agent that is new */
  onboarding: string | null;
  /** The thought that was stored */
  thought_id: string | null;
}

/** A related thought */
export interface ThoughtSource {
  /** The thought */
  thought_id: string;
  /** Who contributed it */
  contributor: string | null;
  /** How close it is */
  score: number;
  /** How it begins */
  content_preview: string;
  /** The one that replaces it */
  refined_by: string | null;
  /** A newer one replaces it */
  superseded: boolean;
  /** What kind of memory it is */
  type: string;
  /** original, refinement or consolidation */
  thought_type: string;
  /** How much it counts now */
  weight: number;
}

/** A thought that many agents use */
export interface ThoughtHighway {
  /** The thought */
  thought_id: string;
  /** How often it was used */
  accesses: number;
  /** By how many agents */
  agents: number;
  /** How it begins */
  content_preview: string;
}

/** Topics that a prompt may mean */
export interface ThoughtClusters {
  /** The topics */
  clusters: ThoughtCluster[];
}

/** A topic */
export interface ThoughtCluster {
  /** What it is called */
  tag: string;
  /** How many thoughts it has */
  count: number;
}

/** What was done with a prompt */
export interface ThoughtTrace {
  /** The session, to send with the next one */
  session_id: string;
  /** The steps, in order */
  operations: string[];
  /** How many are related */
  thoughts_retrieved: number;
  /** 1 if the prompt was stored */
  thoughts_contributed: number;
  /** It was worth storing */
  contribution_threshold_met: boolean;
  /** The context helped to find them */
  context_used: boolean;
  /** How they were found */
  retrieval_method: string;
  /** If it refines another */
  lineage_summary?: LineageSummary;
}

/** A lineage in short */
export interface LineageSummary {
  /** There is one */
  has_lineage: boolean;
  /** How many thoughts it has */
  chain_length: number;
  /** The first of them */
  deepest_ancestor: string;
  /** The last of them */
  latest_refinement: string;
  /** There are more than are told */
  truncated: boolean;
}

/** What a memory came from and became */
export interface Lineage {
  /** The memory that was asked for */
  thought_id: string;
  /** Oldest first */
  chain: LineageNode[];
  /** There are more than are told */
  truncated: boolean;
}

/** A memory in a lineage */
export interface LineageNode {
  /** The memory */
  id: string;
  /** As id */
  thought_id: string;
  /** As thought_type */
  type: string;
  /** original, refinement or consolidation */
  thought_type: string;
  /** What it refines or consolidates */
  source_ids: string[];
  /** How it begins */
  content_preview: string;
  /** Who made it */
  contributor: string | null;
  /** When it was made */
  created_at: string;
  /** Before (negative) or after the one asked for */
  depth: number;
  /** It was taken back */
  retracted: boolean;
}

/** Two memories that disagree */
export interface Conflict {
  /** Whose they are */
  user_id: string;
  /** What they are about */
  subject: string;
  /** Of which they say something */
  attribute: string;
  /** Of which kind */
  qualifier: string | null;
  /** The older one */
  older: ConflictSide;
  /** The newer one */
  newer: ConflictSide;
  /** What would settle it */
  suggestion: ConflictSuggestion;
}

/** One of two memories that disagree */
export interface ConflictSide {
  /** The memory */
  id: string;
  /** What it says */
  summary: string;
  /** The value it gives */
  value: string;
  /** When it was made */
  created_at: string;
}

/** A thought to contribute */
export interface ConflictSuggestion {
  /** The memory it would replace */
  refines: string;
  /** What it would say */
  prompt: string;
}

/** What was taken back */
export interface Undone {
  /** The memories */
  retracted: string[];
  /** There is more: ask again */
  more: boolean;
  /** Nothing was done */
  dry_run: boolean;
}

/** Something that is worked on */
export interface Effort {
  /** Its id, also as a memory */
  id: string;
  /** What is to be reached */
  goal: string;
  /** As goal */
  summary: string;
  /** open, resolved or abandoned */
  status: string;
  /** Whether its turns are in view */
  state: string;
  /** How it ended, in words */
  resolution: string | null;
  /** found or failed, once it ended */
  outcome: string | null;
  /** The chat that has its turns */
  chat_id: string;
  /** The effort it is a part of */
  parent_id: string | null;
  /** Whose it is */
  user_id: string;
  /** It has a thread of its own */
  spawned: boolean;
  /** The effort it parted from at a fork */
  twin_of: string | null;
  /** How long its turns are */
  raw_tokens: number;
}

/** Claims on one topic, in order */
export interface Chain {
  /** Its id */
  id: string;
  /** Whose it is */
  user_id: string;
  /** The chat it began in */
  chat_id: string;
  /** The session it began in */
  session_id: string;
  /** What it is about */
  topic: string;
  /** Whether it goes on */
  state: "active" | "dormant" | "concluded";
  /** When it began */
  started_at: string;
  /** When it last grew */
  last_extended: string;
  /** How many claims it has */
  claim_count: number;
  /** The chain it left */
  branches_from: string | null;
  /** The chain it went into */
  merged_into: string | null;
  /** The chain it parted from at a fork */
  twin_of: string | null;
}

/** A chain with all it has */
export interface ChainDetail {
  /** Its id */
  id: string;
  /** Whose it is */
  user_id: string;
  /** The chat it began in */
  chat_id: string;
  /** The session it began in */
  session_id: string;
  /** What it is about */
  topic: string;
  /** Whether it goes on */
  state: "active" | "dormant" | "concluded";
  /** When it began */
  started_at: string;
  /** When it last grew */
  last_extended: string;
  /** How many claims it has */
  claim_count: number;
  /** The chain it left */
  branches_from: string | null;
  /** The chain it went into */
  merged_into: string | null;
  /** The chain it parted from at a fork */
  twin_of: string | null;
  /** Its claims, oldest first */
  claims: Claim[];
  /** What happened to it, oldest first */
  updates: ChainEvent[];
}

/** One statement found in a turn */
export interface Claim {
  /** Its id */
  id: string;
  /** The chain it is in */
  chain_id: string;
  /** The turn it was found in */
  turn_id: string;
  /** The chat of that turn */
  chat_id: string;
  /** The number of that turn */
  seq: number;
  /** Its number in the turn */
  position: number;
  /** Where it begins in the turn's text */
  first_byte: number;
  /** Where it ends */
  end_byte: number;
  /** What kind of statement it is */
  type: string;
  /** What it says */
  statement: string;
  /** What it is about */
  subject: string;
  /** Names in it */
  entities: string[];
  /** Words that tell */
  keywords: string[];
  /** How sure the reading is */
  confidence: number;
  /** Since when it holds */
  valid_from: string | null;
  /** When it was said */
  created_at: string;
}

/** What happened to a chain */
export interface ChainEvent {
  /** Its id */
  id: string;
  /** extend, create, branch, merge, conclude … */
  type: string;
  /** The chain */
  chain_id: string;
  /** The turn that did it */
  turn_id: string | null;
  /** The chain it branched from */
  parent_chain_id: string | null;
  /** The claims that were added */
  claim_ids: string[];
  /** How far the claim was from the chain */
  distance: number | null;
  /** Why, in words */
  reasoning: string | null;
  /** When */
  created_at: string;
}

/** Where a call belongs */
export interface Link {
  /** The call's id */
  request_id: string;
  /** The conversation it is in */
  conversation_id: string;
  /** The call it continues */
  parent_request_id: string | null;
  /** Its branch of the conversation */
  branch_id: string;
  /** The chat that has its turns */
  chat_id: string;
  /** How its place was found, e.g. exact */
  strategy: string;
  /** Stands for all its messages */
  current_message_hash: string;
  /** Stands for those it continues */
  parent_message_hash: string | null;
  /** Stands for its system prompt */
  system_hash: string | null;
  /** A sub-agent's call */
  is_subtask: boolean;
  /** How many messages it has */
  message_count: number;
  /** It was placed before */
  is_retry: boolean;
  /** How many turns it brought */
  new_turns: number;
  /** What was odd about it */
  note: string | null;
}

/** A captured call */
export interface Request {
  /** The call's id */
  request_id: string;
  /** The conversation it is in */
  conversation_id: string;
  /** The call it continues */
  parent_request_id: string | null;
  /** Its branch of the conversation */
  branch_id: string;
  /** The chat that has its turns */
  chat_id: string;
  /** How its place was found, e.g. exact */
  strategy: string;
  /** Stands for all its messages */
  current_message_hash: string;
  /** Stands for those it continues */
  parent_message_hash: string | null;
  /** Stands for its system prompt */
  system_hash: string | null;
  /** A sub-agent's call */
  is_subtask: boolean;
  /** How many messages it has */
  message_count: number;
  /** Whose call it is */
  user_id: string;
  /** Whose form it has */
  api: string | null;
  /** The model that was asked */
  model: string | null;
  /** The provider's HTTP status */
  status: number | null;
  /** Why the answer ended */
  stop_reason: string | null;
  /** What went wrong */
  error: string | null;
  /** The answer came to its end */
  is_complete: boolean;
  /** Tokens sent */
  input_tokens: number | null;
  /** Tokens answered */
  output_tokens: number | null;
  /** Tokens read from the provider's cache */
  cache_read_tokens: number | null;
  /** Tokens written to it; null: those read are a part of input_tokens */
  cache_write_tokens: number | null;
  /** What it cost; null: no price is known */
  cost: number | null;
  /** reply: as the provider says; prices: setting */
  cost_from: string | null;
  /** How long it took */
  duration_ms: number | null;
  /** How long until the answer began */
  first_byte_ms: number | null;
  /** The first turn it brought */
  first_seq: number;
  /** The last turn it brought */
  last_seq: number;
  /** The turn that is its answer */
  reply_seq: number | null;
  /** When it was made */
  created_at: string;
  /** How it begins; in lists */
  preview?: string | null;
  /** The calls that continue it; in trees */
  children?: string[];
}

/** A captured call with its turns */
export interface RequestDetail {
  /** The call's id */
  request_id: string;
  /** The conversation it is in */
  conversation_id: string;
  /** The call it continues */
  parent_request_id: string | null;
  /** Its branch of the conversation */
  branch_id: string;
  /** The chat that has its turns */
  chat_id: string;
  /** How its place was found, e.g. exact */
  strategy: string;
  /** Stands for all its messages */
  current_message_hash: string;
  /** Stands for those it continues */
  parent_message_hash: string | null;
  /** Stands for its system prompt */
  system_hash: string | null;
  /** A sub-agent's call */
  is_subtask: boolean;
  /** How many messages it has */
  message_count: number;
  /** Whose call it is */
  user_id: string;
  /** Whose form it has */
  api: string | null;
  /** The model that was asked */
  model: string | null;
  /** The provider's HTTP status */
  status: number | null;
  /** Why the answer ended */
  stop_reason: string | null;
  /** What went wrong */
  error: string | null;
  /** The answer came to its end */
  is_complete: boolean;
  /** Tokens sent */
  input_tokens: number | null;
  /** Tokens answered */
  output_tokens: number | null;
  /** Tokens read from the provider's cache */
  cache_read_tokens: number | null;
  /** Tokens written to it; null: those read are a part of input_tokens */
  cache_write_tokens: number | null;
  /** What it cost; null: no price is known */
  cost: number | null;
  /** reply: as the provider says; prices: setting */
  cost_from: string | null;
  /** How long it took */
  duration_ms: number | null;
  /** How long until the answer began */
  first_byte_ms: number | null;
  /** The first turn it brought */
  first_seq: number;
  /** The last turn it brought */
  last_seq: number;
  /** The turn that is its answer */
  reply_seq: number | null;
  /** When it was made */
  created_at: string;
  /** The turns it brought */
  turns: Turn[];
}

/** A tree of calls */
export interface Conversation {
  /** The root chat's id */
  id: string;
  /** The calls, oldest first */
  requests: Request[];
  /** The chats that have their turns */
  branches: Chat[];
}

/** Links that were decided again */
export interface Relinked {
  /** Calls looked at so far */
  requests: number;
  /** Of so many */
  total: number;
  /** Of which so many are linked otherwise now */
  changed: number;
  /** An earlier run had been broken off */
  resumed: boolean;
  /** There are no more */
  done: boolean;
  /** How many were linked how */
  by_strategy: Record<string, number>;
}

/** What was forgotten */
export interface Receipt {
  /** How many of each kind */
  forgotten: Record<string, number>;
  /** Its id; null for a dry run */
  receipt_id: string | null;
  /** Stands for all that was removed */
  sha256: string;
  /** No byte of it is left in the store's files */
  scrubbed: boolean;
  /** What is left, and why */
  remains?: string;
  /** Nothing was done */
  dry_run: boolean;
}

/** What went wrong; nothing was done */
export interface Error {
  /** What went wrong */
  error: ErrorBody;
}

/** What went wrong */
export interface ErrorBody {
  /** A stable word for programs, e.g. NOT_FOUND */
  code: string;
  /** The class of error */
  type: string;
  /** A sentence for people */
  message: string;
  /** The field that is wrong */
  field?: string;
  /** To find it in the server's log */
  request_id: string;
}

/** How the server is */
export interface Health {
  /** ok, or what is wrong */
  status: string;
  /** The version of clew */
  version: string;
  /** How the store is */
  store: string;
  /** Where `store.read_url` is set: ok, behind or down (then the primary does all reading) */
  replica?: string;
  /** Who reads turns, and how many wait */
  reading: Reading;
}

/** Who reads turns; empty while the store is down */
export interface Reading {
  /** The reader's id, or rules */
  by?: string;
  /** Why there is no trained reader */
  trouble?: string;
  /** Turns that wait to be read, with the chats */
  waiting?: number;
  /** Chats that wait to be held against earlier ones */
  chats?: number;
  /** Turns that could not be read; `clew rebuild` tries again */
  given_up?: number;
}

/** Where things are */
export interface Index {
  /** clew */
  name: string;
  /** The version of clew */
  version: string;
  /** The page for people */
  page: string;
  /** Where the paths of the API begin */
  api: string;
  /** This document */
  openapi: string;
  /** The Model Context Protocol */
  mcp: string;
  /** Anthropic's API, captured */
  anthropic: string;
  /** OpenAI's API, captured */
  openai: string;
  /** Is the server well? */
  health: string;
  /** For Prometheus */
  metrics: string;
}

/** The agent packages in use */
export interface Agents {
  /** Those in use */
  items: Agent[];
  /** What is wrong with others */
  problems: AgentProblem[];
}

/** A package that says what to keep */
export interface Agent {
  /** The type of memory it makes */
  name: string;
  /** What it is for */
  description: string | null;
  /** It came with clew */
  builtin: boolean;
  /** An older version is in use, for the new one is bad */
  kept: boolean;
  /** The file it comes from */
  file: string | null;
  /** The fields its memories have */
  fields: string[];
}

/** What is wrong with a package */
export interface AgentProblem {
  /** The file */
  file: string | null;
  /** The line */
  line: number;
  /** What is wrong */
  message: string;
  /** An older version is in use */
  kept: boolean;
}

/** An embedding model and how far it has come */
export interface Model {
  /** What it is called */
  name: string;
  /** Its id: the same for the same weights */
  id: string;
  /** How many numbers a vector has */
  dim: number;
  /** It serves */
  in_use: boolean;
  /** Texts it has embedded */
  done: number;
  /** Texts there are */
  total: number;
  /** How far that is */
  percent: number;
  /** Tenants it embeds for */
  tenants: number;
  /** Tenants it serves */
  ready: number;
  /** What went wrong last */
  error: string | null;
  [other: string]: unknown;
}

/** A piece of later work */
export interface Task {
  /** Its id */
  id: string;
  /** What is to be done */
  kind: string;
  /** Of the same key there is one at a time */
  unique_key: string | null;
  /** How far it is */
  status: "pending" | "running" | "done" | "failed";
  /** Higher ones first */
  priority: number;
  /** How often it was tried */
  attempts: number;
  /** What went wrong last */
  last_error: string | null;
  /** When it is due */
  execute_at: string;
  /** When it was asked for */
  created_at: string;
  /** When it ended */
  finished_at: string | null;
}

/** What was decided, and why */
export interface Trace {
  /** The turn or call */
  id: string;
  /** Its chat */
  chat_id: string;
  /** When */
  created_at: string;
  /** Each step: chosen, considered, scores, rule; `reading`: what the reader sees in each sentence, and how sure; `llm_calls`: the language models it was sent to */
  decisions: unknown;
}

/** Calls to the language model on a day */
export interface Usage {
  /** The day */
  day: string;
  /** What they were for */
  purpose: string;
  /** The model */
  model: string;
  /** How many */
  calls: number;
  /** How many failed */
  failures: number;
  /** Tokens sent */
  input_tokens: number;
  /** Tokens answered */
  output_tokens: number;
  /** What it cost, by the configured prices */
  cost: number;
}

/** How much of the day's tokens is used */
export interface UsageLeft {
  /** Used today */
  used_tokens: number;
  /** The most that may be used */
  daily_tokens: number;
}

/** A program that called */
export interface Caller {
  /** What it calls itself: to MCP, in an x-clew-client header, or as its User-Agent */
  name: string;
  /** `api` (MCP too) or `proxy` */
  via: string;
  /** Its last call, to the minute */
  last_at: string;
}

/** How much there is */
export interface Stats {
  /** What the caller may do */
  role: string;
  /** The caller's key */
  key_id: string | null;
  /** Chats */
  chats: number;
  /** Turns */
  turns: number;
  /** Captured calls */
  calls: number;
  /** Episodes */
  episodes: number;
  /** Chains */
  chains: number;
  /** Tasks that failed */
  failed_tasks: number;
  /** Memories */
  memories: StatsMemories;
  /** Where they are */
  store: StatsStore;
  /** What came on which day */
  days: StatsDay[];
}

/** What a file of another program brought */
export interface Brought {
  /** Whose export it is */
  format: string;
  /** Conversations in it */
  conversations: number;
  /** Messages in it */
  messages: number;
  /** Those that are new */
  added: number;
  /** Forks that were made */
  forks: number;
  [other: string]: unknown;
}

/** A copy of the store on the server */
export interface Backup {
  /** The file, on the server */
  path: string;
  /** How large it is; before it is made, the store */
  bytes: number;
  /** Room in its folder before it was made */
  free_bytes: number;
  /** Backups that were in the folder before */
  kept: number;
  /** Hash of the file */
  sha256: string | null;
  /** When it was made */
  created_at: string;
  /** Nothing was done */
  dry_run: boolean;
}

/** How many memories there are */
export interface StatsMemories {
  /** Those that hold */
  holding: number;
  /** Those that newer ones replace */
  superseded: number;
  /** Those taken back */
  retracted: number;
  /** Those kept in view */
  pinned: number;
  /** How many of each type */
  by_type: Record<string, number>;
  /** How many efforts of each status */
  efforts: Record<string, number>;
  /** How many of each user */
  by_user: StatsUser[];
  /** How many of each agent */
  by_agent: StatsAgent[];
}

/** A user's memories */
export interface StatsUser {
  /** The user */
  user_id: string;
  /** How many */
  memories: number;
  [other: string]: unknown;
}

/** An agent's memories */
export interface StatsAgent {
  /** How many */
  memories: number;
  [other: string]: unknown;
}

/** Where things are kept */
export interface StatsStore {
  /** sqlite or postgres */
  backend: string;
  /** How large it is, where that is known */
  bytes: number | null;
}

/** What came on a day */
export interface StatsDay {
  /** The day */
  date: string;
  /** Turns */
  turns: number;
  /** Memories */
  memories: number;
  /** Captured calls */
  calls: number;
}

/** Somebody who speaks here */
export interface User {
  /** Your name for them */
  user_id: string;
  /** How many chats they have */
  chats: number;
  /** How many turns */
  turns: number;
  /** When they last spoke */
  last_activity_at: string | null;
  /** The silence that ends their chats, if they have one of their own */
  inactivity_minutes: number | null;
}

/** A user's own timeout */
export interface UserTimeout {
  /** Your name for them */
  user_id: string;
  /** The silence that ends their chats */
  inactivity_minutes: number | null;
}

/** A thing whose id begins so */
export interface Id {
  /** What it is */
  kind: string;
  /** Its whole id */
  id: string;
}

/** Something that happened: `data` of a server-sent event. Its `event` is turn, memory, effort, call, forgotten, task_failed or missed */
export interface Event {
  /** What it happened to */
  id: string | null;
  /** The chat that is in */
  chat_id: string | null;
  /** The role, type, model or kind of it */
  what: string | null;
  /** Its status now */
  status: string | null;
  /** Whose it is */
  user_id: string | null;
  /** The turn's number */
  seq?: number;
  /** When */
  at: string | null;
}

/** A tenant */
export interface Tenant {
  /** Its name */
  name: string;
  /** May its words be shown to language models: allowed or forbidden */
  llm: string;
  /** The server's time */
  now: string;
}

/** A key, without its secret */
export interface Key {
  /** Its id: the part after clew_ */
  id: string;
  /** What it may do */
  role: "read" | "write" | "admin";
  /** What it is for */
  label: string | null;
  /** When it was made */
  created_at: string;
  /** When it was revoked */
  revoked_at: string | null;
}

/** A key that was made */
export interface NewKey {
  /** The key itself: shown once */
  key: string;
  /** Its id: the part after clew_ */
  id: string;
  /** What it may do */
  role: "read" | "write" | "admin";
  /** What it is for */
  label: string | null;
  /** When it was made */
  created_at: string;
  /** When it was revoked */
  revoked_at: string | null;
}

/** The settings in force */
export interface Settings {
  /** By name */
  settings: Record<string, Setting>;
  /** The version of clew */
  version: string;
}

/** A setting */
export interface Setting {
  /** Its value; secrets are masked */
  value: unknown;
  [other: string]: unknown;
}

/** A line of an export */
export interface ExportRow {
  [other: string]: unknown;
}

/** What came of an import */
export interface Imported {
  /** Lines that were read */
  rows: number;
  /** Lines that were new */
  added: number;
  /** Lines left out, of what was forgotten */
  forgotten: number;
}

/** This document */
export interface Document {
  /** The version of OpenAPI */
  openapi: string;
  [other: string]: unknown;
}

/** What a text does */
export interface Act {
  /** What it does */
  act: "greeting" | "question" | "request" | "inform" | "commit" | "accept" | "reject";
}

/** What a text does, and what is in it */
export interface Analysis {
  /** What it does */
  act: "greeting" | "question" | "request" | "inform" | "commit" | "accept" | "reject";
  /** How sure that is */
  confidence: number;
  /** Who said so */
  level: "command" | "rule" | "classifier" | "llm";
  /** The rule that did */
  rule: string | null;
  /** A person set it right before */
  corrected: boolean;
  /** Its sentences */
  sentences: AnalysisSentence[];
  /** Its parts and what each does */
  segments: AnalysisSegment[];
  /** Names and numbers in it */
  entities: AnalysisEntity[];
  /** Words that tell, best first */
  keywords: AnalysisKeyword[];
  /** Times it speaks of */
  dates: AnalysisDate[];
}

/** A sentence */
export interface AnalysisSentence {
  /** The sentence */
  text: string;
  /** Where it begins, in bytes */
  from: number;
  /** Where it ends */
  to: number;
  /** It asks */
  question: boolean;
}

/** A part that does one thing */
export interface AnalysisSegment {
  /** The part */
  text: string;
  /** Where it begins, in bytes */
  from: number;
  /** Where it ends */
  to: number;
  /** What it does */
  act: string;
  /** How sure that is */
  confidence: number;
  /** The rule that said so */
  rule: string | null;
}

/** A name or number */
export interface AnalysisEntity {
  /** As it is written */
  text: string;
  /** Where it begins, in bytes */
  from: number;
  /** Where it ends */
  to: number;
  /** person, place, organisation, file, date … */
  kind: string;
}

/** A word that tells */
export interface AnalysisKeyword {
  /** The word */
  word: string;
  /** Its stem */
  stem: string;
  /** How often it stands there */
  count: number;
  /** How rare it is */
  idf: number;
}

/** A time a text speaks of */
export interface AnalysisDate {
  /** As it is written */
  text: string;
  /** Where it begins, in bytes */
  from: number;
  /** Where it ends */
  to: number;
  /** When that time begins */
  since: string;
  /** When it ends */
  until: string;
  /** time, day, week, month, year or range */
  grain: string;
  /** Relative to when it was said */
  relative: boolean;
}

/** A call as its provider has it; the answer alike */
export interface ProviderBody {
  /** The model that is asked */
  model?: string;
  /** Answer as a stream */
  stream?: boolean;
  [other: string]: unknown;
}

/** A JSON-RPC 2.0 message */
export interface RpcMessage {
  /** 2.0 */
  jsonrpc: string;
  /** The request's id; none in a notification */
  id?: unknown;
  /** What is asked for */
  method?: string;
  /** With what */
  params?: unknown;
  /** The answer */
  result?: unknown;
  /** What went wrong */
  error?: unknown;
}

/** Store a turn, or a batch that is all or nothing */
export type CreateTurnsBody = NewTurn | NewTurnBatch;

/** Turns to store, all or none */
export interface NewTurnBatch {
  /** 1 to 1,000 turns, stored all or not at all */
  turns: NewTurn[];
  /** Leave out what was forgotten of the same user by the same `external_id` */
  unless_forgotten?: boolean;
  /** Since when this is on its way, by the tenant's `now`: what is of a user, or in a chat, forgotten since then is left out */
  begun_at?: string;
  /** The chat that a new one, made for these turns, leaves at at_seq, or lies beside as subtask; made only if one of them is new */
  fork_of?: string;
  /** The last turn both sides share; the end if not given */
  at_seq?: number;
  /** A sub-agent's name: its own talk, beside the chat */
  subtask?: string;
}

/** A turn to store */
export interface NewTurn {
  /** Whose it is, by your own name for them */
  user_id: string;
  /** Who speaks */
  role: "user" | "assistant" | "system" | "tool";
  /** What was said: text, or blocks as the OpenAI and Anthropic APIs have */
  content: string | (string | ContentBlock)[];
  /** The speaker's name, if there are several */
  name?: string;
  /** How it came: sms, email, web, ide and the like */
  channel?: string;
  /** The chat it goes to; where it belongs is worked out if not given */
  chat_id?: string;
  /** When it was said, if not now; may lie in the past */
  created_at?: string;
  /** The speaker's time zone, e.g. Europe/Berlin */
  timezone?: string;
  /** Your own id of the turn: the same posted twice is stored once */
  external_id?: string;
}

/** Make a chat */
export interface CreateChatBody {
  /** Whose it is, by your own name for them */
  user_id: string;
  /** How it came: sms, email, web, ide and the like */
  channel?: string;
  /** What it is called */
  title?: string;
  /** The silence that ends the chat */
  inactivity_minutes?: number;
}

/** A page of a list */
export interface ChatPage {
  /** The items of this page */
  items: Chat[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** Rename a chat or set its timeout */
export interface UpdateChatBody {
  /** What it is called */
  title?: string;
  /** The silence that ends the chat */
  inactivity_minutes?: number;
}

/** A page of a list */
export interface TurnPage {
  /** The items of this page */
  items: Turn[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** Fork a chat at any turn; nothing is copied */
export interface ForkChatBody {
  /** The last turn both sides share; the end if not given */
  at_seq?: number;
  /** What it is called */
  title?: string;
  /** A sub-agent's name: its own talk, beside the chat */
  subtask?: string;
}

/** What the next turn of a chat needs to know, within a budget */
export interface GetContextBody {
  /** How many tokens it may have */
  budget_tokens?: number;
  /** What the person says next, to recall what it needs */
  message?: string;
  /** As one text, or as messages to put before the next one */
  format?: "text" | "openai" | "anthropic";
}

/** Spawn an effort with a thread of its own */
export interface CreateEffortBody {
  /** Whose it is, by your own name for them */
  user_id: string;
  /** What is to be reached */
  goal: string;
  /** The chat it is spawned from */
  chat_id?: string;
  /** The effort that this one is a part of */
  parent_id?: string;
}

/** A page of a list */
export interface EffortPage {
  /** The items of this page */
  items: Effort[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** Store a turn in an effort's thread */
export interface CreateEffortTurnBody {
  /** Whose it is, by your own name for them */
  user_id?: string;
  /** Who speaks */
  role: "user" | "assistant" | "system" | "tool";
  /** What was said: text, or blocks as the OpenAI and Anthropic APIs have */
  content: string | (string | ContentBlock)[];
  /** The speaker's name, if there are several */
  name?: string;
  /** How it came: sms, email, web, ide and the like */
  channel?: string;
  /** When it was said, if not now; may lie in the past */
  created_at?: string;
  /** The speaker's time zone, e.g. Europe/Berlin */
  timezone?: string;
  /** Your own id of the turn: the same posted twice is stored once */
  external_id?: string;
}

/** Put an effort's turns out of view; a spawned one ends with its result */
export interface CollapseEffortBody {
  /** How it ended, in words */
  resolution?: string;
  /** What came of it */
  outcome?: "found" | "failed" | "given_up";
}

/** A page of a list */
export interface EpisodePage {
  /** The items of this page */
  items: Episode[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** A page of a list */
export interface ChatLinkPage {
  /** The items of this page */
  items: ChatLink[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** Say whether a link decision was right */
export interface RateLinkBody {
  /** Whether the decision was right */
  outcome: "correct" | "incorrect";
}

/** A page of a list */
export interface TaskPage {
  /** The items of this page */
  items: Task[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** Begin a conversation: related chats, memories and four ways on */
export interface StartBody {
  /** Whose it is, by your own name for them */
  user_id: string;
  /** What the person wants to talk about */
  intent: string;
}

/** Answer a start (of user_id alone if given): continue, fork, new with memories that are picked, fresh */
export interface ChooseStartBody {
  /** The option chosen, in words or as its number */
  answer: string;
  /** Whose it is, by your own name for them */
  user_id?: string;
}

/** A page of a list */
export interface SessionPage {
  /** The items of this page */
  items: Session[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** A page of a list */
export interface ChainPage {
  /** The items of this page */
  items: Chain[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** Find what was said */
export interface RecallBody {
  /** What is looked for, in words */
  query: string;
  /** Whose it is, by your own name for them */
  user_id?: string;
  /** The chat */
  chat_id?: string;
  /** Only these kinds; all but whole chats if not given */
  kinds?: ("turn" | "memory" | "episode" | "chat")[];
  /** At most so many items */
  limit?: number;
  /** From this moment on */
  since?: string;
  /** Up to this moment */
  until?: string;
  /** As of this moment: what had been said by then */
  at?: string;
  /** The speaker's time zone, e.g. Europe/Berlin */
  timezone?: string;
  /** Say for each item why it was found */
  explain?: boolean;
  /** Do not read the first candidates again: less sure */
  fast?: boolean;
  /** Only items at least so likely to answer */
  min_score?: number;
  /** next_cursor of the page before */
  cursor?: string;
  /** The chat a question was put in: completes one that leans on what was just said; chat_id does so too */
  asked_in?: string;
}

/** Answer a question in sentences that cite what was said */
export interface AskBody {
  /** What is looked for, in words */
  query: string;
  /** Whose it is, by your own name for them */
  user_id?: string;
  /** The chat */
  chat_id?: string;
  /** From this moment on */
  since?: string;
  /** Up to this moment */
  until?: string;
  /** As of this moment: what had been said by then */
  at?: string;
  /** The speaker's time zone, e.g. Europe/Berlin */
  timezone?: string;
  /** Recall once more, with up to three questions of the model's */
  deep?: boolean;
  /** Server-sent events: sources, each sentence, then the whole answer */
  stream?: boolean;
}

/** What a text does, and what is in it */
export interface AnalyseBody {
  /** The text */
  text: string;
  /** What was said just before */
  previous?: string;
  /** When it was said, if not now; may lie in the past */
  created_at?: string;
  /** The speaker's time zone, e.g. Europe/Berlin */
  timezone?: string;
}

/** Set the act of a text right, for the next time */
export interface CorrectAnalysisBody {
  /** The text */
  text: string;
  /** What was said just before */
  previous?: string;
  /** What the text does */
  act: "greeting" | "question" | "request" | "inform" | "commit" | "accept" | "reject";
}

/** Contribute a thought and retrieve related ones */
export interface ShareThoughtBody {
  /** The thought, or the question */
  prompt: string;
  /** Which agent speaks: up to 100 characters */
  agent_id: string;
  /** What the agent is called */
  agent_name: string;
  /** What the agent is doing, to find what fits it */
  context?: string;
  /** The session */
  session_id?: string;
  /** The thought that this one replaces */
  refines?: string;
  /** The thoughts that this one sums up */
  consolidates?: string[];
  /** Ask only: the prompt is not stored */
  read_only?: boolean;
}

/** A page of a list */
export interface MemoryPage {
  /** The items of this page */
  items: Memory[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** Write a memory by hand */
export interface CreateMemoryBody {
  /** Whose it is, by your own name for them */
  user_id?: string;
  /** thought, fact, effort, event, decision, skill or other */
  type?: string;
  /** What is to be remembered, in a sentence */
  summary: string;
  /** Words to find it by */
  tags?: string[];
  /** Kept in view whatever its weight */
  pinned?: boolean;
}

/** Take back all that an agent or a key contributed since a moment */
export interface UndoMemoriesBody {
  /** The agent or the key whose contributions are taken back */
  from: string;
  /** What came from this moment on */
  since: string;
  /** Tell what would be done, and do nothing */
  dry_run?: boolean;
}

/** A page of a list */
export interface ConflictPage {
  /** The items of this page */
  items: Conflict[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** Tag or pin a memory, or correct it: a new summary is a refinement */
export interface UpdateMemoryBody {
  /** Words to find it by */
  tags?: string[];
  /** thought, fact, effort, event, decision, skill or other */
  type?: string;
  /** Kept in view whatever its weight */
  pinned?: boolean;
  /** What is to be remembered, in a sentence */
  summary?: string;
  /** When it stops to hold; null: never */
  expires_at?: string | null;
}

/** Resolve an effort */
export interface ResolveMemoryBody {
  /** How it ended, in words */
  resolution?: string;
  /** The chat */
  chat_id?: string;
}

/** Say whether a skill worked when it was used */
export interface RateMemoryBody {
  /** Whether it worked */
  worked: boolean;
}

/** Open an effort again */
export interface ReopenMemoryBody {
  /** The chat */
  chat_id?: string;
}

/** Give an effort up */
export interface AbandonMemoryBody {
  /** The chat */
  chat_id?: string;
}

/** Place a call to an LLM in its conversation and store what is new */
export interface LinkCallBody {
  /** The call's messages, as the OpenAI or Anthropic API has them */
  messages: (Record<string, unknown>)[];
  /** The call's system prompt */
  system?: unknown;
  /** An id of your own for the call */
  request_id?: string;
  /** When it was said, if not now; may lie in the past */
  created_at?: string;
  /** The model's answer, as its API gave it */
  response?: unknown;
  /** Whose it is, by your own name for them */
  user_id?: string;
  /** The chat of a call that continues no other */
  chat_id?: string;
  /** The model's name */
  model?: string;
}

/** A page of a list */
export interface RequestPage {
  /** The items of this page */
  items: Request[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** Remove things and all that was derived from them */
export interface ForgetBody {
  /** These turns */
  turn_ids?: string[];
  /** Everything in this chat */
  chat_id?: string;
  /** These memories */
  memory_ids?: string[];
  /** Everything of this user */
  user_id?: string;
  /** The turns that you gave these ids */
  external_ids?: string[];
  /** Tell what would be done, and do nothing */
  dry_run?: boolean;
}

/** A page of a list */
export interface ModelPage {
  /** The items of this page */
  items: Model[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** A page of a list */
export interface UsagePage {
  /** The items of this page */
  items: Usage[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** Write down a call to the language model that was made elsewhere */
export interface RecordUsageBody {
  /** What the call was for: letters, digits and ._- */
  purpose: string;
  /** The model's name */
  model: string;
  /** Tokens sent to the model */
  input_tokens?: number;
  /** Tokens that the model answered */
  output_tokens?: number;
  /** The call failed */
  failed?: boolean;
}

/** A page of a list */
export interface CallerPage {
  /** The items of this page */
  items: Caller[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** A page of a list */
export interface UserPage {
  /** The items of this page */
  items: User[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** Give a user a timeout of their own; null takes it back */
export interface UpdateUserBody {
  /** The silence that ends their chats; null: as configured */
  inactivity_minutes: number | null;
}

/** A page of a list */
export interface IdPage {
  /** The items of this page */
  items: Id[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** Forbid that its words are shown to language models, or allow it */
export interface UpdateTenantBody {
  /** May the tenant's words be shown to language models */
  llm: "allowed" | "forbidden";
}

/** A page of a list */
export interface KeyPage {
  /** The items of this page */
  items: Key[];
  /** To ask for the next page with; null on the last one */
  next_cursor: string | null;
}

/** Make a key for the tenant; its secret is shown once */
export interface CreateKeyBody {
  /** What the key may do */
  role: "read" | "write" | "admin";
  /** What the key is for, in your words */
  label?: string;
}

/** Copy the store, all tenants, to a file on the server; SQLite only */
export interface MakeBackupBody {
  /** Tell what would be done, and do nothing */
  dry_run?: boolean;
}

/** Take lines of an export, all or nothing; twice changes nothing */
export interface ImportRowsBody {
  /** Lines of an export, as JSON objects */
  rows?: (Record<string, unknown>)[];
  /** Bring back what was forgotten, too */
  restore_forgotten?: boolean;
  /** Since when this is on its way, by the tenant's `now`: what is of a user, or in a chat, forgotten since then is left out */
  begun_at?: string;
}

/** What each operation takes and answers, by its operationId. */
export interface Operations {
  /** Give an effort up */
  abandonMemory: {
    params: { id: string };
    query: undefined;
    body: AbandonMemoryBody | undefined;
    answer: Memory;
  };
  /** What a text does, and what is in it */
  analyse: {
    params: undefined;
    query: undefined;
    body: AnalyseBody;
    answer: Analysis;
  };
  /** Answer a question in sentences that cite what was said */
  ask: {
    params: undefined;
    query: undefined;
    body: AskBody;
    answer: Answer;
  };
  /** Answer a start (of user_id alone if given): continue, fork, new with memories that are picked, fresh */
  chooseStart: {
    params: { id: string };
    query: undefined;
    body: ChooseStartBody;
    answer: Choice;
  };
  /** Close a chat */
  closeChat: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: Chat;
  };
  /** Put an effort's turns out of view; a spawned one ends with its result */
  collapseEffort: {
    params: { id: string };
    query: undefined;
    body: CollapseEffortBody | undefined;
    answer: Effort;
  };
  /** Sum a chat up now */
  compactChat: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: EpisodePage;
  };
  /** Conclude a chain */
  concludeChain: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: Chain;
  };
  /** Set the act of a text right, for the next time */
  correctAnalysis: {
    params: undefined;
    query: undefined;
    body: CorrectAnalysisBody;
    answer: Act;
  };
  /** Make a chat */
  createChat: {
    params: undefined;
    query: undefined;
    body: CreateChatBody;
    answer: Chat;
  };
  /** Spawn an effort with a thread of its own */
  createEffort: {
    params: undefined;
    query: undefined;
    body: CreateEffortBody;
    answer: Effort;
  };
  /** Store a turn in an effort's thread */
  createEffortTurn: {
    params: { id: string };
    query: undefined;
    body: CreateEffortTurnBody;
    answer: Captured;
  };
  /** Make a key for the tenant; its secret is shown once */
  createKey: {
    params: undefined;
    query: undefined;
    body: CreateKeyBody;
    answer: NewKey;
  };
  /** Write a memory by hand */
  createMemory: {
    params: undefined;
    query: undefined;
    body: CreateMemoryBody;
    answer: Memory;
  };
  /** Store a turn, or a batch that is all or nothing */
  createTurns: {
    params: undefined;
    query: undefined;
    body: CreateTurnsBody;
    answer: CapturedOrBatch;
  };
  /** End a session */
  endSession: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: Session;
  };
  /** Put an effort's turns in view */
  expandEffort: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: Effort;
  };
  /** Read everything of the tenant, one JSON object a line */
  exportAll: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: string;
  };
  /** What has an id that begins so; at least four hex digits */
  findIds: {
    params: { part: string };
    query: { kind?: "chat" | "turn" | "memory" | "session" | "chain" | "episode" | "link" | "request" | "trace" | "conversation" };
    body: undefined;
    answer: IdPage;
  };
  /** Find the turn with your id */
  findTurns: {
    params: undefined;
    query: { external_id: string; user_id?: string; secrets?: "mask" | "show" };
    body: undefined;
    answer: FoundTurns;
  };
  /** Remove things and all that was derived from them */
  forget: {
    params: undefined;
    query: undefined;
    body: ForgetBody | undefined;
    answer: Receipt;
  };
  /** Fork a chat at any turn; nothing is copied */
  forkChat: {
    params: { id: string };
    query: undefined;
    body: ForkChatBody | undefined;
    answer: Chat;
  };
  /** Read a chain with its claims and updates */
  getChain: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: ChainDetail;
  };
  /** Read a chat */
  getChat: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: Chat;
  };
  /** List the tree of forks a chat belongs to */
  getChatTree: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: ChatTree;
  };
  /** What the next turn of a chat needs to know, within a budget */
  getContext: {
    params: { id: string };
    query: undefined;
    body: GetContextBody | undefined;
    answer: Context;
  };
  /** Read a conversation's tree of calls and branches */
  getConversation: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: Conversation;
  };
  /** Read an effort */
  getEffort: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: Effort;
  };
  /** The context to work on an effort in */
  getEffortContext: {
    params: { id: string };
    query: { budget_tokens?: number };
    body: undefined;
    answer: Context;
  };
  /** Read an episode */
  getEpisode: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: Episode;
  };
  /** Is the server well? */
  getHealth: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Health;
  };
  /** Where things are; browsers get the page */
  getIndex: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Index;
  };
  /** Follow a memory's lineage both ways */
  getLineage: {
    params: { id: string };
    query: { at?: string };
    body: undefined;
    answer: Lineage;
  };
  /** Read a decision about a link */
  getLink: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: ChatLink;
  };
  /** Read a memory */
  getMemory: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: Memory;
  };
  /** The raw turns a memory comes from */
  getMemorySource: {
    params: { id: string };
    query: { secrets?: "mask" | "show" };
    body: undefined;
    answer: TurnPage;
  };
  /** Prometheus metrics; who may read them says server.metrics */
  getMetrics: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: string;
  };
  /** This document */
  getOpenapi: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Document;
  };
  /** Read a captured call with the turns it brought */
  getRequest: {
    params: { id: string };
    query: { secrets?: "mask" | "show" };
    body: undefined;
    answer: RequestDetail;
  };
  /** The settings in force and where each came from, secrets masked */
  getSettings: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Settings;
  };
  /** How much there is, and how much came on which day */
  getStats: {
    params: undefined;
    query: { user_id?: string; since?: string; until?: string; utc_offset_minutes?: number };
    body: undefined;
    answer: Stats;
  };
  /** The tenant itself, and what it decided */
  getTenant: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Tenant;
  };
  /** The related ones alone, asked with a query string; nothing is stored */
  getThoughts: {
    params: undefined;
    query: { prompt: string; agent_id: string; agent_name: string; context?: string; session_id?: string; refines?: string; consolidates?: string; read_only?: boolean };
    body: undefined;
    answer: Thought;
  };
  /** What was decided about a turn or a call, and why */
  getTrace: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: Trace;
  };
  /** How linking is tuned, and was */
  getTuning: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Tunings;
  };
  /** Take lines of an export, all or nothing; twice changes nothing */
  importRows: {
    params: undefined;
    query: undefined;
    body: ImportRowsBody | undefined;
    answer: Imported;
  };
  /** Place a call to an LLM in its conversation and store what is new */
  linkCall: {
    params: undefined;
    query: undefined;
    body: LinkCallBody;
    answer: Link;
  };
  /** List the agent packages in use, and what is wrong with others */
  listAgents: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Agents;
  };
  /** List the programs that called, by the name they carry, latest first */
  listCallers: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: CallerPage;
  };
  /** List chains of thought, latest extension first */
  listChains: {
    params: undefined;
    query: { user_id?: string; state?: "active" | "dormant" | "concluded"; chat_id?: string; session_id?: string; limit?: number; cursor?: string };
    body: undefined;
    answer: ChainPage;
  };
  /** List chats, newest activity first */
  listChats: {
    params: undefined;
    query: { user_id?: string; q?: string; sort?: "activity" | "created" | "turns"; since?: string; until?: string; limit?: number; cursor?: string };
    body: undefined;
    answer: ChatPage;
  };
  /** List memories that disagree, with what would settle it */
  listConflicts: {
    params: undefined;
    query: { user_id?: string; limit?: number };
    body: undefined;
    answer: ConflictPage;
  };
  /** Open efforts of a user or a chat; `all` lists closed ones too */
  listEfforts: {
    params: undefined;
    query: { user_id?: string; chat_id?: string; all?: string };
    body: undefined;
    answer: EffortPage;
  };
  /** List episodes, newest first */
  listEpisodes: {
    params: undefined;
    query: { chat_id?: string; user_id?: string; limit?: number; cursor?: string };
    body: undefined;
    answer: EpisodePage;
  };
  /** List the tenant's keys, without their secrets */
  listKeys: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: KeyPage;
  };
  /** List decisions about links between chats, newest first */
  listLinks: {
    params: undefined;
    query: { chat_id?: string; user_id?: string; decision?: "link" | "no_link"; limit?: number; cursor?: string };
    body: undefined;
    answer: ChatLinkPage;
  };
  /** Topics, efforts, memories and forks beside a stretch of turns */
  listMarks: {
    params: { id: string };
    query: { after_seq?: number; limit?: number };
    body: undefined;
    answer: Marks;
  };
  /** List memories, newest first; `retracted` those taken back too */
  listMemories: {
    params: undefined;
    query: { user_id?: string; type?: string; status?: string; tag?: string; chat_id?: string; q?: string; pinned?: boolean; origin?: string; agent_id?: string; retracted?: boolean; limit?: number; cursor?: string };
    body: undefined;
    answer: MemoryPage;
  };
  /** List the embedding models and how far each has come */
  listModels: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: ModelPage;
  };
  /** List captured calls, newest first */
  listRequests: {
    params: undefined;
    query: { conversation_id?: string; user_id?: string; model?: string; since?: string; until?: string; status?: string; limit?: number; cursor?: string };
    body: undefined;
    answer: RequestPage;
  };
  /** List a chat's sessions with their summaries */
  listSessions: {
    params: undefined;
    query: { chat_id: string; limit?: number; cursor?: string };
    body: undefined;
    answer: SessionPage;
  };
  /** List later work, newest first */
  listTasks: {
    params: undefined;
    query: { status?: "pending" | "running" | "done" | "failed"; limit?: number; cursor?: string };
    body: undefined;
    answer: TaskPage;
  };
  /** Read a chat's turns, oldest first, through its forks */
  listTurns: {
    params: { id: string };
    query: { after_seq?: number; before_seq?: number; secrets?: "mask" | "show"; limit?: number; cursor?: string };
    body: undefined;
    answer: TurnPage;
  };
  /** List calls to the language model, their tokens and cost, by day */
  listUsage: {
    params: undefined;
    query: { days?: number };
    body: undefined;
    answer: UsagePage;
  };
  /** List those who speak here, by name */
  listUsers: {
    params: undefined;
    query: { limit?: number; cursor?: string };
    body: undefined;
    answer: UserPage;
  };
  /** Copy the store, all tenants, to a file on the server; SQLite only */
  makeBackup: {
    params: undefined;
    query: undefined;
    body: MakeBackupBody | undefined;
    answer: Backup;
  };
  /** Note that the program calls that `x-clew-client` names: for one that only reads, as a GET notes nobody */
  noteCaller: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Caller;
  };
  /** Say whether a link decision was right */
  rateLink: {
    params: { id: string };
    query: undefined;
    body: RateLinkBody;
    answer: ChatLink;
  };
  /** Say whether a skill worked when it was used */
  rateMemory: {
    params: { id: string };
    query: undefined;
    body: RateMemoryBody;
    answer: Memory;
  };
  /** Find what was said */
  recall: {
    params: undefined;
    query: undefined;
    body: RecallBody;
    answer: Recalled;
  };
  /** Write down a call to the language model that was made elsewhere */
  recordUsage: {
    params: undefined;
    query: undefined;
    body: RecordUsageBody;
    answer: UsageLeft;
  };
  /** Decide again which call continues which; ask again until it is done */
  relinkRequests: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Relinked;
  };
  /** Open a concluded or dormant chain again */
  reopenChain: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: Chain;
  };
  /** Open an effort again */
  reopenMemory: {
    params: { id: string };
    query: undefined;
    body: ReopenMemoryBody | undefined;
    answer: Memory;
  };
  /** Resolve an effort */
  resolveMemory: {
    params: { id: string };
    query: undefined;
    body: ResolveMemoryBody | undefined;
    answer: Memory;
  };
  /** Take a memory back; what it superseded is valid again */
  retractMemory: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: Memory;
  };
  /** Go back to the tuning before */
  revertTuning: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Tuning;
  };
  /** Revoke a key */
  revokeKey: {
    params: { id: string };
    query: undefined;
    body: undefined;
    answer: Key;
  };
  /** Contribute a thought and retrieve related ones */
  shareThought: {
    params: undefined;
    query: undefined;
    body: ShareThoughtBody;
    answer: Thought;
  };
  /** Begin a conversation: related chats, memories and four ways on */
  start: {
    params: undefined;
    query: undefined;
    body: StartBody;
    answer: Start;
  };
  /** What happens, as server-sent events; `Last-Event-ID` resumes */
  streamEvents: {
    params: undefined;
    query: { after?: string };
    body: undefined;
    answer: string;
  };
  /** Take back all that an agent or a key contributed since a moment */
  undoMemories: {
    params: undefined;
    query: undefined;
    body: UndoMemoriesBody;
    answer: Undone;
  };
  /** Rename a chat or set its timeout */
  updateChat: {
    params: { id: string };
    query: undefined;
    body: UpdateChatBody | undefined;
    answer: Chat;
  };
  /** Tag or pin a memory, or correct it: a new summary is a refinement */
  updateMemory: {
    params: { id: string };
    query: undefined;
    body: UpdateMemoryBody | undefined;
    answer: Memory;
  };
  /** Forbid that its words are shown to language models, or allow it */
  updateTenant: {
    params: undefined;
    query: undefined;
    body: UpdateTenantBody;
    answer: Tenant;
  };
  /** Give a user a timeout of their own; null takes it back */
  updateUser: {
    params: { user_id: string };
    query: undefined;
    body: UpdateUserBody;
    answer: UserTimeout;
  };
}

/** Method, path, and whether it may be sent again when its answer was lost. */
export const operations: Record<keyof Operations, readonly [string, string, boolean]> = {
  abandonMemory: ["POST", "/api/v1/memories/{id}/abandon", false],
  analyse: ["POST", "/api/v1/analyse", true],
  ask: ["POST", "/api/v1/ask", true],
  chooseStart: ["POST", "/api/v1/start/{id}/choose", false],
  closeChat: ["POST", "/api/v1/chats/{id}/close", false],
  collapseEffort: ["POST", "/api/v1/efforts/{id}/collapse", false],
  compactChat: ["POST", "/api/v1/chats/{id}/compact", false],
  concludeChain: ["POST", "/api/v1/chains/{id}/conclude", false],
  correctAnalysis: ["POST", "/api/v1/analyse/feedback", false],
  createChat: ["POST", "/api/v1/chats", false],
  createEffort: ["POST", "/api/v1/efforts", false],
  createEffortTurn: ["POST", "/api/v1/efforts/{id}/turns", true],
  createKey: ["POST", "/api/v1/keys", false],
  createMemory: ["POST", "/api/v1/memories", false],
  createTurns: ["POST", "/api/v1/turns", true],
  endSession: ["POST", "/api/v1/sessions/{id}/end", false],
  expandEffort: ["POST", "/api/v1/efforts/{id}/expand", false],
  exportAll: ["GET", "/api/v1/export", true],
  findIds: ["GET", "/api/v1/ids/{part}", true],
  findTurns: ["GET", "/api/v1/turns", true],
  forget: ["POST", "/api/v1/forget", false],
  forkChat: ["POST", "/api/v1/chats/{id}/fork", false],
  getChain: ["GET", "/api/v1/chains/{id}", true],
  getChat: ["GET", "/api/v1/chats/{id}", true],
  getChatTree: ["GET", "/api/v1/chats/{id}/tree", true],
  getContext: ["POST", "/api/v1/chats/{id}/context", true],
  getConversation: ["GET", "/api/v1/conversations/{id}", true],
  getEffort: ["GET", "/api/v1/efforts/{id}", true],
  getEffortContext: ["GET", "/api/v1/efforts/{id}/context", true],
  getEpisode: ["GET", "/api/v1/episodes/{id}", true],
  getHealth: ["GET", "/healthz", true],
  getIndex: ["GET", "/", true],
  getLineage: ["GET", "/api/v1/memories/{id}/lineage", true],
  getLink: ["GET", "/api/v1/links/{id}", true],
  getMemory: ["GET", "/api/v1/memories/{id}", true],
  getMemorySource: ["GET", "/api/v1/memories/{id}/source", true],
  getMetrics: ["GET", "/metrics", true],
  getOpenapi: ["GET", "/openapi.json", true],
  getRequest: ["GET", "/api/v1/requests/{id}", true],
  getSettings: ["GET", "/api/v1/settings", true],
  getStats: ["GET", "/api/v1/stats", true],
  getTenant: ["GET", "/api/v1/tenant", true],
  getThoughts: ["GET", "/api/v1/memory", true],
  getTrace: ["GET", "/api/v1/traces/{id}", true],
  getTuning: ["GET", "/api/v1/tuning", true],
  importRows: ["POST", "/api/v1/import", false],
  linkCall: ["POST", "/api/v1/link", false],
  listAgents: ["GET", "/api/v1/agents", true],
  listCallers: ["GET", "/api/v1/callers", true],
  listChains: ["GET", "/api/v1/chains", true],
  listChats: ["GET", "/api/v1/chats", true],
  listConflicts: ["GET", "/api/v1/conflicts", true],
  listEfforts: ["GET", "/api/v1/efforts", true],
  listEpisodes: ["GET", "/api/v1/episodes", true],
  listKeys: ["GET", "/api/v1/keys", true],
  listLinks: ["GET", "/api/v1/links", true],
  listMarks: ["GET", "/api/v1/chats/{id}/marks", true],
  listMemories: ["GET", "/api/v1/memories", true],
  listModels: ["GET", "/api/v1/models", true],
  listRequests: ["GET", "/api/v1/requests", true],
  listSessions: ["GET", "/api/v1/sessions", true],
  listTasks: ["GET", "/api/v1/tasks", true],
  listTurns: ["GET", "/api/v1/chats/{id}/turns", true],
  listUsage: ["GET", "/api/v1/usage", true],
  listUsers: ["GET", "/api/v1/users", true],
  makeBackup: ["POST", "/api/v1/backup", false],
  noteCaller: ["POST", "/api/v1/callers", true],
  rateLink: ["POST", "/api/v1/links/{id}/feedback", false],
  rateMemory: ["POST", "/api/v1/memories/{id}/outcome", false],
  recall: ["POST", "/api/v1/recall", true],
  recordUsage: ["POST", "/api/v1/usage", false],
  relinkRequests: ["POST", "/api/v1/requests/relink", false],
  reopenChain: ["POST", "/api/v1/chains/{id}/reopen", false],
  reopenMemory: ["POST", "/api/v1/memories/{id}/reopen", false],
  resolveMemory: ["POST", "/api/v1/memories/{id}/resolve", false],
  retractMemory: ["POST", "/api/v1/memories/{id}/retract", false],
  revertTuning: ["POST", "/api/v1/tuning/revert", false],
  revokeKey: ["DELETE", "/api/v1/keys/{id}", false],
  shareThought: ["POST", "/api/v1/memory", false],
  start: ["POST", "/api/v1/start", false],
  streamEvents: ["GET", "/api/v1/events", true],
  undoMemories: ["POST", "/api/v1/memories/undo", false],
  updateChat: ["PATCH", "/api/v1/chats/{id}", true],
  updateMemory: ["PATCH", "/api/v1/memories/{id}", true],
  updateTenant: ["PATCH", "/api/v1/tenant", true],
  updateUser: ["PATCH", "/api/v1/users/{user_id}", true],
};
