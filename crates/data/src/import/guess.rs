//! Columns guessed from usual names in a header.

use super::columns::Role;

/// Usual names of a role, separated by blanks, the clearest first. Compared without case, blanks and punctuation.
const fn usual(role: Role) -> &'static str {
    match role {
        Role::Subject => {
            "subject source head actor1 sender sourcename actor1name subjectname from initiator actor subj"
        }
        Role::Relation => {
            "relation predicate event type eventtype action relationtype eventtext verb interaction relationname \
             eventcode cameocode rel"
        }
        Role::Object => {
            "object target tail actor2 receiver targetname actor2name objectname to recipient obj"
        }
        Role::Date => {
            "date time timestamp day year datetime eventdate when month hour week sqldate createdat"
        }
    }
}

/// The positions of the roles, or what is not clear.
pub(super) fn guess(header: &[String]) -> Result<[usize; 4], String> {
    let names: Vec<String> = header.iter().map(|name| plain(name)).collect();
    let mut positions = [0; 4];
    for role in Role::ALL {
        positions[role as usize] = guess_role(role, header, &names)?;
    }
    Ok(positions)
}

/// The position of each role that is clear.
pub(super) fn clear_roles(header: &[String]) -> [Option<usize>; 4] {
    let names: Vec<String> = header.iter().map(|name| plain(name)).collect();
    Role::ALL.map(|role| guess_role(role, header, &names).ok())
}

fn guess_role(role: Role, header: &[String], names: &[String]) -> Result<usize, String> {
    let places = |wanted: &'static str| (0..names.len()).filter(move |&position| names[position] == wanted);
    let mut found = usual(role).split(' ').flat_map(places);
    let Some(first) = found.next() else {
        return Err(format!("no column has a usual name for the {role}"));
    };
    match found.next() {
        // The role's own name leaves no doubt, unless it stands there twice.
        Some(other) if names[first] != role.word() || names[other] == role.word() => {
            Err(format!("the columns {:?} and {:?} could both be the {role}", header[first], header[other]))
        }
        _ => Ok(first),
    }
}

/// A name without case, blanks and punctuation.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(names: &str) -> Result<[usize; 4], String> {
        guess(&names.split(',').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn usual_names_are_known() {
        assert_eq!(guessed("subject,relation,object,date"), Ok([0, 1, 2, 3]));
        assert_eq!(guessed("Event ID,Event Date,Source Name,Event Text,Target Name"), Ok([2, 3, 4, 1]));
        assert_eq!(guessed("timestamp,head,tail,type"), Ok([1, 3, 2, 0]));
        assert_eq!(
            guessed("date,year,subject,relation,object"),
            Ok([2, 3, 4, 0]),
            "the role's own name wins"
        );
    }

    #[test]
    fn doubt_is_said() {
        assert_eq!(
            guessed("who,does,whom,date"),
            Err("no column has a usual name for the subject".to_owned())
        );
        assert_eq!(
            guessed("source,event,type,target,day"),
            Err("the columns \"event\" and \"type\" could both be the relation".to_owned())
        );
        assert!(guessed("subject,relation,object,date,Date").is_err());
        assert!(guessed("").is_err());
    }
}
