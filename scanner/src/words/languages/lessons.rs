//! Lessons, quizzes and games with words, in which numbered words are no seed phrase; music and arts of memory, in which
//! people make mnemonic phrases; and what is said of a demand behind it.

use super::super::Hint;
use super::super::lexicon::role::*;
use super::Language;

pub(super) const LESSONS: Language = Language {
    things: &[],
    no_things: &[
        "mnemonic|mnemonics phrase|sentence|words? for|about|of|with notes|planets|lines|strings|keys|colors|colours|clef|scale|staff|these|this|all|each",
    ],
    roles: &[
        (
            SO | SUBJECT | TALK,
            &["so that|we|you|i", "damit|sodass", "zodat|opdat", "affinché", "para|pour que", "afin que"],
        ),
        (
            SO | AND | SUBJECT,
            &[
                "and we|you|they|our|ill|well",
                "und wir|sie|du",
                "et nous|vous|on",
                "y te|le|nosotros|nuestro",
                "e nós|te|lhe|ti|vi|noi",
                "en we|wij|dan",
                "и мы|вы",
            ],
        ),
        (
            SO | SUBJECT,
            &["aby|żeby|abyśmy|żebyśmy", "чтобы|дабы", "böylece", "以便|这样我们|我们会|我们将|让我们"],
        ),
        (
            SO | KEEP | LINK,
            &[
                "to see|find|check|learn|know|get|discover|test|measure",
                "in order to",
                "um zu",
                "pour voir|savoir|connaître|vérifier",
                "afin de|d",
                "para ver|saber|comprobar",
                "per vedere|sapere|controllare",
                "om te",
            ],
        ),
    ],
    hints: &[
        (
            Hint::Quiz,
            &[
                "spelling|spell|vocabulary|vocab|dictation|lesson|lessons|homework|classroom|pupil|pupils|schoolwork|anagram|anagrams|wordle|wordsearch|scrabble|boggle|flashcards|phonics|rhyming",
                "spelling bee|test|list|words",
                "flash|index card|cards",
                "word game|games|search|puzzle|puzzles|ladder|hunt",
                "school exercise|exercises|work|class",
                "english|french|german|spanish|latin|grammar|reading|language|music|our|my|the|year|evening|primary class",
                "class|grade|form|year 1|2|3|4|5|6|7|8|9|10|1a|1b|2a|2b|3a|3b|4a|4b|5a|5b|6a|6b",
                // German.
                "rechtschreib*|buchstabier*|vokabel*|diktat|diktate|lektion|lektionen|hausaufgabe*|unterricht|schulklasse|schulaufgabe*|schulübung*|klasse|schüler*|karteikarten|wortspiel*|wortsuche|suchrätsel|silbenrätsel|galgenmännchen|lernwörter|übungswörter",
                "orthographe|vocabulaire|dictée|dictées|leçon|leçons|devoirs|classe|élève|élèves|écolier|écoliers|anagramme|anagrammes|pendu",
                "jeu|jeux de|d mots|lettres",
                "mots mêlés|fléchés",
                "ortografía|vocabulario|dictado|dictados|lección|lecciones|deberes|clase|aula|alumno|alumnos|escolar|escolares|crucigramas|ahorcado|anagrama|anagramas|fichas",
                "juego|juegos|tarea|tareas de palabras|clase|casa|escuela",
                "tarjetas didácticas",
                "parole crociate",
                "ortografia|vocabulário|ditado|ditados|lição|lições|aula|aulas|aluno|alunos|turma|forca|soletrar|soletração|flashcards",
                "dever|deveres|lição|jogo|jogos de|da casa|palavras|escola",
                "cruzadinha|anagrama",
                "vocabolario|lessico|dettato|dettati|lezione|lezioni|compiti|alunno|alunni|scolaro|scolari|anagramma|impiccato",
                "gioco|giochi di|con parole|lettere",
                "spelling|woordenschat|dictee|dictees|les|lesje|lessen|huiswerk|klas|leerling|leerlingen|woordspel|woordspelletje|woordzoeker|galgje|flitskaarten|woordpakket|kruiswoordraadsel",
                "ortografia|ortograficzn*|słownictwo|słówka|słówek|dyktando|dyktanda|lekcja|lekcji|lekcje|klasa|klasie|uczeń|uczniowie|uczniów|fiszki|krzyżówki|krzyżówkę|anagram*|wisielec",
                "praca|zadanie domowa|domowe",
                "gra|gry słowna|słowne",
                "орфографи*|правописани*|словарн*|диктант*|урок|урока|уроке|уроки|домашн*|класс|класса|классе|ученик*|школьн*|карточки|кроссворд*|анаграмм*|виселица|сканворд*",
                "игра|игры в|со слова|словами",
                "yazım|imla|dikte|ders|dersi|dersler|ödev|ödevi|ödevler|sınıf|sınıfı|öğrenci|öğrenciler|okul|bulmacası|bulmacalar|adamasmaca",
                "kelime oyunu|oyunları|avı|bilgisi|kartları|dağarcığı",
                "綴り|スペル|スペリング|単語帳|書き取り|ディクテーション|授業|レッスン|宿題|生徒|学校|学習カード|フラッシュカード|しりとり|言葉遊び|ワードゲーム|単語テスト|英単語|語彙",
                "拼写|拼寫|听写|聽寫|词汇|詞彙|词汇表|课文|課文|课程|課程|功课|功課|作业|作業|课堂|課堂|学生|學生|小学|年级|单词卡|單字卡|抽认卡|填字游戏|填字遊戲|文字游戏|生字|单词测试",
            ],
        ),
        (
            // Music and arts of memory.
            Hint::Elsewhere,
            &[
                "clef|clefs|treble|solfege|violin|cello|guitar|ukulele|mnemonist|mnemonists|planets",
                "sheet music",
                "solar system",
                "memory palace|palaces|sport|training|art|champion|champions",
                "order of|the the? planets|notes|sharps|flats",
                "method of loci",
                "lines|notes of|on the? staff|stave",
                "notenschlüssel|violinschlüssel|bassschlüssel|geige|gitarre|planeten|gedächtnispalast|gedächtnissport|gedächtniskunst|eselsbrücke|eselsbrücken|merkspruch|merksprüche",
                "solfège|violon|guitare|planètes|partition|clavier",
                "clé|clef de sol|fa",
                "palais de mémoire|la",
                "violín|guitarra|planetas|solfeo|pentagrama|partitura|violino|chitarra|pianeti|solfeggio|spartito|pentagramma",
                "palacio|palácio|palazzo de|da|della la? memoria|memória",
                "viool|gitaar|planeten|notenbalk|geheugenpaleis|ezelsbruggetje|ezelsbruggetjes",
                "skrzypce|gitara|planety|planet|pięciolinia|pięciolinii",
                "pałac pamięci",
                "скрипк*|гитар*|планет*|сольфеджио|нотн*",
                "дворец|чертоги памяти|разума",
                "keman|gitar|gezegen*|nota|hafıza sarayı",
                "五線譜|楽譜|ト音記号|音部記号|惑星|記憶の宮殿|記憶術|バイオリン",
                "五线谱|五線譜|高音谱号|行星|记忆宫殿|記憶宮殿|小提琴|吉他",
            ],
        ),
    ],
    lures: &[],
    possible_lures: &[],
    no_lures: &[],
};
