//! Model configurations: defaults, `key=value` settings, and errors that name the remedy.

use thiserror::Error;
use toml::{Table, Value};

use crate::settings::Settings;

/// A model name or configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// A model or setting that is not there, or a text that names none.
    #[error("{0}")]
    Name(String),
    /// A value of the wrong kind or out of range.
    #[error("{0}")]
    Value(String),
}

impl ConfigError {
    /// There is no such model or setting; suggests the nearest name and lists `listed`.
    pub(crate) fn unknown(what: &str, typed: &str, nearest: Option<String>, listed: &[&str]) -> Self {
        let suggestion = nearest.map(|name| format!(" (did you mean {name:?}?)")).unwrap_or_default();
        Self::Name(format!("there is no {what} {typed:?}{suggestion}; known {what}s: {}", listed.join(", ")))
    }
}

/// The known name that is nearest to what was typed, if any is near.
pub(crate) fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    known
        .map(|name| (strsim::jaro_winkler(typed, name), name))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name.to_owned())
}

/// Reads a configuration; keys that are absent keep their defaults, unknown keys are errors.
pub(crate) fn parse<C: Settings>(table: &Table) -> Result<C, ConfigError> {
    let known = defaults::<C>();
    for key in table.keys() {
        check_key(key, &known)?;
    }
    table.clone().try_into().map_err(|error: toml::de::Error| {
        // The error does not say which key it is about: the one that also fails alone.
        let alone = |(key, value): &(&String, &Value)| {
            Table::from_iter([((*key).clone(), (*value).clone())]).try_into::<C>().is_err()
        };
        let place = table.iter().find(alone).map(|(key, value)| format!("{key} = {value}: "));
        ConfigError::Value(format!("{}{}", place.unwrap_or_default(), error.message()))
    })
}

/// Reads what changes a configuration.
pub(crate) fn change<C: Settings>(base: &C, table: &Table) -> Result<C, ConfigError> {
    let mut whole = base.table();
    whole.extend(table.clone());
    parse(&whole)
}

/// The default configuration as a table.
pub(crate) fn defaults<C: Settings>() -> Table {
    C::default().table()
}

/// Applies one `key=value` setting to a configuration. The value is read as TOML, and as plain text if it is not.
pub fn set(config: &mut Table, setting: &str) -> Result<(), ConfigError> {
    let Some((key, value)) = setting.split_once('=') else {
        let known = config.get_key_value(setting.trim()).or_else(|| config.iter().next());
        let example = known.map(|(key, value)| format!("{key}={value}")).unwrap_or_default();
        return Err(ConfigError::Name(format!(
            "{setting:?} is not a setting: write key=value, for example --set {example}"
        )));
    };
    let value = value.trim();
    let parsed = format!("value = {value}").parse::<Table>().ok().and_then(|mut table| table.remove("value"));
    set_value(config, key.trim(), parsed.unwrap_or_else(|| Value::String(value.to_owned())))
}

/// Applies a value to a configuration.
pub fn set_value(config: &mut Table, key: &str, value: Value) -> Result<(), ConfigError> {
    check_key(key, config)?;
    config.insert(key.to_owned(), value);
    Ok(())
}

fn check_key(key: &str, known: &Table) -> Result<(), ConfigError> {
    if known.contains_key(key) {
        return Ok(());
    }
    let keys: Vec<&str> = known.keys().map(String::as_str).collect();
    Err(ConfigError::unknown("setting", key, nearest(key, keys.iter().copied()), &keys))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        "lambda = 0.1\nvariant = \"strict\"".parse().expect("valid TOML")
    }

    #[test]
    fn values_are_toml_or_text() {
        let mut config = table();
        set(&mut config, "lambda = 2").expect("known key");
        set(&mut config, "variant=combined").expect("known key");
        assert_eq!(config["lambda"], Value::Integer(2));
        assert_eq!(config["variant"], Value::String("combined".into()));
    }

    #[test]
    fn unknown_keys_come_with_a_suggestion() {
        let error = set(&mut table(), "lamda=1").expect_err("a typo");
        assert_eq!(
            error.to_string(),
            "there is no setting \"lamda\" (did you mean \"lambda\"?); known settings: lambda, variant"
        );
        let error = set(&mut table(), "lambda").expect_err("no value");
        assert!(error.to_string().contains("key=value"), "{error}");
    }
}
