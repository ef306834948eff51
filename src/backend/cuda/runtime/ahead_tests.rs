use super::*;
use crate::error::Error;
use oplus_codegen::Template;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;

fn wanted(function: &'static str) -> Wanted {
    Wanted { spec: Spec::new(Template::Primitives, 90), function: function.into() }
}

fn names() -> Option<Vec<String>> {
    taken().map(|all| all.into_iter().map(|w| w.function.into_owned()).collect())
}

#[test]
fn the_inner_list_counts_and_each_is_had_once() {
    let (outer, inner) = (|| vec![wanted("outer")], || vec![wanted("inner"), wanted("second")]);
    assert_eq!(names(), None);
    let made = within(&outer, || {
        let found = within(&inner, || (names(), names()));
        assert_eq!(found, (Some(vec!["inner".into(), "second".into()]), None));
        // Nobody had this one.
        assert_eq!(names(), Some(vec!["outer".into()]));
        within(&inner, || ());
        assert_eq!(names(), None, "what was had does not come back");
        7
    });
    assert_eq!((made, names()), (7, None));
}

#[test]
fn a_list_is_gone_after_a_panic_and_other_threads_have_none() {
    let list = || vec![wanted("one")];
    let caught = catch_unwind(AssertUnwindSafe(|| within(&list, || panic!("planted"))));
    assert!(caught.is_err() && names().is_none());
    // One that panics itself.
    let fails = || -> Vec<Wanted> { panic!("planted") };
    let caught = catch_unwind(AssertUnwindSafe(|| within(&list, || within(&fails, names))));
    assert!(caught.is_err() && names().is_none());
    within(&list, || {
        assert_eq!(thread::scope(|scope| scope.spawn(names).join().unwrap()), None);
        assert!(names().is_some());
    });
}

#[test]
fn what_lists_has_no_list() {
    let asked = Cell::new(0);
    let list = || {
        asked.set(asked.get() + 1);
        assert_eq!(names(), None);
        vec![wanted("one")]
    };
    within(&list, || assert_eq!((names().map(|n| n.len()), names()), (Some(1), None)));
    within(&list, || ());
    assert_eq!(asked.get(), 1);
}

/// Runs eight beside the one that is asked for, by so many threads: the most that were inside at once.
fn at_once(limit: usize) -> usize {
    let (inside, most, done) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let obtain = || {
        most.fetch_max(inside.fetch_add(1, Relaxed) + 1, Relaxed);
        thread::sleep(std::time::Duration::from_millis(2));
        inside.fetch_sub(1, Relaxed);
        done.fetch_add(1, Relaxed);
    };
    let made = side_by_side(
        limit,
        || {
            obtain();
            Ok(7)
        },
        &[(); 8],
        |()| obtain(),
    );
    assert_eq!((made.ok(), done.into_inner(), inside.into_inner()), (Some(7), 9, 0));
    most.into_inner()
}

#[test]
fn no_more_at_once_than_allowed() {
    assert_eq!(at_once(1), 1);
    for limit in [0, 2, 3, 5, 100] {
        assert!(at_once(limit) <= limit.max(1), "{limit}");
    }
}

#[test]
fn several_are_obtained_at_once() {
    // Each waits for the three others: one after the other they would wait forever.
    let all = Barrier::new(4);
    let wait = || {
        all.wait();
    };
    let asked = || {
        wait();
        Ok(())
    };
    side_by_side(4, asked, &[(); 3], |()| wait()).unwrap();
}

#[test]
fn a_failure_is_told_and_ends_the_rest_and_a_panic_stays_where_it_was() {
    let failure = || Error::InvalidValue { operation: "test", reason: "planted".into() };
    let done = AtomicUsize::new(0);
    let made: Result<()> = side_by_side(
        1,
        || Err(failure()),
        &[(); 4],
        |()| {
            done.fetch_add(1, Relaxed);
        },
    );
    assert!(matches!(made, Err(Error::InvalidValue { operation: "test", .. })) && done.into_inner() == 0);
    let main = thread::current().id();
    let made = side_by_side(
        2,
        || {
            thread::sleep(std::time::Duration::from_millis(20));
            Ok(7)
        },
        &[(); 4],
        |()| assert!(thread::current().id() == main, "planted"),
    );
    assert_eq!(made.ok(), Some(7));
}
