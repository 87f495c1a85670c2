/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_cues.c - the cue tables of the intent rules.
 *
 * Within a table the first row that matches decides, so exceptions stand
 * above what they except. See struct cue for the pattern language.
 */
#include "model/intent_internal.h"

#define Q INTENT_QUESTION
#define R INTENT_REQUEST
#define I INTENT_INFORM
#define C INTENT_COMMIT
#define A INTENT_ACCEPT
#define N INTENT_REJECT
#define G INTENT_GREETING
#define END_OF_TABLE                                                           \
    {                                                                          \
        NULL, 0, 0, 0, 0, 0, NULL                                              \
    }

static const struct cue cues_greeting[] = {
    {"hi|hello|hey|hiya|howdy|greetings "
     "?there|all|everyone|everybody|guys|team "
     "how are|is|'s you|it|things|everything ?doing|going|today",
     CUE_START, 90, G, 9, 0, "greeting"},
    {"hello|hi|hey how|how's|what's *", CUE_START, 90, G, 6, 0, "greeting"},
    {"hi|hello|hey|hiya|howdy|greetings", CUE_START, 90, G, 4, 0, "greeting"},
    {"good morning|afternoon|evening|night|day|bye", CUE_START, 90, G, 6, 0,
     "greeting"},
    {"how are you ?doing|today|going|feeling|all ?today", CUE_WHOLE, 90, G, 7,
     0, "greeting"},
    {"how do you do", CUE_WHOLE, 90, G, 6, 0, "greeting"},
    {"how's it going", CUE_BODY, 85, G, 6, 0, "greeting"},
    {"what's up", CUE_WHOLE, 80, G, 4, 0, "greeting"},
    {"bye|goodbye|farewell|ciao|cheers", CUE_START, 90, G, 5, 0, "greeting"},
    {"see you|ya", CUE_BODY, 90, G, 6, 0, "greeting"},
    {"nice|glad|pleased|good to meet|see you", CUE_BODY, 90, G, 8, 0,
     "greeting"},
    {"long time no see", CUE_BODY, 90, G, 6, 0, "greeting"},
    {"take care", CUE_WHOLE, 90, G, 5, 0, "greeting"},
    {"have a nice|good|great|safe|pleasant|wonderful *", CUE_BODY, 90, G, 8, 0,
     "greeting"},
    {"talk to you|ya later|soon|tomorrow", CUE_BODY, 90, G, 6, 0, "greeting"},
    END_OF_TABLE,
};

