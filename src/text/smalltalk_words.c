/* SPDX-License-Identifier: Apache-2.0 */
/*
 * smalltalk_words.c - tables, one line a language. See smalltalk_words.h.
 *
 * Words are parted by blanks. What people write with and without its accents
 * is here both ways.
 */
#include "text/smalltalk_words.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

/* A longer run of a script without spaces is about something, in bytes. */
#define MAX_RUN 72

static const char *const fillers[] = {
    /* English */
    "a afternoon again all am and any anytime are assist back be but can chat "
    "choice could day days did do doing done evening everybody everyone "
    "excellent fine folks for friend fun glad go going got grand guys ha happy "
    "have he heh help here i idea in indeed interesting is it job just k kk "
    "later let lot love lovely many mate may me much my neat news night no "
    "nope not now of one ooh please point problem question quick ready really "
    "see she sir so soon sounds sup super team that the then there they this "
    "to today tomorrow too true ty uh up ve very was we welcome what whats "
    "will wonderful works worries would yay you your",
    /* German */
    "helfen kann können womit weiterhelfen wie wobei was abend abends alle "
    "allen alles also auch bald besten bin bis bist da dank "
    "dann das dein der die dir du ein einen er erstmal es euch freut für geht "
    "gehts gern gerne gibt gruß grüße gute guter gutes herzlich herzlichen "
    "ich ihnen ihr ist jetzt kein keine lg liebe mfg mich mir mit morgen "
    "nacht nein nicht noch nochmal nur schon schön schöne schönen sehr sein "
    "sie so später tag uns und viel viele vielen von wieder wir wirklich "
    "wünsche zu",
    /* Spanish */
    "ayudar ayudarle ayudarte ayudo puedo a abrazo abrazos ahora algo bien "
    "bueno como con cómo de dia dias día días "
    "el en eres es esta estas esto está estás favor gusto hasta he igualmente "
    "la las lo los luego mañana me mi mil mucho muchas muchísimas muy más nada "
    "no noche noches nos o por pronto que qué saludo saludos se si solo sí tal "
    "tarde tardes te todo todos tu tú un una usted verdad y ya yo",
    /* French */
    "aide aider comment faire puis a ai aussi au beaucoup bcp bien bientôt bon "
    "bonne ce de demain des du en "
    "est et il j je journée là le les ma mais me mille moi mon monde ne non "
    "nous nuit on pas plait plaît plus pour que rien suis te tard toi tout "
    "tous toute très tu un une va vous y à à soirée",
    /* Portuguese */
    "ajudar em posso até bem boa bom como dia e está estou favor mais mesmo "
    "muita "
    "muito "
    "nada noite não nao o os para por que só sim também tambem tarde tudo um "
    "uma vai você voce vocês",
    /* Italian */
    "aiutare aiutarla aiutarti posso cosa anche bene buon buona che come con "
    "di dopo domani due e giornata ho ieri "
    "io lei mi mille molto niente non notte per piacere presto più sei sera "
    "serata sono sta stai tante tanto te ti tutti tutto un va è",
    /* Russian */
    "могу помочь чем большое в вам вас все всего всем всё вы да дела день до "
    "доброе доброй "
    "добрый его ещё еще за и как мне много можно мы на не нет ничего но ночи "
    "огромное он она очень помощь рад рада с свидания скорого спокойной так "
    "там тебе то только ты у уже утра утро что это я вечер хорошего встречи",
};

static const char *const openers[] = {
    /* English */
    "ah aha alright awesome brilliant bye cheers cool dear exactly goodbye "
    "good goodnight gotcha great greetings haha hello hey hi hiya hm hmm how "
    "howdy lol morning nice oh ok okay oops perfect right sorry sure thank "
    "thanks thx um well wow yeah yep yes yo yup",
    /* German */
    "ach bitte danke dankeschön entschuldige entschuldigung genau grüezi gut "
    "guten hallo hallöchen huhu ja jawohl jo klar klasse mahlzeit moin moinsen "
    "na nee nö oje perfekt prima richtig servus stimmt super tach toll top "
    "tschau tschüs tschüss verstanden verzeihung willkommen wunderbar",
    /* Spanish */
    "adiós adios anda buenas buenos chao claro disculpa disculpe encantada "
    "encantado enhorabuena entendido estupendo fantástico genial gracias hola "
    "jaja jajaja listo oye perdona perdón perdon perfecto porfa vale venga "
    "vaya",
    /* French */
    "accord bah bonjour bonsoir bravo bref coucou dac désolé désolée "
    "entendu excellent excusez félicitations génial hé merci mince ok ouais "
    "oui pardon parfait rebonjour salut stp super svp top ça",
    /* Portuguese */
    "abraço abraços beleza certo claro desculpa desculpe entendi falou legal "
    "obrigada obrigado oi olá ola opa perfeito show tchau valeu ótimo otimo",
    /* Italian */
    "addio allora arrivederci arrivederla benissimo benvenuto bravo brava "
    "buonanotte buonasera buongiorno capito certo ciao grazie ottimo perfetto "
    "prego salve scusa scusami scusi sì",
    /* Dutch, Polish, Turkish, Scandinavian: what greets and thanks */
    "bedankt dag dankjewel dankuwel doei goedemiddag goedemorgen goedenavond "
    "hoi cześć dziękuję dzięki hej merhaba selam teşekkürler teşekkür takk "
    "tack tak kiitos",
    /* Russian */
    "ага благодарю здорово здравствуй здравствуйте извини извините класс "
    "круто ладно ну ок окей отлично пожалуйста пока понял поняла понятно "
    "прекрасно привет приветствую прости простите спасибо спс супер точно "
    "угу хорошо ясно",
    /* Greek, Arabic, Hebrew, Hindi, Thai: the same */
    "γεια καλημέρα καλησπέρα καληνύχτα ευχαριστώ مرحبا شكرا أهلا שלום תודה "
    "नमस्ते धन्यवाद",
};

