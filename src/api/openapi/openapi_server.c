/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_server.c - the server itself and what it does, as it comes back.
 * Data only; see openapi.h.
 */
#include "api/openapi/openapi.h"

/* clang-format off */
#define KEY_FIELDS                                                             \
    {"id!", "text", "Its id: the part after clew_"},                           \
    {"role!", "read|write|admin", "What it may do"},                           \
    {"label!", "text?", "What it is for"},                                     \
    {"created_at!", "time", "When it was made"},                               \
    {"revoked_at!", "time?", "When it was revoked"}

const struct openapi_object openapi_server[] = {
    {"Error", "What went wrong; nothing was done", OPENAPI_FIELDS(
        {"error!", "ErrorBody", "What went wrong"})},
    {"ErrorBody", "What went wrong", OPENAPI_FIELDS(
        {"code!", "text", "A stable word for programs, e.g. NOT_FOUND"},
        {"type!", "text", "The class of error"},
        {"message!", "text", "A sentence for people"},
        {"field", "text", "The field that is wrong"},
        {"request_id!", "text", "To find it in the server's log"})},
    {"Health", "How the server is", OPENAPI_FIELDS(
        {"status!", "text", "ok, or what is wrong"},
        {"version!", "text", "The version of clew"},
        {"store!", "text", "How the store is"},
        {"replica", "text", "Where `store.read_url` is set: ok, behind or down "
         "(then the primary does all reading)"},
        {"reading!", "Reading", "Who reads turns, and how many wait"})},
    {"Reading", "Who reads turns; empty while the store is down",
     OPENAPI_FIELDS(
        {"by", "text", "The reader's id, or rules"},
        {"trouble", "text", "Why there is no trained reader"},
        {"waiting", "count", "Turns that wait to be read, with the chats"},
        {"chats", "count", "Chats that wait to be held against earlier ones"},
        {"given_up", "count", "Turns that could not be read; `clew rebuild` "
         "tries again"})},
    {"Index", "Where things are", OPENAPI_FIELDS(
        {"name!", "text", "clew"},
        {"version!", "text", "The version of clew"},
        {"page!", "text", "The page for people"},
        {"api!", "text", "Where the paths of the API begin"},
        {"openapi!", "text", "This document"},
        {"mcp!", "text", "The Model Context Protocol"},
        {"anthropic!", "text", "Anthropic's API, captured"},
        {"openai!", "text", "OpenAI's API, captured"},
        {"health!", "text", "Is the server well?"},
        {"metrics!", "text", "For Prometheus"})},
    {"Agents", "The agent packages in use", OPENAPI_FIELDS(
        {"items!", "[Agent]", "Those in use"},
        {"problems!", "[AgentProblem]", "What is wrong with others"})},
    {"Agent", "A package that says what to keep", OPENAPI_FIELDS(
        {"name!", "text", "The type of memory it makes"},
        {"description!", "text?", "What it is for"},
        {"builtin!", "bool", "It came with clew"},
        {"kept!", "bool", "An older version is in use, for the new one is bad"},
        {"file!", "text?", "The file it comes from"},
        {"fields!", "[text]", "The fields its memories have"})},
    {"AgentProblem", "What is wrong with a package", OPENAPI_FIELDS(
        {"file!", "text?", "The file"},
        {"line!", "count", "The line"},
        {"message!", "text", "What is wrong"},
        {"kept!", "bool", "An older version is in use"})},
    {"Model", "An embedding model and how far it has come", OPENAPI_FIELDS(
        {"name!", "text", "What it is called"},
        {"id!", "text", "Its id: the same for the same weights"},
        {"dim!", "count", "How many numbers a vector has"},
        {"in_use!", "bool", "It serves"},
        {"done!", "count", "Texts it has embedded"},
        {"total!", "count", "Texts there are"},
        {"percent!", "number", "How far that is"},
        {"tenants!", "count", "Tenants it embeds for"},
        {"ready!", "count", "Tenants it serves"},
        {"error!", "text?", "What went wrong last"},
        {"*", "any", "What else is known of it"})},
    {"Task", "A piece of later work", OPENAPI_FIELDS(
        {"id!", "uuid", "Its id"},
        {"kind!", "text", "What is to be done"},
        {"unique_key!", "text?", "Of the same key there is one at a time"},
        {"status!", "pending|running|done|failed", "How far it is"},
        {"priority!", "int", "Higher ones first"},
        {"attempts!", "count", "How often it was tried"},
        {"last_error!", "text?", "What went wrong last"},
        {"execute_at!", "time", "When it is due"},
        {"created_at!", "time", "When it was asked for"},
        {"finished_at!", "time?", "When it ended"})},
    {"Trace", "What was decided, and why", OPENAPI_FIELDS(
        {"id!", "uuid", "The turn or call"},
        {"chat_id!", "uuid", "Its chat"},
        {"created_at!", "time", "When"},
        {"decisions!", "any", "Each step: chosen, considered, scores, rule; "
         "`reading`: what the reader sees in each sentence, and how sure; "
         "`llm_calls`: the language models it was sent to"})},
    {"Usage", "Calls to the language model on a day", OPENAPI_FIELDS(
        {"day!", "date", "The day"},
        {"purpose!", "text", "What they were for"},
        {"model!", "text", "The model"},
        {"calls!", "count", "How many"},
        {"failures!", "count", "How many failed"},
        {"input_tokens!", "count", "Tokens sent"},
        {"output_tokens!", "count", "Tokens answered"},
        {"cost!", "number", "What it cost, by the configured prices"})},
    {"UsageLeft", "How much of the day's tokens is used", OPENAPI_FIELDS(
        {"used_tokens!", "count", "Used today"},
        {"daily_tokens!", "count", "The most that may be used"})},
    {"Caller", "A program that called", OPENAPI_FIELDS(
        {"name!", "text", "What it calls itself: to MCP, in an x-clew-client "
         "header, or as its User-Agent"},
        {"via!", "text", "`api` (MCP too) or `proxy`"},
        {"last_at!", "time", "Its last call, to the minute"})},
    {"Stats", "How much there is", OPENAPI_FIELDS(
        {"role!", "text", "What the caller may do"},
        {"key_id!", "text?", "The caller's key"},
        {"chats!", "count", "Chats"},
        {"turns!", "count", "Turns"},
        {"calls!", "count", "Captured calls"},
        {"episodes!", "count", "Episodes"},
        {"chains!", "count", "Chains"},
        {"failed_tasks!", "count", "Tasks that failed"},
        {"memories!", "StatsMemories", "Memories"},
        {"store!", "StatsStore", "Where they are"},
        {"days!", "[StatsDay]", "What came on which day"})},
    {"Brought", "What a file of another program brought", OPENAPI_FIELDS(
        {"format!", "text", "Whose export it is"},
        {"conversations!", "count", "Conversations in it"},
        {"messages!", "count", "Messages in it"},
        {"added!", "count", "Those that are new"},
        {"forks!", "count", "Forks that were made"},
        {"*", "any", "What was left out, and why"})},
    {"Backup", "A copy of the store on the server", OPENAPI_FIELDS(
        {"path!", "text", "The file, on the server"},
        {"bytes!", "count", "How large it is; before it is made, the store"},
        {"free_bytes!", "count", "Room in its folder before it was made"},
        {"kept!", "count", "Backups that were in the folder before"},
        {"sha256!", "text?", "Hash of the file"},
        {"created_at!", "time", "When it was made"},
        {"dry_run!", "bool", "Nothing was done"})},
    {"StatsMemories", "How many memories there are", OPENAPI_FIELDS(
        {"holding!", "count", "Those that hold"},
        {"superseded!", "count", "Those that newer ones replace"},
        {"retracted!", "count", "Those taken back"},
        {"pinned!", "count", "Those kept in view"},
        {"by_type!", "{count}", "How many of each type"},
        {"efforts!", "{count}", "How many efforts of each status"},
        {"by_user!", "[StatsUser]", "How many of each user"},
        {"by_agent!", "[StatsAgent]", "How many of each agent"})},
    {"StatsUser", "A user's memories", OPENAPI_FIELDS(
        {"user_id!", "text", "The user"},
        {"memories!", "count", "How many"},
        {"*", "any", "What else is known"})},
    {"StatsAgent", "An agent's memories", OPENAPI_FIELDS(
        {"memories!", "count", "How many"},
        {"*", "any", "What else is known"})},
    {"StatsStore", "Where things are kept", OPENAPI_FIELDS(
        {"backend!", "text", "sqlite or postgres"},
        {"bytes!", "int?", "How large it is, where that is known"})},
    {"StatsDay", "What came on a day", OPENAPI_FIELDS(
        {"date!", "date", "The day"},
        {"turns!", "count", "Turns"},
        {"memories!", "count", "Memories"},
        {"calls!", "count", "Captured calls"})},
    {"User", "Somebody who speaks here", OPENAPI_FIELDS(
        {"user_id!", "text", "Your name for them"},
        {"chats!", "count", "How many chats they have"},
        {"turns!", "count", "How many turns"},
        {"last_activity_at!", "time?", "When they last spoke"},
        {"inactivity_minutes!", "int?", "The silence that ends their chats, if "
         "they have one of their own"})},
    {"UserTimeout", "A user's own timeout", OPENAPI_FIELDS(
        {"user_id!", "text", "Your name for them"},
        {"inactivity_minutes!", "int?", "The silence that ends their chats"})},
    {"Id", "A thing whose id begins so", OPENAPI_FIELDS(
        {"kind!", "text", "What it is"},
        {"id!", "uuid", "Its whole id"})},
    {"Event", "Something that happened: `data` of a server-sent event. Its "
     "`event` is turn, memory, effort, call, forgotten, task_failed or missed",
     OPENAPI_FIELDS(
        {"id!", "uuid?", "What it happened to"},
        {"chat_id!", "uuid?", "The chat that is in"},
        {"what!", "text?", "The role, type, model or kind of it"},
        {"status!", "text?", "Its status now"},
        {"user_id!", "text?", "Whose it is"},
        {"seq", "count", "The turn's number"},
        {"at!", "time?", "When"})},
    {"Tenant", "A tenant", OPENAPI_FIELDS(
        {"name!", "text", "Its name"},
        {"llm!", "text", "May its words be shown to language models: allowed "
         "or forbidden"},
        {"now!", "time", "The server's time"})},
    {"Key", "A key, without its secret", OPENAPI_FIELDS(KEY_FIELDS)},
    {"NewKey", "A key that was made", OPENAPI_FIELDS(
        {"key!", "text", "The key itself: shown once"}, KEY_FIELDS)},
    {"Settings", "The settings in force", OPENAPI_FIELDS(
        {"settings!", "{Setting}", "By name"},
        {"version!", "text", "The version of clew"})},
    {"Setting", "A setting", OPENAPI_FIELDS(
        {"value!", "any", "Its value; secrets are masked"},
        {"*", "any", "Where it comes from and what it is for"})},
    {"ExportRow", "A line of an export", OPENAPI_FIELDS(
        {"*", "any", "A row as clew import reads it back"})},
    {"Imported", "What came of an import", OPENAPI_FIELDS(
        {"rows!", "count", "Lines that were read"},
        {"added!", "count", "Lines that were new"},
        {"forgotten!", "count", "Lines left out, of what was forgotten"})},
    {"Document", "This document", OPENAPI_FIELDS(
        {"openapi!", "text", "The version of OpenAPI"},
        {"*", "any", "As OpenAPI says"})},
    {"Act", "What a text does", OPENAPI_FIELDS(
        {"act!", "greeting|question|request|inform|commit|accept|reject",
         "What it does"})},
    {"Analysis", "What a text does, and what is in it", OPENAPI_FIELDS(
        {"act!", "greeting|question|request|inform|commit|accept|reject",
         "What it does"},
        {"confidence!", "number", "How sure that is"},
        {"level!", "command|rule|classifier|llm", "Who said so"},
        {"rule!", "text?", "The rule that did"},
        {"corrected!", "bool", "A person set it right before"},
        {"sentences!", "[AnalysisSentence]", "Its sentences"},
        {"segments!", "[AnalysisSegment]", "Its parts and what each does"},
        {"entities!", "[AnalysisEntity]", "Names and numbers in it"},
        {"keywords!", "[AnalysisKeyword]", "Words that tell, best first"},
        {"dates!", "[AnalysisDate]", "Times it speaks of"})},
    {"AnalysisSentence", "A sentence", OPENAPI_FIELDS(
        {"text!", "text", "The sentence"},
        {"from!", "count", "Where it begins, in bytes"},
        {"to!", "count", "Where it ends"},
        {"question!", "bool", "It asks"})},
    {"AnalysisSegment", "A part that does one thing", OPENAPI_FIELDS(
        {"text!", "text", "The part"},
        {"from!", "count", "Where it begins, in bytes"},
        {"to!", "count", "Where it ends"},
        {"act!", "text", "What it does"},
        {"confidence!", "number", "How sure that is"},
        {"rule!", "text?", "The rule that said so"})},
    {"AnalysisEntity", "A name or number", OPENAPI_FIELDS(
        {"text!", "text", "As it is written"},
        {"from!", "count", "Where it begins, in bytes"},
        {"to!", "count", "Where it ends"},
        {"kind!", "text", "person, place, organisation, file, date …"})},
    {"AnalysisKeyword", "A word that tells", OPENAPI_FIELDS(
        {"word!", "text", "The word"},
        {"stem!", "text", "Its stem"},
        {"count!", "count", "How often it stands there"},
        {"idf!", "number", "How rare it is"})},
    {"AnalysisDate", "A time a text speaks of", OPENAPI_FIELDS(
        {"text!", "text", "As it is written"},
        {"from!", "count", "Where it begins, in bytes"},
        {"to!", "count", "Where it ends"},
        {"since!", "time", "When that time begins"},
        {"until!", "time", "When it ends"},
        {"grain!", "text", "time, day, week, month, year or range"},
        {"relative!", "bool", "Relative to when it was said"})},
    {"ProviderBody", "A call as its provider has it; the answer alike",
     OPENAPI_FIELDS(
        {"model", "text", "The model that is asked"},
        {"stream", "bool", "Answer as a stream"},
        {"*", "any", "As the provider says"})},
    {"RpcMessage", "A JSON-RPC 2.0 message", OPENAPI_FIELDS(
        {"jsonrpc!", "text", "2.0"},
        {"id", "any", "The request's id; none in a notification"},
        {"method", "text", "What is asked for"},
        {"params", "any", "With what"},
        {"result", "any", "The answer"},
        {"error", "any", "What went wrong"})},
    {NULL, NULL, NULL},
};
/* clang-format on */
