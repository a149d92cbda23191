"""How people say what is worth remembering of them, what they leave open and what is done, language by "
"language. Data only."""

import re

I = re.IGNORECASE  # noqa: E741

ADVERBS = (
    r"(?:(?:also|now|currently|still|really|actually|just|recently|absolutely|usually|always|only|both|all"
    r"|mostly|mainly|originally"
    r"|finally|already|totally|truly|especially|definitely|even|first|never|often|sometimes|have|'ve|am|'m|been"
    r"|'re|are)\s+){0,3}"
)
KIN = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|ex|mom|mum|mother|dad|father|parents|sons?"
    r"|daughters?|kids?|child"
    r"|children|baby|brothers?|sisters?|siblings?|twins?|grand\w+|aunt|uncle|cousin|niece|nephew|family|best "
    r"friend|roommate"
    r"|flatmate|boss|manager|mentor|dogs?|cats?|pupp(?:y|ies)|kittens?|pets?|hamster|rabbit|guinea pigs?|horse"
    r"|parrot|turtle)"
)
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr"
    r"|jun|jul|aug|sept?|oct"
    r"|nov|dec)"
)
SEASON = r"(?:week(?:end)?|month|year|semester|summer|winter|spring|fall|autumn|christmas|easter)"
RELATIVE = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|(?:last|next|this|past|coming) (?:{SEASON}|{WEEKDAY}|{MONTH}"
    r"|night|morning"
    rf"|afternoon|evening|time|few \w+|\w+ (?:days|weeks|months|years))|(?:on|this|since) {WEEKDAY}|in (?:a|an"
    r"|one|two|three|four|five"
    r"|six|a few|\d+) (?:days?|weeks?|months?|years?|hours?)|recently|soon|gestern|heute|morgen|vorgestern"
    r"|übermorgen|(?:letzte|nächste"
    r"|diese|kommende)[nrsm]? \w+|vor \w+ (?:tagen|wochen|monaten|jahren)|hier|aujourd'hui|demain|la semaine "
    r"prochaine|ayer|hoy"
    r"|mañana|la semana que viene|el (?:próximo|mes que viene)|just (?:\w+(?:ed|t|n)|did|won|saw|began|became))\b",
    I,
)
"""A day that is told by the day it is told on."""
DATE = (
    rf"(?:{RELATIVE.pattern}|\b{MONTH} \d{{1,2}}|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{MONTH}\b|\bin {MONTH}\b"
    rf"|\b\d{{4}}-\d\d-\d\d\b"
    r"|\b(?:on|by) the \d)"
)
NO_POSSESSION = (
    r"(?:bit|lot|ton|few|couple|question|feeling|idea|thought|problem|issue|look|great|good|bad|hard|rough|tough"
    r"|nice|lovely|wonderful"
    r"|amazing|awesome|busy|long|crazy|weird|fun|blast|chance|minute|moment|second|photo|pic|picture|turnout"
    r"|meeting|point|sense|doubt|hunch|clue|request|favor"
    r"|favour|ball|go|hard|tough|big thing|thing|way|say|try|break|rest|really|pretty|super|very|huge|special"
    r"|place|soft|bond|strong bond|list|function|file|script|bug|error|table|string|class|column|task|text|much"
    r"|more)"
)

FIRST_PERSON = re.compile(
    r"\b(?:i|my|me|we|our|i'm|ich|mein\w*|mich|mir|wir|unser\w*|je|j'\w+|mon|ma|mes|moi|notre|mi|mis|yo|soy"
    r"|tengo|vivo|trabajo|estudio|odio|prefiero|colecciono|nací|estoy|necesito|debo|planeo|pienso|recuérdame"
    r"|nuestr\w+"
    r"|to-?do)\b",
    I,
)
REMIND = re.compile(
    r"(?:please |can you |could you |kannst du |bitte )*(?P<told>remind me|don't let me|erinner\w* mich"
    r"|rappelle-moi|recuérdame)\b",
    I,
)
REMEMBER = re.compile(
    r"^(?:please,? |and |also,? |so,? )*(?:remember|don't forget|do not forget|never forget|keep in mind|note"
    r"|make a note|bear in mind"
    r"|for the record|fyi|merk dir(?: bitte)?|merke dir(?: bitte)?|denk (?:bitte )?daran|vergiss (?:bitte "
    r")?nicht|notier\w*(?: dir)?"
    r"|souviens-toi|rappelle-toi|n'oublie pas|note bien|retiens|recuerda|no olvides|ten en cuenta|apunta)\b"
    r"(?: this| for me| please| bitte| down)*(?:[:,]? (?:that|dass|daß|que) |: | (?=(?:my|our|i|i'm|we|mein\w*"
    r"|ich|mon|ma|je|mi|mis)\b))(?P<told>.+)",
    I,
)
"""What is to be remembered, in so many words."""