static const struct cue cues_ask[] = {
    {"?please remind me|us", CUE_BODY, 95, R, 0, INTENT_REMINDER, "remind-me"},
    {"can|could|would|will you ?please remind me|us", CUE_BODY, 95, R, 0,
     INTENT_REMINDER, "remind-me"},
    /* reactions and offers that only look like requests */
    {"can|could you believe|imagine", CUE_BODY, 85, Q, 0, 0, "can-you-believe"},
    {"will you be|need|have|want|ever", CUE_BODY, 80, Q, 0, 0, "will-you-be"},
    {"would you like|prefer to *", CUE_BODY, 80, R, 0, 0, "would-you"},
    {"would you like|prefer *", CUE_BODY, 80, Q, 0, 0, "would-you-like"},
    {"can|could|do you speak|hear|see|remember|swim|dance|drive|cook|afford|"
     "feel|guess|understand",
     CUE_BODY, 80, Q, 0, 0, "can-you-ability"},
    {"what|how can|may|could i do|help *", CUE_BODY, 85, Q, 0, 0, "offer"},
    {"can|may|could|how i|we help|be|assist", CUE_BODY, 85, Q, 0, 0, "offer"},
    {"could i be of *", CUE_BODY, 85, Q, 0, 0, "offer"},
    {"can|could|would|will you *", CUE_BODY, 90, R, 0, 0, "can-you"},
    {"can|could|would|will someone|somebody|anyone|anybody *", CUE_BODY, 85, R,
     0, 0, "can-someone"},
    {"can't|couldn't|won't you *", CUE_BODY, 80, R, 0, 0, "can-you"},
    {"can|may|could|might i|we *", CUE_BODY, 80, R, 0, 0, "may-i"},
    {"shall we|i", CUE_BODY, 80, R, 0, 0, "shall-we"},
    {"why don't|not we|you|i", CUE_BODY, 80, R, 0, 0, "why-dont-we"},
    {"why not $V", CUE_BODY, 80, R, 0, 0, "why-dont-we"},
    {"how|what about you|your|yours|him|her", CUE_BODY, 85, Q, 0, 0,
     "what-about-you"},
    {"how|what about", CUE_BODY, 80, R, 0, 0, "what-about"},
    {"how|what about *", CUE_EARLY, 75, R, 0, 0, "what-about"},
    {"how would you like", CUE_BODY, 85, Q, 0, 0, "how-would"},
    {"would you like|mind|care|consider", CUE_BODY, 80, R, 0, 0, "would-you"},
    {"do|would you mind", CUE_BODY, 85, R, 0, 0, "do-you-mind"},
    {"do|would you want|like me|us to", CUE_BODY, 75, Q, 0, 0, "offer"},
    {"do you want", CUE_BODY, 75, Q, 0, 0, "do-you-want"},
    {"is it possible|okay|alright", CUE_BODY, 75, R, 0, 0, "is-it-possible"},
    {"would it be possible|okay|alright|convenient", CUE_BODY, 80, R, 0, 0,
     "is-it-possible"},
    {"any chance|way you|we|i", CUE_BODY, 80, R, 0, 0, "is-it-possible"},
    {"i|we ?just|really|also|actually|simply|was|am wonder|wondering|wondered "
     "if|whether|how|what|why|when|where|who",
     CUE_BODY, 75, R, 0, 0, "wondering"},
    {"don't let me forget", CUE_EARLY, 95, R, 0, INTENT_REMINDER, "remind-me"},
    {"let's see|face|say|hope", CUE_BODY, 50, I, 0, 0, "default"},
    {"let's", CUE_BODY, 85, R, 0, 0, "lets"},
    {"let us", CUE_BODY, 80, R, 0, 0, "lets"},
    {"let's *", CUE_EARLY, 80, R, 0, 0, "lets"},
    {"let me|us know", CUE_EARLY, 80, R, 0, 0, "let-me-know"},
    {"let me ?just $V", CUE_BODY, 70, C, 0, 0, "let-me"},
    {"i'd|i would rather|prefer", CUE_BODY, 72, N, 0, INTENT_WEAK, "rather"},
    {"i'd|we'd ?also|just|really|certainly|very like|love|appreciate|need *",
     CUE_BODY, 75, R, 0, 0, "id-like"},
    {"i|we would ?also|just|really|certainly|very like|love|appreciate|need *",
     CUE_BODY, 75, R, 0, 0, "id-like"},
    {"i'd|i would like ?to|a|an|the|some", CUE_EARLY, 72, R, 0, 0, "id-like"},
    {"i ?just|also|really|do|only don't|didn't want|need", CUE_BODY, 50, I, 0,
     0, "default"},
    {"i|we ?just|also|really want|wanted to let|tell|say|share|thank|check|"
     "congratulate",
     CUE_BODY, 55, I, 0, 0, "announce"},
    {"i|we ?just|also|really|only|still want|need|wanna|wanted|needed *",
     CUE_BODY, 75, R, 0, 0, "i-want"},
    {"$A i want|need", CUE_EARLY, 0, I, 0, 0, "guard"},
    {"i want|need to *", CUE_EARLY, 70, R, 0, 0, "i-want"},
    {"i'm|i am|we're ?just|also|still|currently trying|looking|hoping to|for",
     CUE_BODY, 72, R, 0, 0, "im-trying"},
    {"i'm|i am here|calling|phoning|writing to|about|for", CUE_BODY, 70, R, 0,
     0, "im-calling"},
    {"i've come|called to|about|for", CUE_BODY, 70, R, 0, 0, "im-calling"},
    {"i'll|we'll have|take|need|get the|a|an|some|one|two", CUE_BODY, 70, C, 0,
     0, "ill-have"},
    END_OF_TABLE,
};

