"""The small words of languages, which tell nothing of what a text is about but well which language it is in. Data only."""

SMALL_WORDS = {
    "english": "a an the is are was were be been being am do does did doing done has have had having can could will would "
    "shall should may might must i you he she it we they me him her us them my your his its our their mine yours hers "
    "ours theirs myself yourself himself herself itself ourselves themselves this that these those there here what who "
    "whom whose which when where why how and or but if then than so because as of in on at to for with by from into onto "
    "about over under after before between during out up down off again further once not no nor only own same too very "
    "just ll re ve don isn aren wasn weren doesn didn hasn haven hadn won wouldn couldn shouldn any some all both each "
    "few more most other such also get got",
    "german": "der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren sein bin bist hat "
    "haben habe hatte hatten ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen mein meine meinen meinem "
    "meiner dein deine deinen unser unsere euer ihre ihren nicht kein keine von zu zum zur im in mit auf für kann können "
    "wird werden wurde wurden bei aus an am um über unter nach vor als auch noch nur schon sehr so dann wenn dass weil "
    "wie was wer wen wem wo wann warum welche welcher welches mal doch denn",
    "french": "le la les un une des du de est sont était ai as avons avez ont été être avoir je tu il elle on nous vous ils "
    "elles me te se lui leur mon ma mes ton ta tes son sa ses notre nos votre vos leurs et ou mais dans sur sous pour "
    "avec sans par ne pas plus que qui quoi quand où comment pourquoi quel quelle quels quelles ce cet cette ces au aux en y "
    "qu",
    "spanish": "el la los las un una unos unas de del es son era fue ser estar está he has ha han yo tú él ella nosotros "
    "ellos ellas me te se lo le les nos mi mis tu tus su sus nuestro y o pero en con por para sin no que al quién qué "
    "cuándo dónde cuál cómo como más muy este esta estos estas ese esa eso",
    "italian": "il lo la i gli le un uno una di del della dei delle è sono era ho hai ha abbiamo hanno io tu lui lei noi voi "
    "loro mi ti si ci vi mio mia miei tuo tua suo sua e o ma in con per su da non che al alla chi cosa quando dove quale "
    "come perché più questo questa quello quella",
    "portuguese": "o a os as um uma de do da dos das é são era foi ser estar tem tenho eu tu você ele ela nós eles elas me te "
    "se lhe meu minha meus minhas teu tua seu sua e ou mas em no na nos nas com por para sem não que ao quem quando onde "
    "qual como porque mais muito este esta esse essa isso",
    "dutch": "de het een en of maar is zijn was waren heeft hebben heb had ik je jij hij zij ze wij we jullie mij me jou hem "
    "haar ons hun hen mijn jouw onze niet geen van te in op met voor kan wordt bij uit aan om naar als ook nog al wie wat "
    "wanneer waar welke welk waarom hoe dat dit die deze er",
    "russian": "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от "
    "меня еще нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас вам себя ей они тут где есть надо "
    "для мы тебя их чем была чтоб без будто кто этот того потому этого какой ним здесь этом мой моя мои моё был были это",
}
