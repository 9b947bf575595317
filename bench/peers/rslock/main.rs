//! rslock, asked again at most 3 ms later: of the lock libraries that were measured, the one whose
//! processes pass one lock on most often while nobody starves. Processes of several tasks each
//! contend for it. Prints how often a second it went from one process to another, and Jain's index
//! over the tasks.
//!
//!     rslock-peer PORT PROCESSES TASKS MILLISECONDS
//!     rslock-peer pairs MILLISECONDS SOCKET...
//!
//! Each process is this program once more, with `of` as its first word; it prints when each of its
//! tasks had the lock. `pairs`: one task that takes and gives back a lock of all these servers;
//! prints the median of a pair, and the processor time that it took of this process, in us.
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

/// User and system time of this process in ticks of 10 ms, as proc(5) has them.
fn processor_ms() -> f64 {
    let told = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<_> = told[told.rfind(')').unwrap()..].split(' ').collect();
    (fields[12].parse::<f64>().unwrap() + fields[13].parse::<f64>().unwrap()) * 10.0
}

async fn pairs(how_long: Duration, sockets: &[String]) {
    let servers = sockets
        .iter()
        .map(|s| format!("redis+unix://{s}"))
        .collect();
    let locks = LockManager::new(servers);
    let mut took = vec![];
    let before = processor_ms();
    let end = now() + how_long.as_nanos();
    while now() < end {
        let begin = now();
        let held = locks
            .acquire("bench-rslock", Duration::from_secs(30))
            .await
            .unwrap();
        held.release().await;
        took.push((now() - begin) as f64 / 1000.0);
    }
    let used = (processor_ms() - before) * 1000.0 / took.len() as f64;
    took.sort_by(f64::total_cmp);
    println!("{} {}", took[took.len() / 2], used);
}

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let milliseconds = |at: usize| Duration::from_millis(words[at].parse().unwrap());
    match words[0].as_str() {
        "of" => contend(&words[1], words[3].parse().unwrap(), milliseconds(4)).await,
        "pairs" => pairs(milliseconds(1), &words[2..]).await,
        _ => measure(&words),
    }
}
