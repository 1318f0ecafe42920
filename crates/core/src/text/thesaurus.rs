//! Synonyms, ordinary words, and what people type for what they talk about. English only.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use super::WordSplitter;

#[cfg(test)]
#[path = "thesaurus_tests.rs"]
mod tests;

/// The weight of a synonym, as a share of the weight of the word itself.
const ALIKE_SHARE: f64 = 0.35;
/// The weight of what is typed for a word, as a share of the weight of the word itself.
const TYPED_SHARE: f64 = 0.6;

/// Synonyms among people who work on code, one meaning per line. The first word stands for all.
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

/// Ordinary words besides those above; a word that is in neither list is the name of something.
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

/// Words with what is typed for them in a shell or as a flag.
const TYPED: &str = "\
    directory: dir mkdir cd d
    folder: dir mkdir d
    file: f
    delete: rm rmdir unlink delete
    remove: rm rmdir delete
    copy: cp rsync scp
    move: mv
    rename: mv rename
    list: ls
    print: echo printf print cat
    display: echo printf cat show
    show: echo cat ls
    count: wc uniq
    number: wc nl
    line: l
    word: w
    replace: sed tr sub
    substitute: sed
    pattern: grep regex
    search: grep find
    match: grep
    contain: grep
    locate: find
    extract: tar unzip awk cut
    compress: gzip tar zip bzip2
    archive: tar zip
    permission: chmod perm
    mode: chmod
    owner: chown user
    group: chgrp
    size: du size
    disk: df du
    usage: du df
    process: ps pid
    kill: kill pkill
    download: wget curl
    remote: ssh scp rsync
    host: ssh
    link: ln symlink
    symbolic: ln l
    symlink: ln l
    modify: mtime
    modification: mtime
    access: atime amin
    change: ctime
    minute: mmin
    day: mtime
    case: iname i
    insensitive: iname i
    recursive: r R
    column: awk cut
    field: awk cut
    reverse: tac rev r
    sort: sort
    unique: uniq u
    duplicate: uniq
    first: head
    last: tail
    difference: diff comm
    compare: diff comm cmp
    user: whoami who id
    time: date time
    variable: export env
    empty: empty
    execute: exec xargs
    depth: maxdepth mindepth
    level: maxdepth
    name: name iname
    extension: name iname
    newer: newer
    split: split
    join: join paste
    merge: paste merge
    sum: sum awk
    schedule: cron crontab
    background: nohup
    connect: ssh
    ip: ifconfig ip
    network: ifconfig ip ping
    manual: man
    type: type
    regular: f
    subdirectory: d
    image: jpg png";

static MEANINGS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let mut meanings = HashMap::new();
    for stems in synonym_groups() {
        if let Some(first) = stems.first() {
            for stem in &stems {
                meanings.entry(stem.clone()).or_insert_with(|| first.clone());
            }
        }
    }
    meanings
});

static ORDINARY_STEMS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| WordSplitter::default().split_words(ORDINARY).into_iter().collect());

static OTHERS: LazyLock<HashMap<String, Vec<(String, f64)>>> = LazyLock::new(|| {
    let mut shares: HashMap<String, HashMap<String, f64>> = HashMap::new();
    let mut note = |of: &String, other: &String, share: f64| {
        if of != other {
            let known = shares.entry(of.clone()).or_default().entry(other.clone()).or_default();
            *known = known.max(share);
        }
    };
    for stems in synonym_groups() {
        stems.iter().for_each(|of| stems.iter().for_each(|other| note(of, other, ALIKE_SHARE)));
    }
    let mut cutter = WordSplitter::default();
    for (talk, typed) in TYPED.lines().filter_map(|line| line.split_once(':')) {
        for of in cutter.split_words(talk) {
            cutter.split_words(typed).iter().for_each(|other| note(&of, other, TYPED_SHARE));
        }
    }
    let sorted = |others: HashMap<String, f64>| {
        let mut others: Vec<(String, f64)> = others.into_iter().collect();
        others.sort_by(|a, b| a.0.cmp(&b.0));
        others
    };
    shares.into_iter().map(|(of, others)| (of, sorted(others))).collect()
});

/// Returns the stems of each line of synonyms.
fn synonym_groups() -> Vec<Vec<String>> {
    let mut cutter = WordSplitter::default();
    ALIKE.lines().map(|line| line.split_whitespace().flat_map(|word| cutter.split_words(word)).collect()).collect()
}

/// Returns every synonym and ordinary word, as it is written.
pub(super) fn listed_words() -> impl Iterator<Item = &'static str> {
    ALIKE.split_whitespace().chain(ORDINARY.split_whitespace())
}

/// Returns the stem that stands for all synonyms of this one.
pub fn canonical_stem(stem: String) -> String {
    MEANINGS.get(&stem).cloned().unwrap_or(stem)
}

/// Returns true if a stem is an ordinary word or has synonyms.
pub fn is_ordinary_word(stem: &str) -> bool {
    MEANINGS.contains_key(stem) || ORDINARY_STEMS.contains(stem)
}

/// Returns true if a stem is an ordinary word of everyday language.
pub fn is_everyday_word(stem: &str) -> bool {
    ORDINARY_STEMS.contains(stem)
}

/// Returns the other stems by which a stem may be found, each with its weight.
pub fn related_stems(stem: &str) -> &'static [(String, f64)] {
    OTHERS.get(stem).map(Vec::as_slice).unwrap_or_default()
}