/* Advice asks the other to act, but opens nothing. */
static const struct cue cues_advice[] = {
    {"you must|may|might|should|could be|have", CUE_EARLY, 0, I, 0, 0, "guard"},
    {"you ?really|also|just|probably|all should|shouldn't|must|mustn't|"
     "needn't|better",
     CUE_EARLY, 72, R, 0, INTENT_ADVICE, "you-should"},
    {"you'd|had better", CUE_EARLY, 72, R, 0, INTENT_ADVICE, "you-should"},
    {"you ?really|also|just|don't|do|will|only|still have|need|ought to",
     CUE_EARLY, 70, R, 0, INTENT_ADVICE, "you-should"},
    {"you'll|you've ?have|need|got to", CUE_EARLY, 70, R, 0, INTENT_ADVICE,
     "you-should"},
    {"you ?also|just|always can|may|could|might $V", CUE_EARLY, 70, R, 0,
     INTENT_ADVICE | INTENT_WEAK, "you-can"},
    {"we ?really|all|just|probably should|better ?to $V", CUE_EARLY, 70, R, 0,
     INTENT_ADVICE, "we-should"},
    {"i ?would|strongly|'d suggest|recommend|advise", CUE_EARLY, 72, R, 0,
     INTENT_ADVICE, "i-suggest"},
    {"i'd|may suggest|recommend|advise", CUE_EARLY, 72, R, 0, INTENT_ADVICE,
     "i-suggest"},
    {"make sure|certain", CUE_EARLY, 74, R, 0, 0, "make-sure"},
    END_OF_TABLE,
};

static const struct cue cues_question[] = {
    {"what|where|when|why|who|whom|whose|which|how $A", CUE_BODY, 72, Q, 0, 0,
     "wh-aux"},
    {"what's|where's|when's|who's|how's|why's *", CUE_BODY, 72, Q, 0, 0,
     "wh-aux"},
    {"how many|much|long|often|far|old|big|tall|soon|come", CUE_BODY, 75, Q, 0,
     0, "how-many"},
    {"what|which kind|sort|type|time|color|size|day|year|part|one", CUE_BODY,
     74, Q, 0, 0, "which-kind"},
    {"which|whose * ?* ?* $A", CUE_BODY, 72, Q, 0, 0, "which-one"},
    {"$A $S", CUE_BODY, 72, Q, 0, 0, "aux-subject"},
    {"is|are|was|were|does|do|did the|your|my|his|her|our|their|these|those",
     CUE_BODY, 72, Q, 0, 0, "aux-subject"},
    {"$N you|it|he|she|they|we|i", CUE_BODY, 70, Q, 0, 0, "aux-subject"},
    END_OF_TABLE,
};

/* Begin with a base verb, ask nothing. */
static const struct cue cues_soft[] = {
    {"come on", CUE_BODY, 50, I, 0, 0, "soft"},
    {"come again|in", CUE_WHOLE, 70, R, 0, 0, "imperative"},
    {"take it easy", CUE_BODY, 50, I, 0, 0, "soft"},
    {"take care|your time", CUE_BODY, 50, I, 0, 0, "soft"},
    {"enjoy *", CUE_BODY, 50, I, 0, 0, "soft"},
    {"have a|fun|an|you|they|we|i", CUE_BODY, 50, I, 0, 0, "soft"},
    {"trust|believe me", CUE_BODY, 50, I, 0, 0, "soft"},
    {"never mind", CUE_BODY, 50, I, 0, 0, "soft"},
    {"see you", CUE_BODY, 50, I, 0, 0, "soft"},
    {"let it|him|her|them go|be", CUE_BODY, 50, I, 0, 0, "soft"},
    {"look forward", CUE_BODY, 50, I, 0, 0, "soft"},
    {"suppose|guess|think|thought so|not", CUE_BODY, 50, I, 0, 0, "soft"},
    {"guess what", CUE_BODY, 60, I, 0, 0, "soft"},
    {"sounds|looks|seems|feels", CUE_BODY, 0, I, 0, 0, NULL},
    {"help yourself", CUE_BODY, 70, R, 0, 0, "imperative"},
    {"welcome", CUE_BODY, 50, I, 0, 0, "soft"},
    {"work|works|worked for me", CUE_BODY, 0, I, 0, 0, NULL},
    {"test|tests|build|builds pass|passes|passed|fail|fails|failed", CUE_BODY,
     0, I, 0, 0, NULL},
    END_OF_TABLE,
};