FACTS = [
    re.compile(pattern, I)
    for pattern in (
        # who the person is
        r"\bmy (?:\w+ )?name(?:'s| is) \w",
        r"\b(?:(?:people|friends|everyone|you can|just|please) calls? me|i'm called|i am called|i go by) "
        r"(?-i:[A-Z])",
        r"\b(?:i'm|i am) (?-i:[A-Z])\w+(?:[.!,]| and\b|$)",
        # home and origin
        rf"\b(?:i|we)(?: |'m |'ve |'re ){ADVERBS}(?:live[sd]? (?:in|at|on|near|with|alone|by)|living (?:in|at"
        r"|near|with)|grew up (?:in|on|near|with)"
        r"|born (?:in|on)|was born|moved? (?:to|into|from|back)|moving (?:to|into|from)|from (?-i:[A-Z])|come "
        r"from|based in|relocated)",
        r"\bmy (?:home ?town|home country|native language|mother tongue|address|birthday|phone number"
        r"|e-?mail(?: address)?|blood type"
        r"|shoe size|pronouns|star sign|nickname|age|password hint|license plate|car|bike|boat|house|flat"
        r"|apartment|garden) (?:is|are|was|has)\b",
        r"\b(?:i'm|i am|i turned|i'll be|i turn) \d{1,3}\b",
        # work and study
        rf"\b(?:i|we)(?: |'m |'ve |'re ){ADVERBS}(?:work(?:ed|ing|s)? (?:as|at|for|in|on|with)|stud(?:y|ied"
        r"|ying)\b|teach(?:ing)?\b|taught\b|volunteer(?:ed|ing)?\b"
        r"|graduated|retired\b|majored|building (?:an?|the|our|my)|developing (?:an?|the|our|my)|using "
        r"(?-i:[A-Z])\w+ (?:for|to)"
        r"|(?:own|run|manage|founded|co-?founded|lead) (?:an?|my|our|the) )",
        r"\b(?:i'm|i am) (?:an?|the) (?!(?:bit|little|lot|few|tad|mess|wreck|huge believer|firm believer"
        r"|believer|good|great|bad|total|real|sucker|huge fan(?! of)|big fan(?! of)"
        r"|one|only|same|same way|tiny|ok)\b)\w+",
        r"\bmy (?:new |current |old |own |part-time |dream )*(?:job|company|business|employer|office|team|studio"
        r"|shop|store|project|startup|thesis|degree|major|career|work)"
        r" (?:is|was|are|has|focuses|starts|started|involves)\b",
        # family and animals
        rf"\b(?:my|our) (?:\w+ )?{KIN}\b(?:,? (?-i:[A-Z])\w+,?)?(?: and (?:i|me|my \w+))?(?:'s)? (?:\w+ )?(?:is"
        r"|are|was|were|has|have|had|loves?|likes?|hates?|lives?|lived"
        r"|works?|worked|turned|turns|died|passed|got|goes|plays?|played|studies|moved|called|named|adopted"
        r"|bought|gave|made|taught|always|just|also"
        r"|enjoys?|wants?|starts?|started|begins?|speaks?|needs?|owns?|runs?|attends?|teaches|drives?|suffers?"
        r"|graduates?|graduated|retired|married|went|came|helps?|helped|used to)\b",
        rf"\b(?:i|we)(?: |'ve ){ADVERBS}(?:have|got|had|adopted|raised|lost) (?:an?|two|three|four|five|six|seven"
        rf"|\d+|my|our|some)(?: \w+){{0,2}} {KIN}\b",
        r"\b(?:i'm|i am|we're|we are|i got|we got|i've been|we've been|been) (?:married|engaged|divorced|single"
        r"|pregnant|widowed|expecting (?:an?|our|my|twins))\b",
        # health and food
        r"\b(?:i'm|i am) (?:\w+ )?(?:allergic|diabetic|vegan|vegetarian|pescatarian|lactose|gluten|coeliac"
        r"|celiac|asthmatic|autistic|deaf|blind"
        r"|colou?r-?blind|left-handed|dyslexic|intolerant|on medication|transgender|trans|gay|lesbian|bisexual"
        r"|non-?binary)\b",
        r"\bi(?: |'ve |'m )(?:have|got|suffer from|was diagnosed with|been diagnosed with|take|on|been "
        r"taking)(?: \w+){0,3} (?:asthma|diabetes|adhd|allerg\w+|migraines?"
        r"|anxiety|depression|arthritis|epilepsy|intolerance|insulin|antidepressants|medication|autism|dyslexia"
        r"|eczema|back pain|insomnia)\b",
        r"\bi (?:can't|cannot|don't|do not|never|no longer|stopped) (?:eat|eating|drink|drinking|smoke|smoking)\b",
        # what is no longer so
        r"\b(?:i|we) (?:no longer \w+|don't \w+ .*\bany ?more\b|(?:just )?(?:quit|gave up|stopped) \w+)",
        r"\bich \w+ (?:\w+ ){0,4}nicht mehr\b|\bje ne \w+ plus\b|\bya no \w+",
        # what can be said of anything
        r"\b(?:my|our) \w+(?: \w+)?(?:'s| is| are) (?:\d|(?-i:[A-Z])\w)",
        r"\b(?:i|we)(?: |'m |'ve been |'re |'ve )(?:also |mostly |currently )?(?:use|using|learn|learning|read"
        r"|reading) (?-i:[A-Z])\w+",
        r"\bi (?:also )?(?:play|speak|drive|ride|coach|practi[cs]e|grow|collect) (?!(?:with it|around|along)\b)\w+",
        # what the person likes
        rf"\b(?:i|we)(?: |'m |'ve |'re ){ADVERBS}(?:love|like|enjoy|prefer|hate|dislike|adore|collect|can't stand"
        r"|cannot stand|don't like|don't really like|loved|enjoyed)(?: to)?"
        r" (?!(?:how|that|it|to (?:hear|see|know|think)|your?|this|when|what|the (?:way|idea|sound|look|colou?rs"
        r"|(?:\w+ )?vibes?|structure|rush|feel\w*|energy|concept|part|fact|things?|message|design|view)|these"
        r"|those|seeing|hearing|talking|chatting|knowing)\b)\w",
        r"\b(?:i'm|i am)(?: \w+)? (?:into|passionate about|keen on|interested in|fond of|obsessed with|addicted "
        r"to|scared of|afraid of|good at|bad at|terrible at)"
        r" (?!(?:that|it|this|your?|what|how|these|those)\b)\w",
        r"\b(?:my|our)(?: \w+){0,3} favou?rites?\b(?: \w+){0,3} (?:is|are|was|has)\b|\bmy favou?rite \w+(?: "
        r"\w+)?(?:'s| is| are)\b",
        r"\b(?:i'm|i am) (?:an? )?(?:\w+ )?(?:fan|lover|enthusiast) of\b|\bmy (?:hobby|hobbies|passion|dream"
        r"|goal|goals|pronouns) (?:is|are|includes?)\b",
        # what the person has, and what changed in his life
        rf"\b(?:i|we)(?: |'ve )(?:{ADVERBS}(?:got|own)|(?:have|currently have|also have)) (?:an?(?: great)?|two"
        rf"|three|four|five|\d+|my own) (?!{NO_POSSESSION}\b)\w",
        rf"\b(?:i|we)(?: |'ve ){ADVERBS}(?:bought|purchased|sold|adopted|joined|signed up|signed with|started "
        r"(?!to (?:think|feel|realize|see)|seeing|feeling|thinking)(?:an?|my|our|taking|learning|working|going"
        r"|doing|studying|volunteering|\w+ing) \w+|quit"
        r"|passed (?:my|the|an?)|got (?:promoted|hired|accepted|married|engaged|into|back from|my|an? "
        r"(?!(?:great|lot|surge|bit|few|chance|feeling|kick|ton)\b))|enrolled"
        r"|applied (?:to|for)|won (?:an?|the|my|our|first|second)|published|launched|opened (?:an?|my|our)"
        r"|finished (?:my|an?|the|reading|writing)|completed (?:my|an?|the)|lost my|broke my|visited (?-i:[A-Z]"
        r"|an?|the|my)|went (?:to|on|hiking|camping|skiing|swimming|fishing|surfing) (?!bed|sleep|work\b)"
        r"|travell?ed to|attended (?:an?|the|my)|ran (?:an?|the|my)|took up|wrote (?:an?|my)|painted (?:an?|my)"
        r"|built (?:an?|my|our)|made (?:an?|my) (?!point|mistake|decision|lot)\w+ (?:for|with|of|from)|signed "
        r"(?:an?|my|our))\b",
        # what is planned for a day
        r"\b(?:i'm|i am|we're|we are) (?:\w+ )?(?:going|planning|flying|moving|travell?ing|starting|getting"
        r"|visiting|seeing|meeting|leaving|taking|attending|hosting|running|throwing"
        rf"|heading|performing|giving|having (?:an?|my|our)|expecting|driving)\b.*{DATE}",
        rf"\b(?:i|we)(?: |'ve )(?:have|got) (?:an?|my|our)\b.*{DATE}",
        r"\b(?:i|we)(?:'ll| will) (?!(?:be sure|let you|look|try|keep|check|do|share|see|talk|definitely|never"
        rf"|always)\b)\w+\b.*{DATE}(?<!soon)",
        r"\b(?:my|our)(?: \w+){0,2} (?:appointment|exam|wedding|anniversary|flight|interview|surgery|operation"
        r"|deadline|graduation|trip|vacation|holiday|due date|party|concert|move|check-?up)"
        r" (?:is|are|was|starts|got)\b",
        # German
        r"\bich (?:\w+ ){0,1}(?:wohne|lebe|heiße|heisse|arbeite|studiere|komme aus|stamme|spiele|sammle"
        r"|unterrichte|besitze|hasse|liebe|mag|bevorzuge|vertrage|esse|trinke)\b",
        r"\bich (?:habe|hab) (?:\w+ )?(?:einen?|zwei|drei|vier|\d+) (?!(?:frage|idee|problem|bitte|termin "
        r"frei)\b)\w+",
        r"\bich bin (?:\w+ )?(?:\w*allergisch|vegan\w*|vegetarier\w*|schwanger|verheiratet|verlobt|geschieden"
        r"|geboren|aufgewachsen|\d+ jahre|\w+(?:er|in|lehrer|ärztin|arzt) von beruf"
        r"|(?:von beruf|nach) \w+|diabetiker\w*|laktose\w*)",
        r"\b(?:mein|meine|unser|unsere) (?:\w+ )?(?:frau|mann|sohn|tochter|kinder|kind|hund|katze|mutter|vater"
        r"|eltern|bruder|schwester|freund|freundin|partner|partnerin|oma|opa|chef|chefin|name|geburtstag"
        r"|adresse|telefonnummer|hobby|beruf|auto|lieblings\w+) \w+",
        rf"\bich (?:fliege|fahre|ziehe|reise|heirate|beginne|besuche)\b.*(?:{RELATIVE.pattern}|\bim \w+|\bam \w+)",
        # French
        r"\bje m'appelle|\bj'habite|\bje vis (?:à|en|au|dans)|\bje travaille|\bje suis (?:née?|allergique"
        r"|végétarienne?|végane?|marié\w*|médecin|enceinte|originaire|professeure?|ingénieure?|étudiante?)\b",
        r"\bj'ai (?:une?|deux|trois|quatre|\d+) (?!(?:question|idée|problème|peu)\b)\w+|\bj'(?:adore|aime"
        r"|préfère|étudie|collectionne)\b|\bje (?:déteste|préfère|n'aime pas|ne mange pas|joue)\b",
        r"\b(?:mon|ma|mes|notre) (?:\w+ )?(?:femme|mari|fils|fille|enfants|chien|chat|mère|père|frère|sœur|soeur"
        r"|parents|anniversaire|copain|copine|nom|adresse|métier|\w+ préférée?)"
        r" (?:est|sont|s'appelle|a|habite|travaille|aime)\b",
        # Spanish
        r"\b(?:me llamo|mi nombre es|vivo en|trabajo (?:en|como|para|de)|estudio \w+|nací en|soy de "
        r"(?-i:[A-ZÁÉÍÓÚ])|estoy casad[oa]|estoy embarazada)\b",
        r"\bsoy (?:alérgic[oa]|vegan[oa]|vegetarian[oa]|médic[oa]|profesora?|ingenier[oa]|estudiante"
        r"|diabétic[oa]|enfermer[oa]|abogad[oa])\b",
        r"\btengo (?:una?|dos|tres|cuatro|\d+) (?!(?:pregunta|idea|problema|poco)\b)\w+|\b(?:me (?:gusta|gustan"
        r"|encanta|encantan)|no me gustan?|odio|prefiero|colecciono)\b",
        r"\b(?:mi|mis|nuestr[oa]s?) (?:\w+ )?(?:esposa|esposo|marido|mujer|hij[oa]s?|perr[oa]s?|gat[oa]s?|madre"
        r"|padre|herman[oa]s?|novi[oa]|cumpleaños|color|\w+ favorit[oa])"
        r" (?:es|son|se llaman?|tiene|vive|trabaja)\b",
    )
]
"""Statements of the first person that last, or tell of a change or a plan."""

