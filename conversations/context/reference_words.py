"""The small words by which a message points back at earlier turns, language by language. Data only."""

import re
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, kw_only=True)
class Language:
    """``pointing`` words point back wherever they stand, ``final`` ones as the last word only.

    ``special`` finds what needs its neighbours, ``empty`` what looks like a pronoun and is none ("what time is it").
    """

    common: frozenset[str]
    pointing: frozenset[str]
    final: frozenset[str]
    openers: tuple[tuple[str, ...], ...]
    questions: frozenset[str]
    special: re.Pattern[str]
    empty: re.Pattern[str]
    writes_nouns_large: bool

    @cached_property
    def all_words(self) -> frozenset[str]:
        return self.common | self.pointing | self.questions


def _language(
    *,
    common: str,
    pointing: str,
    openers: str,
    questions: str,
    final: str = "",
    special: str = r"(?!)",
    empty: str = r"(?!)",
    writes_nouns_large: bool = False,
) -> Language:
    return Language(
        common=frozenset(common.split()),
        pointing=frozenset(pointing.split()),
        final=frozenset(final.split()),
        openers=tuple(tuple(opener.split()) for opener in openers.split(",")),
        questions=frozenset(questions.split()),
        special=re.compile(special, re.IGNORECASE),
        empty=re.compile(empty, re.IGNORECASE),
        writes_nouns_large=writes_nouns_large,
    )


ENGLISH = _language(
    common="the a an is are was were be do does did has have can could will would i you my your we our of in on "
    "at to for with by from not it this that these those there describe tell me about explain show give "
    "list compare define write name find work works mean means happen happens need needs make makes use "
    "uses get know think like",
    pointing="he him his himself she her hers herself they them their theirs themselves it its itself ones latter "
    "former",
    final="there one",
    openers="and,or,but,also,what about,how about,tell me more,more about,same for,same with,go on",
    questions="who whom whose what when where which why how come so not else then exactly many much long often far "
    "since more",
    special=r"\b(?:that|this|these|those)(?=\W*$|\s+(?:is|are|was|were|do|does|did|has|have|can|could|will|would"
    r"|means?|works?|happens?)\b)"
    r"|(?:(?<=\bof )|(?<=\bdo )|(?<=\bis )|(?<=\bare )|(?<=\bdid )|(?<=\bwas )|(?<=\bwhy )|(?<=\bhow ))"
    r"(?:that|this|these|those)\b(?! +(?:week|month|year|morning|evening|weekend))",
    empty=r"what (?:time|day|date) (?:is|was) it|\bit(?:['’]s| is| was)? (?:rain|snow)\w*|how(?:['’]s| is) it going|make it"
    r"|\bit (?:take|takes|took) (?:\w+ )*to\b|\b(?:is|was|be) it \w+ (?:to|that|if|for)\b"
    r"|\bit(?:['’]s| is| was) \w+ (?:to|that|if|for)\b",
)
GERMAN = _language(
    common="der die das den dem des ein eine einen und oder ist sind war hat haben ich du wir mir mich mein "
    "meine nicht von zu im in mit auf für kann wird wurde bei aus erkläre erzähl funktioniert",
    pointing="er ihm ihn seine seinen seinem seiner seines sie ihre ihren ihrem ihrer davon dafür daran darüber "
    "dazu dabei dort dessen deren",
    openers="und,oder,aber,was ist mit,wie ist es mit,wie sieht es mit,erzähl mehr,mehr dazu",
    questions="wer wen wem wessen was wann wo woher wohin welche welcher welches warum wieso weshalb wie so nicht "
    "viel viele lange oft genau sonst dann denn",
    special=r"\b(?:sein|ihr)(?= (?-i:[A-ZÄÖÜ]))|\bdas\b(?!.*\b(?-i:[A-ZÄÖÜ]))|^es\b"
    r"|(?<=\b(?:ist|hat) )es\b|(?<=\bfunktioniert )es\b|(?<=\bkostet )es\b|(?<=\bbedeutet )es\b",
    empty=r"wie (?:geht|spät ist|spät war) es|\bes (?:gibt|gab|regnet|schneit)|\b(?:gibt|gab|regnet|schneit) es"
    r"|(?<=[\w,] )(?-i:Sie|Ihr|Ihre|Ihren|Ihrem|Ihrer)\b",
    writes_nouns_large=True,
)
FRENCH = _language(
    common="le la les un une des du de est sont était a ont je tu nous vous mon ma mes et ou dans sur pour avec "
    "par ne pas que au aux explique parle moi fonctionne",
    pointing="il elle ils elles lui leur leurs son sa ses ça cela celui celle ceux celles",
    openers="et,ou,mais,qu en est il,dis m en plus",
    questions="qui quoi quand où comment pourquoi combien lequel laquelle lesquels lesquelles quel quelle pas donc "
    "exactement",
    empty=r"\bil y (?:a|avait)|y a-t-il|\bil (?:pleut|neige|fait|faut|vaut|est (?:possible|tard|tôt))|\bs['’]il\b"
    r"|heure est-il|(?:fait|faut|pleut|neige)-il|\bça va\b",
)
SPANISH = _language(
    common="el la los las un una unos de del es son era fue ha yo tú mi mis y o en con por para no que al se "
    "explica cuéntame funciona",
    pointing="él ella ellos ellas su sus eso esto ello",
    final="allí ahí",
    openers="y,e,o,pero,qué tal,qué pasa con,cuéntame más",
    questions="quién quiénes quien qué cuándo cuando dónde donde cuál cuáles cual por cómo como cuánto cuánta "
    "cuántos cuántas no entonces exactamente",
)
ITALIAN = _language(
    common="il lo la i gli le un uno una a oggi di del della dei è sono era ha io tu mio mia e o in con per non "
    "che al spiega parlami funziona",
    pointing="lui lei loro suo sua suoi sue esso essa ciò",
    final="questo quello lì là",
    openers="e,ed,o,ma,che ne dici di,che dire di,dimmi di più",
    questions="chi cosa che quando dove quale quali perché perche come quanto quanta quanti quante mai no allora "
    "esattamente",
)
PORTUGUESE = _language(
    common="o a os as um uma de do da dos das é são era foi tem eu tu você meu minha e ou em no na com por para "
    "não que ao explique conte funciona",
    pointing="ele ela eles elas dele dela deles delas isso isto aquilo",
    final="lá ali",
    openers="e,ou,mas,que tal,conte mais,fale mais",
    questions="quem que quê quando onde qual quais por porque porquê como quanto quanta quantos quantas não então "
    "exatamente",
)
DUTCH = _language(
    common="de het een en of is was zijn waren heeft hebben ik je jij wij mijn niet van te in op met voor kan "
    "wordt bij uit leg vertel werkt",
    pointing="hij hem zij ze haar hun hen daarvan daarmee daarover daarvoor ervan ermee erover eraan",
    final="dat dit het daar",
    openers="en,of,maar,hoe zit het met,vertel meer,hoezo",
    questions="wie wat wanneer waar welke welk waarom hoe hoeveel niet zo vaak lang precies dan",
    special=r"(?:(?<=\bis )|(?<=\bwas )|(?<=\bvan )|(?<=\bmet )|(?<=\bzijn )|(?<=^en ))zijn\b"
    r"|\b(?:dat|dit)(?= (?:is|was|werkt|gaat|betekent)\b)",
    empty=r"hoe gaat het|hoe laat is het",
)
RUSSIAN = _language(
    common="и в на с по из к у о не я ты мы вы мой моя был была есть такой такая такое расскажи объясни работает",
    pointing="он она оно они его её ее ему ей их им него неё нее нём нем ней них ним ними это этого этому этом",
    final="там",
    openers="а,и,но,или,ну а,расскажи подробнее,расскажи ещё",
    questions="кто что когда где куда откуда какой какая какое какие который почему зачем как сколько чей чья так "
    "же именно ещё еще",
    empty=r"\bэто (?:утро|время|лето)\b",
)
KOREAN = _language(
    common="나는 내가 저는 무엇 이다 있는 해줘 알려줘",
    pointing="그는 그의 그가 그를 그녀 그녀는 그녀의 그들 그들의 그것 그것은 그거 그건 거기 이것 이건",
    openers="그럼,그리고,그런데,근데",
    questions="왜 언제 어디 어디서 누구 누가 얼마 어떻게 무엇",
)
LANGUAGES = (ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE, DUTCH, RUSSIAN, KOREAN)