/* Words of scripts that put no blanks between them, and of Korean, whose words
 * are joined to their endings. */
static const char *const run_fillers[] = {
    /* Chinese, simplified and traditional */
    "你 您 我 他 她 它 们 們 咱 大家 各位 的 地 得 了 吗 嗎 嘛 呢 吧 呀 啦 么 "
    "麼 很 非常 太 真 真的 挺 特别 特別 十分 多 都 也 还 還 就 又 再 先 请 請 "
    "请问 請問 在 有 没 沒 没有 沒有 不 不是 这 這 那 这样 這樣 那样 那樣 这个 "
    "這個 那个 那個 什么 什麼 怎么样 怎麼樣 帮 幫 帮忙 幫忙 帮助 幫助 问题 "
    "問題 "
    "事 事情 一下 一点 一點 会 會 能 要 想 和 跟 说 說 问 問 看 试 試 今天 "
    "今晚 "
    "明天 明早 晚点 晚點 回头 回頭 下次 以后 以後 上午 中午 下午 晚上 高兴 "
    "高興 "
    "认识 認識 见 見 祝 意思 其实 其實 而已",
    /* Japanese */
    "です でした だ だった ます ました ません ますか ませんか でしょうか "
    "ございます ございました ございません する します しました して いたします "
    "いたしました いたして おります の ね よ よね な わ ぞ か かな は が を も "
    "で "
    "と に へ ー から さん 様 さま この その あの それ これ あれ どう どうぞ "
    "とても "
    "本当 本当に ほんと ほんとに 大変 大丈夫 だいじょうぶ 問題 ない なし "
    "なさい "
    "ください 下さい 今日 明日 あした 後で あとで 今度 また いつも お 御 ご 私 "
    "僕 "
    "俺 皆さん みなさん 皆様 こと こちら こちらこそ 世話 になって になり 今後 "
    "引き続き いただき 頂き まして されました されましたか "
    "いかが 何か なにか 手伝い",
    /* Korean */
    "하세요 하십니까 하십시오 합니다 해요 했어요 했습니다 드립니다 드려요 "
    "습니다 입니다 이에요 예요 어요 아요 세요 셨어요 셨습니다 요 군요 네요 "
    "지요 "
    "죠 정말 너무 많이 진짜 잘 또 다음 에 는 은 이 가 도 나 저 제 너 님 그 "
    "있어 "
    "있어요 계세요 가세요 자요 봐요 봬요 뵙겠 부탁 도움 주셔서 오늘 내일 "
    "여러분 "
    "모두 하루 되세요 좋은 밤 아침 저녁 무엇 을 도와 드릴까요",
};

