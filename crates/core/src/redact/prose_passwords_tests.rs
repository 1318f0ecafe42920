use crate::redact::Redactor;

/// Every `‹secret›` is removed and nothing else.
fn check(marked: &str) {
    let text = marked.replace(['‹', '›'], "");
    let found = Redactor::new().redact(&text).found;
    let secrets: Vec<&str> = found.iter().map(|finding| text.get(finding.span.clone()).unwrap_or_default()).collect();
    let expected: Vec<&str> =
        marked.split('‹').skip(1).map(|rest| rest.split('›').next().unwrap_or_default()).collect();
    assert_eq!(secrets, expected, "{marked}");
}

#[test]
fn sentences_that_give_a_password() {
    check("the password is ‹hunter2x›");
    check("the password for the staging database is ‹Tr0ub4dor›, ask me if it fails");
    check("I set the root password to ‹S3cure#Pass›.");
    check("we changed the admin password from the old one to ‹blue.horse42›");
    check("The password is \"‹correct horse battery›\" without the quotes");
    check("password is still ‹p@ssword!x› on that box");
    check("log in as bob with password ‹Kx9!mmqz›");
    check("the passphrase is ‹correct-horse-battery-staple›");
    check("your new password: ‹Welc0me2024›");
}

#[test]
fn sentences_in_other_languages() {
    check("das Passwort lautet ‹Sommer2024›");
    check("Das Kennwort für den Cache ist ‹Blau!wal7›.");
    check("Kennwort: ‹Geheim123›");
    check("ich habe das Passwort auf ‹Winter#99› geändert");
    check("le mot de passe est ‹Soleil2024›");
    check("la contraseña es ‹Verano2024›");
    check("a senha é ‹Praia2024›");
    check("het wachtwoord is ‹Fiets2024›");
    check("hasło to ‹Zima2024x›");
    check("пароль: ‹Leto2024x›");
    check("密码是‹Xia2024tian›，请保密");
    check("パスワードは‹Natsu2024x›です");
}

#[test]
fn sentences_about_passwords() {
    for text in [
        "the password is wrong",
        "the password is required and must have 8 characters",
        "the password is stored in 1password",
        "the password is base64-encoded with sha-256",
        "passwords are hashed with bcrypt2 and argon2id",
        "set the password to something you remember",
        "the password is in the file config/secrets.yml",
        "the password is read from DB_PASSWORD_FILE",
        "the password is $PASSWORD",
        "the password is {{ password }}",
        "the password is <your-password>",
        "password reset for user alice@example.com",
        "the password is an 8-character string",
        "the password was changed 3 days ago, see #1234",
        "reset password in step 2b of the runbook",
        "the password is checked by verify_password2(user)",
        "das Passwort ist falsch",
        "das Kennwort wurde nicht gesetzt",
        "das Passwort steht in der Datei",
        "the password is `null` by default",
        "test_password_is_hashed_2 passed",
        "use a password manager such as KeePass2 for that",
    ] {
        check(text);
    }
}