DOUBTFUL = re.compile(
    r"\b(?:if|would|could|might|maybe|perhaps|wish|unless|suppose|imagine|i'd|we'd|hypothetically|let's|should"
    r"|hope to|hoping|i guess|not sure"
    r"|wonder|wondering|thinking (?:about|of)|wenn|falls|würde|könnte|hätte|wäre|vielleicht|möchte|si|serait"
    r"|pourrais|voudrais|aurais|peut-être"
    r"|quisiera|podría|sería|tal vez|quizás?|ojalá|kidding|joking)\b",
    I,
)
"""What may not be so."""
PRAISE = re.compile(
    r"^(?:my|our|we)\b.*\b(?:is|are|was|were|been|had|doing) (?:so |super |really |very |such |the |some |an? "
    r"|just |doing )*"
    r"(?:awesome|amazing|great|best|blast|good|better|fun|cool|nice|wonderful|incredible|encouraging|supportive"
    r"|inspiring"
    r"|important|fantastic|lovely|happy|excited|motivation)\b",
    I,
)
"""Says how something is, which is seldom worth keeping."""

BEFORE = re.compile(
    rf"(?:^|[,;:–—-]\s*|\b(?:now|lately|nowadays|currently|then|also|and|but|so|today|{RELATIVE.pattern}|(?:in"
    rf"|for|since|during|after|before) [^,;]{{2,24}}|this \w+|one day|these days|seit \w+|im \w+|jetzt)\s+)$",
    I,
)
"""What may stand right before a statement."""
ASIDE = re.compile(
    r"\b(?:said|says|told|tells|asked|asks|thinks?|thought|who|whose|according to|when|because|while|since)\b", I
)
"""Anywhere before a statement, it makes it somebody else's, or a part of another one."""

