use proptest::prelude::*;

use super::*;

/// Writes commands in a form that a table can hold: words between bars, redirections with a letter, substitutions in
/// braces, and the separator behind each command.
fn outline(commands: &[LexedCommand]) -> String {
    let describe = |command: &LexedCommand| {
        let words = command.words.iter().map(|word| match word.role {
            WordRole::Argument => word.text.clone(),
            WordRole::Input => format!("I:{}", word.text),
            WordRole::HereDocument => format!("D:{}", word.text),
            WordRole::Output => format!("O:{}", word.text),
            WordRole::ErrorOutput => format!("E:{}", word.text),
            WordRole::Duplicate => format!("J:{}", word.text),
        });
        let mut line = words.collect::<Vec<_>>().join("|");
        if !command.substituted.is_empty() {
            line.push_str(&format!(" {{{}}}", outline(&command.substituted)));
        }
        line + match command.separator {
            CommandSeparator::And => " &&",
            CommandSeparator::Or => " ||",
            CommandSeparator::Pipe => " PIPE",
            CommandSeparator::Background => " &",
            CommandSeparator::Next => " ;",
            CommandSeparator::End => "",
        }
    };
    commands.iter().map(describe).collect::<Vec<_>>().join(" ")
}

#[test]
fn hard_lines_are_split_as_a_shell_splits_them() {
    let table = [
        ("", ""),
        ("  \n ;; ", ""),
        ("a b\tc", "a|b|c"),
        ("a && b || true", "a && b || true"),
        ("a; b & c |& d", "a ; b & c PIPE d"),
        ("a |\n b &&\n c\nd", "a PIPE b && c ; d"),
        ("a;;b", "a ; b"),
        // Quotes.
        ("echo 'a | b; c' && d", "echo|a | b; c && d"),
        ("echo \"it's\" 'say \"x\"'", "echo|it's|say \"x\""),
        ("echo a'b c'd\"e f\"", "echo|ab cde f"),
        ("echo '' \"\"", "echo||"),
        ("echo \"a \\\"b\\\" \\$c \\n\"", "echo|a \"b\" $c \\n"),
        ("echo $'it\\'s' x", "echo|it's|x"),
        ("bash -lc \"cd x && y 'a b'\"", "bash|-lc|cd x && y 'a b'"),
        ("bash -c 'echo \"a\"; b' _ 1", "bash|-c|echo \"a\"; b|_|1"),
        ("zsh -c \"bash -c \\\"a && b\\\"\"", "zsh|-c|bash -c \"a && b\""),
        // Escapes.
        ("a \\\n  b", "a|b"),
        ("a\\ b \\; \\| \\\\", "a b|;|||\\"),
        ("find . -name \\*.rs -exec wc {} \\;", "find|.|-name|*.rs|-exec|wc|{}|;"),
        // Broken lines.
        ("echo 'a b", "echo|a b"),
        ("echo \"a | b", "echo|a | b"),
        ("echo a\\", "echo|a\\"),
        ("echo $(a | b", "echo|$(a | b {a PIPE b}"),
        ("echo `a", "echo|`a"),
        ("a ) b", "a ; b"),
        ("(a; b", "a ; b"),
        ("rg -n foo(bar | head", "rg|-n|foo {bar PIPE head}"),
        ("a >", "a|O:"),
        ("a <<", "a|D:"),
        ("a ${b | c", "a|${b | c"),
        // Redirections.
        ("cmd 2>&1 | tail -5", "cmd|J:1 PIPE tail|-5"),
        ("a>b 2>c 2>>d >>e >|f", "a|O:b|E:c|E:d|O:e|O:f"),
        ("a &>b; c >&d; e &>> f", "a|O:b ; c|O:d ; e|O:f"),
        ("a >&2 <&3 >&-", "a|J:2|J:3|J:-"),
        ("a < 'b c' <<< \"d\" e", "a|I:b c|I:d|e"),
        ("a2>b 12 >c", "a2|O:b|12|O:c"),
        ("a 2> >(tee e) b", "a|E:>(tee e)|b {tee|e}"),
        // Here-documents.
        ("cat > a <<'E'\nx | y; $(z)\nE\nb", "cat|O:a|D:x | y; $(z)\n ; b"),
        ("cat <<-\"END OF\" | c\n\tx\n\tEND OF\nd", "cat|D:\tx\n PIPE c ; d"),
        ("a <<X <<Y\nx\nX\ny\nY\nb", "a|D:x\n|D:y\n ; b"),
        ("a <<\\E && b\n'x\nE\nc", "a|D:'x\n && b ; c"),
        ("cat <<E\nx\ny", "cat|D:x\ny ;"),
        (
            "git commit -m \"$(cat <<'E'\nsay \"x\" (y\nE\n)\" && c",
            "git|commit|-m|$(cat <<'E'\nsay \"x\" (y\nE\n) {cat|D:say \"x\" (y\n ;} && c",
        ),
        // Groups and substitutions.
        ("(cd x && make) 2>&1 | tail", "cd|x && make|J:1 PIPE tail"),
        ("if (a; b); then c; fi", "if|a ; b ; then|c ; fi"),
        ("{ a; b; } > c", "{|a ; b ; }|O:c"),
        ("echo $(date +'%F )') x", "echo|$(date +'%F )')|x {date|+%F )}"),
        ("echo \"$(a \"b c\" | d)\" e", "echo|$(a \"b c\" | d)|e {a|b c PIPE d}"),
        ("echo '$(a)' \\$(b)", "echo|$(a)|$ {b}"),
        ("a `b \"c\"` \"`d`\"", "a|`b \"c\"`|`d` {b|c d}"),
        ("a $(b $(c)) d", "a|$(b $(c))|d {b|$(c) {c}}"),
        ("diff <(a) <(b | c)", "diff|<(a)|<(b | c) {a b PIPE c}"),
        ("echo $((1 << 2)) $((a|b))", "echo|$((1 << 2))|$((a|b))"),
        ("echo $(($(a) + 1))", "echo|$(($(a) + 1)) {$(a)|+|1 {a}}"),
        ("for ((i=0; i<3; i++)); do a; done", "for|((i=0; i<3; i++)) ; do|a ; done"),
        ("echo ${a:-b | c} ${d#*;}", "echo|${a:-b | c}|${d#*;}"),
        // The exit code of an assignment is that of the commands in it.
        ("A=$(b | c) && d", "A=$(b | c) ; b PIPE c && d"),
        ("A=\"$(b)\" B=`c`", "A=$(b)|B=`c` ; b c"),
        ("A=$(b) c", "A=$(b)|c {b}"),
        ("A=1 B='x y' c d=2", "A=1|B=x y|c|d=2"),
        // Comments.
        ("# a | b\nc # d; e\nf#g", "c ; f#g"),
        // Other shells.
        ("C:\\Users\\me\\x.exe a && .\\gradlew.bat b", "C:\\Users\\me\\x.exe|a && .\\gradlew.bat|b"),
        ("\"C:\\Program Files\\x.exe\" --v", "C:\\Program Files\\x.exe|--v"),
        ("& 'C:\\a b.ps1' -X $env:Y 2>$null", "C:\\a b.ps1|-X|$env:Y|E:$null"),
        ("Get-Item a | ? { $_.Name -like \"*.rs\" }", "Get-Item|a PIPE ?|{|$_.Name|-like|*.rs|}"),
        ("Get-Item a `\n  -Force", "Get-Item|a|` ; -Force"),
        ("cmd /c \"dir & type x\" > NUL", "cmd|/c|dir & type x|O:NUL"),
    ];
    let split = table.map(|(line, _)| (line, outline(&split_commands(line))));
    let wrong: Vec<_> = split.iter().zip(table).filter(|((_, split), (_, expected))| split != expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_word_has_its_place_in_the_line() {
    let line = "cd 'a b' 2> \"c d\" && e";
    let commands = split_commands(line);
    let places: Vec<&str> =
        commands.iter().flat_map(|one| &one.words).map(|word| line.get(word.span.clone()).unwrap()).collect();
    assert_eq!(places, ["cd", "'a b'", "2> \"c d\"", "e"]);
    let written: Vec<&str> = commands.iter().flat_map(|one| &one.words).map(|word| word.as_written(line)).collect();
    assert_eq!(written, ["cd", "a b", "c d", "e"]);
    assert_eq!(commands.iter().map(|one| line.get(one.end..).unwrap()).collect::<Vec<_>>(), [" e", ""]);
}

#[test]
fn leading_commands_are_left_out_while_another_follows() {
    let strip = |line| strip_leading_commands(line, |command| command.program() == "cd");
    for (line, rest) in [
        ("cd a && b", "b"),
        ("cd a; cd 'b && c'\nd | e", "d | e"),
        ("cd a", "cd a"),
        ("cd a && ", "cd a &&"),
        ("cd a | b", "cd a | b"),
        ("cd a && (b; c)", "(b; c)"),
        ("(cd a && b)", "(cd a && b)"),
        ("cd $(x; y) && b", "b"),
        ("", ""),
    ] {
        assert_eq!(strip(line), rest, "{line}");
    }
}

#[test]
fn programs_are_named_without_their_folder() {
    for (path, name) in
        [("/usr/bin/git", "git"), ("C:\\x\\npm.cmd", "npm"), ("a.exe", "a"), ("./mvnw", "mvnw"), ("", "")]
    {
        assert_eq!(program_name(path), name);
    }
    assert!(is_assignment("A_1=b c") && is_assignment("A=") && !is_assignment("-A=b") && !is_assignment("=b"));
}

/// Quotes a word so that any shell reads it as it is.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn any_line() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "b=c", "'", "\"", "\\", "$(", "(", ")", "`", "${", "}", "<<E", "\nE\n", "\n", " ", "|", "&", ";", "<",
        ">", "2>&1", "#", "((", "))", "$'", "é", "C:\\x", "&&", "||",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_line_is_split(line in ".{0,200}") {
        split_commands(&line);
    }

    #[test]
    fn words_are_in_order_and_in_the_line(line in any_line()) {
        for command in split_commands(&line) {
            prop_assert!(!command.words.is_empty() && command.end <= line.len());
            let mut at = 0;
            for word in &command.words {
                prop_assert!(word.span.start >= at && line.get(word.span.clone()).is_some(), "{word:?} in {line:?}");
                at = word.span.end;
            }
        }
        strip_leading_commands(&line, |_| true);
    }

    #[test]
    fn words_and_operators_cover_the_line(line in "[ab '\"$\\\\|&;<>(){}=é\n`-]{0,60}") {
        let line = line.replace("<<", "< ");
        let mut covered = vec![false; line.len()];
        let mut pending = split_commands(&line);
        while let Some(command) = pending.pop() {
            for word in &command.words {
                covered[word.span.clone()].fill(true);
            }
            pending.extend(command.substituted);
        }
        for (at, character) in line.char_indices().filter(|(at, _)| !covered[*at]) {
            let is_continued = line.get(at..).is_some_and(|rest| rest.starts_with("\\\n"));
            prop_assert!(is_continued || " \n|&;()".contains(character), "{character:?} at {at} of {line:?}");
        }
    }

    #[test]
    fn quoted_words_come_back(words in prop::collection::vec(any_line(), 1..6)) {
        let line = words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
        let commands = split_commands(&line);
        prop_assert_eq!(commands.len(), 1);
        prop_assert_eq!(&commands[0].clone().into_words(), &words);
        prop_assert!(commands[0].substituted.is_empty());
    }

    #[test]
    fn splitting_is_stable(line in any_line()) {
        let words = |commands: &[LexedCommand]| -> Vec<Vec<String>> {
            let arguments = |command: &LexedCommand| {
                let words = command.words.iter().filter(|word| word.role == WordRole::Argument);
                words.map(|word| word.text.clone()).collect::<Vec<_>>()
            };
            commands.iter().map(arguments).filter(|words| !words.is_empty()).collect()
        };
        let first = words(&split_commands(&line));
        let quoted = first.iter().map(|words| words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "));
        let again = words(&split_commands(&quoted.collect::<Vec<_>>().join(" ; ")));
        prop_assert_eq!(again, first);
    }

    #[test]
    fn deep_nesting_ends(depth in 0usize..400, opening in prop::sample::select(vec!["$(", "\"$(", "`", "(", "<(", "${", "a=$("])) {
        split_commands(&opening.repeat(depth));
    }
}