static const struct cue cues_answer[] = {
    /* not a refusal, whatever the first word says */
    {"no idea|clue", CUE_HAS, 80, I, 0, 0, "dont-know"},
    {"no idea|clue|problem|worries|need|doubt|wonder|matter", CUE_HAS, 0, I, 0,
     0, "guard"},
    {"no|not bad|yet", CUE_START, 0, I, 3, 0, "guard"},
    {"not sure|certain|at|bad|only", CUE_HAS, 0, I, 8, 0, "guard"},
    /* it did not work */
    {"doesn't|didn't|don't|does|did|won't|isn't|not not|still|really|quite "
     "work|working|help|solve|fix",
     CUE_HAS, 85, N, 0, INTENT_STRONG, "did-not-work"},
    {"doesn't|didn't|won't|isn't|not|hasn't|wasn't "
     "work|working|help|helping|solve|fix|worked|helped|fixed",
     CUE_HAS, 85, N, 0, INTENT_STRONG, "did-not-work"},
    {"still|keeps|continues ?not|to|the|getting|seeing|gives|throws "
     "failing|fails|broken|crashes|crashing|happening|happens|error|errors|"
     "erroring|wrong",
     CUE_HAS, 85, N, 0, INTENT_STRONG, "still-failing"},
    {"still ?doesn't|isn't|not|get|getting|see|seeing|have|having|the "
     "the|same|work|working",
     CUE_BODY, 85, N, 0, INTENT_STRONG, "still-failing"},
    {"same|identical error|problem|issue|result|thing|message", CUE_BODY, 85, N,
     8, INTENT_STRONG, "same-error"},
    {"that's|that|it's|this|is not it|right|correct|true|the|what", CUE_HAS, 80,
     N, 12, INTENT_STRONG, "not-it"},
    {"that|it|this isn't|wasn't it|right|correct|true|the|what", CUE_HAS, 80, N,
     12, INTENT_STRONG, "not-it"},
    {"made|makes it|things|that worse", CUE_HAS, 85, N, 0, INTENT_STRONG,
     "made-it-worse"},
    {"no luck|dice|joy", CUE_HAS, 85, N, 0, INTENT_STRONG, "no-luck"},
    {"thanks|thank ?you|a|lot for nothing", CUE_HAS, 85, N, 0, INTENT_STRONG,
     "thanks-for-nothing"},
    {"nope|wrong|incorrect", CUE_START, 75, N, 6, 0, "wrong"},
    {"nah", CUE_START, 75, N, 8, INTENT_WEAK, "opening-no"},
    /* it did */
    {"fixed|solved|resolved|sorted|cracked|nailed it|that|this", CUE_HAS, 85, A,
     16, INTENT_STRONG, "fixed-it"},
    {"fixed|solved|resolved the|my|our *", CUE_EARLY, 80, A, 16, INTENT_STRONG,
     "fixed-it"},
    {"is|are|got|been|it's|that's|everything|all|now fixed|solved|resolved "
     "?now",
     CUE_END, 82, A, 12, INTENT_STRONG, "fixed-it"},
    {"works|working|worked|runs|running|passes|passing|pass|compiles|builds "
     "now|again|fine|perfectly|great|well|correctly|beautifully|like|"
     "flawlessly",
     CUE_HAS, 85, A, 16, INTENT_STRONG, "works-now"},
    {"now it|everything|all|that ?all works|work|runs|passes", CUE_HAS, 85, A,
     16, INTENT_STRONG, "works-now"},
    {"that|it|this|which ?one|all|has|seems|just|totally|really|finally "
     "?to|have worked|works|helped|helps",
     CUE_EARLY, 80, A, 10, INTENT_STRONG, "that-worked"},
    {"that|it|this one|will|would|should work|works|do|does|help", CUE_EARLY,
     76, A, 8, 0, "that-works"},
    {"did|does|do the trick|job", CUE_HAS, 85, A, 16, INTENT_STRONG,
     "did-trick"},
    {"worked|works like|a", CUE_BODY, 85, A, 10, INTENT_STRONG, "works-now"},
    {"worked|works|solved|fixed|resolved", CUE_WHOLE, 85, A, 6, INTENT_STRONG,
     "that-worked"},
    {"tests|everything|all pass|passed|green|passes", CUE_BODY, 82, A, 10,
     INTENT_STRONG, "works-now"},
    {"lgtm|ship", CUE_BODY, 85, A, 8, INTENT_STRONG, "lgtm"},
    {"problem|issue|mystery|bug solved|gone|fixed|resolved", CUE_HAS, 85, A, 10,
     INTENT_STRONG, "fixed-it"},
    {"is|are|it's|error's|error ?is|has|now gone ?now", CUE_END, 75, A, 8,
     INTENT_STRONG, "gone"},
    /* refusals */
    {"no thanks|thank", CUE_START, 78, N, 0, INTENT_WEAK, "no-thanks"},
    {"i'm afraid", CUE_EARLY, 75, N, 0, INTENT_WEAK, "im-afraid"},
    {"i'm|i|am sorry|afraid ?but|sir|madam", CUE_EARLY, 72, N, 0, INTENT_WEAK,
     "im-sorry"},
    {"sorry ?but i|we|it|he|she|the", CUE_START, 72, N, 0, INTENT_WEAK,
     "im-sorry"},
    {"i wish i could", CUE_HAS, 78, N, 0, INTENT_WEAK, "wish-i-could"},
    {"can't|couldn't believe|wait|imagine|stand|tell|complain|understand|"
     "remember|be",
     CUE_HAS, 55, I, 0, 0, "cant-wait"},
    {"i|we can't|couldn't|won't *", CUE_BODY, 72, N, 0, INTENT_WEAK, "i-cant"},
    {"i|we can't|won't make|do|accept|afford|go|come|help", CUE_HAS, 72, N, 0,
     INTENT_WEAK, "i-cant"},
    {"i'd|would rather", CUE_HAS, 74, N, 0, INTENT_WEAK, "rather"},
    {"i don't|doubt ?really think ?so|that|it", CUE_BODY, 72, N, 8, INTENT_WEAK,
     "dont-think-so"},
    {"i don't want", CUE_BODY, 74, N, 0, INTENT_WEAK, "dont-want"},
    {"not really|exactly|quite|now|today|tonight|interested|anymore", CUE_BODY,
     72, N, 6, INTENT_WEAK, "not-really"},
    {"maybe another|some|next time|other|day", CUE_START, 74, N, 0, INTENT_WEAK,
     "another-time"},
    {"i disagree", CUE_HAS, 80, N, 0, 0, "disagree"},
    {"don't agree", CUE_HAS, 78, N, 0, 0, "disagree"},
    {"never|forget mind ?it|that", CUE_WHOLE, 60, I, 4, INTENT_HOLD,
     "never-mind"},
    {"i don't|dunno know", CUE_EARLY, 80, I, 0, 0, "dont-know"},
    {"i'm not sure|certain", CUE_EARLY, 80, I, 0, 0, "dont-know"},
    /* commitments */
    {"i'll|we'll|i|we ?will|shall ?just|definitely|probably|maybe|also|then|be "
     "go|stick|stay with",
     CUE_HAS, 85, C, 0, 0, "go-with"},
    {"i'll|we'll bet|say|admit|be|see", CUE_BODY, 55, I, 0, 0, "ill-weak"},
    {"i|we will ?do|sir", CUE_WHOLE, 75, C, 4, 0, "ill"},
    {"i'll|we'll *", CUE_EARLY, 72, C, 0, 0, "ill"},
    {"i|we will ?not|definitely|certainly|be|just $V", CUE_EARLY, 72, C, 0, 0,
     "ill"},
    {"i'm|we're|i|we ?am|are going to $V", CUE_EARLY, 72, C, 0, 0, "going-to"},
    {"i promise|swear", CUE_EARLY, 80, C, 0, 0, "promise"},
    {"i've|i|we|we've ?have decided", CUE_EARLY, 80, C, 0, 0, "decided"},
    {"i|we ?finally|just decided|chose|settled|opted|agreed to|on|for|against",
     CUE_EARLY, 80, C, 0, 0, "decided"},
    {"let me", CUE_EARLY, 70, C, 0, 0, "let-me"},
    {"here you are|go", CUE_BODY, 72, A, 6, INTENT_WEAK, "here-you-are"},
    /* agreement in words */
    {"sounds good|great|fine|perfect|nice|wonderful|like|lovely|fun", CUE_BODY,
     78, A, 12, INTENT_WEAK, "sounds-good"},
    {"that|it sounds|would|will|seems|looks|is|be "
     "good|great|fine|perfect|nice|wonderful|lovely|be",
     CUE_BODY, 76, A, 12, INTENT_WEAK, "sounds-good"},
    {"that'll|that'd be|do ?fine|great|nice", CUE_BODY, 76, A, 10, INTENT_WEAK,
     "sounds-good"},
    {"that's|it's ?a|quite|very|such|really fine|okay|good|great|perfect|"
     "excellent|wonderful ?idea|deal|point|by|with|then",
     CUE_WHOLE, 76, A, 8, INTENT_WEAK, "thats-fine"},
    {"makes|make sense", CUE_HAS, 78, A, 12, INTENT_WEAK, "makes-sense"},
    {"good|great|nice|excellent|wonderful idea|thinking|suggestion|call|plan",
     CUE_HAS, 78, A, 12, INTENT_WEAK, "good-idea"},
    {"got it", CUE_BODY, 78, A, 8, INTENT_WEAK, "got-it"},
    {"i|totally|completely|fully agree|agreed|accept", CUE_HAS, 76, A, 12,
     INTENT_WEAK, "agree"},
    {"it's|it|that's|you ?is|have ?a deal", CUE_BODY, 80, A, 8, 0, "deal"},
    {"with pleasure", CUE_HAS, 78, A, 8, INTENT_WEAK, "pleasure"},
    {"my pleasure", CUE_BODY, 60, I, 6, 0, "my-pleasure"},
    {"i'd|would love|like|be|glad to|love", CUE_EARLY, 74, A, 9, INTENT_WEAK,
     "id-love-to"},
    {"i'd|i'll|i|we'd|would|be be|am|glad|happy|delighted "
     "glad|happy|delighted|to "
     "?to",
     CUE_EARLY, 74, A, 10, INTENT_WEAK, "glad-to"},
    {"not at all", CUE_START, 72, A, 6, INTENT_WEAK, "not-at-all"},
    {"you're|you|are ?are ?absolutely|quite right", CUE_BODY, 74, A, 6,
     INTENT_WEAK, "you-are-right"},
    {"no problem|worries|trouble", CUE_START, 74, A, 8, INTENT_WEAK,
     "no-problem"},
    {"why not", CUE_WHOLE, 74, A, 5, INTENT_WEAK, "why-not"},
    {"of course not", CUE_START, 72, N, 4, INTENT_WEAK, "opening-no"},
    {"of course", CUE_START, 72, A, 8, INTENT_WEAK, "opening-yes"},
    {"all right", CUE_START, 72, A, 8, INTENT_WEAK, "opening-yes"},
    {"yes|yeah|yep|yup|okay|sure|surely|certainly|great|perfect|absolutely|"
     "definitely|alright|fine|excellent|wonderful|awesome|cool|gladly|"
     "brilliant|fantastic|agreed|deal|done",
     CUE_START, 72, A, 8, INTENT_WEAK, "opening-yes"},
    {"no", CUE_START, 74, N, 0, INTENT_WEAK, "opening-no"},
    {"thanks|thank", CUE_EARLY, 62, A, 12, INTENT_WEAK | INTENT_THANKS,
     "thanks"},
    {"much appreciated", CUE_HAS, 62, A, 12, INTENT_WEAK | INTENT_THANKS,
     "thanks"},
    END_OF_TABLE,
};