OPENERS = re.compile(
    r"^(?:(?:oh|ah|aw+|ooh|wow|whoa|woah|woohoo|yay|yeah|yea|yep|yup|yes|no|nope|nah|hey|hi|hiya|hello|well|so"
    r"|and|but|also|thanks(?: a lot| so much)?|thank you(?: so much)?|cool"
    r"|great|awesome|btw|by the way|actually|honestly|anyway|anyways|right|sure|ok|okay|haha\w*|lol|h+m+|um+|uh"
    r"|definitely|totally|exactly|absolutely|unfortunately|luckily|of course"
    r"|plus|fyi|for sure|i see|got it|sounds good|true|nice|sweet|sorry|man|dude|guess what|you know(?: what)?"
    r"|in fact|to be honest|tbh|glad to hear(?: that)?|agreed|gotcha"
    r"|ja|nein|also|und|aber|hallo|übrigens|danke|oui|non|et|mais|bonjour|salut|merci|au fait|sí|y|pero|hola"
    r"|gracias|por cierto)\b(?:,? (?-i:[A-Z])\w+(?=[,!.]))?[,!.…:–—-]*\s+"
    r"|(?-i:[A-Z])\w+,\s+(?=(?:i|i'm|i've|my|we|we're|our)\b)|[-–—,.!…:;]\s*)+",
    I,
)
"""What a sentence begins with before it says anything."""

