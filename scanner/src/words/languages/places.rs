//! Places: those elsewhere, where a thing is entered in an app or a device of one's own, and those on the page itself.

use super::super::lexicon::role::*;
use super::Language;

pub(super) const PLACES: Language = Language {
    things: &[],
    no_things: &[],
    roles: &[
        (
            INTO,
            &[
                "in|into|on|onto|inside|within|to",
                "im|ins|am|auf",
                "dans|sur|en",
                "em|no|na|nos|nas",
                "nel|nella|nell|sul|sulla|su",
                "op",
                "w|we|na|do",
                "в|во|на",
            ],
        ),
        // As long as the same words in another part.
        (INTO | LINK, &["on your", "en la|el|tu|su", "in|on the", "key in"]),
        (
            ELSEWHERE,
            &[
                "app|apps|application|device|devices|terminal|console|cli|shell|env|dotenv|keychain|extension|extensions|settings|desktop|phone|smartphone|firmware",
                "command line|prompt",
                "hardware|software|mobile wallet",
                "gerät|anwendung|erweiterung|einstellungen|kommandozeile|handy",
                "appli|appareil|extension|paramètres|réglages|téléphone",
                "aplicación|dispositivo|extensión|ajustes|configuración|teléfono|móvil",
                "aplicativo|aplicação|extensão|configurações|definições|celular|telemóvel",
                "applicazione|estensione|impostazioni|telefono",
                "apparaat|toestel|extensie|instellingen|telefoon",
                "aplikacji|urządzeniu|urządzenia|rozszerzeniu|ustawieniach|telefonie|terminalu",
                "приложении|приложение|устройстве|устройство|расширении|настройках|терминале|телефоне",
            ],
        ),
        (
            ELSEWHERE | KEEP | FILLER | KIND,
            &["new ledger|trezor|wallet|phone", "neue|neuen|neues|neuer ledger|trezor|wallet"],
        ),
        (
            THERE,
            &[
                "no|em aplicativo|app|dispositivo|celular|terminal",
                "with|using|via|mit|avec|con|com|met --",
                "uygulamada|uygulamaya|uygulamasında|uygulamasına|uygulamanızda|cihazınızda|cihazınıza|cihazda|cihaza|terminalde|eklentide",
                "アプリで|アプリに|アプリ内で|アプリの中で|デバイスで|デバイスに|端末で|ターミナルで|拡張機能で|設定画面で",
                "在应用中|在应用里|在应用程序中|在钱包应用中|在设备上|在硬件钱包上|在硬件钱包中|在您的设备上|在终端中|在扩展程序中|在設備上|在應用程式中|在硬體錢包上",
            ],
        ),
        (
            NEARBY,
            &[
                "this|here|below|above|our|following|underneath|field|fields|form|box|textbox|boxes|input|textarea",
                "this field|form|box|page|app|site|device|terminal",
                "diese|diesem|dieser|dieses|hier|unten|unserer|unserem|unsere|folgende|folgenden|feld|formular|eingabefeld",
                "ce|cet|cette|ici|dessous|notre|suivant|champ|formulaire|case",
                "este|esta|esto|aquí|abajo|nuestra|nuestro|siguiente|campo|formulario|casilla",
                "neste|nesta|aqui|abaixo|nossa|nosso|seguinte|formulário|caixa",
                "questo|questa|qui|sotto|nostra|nostro|seguente|modulo|riquadro",
                "deze|dit|hier|hieronder|onze|ons|volgende|veld|formulier|vak",
                "tej|tym|tutaj|poniżej|naszej|naszym|pole|polu|formularz|formularzu",
                "этом|этой|это|здесь|сюда|ниже|нашем|нашей|поле|форму|форме",
                "bu|buraya|burada|aşağıya|aşağıda|aşağıdaki|alana|forma|kutuya|kutusuna",
                "ここ|ここに|こちら|こちらに|下記|以下|以下に|この|欄|フォーム",
                "这里|這裡|此处|此處|在此|下方|下面|以下|此|本|框|表单",
            ],
        ),
    ],
    hints: &[],
    lures: &[],
    possible_lures: &[],
    no_lures: &[],
};