static const struct cue cues_flag[] = {
    {"error|errors|exception|traceback|segfault|crash|crashes|crashed|crashing|"
     "bug|broken|glitch",
     CUE_HAS, 0, I, 0, INTENT_PROBLEM, ""},
    {"fails|failing|failed ?to|with|when|on|at|again", CUE_HAS, 0, I, 0,
     INTENT_PROBLEM, ""},
    {"won't|doesn't|can't|cannot|wouldn't "
     "start|boot|load|connect|compile|build|open|run|install|print|log|work|"
     "respond|turn|sync|save|upload|download",
     CUE_HAS, 0, I, 0, INTENT_PROBLEM, ""},
    {"unable to", CUE_HAS, 0, I, 0, INTENT_PROBLEM, ""},
    {"stuck on|with|at|in", CUE_HAS, 0, I, 0, INTENT_PROBLEM, ""},
    {"trouble|problem|problems|issue|issues with|when", CUE_HAS, 0, I, 0,
     INTENT_PROBLEM, ""},
    {"not|stopped|isn't working|responding|loading", CUE_HAS, 0, I, 0,
     INTENT_PROBLEM, ""},
    {"on hold", CUE_HAS, 0, I, 0, INTENT_HOLD, ""},
    {"come|get|back back|to to this|that|it|you later", CUE_HAS, 0, I, 0,
     INTENT_HOLD, ""},
    {"come|get|circle back to|later|tomorrow", CUE_HAS, 0, I, 0, INTENT_HOLD,
     ""},
    {"pause|park|shelve|postpone this|that|it|the", CUE_HAS, 0, I, 0,
     INTENT_HOLD, ""},
    {"let's leave|pause|park it|this|that", CUE_HAS, 0, I, 0, INTENT_HOLD, ""},
    {"pick|continue|finish|revisit|try|do ?this|that|it ?up "
     "later|tomorrow|another",
     CUE_HAS, 0, I, 0, INTENT_HOLD, ""},
    {"for now|later", CUE_END, 0, I, 10, INTENT_HOLD, ""},
    {"but|however|although", CUE_HAS, 0, I, 0, INTENT_MORE, ""},
    {"one more|other|last thing|question|issue|problem|bug", CUE_HAS, 0, I, 0,
     INTENT_MORE, ""},
    {"another thing|question|issue|problem", CUE_HAS, 0, I, 0, INTENT_MORE, ""},
    {"thanks|thank|thankyou", CUE_HAS, 0, I, 0, INTENT_THANKS, ""},
    {"?going|go|getting|returning|let's|so|okay|now back to", CUE_BODY, 0, I, 0,
     INTENT_RETURN, ""},
    {"you|you'd|he|she|they should|better|ought|must", CUE_EARLY, 0, I, 0,
     INTENT_ADVICE, ""},
    END_OF_TABLE,
};

const struct cue *const intent_cues[CUE_TABLES] = {
    [CUES_GREETING] = cues_greeting, [CUES_ASK] = cues_ask,
    [CUES_ADVICE] = cues_advice,     [CUES_QUESTION] = cues_question,
    [CUES_SOFT] = cues_soft,         [CUES_ANSWER] = cues_answer,
    [CUES_FLAG] = cues_flag,
};
