//! Every file under `configs/` names a model that is there, in the folder of its name, with settings that build.

use std::fs;
use std::path::Path;

use quadcast_core::Task;

#[test]
fn every_configuration_builds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    let mut count = 0;
    for folder in fs::read_dir(root).expect("configurations are committed") {
        let folder = folder.expect("a readable folder").path();
        for file in fs::read_dir(&folder).expect("a folder per model") {
            let path = file.expect("a readable folder").path();
            let text = fs::read_to_string(&path).expect("a text file");
            let config: toml::Table =
                text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let name = config["model"].as_str().expect("a name");
            assert_eq!(Some(name), folder.file_name().and_then(|name| name.to_str()), "{}", path.display());
            let settings = config.get("config").and_then(toml::Value::as_table).cloned().unwrap_or_default();
            let built = quadcast_models::find(name).and_then(|entry| match entry.task() {
                Task::Evolving => entry.evolving(&settings).map(|_| ()),
                Task::Forecasting | Task::Completion => entry.forecaster(&settings).map(|_| ()),
            });
            if let Err(error) = built {
                panic!("{}: {error}", path.display());
            }
            count += 1;
        }
    }
    assert!(count > 40, "{count} files");
}
