//! What English words, and words that are the same everywhere, tell of a field and its page.

use super::super::Hint;
use super::Patterns;

pub(super) const HINTS: &[(Hint, Patterns)] = &[
    (
        Hint::Wallet,
        &[
            "wallet|wallets|metamask|trezor|phantom|blockchain|crypto|cryptocurrency|cryptocurrencies|bitcoin|btc|ethereum|eth|solana|airdrop|airdrops|defi|nft|nfts|web3|dapp|dapps|walletconnect|myetherwallet|mew|coinbase|binance|uniswap|pancakeswap|opensea|cardano|dogecoin|litecoin|tron|usdt|usdc|tether|stablecoin|bip39|keplr|electrum|rabby|token|tokens|staking|monero|ripple|xrp|polkadot|polygon|avalanche|bnb|altcoin|onchain|ledgers|exodus|tonkeeper|solflare|coin|coins|satoshi|satoshis",
            "trust|exodus|atomic|hardware|hot|cold wallet",
            "tvl|unstake|restake|mainnet|presale|multisig|onchain|hodl",
            "your|my|rectify|claim|restore stake|staked",
            "validator set|node",
            "cold storage",
            "liquidity pool|pools",
            "gas fee|fees",
            "ledger live|nano|device|wallet",
            "ledger",
        ],
    ),
    (Hint::PlainAsk, &["your? answer|response|reply|text|value|input here?"]),
    (Hint::NumberedWord, &["word|w|n|no|number|seed|phrase|mnemonic|seedword|recovery|key|input|secret"]),
    (Hint::Search, &["search|searching|find|filter|lookup|look|query|explore|browse|q"]),
    (
        Hint::OtherValue,
        &[
            "email|mail|emails|name|names|firstname|lastname|surname|username|nickname|user|comment|comments|message|messages|phone|telephone|mobile|tel|amount|question|questions|feedback|url|link|website|date|birthday|birth|address|street|city|zip|postcode|postal|postcode|country|state|company|subject|title|answer|answers|review|note|notes|description|quantity|qty|age|otp|captcha|coupon|promo|voucher|newsletter|subscribe|order|invoice|title|topic|reply|opinion|thoughts|suggestion|bio|story|caption|hashtag|tag|tags|public|handle|price|budget|hours|guess|score|recipe|ingredient|notes|todo|task|language|iban|bic|routing|swift",
            "e mail",
            "zip|postal|promo|coupon|discount|invite|invitation|referral|sms|verification|confirmation|auth|authenticator|2fa|backup|login|access|booking|tracking|activation|dial|country|area code|codes",
            "one time|6 digit|six digit code|password|passcode|pin?",
            "wallet|public|bitcoin|btc|ethereum|eth|receiving|shipping|billing|recipient|destination|ip|contract|donation address",
            "public key",
            "library|student|member|membership|loyalty|gift|order|account|reference|invoice|customer|employee|phone|serial|tracking card? number|id|no",
            "api|license|product key",
        ],
    ),
    (
        Hint::SignIn,
        &[
            "sign|log in|on|into",
            "signin|login|logon|continue|unlock|submit|verify|next|proceed|enter|confirm|validate|authenticate|connect|access|restore|import|recover|go|send|ok|activate|reactivate|secure|reconnect",
        ],
    ),
    (
        Hint::MakesPasswords,
        &[
            "generate|generates|generated|generator|generating|strength|entropy|regenerate|strong|stronger|weak|crack|cracked|pwned|bcrypt|hash|uppercase|lowercase|symbols|randomly",
            "password length|strength|generator|checker|tester|meter|entropy|manager",
            "random password|passphrase",
            "copy to clipboard",
            "copy password",
            "avoid ambiguous",
            "how strong|secure|long",
        ],
    ),
    (
        Hint::OtherCard,
        &[
            "gift|library|loyalty|membership|member|student|id|identity|sim|business|punch|report|health|insurance|rewards|club|bonus|fidelity|discount|phone|calling|transit|travel|fuel|staff|employee|patron|borrower|medicare|playing|trading|tarot|flash|greeting|post|score|index|memory|graphics|sd|video|sound|wild|green|key|access|vaccination|ration|donor|place|save card|cards",
            "flashcard|flashcards|postcard|postcards|scorecard|library|voucher",
        ],
    ),
    (
        Hint::Talk,
        &[
            "what is|are|does|happens",
            "how to|does|do|many|it",
            "why|guide|explained|tutorial|faq|glossary|article|articles|blog|posts|comments|chapter|lesson|course|read|minute|definition|vs|basics|introduction|tips|myths|author|published|documentation|docs",
            "learn more|about|how",
            "frequently asked",
            "leave|post|write a|your? comment|reply",
            "never share|enter|give|type|tell",
            "beware|scam|scams|scammers|phishing|fraud",
        ],
    ),
    (
        Hint::Quiz,
        &[
            "quiz|quizzes|exam|crossword|flashcard|flashcards|trivia|worksheet|puzzle|hangman|homework|exercise|exercises|multiple",
            "true or false",
            "fill in the blank|blanks|gap|gaps",
            "question 1|2|3|4|5|6|7|8|9|10",
            "test your knowledge",
            "your score",
            "correct answer",
            "word game|scramble|search",
        ],
    ),
];