CLAUSE = re.compile(
    r"(?:,?\s+(?:and|but|und|et|y|aber|mais|pero)|:|,)\s+(?=(?:i|i'm|i've|we|we're|my|our|ich|mein\w*|wir|je"
    r"|j'\w+|mon|ma|vivo"
    r"|tengo|soy|trabajo|mi)\b)",
    I,
)
"""Where another statement begins."""
CONDITION = re.compile(
    r"(?:if|when|whenever|unless|once|before|after|as soon as|in case|wenn|falls|sobald|si|quand|cuando|remember"
    r"|note)\b",
    I,
)
"""A sentence that begins so is not taken apart."""
COMPANY = re.compile(r"(?:^|,|\b(?:today|yesterday|ago|last \w+|with)) ?(?:my|our|mein\w*|mon|ma|mi)(?: \w+){1,2}$", I)
COMMENT = re.compile(
    r"(?:\s*[-–—]|,|,?\s+(?:and|but))\s*(?:it|that|they)(?:'s| was| is| has| feels?| felt|'ve| were|'re)\b.*$"
    r"|,?\s+so (?:i|i'm|i'll|we|we'll|it|that|they|please)\b.*$",
    I,
)
"""What the person thinks of it, after the statement itself."""
POINTING = re.compile(
    r"\b(?:it|its|they|them|their|theirs|those|these|he|him|his|she|her|hers|ones|one(?! (?:of|day|more))|that"
    r"|this(?! (?:week|weekend|month|year|summer|spring|fall|autumn|winter|morning|evening|afternoon"
    r"|season|semester|coming|past|time))|both(?! \w+ and)|such|there(?! (?:is|are|was|were)|'s)|you|your|yours"
    r"|you're|you've|likewise|same|too|es|das|davon|dazu|damit|dort|euch|dich|dir|dein\w*"
    r"|ça|cela|eux|toi|ton|tes|eso|esto|ellos|aquello)\b",
    I,
)
"""What leans on something that was said before, or means whom the person talks to."""
PERSONAL = re.compile(r"\b(?:he|him|his|she|her|hers|it|its)\b", I)
PLURAL = re.compile(r"\b(?:they|them|their|theirs)\b", I)
SEVERAL = re.compile(
    r"\b(?:my|our|two|three|four|some|and)\s+(?:\w+\s+)?\w{2,}s\b|\b(?:family|parents|children|people|kids)\b"
    r"|\w+s\b",
    I,
)
NOUN = re.compile(r"\b(?:my|our|an?|the|two|three|four|some)\s+\w{3,}|(?<!^)\b(?-i:[A-Z])\w+", I)

