-- Links between chats, episodes over one or several chats, and how the
-- linking is tuned. All of it is derived but outcomes given by people.
ALTER TABLE chats ADD COLUMN primary_episode_id {id};
-- ids, separated by commas
ALTER TABLE chats ADD COLUMN cross_episodes {text};

-- What a chat was about, as hashes: candidates for a link are scored with it.
CREATE TABLE chat_profiles (
    tenant {int} NOT NULL,
    chat_id {id} NOT NULL,
    user_id {text} NOT NULL,
    created_at {int} NOT NULL,
    last_at {int} NOT NULL,
    data {bytes} NOT NULL,
    PRIMARY KEY (tenant, chat_id)
);
CREATE INDEX chat_profiles_by_user ON chat_profiles
    (tenant, user_id, last_at, chat_id);

-- Which chats of a user hold a word: how candidates are found among hundreds.
CREATE TABLE chat_terms (
    tenant {int} NOT NULL,
    user_id {text} NOT NULL,
    term {int} NOT NULL,
    started_at {int} NOT NULL,
    chat_id {id} NOT NULL,
    PRIMARY KEY (tenant, user_id, term, started_at, chat_id)
);
CREATE INDEX chat_terms_by_chat ON chat_terms (tenant, chat_id);

-- Why two chats were, or were not, joined.
CREATE TABLE link_decisions (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    user_id {text} NOT NULL,
    chat_id {id} NOT NULL,
    other_chat_id {id} NOT NULL,
    turn_id {id} NOT NULL,
    seq {int} NOT NULL,
    algorithmic {real} NOT NULL,
    llm {real},
    threshold {real} NOT NULL,
    decision {text} NOT NULL,
    agreement {text} NOT NULL,
    confidence {text} NOT NULL,
    signals {text} NOT NULL,
    outcome {text},
    outcome_by {text},
    outcome_at {int},
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX link_decisions_by_pair ON link_decisions
    (tenant, chat_id, other_chat_id);
CREATE INDEX link_decisions_by_time ON link_decisions (tenant, created_at, id);
CREATE INDEX link_decisions_by_outcome ON link_decisions
    (tenant, outcome_at, id) WHERE outcome IS NOT NULL;

-- The tuning in force, and every one before it.
CREATE TABLE link_tunings (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    previous_id {id},
    is_current {int} NOT NULL,
    threshold {real} NOT NULL,
    keyword {real} NOT NULL,
    entity {real} NOT NULL,
    topic {real} NOT NULL,
    recency {real} NOT NULL,
    llm_weight {real} NOT NULL,
    prompt_signals {text} NOT NULL,
    reason {text} NOT NULL,
    metrics {text} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX link_tunings_current ON link_tunings (tenant)
    WHERE is_current = 1;
CREATE INDEX link_tunings_by_time ON link_tunings (tenant, created_at, id);

-- Outcomes seen since the last tuning.
CREATE TABLE link_counters (
    tenant {int} NOT NULL,
    n_outcomes {int} NOT NULL,
    PRIMARY KEY (tenant)
);

-- A stretch of turns: of one chat (primary) or of several (cross_chat).
CREATE TABLE episodes (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    type {text} NOT NULL,
    user_id {text} NOT NULL,
    chat_id {id},
    ordinal {int} NOT NULL,
    first_seq {int} NOT NULL,
    last_seq {int},
    compacted_seq {int} NOT NULL,
    compacted_at {int},
    cause {text},
    micro {text},
    meso {text},
    macro {text},
    citations {text},
    method {text},
    coverage {real},
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    change_seq {int} NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX episodes_by_chat ON episodes (tenant, chat_id, ordinal);
CREATE INDEX episodes_open ON episodes (tenant, user_id, created_at)
    WHERE compacted_at IS NULL;
CREATE INDEX episodes_by_change ON episodes (tenant, change_seq);

-- The chats of a cross_chat episode.
CREATE TABLE episode_chats (
    tenant {int} NOT NULL,
    episode_id {id} NOT NULL,
    chat_id {id} NOT NULL,
    link_id {id},
    added_at {int} NOT NULL,
    PRIMARY KEY (tenant, episode_id, chat_id)
);
CREATE INDEX episode_chats_by_chat ON episode_chats (tenant, chat_id);
