//! Compares the model with formulas and with times that were computed by hand.

use super::*;

/// A network card without other costs: 1 GB/s, and no latency.
const LINK: Machine = Machine {
    latency_s: 0.0,
    link_s_per_byte: 1e-9,
    eager_bytes: usize::MAX,
    message_s: 0.0,
    copy_s_per_byte: 0.0,
    add_s_per_byte: 0.0,
    key_s: 0.0,
    step_s: 0.0,
    switch_s: 0.0,
    processors: None,
};
const STORE: SimulatedStore = SimulatedStore { big_array_elements: 1_000_000, slice_elements: None, by_priority: true };

fn key(n_elements: usize, forward_s: f64, backward_s: f64) -> SimulatedKey {
    SimulatedKey { n_elements, forward_s, backward_s }
}

fn close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= expected * tolerance, "{got} instead of {expected}");
}

/// With `n` workers, `M` bytes and links of `B` bytes per second, values and sums take `2 (n - 1) / n * M / B`: each owner
/// gets `n - 1` values of its `M / n` bytes and sends as many sums.
#[test]
fn a_large_key_takes_the_time_of_its_bytes_on_the_links() {
    for n in [2, 4, 8, 16] {
        let keys = [key(16 << 20, 0.0, 0.0)];
        let step = simulate(&keys, n, STORE, &LINK).unwrap();
        let bytes = (4 * (16 << 20)) as f64;
        let expected = 2.0 * (n as f64 - 1.0) / n as f64 * bytes * 1e-9;
        // The tolerance is large because the formula ignores two effects. The first sums are on their way back while values
        // still arrive, so links carry both directions at once. The sum of an owner's last piece can be sent only after all
        // values.
        close(step.seconds, expected, 0.25);
        close(step.sent_bytes as f64, 2.0 * (n as f64 - 1.0) / n as f64 * bytes, 0.001);
        assert_eq!(step.n_messages % (n as u64 - 1), 0);
    }
}

/// All values of a small key go to one owner, whose link carries `n - 1` values and `n - 1` sums.
#[test]
fn the_link_of_an_owner_limits_a_key_that_is_not_divided() {
    for n in [2, 8, 32] {
        let step = simulate(&[key(50_000, 0.0, 0.0)], n, STORE, &LINK).unwrap();
        // A key of one piece: sums are sent only after the last value has arrived.
        let one = 4.0 * 50_000.0 * 1e-9;
        close(step.seconds, (n as f64 - 1.0) * one * 2.0, 0.001 + 1.0 / n as f64);
        assert_eq!((step.n_messages, step.sent_bytes), (2 * (n as u64 - 1), (n as u64 - 1) * 200_000));
    }
}

#[test]
fn one_worker_takes_the_time_of_its_layers() {
    let keys = [key(10, 0.5, 1.0), key(2_000_000, 0.25, 0.5)];
    let step = simulate(&keys, 1, STORE, &LINK).unwrap();
    close(step.seconds, 2.25, 1e-9);
    assert_eq!((step.sent_bytes, step.n_messages, step.first_layer_s), (0, 0, 0.0));
}

#[test]
fn communication_hides_behind_the_backward_pass() {
    // The messages of the large last layer are sent during the long backward pass of the first layer, so they cost no time.
    let hidden = [key(10, 0.0, 1.0), key(8 << 20, 0.0, 0.1)];
    close(simulate(&hidden, 2, STORE, &LINK).unwrap().seconds, 1.1, 0.001);
    // In the opposite order, the large layer is ready last, and no computation remains during which its messages could be
    // sent.
    let open = [key(8 << 20, 0.0, 0.1), key(10, 0.0, 1.0)];
    assert!(simulate(&open, 2, STORE, &LINK).unwrap().seconds > 1.1 + 0.025);
}

#[test]
fn urgent_slices_overtake_the_last_layers() {
    let keys: Vec<SimulatedKey> = (0..8).map(|_| key(4 << 20, 0.0, 0.001)).collect();
    let slices = SimulatedStore { slice_elements: Some(40_000), ..STORE };
    let first = |store| simulate(&keys, 4, store, &LINK).unwrap().first_layer_s;
    let (by_priority, in_turn) = (first(slices), first(SimulatedStore { by_priority: false, ..slices }));
    assert!(by_priority < 0.75 * in_turn, "{by_priority} {in_turn}");
}

#[test]
fn latency_and_announcements_count_once_for_each_message() {
    let machine = Machine { latency_s: 0.001, eager_bytes: 1000, ..LINK };
    // A value and a sum are sent, one after the other. Each is announced, so each needs three trips of 1 ms.
    close(simulate(&[key(1000, 0.0, 0.0)], 2, STORE, &machine).unwrap().seconds, 0.006 + 8e-6, 0.01);
    close(simulate(&[key(100, 0.0, 0.0)], 2, STORE, &machine).unwrap().seconds, 0.002, 0.01);
}

#[test]
fn a_thread_adds_and_copies_one_message_after_the_other() {
    let machine = Machine { link_s_per_byte: 0.0, add_s_per_byte: 1e-6, copy_s_per_byte: 1e-6, ..LINK };
    // 1000 bytes: the owner copies one value and adds two; the other worker copies the sum.
    let seconds = |n, machine: &Machine| simulate(&[key(250, 0.0, 0.0)], n, STORE, machine).unwrap().seconds;
    close(seconds(2, &machine), (1.0 + 2.0 + 1.0) * 1e-3, 1e-6);
    // Of three workers, two copy the sum: at the same time with a processor each, or one after the other on one processor.
    close(seconds(3, &machine), (2.0 + 3.0 + 1.0) * 1e-3, 1e-6);
    close(seconds(3, &Machine { processors: Some(1), ..machine }), (2.0 + 3.0 + 2.0) * 1e-3, 1e-6);
    // On one processor, each piece of work costs a switch: 5 for the messages (two values, the addition and two copies), and
    // 6 for the push and the end of the key on three workers.
    let switching = Machine { processors: Some(1), switch_s: 1e-3, ..machine };
    close(seconds(3, &switching), (2.0 + 3.0 + 2.0 + 5.0 + 6.0) * 1e-3, 1e-6);
}

#[test]
fn costs_that_are_not_numbers_are_refused() {
    let error = |n, cost| {
        let machine = Machine { latency_s: cost, ..LINK };
        simulate(&[key(1, 0.0, 0.0)], n, STORE, &machine).unwrap_err().to_string()
    };
    assert!(error(0, 0.0).contains("1 to 4096") && error(5000, 0.0).contains("5000"));
    for cost in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(error(2, cost).contains("seconds from 0"), "{cost}");
    }
}
