//! A time as people and other programs read it.

use mainspring_kernel::Millis;

pub(crate) fn timestamp(at: Millis) -> String {
    time(at).map_or_else(|| at.0.to_string(), |time| format!("{time:.3}"))
}

/// When something ends, for a person: the minute, with its day if that is not today, and how long
/// it is until then.
pub(crate) fn until(now: Millis, end: Millis) -> String {
    let Some(ends) = time(end) else {
        return end.0.to_string();
    };
    let day = |time: jiff::Timestamp| time.strftime("%Y-%m-%d").to_string();
    let is_today = time(now).is_some_and(|now| day(now) == day(ends));
    let minute = ends.strftime(if is_today {
        "%H:%M UTC"
    } else {
        "%Y-%m-%d %H:%M UTC"
    });
    format!("{minute}, in {}", end.since(now).in_words())
}

fn time(at: Millis) -> Option<jiff::Timestamp> {
    let millis = i64::try_from(at.0).ok()?;
    jiff::Timestamp::from_millisecond(millis).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_has_its_minute_its_day_and_how_long_it_takes() {
        // 2026-11-18, 01:28:21.473
        let now = Millis(1_794_965_301_473);
        for (span, words) in [
            (300_000, "01:33 UTC, in 5m"),
            (86_400_000, "2026-11-19 01:28 UTC, in 24h"),
        ] {
            assert_eq!(until(now, now.plus(Millis(span))), words);
        }
    }
}
