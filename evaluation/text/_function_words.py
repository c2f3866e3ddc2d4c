"""Function words and negations by language.

The lists are short and have the most common words, which must not count as content. In languages without a list, all
words count as content.
"""

import re


def _lists(words: dict[str, str]) -> dict[str, frozenset[str]]:
    return {language: frozenset(listed.split()) for language, listed in words.items()}


FUNCTION_WORDS = _lists(
    {
        "ar": "في من على إلى الى عن أن ان إن كان كانت يكون تكون التي الذي الذين هذا هذه ذلك تلك مع أو او ثم قد "
        "كل بعد قبل بين هو هي هم كما عند عندما حيث منذ حتى أي به بها له لها فيه فيها منه منها عليه عليها وهو "
        "وهي وقد وفي ومن وعلى وأن وكان و",
        "de": "der die das den dem des ein eine einer eines einem einen und oder aber als auch am an auf aus "
        "bei bis da dass durch er es sie wir ihr ich du für hat haben hatte hatten ihm ihn ihre ihrer "
        "im in ins ist mit nach noch nur ob sein seine seiner sich sind so über um unter vom von vor "
        "war waren was wenn werden wird wurde wurden wie worden zu zum zur",
        "en": "a about after all also am an and any are as at be been before being both but by can could did "
        "do does doing during each for from had has have having he her here hers herself him himself "
        "his how i if in into is it its itself just may me might more most must my now of off on once "
        "only or other our out over own s said same say says shall she should so some such t than that "
        "the their them themselves then there these they this those through to too under until up us "
        "very was we were what when where which while who whom whose why will with would you your d ll "
        "m re ve because since although though whereas instead however therefore thus ones someone anyone "
        "everyone something anything everything ourselves yourself between against within upon across along "
        "among despite per toward towards yet still even ever already rather quite much many each every "
        "another let again except",
        "es": "a al como con cuando de del desde donde el ella ellas ellos en entre era eran es esta este "
        "esto ha han hay la las le les lo los más me mi muy o para pero por porque que se ser si sobre "
        "son su sus también tan te un una unas uno unos y ya fue fueron había",
        "fr": "à au aux avec ce ces cette c d dans de des du elle elles en est et été était étaient eu il "
        "ils j je l la le les leur leurs lui m mais me même mes mon n on ont ou où par pas plus pour qu que "
        "qui s sa se ses si son sont sur t ta te tu un une vous y a ai avait",
        "it": "a ad al alla alle anche che chi ci come con da dal dalla de dei del della delle di e ed era "
        "erano è fu gli ha hanno i il in io l la le lo loro ma nei nel nella o per più quando questa "
        "questo se si sono su sua sue sul sulla suo suoi tra un una uno",
        "nl": "aan al als bij dan dat de der die dit door een en er had hadden haar heb hebben heeft het hij "
        "hun ik in is je kan maar me met mijn na naar nog nu of om onder ook op over te tot u uit uw "
        "van voor was waren wat we werd werden wie worden wordt zal ze zich zij zijn zo zou",
        "pt": "a à ao aos as às até com como da das de dela dele do dos e é ela elas ele eles em entre "
        "era eram esta este eu foi foram há isso já lhe mais mas me na nas no nos o os ou para pela pelo "
        "por quando que quem se sem ser seu sua são também te tem um uma você",
        "ru": "а без более бы был была были было быть в вам вас весь во вот все всего вы где да для до его "
        "ее её если есть еще ещё же за и из или им их к как когда которая которые который кто ли мы на над "
        "о об он она они оно от по под при с со так также то того тоже только том ты у уже чем что "
        "чтобы эта эти это этот я",
    }
)

NEGATIONS = _lists(
    {
        "ar": "لا لم لن ليس ليست غير بدون دون",
        "de": "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne weder",
        "en": "not no never none nobody nothing neither nor without cannot cant n't",
        "es": "no nunca jamás nadie nada ninguno ninguna ningún sin ni tampoco",
        "fr": "ne non jamais aucun aucune rien personne sans ni",
        "it": "non mai nessuno nessuna nulla niente senza né",
        "nl": "niet geen nooit niemand niets zonder noch",
        "pt": "não nunca jamais ninguém nada nenhum nenhuma sem nem",
        "ru": "не нет ни никогда никто ничего ничто без",
    }
)

# Chinese and Japanese negate with single characters and endings, which pairs of characters would hide.
NEGATION_MARKS = {
    "ja": re.compile("なかった|ない|ません|ぬ"),
    "zh": re.compile("没有|沒有|[不没沒未无無非]"),
}

_NUMBER_WORDS = {
    "de": "null:0 zwei:2 drei:3 vier:4 fünf:5 sechs:6 sieben:7 acht:8 neun:9 zehn:10 elf:11 zwölf:12 "
    "zwanzig:20 dreißig:30 vierzig:40 fünfzig:50",
    "en": "zero:0 one:1 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12 "
    "thirteen:13 fourteen:14 fifteen:15 sixteen:16 seventeen:17 eighteen:18 nineteen:19 twenty:20 thirty:30 "
    "forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90 hundred:100",
}

NUMBER_WORDS = {
    language: {word: number for word, _, number in (pair.partition(":") for pair in listed.split())}
    for language, listed in _NUMBER_WORDS.items()
}
"""Small numbers written as words, as digits. German "ein" and "eine" are usually articles and left out."""
