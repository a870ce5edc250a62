//! From a name as a person writes it to an id.

use quadcast_core::Names;

/// How many similar names an error offers.
const SUGGESTIONS: usize = 3;

/// The id of a name; `kind` says what it names, and an unknown one comes back with the nearest.
pub fn lookup(names: &Names, name: &str, kind: &str) -> Result<u32, String> {
    names.find(name).ok_or_else(|| {
        let wanted = name.to_lowercase();
        let mut near: Vec<(f64, &str)> = names
            .iter()
            .map(|(_, known)| (strsim::jaro_winkler(&wanted, &known.to_lowercase()), known))
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        let near: Vec<String> =
            near.iter().take(SUGGESTIONS).map(|(_, known)| format!("{known:?}")).collect();
        if near.is_empty() {
            return format!("there is no {kind} {name:?}: here they have no names, only ids, from #0 on");
        }
        format!("there is no {kind} {name:?}; did you mean {}?", near.join(", "))
    })
}