TAIL = re.compile(
    r"(?:;| -| –| —|—|\.\.\.|…)\s*|,?\s+(?=(?:so|because|which|while|since|though|weil|parce|porque)\b)"
    r"|,?\s+(?=(?:and|but|und|aber|et|mais|y|pero) (?:i|i'm|i've|it|it's|we|we're|they|he|she|that|that's"
    r"|this|then|my|our|have|had|was|am|is|are|were|the|there|met|got|ich|es|wir|sie|er|je|j'\w+|il|elle|nous|yo"
    r"|me|mi|es)\b)|,\s+(?=(?:i|i'm|i've|it|it's|we|we'll|we're|they|he|she|my|that|that's|ich|je|j'\w+)\b)",
    I,
)
"""Where what follows may be left away."""

CONCRETE = (
    r"(?:book|buy|call|phone|pay|renew|send|finish|fix|decide|schedule|order|clean|pack|submit|sign|write"
    r"|replace|plan|move|prepare|choose"
    r"|pick|organi[sz]e|contact|check|apply|register|cancel|return|reply|answer|update|hire|paint|repair|install"
    r"|renovate|set up|look for|find an?"
    r"|find the|find my|get an?|get my|get the|make an?|sell|visit|learn|try (?:out )?an?|read|watch|build|start"
    r"|sort|file|collect|reserve|arrange|invite|print|study"
    r"|figure out|solve|debug|deploy|test|migrate|improve my|practi[cs]e|go to|see (?:an?|the|my)|talk to|speak "
    r"to|meet|bring|take|change|switch|complete)\b"
)

