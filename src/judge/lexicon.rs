//! Words that say the same, words that say the opposite, and words that turn a sentence round. English only.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use crate::text::Cutter;

#[cfg(test)]
#[path = "lexicon_tests.rs"]
mod tests;

/// Each line is one meaning in the talk of people who work on code. The first word stands for all.
const ALIKE: &str = "\
    directory folder dir directories folders subdirectory subfolder
    delete remove erase rm drop discard purge unlink
    display print show list output echo dump view
    find search locate look lookup seek
    begin start launch boot spawn initiate
    run execute invoke
    end stop halt terminate kill quit
    break fail crash die failure fault failing breakage
    hang freeze stall stuck
    make create generate produce build
    change modify edit alter amend update adjust
    repair fix mend resolve correct
    need require demand necessary want depend rely
    use utilise utilize employ
    check verify validate ensure confirm assert
    big large huge great long
    small little tiny short
    fast quick rapid
    slow sluggish
    error exception
    argument parameter param arg option
    suite tests test spec
    configuration config settings setting configure cfg
    database db
    repository repo
    environment env
    variable var
    dependency dependencies deps dep
    package module library lib
    credential password secret token
    commit checkin
    branch fork
    combine merge join unite concatenate concat
    split shard partition divide chunk
    copy duplicate clone replicate
    move relocate transfer
    rename retitle
    compress archive zip pack gzip
    extract unpack decompress unzip untar
    sort order arrange rank
    count number total amount
    line row
    column field
    text string
    word term
    match equal correspond
    contain include hold
    exclude omit skip ignore
    replace substitute swap
    save store write persist
    read load open
    fetch download retrieve pull
    send push upload publish
    wait sleep pause block
    retry repeat rerun again
    cache memoize
    clean clear wipe flush empty reset
    permission permissions access mode
    owner user
    process task job
    machine host computer server
    connect connection attach
    connection socket
    request query call
    answer response reply
    message notification msg
    function method routine procedure
    type kind sort
    class struct
    value
    default standard
    recent latest newest last
    old stale outdated obsolete
    new fresh
    current present actual
    parallel concurrent simultaneous
    serial sequential
    lock mutex
    migration migrate
    deploy release ship rollout
    prefer favor favour
    avoid refrain
    forbid prohibit disallow ban
    allow permit let
    enable activate
    disable deactivate
    raise increase bump enlarge extend
    lower decrease reduce shrink
    limit cap maximum max
    minimum min least
    timeout deadline
    flaky unstable intermittent unreliable nondeterministic
    whole entire full complete
    part portion piece
    separate apart individual
    recursive recursively
    hidden invisible
    executable binary program
    picture image photo
    document doc documentation
    command cmd
    container docker
    pipeline ci workflow
    lint linter
    format formatter reformat
    review inspect examine audit
    explain describe
    happen occur
    keep retain preserve
    cause reason because
    problem issue trouble bug
    memory ram
    kubernetes k8s
    postgres postgresql psql
    javascript js
    typescript ts
    python py
    production prod
    staging stage
    directory
    pr pullrequest
    man guy
    woman lady
    child kid
    talk speak chat
    say tell state announce report
    buy purchase acquire
    rise climb grow gain
    fall sink slip decline
    company firm corporation
    dead death killed
    percent pct
    million mln";

/// Words that people use for many things, besides those above: what is not among them is a name of something.
const ORDINARY: &str = "\
    able accept account across act active actual add address affect ago agree ahead alive almost alone already although \
    annoy another anything anyway appear apply appropriate ask assume attempt automatic available away back bad base \
    basic beforehand behave behaviour behind believe belong below beside best better beyond bit blame both bring broad \
    broken burn busy carry case catch certain chance choose circumstance close code collect come common compare \
    complain concern condition consider consist constant continue contrary cost cover crucial cut data day deal decide \
    declare deep depend describe detail determine develop differ different difficult direct do doubt down due during \
    early easy effect effort enough entry especially even event everybody everyone everything exact example except \
    exist expect experience extra face fact familiar far feature feel few figure fill final fine finish first fit five \
    follow forget form former forth forward four free frequent further future general gentle get give go gone good \
    got group guess half hand handle handy hard hardly help high hint hit hour hundred idea immediate important \
    improve indeed inform inside insist instead intend item job join keep key know known later lead learn leave left \
    less level life like likely live local longer loose lose lost lot low main maintain manage manual many mark matter \
    mean meanwhile mention mere middle mind minute miss mistake moment month morning mostly mount much name near \
    nearly neat never next nice night none normal note nothing notice obvious odd often ok okay ones otherwise outside \
    overall pass past pay people perhaps person pick place plain plan please plus point possible prepare pretty prevent \
    previous prior private probably proceed project proper prove provide public purpose put quarter question quite rare \
    rather reach real realize really refuse regard regular relate remain remember resort rest result return right risk \
    rough round rule safe same second section see seem select sense serious serve set several severe shall share side \
    silent similar simple simply since single sit situation six slight so-called someone something sometimes somewhat \
    somewhere soon source special specific spend stand stay step stick still straight strange strict strong stuff such \
    sudden suffer suffice sure surprise switch take team ten tend thing think third thorough though thousand three \
    throughout throw tick time time-consuming today together tomorrow tool top touch toward track treat trigger true \
    trust try turn twice two under understand unless unlike unnecessary unusual useful usual various version via visible \
    walk warn watch way week weight well whatever whenever whereas wherever whether wide within without wonder work \
    world worry worse worst worth wrong year yesterday yet yield zero pls w/ till until come came goes went take took \
    made done saw seen said says told kept left lost found gave given knew known ran written wrote broke fell grew held \
    thought brought bought caught taught spent sent meant met paid put read rose sat shown spoke stood understood won \
    agent lesson warning warns complains succeed success successful pass passes pick picks expects otherwise else";