static const char *const run_openers[] = {
    /* Chinese */
    "你好 您好 大家好 哈喽 哈囉 哈罗 嗨 喂 早 早安 早上 早上好 上午好 中午好 "
    "下午好 晚上好 晚安 午安 再见 再見 拜拜 拜 回见 回見 谢 謝 谢谢 謝謝 多谢 "
    "多謝 感谢 感謝 感激 感恩 辛苦 麻烦 麻煩 抱歉 对不起 對不起 不好意思 "
    "没关系 "
    "沒關係 没事 沒事 不客气 不客氣 客气 客氣 不用 欢迎 歡迎 恭喜 祝贺 祝賀 "
    "加油 收到 明白 懂 了解 瞭解 知道 晓得 清楚 好 行 成 嗯 恩 哦 噢 喔 哈 嘿 "
    "嘻 呵 哎 唉 哇 啊 呃 额 是 是的 对 對 没错 沒錯 可以 当然 當然 棒 厉害 "
    "厲害 "
    "不错 不錯 完美 牛 赞 讚 太好 漂亮 原来 原來 如此 有意思 有道理 好久不见 "
    "好久不見 在吗 在嗎",
    /* Japanese */
    "こんにちは こんにちわ こんばんは こんばんわ おはよう おはよ おやすみ "
    "ありがとう ありがと ありがたい ありがたく 有難う あざす あざっす どうも "
    "すみません すいません すまない ごめん ごめんなさい はじめまして "
    "初めまして "
    "よろしく 宜しく 疲れ 疲れ様 疲れさま つかれ つかれさま つかれさん 苦労様 "
    "苦労さま 了解 りょうかい りょ 承知 承り かしこまりました 畏まりました "
    "分かりました わかりました 分かった わかった なるほど はい いいえ うん "
    "ううん "
    "ええ おお ああ あー えー うーん うわ いい 良い いいね よかった 良かった "
    "よし "
    "さすが すごい すご すてき 素敵 素晴らしい すばらしい やった 助かる 助かり "
    "助かった 感謝 お願い お願いします お願いいたします 願い さようなら "
    "さよなら "
    "じゃあ じゃ では それでは またね バイバイ 失礼 失礼します 申し訳 笑 そう "
    "そっか そうか おめでとう おめでと やっほー ハロー オッケー オーケー おけ "
    "もしもし ほんま おおきに まいど とりあえず 嬉しい うれしい 楽しみ "
    "楽しかった "
    "完璧 最高 神",
    /* Korean */
    "안녕 안녕히 감사 고마워 고맙 네 예 넵 넹 응 아니 아니요 아니오 알겠 알았 "
    "좋아 좋 수고 반가워 반갑 죄송 미안 괜찮 그래 그렇 맞아 맞 와 우와 오 아 "
    "음 "
    "헐 대박 최고 축하 잘자 오케이 ㅋ ㅎ ㅠ ㅜ ㅇㅋ ㅇㅇ ㄴㄴ ㄱㅅ 하이 "
    "여보세요 "
    "다행",
    /* Thai */
    "สวัสดี ขอบคุณ ครับ ค่ะ คะ นะ",
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* The next word of a row; false at its end. */
static bool next_of(const char **row, struct str *out)
{
    const char *from = *row + strspn(*row, " ");
    size_t len = strcspn(from, " ");

    *out = (struct str){from, len};
    *row = from + len;
    return len > 0;
}

/*
 * The words by their hash: every word of every turn is looked up. Made once
 * and immutable after that.
 */
#define SLOTS 2048
static struct {
    struct str word; /* s == NULL: nothing */
    enum smalltalk_word kind;
} slots[SLOTS];
static pthread_once_t slots_once = PTHREAD_ONCE_INIT;

/* Where the word is, or the empty place where it would be. */
static size_t slot_of(struct str word)
{
    size_t at = str_hash(word) % SLOTS;

    while (slots[at].word.s && !str_eq(slots[at].word, word)) {
        at = (at + 1) % SLOTS;
    }
    return at;
}

/* Words that have a kind already keep it. */
static size_t put_rows(const char *const *rows, size_t count,
                       enum smalltalk_word kind)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        const char *row = rows[i];
        struct str word;

        while (next_of(&row, &word)) {
            size_t at = slot_of(word);

            if (!slots[at].word.s) {
                slots[at].word = word;
                slots[at].kind = kind;
                n++;
            }
        }
    }
    return n;
}

static void make_slots(void)
{
    size_t n = put_rows(openers, COUNT(openers), SMALLTALK_OPENER);

    n += put_rows(fillers, COUNT(fillers), SMALLTALK_FILLER);
    assert(n <= SLOTS / 2);
}

enum smalltalk_word smalltalk_word(struct str word)
{
    size_t at;

    (void)pthread_once(&slots_once, make_slots); /* cannot fail */
    at = slot_of(word);
    return slots[at].word.s ? slots[at].kind : SMALLTALK_NONE;
}

/* Mark where words of `rows` that begin at `at` end, by the most that is said
 * up to there. */
static void step(const char *const *rows, size_t count, struct str run,
                 size_t at, enum smalltalk_word kind, char *ends)
{
    for (size_t i = 0; i < count; i++) {
        const char *row = rows[i];
        struct str word;

        while (next_of(&row, &word)) {
            if (str_starts(str_sub(run, at, run.len), word)) {
                char *end = &ends[at + word.len];
                char most = ends[at] > (char)kind ? ends[at] : (char)kind;

                *end = most > *end ? most : *end;
            }
        }
    }
}

enum smalltalk_word smalltalk_run(struct str run)
{
    char ends[MAX_RUN + 1] = {0};

    if (run.len == 0 || run.len > MAX_RUN) {
        return SMALLTALK_NONE;
    }
    for (size_t at = 0; at < run.len; at++) {
        if (at == 0 || ends[at] != SMALLTALK_NONE) {
            step(run_fillers, COUNT(run_fillers), run, at, SMALLTALK_FILLER,
                 ends);
            step(run_openers, COUNT(run_openers), run, at, SMALLTALK_OPENER,
                 ends);
        }
    }
    return (enum smalltalk_word)ends[run.len];
}