OPENED = [
    re.compile(pattern, I)
    for pattern in (
        r"\bi (?:still |really |also |just )*(?:need|have|ought) to (?!(?:say|admit|ask|know|agree|go\b(?! to)"
        r"|run\b|be\b|tell you|see (?:it|that)|hear|thank|apologi[sz]e|confess|remember|get going|head|keep"
        r"|learn"
        r" more|laugh|love|wait|believe|focus|stay|feel|show|understand|find (?:a )?(?:better |new )?(?:way"
        r"|balance)|do|work (?:hard|on myself)|relax|rest|think|look after|take care of myself|live|deal)\b)\w+",
        r"\b(?:we (?:still |also |just )*(?:need|have) to|(?:i|we)(?:'ve| have) (?:still )?got to|(?:i|we) gotta"
        rf"|i (?:still |really )*(?:must|should)(?: really| still| probably| also)?) {CONCRETE}",
        r"\b(?:i'm|i am|we're|we are|i've been|we've been) (?:still |currently |also |now |just |actually "
        r")*(?:(?:planning|preparing)\b(?! (?:on )?(?:staying|being))|(?:looking|waiting) for (?:an?|my|the|our"
        r"|new|some)\b"
        rf"|looking into (?:an?|my|the|our|new|some)?\b|waiting on\b|trying to {CONCRETE}|working on (?:an?|my"
        r"|our|the)\b|organi[sz]ing\b|saving (?:up )?for\b|applying (?:for|to)\b|searching for\b|hoping to "
        rf"{CONCRETE}|thinking (?:about|of) \w+ing\b)",
        rf"\b(?:i|we) (?:still |really |also )*(?:(?:plan|intend) to \w+|want to {CONCRETE})",
        r"\b(?:i|we) (?:still )?(?:haven't|have not) (?:\w+ )?(?:decided|finished|booked|sent|heard|received"
        r"|paid|found|replied|bought|started|called|renewed|signed|chosen|packed|got|gotten|applied|submitted"
        r"|registered|figured|done)\b.*\byet\b"
        r"|\b(?:i|we) still (?:haven't|have not) \w+",
        r"^(?:please |can you |could you )?(?:remind me (?:to|about)|don't let me forget)\b|^to-?do:",
        r"\bich (?:muss|sollte|will)\b(?!.*\b(?:sagen|zugeben|gehen|los)\b)|\bich (?:plane|habe vor|suche noch"
        r"|suche (?:eine?n?|nach)|warte (?:noch )?auf)\b|\bwir müssen noch\b|^(?:bitte )?erinner\w* mich\b",
        r"\b(?:je dois|il faut que je|je prévois|je compte|je cherche une?|j'attends)\b|^rappelle-moi de\b",
        r"\b(?:tengo que|necesito (?=\w+[aei]r\b)|debo|planeo|estoy (?:planeando|buscando|esperando)|pienso "
        r"(?=\w+[aei]r\b))\b|^recuérdame\b",
    )
]
"""Something that is begun, and not finished by being said."""
BEGINNING = (
    "also besoin cherche debo do dois finish get go going got have haven hope intend just look looking make muss "
    "must möchte necesito need noch plan plane planeo planning prepar preparing prévois really remind should "
    "sollte "
    "start still suche tengo to todo try trying wait waiting want warte will work working yet "
)
OPENED_WORDS = frozenset(BEGINNING.split())

DONE = re.compile(
    r"\b(?:(?:is|are|am|'m|'s|'re|was|all|now|already) (?:\w+ )?(?:done|finished|completed|sorted|solved"
    r"|resolved|settled|taken care of|over)|done with|sorted out|taken care of|(?:have|has|'ve|just|finally|i"
    r"|we) (?:finished|completed|sorted"
    r"|solved|resolved|settled|managed to|figured out)|no longer need|don't need to .*any ?more|cancelled"
    r"|canceled|called off|got (?:it|that) done|crossed off"
    r"|erledigt|fertig|geschafft|abgeschlossen|fini|terminé|réglé|terminad[oa]|listo)\b",
    I,
)
"""It is finished, said outright."""
AT_LAST = re.compile(r"\b(?:finally|at last|endlich|enfin|por fin)\b", I)
HAPPENED = re.compile(
    r"\b(?:i|we)(?:'ve| have| had)? (?:\w+ly |just |already |finally |also )*(?:\w{3,}ed|sent|bought|wrote"
    r"|written|paid|made|did|went|gone|took|taken|got|found|told|sold|met|saw|seen|spoke|chose|chosen|built"
    r"|taught"
    r"|left|ran|gave|given|had|booked|put|cut|set|won|began|held|read|submitted)\b|\bich habe?\b.*\bge\w+(?:t"
    r"|en)\b|\bich habe?\b.*\b\w+(?:iert|t|en)\W*$|\bj'ai \w+(?:é|i|u|s|t)\b|\bhe \w+(?:ado|ido|cho|to)\b"
    r"|\b(?:is|are|was|were) (?:\w+ )?(?:sent|booked|paid|fixed|signed|delivered|repaired|renewed|submitted"
    r"|ordered)\b",
    I,
)
"""It happened."""
NOT_DONE = re.compile(
    r"\b(?:not|n't|never|still (?:need|have|must|trying|waiting|working|looking)|need to|have to|almost|nearly"
    r"|nicht|noch|pas|todavía|aún|no he)\b|n't\b",
    I,
)
PAST = (
    "bought:buy sent:send wrote:write written:write paid:pay made:make did:do done:do went:go took:take taken:take "
    "got:get found:find told:tell sold:sell met:meet saw:see seen:see spoke:speak chose:choos chosen:choos "
    "built:build taught:teach left:leav ran:run gave:give given:give began:begin held:hold flew:fli drove:drive "
    "won:win thought:think brought:bring caught:catch kept:keep lent:lend spent:spend "
)
IRREGULAR = dict(pair.split(":") for pair in PAST.split())
"""Stems of past forms that are stems of their own."""

