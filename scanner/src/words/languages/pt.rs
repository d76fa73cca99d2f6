//! Portuguese. `no` is a preposition here and a negation elsewhere, so its commonest uses stand among the words that are nothing.

use super::super::Hint;
use super::super::Thing::*;
use super::super::lexicon::role;
use super::Language;

pub(super) const PORTUGUESE: Language = Language {
    things: &[
        (
            SeedPhrase,
            &[
                "frase|frases secreta|secretas|semente? de recuperação|backup|segurança|restauração secreta?",
                "frase|frases semente|seed|sementes",
                "frase de|com 12|24|doze palavras",
                "palavras semente",
                "palavras de recuperação|backup",
                "12|24|doze palavras de|da|secretas recuperação|backup|sua|carteira?",
                "seed da|de carteira",
            ],
        ),
        (
            MaybeSeedPhrase,
            &[
                "frase|frases|palavras mnemônica|mnemónica|secreta|mnemónicas|secretas",
                "12|24|doze|vinte palavras",
                "12|24 ou 24|12 palavras",
                "semente",
            ],
        ),
        (PrivateKey, &["chave|chaves privada|privadas"]),
        (MaybePrivateKey, &["chave secreta", "arquivo keystore"]),
        (
            CardNumber,
            &[
                "número|numero|n|no|num|números do|de|no|seu cartão|cartao|cartões de? crédito|débito?",
                "número|numero cartão|cartao",
                "cartão|cartao de|ou crédito|débito",
            ],
        ),
        (
            CardCode,
            &[
                "código|codigo|cód de|do segurança|verificação|cvv|cvc|cartão cartão?",
                "código|codigo cvv|cvc|cvv2",
                "código de segurança do cartão",
                "3|três últimos? dígitos no|do|atrás do? verso?",
                "código no verso",
            ],
        ),
        (
            CardExpiry,
            &["data|mês de validade|vencimento|expiração", "validade", "válido até", "vencimento do cartão"],
        ),
        (
            CardHolder,
            &["titular do|de? cartão?", "nome no|do|impresso no? cartão|titular", "nome como está no cartão"],
        ),
        (Password, &["senha|senhas", "palavra passe", "palavras passe"]),
    ],
    no_things: &[
        // A PIN.
        "código|senha pin",
        "senha do cartão|banco",
        "pin do cartão",
        "senha de 4|6 dígitos",
        "chave pública|pix|api|estrangeira",
        "cartão|número do? cartão? da|de|do biblioteca|presente|fidelidade|sócio|estudante|sus|cidadão|embarque|visita|visitas|leitor|vacina",
        "número do cartão da|de|do biblioteca|presente|fidelidade|sócio|estudante|sus|cidadão|leitor",
        "cartão presente|sim|postal|vermelho|amarelo",
        "em|até|máximo|mínimo 12|24 palavras",
        "frase do dia",
        "palavra|palavras chave",
        "código de segurança da|na|por|que imagem|sms|email|enviamos|captcha|letras",
    ],
    roles: &[
        (
            role::GIVE,
            &[
                "digite|digitar|insira|inserir|introduza|introduzir|informe|informar|cole|colar|escreva|escrever|preencha|preencher|forneça|fornecer|importe|importar|restaure|restaurar|recupere|recuperar|confirme|confirmar|verifique|verificar|valide|validar|envie|enviar|compartilhe|compartilhar|partilhe|partilhar|indique|coloque|colocar|use|acesse|conecte|desbloqueie|sincronize|passe|diga|submeta|adicione|entre",
            ],
        ),
        (
            role::NOTHING,
            &["não esqueça|hesite|deixe|só|apenas de?", "não se preocupe|esqueça de?", "entre com|em"],
        ),
        (role::NO, &["não|nunca|jamais|ninguém|nenhum|nenhuma|sem|evite|nem", "em vez de"]),
        (role::NO_LAST, &["nunca|jamais", "com|a|para ninguém", "não é|será"]),
        (
            role::QUESTION,
            &[
                "por que",
                "qual|quais|como|quanto|quantas|quantos|onde|quando|quem|porque|porquê",
                "o que é|são|significa|fazer|acontece",
                "tem|você|esqueceu|perdeu já? uma|a|sua|tem",
                "para que",
            ],
        ),
        (
            role::OTHER,
            &[
                "golpista*|hacker*|atacante*|criminos*|ladr*|burlão|burlões|phishing|falso|falsa|falsos|falsas|golpe*|vítima*|alguém|quem|fraudador*|fraude*",
                "pede|pedem|peça|peçam|pedirá|pedirão|pedir|pediremos|pedimos|solicita|solicitam|solicitará|solicitar|solicitaremos|exige|pedindo",
                "um|os|esses|sites site|sites que",
            ],
        ),
        (
            role::TALK,
            &[
                "sobre|acerca|guia|tutorial|artigo|artigos|dicas|introdução|glossário|pergunta|perguntas|dúvida|dúvidas|aprenda|aprender|entender|entenda|significado|diferença|história|esqueci|esqueceu|perdi|perdeu|perdida|perder|exemplos|explicada|explicado|definição|newsletter|boletim|importância|conceitos|chamada",
                "tudo o que",
                "com segurança",
            ],
        ),
        (
            role::KEEP,
            &[
                "guarde|guardar|guardei|conserve|armazene|armazenar|armazenamos|proteja|proteger|anote|anotar|anotei|mostre|mostrar|revelar|ver|crie|criar|gere|gerar|gerada|baixe|baixar|exportar|exporte|copiar|copie|esconder|ocultar|apagar|mudar|alterar|redefinir|receber|receba|obter|nova|novo|escolher|memorizar|criptografar|criptografada|contém|mantenha|manter|gerenciar|salvar|salve",
            ],
        ),
        (role::TAIL, &["explicada|explicado|esquecida|perdida|gerador|segura|gerada"]),
        (
            role::FILLER,
            &[
                "sua|seu|suas|seus|minha|meu|tua|teu|a|o|os|as|uma|um|aqui|abaixo|seguinte|campo|obrigatório|obrigatória|opcional|palavra|palavras|dígitos|caracteres|separadas|espaço|espaços|completa|secreta|secreto|carteira|conta|cartão|crédito|débito|exata|ordem|número|verso|atual|ex|exemplo|correta|válida",
                "por exemplo",
                "é obrigatório|obrigatória",
            ],
        ),
        (
            role::FILLER,
            &["no campo|formulário|espaço|seu|app|aplicativo|celular|cartão|verso|site|final|quadro|momento"],
        ),
        (role::LINK, &["de|da|do|das|dos|para|com|em|no|na|nos|nas|por|ao|à|via|usando|através"]),
        (role::AND, &["e|ou"]),
        (role::IT, &["la|lo|ela|aqui|abaixo"]),
        (role::SUBJECT, &["você|eles|elas|usuários|utilizadores|eu|nós"]),
        (role::NOTHING, &["você deve|precisa"]),
        (role::PLEASE, &["por favor", "deve|favor", "é necessário"]),
        (role::INQUIRE, &["qual é? a? sua|o seu"]),
        (role::IF, &["se|caso"]),
        (role::THREAT, &["suspensa|bloqueada|excluída|perderá|encerrada|desativada"]),
        (role::ONLY, &["apenas|somente|só|nunca"]),
    ],
    hints: &[
        (Hint::Wallet, &["criptomoeda|criptomoedas|cripto|criptoativos", "carteira digital|cripto|bitcoin"]),
        (Hint::NumberedWord, &["palavra|palavras"]),
        (Hint::Search, &["pesquisar|pesquisa|buscar|busca|procurar|encontrar|filtrar"]),
        (
            Hint::OtherValue,
            &[
                "nome|sobrenome|apelido|usuário|utilizador|comentário|comentários|mensagem|telefone|celular|telemóvel|valor|montante|pergunta|resposta|endereço|morada|rua|cidade|país|empresa|assunto|nascimento|data|quantidade|avaliação|cpf|cnpj|nif|cep|bairro|fatura",
                "código postal|promocional|sms|de",
                "correio eletrónico",
            ],
        ),
        (
            Hint::SignIn,
            &[
                "entrar|acessar|aceder|continuar|desbloquear|enviar|avançar|próximo|seguinte|verificar|confirmar|restaurar|recuperar|validar|conectar",
                "iniciar sessão",
                "fazer login",
            ],
        ),
        (Hint::MakesPasswords, &["gerar|gerador|aleatória|comprimento|tamanho", "força da", "senha forte"]),
        (
            Hint::OtherCard,
            &[
                "cartão da|de|do biblioteca|presente|fidelidade|sócio|estudante|sus|cidadão|embarque|visita|leitor",
                "cartão presente|sim|postal",
                "carteirinha|biblioteca",
            ],
        ),
        (
            Hint::Talk,
            &[
                "o que é|são",
                "por que",
                "como|guia|tutorial|artigo|explicado|glossário|publicado|comentários|dicas|leia",
                "perguntas frequentes",
            ],
        ),
        (
            Hint::Quiz,
            &[
                "questionário|exercício|exercícios|prova|adivinha",
                "palavras cruzadas",
                "verdadeiro ou falso",
                "caça palavras",
            ],
        ),
    ],
    lures: &[
        (
            "bank",
            &[
                "bancária|bancário|bradesco|itaú|nubank|santander|millenniumbcp",
                "caixa econômica",
                "banco do|da|de brasil|amazônia|nordeste|portugal",
                "banco online|digital|central|popular|santander|inter|original|pan|safra|bradesco",
                "internet|mobile banking",
                "dispositivo|cadastro|acesso|conta|clientes do|no|ao seu? banco",
            ],
        ),
        (
            "wallet",
            &[
                "carteira digital|virtual|cripto",
                "conecte|desbloqueie|restaure|conectar|desbloquear sua|a|tua carteira",
            ],
        ),
        (
            "verify your",
            &[
                "verifique|confirme|valide|atualize a? sua|seu|suas|seus|tua conta|identidade|dados|informações|acesso|pagamento|cadastro",
                "verifique|verificar a|o|os|as? sua|seu|suas|seus",
            ],
        ),
        (
            "account suspended",
            &[
                "conta|acesso foi|está|será sido? temporariamente? suspensa|suspenso|bloqueada|bloqueado|limitada|restrita|desativada|encerrada",
                "atividade|atividades|acesso|login incomum|incomuns|suspeita|suspeitas|suspeito",
                "reative|desbloqueie a? sua conta",
            ],
        ),
    ],
    possible_lures: &[],
    no_lures: &[
        "banco|bancos de sangue|alimentos|imagens|dados|sementes|tempo|questões|areia|horas|praça|jardim|talentos|reserva|supino|madeira|leite",
        "banco|bancos do|da|na|no praça|jardim|parque|rio|carro",
        "transferência|transferências bancária|bancárias",
        "boleto bancário",
        "entrar|continuar|iniciar|cadastre|faça login|sessão? com o? google|apple|microsoft|paypal",
        "com|por|via o? google|apple|microsoft|paypal",
        "carteira de couro|trabalho|motorista|identidade",
    ],
};
