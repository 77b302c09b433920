// Two threads: a counter under a mutex, an atomic one, and one that nothing guards.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

static mut UNGUARDED: usize = 0;
static ATOMIC: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let guarded = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let guarded = guarded.clone();
            thread::spawn(move || {
                *guarded.lock().unwrap() += 1;
                ATOMIC.fetch_add(1, Ordering::Relaxed);
                unsafe { UNGUARDED += 1 }
            })
        })
        .collect();
    for t in threads {
        t.join().unwrap();
    }
    println!("{} {}", guarded.lock().unwrap(), ATOMIC.load(Ordering::Relaxed));
}
