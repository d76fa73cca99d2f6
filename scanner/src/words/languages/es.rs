//! Spanish.

use super::super::Hint;
use super::super::Thing::*;
use super::super::lexicon::role;
use super::Language;

pub(super) const SPANISH: Language = Language {
    things: &[
        (
            SeedPhrase,
            &[
                "frase|frases secreta|secretas? de recuperación|respaldo|restauración|seguridad|copia? secreta?",
                "frase|frases semilla|seed|semillas",
                "frase de|con 12|24|doce palabras",
                "palabras semilla",
                "palabras de recuperación|respaldo|la|tu|su frase?",
                "12|24|doce palabras de|secretas recuperación|respaldo|tu|la frase?",
                "semilla de|secreta recuperación|tu|la? billetera|monedero|cartera?",
            ],
        ),
        (
            MaybeSeedPhrase,
            &[
                "frase|frases|palabras|clave mnemotécnica|mnemónica|secreta|mnemotécnicas|secretas",
                "12|24|doce|veinticuatro palabras",
                "12|24 o 24|12 palabras",
                "semilla",
            ],
        ),
        (PrivateKey, &["clave|claves|llave|llaves privada|privadas"]),
        (MaybePrivateKey, &["clave|llave secreta", "archivo keystore"]),
        (
            CardNumber,
            &[
                "número|numero|números|n|no|nº|num|núm de|en la|tu|su? tarjeta|tarjetas|plástico bancaria|crédito|débito?",
                "número|numero tarjeta",
                "tarjeta de crédito|débito|pago|o|y crédito|débito?",
                "tarjeta bancaria",
                "16 dígitos de? la? tarjeta?",
            ],
        ),
        (
            CardCode,
            &[
                "código|codigo|clave|número de|cvv|cvc seguridad|verificación tarjeta?",
                "código|codigo cvv|cvc|cvv2",
                "código de seguridad|verificación de la|tu|su tarjeta",
                "3|tres dígitos del|al|en el? reverso|dorso",
                "código del|al|en el? reverso|dorso|tres",
            ],
        ),
        (
            CardExpiry,
            &[
                "fecha de|del vencimiento|caducidad|expiración",
                "vencimiento|caducidad|expira|vence|caduca",
                "válida|valido hasta",
            ],
        ),
        (
            CardHolder,
            &[
                "titular de|del? la? tarjeta?",
                "nombre en|del|de la|el? tarjeta|titular",
                "nombre como aparece",
            ],
        ),
        (Password, &["contraseña|contraseñas|contrasena", "clave de acceso|ingreso", "palabra clave"]),
    ],
    no_things: &[
        // A PIN.
        "código|clave|número pin",
        "pin de|del la|tu? tarjeta|cajero",
        "clave de cajero",
        "clave internet|dinámica",
        "clave|llave pública|api|wifi|foránea|primaria",
        "tarjeta|número de? tarjeta? de la? biblioteca|regalo|fidelidad|socio|estudiante|identidad|lector|embarque|visita|puntos|residencia|memoria|sanitaria|transporte",
        "número de la? tarjeta de la? biblioteca|regalo|fidelidad|socio|estudiante|identidad|lector|sanitaria",
        "tarjeta sanitaria|sim|gráfica|roja|amarilla",
        "en|máximo|hasta|mínimo 12|24 palabras",
        "frase del|célebre día",
        "palabra clave",
        "código postal",
        "número de la? seguridad social",
        "código de seguridad de|en|por|que la? imagen|sms|correo|enviamos|captcha|letras",
    ],
    roles: &[
        (
            role::GIVE,
            &[
                "introduce|introduzca|introducir|ingresa|ingrese|ingresar|escribe|escriba|escribir|pega|pegue|pegar|inserta|inserte|insertar|proporciona|proporcione|proporcionar|teclea|teclee|digite|digita|importa|importe|importar|restaura|restaure|restaurar|recupera|recupere|recuperar|confirma|confirme|confirmar|verifica|verifique|verificar|valida|valide|validar|envía|envíe|comparte|comparta|compartir|facilita|facilite|indica|indique|rellena|rellene|completa|complete|sube|suba|usa|use|dame|danos|accede|acceder|conecta|conecte|desbloquea|desbloquee|sincroniza|ponga|pon|introduciendo|coloque|coloca|inicia|inicie",
                "iniciar|inicia|inicie sesión",
            ],
        ),
        (
            role::NOTHING,
            &[
                "no olvides|olvide|dudes|dude|solo",
                "no te|se preocupes|preocupe",
                "para acceder|recuperar|restaurar",
            ],
        ),
        (
            role::NO,
            &["nunca|jamás|nadie|ningún|ninguna|ninguno|sin|evita|evite|no|tampoco|ni", "en lugar de"],
        ),
        (role::NO_LAST, &["nunca|jamás", "con|a nadie", "no se|es|será"]),
        (
            role::QUESTION,
            &[
                "por qué",
                "cuál|cuáles|cómo|cuánto|cuántos|cuántas|dónde|cuándo|quién|quiénes",
                "qué es|son|significa|pasa|hacer|hago|ocurre",
                "tienes|tiene|has|olvidaste|olvidó|perdiste|perdió|sabes ya? una|tu|su|la",
                "para qué",
                "sabes qué|cómo",
            ],
        ),
        (
            role::OTHER,
            &[
                "estafador*|phishing|hacker*|atacante*|delincuente*|ladron*|ciberdelincuente*|fraude|estafa*|falso|falsa|falsos|falsas|víctima*|alguien|quien|cualquiera|impostor*",
                "pide|piden|pida|pidan|pedirá|pedirán|solicita|solicitan|solicitará|solicite|exige|pedir|pedirte|pediremos|pedimos|solicitaremos|pidiendo",
                "te|le|les pide|piden|pedirá|pedirán",
                "un|los|estos|sitios|páginas sitio|sitios|página|web que",
            ],
        ),
        (
            role::TALK,
            &[
                "sobre|acerca|guía|guías|tutorial|artículo|artículos|consejos|introducción|glosario|pregunta|preguntas|aprender|aprende|entender|significado|diferencia|historia|olvidé|olvidado|olvidada|olvidaste|olvidó|perdí|perdido|perdida|perdiste|perder|ejemplos|explicado|explicada|definición|boletín|importancia|porque|básicos|respecto|llamada|llamado|trata",
                "todo lo que",
                "de forma segura",
            ],
        ),
        (
            role::KEEP,
            &[
                "guarda|guarde|guardar|guardado|guardo|conserva|conserve|conservar|almacena|almacene|almacenar|almacenamos|protege|proteja|proteger|anota|anote|anotar|apunta|apunte|muestra|mostrar|revelar|ver|crea|cree|crear|genera|genere|generar|generada|descarga|descargar|exportar|exporta|copiar|copia|esconder|ocultar|eliminar|cambiar|restablecer|recibe|recibir|obtener|nueva|nuevo|elegir|memorizar|cifrada|cifrar|contiene|respalda|gestionar|mantén|mantenga|mantener",
            ],
        ),
        (role::TAIL, &["explicada|explicado|olvidada|olvidado|perdida|generador|segura|generada|cifrada"]),
        (
            role::FILLER,
            &[
                "tu|tus|su|sus|mi|mis|la|el|los|las|una|un|aquí|abajo|debajo|siguiente|continuación|campo|obligatorio|obligatoria|requerido|requerida|opcional|palabra|palabras|dígitos|caracteres|separadas|espacio|espacios|completa|secreta|secreto|billetera|monedero|cartera|cuenta|tarjeta|crédito|débito|exacto|orden|número|reverso|dorso|actual|ej|ejemplo|original|válida",
                "por ejemplo",
                "es obligatorio|obligatoria",
            ],
        ),
        (role::LINK, &["de|del|para|con|en|por|a|al|desde|mediante|usando|utilizando"]),
        (role::AND, &["y|o|e|u"]),
        (
            role::IT,
            &[
                "la|lo|los|las|ella|aquí|abajo",
                "introdúcela|ingrésala|escríbela|introdúzcala|ingrésela|pégala",
            ],
        ),
        (role::SUBJECT, &["usted|ellos|ellas|usuarios|yo|nosotros"]),
        (role::NOTHING, &["se requiere|necesita", "usted debe|tiene"]),
        (role::PLEASE, &["por favor", "debes|debe|favor", "es necesario"]),
        (role::INQUIRE, &["cuál es tu|su"]),
        (role::IF, &["si"]),
        (role::THREAT, &["suspendida|bloqueada|eliminada|perderá|perderás|cerrada|desactivada|suspendido"]),
        (role::ONLY, &["solo|únicamente|nunca|solamente"]),
    ],
    hints: &[
        (Hint::Wallet, &["billetera|monedero|criptomoneda|criptomonedas|cripto|criptomonedero"]),
        (Hint::NumberedWord, &["palabra|palabras"]),
        (Hint::Search, &["buscar|busca|búsqueda|buscador|encuentra|filtrar"]),
        (
            Hint::OtherValue,
            &[
                "correo|nombre|apellido|apellidos|usuario|comentario|comentarios|mensaje|teléfono|celular|móvil|monto|importe|cantidad|respuesta|dirección|calle|ciudad|país|empresa|asunto|nacimiento|fecha|reseña|opinión|dni|provincia|factura",
                "código postal|promocional|sms|de",
            ],
        ),
        (
            Hint::SignIn,
            &[
                "entrar|acceder|ingresar|continuar|desbloquear|enviar|siguiente|verificar|confirmar|restaurar|recuperar|validar|conectar",
                "iniciar|inicia|inicie sesión",
            ],
        ),
        (
            Hint::MakesPasswords,
            &["generar|generador|fortaleza|aleatoria|aleatorio|longitud|robustez", "contraseña segura"],
        ),
        (
            Hint::OtherCard,
            &[
                "tarjeta de la? biblioteca|regalo|fidelidad|socio|estudiante|identidad|lector|embarque|visita|puntos|transporte",
                "tarjeta sanitaria|sim|gráfica",
                "carné|carnet|biblioteca",
            ],
        ),
        (
            Hint::Talk,
            &[
                "qué es|son|significa",
                "por qué",
                "cómo|guía|tutorial|artículo|explicado|glosario|publicado|comentarios|leer|consejos",
                "preguntas frecuentes",
            ],
        ),
        (
            Hint::Quiz,
            &[
                "examen|cuestionario|crucigrama|ejercicio|ejercicios|trivia|adivinanza",
                "verdadero o falso",
                "sopa de letras",
            ],
        ),
    ],
    lures: &[
        (
            "bank",
            &[
                "bancaria|bancario|bancolombia|bbva|bancomer|banamex|banorte|caixabank|bankinter|bancoestado|banesco|interbank",
                "banco de chile|bogotá|crédito|españa|occidente|sabadell|venezuela|oriente|galicia|nación",
                "banca en? línea|móvil|electrónica|digital|online|personal|internet|particulares",
                "banco en línea|móvil|digital|online|central|popular|nacional|santander|azteca",
                "tu|su|mi cuenta del|de banco",
                "clientes del banco",
            ],
        ),
        (
            "wallet",
            &[
                "billetera|monedero digital|virtual|cripto|electrónico|electrónica",
                "conecta|conecte|desbloquea|restaura|conectar tu|su|la billetera|monedero|cartera",
            ],
        ),
        (
            "verify your",
            &[
                "verifica|verifique|confirma|confirme|valida|valide|actualiza|actualice tu|tus|su|sus cuenta|identidad|datos|información|acceso|pago",
                "verifica|verifique|verificar tu|tus|su|sus",
            ],
        ),
        (
            "account suspended",
            &[
                "cuenta|acceso ha|está|fue|será sido? temporalmente? suspendida|bloqueada|limitada|restringida|desactivada|suspendido|bloqueado|cerrada",
                "actividad|actividades|inicio inusual|inusuales|sospechosa|sospechosas",
                "reactiva|desbloquea|reactive|desbloquee tu|su cuenta",
            ],
        ),
    ],
    possible_lures: &[],
    no_lures: &[
        "banco|bancos de sangre|alimentos|imágenes|datos|semillas|peces|tiempo|preguntas|arena|trabajo|pruebas|madera|jardín|esperma|niebla|pesas|abdominales|carpintero|talentos|piedra|niebla",
        "banco|bancos del|en parque|jardín|río",
        "tarjeta|tarjetas|transferencia|transferencias bancaria|bancarias",
        "iniciar|inicia|inicie|continuar|continúa|regístrate|acceder|entrar sesión? con google|apple|microsoft|paypal",
        "con|por|vía google|apple|microsoft|paypal",
        "cartera de cuero|piel|clientes|mano",
        "monedero de cuero|piel",
    ],
};