/// Words on the two sides turn a lesson into its opposite: one side stands in the one lesson, the other in the other.
const OPPOSITE: &[(&str, &str)] = &[
    ("always", "never"),
    ("before prior", "after afterwards"),
    ("enable enabled enables enabling", "disable disabled disables disabling off"),
    ("on", "off"),
    ("with", "without"),
    ("allow allowed allows", "forbid forbidden forbids banned"),
    ("start", "stop"),
    ("add keep keeps", "remove removed delete deleted drop dropped"),
    ("into", "out"),
    ("increase raise raised", "decrease reduce lower lowered"),
    ("upgrade upgraded", "downgrade downgraded pin pinned"),
    ("true", "false"),
    ("required mandatory", "optional"),
    ("safe", "unsafe dangerous harmful"),
    ("sync synchronous", "async asynchronous"),
    ("parallel concurrently", "serial serially sequential sequentially"),
    ("first", "last second"),
    ("more", "less fewer"),
    ("above", "below"),
    ("inside", "outside"),
    ("merge squash", "rebase"),
    ("lock", "unlock"),
    ("include includes", "exclude excludes"),
    ("ascending", "descending"),
    ("lowercase", "uppercase"),
    ("public", "private"),
    ("global globally", "local locally"),
    ("prefer", "avoid"),
    ("tabs", "spaces"),
    ("works fine", "fails broken"),
    ("minimum", "maximum"),
    ("oldest", "newest"),
    ("weekly", "daily monthly nightly"),
    ("single", "double"),
    ("mock mocks mocked", "real"),
    ("any", "only"),
    ("automatically automatic", "manually manual hand"),
];

/// Words that turn round what follows them.
const TURNING: &[&str] = &[
    "aint",
    "arent",
    "avoid",
    "banned",
    "cannot",
    "cant",
    "deprecated",
    "disable",
    "doesnt",
    "dont",
    "forbid",
    "forbidden",
    "harmful",
    "instead of",
    "isnt",
    "mustnt",
    "neither",
    "never",
    "no",
    "nor",
    "not",
    "nothing",
    "rather than",
    "refrain",
    "shouldnt",
    "skip",
    "stop",
    "unlike",
    "unnecessary",
    "wasnt",
    "without",
    "wont",
];

/// Words by which the newer of two lessons says that things are no longer as they were.
const CHANGED: &[&str] = &[
    "any more",
    "anymore",
    "being removed",
    "by now",
    "gone",
    "harmful",
    "has become",
    "have become",
    "is deprecated",
    "moved to",
    "no longer",
    "nowadays",
    "obsolete",
    "raised to",
    "replaced by",
    "reverted",
    "switched to",
    "was moved",
    "was removed",
    "were moved",
    "were removed",
];

/// Numbers that are written as words.
const NUMBERS: &[(&str, &str)] = &[
    ("one", "1"),
    ("once", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("twice", "2"),
    ("half", "0.5"),
];

/// Words that bear a "not".
const BEARING: &[&str] = &[
    "are", "be", "can", "could", "did", "do", "does", "had", "has", "have", "is", "may", "must", "should", "was",
    "were", "will", "would",
];

static MEANINGS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let mut cutter = Cutter::default();
    let mut meanings = HashMap::new();
    for line in ALIKE.lines() {
        let stems: Vec<String> = line.split_whitespace().flat_map(|word| cutter.words(word)).collect();
        if let Some(first) = stems.first() {
            for stem in &stems {
                meanings.entry(stem.clone()).or_insert_with(|| first.clone());
            }
        }
    }
    meanings
});

static ORDINARY_STEMS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| Cutter::default().words(ORDINARY).into_iter().collect());

/// The one word that stands for all that say the same as this stem.
pub(super) fn meaning(stem: String) -> String {
    MEANINGS.get(&stem).cloned().unwrap_or(stem)
}

/// Whether a stem is a word that people use for many things.
pub(super) fn is_ordinary(stem: &str) -> bool {
    MEANINGS.contains_key(stem) || ORDINARY_STEMS.contains(stem)
}

/// Whether a text says that things are no longer as they were.
pub(super) fn tells_of_change(text: &str) -> bool {
    let text = format!(" {} ", text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " "));
    CHANGED.iter().any(|words| text.contains(&format!(" {words} ")))
}

/// Whether a word turns round what follows it.
pub(super) fn turns(word: &str) -> bool {
    TURNING.binary_search(&word).is_ok()
}

/// Whether the words of one lesson and those of another hold opposites, neither of them both.
pub(super) fn opposed(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let has = |set: &BTreeSet<String>, words: &str| words.split(' ').any(|word| set.contains(word));
    OPPOSITE.iter().any(|&(left, right)| {
        let (a, b) = ((has(one, left), has(one, right)), (has(other, left), has(other, right)));
        matches!((a, b), ((true, false), (false, true)) | ((false, true), (true, false)))
    })
}

/// Whether a word bears a "not": what stands before it in the clause is turned round as well.
pub(super) fn bears(word: &str) -> bool {
    BEARING.binary_search(&word).is_ok()
}

/// The number that a word is.
pub(super) fn number(word: &str) -> Option<&'static str> {
    NUMBERS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number)
}
