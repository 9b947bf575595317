//! rslock, asked again at most 3 ms later: of the lock libraries that were measured, the one whose
//! processes pass one lock on most often while nobody starves. Processes of several tasks each
//! contend for it. Prints how often a second it went from one process to another, and Jain's index
//! over the tasks.
//!
//!     rslock-peer PORT PROCESSES TASKS MILLISECONDS
//!
//! Each process is this program once more, with `of` as its first word; it prints when each of its
//! tasks had the lock.
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rslock::LockManager;

fn now() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos()
}

/// What one process does: a line `nanoseconds task` for each acquisition.
async fn contend(port: &str, tasks: usize, how_long: Duration) {
    let mut locks = LockManager::new(vec![format!("redis://127.0.0.1:{port}/")]);
    locks.set_retry(1 << 20, Duration::from_millis(3));
    let end = now() + how_long.as_nanos();
    let running: Vec<_> = (0..tasks)
        .map(|_| {
            let locks = locks.clone();
            tokio::spawn(async move {
                let mut had = vec![];
                while now() < end {
                    let held = locks
                        .acquire("contended-peer", Duration::from_secs(30))
                        .await
                        .unwrap();
                    had.push(now());
                    held.release().await;
                }
                had
            })
        })
        .collect();
    for (task, had) in running.into_iter().enumerate() {
        for at in had.await.unwrap() {
            println!("{at} {task}");
        }
    }
}

/// Starts the processes, and counts what they tell of the time in which all were at work.
fn measure(words: &[String]) {
    let (processes, tasks): (usize, usize) = (words[1].parse().unwrap(), words[2].parse().unwrap());
    let me = std::env::current_exe().unwrap();
    let running: Vec<_> = (0..processes)
        .map(|_| {
            Command::new(&me)
                .arg("of")
                .args(words)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut had: Vec<(u128, usize, usize)> = vec![];
    for (process, child) in running.into_iter().enumerate() {
        let told = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        for line in told.lines() {
            let (at, task) = line.split_once(' ').unwrap();
            had.push((at.parse().unwrap(), process, task.parse().unwrap()));
        }
    }
    had.sort_unstable();
    let first_of = |p| {
        had.iter()
            .find(|one| one.1 == p)
            .map_or(u128::MAX, |one| one.0)
    };
    let last_of = |p| had.iter().rfind(|one| one.1 == p).map_or(0, |one| one.0);
    let begin = (0..processes).map(first_of).max().unwrap();
    let end = (0..processes).map(last_of).min().unwrap();
    let counted: Vec<_> = had
        .iter()
        .filter(|one| begin <= one.0 && one.0 <= end)
        .collect();

    let switches = counted
        .windows(2)
        .filter(|two| two[0].1 != two[1].1)
        .count();
    let mut share = vec![0f64; processes * tasks];
    for one in &counted {
        share[one.1 * tasks + one.2] += 1.0;
    }
    let squares: f64 = share.iter().map(|n| n * n).sum();
    let total = counted.len() as f64;
    let seconds = (end - begin) as f64 / 1e9;
    println!(
        "{} {}",
        switches as f64 / seconds,
        total * total / (share.len() as f64 * squares)
    );
}

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words[0] == "of" {
        contend(
            &words[1],
            words[3].parse().unwrap(),
            Duration::from_millis(words[4].parse().unwrap()),
        )
        .await;
    } else {
        measure(&words);
    }
}
