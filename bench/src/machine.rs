//! Describes the machine in one line.

use std::fs::read_to_string;
use std::path::Path;
use std::thread::available_parallelism;

/// Processor, memory, operating system, and the file system of the folder.
pub fn described(folder: &Path) -> String {
    let read = |path: &str| read_to_string(path).unwrap_or_default();
    let processor =
        value_of(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown processor".into());
    let memory_kib = value_of(&read("/proc/meminfo"), "MemTotal")
        .and_then(|text| text.trim_end_matches(" kB").parse::<u64>().ok())
        .unwrap_or_default();
    let file_system = file_system_of(&read("/proc/mounts"), folder).unwrap_or_else(|| "unknown".to_owned());
    format!(
        "{} × {processor}, {} GB, Linux {}, {file_system}",
        available_parallelism().map_or(1, usize::from),
        (memory_kib * 1024).div_ceil(1_000_000_000),
        read("/proc/sys/kernel/osrelease").trim(),
    )
}

/// The value in a line such as `model name : AMD EPYC`.
fn value_of(text: &str, key: &str) -> Option<String> {
    let values = text.lines().filter_map(|line| line.split_once(':'));
    let mut values = values.filter(|(name, _)| name.trim() == key);
    values.next().map(|(_, value)| value.trim().to_owned())
}

/// The file system of the folder's mount, which is the deepest one above it.
fn file_system_of(mounts: &str, folder: &Path) -> Option<String> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?, words.next()?))
    });
    let below = mounts.filter(|(point, _)| folder.starts_with(point));
    below.max_by_key(|(point, _)| point.len()).map(|(_, kind)| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_mount_is_the_one_that_a_folder_is_on() {
        let mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /work xfs rw 0 0\n";
        assert_eq!(file_system_of(mounts, Path::new("/tmp/bench")), Some("tmpfs".to_owned()));
        assert_eq!(file_system_of(mounts, Path::new("/home")), Some("ext4".to_owned()));
        assert_eq!(file_system_of("", Path::new("/home")), None);
    }

    #[test]
    fn a_value_is_read_from_its_first_line() {
        let text = "processor\t: 0\nmodel name\t: AMD EPYC\nmodel name\t: another\n";
        assert_eq!(value_of(text, "model name"), Some("AMD EPYC".to_owned()));
        assert_eq!(value_of(text, "model"), None);
    }
}