SOCIAL_WORDS = (
    "hello hi hey bye thanks thank you ok okay yes yeah no nope lol haha cool great nice good morning night please sure "
    "right hallo danke ja nein gut morgen bitte tschüss bonjour salut merci oui non hola gracias sí si adiós ciao grazie "
    "prego olá oi obrigado obrigada sim não dank bedankt nee hoi привет спасибо да нет хорошо пока 안녕 네 아니요 감사합니다"
)
SOCIAL = frozenset(SOCIAL_WORDS.split())
"""Messages of these alone ask for nothing that could be looked up."""

OWN_WORDS = "my our mein meine meinem meiner mon ma mes mi mis mio mia meu minha mijn ons мой моя моё мои моей"
OWN = frozenset(OWN_WORDS.split())
"""Who says "my sister" says whom a later "she" means."""

KANA = re.compile("[\u3040-\u30ff]")
CHINESE_EMPTY = re.compile("[其吉维維]他|其它|这[周週月年次]|這[周週月年次]|这个月|那么|那麼|其实|其實|其中")
CHINESE_POINTING = re.compile("[他她它这這那其]")
CHINESE_ELLIPSIS = re.compile(
    "^(?:还有|還有|然后|然後|但是|可是|所以|以及|那)|呢$|^(?:为什么|為什麼|怎么办|怎么会|怎麼辦|哪个|哪個|什么时候|什麼時候|多少|谁|誰|在哪|继续|更多)"
)
JAPANESE_EMPTY = re.compile("それぞれ|これまで|これから|この頃|この前|そのうち")
JAPANESE_POINTING = re.compile("(?:それ|これ|あれ|その|この|あの|彼|そこ|そんな)")
JAPANESE_ELLIPSIS = re.compile(
    "^(?:じゃあ|じゃ|では|でも|また|あと|もっと)|^.{1,8}は$|^(?:なぜ|なんで|どうして|いつ|どこ|誰|どれ|どっち|いくら).{0,3}$"
)