PARTICIPLE = re.compile(r"^(ab|an|auf|aus|bei|ein|mit|nach|vor|weg|zu|zurück)ge(?=\w{3})")
"""Of German verbs: "abgegeben" is of "abgeben"."""

ENDS = re.compile(
    r"\b(?:no longer|not (?:\w+ ){0,4}any ?more|n't (?:\w+ ){0,4}any ?more|anymore|quit|gave up|stopped|nicht "
    r"mehr|keine? \w+ mehr|ne \w+ plus|n'\w+ plus|ya no|dej[ée] de)\b",
    I,
)
"""What held until now holds no longer."""
NEGATED = re.compile(r"\b(?:not|never|no|nicht|kein\w*|nie|pas|jamais|nunca|ne)\b|n't\b|\bcannot\b", I)

SLOTS = {
    name: re.compile("|".join(patterns), I)
    for name, patterns in {
        "name": [r"\bmy name(?:'s| is) ", r"\b(?:ich heiße|je m'appelle|me llamo|mi nombre es|mein name ist) "],
        "home": [
            r"\b(?:i|we)(?:'ve| have|'m|'re| am| are)? (?:now |currently |just |recently |still )*"
            r"(?:live in|living in|moved to|relocated to) (?-i:[A-Z])",
            r"\bich (?:wohne|lebe) (?:\w+ )?in (?-i:[A-ZÄÖÜ])",
            r"\bj'habite (?:\w+ )?(?:à|en|au) (?-i:[A-Z])",
            r"\bvivo (?:\w+ )?en (?-i:[A-Z])",
        ],
        "work": [
            r"\bi(?:'m|'ve| am)? (?:now |currently |just |still )*(?:work(?:ing)?|started(?: working)?) (?:at"
            r"|for) (?-i:[A-Z])",
            r"\bich arbeite (?:\w+ )?(?:bei|für) ",
            r"\bje travaille (?:\w+ )?(?:chez|pour) ",
            r"\btrabajo (?:\w+ )?(?:en|para) (?-i:[A-Z])",
        ],
        "birthday": [
            r"\bmy birthday is\b",
            r"\b(?:mein geburtstag|mon anniversaire|mi cumpleaños) (?:ist|est"
            "|es)\b",
        ],
        "phone": [r"\bmy phone number is\b", r"\bmeine telefonnummer ist\b"],
        "address": [r"\bmy address is\b", r"\b(?:meine|mon|mi) (?:adresse|dirección) (?:ist|est|es)\b"],
        "email": [r"\bmy e-?mail(?: address)? is\b"],
        "age": [
            r"\b(?:i'm|i am|i turned|i just turned) \d{1,3}(?: years old)?(?:[.!]|$| now)",
            r"\bich bin (?:\w+ )?\d{1,3} jahre\b",
        ],
        "favourite": [
            r"\bmy favou?rite (?P<what>\w+(?: \w+)??)(?:'s| is| are)\b",
            r"\bmein\w* lieblings(?P<was>\w+) (?:ist|sind)\b",
        ],
    }.items()
}
"""What a person has one of at a time: what is said later replaces what was said before."""

REACTION = re.compile(
    r"^(?:wow|whoa|thanks|thank you|that's|that is|that sounds|sounds|congrat\w*|cool|nice|awesome|great|good "
    r"luck|hey|hi|hello|bye|yeah|yes|no|sure|ok|okay|absolutely|totally|definitely|exactly|same here|glad"
    r"|haha\w*|lol"
    r"|so (?:cool|happy|glad|proud)|how (?:cool|nice|sweet)|you(?:'re| are| got)|i (?:agree|hear you|get it)"
    r"|can't wait|keep|enjoy|take care|see you|talk|let me know|what about you|how about you|danke|super|merci"
    r"|gracias)\b",
    I,
)
"""What answers, and tells little by itself."""
SMALL_TALK = (
    "absolut also alway amaz awesom bit bye chat come cool day definit enjoy even everyth excit feel fun get glad "
    "go good great guess happi hear help hey import inspir keep kind know let life like look lot love make mean "
    "much need nice oh okay one peopl pretti proud realli say see someth soon special still stuff super sure take "
    "talk tell thank thing think time total try wait want way well wow yeah "
)
FILLERS = frozenset(SMALL_TALK.split())
