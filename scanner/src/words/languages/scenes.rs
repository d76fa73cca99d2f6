//! In which scene a noun stands that means several things: at an account, or at a river, in a garden, in a shop for bags.
//! Words that also belong to money stay out of `Hint::Elsewhere`: a harvest and a stream are things of wallets and films too.

use super::super::Hint;
use super::super::lexicon::role;
use super::Language;

pub(super) const SCENES: Language = Language {
    things: &[],
    no_things: &[],
    roles: &[
        (
            role::ACCOUNT,
            &[
                "login|logon|signin|portal|credentials|balance|balances|statement|statements|verify|verification|identity|suspended|customers|password|passcode",
                "log|sign in|on|into",
                "anmelden|anzumelden|anmeldung|einloggen|kontostand|zugangsdaten|guthaben|passwort",
                "connexion|connecter|connectez|identifiant|identifiants|solde",
                "saldo|sesión|contraseña|sessão|senha|agência|credenziali|accedi",
                "inloggen|zaloguj|logowanie",
                "аккаунт|вход|войти|баланс",
                "giriş|bağlayın|doğrulayın|bakiye|bakiyesi",
                "ログイン|残高|アカウント|余额|餘額",
            ],
        ),
        (
            role::WRITE,
            &[
                "schreiben|schreibe sie",
                "write|put|copy|schreibe|schreiben|schreib|notiere|notieren|écrivez|écris|écrire|inscrivez|notez|recopiez|escribe|escriba|escribir|escreva|escreve|anote|anota|scrivi|scriva|scrivere|schrijf|noteer|zapisz|napisz|spisz|przepisz|przepisać|запишите|запиши|напишите|напиши|yaz|yazın|yazınız|書いて|書き|写|写下|写在|寫|寫下|寫在|抄写",
            ],
        ),
        (
            role::PAPER,
            &[
                "paper|steel|metal|titanium|plate|sheet|notebook|notepad|cardboard|pencil|papier|zettel|stahl*|metallplatte*|blatt|notizbuch|feuille|acier|métal|carnet|papel|hoja|acero|cuaderno|libreta|folha|aço|caderno|foglio|acciaio|metallo|quaderno|vel|staal|stalen|metaal|notitieboek|papierze|papieru|kartkę|kartce|metalu|metalowej|stali|zeszycie|бумаг*|лист|листе|листок|металл*|стальн*|пластин*|блокнот*|тетрад*|kağıt|kağıda|çelik|deftere|紙|金属|ノート|纸上|紙上|纸|金属板|钢板|笔记本",
                "su carta",
            ],
        ),
        (
            role::SHARE,
            &[
                "share|teile|teilen|partagez|partager|comparte|comparta|compartilhe|partilhe|condividi|deel|udostępnij|поделитесь|paylaş|paylaşın",
            ],
        ),
    ],
    hints: &[(
        Hint::Elsewhere,
        &[
            "river|rivers|riverbank|brookside|pond|canal|towpath|estuary|fishing|angling|angler|anglers|fish|trout|perch|carp|rowing|kayak|canoe",
            "garden|gardens|gardening|gardener|gardeners|nursery|nurseries|plants|planting|planted|seedling|seedlings|shrubs|perennials|compost|soil|florist|flowers",
            "orchard|orchards|cider|apples|pears|pruning|bakery|bakeries|baking|loaf|loaves|pastry|pastries|pie|pies|turnovers|recipe|recipes|cinnamon",
            "furniture|bench|benches|sofa|sofas|carpentry|joinery|leather|stitched|stitching|bifold|handbag|handbags|purse|purses|belts|fashion|boutique|tailor",
            "gym|workout|dumbbell|dumbbells|barbell|barbells|weightlifting|phrasebook",
            "food|blood|image|seed|talent|sperm|tissue|question|milk|river|piggy bank",
            "bank holiday|holidays|staff|nurse|nurses",
            // German; fashion is `mode`, which is English too.
            "garten|gärten|gärtner*|gartenbau*|gartenbank|gartenbänke|sitzbank|sitzbänke|parkbank|holzbank|eckbank|bänke|pflanzen|stauden|blumen|fluss|ufer|angeln|obst|obstgarten|streuobst*|äpfel|apfelwein|apfelbaum|bäckerei|kuchen|möbel|schreinerei|tischlerei|lederwaren|leder|handtasche*|hantel*|hantelbank|fitnessstudio|blutbank|samenbank",
            "jardin|jardins|jardinage|jardinerie|plantes|pépinière|rivière|berge|berges|pêche|pêcheur|pêcheurs|verger|vergers|pommes|pommier*|cidre|boulangerie|pâtisserie|tarte|tartes|recettes|meubles|canapé|ébéniste*|cuir|maroquinerie|ceintures|vêtements|musculation|haltères",
            "jardín|jardines|jardinería|plantas|vivero|orilla|pesca|pescador|pescadores|huerto|huerta|manzana|manzanas|manzano|sidra|panadería|pastelería|tarta|recetas|muebles|sofá|roble|cuero|marroquinería|bolsos|cinturón|cinturones|moda|gimnasio|pesas|mancuernas|musculación",
            "jardim|jardinagem|viveiro|pomar|maçãs|macieira|padaria|confeitaria|bolos|móveis|madeira|couro|cintos|academia|halteres",
            "banco|bancos de sangre|alimentos|imágenes|semillas|sangue|imagens|sementes|pesas|madera|madeira|jardín|jardim|praça",
            "giardino|giardini|giardinaggio|piante|vivaio|fiume|sponda|argine|pescatori|frutteto|mele|meleto|sidro|panificio|pasticceria|torte|ricette|mobili|divano|panca|panche|panchina|rovere|cuoio|pelletteria|cinture|abbigliamento|palestra|manubri",
            "tuin|tuinen|tuinieren|tuincentrum|planten|kwekerij|rivier|oever|hengelsport|boomgaard|appels|appeltaart|appelboom|bakkerij|brood|taart|recepten|meubels|meubelen|zitbank|tuinbank|hoekbank|slaapbank|zetel|kussens|eikenhout|handtas|tassen|sportschool|halters|bloedbank|voedselbank",
            "ogród|ogrody|ogrodu|ogrodnicz*|rośliny|sadzonki|rzeki|rzeka|brzeg|brzegu|wędkarstwo|wędkarz*|jabłka|jabłek|jabłoń|cydr|piekarnia|ciasta|chleb|meble|ławka|ławki|skórzan*|torebki|odzież|siłownia|hantle|sztang*",
            "сад|сада|саду|садовод*|огород*|растени*|рассад*|река|реки|реке|берег|берегу|рыбалк*|рыболов*|яблок*|яблон*|сидр|пекарн*|выпечк*|хлеб*|торты|рецепты|варень*|огурц*|консерв*|мебел*|скамей*|диван*|кожан*|сумки|ремни|одежд*|гантел*|спортзал*",
            "bahçe*|bitkiler*|fidan*|nehir|nehri*|balık|balıkçılık|elma|elmalı|meyve*|ekmek|mobilya*|koltuk*|deri|çanta|çantalar*|kemer|moda|dambıl",
            "spor salonu",
            "庭園|ガーデニング|園芸|植物|川岸|河川|釣り|果樹園|りんご|林檎|シードル|ベーカリー|ケーキ|レシピ|家具|ベンチ|ソファ|革製品|レザー|本革|ハンドバッグ|ファッション|スポーツジム|ダンベル|筋トレ|献血",
            "花园|花園|园艺|園藝|植物|苗圃|河岸|钓鱼|釣魚|果园|果園|苹果树|苹果酒|苹果派|烘焙|面包|麵包|蛋糕|食谱|食譜|家具|沙发|沙發|长椅|長椅|皮革|真皮|皮具|手提包|腰带|时装|時裝|服装|健身房|哑铃|啞鈴|献血",
        ],
    )],
    lures: &[],
    possible_lures: &[
        ("bank", &["bank|banks|banker|banco|bancos|банка|банку|банки|банке|banken|banca|banka"]),
        (
            "wallet",
            &[
                "wallet|wallets|ewallet|cüzdan|cüzdanınız|cüzdanını|cüzdanınızı|кошелек|кошелька|кошельку|кошельком|гаманець|ウォレット|钱包|錢包|지갑*|plånbok|lommebok|peněženka|billetera|monedero|geldbörse",
            ],
        ),
        ("apple", &["apple"]),
    ],
    no_lures: &[
        "bank street|house|farm|view|cottage|lane|road|hill|side|top|terrace|foot|end|vole|line|angler",
        "bank|bänke aus eiche|holz|teak|leder",
    ],
};
