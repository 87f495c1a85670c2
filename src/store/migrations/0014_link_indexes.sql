-- Fewer indexes on captured calls: every one that is not in time order costs
-- each call a page of its own.
-- Only the responses API (and whoever links by hand) names the one before.
DROP INDEX requests_by_response;
CREATE INDEX requests_by_response ON requests (tenant, response_id)
    WHERE api IN ('responses', 'link');
-- A conversation's calls, those of one parent together.
DROP INDEX requests_by_parent;
DROP INDEX requests_by_conversation;
CREATE INDEX requests_by_family ON requests
    (tenant, conversation_id, parent_origin_id, created_at, id);
CREATE INDEX requests_by_subtask ON requests
    (tenant, conversation_id, subtask_number) WHERE subtask_number IS NOT NULL;

-- Anchors of replies, by the hour of the request (engine/link_compact.h): what
-- is written lies together. Those of before are made again by a rebuild.
DROP TABLE request_anchors;
CREATE TABLE request_anchors (
    tenant {int} NOT NULL,
    hour {int} NOT NULL,
    anchor {int} NOT NULL,
    request_id {id} NOT NULL,
    PRIMARY KEY (tenant, hour, anchor, request_id)
);
